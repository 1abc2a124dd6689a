"""Reading a person's inputs: with editing and history at a terminal, else line by line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

from oribi.cli.stops import write_now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyPressEvent

    from oribi.cli.stops import Stops


class Reader(Protocol):
    """Where inputs come from."""

    async def read(self, stops: Stops) -> str | None:
        """The next input; None when the person leaves, or a signal asks to (`stops.asked`)."""
        ...


def open_reader(history: Sequence[str], words: Callable[[], list[str]]) -> Reader:
    """A reader for this process's stdin.

    `history` is what the arrow keys bring back, the oldest first; `words` what the Tab key completes to.
    """
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return _TerminalReader(history, words) if is_terminal else _LineReader()


def restore_terminal() -> Callable[[], None]:
    """A function that puts the terminal back as it is now, and says that a turn may be open; fit for a signal."""
    import termios

    try:
        found = termios.tcgetattr(0)
    except termios.error:
        found = None

    def restore() -> None:
        if found is not None:
            termios.tcsetattr(0, termios.TCSANOW, found)
        write_now("\nleft at once; if a turn was running, it stays open\nhint: `oribi resume` continues it\n")

    return restore


class _TerminalReader:
    """Lines from prompt_toolkit. Ctrl-C empties the line; on an empty line, twice leaves. Ctrl-D leaves."""

    def __init__(self, history: Sequence[str], words: Callable[[], list[str]]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.key_binding import KeyBindings

        bindings = KeyBindings()

        @bindings.add("c-c")
        def empty_or_leave(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                event.app.exit(exception=KeyboardInterrupt())

        @bindings.add("escape", "enter")
        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        self._session: PromptSession[str] = PromptSession(
            history=InMemoryHistory(history),
            key_bindings=bindings,
            completer=WordCompleter(words, sentence=True),
            complete_while_typing=False,
        )

    async def read(self, stops: Stops) -> str | None:
        import asyncio

        def leave(_: object) -> None:
            if self._session.app.is_running:
                self._session.app.exit(exception=EOFError())

        may_leave = False
        while True:
            with stops.during(asyncio.get_running_loop(), leave):
                try:
                    return await self._session.prompt_async("> ", handle_sigint=False)
                except EOFError:
                    return None
                except KeyboardInterrupt:
                    if may_leave:
                        return None
                    may_leave = True
            write_now("Ctrl-C again, or Ctrl-D, leaves\n")


class _LineReader:
    """Lines of stdin as they are. A signal that comes while it waits ends the process: nothing is under way."""

    async def read(self, stops: Stops) -> str | None:
        import anyio.to_thread

        stops.asked = None
        line = await anyio.to_thread.run_sync(sys.stdin.buffer.readline)
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None
