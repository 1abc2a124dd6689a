"""What run, chat and resume share: a workspace opened for turns, and one turn driven and shown until it ended."""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oribi.cli import exits
from oribi.cli.live import LiveTurn, Manner
from oribi.cli.logs import start_logging
from oribi.cli.output import Output
from oribi.cli.paint import paint_for
from oribi.cli.stops import Stops, write_now
from oribi.cli.wording import counted, safe, terminal_columns
from oribi.core.ends import Interrupted, facts
from oribi.core.events import Recorded, TurnStarted

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractAsyncContextManager

    from oribi.app import App, Stream
    from oribi.cli.flags import Flags

MOST_COLUMNS = 160
CLOSED_STDOUT = "the reader of stdout, who left"
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A workspace open for turns, where they are shown, and who may stop them."""

    app: App
    output: Output
    stops: Stops
    manner: Manner

    def note(self, text: str) -> None:
        """Say something about the work on stderr."""
        if self.manner.shows_work:
            self.output.tell(f"{text}\n")


@contextmanager
def open_stage(
    flags: Flags, *, streams: bool = True, shows_work: bool = True, stops: Stops | None = None
) -> Generator[Stage]:
    """Open the workspace for turns. The caller closes the app, as an async context manager.

    Raises:
        ConfigError: There is no workspace, or its settings are wrong.
        JournalError: The journal cannot be opened; another process writes it.

    """
    from oribi.opening import open_app

    manner = Manner(
        paint=paint_for(sys.stderr, no_color=flags.no_color),
        columns=min(MOST_COLUMNS, terminal_columns(is_terminal=sys.stderr.isatty())),
        streams=streams,
        shows_work=shows_work,
        shows_reasoning=flags.verbose,
    )
    with stops or Stops(_say_goodbye) as watch, Output() as output:

        def report(text: str) -> None:
            output.tell("".join(f"note: {safe(line)}\n" for line in text.splitlines()))

        app = open_app(flags.workspace, report=report)
        start_logging(output.tell, "debug" if flags.verbose else app.config.log_level)
        yield Stage(app=app, output=output, stops=watch, manner=manner)


async def watch_turn(stage: Stage, turn: AbstractAsyncContextManager[Stream], live: LiveTurn) -> None:
    """Drive a turn to its end and show it.

    Raises:
        ConfigError: The turn cannot run as things are set up.
        JournalError: The journal cannot be written.

    """
    import asyncio

    loop = asyncio.get_running_loop()
    async with turn as stream:

        def stop_for(number: signal.Signals) -> None:
            if number is signal.SIGINT and sys.stderr.isatty():
                stage.output.tell("\n")  # the terminal has written ^C
            stream.stop(_NAMES[number])

        def stop_for_reader(error: OSError) -> None:
            if error.errno == errno.EPIPE:
                loop.call_soon_threadsafe(stream.stop, CLOSED_STDOUT)

        stage.output.on_failure = stop_for_reader
        with stage.stops.during(loop, stop_for):
            async for news in stream:
                if isinstance(news, Recorded) and isinstance(news.event, TurnStarted) and stage.stops.asked:
                    stop_for(stage.stops.asked)  # the signal came before there was a turn to stop
                live.show(news)
        stage.output.on_failure = None
        live.result = stream.result


async def resume_turn(stage: Stage, session_id: str) -> LiveTurn:
    """Continue the open turn of a session to its end and show it, with its closing line.

    Raises:
        ConfigError: The turn cannot run as things are set up.
        JournalError: There is no such session, no turn of it is open, or the journal cannot be written.

    """
    live = LiveTurn(stage.output, stage.manner)
    live.begin_with(stage.app.records(session_id))
    await watch_turn(stage, stage.app.stream_resume(session_id), live)
    live.close()
    return live


def exit_code_of(live: LiveTurn, stage: Stage) -> int:
    """The exit code for how the last turn ended and how its showing went."""
    end = live.end
    if end is None and stage.stops.asked is not None:
        return stage.stops.exit_code
    if isinstance(end, Interrupted):
        if end.by == CLOSED_STDOUT:
            return exits.CLOSED_PIPE
        if stage.stops.asked is not None:
            return stage.stops.exit_code
    return exits.UNEXPECTED if end is None else facts(end).exit_code


def after_output(stage: Stage, code: int) -> int:
    """The exit code once everything is written: the turn's, unless its answer could not be put out."""
    failure = stage.output.failure
    if failure is None:
        return code
    if failure.errno == errno.EPIPE:
        return exits.CLOSED_PIPE
    reason = os.strerror(failure.errno) if failure.errno else str(failure)
    write_now(f"error: stdout could not be written: {reason}\nhint: `oribi sessions show` has the answer\n")
    return exits.FAILED_OUTPUT


def tell_open_turns(stage: Stage, *, besides: str | None = None) -> None:
    """Say which turns of the workspace are open, since somebody may be waiting for them."""
    waiting = [session_id for session_id in stage.app.unfinished() if session_id != besides]
    if waiting:
        listed = ", ".join(waiting[:5]) + (", ..." if len(waiting) > 5 else "")  # noqa: PLR2004 - a line's worth
        which = f"{counted(len(waiting), 'turn is', 'turns are')} open, cut off before the end: {listed}"
        command = f"oribi resume {waiting[0]}" if len(waiting) == 1 else "oribi resume --all"
        them = "it" if len(waiting) == 1 else "them"
        stage.note(f"note: {which}\nhint: `{command}` continues {them}; `oribi worker` always does")


def _say_goodbye() -> None:
    write_now("\nleft at once; an open turn stays open\nhint: `oribi resume` continues it\n")
