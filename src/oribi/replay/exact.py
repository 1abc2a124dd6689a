"""Exact replay: the same loop over a record, with sockets closed; every event and every request must come out equal."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from oribi.core.errors import JournalError
from oribi.core.events import (
    CallResolved,
    Erased,
    ModelAsked,
    ModelChosen,
    SessionOpened,
    TurnEnded,
    TurnStarted,
)
from oribi.replay.reader import CutOffError, DivergedError, Reader, input_of
from oribi.replay.sockets import closed_sockets
from oribi.turn.loop import run_turn
from oribi.turn.session import open_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.calls import SessionId
    from oribi.core.events import Event, Recorded
    from oribi.replay.encoders import Encoding
    from oribi.turn.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first place where a replay differs: `what` in words, and the two sides as text."""

    turn_id: str | None
    step: int | None
    seq: int
    what: str
    recorded: str
    replayed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """How a replay came out: `steps` are model calls, `seconds` its time; `divergence` is None when all was equal."""

    session_id: SessionId
    turns: int
    steps: int
    events: int
    seconds: float
    divergence: Divergence | None


async def replay(session_id: SessionId, records: Sequence[Recorded], encoders: Encoding) -> Replayed:
    """Replay a session's `records`, which are all of them or a prefix, with sockets closed.

    Raises:
        JournalError: Content of the session was erased, so that it cannot be replayed exactly, or it is corrupt.
        ConfigError: A provider that the session used is not configured any more.

    """
    if any(isinstance(record.event, Erased) for record in records):
        raise JournalError(f"content of session {session_id!r} was erased; what is gone cannot be replayed exactly")
    reader = Reader(records, encoders)
    divergence: Divergence | None = None
    began = time.perf_counter()
    with closed_sockets():
        try:
            await _drive(session_id, reader)
        except DivergedError as error:
            divergence = _name(error)
    return Replayed(
        session_id=session_id,
        turns=sum(isinstance(record.event, TurnStarted) for record in reader.read(session_id)),
        steps=reader.steps,
        events=len(reader.read(session_id)),
        seconds=time.perf_counter() - began,
        divergence=divergence,
    )


async def _drive(session_id: SessionId, reader: Reader) -> None:
    """Drive the loop along the record. Where it does not go on as recorded, the session is opened again, as then.

    A seam is a cut, also where the loop would rather have gone on: it was held, or could not use its model. Only what
    an opened session does otherwise at once, at the same record, is a divergence.
    """
    opening = reader.records[0].event if reader.records else None
    if not isinstance(opening, SessionOpened):
        raise JournalError(f"session {session_id!r} has no beginning")
    while (stood := len(reader.read(session_id))) < len(reader.records):
        session = await open_session(reader.ports, session_id, opening)
        reader.opened(session)
        diverged = await _until_cut(session, reader)
        if len(reader.read(session_id)) == stood:
            raise diverged or JournalError(
                f"session {session_id!r}: nothing leads to record {stood + 1} "
                f"({type(reader.records[stood].event).__name__}); it is corrupt"
            )


async def _until_cut(session: Session, reader: Reader) -> DivergedError | None:
    """Go on until the record ends, or shows a cut; then what was recorded is committed. What differs, if anything."""
    try:
        with suppress(CutOffError):
            await _go_on(session, reader)
        with suppress(CutOffError):
            await session.commit()
    except DivergedError as error:
        return error
    return None


async def _go_on(session: Session, reader: Reader) -> None:
    while (event := reader.next()) is not None:
        before = session.turn.seq
        match event:
            case CallResolved() | Erased() | ModelChosen():
                session.record(event)
                await session.commit()
            case SessionOpened() | TurnStarted():
                after = 2 if isinstance(event, SessionOpened) else 1
                started = reader.coming_turn()
                if started is not None:
                    session.send(input_of(started), started.mail)
                    reader.feed(after)
                await run_turn(session, reader.ports)
            case _:
                await run_turn(session, reader.ports)
        if session.turn.seq == before:
            return


def _name(error: DivergedError) -> Divergence:
    """The divergence in words."""
    made, was = error.made, error.was
    step = getattr(made.event, "step", None)
    if was is None:
        what = f"the replay goes on with {type(made.event).__name__} where the record ends"
        return Divergence(
            turn_id=made.turn_id, step=step, seq=made.seq, what=what, recorded="", replayed=str(made.event)
        )
    if isinstance(made.event, ModelAsked) and isinstance(was.event, ModelAsked):
        what = _request_difference(made.event, was.event)
    elif type(made.event) is not type(was.event):
        what = f"{type(made.event).__name__} where {type(was.event).__name__} was recorded"
    else:
        what = f"{type(was.event).__name__} differs in {', '.join(_differing(made.event, was.event))}"
    return Divergence(
        turn_id=was.turn_id,
        step=step if step is not None else getattr(was.event, "step", None),
        seq=was.seq,
        what=what,
        recorded=str(was.event),
        replayed=str(made.event),
    )


def _request_difference(made: ModelAsked, was: ModelAsked) -> str:
    """What of the request differs, as far as its reference says; the bytes themselves are not kept."""
    parts = {
        "system_characters": "the system prompt",
        "memory_characters": "the memory",
        "history_turns": "the number of earlier turns",
        "messages": "the number of messages",
        "tools": "the number of tools",
    }
    named = [words for name, words in parts.items() if getattr(made.request, name) != getattr(was.request, name)]
    if (made.step, made.attempt, made.choice, made.model) != (was.step, was.attempt, was.choice, was.model):
        named.append("which model is asked, and when")
    if not named:
        more = made.request.bytes - was.request.bytes
        size = f"it is {abs(more)} bytes {'longer' if more > 0 else 'shorter'}" if more else "it is as long"
        named.append(f"its encoding ({size}; all parts have the recorded sizes)")
    return "the request differs in " + ", ".join(named)


def _differing(made: Event, was: Event) -> list[str]:
    left: Any = made
    right: Any = was
    if not is_dataclass(left):
        return ["its value"]
    return [field.name for field in fields(left) if getattr(left, field.name) != getattr(right, field.name)]


def turns_of(records: Sequence[Recorded], turn: int | None) -> Sequence[Recorded]:
    """The records up to the end of the turn with this number (from 1); all of them without a number.

    Raises:
        JournalError: There is no such turn.

    """
    if turn is None:
        return records
    wanted = f"t{turn}"
    if not any(isinstance(record.event, TurnStarted) and record.turn_id == wanted for record in records):
        raise JournalError(f"there is no turn {turn} in this session")
    for index, record in enumerate(records):
        if isinstance(record.event, TurnEnded) and record.turn_id == wanted:
            return records[: index + 1]
    return records
