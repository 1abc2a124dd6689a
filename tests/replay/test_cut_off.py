"""Records with seams: sessions held, resumed, steered or stopped between two events replay all the same (G5)."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from oribi.core.budget import Limits
from oribi.core.calls import Denied, Json, JsonObject, Succeeded, Unknown
from oribi.core.errors import ConfigError
from oribi.core.events import CallResolved, FilesRead, ModelAsked, ModelFaulted, Recorded, ToolSettled
from oribi.core.mail import Input, Steer
from oribi.core.messages import ModelChoice
from oribi.core.policy import LoopPolicy
from oribi.ports import Model
from oribi.replay.exact import Replayed, replay
from oribi.testing import ScriptedModel
from oribi.turn.loop import run_turn
from oribi.turn.session import Session, SessionHeld
from tests.turn.stage import NOTHING_READ, SESSION, SomeModels, Stage

pytestmark = pytest.mark.anyio

LOOK: Json = {"name": "look", "arguments": {}}
TWO_CALLS: JsonObject = {"replies": [{"calls": [LOOK, LOOK]}, {"text": "seen"}], "replies_tail": {"text": "again"}}
ONE_CALL: JsonObject = {"replies": [{"calls": [LOOK]}, {"text": "seen"}]}


async def replayed(stage: Stage, records: list[Recorded] | None = None) -> Replayed:
    return await replay(SESSION, records or stage.journal.read(SESSION), stage.ports.models)


async def held_between_calls(policy: LoopPolicy) -> Stage:
    """A session that was held after the first of its two calls."""
    held: list[Session] = []
    stage = Stage(ScriptedModel(TWO_CALLS), {"look": lambda _: held[0].hold() or "a thing"}, policy=policy)
    session = await stage.open()
    held.append(session)
    session.send(Input(text="go"))
    with pytest.raises(SessionHeld):
        await run_turn(session, stage.ports)
    await session.commit()
    return stage


async def test_a_deadline_that_passed_while_the_session_was_held_is_replayed() -> None:
    stage = await held_between_calls(LoopPolicy(limits=Limits(deadline_seconds=10)))
    stage.clock.advance(60)
    await run_turn(await stage.open(), stage.ports)
    settled = [event.result for event in stage.events() if isinstance(event, ToolSettled)]
    assert isinstance(settled[1], Denied)
    assert (await replayed(stage)).divergence is None


async def test_an_input_that_joined_while_the_session_was_held_is_replayed() -> None:
    stage = await held_between_calls(LoopPolicy())
    again = await stage.open()
    again.send(Steer(text="hurry"))
    await run_turn(again, stage.ports)
    assert stage.names().index("InputAdded") < len(stage.names()) - 1 - stage.names()[::-1].index("ToolStarted")
    assert (await replayed(stage)).divergence is None


async def test_files_read_twice_since_the_model_could_not_be_used_are_replayed() -> None:
    """A resume with no key reads the files and stops; the next one reads them again."""
    broken: list[bool] = []

    def look(_: object) -> str:
        broken.append(True)
        stage.agents.files = replace(NOTHING_READ, bootstrap="two")
        return "a thing"

    stage = Stage(ScriptedModel(ONE_CALL), {"look": look})

    class Models(SomeModels):
        def get(self, choice: ModelChoice) -> Model:
            if broken:
                raise ConfigError("no key")
            return super().get(choice)

    usable = stage.ports.models
    assert isinstance(usable, SomeModels)
    stage.ports = replace(stage.ports, models=Models(usable.model, {}))
    stage.agents.files = replace(NOTHING_READ, bootstrap="one")
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(ConfigError):
        await run_turn(session, stage.ports)
    await session.commit()
    broken.clear()
    stage.agents.files = replace(NOTHING_READ, bootstrap="three")
    await run_turn(await stage.open(), stage.ports)
    assert stage.names().count("FilesRead") == 3
    assert (await replayed(stage)).divergence is None


async def test_a_call_that_was_cut_off_and_settled_by_a_person_is_replayed() -> None:
    """Settled while its turn is open, and again in a later look at the history: the model reads the person's word."""

    class CrashError(BaseException):
        pass

    def look(_: object) -> str:
        raise CrashError

    stage = Stage(ScriptedModel(TWO_CALLS), {"look": look})
    session = await stage.open()
    session.send(Input(text="go"))
    for _ in range(2):
        with pytest.raises(CrashError):
            await run_turn(session, stage.ports)
        session = await stage.open()
    await run_turn(session, stage.ports)
    unknown = [event for event in stage.events() if isinstance(event, ToolSettled)]
    assert [type(event.result) for event in unknown] == [Unknown, Unknown]
    said = Succeeded(text="it happened")
    for event in unknown:
        turn_id = session.started.turn_id
        session.record(CallResolved(call_turn=turn_id, step=1, call_id=event.call_id, result=said, by="me"))
        await session.commit()
    session.send(Input(text="and?"))
    await run_turn(session, stage.ports)
    assert (await replayed(stage)).divergence is None


async def test_a_record_that_ends_in_a_wait_replays_at_once() -> None:
    """The end of a record is a cut like any other, and nothing of a replay waits for the time that was waited then."""
    script = {"replies": [{"fails": {"kind": "rate", "message": "no", "times": 1}, "text": "yes"}]}
    stage = Stage(ScriptedModel(script), policy=LoopPolicy(retry_seconds=0.0))
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    records = stage.journal.read(SESSION)
    end = next(i for i, record in enumerate(records) if isinstance(record.event, ModelFaulted)) + 1
    slow = [
        replace(record, event=replace(record.event, retry_after_seconds=50.0))
        if isinstance(record.event, ModelFaulted)
        else record
        for record in records[:end]
    ]
    read = FilesRead(bootstrap="new", skills="", memory="", memory_read=0, sources=())
    slow.append(replace(records[end - 1], seq=end + 1, event=read))
    with anyio.fail_after(5):
        outcome = await replayed(stage, slow)
    assert (outcome.divergence, outcome.events) == (None, end + 1)


async def test_a_record_that_nothing_leads_to_is_named_at_once() -> None:
    """However long the record: what an opened session does otherwise at once is no cut, and is not tried again."""
    stage = Stage(ScriptedModel(TWO_CALLS), {"look": lambda _: "a thing"})
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    records = stage.journal.read(SESSION)
    asked = next(record for record in records if isinstance(record.event, ModelAsked))
    strange = replace(asked, seq=asked.seq + 1, event=records[-1].event)
    divergence = (await replayed(stage, [*records[: asked.seq], strange])).divergence
    assert divergence is not None
    assert (divergence.seq, divergence.what) == (strange.seq, "ModelAsked where TurnEnded was recorded")
