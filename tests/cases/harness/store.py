"""Reading Oribi's audit store from outside: through the public library, read only, and its tables as they are."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import oribi
from oribi.core.calls import Deny
from oribi.core.events import CallJudged, ModelReplied, ToolSettled, TurnEnded, TurnStarted

if TYPE_CHECKING:
    from pathlib import Path

    from oribi.core.events import Recorded
    from oribi.core.messages import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What the store held at one time. `rows` are the tool calls by the tool's name; `text` is everything in it."""

    records: dict[str, list[Recorded]]
    rows: list[dict[str, Any]]
    text: str
    integrity: str


def read_store(workspace: Path) -> Store:
    """Everything in the store of `workspace`.

    Raises:
        OribiError: It does not open, or a record of it cannot be read.

    """
    app = oribi.open(workspace, read_only=True)
    records = {str(row.session_id): app.records(row.session_id) for row in app.sessions(100_000)}
    database = app.workspace.database
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        connection.text_factory = _text
        rows = [dict(row) for row in connection.execute("SELECT * FROM tool_invocations")]
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        shown = [
            str(list(row))
            for (table,) in tables
            for row in connection.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - names of the database itself
        ]
        integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
    connection.close()
    raw = [path.read_bytes().decode("latin-1") for path in sorted(database.parent.glob(f"{database.name}*"))]
    return Store(records=records, rows=rows, text="\n".join([*shown, *raw]), integrity=integrity)


def _text(data: bytes) -> str:
    """Text of the database that may be no UTF-8, which the checks want to see all the same."""
    return data.decode("utf-8", "replace")


def user_messages(store: Store, session: str) -> list[str]:
    """The messages a session took in, in order."""
    return [
        record.event.input.text for record in store.records.get(session, []) if isinstance(record.event, TurnStarted)
    ]


def answers(store: Store, session: str) -> list[str]:
    """The model's texts in a session, in order."""
    return [
        record.event.reply.text
        for record in store.records.get(session, [])
        if isinstance(record.event, ModelReplied) and record.event.reply.text
    ]


def turns_stand_together(store: Store, session: str) -> bool:
    """Whether no record of one turn stands between those of another."""
    order = [record.turn_id for record in store.records.get(session, []) if record.turn_id is not None]
    seen: list[str] = []
    for turn_id in order:
        if not seen or seen[-1] != turn_id:
            seen.append(turn_id)
    return len(seen) == len(set(seen))


def calls_and_results(store: Store, session: str) -> tuple[list[str], list[str]]:
    """The keys of all calls a session's model made, and of all results it has."""
    calls: list[str] = []
    results: list[str] = []
    for record in store.records.get(session, []):
        match record.event:
            case ModelReplied(step=step, reply=reply):
                calls += [f"{record.turn_id}/{step}/{call.id}" for call in reply.calls]
            case ToolSettled(step=step, call_id=call_id) | CallJudged(step=step, call_id=call_id, verdict=Deny()):
                results.append(f"{record.turn_id}/{step}/{call_id}")
            case _:
                pass
    return calls, results


def usage_of(store: Store, session: str, turn_id: str) -> list[Usage]:
    """What the provider reported for each reply of a turn."""
    return [
        record.event.reply.usage
        for record in store.records.get(session, [])
        if record.turn_id == turn_id and isinstance(record.event, ModelReplied)
    ]


def turn_ends(store: Store, session: str) -> list[str]:
    """How the turns of a session ended, in order."""
    return [
        type(record.event.end).__name__
        for record in store.records.get(session, [])
        if isinstance(record.event, TurnEnded)
    ]
