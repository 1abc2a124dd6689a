"""The command line: parse, call the application, render. `main` is the program `oribi`."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress


def main() -> int:
    """Run the command that the process was started with, and return its exit code."""
    try:
        from oribi.cli.root import run_command_line
    except KeyboardInterrupt:
        return 130  # as in oribi.cli.exits, which may not be there yet

    code = run_command_line(sys.argv[1:])
    _leave_if_threads_are_left(code)
    return code


def _leave_if_threads_are_left(code: int) -> None:
    """End the process here if a thread still works: a stopped turn leaves behind what it could not stop."""
    here = threading.current_thread()
    if any(thread is not here and not thread.daemon for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(code)
