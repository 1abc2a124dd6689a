"""`oribi resume`: continue turns that were cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.app import App
    from oribi.cli.turns import Stage
    from oribi.core.calls import SessionId


@click.command("resume", epilog=examples("oribi resume", "oribi resume k3jf", "oribi resume --all"))
@global_options()
@click.argument("session", required=False)
@click.option("--all", "every", is_flag=True, help="Continue every open turn, the oldest first.")
@click.option("--quiet", is_flag=True, help="Only errors on stderr.")
@click.pass_obj
def command(flags: Flags, *, session: str | None, every: bool, quiet: bool) -> int:
    """Continue a turn that was cut off.

    A turn is cut off when its process ends in the middle: killed, crashed, or left by a second Ctrl-C. It goes on where
    it was: nothing that was recorded is lost, and a call that may not be repeated is not. Without SESSION (an id or its
    beginning), the one open turn is continued. The exit code says how the last turn ended.
    """
    import anyio

    from oribi.cli.turns import after_output, open_stage

    if session is not None and every:
        raise click.UsageError("give SESSION or --all, not both", click.get_current_context())
    with open_stage(flags, shows_work=not quiet) as stage:
        code = anyio.run(_resume, stage, session, every)
    return after_output(stage, code)


async def _resume(stage: Stage, session: str | None, every: bool) -> int:  # noqa: FBT001 - anyio.run passes by position
    from oribi.cli.find import find_session
    from oribi.cli.turns import exit_code_of, resume_turn
    from oribi.core.errors import ConfigError

    async with stage.app as app:
        waiting = app.unfinished()
        if session is not None:
            found = find_session(app, session)
            if found not in waiting:
                driven = found in app.open_turns()
                why = "is being driven by a living process" if driven else "has no open turn"
                raise ConfigError(f"session {found!r} {why}; there is nothing to resume")
            waiting = [found]
        else:
            waiting = [name for name in waiting if _parent_of(app, name) not in waiting]
        if not waiting:
            stage.note("no turn is open; there is nothing to resume")
        elif len(waiting) > 1 and not every:
            raise ConfigError(
                f"{len(waiting)} turns are open: {', '.join(waiting)}; name one session, or continue all with --all"
            )
        code = 0
        for session_id in waiting:
            live = await resume_turn(stage, session_id)
            code = exit_code_of(live, stage)
            if stage.stops.asked is not None or stage.output.failure is not None:
                break
        return code


def _parent_of(app: App, session_id: SessionId) -> SessionId | None:
    """The session that an open turn is nested in: it goes on with the turn that it is part of."""
    opened = app.turn(session_id).opened if session_id in app.open_turns() else None
    return opened.parent.session_id if opened is not None and opened.parent is not None else None
