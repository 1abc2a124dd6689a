"""`oribi tools`: which tools there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.completing import complete_agent
from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.app import App


@click.group("tools", epilog=examples("oribi tools list --agent ops"))
@global_options()
def command() -> None:
    """List tools."""


@command.command("list", epilog=examples("oribi tools list", "oribi tools list --agent ops --json"))
@global_options()
@click.option("--agent", metavar="NAME", shell_complete=complete_agent, help="Only the tools of this agent.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with their parameters.")
@click.pass_obj
def list_tools(flags: Flags, *, agent: str | None, as_json: bool) -> None:
    """List tools, and what may be done about a call of them that was cut off.

    pure and idempotent calls run again; a call of a tool that says once does not.
    """
    from dataclasses import asdict

    from oribi.cli.looking import open_to_look, print_json, print_table
    from oribi.cli.wording import first_sentence

    with open_to_look(flags) as app:
        specs = app.toolbox.specs(_names(app)) if agent is None else app.agents.load(agent).tools
    if as_json:
        print_json([asdict(spec) for spec in specs])
    elif not specs:
        click.echo("no tools", err=True)
    else:
        rows = [(spec.name, spec.effect, first_sentence(spec.description)) for spec in specs]
        print_table([("TOOL", "IF CUT OFF", "ABOUT"), *rows])


def _names(app: App) -> list[str]:
    """The tools that are loaded, and the plug-ins that are installed."""
    from importlib.metadata import entry_points

    from oribi.tools.toolbox import PLUGINS

    return sorted({*app.toolbox.names, *(entry.name for entry in entry_points(group=PLUGINS))})
