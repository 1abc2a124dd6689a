"""The program `oribi`: its commands, which are imported only when they are run, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One command before it is imported: the module whose `command` it is, and its line in the list."""

    module: str
    summary: str


def _entry(module: str, summary: str) -> _Entry:
    return _Entry(module=f"oribi.cli.commands.{module}", summary=summary)


COMMANDS: dict[str, _Entry] = {
    "init": _entry("init", "Make a workspace, or complete the one that is there."),
    "run": _entry("run", "Give an agent one input and watch the turn to its end."),
    "chat": _entry("chat", "Talk with an agent."),
    "resume": _entry("resume", "Continue a turn that was cut off."),
    "worker": _entry("worker", "Continue whatever was cut off, as long as it runs."),
    "resolve": _entry("resolve", "Say what came of a call that may or may not have happened."),
    "revoke": _entry("revoke", "Withdraw a tool, a plug-in or a person from open turns."),
    "trace": _entry("trace", "Show what a session did, step by step."),
    "why": _entry("why", "Say what a session does next, and which question decides it."),
    "replay": _entry("replay", "Replay a session offline: exactly, or against a changed agent."),
    "fork": _entry("fork", "Begin a new session with the first steps of another."),
    "record": _entry("record", "Make a session into a regression test file."),
    "test": _entry("test", "Hold the agents as they are against recorded sessions."),
    "audit": _entry("audit", "Check that the journal is as it was written; export it."),
    "db": _entry("db", "Check, back up, prune, shrink and migrate the database."),
    "sessions": _entry("sessions", "List, show and erase sessions."),
    "agents": _entry("agents", "List, show, make, validate and lock agents."),
    "policy": _entry("policy", "Show the loop policy of an agent, and where it comes from."),
    "tools": _entry("tools", "List tools."),
    "models": _entry("models", "List providers, test a model."),
    "status": _entry("status", "Show the state of the workspace."),
    "fake-model": _entry("fake_model", "Serve a scripted model on this machine, for tests."),
    "completion": _entry("completion", "Print the completion script of a shell."),
}


HELP_OPTIONS = ["-h", "--help"]


class _Commands(click.Group):
    """The commands by name; listing them imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        return cast("click.Command", import_module(entry.module).command)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # which click would turn into an exit code of its own
            from oribi.cli.failures import ReaderLeftError

            raise ReaderLeftError from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


def _print_version(ctx: click.Context, _: click.Parameter, given: bool) -> None:  # noqa: FBT001 - click calls it so
    if given and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"oribi {version('oribi')}")
        ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": HELP_OPTIONS},
    epilog=examples(
        "oribi init                        make a workspace here",
        'oribi run "What is in this folder?"',
        "oribi chat --agent ops",
        "oribi trace                       what the last session did",
    ),
)
@global_options(hidden=False)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def root() -> None:
    """An agent runtime that you own and can hold to account.

    The options here may also stand behind the command. What a command found out goes to stdout, what it says about its
    work to stderr.
    """


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code; the table of codes is in `oribi.cli.exits`."""
    _hold_standard_files()
    flags = Flags()
    try:
        returned: object = root.main(list(arguments), prog_name="oribi", obj=flags, standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the outermost frame: whatever it is becomes words and an exit code
        from oribi.cli.failures import report_failure

        return report_failure(error, verbose=flags.verbose)
    return returned if isinstance(returned, int) else 0


def _hold_standard_files() -> None:
    """Fill the places of stdin, stdout and stderr if the caller closed them, so that no database gets there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None or sys.stderr is None:
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - stays open as long as the process
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
