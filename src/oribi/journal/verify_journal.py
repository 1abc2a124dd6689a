"""Verify an Oribi journal, or an export of one, with nothing but Python's standard library: a script for an auditor.

    python verify_journal.py oribi.db|export.jsonl [--anchor FILE]

Exit code 0: all of it verifies; 1: something does not, and is named; 2: it cannot be read. This file imports nothing of
Oribi, so that whoever checks the journal need not trust what wrote it; `oribi audit verify` runs the same lines.

What is checked, session by session, row by row: no `seq` is missing or out of order; each row names the hash of the one
before it; each hash is SHA-256(previous hash + header + SHA-256 of the payload), the header being session, seq, turn,
type, version and time joined by 0x1f; the chain ends where the session's head says; all content that a row refers to
is there and has the hash it is named by, except what was marked as erasable; an erased row is named, with what stands
there now, by a later `Erased` row of its chain; the index of turns agrees with the rows. An anchor is a line written
earlier, elsewhere, with the heads of that moment: each must still be in its chain.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

GENESIS = bytes(32)
KNOWN_VERSION = 1
USERS_JSON = frozenset({"arguments", "failures", "lock", "output_schema", "parameters", "value"})
"""Fields of a payload that hold JSON of others: as a whole it may stand apart, what is in it refers to nothing."""
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, sqlite3.Error)
"""What reading something that is no journal may raise."""
ERASED = "[erased]"
WORDS = {
    "TurnStarted": ("input.text", "input.parts"),
    "InputAdded": ("input.text", "input.parts"),
    "ModelReplied": ("reply.text", "reply.reasoning", "reply.raw", "reply.problem"),
    "ModelFaulted": ("message", "partial"),
    "AnswerChecked": ("value", "problem"),
    "NoticeGiven": ("text",),
    "CallJudged": ("verdict.reason", "verdict.key"),
    "ToolFaulted": ("result.text",),
    "ToolSettled": ("result.text", "result.reason"),
    "CallProbed": ("found.text", "found.reason"),
    "CallResolved": ("result.text", "result.reason"),
    "WrapUpBegan": ("reason",),
    "TurnEnded": ("end.text", "end.value", "end.message", "end.reason"),
}
"""Where the words of a message stand, by the type of its row: an erased row has none there, or `ERASED`."""
_HASH = re.compile("[0-9a-f]{64}")
Blob = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Finding:
    """Something that does not verify: in which session, at which row (0: the session as a whole), and what."""

    session_id: str
    seq: int
    kind: str
    message: str


@dataclass(frozen=True)
class Row:
    """One row of the journal. `erased` is the hash of the payload that stood there before, None if it still stands."""

    session_id: str
    seq: int
    turn_id: str | None
    type: str
    version: int
    at: int
    payload: str
    prev_hash: bytes
    hash: bytes
    erased: bytes | None


@dataclass(frozen=True)
class Turn:
    """What the index says of a turn."""

    turn_id: str
    started_seq: int
    turn_end: str | None
    agent: str | None
    started_at: int
    ended_at: int | None


@dataclass
class Session:
    """A session: where its chain ends by its head (None: it has none), its turns by the index, its rows in order.

    `is_erased` says whether its head calls all of it erased.
    """

    session_id: str
    head: tuple[int, bytes] | None
    is_erased: bool
    turns: list[Turn]
    rows: Iterator[Row]
    blob: Blob


@dataclass
class Report:
    """How a check came out."""

    sessions: int = 0
    rows: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])


def row_hash(row: Row) -> bytes:
    """What the hash of a row has to be."""
    header = f"{row.session_id}\x1f{row.seq}\x1f{row.turn_id or ''}\x1f{row.type}\x1f{row.version}\x1f{row.at}"
    payload = hashlib.sha256(_bytes(row.payload)).digest() if row.erased is None else row.erased
    return hashlib.sha256(row.prev_hash + _bytes(header) + payload).digest()


def verify(path: Path, anchors: list[dict[str, Any]] | None = None) -> Report:
    """Check a database or an export. At most one finding of each chain: the first row that does not stand.

    Raises:
        OSError, ValueError, sqlite3.Error: It cannot be read, or is neither; all of them are in `UNREADABLE`.

    """
    report = Report()
    wanted = _anchored(anchors or [])
    seen: set[str] = set()
    with closing(Export(path) if _is_export(path) else Database(path)) as source:
        for session in source.sessions():
            seen.add(session.session_id)
            report.sessions += 1
            _verify_session(session, report, wanted.get(session.session_id, []))
    for session_id in wanted.keys() - seen:
        for seq, _, at in wanted[session_id][:1]:
            said = f"the anchor of {at} knows it up to row {seq}, and it is not there at all{_pruned(path, session_id)}"
            report.findings.append(Finding(session_id, seq, "missing session", said))
    return report


def _pruned(path: Path, session_id: str) -> str:
    """What to add when it is written beside the database that the session was deleted on purpose."""
    notes = path.with_name("pruned.jsonl")
    if not notes.is_file():
        return ""
    names = [json.loads(line).get("session_id") for line in notes.read_text("utf-8").splitlines() if line.strip()]
    return f"; {notes.name} beside it says that it was pruned, which you have to believe" if session_id in names else ""


def _verify_session(session: Session, report: Report, anchored: list[tuple[int, str, str]]) -> None:
    """Check one chain, and what hangs on it."""
    name = session.session_id

    def find(seq: int, kind: str, message: str) -> None:
        report.findings.append(Finding(name, seq, kind, message))

    previous, expected = GENESIS, 1
    tombstones: dict[int, str] = {}
    turns: dict[str, Turn] = {}
    is_erased = False
    at_anchor: dict[int, list[tuple[str, str]]] = {}
    for seq, digest, at in anchored:
        at_anchor.setdefault(seq, []).append((digest, at))
    for row in session.rows:
        report.rows += 1
        problem = _row_problem(row, previous, expected, session.blob)
        if problem is not None:
            find(min(row.seq, expected) if row.seq > 0 else expected, *problem)
            return
        for digest, at in at_anchor.pop(row.seq, []):
            if row.hash.hex() != digest:
                find(row.seq, "rewritten", f"its hash is not the one that the anchor of {at} holds")
                return
        if row.erased is not None:
            tombstones[row.seq] = hashlib.sha256(_bytes(row.payload)).hexdigest()
            is_erased |= row.type == "SessionOpened"  # which holds no message: it goes with the whole session only
        _note_turn(row, turns)
        _lay_to_rest(row, tombstones, session.blob)
        previous, expected = row.hash, expected + 1
    if tombstones:
        first = min(tombstones)
        find(first, "edited", "it is marked as erased, and no later row says so with what stands there now")
        return
    for seq, [(_, at), *_] in sorted(at_anchor.items()):
        find(seq, "truncated", f"the anchor of {at} knows this row, and the chain ends at {expected - 1}")
        return
    if session.head is not None and session.is_erased != is_erased:
        said = (
            "the head says that all of it was erased, and the rows do not"
            if session.is_erased
            else ("the rows say that all of it was erased, and the head does not")
        )
        find(0, "wrong head", said)
        return
    _verify_end(session, previous, expected - 1, turns, find)


def _row_problem(row: Row, previous: bytes, expected: int, blob: Blob) -> tuple[str, str] | None:
    if row.seq != expected:
        if row.seq > expected:
            return "missing", f"row {expected} is missing; row {row.seq} comes in its place"
        return "reordered", f"it comes a second time, or out of order, in the place of row {expected}"
    if row.prev_hash != previous:
        return "reordered", "it does not follow the row before it: one of the two was exchanged, inserted or replaced"
    if row.hash != row_hash(row) or row.turn_id == "":  # none is NULL; the header does not tell them apart
        return "edited", "its content and its hash do not belong together"
    if row.version > KNOWN_VERSION:
        return "newer", f"it was written by a newer version (row version {row.version}); use its verifier"
    return _payload_problem(row, blob)


def _payload_problem(row: Row, blob: Blob) -> tuple[str, str] | None:
    try:
        payload = json.loads(row.payload)
        marks = list(references(payload))
    except (ValueError, RecursionError):
        return "edited", "its payload is not JSON"
    if not isinstance(payload, dict):
        return "edited", "its payload is not a JSON object"
    for mark, digest in marks:
        body = blob(digest)
        if body is None:
            if mark != "$erasable":
                return "missing content", f"the content {digest} that it refers to is not there"
        elif hashlib.sha256(_bytes(body)).hexdigest() != digest:
            return "edited content", f"the content {digest} that it refers to was edited"
    if row.erased is not None and has_words(row.type, cast("dict[str, Any]", payload), blob):
        return "edited", "it is marked as erased, and says something: an erasure leaves no words"
    return None


def has_words(type_name: str, payload: dict[str, Any], blob: Blob) -> bool:
    """Whether what stands in an erased row is more than an erasure leaves: nobody can be given words so."""
    if not payload:
        return False
    if type_name not in WORDS:
        return True
    if any(_at(payload, path) not in (None, "", ERASED) for path in WORDS[type_name]):
        return True
    calls: Any = _at(payload, "reply.calls") or []
    if (mark := _mark(calls)) is not None:  # a long list stands apart
        calls = json.loads(blob(mark[1]) or "[]")
    if (command := _at(payload, "command")) is not None:
        calls = [*calls, command]
    return any(_at(call, "arguments") != {} for call in cast("list[Any]", calls))


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value


def references(value: Any) -> Iterator[tuple[str, str]]:
    """The marks in a payload that refer to content, and its hash. In JSON of others, what looks so is none."""
    if isinstance(value, dict):
        for key, part in cast("dict[str, Any]", value).items():
            if (mark := _mark(part)) is not None:
                yield mark
            elif key not in USERS_JSON:
                yield from references(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            mark = _mark(part)
            yield from references(part) if mark is None else [mark]


def _mark(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, dict) or len(cast("dict[str, Any]", value)) != 1:
        return None
    [(key, digest)] = cast("dict[str, Any]", value).items()
    is_mark = key in {"$text", "$json", "$erasable"} and isinstance(digest, str) and _HASH.fullmatch(digest)
    return (key, digest) if is_mark else None


def _note_turn(row: Row, turns: dict[str, Turn]) -> None:
    """Note what the index has to say; None where the row that knew it was erased."""
    turn_id = row.turn_id or ""
    if row.type == "TurnStarted":
        agent = _at(json.loads(row.payload), "agent")
        turns[turn_id] = Turn(turn_id, row.seq, None, agent if isinstance(agent, str) else None, row.at, None)
    elif row.type == "TurnEnded" and turn_id in turns:
        name = _at(json.loads(row.payload), "end.$type")
        turns[turn_id] = replace(turns[turn_id], turn_end=str(name or "?"), ended_at=row.at)


def _lay_to_rest(row: Row, tombstones: dict[int, str], blob: Blob) -> None:
    """An `Erased` row says which rows before it were erased, and the hash of what stands there now."""
    if row.type != "Erased" or row.erased is not None:
        return
    rows: Any = json.loads(row.payload).get("rows", [])
    if (mark := _mark(rows)) is not None:  # a long list stands apart
        rows = json.loads(blob(mark[1]) or "[]")
    for each in cast("list[Any]", rows if isinstance(rows, list) else []):
        said: dict[str, Any] = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        seq = said.get("seq")
        if isinstance(seq, int) and seq in tombstones and tombstones[seq] == said.get("sha256"):
            del tombstones[seq]


def _verify_end(
    session: Session, last: bytes, count: int, turns: dict[str, Turn], find: Callable[[int, str, str], None]
) -> None:
    """Check the chain's end against the session's head, and the turns against their index."""
    if session.head is None:
        find(0, "missing head", "the session has rows and no head")
        return
    seq, digest = session.head
    if seq > count:
        find(count + 1, "truncated", f"rows {count + 1} to {seq} are missing at the end")
        return
    if (seq, digest) != (count, last):
        find(count, "wrong head", f"the head says row {seq}, the chain ends at row {count} or with another hash")
        return
    indexed = {turn.turn_id: turn for turn in session.turns}
    for turn_id in sorted(indexed.keys() | turns.keys()):
        was, told = turns.get(turn_id), indexed.get(turn_id)
        if (
            was is None
            or told is None
            or (was.started_seq, was.started_at, was.ended_at) != (told.started_seq, told.started_at, told.ended_at)
            or was.agent not in {None, told.agent}
        ):
            place = was.started_seq if was is not None else 0
            find(place, "wrong index", f"the index and the rows disagree about turn {turn_id!r}")
            return
        if was.turn_end != told.turn_end and (was.turn_end != "?" or told.turn_end is None):
            said = f"turn {turn_id!r} ended as {was.turn_end}, and the index says {told.turn_end}"
            find(was.started_seq, "wrong index", said)
            return


class Database:
    """The sessions of a SQLite file, opened to read only."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise FileNotFoundError(f"{path} is not there")
        self._connection = _open_to_read(path)
        self._connection.text_factory = _text
        self._connection.execute("BEGIN")  # all of it as of one moment, whoever writes meanwhile
        columns = [row[1] for row in self._connection.execute("PRAGMA table_info(events)")]
        is_new = "erased" in columns  # journals of before know no erasure
        self._erased, self._erased_at = ("erased", "erased_at") if is_new else ("NULL", "NULL")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def sessions(self) -> Iterator[Session]:
        """Each session, with its rows read as they are asked for."""
        columns = f"id, seq, head, {self._erased_at}"
        heads = {name: _head(*ends) for name, *ends in self._rows(f"SELECT {columns} FROM session_heads")}  # noqa: S608
        named = {name for (name,) in self._rows("SELECT DISTINCT session_id FROM events")}
        indexed = {name for (name,) in self._rows("SELECT DISTINCT session_id FROM turns")}
        for name in sorted({str(name) for name in heads.keys() | named | indexed}):
            found = self._rows(
                "SELECT turn_id, started_seq, turn_end, agent, started_at, ended_at FROM turns WHERE session_id = ?",
                name,
            )
            head, is_erased = heads.get(name, (None, False))
            yield Session(name, head, is_erased, [Turn(*row) for row in found], self._events(name), self._blob)

    def _events(self, session_id: str) -> Iterator[Row]:
        columns = f"session_id, seq, turn_id, type, version, at, payload, prev_hash, hash, {self._erased}"
        for row in self._rows(f"SELECT {columns} FROM events WHERE session_id = ? ORDER BY seq", session_id):  # noqa: S608
            yield _row(*row)

    def _blob(self, digest: str) -> str | None:
        found = self._connection.execute("SELECT body FROM blobs WHERE hash = ?", (digest,)).fetchone()
        return (
            None if found is None else found[0] if isinstance(found[0], str) else ""
        )  # bytes are not what was written

    def _rows(self, sql: str, *values: str) -> sqlite3.Cursor:
        return self._connection.execute(sql, values)


def _open_to_read(path: Path) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        # a read-only folder has no room for the file that readers share; nobody can be writing there either
        connection = sqlite3.connect(f"{uri}&immutable=1", uri=True)
    return connection


class Export:
    """The sessions of an export: JSON lines, each a session's head, a row, or content."""

    def __init__(self, path: Path) -> None:
        self._heads: dict[str, dict[str, Any]] = {}
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._blobs: dict[str, str] = {}
        with path.open(encoding="utf-8") as file:
            for line in filter(str.strip, file):
                self._add(json.loads(line))

    def _add(self, line: dict[str, Any]) -> None:
        if line["kind"] == "session":
            self._heads[line["id"]] = line
        elif line["kind"] == "event":
            self._rows.setdefault(line["session_id"], []).append(line)
        else:
            self._blobs[line["hash"]] = line["body"] if isinstance(line["body"], str) else ""

    def close(self) -> None:
        """Nothing is open."""

    def sessions(self) -> Iterator[Session]:
        """Each session."""
        for name in sorted(self._heads.keys() | self._rows.keys()):
            head = self._heads.get(name)
            ends, is_erased = (
                (None, False) if head is None else _head(head["seq"], _unhex(head["head"]), head["erased_at"])
            )
            turns = [] if head is None else [Turn(*turn) for turn in head["turns"]]
            yield Session(name, ends, is_erased, turns, self._events(name), self._blobs.get)

    def _events(self, session_id: str) -> Iterator[Row]:
        for line in self._rows.get(session_id, []):
            erased = None if line["erased"] is None else _unhex(line["erased"])
            place = line["session_id"], line["seq"], line["turn_id"], line["type"], line["version"], line["at"]
            yield _row(*place, line["payload"], _unhex(line["prev_hash"]), _unhex(line["hash"]), erased)


def _unhex(value: Any) -> bytes:
    return bytes.fromhex(value) if isinstance(value, str) and re.fullmatch("([0-9a-f]{2})*", value) else b""


def _head(seq: Any, head: Any, erased_at: Any) -> tuple[tuple[int, bytes], bool]:
    """A head of whatever was in the columns."""
    ends = seq if isinstance(seq, int) else -1, head if isinstance(head, bytes) else b""
    return ends, erased_at is not None


def _row(*values: Any) -> Row:
    """A row of whatever was in the columns: an edit may have left values of other types there."""
    session_id, seq, turn_id, kind, version, at, payload, prev_hash, digest, erased = values
    return Row(
        session_id=str(session_id),  # which bytes in the place of a text do not survive
        seq=seq if isinstance(seq, int) else -1,
        turn_id=None if turn_id is None else str(turn_id),
        type=str(kind),
        version=version if isinstance(version, int) else -1,
        at=at if isinstance(at, int) else -1,
        payload=payload if isinstance(payload, str) else "",  # a text is what was written, and nothing else
        prev_hash=prev_hash if isinstance(prev_hash, bytes) else b"",
        hash=digest if isinstance(digest, bytes) else b"",
        erased=erased if erased is None or isinstance(erased, bytes) else b"",
    )


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def _bytes(text: str) -> bytes:
    """The bytes as they stood in the file, also those that are no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def read_anchors(path: Path) -> list[dict[str, Any]]:
    """The anchors in a file, one a line.

    Raises:
        OSError, ValueError: It cannot be read, or an anchor in it was edited.

    """
    anchors: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        anchor: dict[str, Any] = {}
        holds = False
        with suppress(*UNREADABLE):
            anchor = json.loads(line)
            holds = anchor_hash(anchor["at"], anchor["heads"]) == anchor["sha256"]
        if not holds:
            raise ValueError(f"line {number} of {path} is no anchor: it was edited, or cut off while it was written")
        anchors.append(anchor)
    return anchors


def anchor_hash(at: str, heads: dict[str, Any]) -> str:
    """The hash (hex) over an anchor's time and heads."""
    return hashlib.sha256(json.dumps([at, heads], sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _anchored(anchors: list[dict[str, Any]]) -> dict[str, list[tuple[int, str, str]]]:
    """By session: the seq, the hash and the time of each anchor that knows it."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    for anchor in anchors:
        for session_id, (seq, digest) in anchor["heads"].items():
            if seq:
                found.setdefault(session_id, []).append((seq, digest, anchor["at"]))
    return found


def _is_export(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1) == b"{"


def report_text(report: Report) -> str:
    """The report in words."""
    lines = [
        f"session {each.session_id}, "
        + (f"row {each.seq}" if each.seq else "as a whole")
        + f": {each.kind}: {each.message}"
        for each in report.findings
    ]
    bad = len(report.findings)
    lines.append(
        f"{report.sessions} sessions, {report.rows} rows: " + (f"{bad} do not verify" if bad else "all verify")
    )
    return "".join(f"{_printable(line)}\n" for line in lines)


def _printable(line: str) -> str:
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)


def main(arguments: list[str]) -> int:
    """Run the script; the exit code."""
    named = [each for each in arguments if each != "--anchor"]
    if not 1 <= len(named) <= 2 or len(arguments) - len(named) != len(named) - 1:  # noqa: PLR2004 - a file, an anchor
        sys.stderr.write("usage: verify_journal.py oribi.db|export.jsonl [--anchor FILE]\n")
        return 2
    try:
        report = verify(Path(named[0]), read_anchors(Path(named[1])) if len(named) > 1 else None)
    except UNREADABLE as error:
        sys.stderr.write(_printable(f"error: {named[0]} cannot be verified: {type(error).__name__}: {error}") + "\n")
        return 2
    sys.stdout.write(report_text(report))
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
