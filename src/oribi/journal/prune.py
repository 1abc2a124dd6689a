"""Old sessions deleted whole: their records, turns, mail, and the contents that no other session refers to.

What was pruned is told apart from what was lost by `pruned.jsonl` beside the database: one line a session, on the disk
before the session goes. A session that is in the file and also in the database was not pruned after all (the process
died between), or began anew under the same name.
"""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from oribi.core.errors import JournalError
from oribi.journal.database import connect_alone, connect_to_read, execute, said
from oribi.journal.maintenance import alone
from oribi.journal.queries import migrations

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

_HASH = re.compile(r'"([0-9a-f]{64})"')

_SESSIONS = """
SELECT h.id, h.seq, lower(hex(h.head)), h.updated_at FROM session_heads AS h
WHERE h.updated_at < ?
    AND NOT EXISTS (SELECT 1 FROM turns AS t WHERE t.session_id = h.id AND t.ended_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM inbox AS i WHERE i.session_id = h.id AND i.taken_seq IS NULL)
ORDER BY h.updated_at, h.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedSession:
    """A session to be deleted, or deleted: where its chain ended. `head` is hex, `last_at` in microseconds."""

    session_id: str
    seq: int
    head: str
    last_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was pruned, or would be: `rows` of all tables, `bytes` of the payloads and contents in them."""

    sessions: tuple[PrunedSession, ...]
    rows: int
    bytes: int


def prune(path: Path, *, before: int) -> Pruned:
    """Delete the sessions whose last event is older than `before` (microseconds since the epoch).

    A session with an open turn or with mail that waits stays, however old. The file keeps its size until `vacuum`.

    Raises:
        WriterInUseError: Another process has the database open for writing.
        JournalError: It cannot be read or written; nothing was deleted.

    """
    _require(path)
    with alone(path):
        connection = connect_alone(path)
        try:
            with said(path):
                execute(connection, "BEGIN IMMEDIATE")
                pruned = _prune(connection, before)
                _note(path, pruned.sessions)
                execute(connection, "COMMIT")
                return pruned
        finally:
            connection.close()  # which takes all of it back when something failed


def would_prune(path: Path, *, before: int) -> Pruned:
    """What `prune` would delete; deletes nothing, and works beside a writer.

    Raises:
        JournalError: The database cannot be read.

    """
    connection = connect_to_read(path)
    try:
        with said(path):
            [(schema,)] = execute(connection, "PRAGMA user_version")
            if schema != migrations()[-1][0]:
                raise JournalError(f"the journal {path} has an older schema ({schema}); `oribi db migrate` first")
            execute(connection, "BEGIN")  # one state for all the questions
            sessions = _sessions(connection, before)
            names = [one.session_id for one in sessions]
            rows, size = _count(connection, names)
            unused = _unused_contents(connection, names)
            for digest in unused:
                [(length,)] = execute(
                    connection, "SELECT length(CAST(body AS BLOB)) FROM blobs WHERE hash = ?", (digest,)
                )
                size += length
            execute(connection, "ROLLBACK")
    finally:
        connection.close()
    return Pruned(sessions=sessions, rows=rows + len(unused), bytes=size)


def _prune(connection: apsw.Connection, before: int) -> Pruned:
    sessions = _sessions(connection, before)
    names = [one.session_id for one in sessions]
    rows, size = _count(connection, names)
    unused = _unused_contents(connection, names)
    for name in names:
        for table, column in _TABLES:
            execute(connection, f"DELETE FROM {table} WHERE {column} = ?", (name,))  # noqa: S608 - names of ours
    for digest in unused:
        [(length,)] = execute(
            connection, "DELETE FROM blobs WHERE hash = ? RETURNING length(CAST(body AS BLOB))", (digest,)
        )
        size += length
    return Pruned(sessions=sessions, rows=rows + len(unused), bytes=size)


_TABLES = (("events", "session_id"), ("turns", "session_id"), ("inbox", "session_id"), ("session_heads", "id"))


def _sessions(connection: apsw.Connection, before: int) -> tuple[PrunedSession, ...]:
    return tuple(
        PrunedSession(session_id=row[0], seq=row[1], head=row[2], last_at=row[3])
        for row in execute(connection, _SESSIONS, (before,))
    )


def _count(connection: apsw.Connection, names: list[str]) -> tuple[int, int]:
    """How many rows the sessions have, and how many bytes their payloads take."""
    rows = size = 0
    for name in names:
        for table, column in _TABLES:
            payloads = "payload" if table in {"events", "inbox"} else "''"
            [(count, length)] = execute(
                connection,
                f"SELECT count(*), total(length(CAST({payloads} AS BLOB))) FROM {table} WHERE {column} = ?",  # noqa: S608 - names of ours
                (name,),
            )
            rows, size = rows + count, size + int(length)
    return rows, size


def _unused_contents(connection: apsw.Connection, names: list[str]) -> list[str]:
    """Contents that only the sessions `names`, or nobody, refer to.

    Every text in a payload that looks like a hash counts as a reference: too much is kept rather than too little.
    """
    if not names:
        return []
    leaving = set(names)
    used: set[bytes] = set()
    for table in ("events", "inbox"):
        # row by row, so not by our `execute`; apsw's types name a Buffer that Python 3.11 lacks
        rows: Any = connection.execute(f"SELECT session_id, payload FROM {table}")  # noqa: S608 # pyright: ignore[reportUnknownMemberType]
        for session_id, payload in rows:
            if session_id not in leaving:
                used.update(map(bytes.fromhex, _HASH.findall(str(payload))))
    contents = execute(connection, "SELECT hash FROM blobs")
    return [digest for (digest,) in contents if bytes.fromhex(digest) not in used]


def _note(path: Path, sessions: tuple[PrunedSession, ...]) -> None:
    """Write down what is about to go, and wait for the disk."""
    if not sessions:
        return
    at = time.time_ns() // 1000
    lines = "".join(json.dumps({**asdict(one), "pruned_at": at}) + "\n" for one in sessions)
    file = notes_file(path)
    try:
        with file.open("a", encoding="utf-8") as out:
            out.write(lines)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise JournalError(
            f"cannot write {file} ({error.strerror}), which tells pruned sessions from lost ones; nothing was deleted"
        ) from error


def notes_file(path: Path) -> Path:
    """Where it stands what was pruned from the database `path`."""
    return path.with_name("pruned.jsonl")


def _require(path: Path) -> None:
    if not path.exists():
        raise JournalError(f"there is no journal at {path} yet; `oribi run` makes it")
