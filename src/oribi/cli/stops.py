"""Ctrl-C, SIGTERM and SIGHUP: the first asks the turn under way to stop, the second leaves at once.

Handlers are set with `signal.signal`, not on the event loop: they must also run while a tool blocks the loop.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NoReturn, Self

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator
    from types import FrameType, TracebackType

REPEAT_SECONDS: Final = 0.15
"""A second signal so soon is the same one: `timeout` and wrappers signal a process and its group."""


class Stops:
    """Watches for signals while the block runs. `asked` is the one that asked to stop, None before.

    Outside of `during`, nothing is under way and a signal leaves at once. When something is, `before_leaving` is called
    first, in the signal's handler: it must not wait for anything.
    """

    def __init__(self, before_leaving: Callable[[], None] | None = None) -> None:
        self.asked: signal.Signals | None = None
        self._asked_at = 0.0
        self._stop: Callable[[signal.Signals], None] | None = None
        self._before_leaving = before_leaving
        self._previous: dict[signal.Signals, signal.Handlers | Callable[[int, FrameType | None], object] | int | None]
        self._previous = {}

    def __enter__(self) -> Self:
        """Take over the signals; a SIGHUP that nohup ignores stays ignored."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            self._previous[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give them back."""
        for number, previous in self._previous.items():
            signal.signal(number, previous or signal.SIG_DFL)

    @property
    def exit_code(self) -> int:
        """What a process that a signal ended is expected to return; 0 when none asked to stop."""
        return 0 if self.asked is None else 128 + self.asked

    @contextmanager
    def during(self, loop: asyncio.AbstractEventLoop, stop: Callable[[signal.Signals], None]) -> Generator[None]:
        """While the block runs, the first signal calls `stop` in `loop`."""

        def stop_in_loop(number: signal.Signals) -> None:
            loop.call_soon_threadsafe(stop, number)

        self.asked = None
        self._stop = stop_in_loop
        try:
            yield
        finally:
            self._stop = None

    def _take(self, number: int, frame: FrameType | None) -> None:
        del frame
        now = time.monotonic()
        if self.asked is not None and now - self._asked_at < REPEAT_SECONDS:
            return
        if self.asked is not None or self._stop is None:
            self._leave(number)
        else:
            self.asked, self._asked_at = signal.Signals(number), now
            self._stop(self.asked)

    def _leave(self, number: int) -> NoReturn:
        """End the process now. What is recorded is durable, and an open turn can be resumed."""
        if self._before_leaving is not None and self._stop is not None:
            self._before_leaving()
        os._exit(128 + number)


def write_now(text: str) -> None:
    """Write to stderr past all buffers, as far as that works, for the last words of a process."""
    with suppress(OSError):  # nobody may be there to read it
        os.write(2, text.encode(sys.stderr.encoding or "utf-8", "backslashreplace"))
