"""A process that has imported the program and forks for each run: a real process each time, and no wait for imports.

`WarmStart` is the test's side; run as a script, this file is the process itself. It serves one run at a time.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import IO, NoReturn

MODULES = ("app", "testing.scripted", "cli.chatting", "cli.conversation", "cli.looking", "cli.outcome", "cli.timeline")


class WarmStart:
    """Starts runs of the program. Close it when no more are needed."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen([sys.executable, str(Path(__file__))], stdin=theirs.fileno())

    def run(
        self, arguments: list[str], *, given: bytes, folder: Path, environment: dict[str, str], timeout: float
    ) -> tuple[int, bytes, bytes]:
        """Run the program to its end: its exit code, stdout and stderr."""
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            stdin.write(given)
            stdin.seek(0)
            request = [arguments, str(folder), environment]
            files = [stdin.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(self._control, [json.dumps(request).encode() + b"\n"], files)
            self._control.settimeout(timeout)
            code = int(self._control.recv(100))
            return code, _content(out), _content(err)

    def close(self) -> None:
        """End the process."""
        self._control.close()
        self._process.wait(10)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _serve() -> None:
    with socket.socket(fileno=os.dup(0)) as control:
        while True:
            message, files, _, _ = socket.recv_fds(control, 65_536, 3)
            if not message:
                return
            while not message.endswith(b"\n"):
                message += control.recv(65_536)
            child = os.fork()
            if child == 0:
                control.close()
                arguments, folder, environment = json.loads(message)
                _be_the_program(arguments, folder, environment, files)
            for file in files:
                os.close(file)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            control.sendall(str(code).encode())


def _be_the_program(arguments: list[str], folder: str, environment: dict[str, str], files: list[int]) -> NoReturn:
    from oribi.cli import main

    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["oribi", *arguments]
    sys.exit(main())


if __name__ == "__main__":
    from oribi.cli.root import COMMANDS

    for name in (*(f"oribi.{name}" for name in MODULES), *(entry.module for entry in COMMANDS.values())):
        import_module(name)
    _serve()
