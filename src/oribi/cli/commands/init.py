"""`oribi init`: make a workspace."""

from __future__ import annotations

import click

from oribi.cli.flags import examples, global_options


@click.command("init", epilog=examples("oribi init", "oribi init ~/projects/site"))
@global_options()
@click.argument("path", default=".", required=False)
def command(path: str) -> None:
    """Make a workspace, or complete the one that is there.

    It is a folder .oribi in PATH (default: here) with settings, the files every prompt holds, and an agent. Nothing
    that is there is changed.
    """
    from pathlib import Path

    from oribi.agents.workspace import init_workspace
    from oribi.cli.wording import safe

    made = init_workspace(Path(path))
    home = made.workspace.home
    if not made.created:
        click.echo(f"{safe(str(home))} is complete already")
        return
    click.echo(f"workspace {safe(str(home))}")
    for file in made.created:
        click.echo(f"  made {safe(made.workspace.in_home(file))}")
    click.echo(
        f"hint: choose a model in {safe(made.workspace.in_home(made.workspace.settings_file))}, then `oribi run`",
        err=True,
    )
