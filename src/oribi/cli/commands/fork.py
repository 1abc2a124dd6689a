"""`oribi fork`: a new session that begins with the first steps of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.cli.turns import Stage


@click.command(
    "fork",
    epilog=examples("oribi fork k3jf --at 3", "oribi fork k3jf --at 1.2 --model openai:gpt-5 --session trial"),
)
@global_options()
@click.argument("session")
@click.option("--at", "place", metavar="[TURN.]STEP", required=True, help="Before the model call of this step.")
@click.option("--model", metavar="PROVIDER:NAME", help="Who answers from there on. [default: the recorded model]")
@click.option("--session", "new_id", metavar="ID", help="The new session's id. [default: a new one]")
@click.pass_obj
def command(flags: Flags, *, session: str, place: str, model: str | None, new_id: str | None) -> None:
    """Begin a new session with the first steps of another.

    The new session holds what the other one held before the model call of that step, and its turn is open:
    "oribi resume" goes on with it. The other session stays as it is. The new id is put on stdout.
    """
    import anyio

    from oribi.cli.turns import open_stage

    with open_stage(flags) as stage:
        anyio.run(_fork, stage, session, place, model, new_id)


async def _fork(stage: Stage, session: str, place: str, model: str | None, new_id: str | None) -> None:
    from oribi.cli.find import find_session, session_to_continue

    async with stage.app as app:
        found = find_session(app, session)
        if new_id is not None:
            session_to_continue(app, new_id)  # refuses a name that cannot be one
        forked = await app.fork(found, place, model=model, new_id=new_id)
        stage.output.say(f"{forked}\n")
        stage.note(f"hint: `oribi resume {forked}` goes on with it")
