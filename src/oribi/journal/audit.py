"""What an auditor is given: an anchor of the chains' heads, and an export that verifies as the database does.

Checking both is `verify_journal.py`, which stands alone.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from oribi.core.errors import JournalError
from oribi.journal.database import connect_to_read, execute, said
from oribi.journal.verify_journal import anchor_hash, references

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


def write_anchor(database: Path, target: Path, *, at: str) -> int:
    """Append the heads of all chains, as one line, to a file outside; how many sessions it holds.

    `at` is the time as a person reads it. The line is on the disk when this returns.

    Raises:
        JournalError: The journal cannot be read, or the file cannot be written.

    """
    connection = connect_to_read(database)
    try:
        with said(database):
            rows = execute(connection, "SELECT id, seq, head FROM session_heads WHERE seq > 0 ORDER BY id")
    finally:
        connection.close()
    heads = {name: [seq, head.hex()] for name, seq, head in rows}
    line = json.dumps({"at": at, "heads": heads, "sha256": anchor_hash(at, heads)}, separators=(",", ":"))
    try:
        with target.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            torn = b"" if file.read(1) in {b"", b"\n"} else b"\n"  # a line that a power cut ended early stays by itself
            file.write(torn + line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise JournalError(f"the anchor {str(target)!r} cannot be written ({error.strerror})") from error
    return len(heads)


def export_lines(database: Path, sessions: Sequence[str]) -> Iterator[str]:
    """The rows of `sessions` (none named: all), their heads, and the content they refer to, as JSON lines.

    Raises:
        JournalError: The journal cannot be read, or one of the sessions is not there.

    """
    connection = connect_to_read(database)

    def ask(sql: str, *values: str) -> list[tuple[Any, ...]]:
        with said(database):
            return execute(connection, sql, values)

    try:
        ask("BEGIN")  # all of it as of one moment
        names = [name for (name,) in ask("SELECT id FROM session_heads UNION SELECT session_id FROM events ORDER BY 1")]
        missing = [name for name in sessions if name not in names]
        if missing:
            raise JournalError(f"no session {missing[0]!r} in the journal; `oribi sessions list` shows them")
        blobs: dict[str, None] = {}
        for name in sessions or names:
            yield from _session_lines(ask, name, blobs)
        for digest in blobs:
            for blob in _as_stored(ask, ("body",), "blobs WHERE hash = ?", digest):
                yield _line({"kind": "blob", "hash": digest, **blob})
    finally:
        connection.close()


def _session_lines(ask: Callable[..., list[tuple[Any, ...]]], name: str, blobs: dict[str, None]) -> Iterator[str]:
    """The lines of one session; the hashes of the content it refers to are added to `blobs`."""
    shown = str(name)  # an edit may leave any type anywhere: it is to be found
    knows_erasure = "erased" in {row[1] for row in ask("PRAGMA table_info(events)")}
    columns = ("seq", "head", "agent", "principal", "channel", *(("erased_at",) if knows_erasure else ()))
    for head in _as_stored(ask, columns, "session_heads WHERE id = ?", name):  # one, or none
        columns = ("turn_id", "started_seq", "turn_end", "agent", "started_at", "ended_at")
        turns = _as_stored(ask, columns, "turns WHERE session_id = ? ORDER BY started_seq", name)
        rows = [list(turn.values()) for turn in turns]
        yield _line({"kind": "session", "id": shown, "erased_at": None, **head, "turns": rows})
    columns = ("seq", "turn_id", "type", "version", "at", "payload", "prev_hash", "hash")
    columns += ("erased",) if knows_erasure else ()
    for row in _as_stored(ask, columns, "events WHERE session_id = ? ORDER BY seq", name):
        yield _line({"kind": "event", "session_id": shown, "erased": None, **row})
        with suppress(ValueError, TypeError):  # it was edited
            blobs |= dict.fromkeys(digest for _, digest in references(json.loads(row["payload"])))


_HASHES = frozenset({"head", "hash", "prev_hash", "erased"})


def _as_stored(
    ask: Callable[..., list[tuple[Any, ...]]], columns: Sequence[str], rows: str, *values: str
) -> Iterator[dict[str, Any]]:
    """Each row by its columns: hashes in hex, and what is not of its column's type in an object."""
    selected = ", ".join(f"typeof({column}), CAST({column} AS BLOB)" for column in columns)
    for row in ask(f"SELECT {selected} FROM {rows}", *values):  # noqa: S608
        yield {
            column: _stored(column, kind, value)
            for column, kind, value in zip(columns, row[::2], row[1::2], strict=True)
        }


def _stored(column: str, kind: str, value: bytes | None) -> int | str | dict[str, str] | None:
    match kind:
        case "null" if value is None:
            return None
        case "integer" if value is not None:
            return int(value)
        case "text" if value is not None and column not in _HASHES:
            return value.decode("utf-8", "surrogateescape")
        case "blob" if value is not None and column in _HASHES:
            return value.hex()
        case _:
            return {kind: (value or b"").hex()}


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":")) + "\n"  # in ASCII: it holds also what is no UTF-8
