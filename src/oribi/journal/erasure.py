"""Erasure: content goes, its hash stays, and a record of the chain says so; what is left still verifies (ADR 0013).

An erased row keeps its place, its type and its time. Its payload is replaced by one without the content, and the hash
of the payload that stood there takes that one's place in the row's hash. An `Erased` record names each such row with
the hash of what stands there now, so that nobody can edit a row and call it erased.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from oribi.core.calls import Allow, Denied, Deny, Failed, SessionId, Succeeded, ToolCall, ToolResult, TurnId, Unknown
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    ToolFailed,
    Unfinished,
)
from oribi.core.errors import JournalError
from oribi.core.events import (
    AnswerChecked,
    CallJudged,
    CallProbed,
    CallResolved,
    Erased,
    ErasedRow,
    InputAdded,
    ModelFaulted,
    ModelReplied,
    NoticeGiven,
    ToolFaulted,
    ToolSettled,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.messages import UserMessage
from oribi.journal.chain import chain_hash
from oribi.journal.codec import VERSION, MissingContentError, decode_event, encode_event
from oribi.journal.database import connect_alone, connect_to_read, execute, said
from oribi.journal.maintenance import alone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

    from oribi.core.events import Event
    from oribi.journal.codec import Fetch

ERASED = "[erased]"
"""What stands in the place of an erased text, and is sent to the model when the session goes on."""


_HOLDERS = {
    "TurnStarted": "input",
    "InputAdded": "input",
    "ModelReplied": "reply",
    "ToolFaulted": "result",
    "ToolSettled": "result",
}


_HASH = re.compile("[0-9a-f]{64}")


class _Row(NamedTuple):
    """One row as it is stored."""

    seq: int
    turn_id: TurnId | None
    type: str
    payload: str
    erased: bytes | None


def erase_session(database: Path, session_id: SessionId, *, by: str, reason: str = "") -> int:
    """Erase everything that was said and done in a session; how many rows are tombstones now.

    The session can be neither read nor continued afterwards. Its rows stay as tombstones, which verify.

    Raises:
        WriterInUseError: Another process uses the journal; erasure needs it alone.
        JournalError: There is no such session, or the journal cannot be written.

    """
    return _erase(database, session_id, None, by=by, reason=reason)


def erase_message(database: Path, session_id: SessionId, seq: int, *, by: str, reason: str = "") -> int:
    """Erase one message of a session, by the `seq` of its record; how many rows that changed.

    An answer of a model stands in the turn's end as well, and goes there, too. The session can go on: the model reads
    `[erased]` in the place of what was there.

    Raises:
        WriterInUseError: Another process uses the journal; erasure needs it alone.
        JournalError: There is no such record, it holds no message, or the journal cannot be written.

    """
    return _erase(database, session_id, seq, by=by, reason=reason)


def copies_of(database: Path, session_id: SessionId) -> list[SessionId]:
    """The sessions that hold words of this one too, or whose words it holds: forks and nested ones, of any generation.

    Raises:
        JournalError: The journal cannot be read.

    """
    connection = connect_to_read(database)
    try:
        with said(database):
            rows = execute(
                connection,
                "SELECT e.session_id, json_extract(e.payload, '$.forked_from'), "
                "json_extract(e.payload, '$.parent.session_id') FROM events AS e "
                "JOIN session_heads AS h ON h.id = e.session_id "
                "WHERE e.seq = 1 AND e.type = 'SessionOpened' AND h.erased_at IS NULL",
            )
    finally:
        connection.close()
    pairs = {(name, other) for name, *others in rows for other in others if other is not None}
    family = {session_id}
    grows = True
    while grows:
        related = {name for pair in pairs if family & set(pair) for name in pair}
        grows = not related <= family
        family |= related
    there = {name for name, _, _ in rows}
    return sorted(SessionId(name) for name in family & there - {session_id})


def whole_erasure(session_id: SessionId, erased_at: int, last_payload: str) -> str:
    """What a person is told who wants to read a session that was erased; `last_payload` is that of its last row."""
    try:
        by = str(json.loads(last_payload).get("by", "somebody"))
    except (ValueError, AttributeError):
        by = "somebody"
    day = datetime.fromtimestamp(erased_at / 1e6, UTC).date().isoformat()
    return f"session {session_id!r} was erased on {day} by {by}; what is left of it are tombstones, which still verify"


def _erase(database: Path, session_id: SessionId, seq: int | None, *, by: str, reason: str) -> int:
    with alone(database):
        connection = connect_alone(database)
        try:
            with said(database):
                execute(connection, "BEGIN IMMEDIATE")
                try:
                    count = _erase_rows(connection, session_id, seq, by=by, reason=reason)
                except BaseException:
                    execute(connection, "ROLLBACK")
                    raise
                execute(connection, "COMMIT")
                execute(connection, "VACUUM")  # pages that were split keep old bytes where nothing is allocated
                [(is_busy, _, _)] = execute(connection, "PRAGMA wal_checkpoint(TRUNCATE)")  # it holds the old pages
        finally:
            connection.close()
    if is_busy:
        raise JournalError(
            f"the content was erased from {database}, and its log still holds it while another program reads the "
            "journal: close that program, and run `oribi db vacuum`"
        )
    return count


def _erase_rows(connection: apsw.Connection, session_id: SessionId, seq: int | None, *, by: str, reason: str) -> int:
    heads = execute(connection, "SELECT seq, head, erased_at FROM session_heads WHERE id = ?", (session_id,))
    if not heads or not heads[0][0]:
        raise JournalError(f"no session {session_id!r} in the journal; `oribi sessions list` shows them")
    last, head, erased_at = heads[0]
    if erased_at is not None:
        raise JournalError(f"session {session_id!r} was erased already")
    found = execute(
        connection,
        "SELECT seq, turn_id, type, payload, erased FROM events WHERE session_id = ? ORDER BY seq",
        (session_id,),
    )
    rows = [_Row(*row) for row in found]
    open_turns = [
        TurnId(turn_id)
        for (turn_id,) in execute(
            connection, "SELECT turn_id FROM turns WHERE session_id = ? AND ended_at IS NULL", (session_id,)
        )
    ]

    def fetch(digest: str) -> bytes:
        bodies = execute(connection, "SELECT body FROM blobs WHERE hash = ?", (digest,))
        if not bodies:
            raise MissingContentError(f"content {digest} is missing; restore it from a backup")
        body: str = bodies[0][0]
        return body.encode()

    changes: list[tuple[int, str, dict[str, bytes]]]
    if seq is None:
        changes = [(row.seq, "{}", {}) for row in rows if row.type != "Erased"]
    else:
        changes = list(_without_message(rows, session_id, seq, open_turns, fetch))
    gone = _replace(connection, session_id, rows, changes)
    if seq is None:
        letters = execute(connection, "DELETE FROM inbox WHERE session_id = ? RETURNING payload", (session_id,))
        gone |= {digest for (payload,) in letters for digest in _HASH.findall(payload)}
    _drop_unused(connection, gone)
    now = time.time_ns() // 1000
    for turn_id in open_turns if seq is None else ():  # nobody can end it any more
        ended = TurnEnded(end=Interrupted(by=by))
        last, head = _append(connection, session_id, last, head, now, ended, turn_id=turn_id)
        end_turn = "UPDATE turns SET ended_at = ?, turn_end = 'Interrupted' WHERE session_id = ? AND turn_id = ?"
        execute(connection, end_turn, (now, session_id, turn_id))
    tombstones = tuple(
        ErasedRow(seq=at, sha256=hashlib.sha256(payload.encode()).hexdigest()) for at, payload, _ in changes
    )
    _append(connection, session_id, last, head, now, Erased(rows=tombstones, by=by, reason=reason))
    if seq is None:
        execute(connection, "UPDATE session_heads SET erased_at = ? WHERE id = ?", (now, session_id))
    return len(changes)


def _replace(
    connection: apsw.Connection,
    session_id: SessionId,
    rows: list[_Row],
    changes: list[tuple[int, str, dict[str, bytes]]],
) -> set[str]:
    """Put other payloads in the place of those that stand there; the hashes of the content those referred to."""
    old = {row.seq: row for row in rows}
    gone: set[str] = set()
    for at, payload, blobs in changes:
        before = old[at]
        gone.update(_HASH.findall(before.payload))
        digest = hashlib.sha256(before.payload.encode()).digest() if before.erased is None else before.erased
        for key, body in blobs.items():
            execute(connection, "INSERT OR IGNORE INTO blobs (hash, body) VALUES (?, ?)", (key, body.decode()))
        update = "UPDATE events SET payload = ?, erased = ? WHERE session_id = ? AND seq = ?"
        execute(connection, update, (payload, digest, session_id, at))
        letters = execute(
            connection, "SELECT payload FROM inbox WHERE session_id = ? AND taken_seq = ?", (session_id, at)
        )
        gone.update(key for (letter,) in letters for key in _HASH.findall(letter))
        # the letter stays, without its content: sent once more under its key, it is still the same letter
        empty = "UPDATE inbox SET payload = '{}' WHERE session_id = ? AND taken_seq = ?"
        execute(connection, empty, (session_id, at))
    return gone


def _drop_unused(connection: apsw.Connection, gone: set[str]) -> None:
    """Delete the contents `gone`, except what others refer to: any text that looks like its hash counts."""
    for table in ("events", "inbox"):
        # row by row, so not by our `execute`; apsw's types name a Buffer that Python 3.11 lacks
        rows: Any = connection.execute(f"SELECT payload FROM {table}")  # noqa: S608 # pyright: ignore[reportUnknownMemberType]
        for (payload,) in rows:
            gone.difference_update(_HASH.findall(payload))
    for digest in gone:
        execute(connection, "DELETE FROM blobs WHERE hash = ?", (digest,))


def _append(
    connection: apsw.Connection,
    session_id: SessionId,
    last: int,
    head: bytes,
    now: int,
    event: Erased | TurnEnded,
    *,
    turn_id: TurnId | None = None,
) -> tuple[int, bytes]:
    """Add a record after all others, and return the chain's new end; whoever drove the session is fenced."""
    payload, blobs = encode_event(event)
    for key, body in blobs.items():
        execute(connection, "INSERT OR IGNORE INTO blobs (hash, body) VALUES (?, ?)", (key, body.decode()))
    digest = chain_hash(
        head,
        session_id=session_id,
        seq=last + 1,
        turn_id=turn_id,
        type_name=type(event).__name__,
        version=VERSION,
        at=now,
        payload_sha256=hashlib.sha256(payload).digest(),
    )
    execute(
        connection,
        "INSERT INTO events (session_id, seq, turn_id, type, version, at, payload, prev_hash, hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (session_id, last + 1, turn_id, type(event).__name__, VERSION, now, payload.decode(), head, digest),
    )
    execute(
        connection,
        "UPDATE session_heads SET seq = ?, head = ?, updated_at = ?, epoch = epoch + 1, owner = NULL WHERE id = ?",
        (last + 1, digest, now, session_id),
    )
    return last + 1, digest


def _without_message(
    rows: list[_Row], session_id: SessionId, seq: int, open_turns: list[TurnId], fetch: Fetch
) -> Iterator[tuple[int, str, dict[str, bytes]]]:
    """The rows that hold the message, each with a payload without it, and that payload's blobs."""
    found = next((row for row in rows if row.seq == seq), None)
    holders = ", ".join(f"{row.seq} ({_HOLDERS[row.type]})" for row in rows if row.type in _HOLDERS)
    if found is None:
        raise JournalError(f"session {session_id!r} has no record {seq}; its messages are in the records {holders}")
    event = decode_event(found.type, found.payload, fetch)
    redacted = _redacted(event)
    if redacted is None:
        raise JournalError(
            f"record {seq} of session {session_id!r} is a {found.type}, which holds no message to erase; "
            f"its messages are in the records {holders}"
        )
    if found.turn_id in open_turns:  # its calls would be made without their arguments
        raise JournalError(
            f"turn {found.turn_id} of session {session_id!r} has not ended, and would go on with what is left; "
            "let it end (`oribi resume`), or erase the whole session"
        )
    yield (seq, *_encoded(redacted))
    for row, repetition in _repetitions(rows, found, event, fetch):
        if (rest := without_words(repetition)) is not None:
            yield (row.seq, *_encoded(rest))


def _repetitions(rows: list[_Row], message: _Row, event: Event, fetch: Fetch) -> Iterator[tuple[_Row, Event]]:
    """The records that may repeat the message: what became of a reply, what else says how a call came out."""
    next_reply = next(
        (row.seq for row in rows if row.seq > message.seq and row.type in {"ModelReplied", "TurnStarted"}),
        rows[-1].seq + 1,
    )
    call, words = _call(message, event), _words(event)
    for row in rows:
        if row.seq == message.seq or row.type not in _REPEATING:
            continue
        other = decode_event(row.type, row.payload, fetch)
        is_caused = isinstance(event, ModelReplied | ModelFaulted) or (  # a command's call, by what its input says
            isinstance(event, TurnStarted) and isinstance(other, CallJudged)
        )
        is_outcome = is_caused and message.seq < row.seq < next_reply and _call(row, other) is None
        is_retold = row.turn_id == message.turn_id and bool(words) and words in _told(other)
        if is_outcome or is_retold or (call is not None and _call(row, other) == call):
            yield row, other


_REPEATING = frozenset(
    {
        "AnswerChecked",
        "CallJudged",
        "CallProbed",
        "CallResolved",
        "NoticeGiven",
        "ToolFaulted",
        "ToolSettled",
        "TurnEnded",
        "WrapUpBegan",
    }
)


def _words(event: Event) -> str:
    """What a failure or a tool's result says, which may be told again as the reason of a wrap-up or an end."""
    match event:
        case ModelFaulted(message=message):
            return message
        case ToolSettled(result=Succeeded(text=text) | Failed(text=text)) | ToolFaulted(result=Failed(text=text)):
            return text
        case ToolSettled(result=Denied(reason=reason) | Unknown(reason=reason)):
            return reason
        case _:
            return ""


def _told(event: Event) -> str:
    """What a wrap-up or an end gives as its reason, or as its text."""
    match event:
        case WrapUpBegan(reason=reason) | TurnEnded(end=Unfinished(reason=reason)):
            return reason
        case TurnEnded(end=Completed(text=text)):
            return text
        case TurnEnded(end=(ModelFailed() | ContextExhausted() | ToolFailed()) as end):
            return end.message
        case _:
            return ""


def _call(row: _Row, event: Event) -> tuple[str | None, int, str] | None:
    """The call whose result the record says: turn, step, id."""
    match event:
        case ToolSettled() | ToolFaulted() | CallProbed():
            return row.turn_id, event.step, event.call_id
        case CallResolved():
            return event.call_turn, event.step, event.call_id
        case _:
            return None


def _encoded(event: Event) -> tuple[str, dict[str, bytes]]:
    payload, blobs = encode_event(event)
    return payload.decode(), blobs


def without_words(event: Event) -> Event | None:
    """What an erasure leaves of the event; None if it takes nothing. The verifier knows the places as `WORDS`."""
    return _redacted(event) or _redacted_outcome(event)


def _redacted(event: Event) -> Event | None:
    """The event without its message; None if it has none."""
    match event:
        case TurnStarted(command=ToolCall() as command):
            return replace(event, input=UserMessage(text=ERASED), command=replace(command, arguments={}))
        case TurnStarted() | InputAdded():
            return replace(event, input=UserMessage(text=ERASED))
        case ModelReplied(reply=reply):
            calls = tuple(replace(call, arguments={}) for call in reply.calls)
            text, problem = (ERASED if words else "" for words in (reply.text, reply.problem))
            bare = replace(reply, text=text, calls=calls, reasoning="", raw=None, problem=problem)
            return replace(event, reply=bare)
        case ModelFaulted():
            return replace(event, message=ERASED, partial="")
        case ToolSettled(result=result) | CallResolved(result=result):
            return replace(event, result=_redacted_result(result))
        case ToolFaulted(result=failed):
            return replace(event, result=replace(failed, text=ERASED))
        case CallProbed(found=found) if found is not None:
            return replace(event, found=_redacted_result(found))
        case NoticeGiven():
            return replace(event, text=ERASED)
        case _:
            return None


def _redacted_result(result: ToolResult) -> ToolResult:
    match result:
        case Succeeded() | Failed():
            return replace(result, text=ERASED)
        case Denied() | Unknown():
            return replace(result, reason=ERASED)


def _redacted_outcome(event: Event) -> Event | None:
    """What became of a reply, without what it says of that; None if it says nothing."""
    match event:
        case AnswerChecked(problem=None):
            return replace(event, value=ERASED)
        case AnswerChecked():
            return replace(event, value=None, problem=ERASED)
        case CallJudged(verdict=Deny() as verdict):
            return replace(event, verdict=replace(verdict, reason=ERASED))
        case CallJudged(verdict=Allow(key=str()) as verdict):  # it may hold what the call was given
            return replace(event, verdict=replace(verdict, key=ERASED))
        case WrapUpBegan():
            return replace(event, reason=ERASED)
        case TurnEnded(end=Unfinished() as end):
            return TurnEnded(end=replace(end, reason=ERASED))
        case TurnEnded(end=Completed(value=value) as end):
            return TurnEnded(end=replace(end, text=ERASED, value=None if value is None else ERASED))
        case TurnEnded(end=(MaxSteps() | BudgetSpent() | DeadlinePassed()) as end) if end.text:
            return TurnEnded(end=replace(end, text=ERASED))
        case TurnEnded(end=(ModelFailed() | ContextExhausted() | ToolFailed()) as end):
            return TurnEnded(end=replace(end, message=ERASED))
        case _:
            return None
