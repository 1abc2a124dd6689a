"""What the shell offers when a person presses Tab: names in the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def complete_agent(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The agents whose names begin with `incomplete`; none if there is no workspace."""
    del parameter
    from pathlib import Path

    from oribi.agents.workspace import find_workspace
    from oribi.cli.flags import Flags
    from oribi.config import system_environment
    from oribi.core.errors import ConfigError

    given = ctx.ensure_object(Flags).workspace
    try:
        workspace = find_workspace(
            Path.cwd(), explicit=Path(given) if given else None, home=system_environment().get("ORIBI_HOME")
        )
        names = sorted(folder.name for folder in workspace.agents.iterdir() if folder.is_dir())
    except (ConfigError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def complete_mode(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The modes whose names begin with `incomplete`, of the agent named before or else the default one (M-6)."""
    del parameter
    from oribi.cli.flags import Flags
    from oribi.core.errors import ConfigError
    from oribi.opening import open_app

    try:
        app = open_app(ctx.ensure_object(Flags).workspace, read_only=True, report=lambda _: None)
        modes = app.agents.modes(ctx.params.get("agent") or app.config.default_agent)
    except ConfigError:
        return []
    return [mode.name for mode in modes if mode.name.startswith(incomplete)]
