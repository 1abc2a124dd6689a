"""What a person is told when a command fails: `error:` and often `hint:` on stderr, and the exit code."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import assert_never, cast

import click

from oribi.cli import exits
from oribi.cli.wording import safe
from oribi.core.errors import ConfigError, FaultKind, JournalError, ModelError, OribiError, SessionBusy


class ReaderLeftError(Exception):
    """The reader of stdout went away before all was written."""


def report_failure(error: BaseException, *, verbose: bool) -> int:  # noqa: C901 - one match over all errors
    """Say on stderr what `error` means and return the exit code. Only with `verbose` there is a traceback."""
    error = _innermost(error)
    match error:
        case SystemExit():
            return error.code if isinstance(error.code, int) else 1
        case click.Abort() | KeyboardInterrupt():
            return exits.INTERRUPTED
        case BrokenPipeError() | ReaderLeftError():
            leave_stdout()
            return exits.CLOSED_PIPE
        case click.exceptions.NoArgsIsHelpError():
            _write(f"{error.format_message()}\n")
            return exits.USAGE
        case click.UsageError():
            _tell("error", error.format_message())
            if error.ctx is not None:
                _tell("hint", f"{error.ctx.command_path} --help")
            return exits.USAGE
        case click.ClickException():
            _tell("error", error.format_message())
            return exits.USAGE
        case ModelError():
            return _say(f"the model could not answer ({error.kind}): {error}", hint_of(error.kind), exits.MODEL_FAILED)
        case SessionBusy():
            return _say(
                str(error), "`--busy queue` waits for its end, `steer` joins it, `interrupt` ends it", exits.BUSY
            )
        case JournalError():
            return _say(str(error), None, exits.JOURNAL)
        case ConfigError() | OribiError():
            return _say(str(error), None, exits.USAGE)
        case _:
            if verbose:
                traceback.print_exception(error, file=sys.stderr)
                return exits.UNEXPECTED
            words = f"{type(error).__name__}: {error}".removesuffix(": ")
            hint = "the same command with --verbose shows where; what was recorded is safe"
            return _say(f"unexpected: {words}", hint, exits.UNEXPECTED)


def hint_of(kind: FaultKind) -> str | None:
    """What a person can do about a model call that failed in this way; None where the message says it all."""
    match kind:
        case "auth":
            return "check the provider's key; `oribi models list` shows which variable holds it"
        case "network" | "timeout":
            return "is the provider running and reachable? `oribi models test` tries it"
        case "rate" | "overloaded" | "circuit_open":
            return "wait a little and ask again"
        case "context_length":
            return "begin a new session, or lower max_history_turns in AGENT.md"
        case "bad_request" | "protocol" | "cut_off" | "empty" | "schema":
            return None
        case _:
            assert_never(kind)


def error_lines(message: str) -> str:
    """`message` as it is shown on stderr: one `error:` for each of its lines."""
    return "".join(f"error: {safe(line)}\n" for line in message.splitlines() if line.strip())


def leave_stdout() -> None:
    """Forget stdout, whose reader is gone, so that Python does not complain when it flushes it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _innermost(error: BaseException) -> BaseException:
    """The error itself where task groups wrapped it, one in another."""
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", inner)  # isinstance cannot know what is in it
        if len(group.exceptions) != 1:
            return group
        inner = group.exceptions[0]
    return inner


def _say(message: str, hint: str | None, code: int) -> int:
    _write(error_lines(message))
    if hint is not None:
        _tell("hint", hint)
    return code


def _tell(word: str, message: str) -> None:
    _write(f"{word}: {safe(message)}\n")


def _write(text: str) -> None:
    with suppress(OSError):  # nobody may be there to read it; the exit code still says what happened
        sys.stderr.write(text)
        sys.stderr.flush()
