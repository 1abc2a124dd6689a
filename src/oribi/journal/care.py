"""Care of the database file: checked in full when asked and in a moment at each start, made smaller, migrated."""

from __future__ import annotations

import hashlib
import logging
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oribi.core.errors import JournalError
from oribi.journal.backup import Backup, back_up, default_file
from oribi.journal.chain import chain_hash
from oribi.journal.database import connect_alone, connect_to_read, execute, said
from oribi.journal.maintenance import alone
from oribi.journal.queries import migrations

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

log = logging.getLogger("oribi.journal")

_MOST_HEADS = 20
"""So many open turns have the end of their chain checked at start, the last used first."""
_SHOWN = 20
_INBOX_SCHEMA = 2
"""Since this schema there are letters, which the last of the checks is about."""

# What the tables beside the events say must follow from the events.
_INDEX_CHECKS = (
    (
        "session {0}: its head says {1} records, there are {2}",
        """SELECT h.id, h.seq, coalesce((SELECT max(e.seq) FROM events AS e WHERE e.session_id = h.id), 0) AS found
           FROM session_heads AS h WHERE h.seq != found""",
    ),
    (
        "session {0}: it has records and no head",
        "SELECT DISTINCT session_id FROM events WHERE session_id NOT IN (SELECT id FROM session_heads)",
    ),
    (
        "session {0}: turn {1} is listed and did not start at record {2}",
        """SELECT t.session_id, t.turn_id, t.started_seq FROM turns AS t WHERE NOT EXISTS (
               SELECT 1 FROM events AS e WHERE e.session_id = t.session_id AND e.seq = t.started_seq
                   AND e.type = 'TurnStarted')""",
    ),
    (
        "session {0}: turn {1} started at record {2} and is not listed",
        """SELECT e.session_id, e.turn_id, e.seq FROM events AS e WHERE e.type = 'TurnStarted' AND NOT EXISTS (
               SELECT 1 FROM turns AS t WHERE t.session_id = e.session_id AND t.started_seq = e.seq)""",
    ),
    (
        "session {0}: turn {1} is listed as {2}, which its records do not say",
        """SELECT t.session_id, t.turn_id, coalesce(t.turn_end, 'open') FROM turns AS t
           WHERE (t.ended_at IS NOT NULL) != EXISTS (
               SELECT 1 FROM events AS e WHERE e.session_id = t.session_id AND e.turn_id = t.turn_id
                   AND e.type = 'TurnEnded')""",
    ),
    (
        "letter {1} of session {0}: it was used by record {2}, which is not there",
        """SELECT i.session_id, i.id, i.taken_seq FROM inbox AS i WHERE i.taken_seq IS NOT NULL AND NOT EXISTS (
               SELECT 1 FROM events AS e WHERE e.session_id = i.session_id AND e.seq = i.taken_seq)""",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a full check found: `problems` in words, none when all is well; and how much it looked at."""

    schema: int
    newest_schema: int
    bytes: int
    sessions: int
    records: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuumed:
    """The sizes in bytes of the database and its log, before and after."""

    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """From which schema to which. `backup` was made before; None when nothing was to be done or to be lost."""

    before: int
    after: int
    backup: Backup | None


def check_at_start(connection: apsw.Connection, path: Path) -> None:
    """Look whether turns can go on from where they are, in less than a millisecond however large the database is.

    Looked at is the last record of the sessions with an open turn, the last used first: it must hash to what the head
    of the session says. It does not show damage in earlier records, in content, in other sessions or in indexes;
    reading a session shows that of its own, `check` all of it. A damaged session is told to the log, and refused when
    it is read; the others can go on.

    Raises:
        JournalError: The file holds no journal, or cannot be read.

    """
    with said(path):
        if not execute(connection, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'events'"):
            raise JournalError(f"{path} is not an Oribi journal (it has no events); move it away to start anew.")
        for problem in _damaged_heads(connection):
            log.warning(
                "%s in %s; `oribi audit verify` says more. Restore it from a backup; it is not driven any further",
                problem,
                path,
            )


def check(path: Path) -> Checked:
    """Check everything: SQLite's structures, our tables against the events, and the chain of every session.

    Reads only, and works beside a writer.

    Raises:
        JournalError: The file cannot be read at all.

    """
    connection = connect_to_read(path)
    try:
        with said(path):
            [(schema,)] = execute(connection, "PRAGMA user_version")
            problems = [
                f"SQLite: {row[0]}"
                for row in execute(connection, f"PRAGMA integrity_check({_SHOWN})")
                if row[0] != "ok"
            ]
            for words, sql in _INDEX_CHECKS if schema >= _INBOX_SCHEMA else _INDEX_CHECKS[:-1]:
                problems += [words.format(*row) for row in execute(connection, f"{sql} LIMIT {_SHOWN}")]
            [(sessions,)] = execute(connection, "SELECT count(*) FROM session_heads WHERE seq > 0")
            [(records,)] = execute(connection, "SELECT count(*) FROM events")
    finally:
        connection.close()
    problems += chain_problems(path)
    return Checked(
        schema=schema,
        newest_schema=migrations()[-1][0],
        bytes=_size(path),
        sessions=sessions,
        records=records,
        problems=tuple(dict.fromkeys(problems)),
    )


def chain_problems(path: Path) -> list[str]:
    """What is wrong with the chains and contents, in words."""
    from oribi.journal.sqlite import SqliteJournal  # which calls check_at_start

    journal = SqliteJournal(path, read_only=True)
    try:
        problems: list[str] = []
        for row in journal.sessions(limit=-1):
            try:
                journal.read(row.session_id)
            except JournalError as error:
                problems.append(str(error))
        return problems
    finally:
        journal.close()


def vacuum(path: Path) -> Vacuumed:
    """Rewrite the file without its gaps and empty the log. Needs up to twice the file's size of free space.

    Raises:
        WriterInUseError: Another process has the database open for writing.
        JournalError: It cannot be read or written; it is as it was.

    """
    _require(path)
    with alone(path):
        before = _size(path)
        connection = connect_alone(path)
        try:
            with said(path):
                execute(connection, "VACUUM")
                execute(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        return Vacuumed(before=before, after=_size(path))


def migrate(path: Path) -> Migrated:
    """Bring the database to this version's schema, after a backup.

    Raises:
        WriterInUseError: Another process has the database open for writing.
        JournalError: It cannot be read, backed up or written, or is from a newer version; it is as it was.

    """
    _require(path)
    with alone(path):
        before, newest = schema_of(path), migrations()[-1][0]
        if before == newest:
            return Migrated(before=before, after=newest, backup=None)
        backup = back_up(path, default_file(path, f"schema{before}-")) if before else None
        connect_alone(path, keeps_copy=False).close()
        return Migrated(before=before, after=schema_of(path), backup=backup)


def schema_of(path: Path) -> int:
    """The version of the database's schema.

    Raises:
        JournalError: It cannot be read, or is from a newer version.

    """
    connection = connect_to_read(path)
    try:
        [(version,)] = execute(connection, "PRAGMA user_version")
        return int(version)
    finally:
        connection.close()


def _damaged_heads(connection: apsw.Connection) -> list[str]:
    """Sessions with an open turn whose last record is not the one that the head names."""
    problems: list[str] = []
    rows = execute(
        connection,
        """SELECT h.id, h.seq, h.head, e.turn_id, e.type, e.version, e.at, e.payload, e.prev_hash, e.erased
            FROM turns AS t JOIN session_heads AS h ON h.id = t.session_id
            LEFT JOIN events AS e ON e.session_id = h.id AND e.seq = h.seq
            WHERE t.ended_at IS NULL ORDER BY h.updated_at DESC LIMIT ?""",
        (_MOST_HEADS,),
    )
    for session_id, seq, head, turn_id, type_name, version, at, payload, previous, erased in rows:
        is_whole = isinstance(payload, str) and isinstance(previous, bytes)  # an edit may leave any type
        if not is_whole or head != chain_hash(
            previous,
            session_id=session_id,
            seq=seq,
            turn_id=turn_id,
            type_name=type_name,
            version=version,
            at=at,
            payload_sha256=hashlib.sha256(payload.encode()).digest() if erased is None else erased,
        ):
            problems.append(f"session {session_id}: its last record, {seq}, was edited or is missing")
    return problems


def _size(path: Path) -> int:
    """Bytes of the database and its log."""
    total = 0
    for file in (path, path.with_name(path.name + "-wal")):
        with suppress(OSError):
            found = file.stat()
            total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total


def _require(path: Path) -> None:
    if not path.exists():
        raise JournalError(f"there is no journal at {path} yet; `oribi run` makes it")
