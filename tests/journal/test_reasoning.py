"""Private reasoning is kept no longer than policy says: within the turn the wire gets it back, then it is gone."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from oribi.core.calls import CallId, ToolCall
from oribi.core.events import ModelReplied
from oribi.core.mail import Input
from oribi.core.messages import Reply
from oribi.core.policy import LoopPolicy, StoreReasoning
from oribi.core.turn import fold
from oribi.journal.sqlite import SqliteJournal
from oribi.testing import ScriptedModel
from oribi.turn.loop import run_turn
from tests.turn.stage import SESSION, Stage

pytestmark = pytest.mark.anyio

SECRET = "the user is probably tired"
THINKING = Reply(
    text="",
    calls=(ToolCall(id=CallId("c1"), name="echo", arguments={"text": "hi"}),),
    reasoning=SECRET,
    raw=[{"type": "redacted_thinking", "data": "blocks that led to a call"}],
)
ANSWER = Reply(text="done", reasoning=SECRET, raw=[{"type": "thinking", "thinking": SECRET}])
SIGNED = "blocks that led to a call"


async def two_turns(path: Path, keep: StoreReasoning) -> ScriptedModel:
    model = ScriptedModel({"replies": [THINKING, ANSWER, Reply(text="again")]})
    journal = SqliteJournal(path)
    stage = Stage(model, {"echo": str}, policy=LoopPolicy(store_reasoning=keep), journal=journal)
    session = await stage.open()
    for text in ("one", "two"):
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
        assert fold(SESSION, journal.read(SESSION)) == session.turn  # what is erased is gone from memory too
    journal.close()
    return model


def raw_in(model: ScriptedModel, prompt: int) -> list[bool]:
    replies = [message for message in model.prompts[prompt].messages if isinstance(message, Reply)]
    return [reply.raw is not None for reply in replies]


def replies_in(path: Path) -> list[Reply]:
    journal = SqliteJournal(path, read_only=True)
    replies = [record.event.reply for record in journal.read(SESSION) if isinstance(record.event, ModelReplied)]
    journal.close()
    return replies


async def test_by_default_it_goes_back_within_the_turn_and_is_erased_when_the_turn_ends(tmp_path: Path) -> None:
    """C-19: kept opaque as long as the wire needs it, then dropped; the chain still verifies."""
    path = tmp_path / "oribi.db"
    model = await two_turns(path, "turn")
    assert (raw_in(model, 1), raw_in(model, 2)) == ([True], [True, False])
    assert [(reply.reasoning, reply.raw is None) for reply in replies_in(path)] == [
        ("", False),  # a wire wants the blocks back with their call, as long as that is in the history
        ("", True),
        ("", True),
    ]
    assert SECRET.encode() not in path.read_bytes()


async def test_never_means_that_it_is_not_recorded_at_all(tmp_path: Path) -> None:
    """M-40: the model's private reasoning text is not stored."""
    path = tmp_path / "oribi.db"
    model = await two_turns(path, "never")
    assert (raw_in(model, 1), raw_in(model, 2)) == ([False], [False, False])
    assert SECRET.encode() not in path.read_bytes()
    assert SIGNED.encode() not in path.read_bytes()


async def test_history_keeps_it_and_sends_it_back(tmp_path: Path) -> None:
    path = tmp_path / "oribi.db"
    model = await two_turns(path, "history")
    assert raw_in(model, 2) == [True, True]
    assert [reply.reasoning for reply in replies_in(path)] == [SECRET, SECRET, ""]


async def test_readable_reasoning_stays_only_where_the_wire_may_send_it_back_with_its_calls(tmp_path: Path) -> None:
    """The OpenAI chat wire does so in some dialects, and a replay rebuilds that request; later turns leave it out."""
    path = tmp_path / "oribi.db"
    thinking, answer = (replace(reply, wire="openai-chat", raw=None) for reply in (THINKING, ANSWER))
    model = ScriptedModel({"replies": [thinking, answer, Reply(text="again")]})
    journal = SqliteJournal(path)
    stage = Stage(model, {"echo": str}, journal=journal)
    session = await stage.open()
    for text in ("one", "two"):
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
        assert fold(SESSION, journal.read(SESSION)) == session.turn
    journal.close()
    assert [reply.reasoning for reply in replies_in(path)] == [SECRET, "", ""]
    assert all(not each.reasoning for each in model.prompts[2].messages if isinstance(each, Reply))


async def test_the_session_goes_on_after_a_crash_in_the_middle_with_what_the_wire_needs(tmp_path: Path) -> None:
    class CrashError(BaseException):
        pass

    def dies(arguments: object) -> str:
        raise CrashError

    journal = SqliteJournal(tmp_path / "oribi.db")
    stage = Stage(ScriptedModel({"replies": [THINKING]}), {"echo": dies}, journal=journal)
    session = await stage.open()
    session.send(Input(text="one"))
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    model = ScriptedModel({"replies": [THINKING, ANSWER]})
    again = Stage(model, {"echo": str}, journal=journal)
    await run_turn(await again.open(), again.ports)
    assert raw_in(model, 0) == [True]
    journal.close()


def test_every_way_of_keeping_is_tested_here() -> None:
    assert set(get_args(StoreReasoning)) == {"never", "turn", "history"}
