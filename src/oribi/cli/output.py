"""Writing to stdout and stderr in one order and from one thread, so that a slow reader cannot hold up a turn."""

from __future__ import annotations

import os
import select
import sys
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

STDOUT, STDERR = 1, 2

_Piece: TypeAlias = "tuple[int, str] | threading.Event | None"


class Output:
    """Open for the block: `say` is data for stdout, `tell` talk for stderr; both return at once.

    When stdout cannot be written any more, `failure` says why, the rest is dropped, and `on_failure` is called from
    the writing thread. Trouble with stderr is nobody's business: the exit code still says how it went.
    """

    def __init__(self) -> None:
        self.failure: OSError | None = None
        self.on_failure: Callable[[OSError], None] | None = None
        self._pieces: SimpleQueue[_Piece] = SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="oribi-output", daemon=True)

    def __enter__(self) -> Self:
        """Start writing."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait until everything is written."""
        self._pieces.put(None)
        self._thread.join()

    def say(self, text: str) -> None:
        """Put `text` on stdout."""
        self._pieces.put((STDOUT, text))

    def tell(self, text: str) -> None:
        """Put `text` on stderr."""
        self._pieces.put((STDERR, text))

    def wait(self) -> None:
        """Block until everything put so far is written; for another thread than the event loop's."""
        written = threading.Event()
        self._pieces.put(written)
        written.wait()

    def _write_all(self) -> None:
        while True:
            piece = self._pieces.get()
            match piece:
                case None:
                    return
                case threading.Event():
                    piece.set()
                case (number, text):
                    self._write(number, text)

    def _write(self, number: int, text: str) -> None:
        if number == STDOUT and self.failure is not None:
            return
        encoding = (sys.stdout if number == STDOUT else sys.stderr).encoding or "utf-8"
        try:
            write_whole(number, text.encode(encoding, "backslashreplace"))
        except OSError as error:
            if number == STDOUT:
                self.failure = error
                if self.on_failure is not None:
                    self.on_failure(error)


def write_whole(number: int, content: bytes) -> None:
    """Write all of `content` to a file descriptor, also one that somebody made non-blocking.

    Raises:
        OSError: It cannot be written.

    """
    left = memoryview(content)
    while left:
        try:
            left = left[os.write(number, left) :]
        except BlockingIOError:
            select.select([], [number], [])
