"""Exact replay: any recorded turn comes out again, byte for byte, with sockets closed; what differs is named (G5)."""

import contextvars
import socket
from dataclasses import replace

import pytest

from oribi.core.calls import Succeeded, Unknown
from oribi.core.errors import JournalError
from oribi.core.events import CallJudged, Erased, Event, ModelAsked, Recorded, ToolSettled, TurnStarted
from oribi.core.mail import Input, Interrupt, Steer
from oribi.replay.exact import replay, turns_of
from oribi.replay.sockets import SocketOpenedError, closed_sockets
from oribi.testing import ScriptedModel
from oribi.turn.loop import run_turn
from tests.turn.stage import SESSION, Stage

pytestmark = pytest.mark.anyio

TWO_STEPS = {
    "replies": [{"calls": [{"name": "look", "arguments": {"at": "x"}}]}, {"text": "seen"}],
    "replies_tail": {"text": "again"},
}


async def recorded_stage() -> Stage:
    """A session of two turns, the first with a tool."""
    stage = Stage(ScriptedModel(TWO_STEPS), {"look": lambda _: "a thing"})
    session = await stage.open()
    for text in ("go", "and?"):
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
    return stage


def records_of(stage: Stage) -> list[Recorded]:
    return list(stage.journal.read(SESSION))


def changed(records: list[Recorded], kind: type[Event], **changes: object) -> list[Recorded]:
    """The records with the first event of a kind changed."""
    index = next(index for index, record in enumerate(records) if isinstance(record.event, kind))
    event = replace(records[index].event, **changes)
    return [*records[:index], replace(records[index], event=event), *records[index + 1 :]]


async def test_a_session_comes_out_equal() -> None:
    stage = await recorded_stage()
    replayed = await replay(SESSION, records_of(stage), stage.ports.models)
    assert replayed.divergence is None
    assert (replayed.turns, replayed.steps, replayed.events) == (2, 3, len(records_of(stage)))


async def test_the_turns_up_to_one_can_be_replayed() -> None:
    stage = await recorded_stage()
    replayed = await replay(SESSION, turns_of(records_of(stage), 1), stage.ports.models)
    assert (replayed.turns, replayed.steps, replayed.divergence) == (1, 2, None)
    with pytest.raises(JournalError, match="no turn 3"):
        turns_of(records_of(stage), 3)


async def test_every_prefix_of_a_record_replays() -> None:
    """What a crash leaves at any durable point is replayed up to there; the rest of the journal need not exist."""
    stage = await recorded_stage()
    records = records_of(stage)
    durable = [
        i + 1 for i, record in enumerate(records) if type(record.event).__name__ in {"ModelAsked", "ToolStarted"}
    ]
    for end in [*durable, len(records)]:
        replayed = await replay(SESSION, records[:end], stage.ports.models)
        assert (replayed.divergence, replayed.events) == (None, end)


async def test_a_request_that_would_be_built_otherwise_is_named_with_its_step() -> None:
    """The vacuity check: one changed byte anywhere in what led to a request shows at that request."""
    stage = await recorded_stage()
    changes: list[tuple[list[Recorded], int, str]] = [
        (changed(records_of(stage), TurnStarted, instructions="You are opz."), 1, "the request differs"),
        (changed(records_of(stage), ToolSettled, result=Succeeded(text="a thong")), 2, "the request differs"),
        (changed(records_of(stage), ModelAsked, model="x:y"), 1, "which model is asked"),
    ]
    for records, step, what in changes:
        divergence = (await replay(SESSION, records, stage.ports.models)).divergence
        assert divergence is not None
        assert (divergence.turn_id, divergence.step) == ("t1", step)
        assert what in divergence.what


async def test_another_event_than_the_recorded_one_is_named() -> None:
    stage = await recorded_stage()
    records = records_of(stage)
    gone = next(i for i, record in enumerate(records) if isinstance(record.event, CallJudged))
    without = [replace(record, seq=i) for i, record in enumerate([*records[:gone], *records[gone + 1 :]], start=1)]
    divergence = (await replay(SESSION, without, stage.ports.models)).divergence
    assert divergence is not None
    assert (divergence.seq, divergence.what) == (gone + 1, "CallJudged where ToolStarted was recorded")


async def test_crashes_interrupts_and_what_joined_a_turn_are_replayed() -> None:
    stage = Stage(ScriptedModel(TWO_STEPS), {"look": lambda _: "a thing"})
    session = await stage.open()
    session.send(Input(text="go"))
    session.send(Steer(text="and hurry"))
    await run_turn(session, stage.ports)
    session.send(Input(text="no"))
    session.send(Interrupt(by="me"))
    await run_turn(session, stage.ports)
    records = records_of(stage)
    crashed = next(i for i, record in enumerate(records) if type(record.event).__name__ == "ToolStarted") + 1
    again = Stage(ScriptedModel(TWO_STEPS), {"look": lambda _: "a thing"})
    epoch = await again.journal.open_session(SESSION)
    await again.journal.append(SESSION, epoch, records[:crashed])
    resumed = await again.open()
    await run_turn(resumed, again.ports)
    for each in (stage, again):
        replayed = await replay(SESSION, records_of(each), each.ports.models)
        assert (replayed.divergence, replayed.events) == (None, len(records_of(each)))
    assert any(isinstance(r.event, ToolSettled) and isinstance(r.event.result, Unknown) for r in records_of(again))


async def test_what_was_erased_cannot_be_replayed_and_that_is_said() -> None:
    stage = await recorded_stage()
    records = records_of(stage)
    erased = Recorded(session_id=SESSION, seq=len(records) + 1, turn_id=None, at=0, event=Erased(rows=(), by="me"))
    with pytest.raises(JournalError, match="what is gone cannot be replayed exactly"):
        await replay(SESSION, [*records, erased], stage.ports.models)


async def test_no_socket_can_be_opened_meanwhile() -> None:
    with closed_sockets():
        with pytest.raises(SocketOpenedError):
            socket.socket()
        with pytest.raises(SocketOpenedError):
            socket.create_connection(("127.0.0.1", 9))
        left, right = socket.socketpair()
        left.close()
        right.close()
    socket.socket().close()


async def test_a_replay_that_opens_a_socket_fails() -> None:
    """The guard bites in the middle of a replay, not only by itself."""
    stage = await recorded_stage()

    class Leaky:
        def get(self, choice: object) -> "Leaky":
            return self

        def build_request(self, prompt: object, previous: object) -> object:
            socket.create_connection(("127.0.0.1", 9))
            raise AssertionError

    with pytest.raises(SocketOpenedError):
        await replay(SESSION, records_of(stage), Leaky())  # pyright: ignore[reportArgumentType] # it is wrong on purpose


async def test_while_one_task_replays_another_may_open_sockets() -> None:
    """G5: and when both are done, sockets are as they were."""
    before = socket.socket.__init__

    async def other() -> None:
        with socket.socket():
            pass

    with closed_sockets():
        with closed_sockets(), pytest.raises(SocketOpenedError):
            socket.socket()
        with pytest.raises(SocketOpenedError):
            socket.socket()
        outside = contextvars.Context()
        outside.run(lambda: socket.socket().close())
    await other()
    assert socket.socket.__init__ is before
