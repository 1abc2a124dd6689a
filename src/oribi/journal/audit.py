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
            for (body,) in ask("SELECT body FROM blobs WHERE hash = ?", digest):
                yield _line({"kind": "blob", "hash": digest, "body": body})
    finally:
        connection.close()


def _session_lines(ask: Callable[..., list[tuple[Any, ...]]], name: str, blobs: dict[str, None]) -> Iterator[str]:
    """The lines of one session; the hashes of the content it refers to are added to `blobs`."""
    heads = ask("SELECT seq, head, agent, principal, channel FROM session_heads WHERE id = ?", name)
    for seq, head, agent, principal, channel in heads:  # one, or none: whoever verifies the export is to find that
        turns = ask("SELECT turn_id, started_seq, turn_end FROM turns WHERE session_id = ? ORDER BY started_seq", name)
        about = {"agent": agent, "principal": principal, "channel": channel, "turns": turns}
        yield _line({"kind": "session", "id": name, "seq": seq, "head": head.hex(), **about})
    columns = ("session_id", "seq", "turn_id", "type", "version", "at", "payload", "prev_hash", "hash", "erased")
    rows = ask(f"SELECT {', '.join(columns)} FROM events WHERE session_id = ? ORDER BY seq", name)  # noqa: S608
    for row in rows:
        values = [value.hex() if isinstance(value, bytes) else value for value in row]
        yield _line({"kind": "event", **dict(zip(columns, values, strict=True))})
        with suppress(ValueError, TypeError):  # it was edited, which the verifier says
            blobs |= dict.fromkeys(digest for _, digest in references(json.loads(row[6])))


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
