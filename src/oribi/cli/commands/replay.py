"""`oribi replay`: a session again, offline: exactly as it was, or against a changed agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.app import App
    from oribi.replay.changed import Compared
    from oribi.replay.exact import Replayed


@click.command(
    "replay",
    epilog=examples(
        "oribi replay                       the last session, exactly",
        "oribi replay k3jf --turn 2",
        "oribi replay k3jf --agent ops      against the agent as its files are now",
        "oribi replay k3jf --agent ../new-ops",
    ),
)
@global_options()
@click.argument("session", required=False)
@click.option(
    "--turn", type=click.IntRange(1), metavar="N", help="Up to the end of turn N. [default: the whole session]"
)
@click.option("--agent", metavar="NAME|DIR", help="Against this agent: say which requests would change, and where.")
@click.option("--json", "as_json", is_flag=True, help="Put the outcome on stdout as one JSON object.")
@click.pass_obj
def command(flags: Flags, *, session: str | None, turn: int | None, agent: str | None, as_json: bool) -> int:
    """Replay a session offline: exactly, or against a changed agent.

    The same loop runs over the record, with sockets closed: what was asked of models and tools is answered with what
    they said. Every event and the hash of every request must come out as recorded; the first that does not is named,
    and the exit code is 1. With --agent, nothing runs: each recorded request is compared with the one that agent would
    make.
    """
    import anyio

    from oribi.cli.find import find_session
    from oribi.cli.looking import open_to_look, print_json, print_text

    with open_to_look(flags) as app:
        found = find_session(app, session)
        if agent is not None:
            compared = compare_with(app, found, turn, agent)
            print_json(compared_json(compared)) if as_json else print_text(compared_text(compared))
            return 1 if compared.changes else 0
        replayed = anyio.run(_replay, app, found, turn)
    print_json(_replayed_json(replayed)) if as_json else print_text(_replayed_text(replayed))
    return 0 if replayed.divergence is None else 1


async def _replay(app: App, session_id: str, turn: int | None) -> Replayed:
    return await app.replay(session_id, turn=turn)


def compare_with(app: App, session_id: str, turn: int | None, agent: str) -> Compared:
    """The requests of a session against those of an agent: one of the workspace by name, or a folder."""
    from pathlib import Path

    from oribi.replay.exact import turns_of

    is_folder = "/" in agent or (Path(agent) / "AGENT.md").is_file()
    return app.compare(turns_of(app.records(session_id), turn), Path(agent) if is_folder else agent)


def compared_text(compared: Compared) -> str:
    """Which requests would change, and where, for a person."""
    from oribi.cli.wording import counted, safe

    lines = [f"{counted(compared.requests, 'request')} compared, {len(compared.changes)} changed"]
    lines += [f"turn {each.turn_id} step {each.step}: {safe(', '.join(each.parts))}" for each in compared.changes]
    seen: set[str] = set()
    for change in compared.changes:
        if change.diff and change.diff not in seen:
            seen.add(change.diff)
            lines += ["", *(safe(line) for line in change.diff.split("\n"))]
    if compared.unlike_the_record:
        which = ", ".join(str(seq) for seq in compared.unlike_the_record)
        lines.append(f"note: this version of Oribi no longer builds the recorded bytes of records {which}")
    return "\n".join(lines) + "\n"


def compared_json(compared: Compared) -> dict[str, object]:
    """The same for a program."""
    from dataclasses import asdict

    return asdict(compared)


def _replayed_text(replayed: Replayed) -> str:
    from oribi.cli.wording import counted, safe

    counts = (counted(replayed.turns, "turn"), counted(replayed.steps, "model call"), counted(replayed.events, "event"))
    did = ", ".join(counts)
    pace = f" ({replayed.steps / replayed.seconds:,.0f} model calls a second)" if replayed.seconds else ""
    if replayed.divergence is None:
        return f"session {safe(replayed.session_id)}: {did} replayed, all equal{pace}\n"
    found = replayed.divergence
    step = "" if found.step is None else f" step {found.step}"
    return (
        f"session {safe(replayed.session_id)}: {did} replayed, then it differs\n"
        f"turn {found.turn_id}{step}, record {found.seq}: {safe(found.what)}\n"
        f"- {safe(found.recorded)}\n+ {safe(found.replayed)}\n"
    )


def _replayed_json(replayed: Replayed) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(replayed), "equal": replayed.divergence is None}
