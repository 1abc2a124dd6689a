"""Forks: a new session that begins with the records of another, up to a step, and goes its own way from there."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from oribi.core.errors import JournalError
from oribi.core.events import (
    InputAdded,
    InterruptAsked,
    ModeChosen,
    ModelAsked,
    ModelChosen,
    Recorded,
    RevokeAsked,
    SessionOpened,
    TurnStarted,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.calls import SessionId
    from oribi.core.events import Event
    from oribi.core.messages import ModelChoice

_PLACE = re.compile(r"(?:t?(?P<turn>\d+)\.)?(?P<step>\d+)")


def fork_records(
    records: Sequence[Recorded],
    place: str,
    new_id: SessionId,
    *,
    model: ModelChoice | None,
    hash_of_last: str = "",
    now: int | None = None,
) -> list[Recorded]:
    """The first records of the fork: those of the session before the model call at `place`, under the new id.

    `place` is `TURN.STEP`, or `STEP` of the last turn. With `model`, that one answers from there on. `hash_of_last` is
    the hash (hex) of the last record that is repeated. A turn with a deadline has as much time left at `now`
    (microseconds since the epoch) as it had at that place: its records move to end there. Other times stay as they are.

    Raises:
        JournalError: There is no such step.

    """
    last = fork_point(records, place)
    repeated = [
        replace(record, session_id=new_id, event=_own(record.event, records[0].session_id, last, hash_of_last))
        for record in records[:last]
    ]
    if now is not None:
        repeated = _with_time_left(repeated, now)
    if model is not None:
        end = repeated[-1]
        repeated.append(
            Recorded(session_id=new_id, seq=last + 1, turn_id=end.turn_id, at=end.at, event=ModelChosen(model=model))
        )
    return repeated


def fork_point(records: Sequence[Recorded], place: str) -> int:
    """The seq of the last record before the model call at `place`.

    Raises:
        JournalError: There is no such step.

    """
    named = _PLACE.fullmatch(place)
    if named is None:
        raise JournalError(f"{place!r} is no place of a session; write STEP or TURN.STEP, such as 3 or 2.3")
    turns = [record.turn_id for record in records if isinstance(record.event, TurnStarted)]
    turn_id = f"t{named['turn']}" if named["turn"] else (turns[-1] if turns else None)
    if turn_id not in turns:
        raise JournalError(f"this session has no turn {named['turn']}; it has {len(turns)}")
    steps = [
        (record.event.step, record.seq)
        for record in records
        if isinstance(record.event, ModelAsked) and record.turn_id == turn_id and record.event.attempt == 1
    ]
    for step, seq in steps:
        if step == int(named["step"]):
            return seq - 1
    raise JournalError(f"turn {turn_id} has no step {named['step']}; it has {len(steps)}")


def _with_time_left(records: list[Recorded], now: int) -> list[Recorded]:
    """The records, those of the last turn moved so that the last of them is of `now`, if that turn has a deadline."""
    start = max(index for index, record in enumerate(records) if isinstance(record.event, TurnStarted))
    policies = [each.event.policy for each in records[start:] if isinstance(each.event, TurnStarted | ModeChosen)]
    if all(policy.limits.deadline_seconds is None for policy in policies):
        return records
    later = now - records[-1].at
    return [*records[:start], *(replace(record, at=record.at + later) for record in records[start:])]


def _own(event: Event, parent: SessionId, last: int, digest: str) -> Event:
    """The event as the fork has it: it says where it came from, and no letter of the parent is its own."""
    match event:
        case SessionOpened():
            return replace(event, parent=None, forked_from=parent, forked_seq=last, forked_hash=digest)
        case TurnStarted() | InputAdded() | InterruptAsked() | RevokeAsked():
            return replace(event, mail=None)
        case _:
            return event
