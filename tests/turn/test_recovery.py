"""What a turn does about a model that fails, says nothing, or is told too much: it goes on, or ends in words."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio
import pytest
from inline_snapshot import snapshot

from oribi.core.calls import CallId, JsonObject, SessionId, Succeeded, ToolCall
from oribi.core.ends import (
    Completed,
    ContextExhausted,
    Interrupted,
    MaxSteps,
    ModelFailed,
    TurnEnd,
    shown,
)
from oribi.core.errors import ConfigError, FaultKind, ModelError
from oribi.core.events import (
    AnswerChecked,
    ContextCut,
    ModelAsked,
    ModelFaulted,
    NoticeGiven,
    Recorded,
    TurnStarted,
)
from oribi.core.mail import Input, Interrupt
from oribi.core.messages import ModelChoice, Reply, ToolMessage, UserMessage
from oribi.core.policy import LoopPolicy
from oribi.core.prompt import Prompt
from oribi.core.turn import fold
from oribi.journal.sqlite import SqliteJournal
from oribi.models.anthropic import CODEC as ANTHROPIC
from oribi.models.gemini import CODEC as GEMINI
from oribi.models.openai_chat import CODEC as OPENAI
from oribi.models.openai_responses import CODEC as RESPONSES
from oribi.models.request import Codec, EncodedRequest, encode
from oribi.ports import Listen, Request, TextDelta
from oribi.testing import MemoryJournal, ScriptedModel
from oribi.turn.loop import run_turn
from oribi.turn.session import Session
from tests.models import samples
from tests.turn.stage import SESSION, Stage

pytestmark = pytest.mark.anyio

AT_ONCE = LoopPolicy(retry_seconds=0.0)
NUMBER: JsonObject = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
NOTHING = Reply(text="")
SPARE = ModelChoice(provider="spare", name="qwen3:8b", wire="scripted")
LAST = ModelChoice(provider="last", name="m", wire="scripted")


def says(text: str) -> Reply:
    return Reply(text=text)


def asks_for(name: str, call_id: str = "c1") -> Reply:
    return Reply(text="", calls=(ToolCall(id=CallId(call_id), name=name, arguments={}),), stop="tool_calls")


def scripted(*replies: Reply) -> ScriptedModel:
    return ScriptedModel({"replies": list(replies)})


def failing(kind: FaultKind, message: str = "no") -> ScriptedModel:
    def refuse(prompt: Prompt) -> Reply:
        raise ModelError(kind, message)

    return ScriptedModel(refuse)


async def say(
    stage: Stage, session: Session, text: str = "go", *, output_schema: JsonObject | None = None
) -> TurnEnd | None:
    session.send(Input(text=text, output_schema=output_schema))
    end = await run_turn(session, stage.ports)
    assert fold(SESSION, stage.journal.read(SESSION)) == session.turn
    return end


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "oribi.db"


@pytest.fixture
def sqlite(path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(path)
    yield journal
    journal.close()


def rows(path: Path, journal: SqliteJournal, sql: str) -> list[tuple[object, ...]]:
    """What the views say, once the writer has let go of the file."""
    journal.close()
    with sqlite3.connect(path) as connection:
        return connection.execute(sql).fetchall()


# --- an answer that says nothing --------------------------------------------------------------------------------------


async def test_a_model_that_says_nothing_is_told_so_and_answers(path: Path, sqlite: SqliteJournal) -> None:
    """O19: asked again, saying what is missing; the first turn's text is not the second's answer."""
    model = scripted(says("alpha"), NOTHING, says("beta"))
    stage = Stage(model, journal=sqlite)
    session = await stage.open()
    ends = [await say(stage, session, text) for text in ("one", "two")]
    assert ends == [Completed(text="alpha"), Completed(text="beta")]
    assert stage.names()[-6:] == snapshot(
        ["ModelAsked", "ModelReplied", "NoticeGiven", "ModelAsked", "ModelReplied", "TurnEnded"]
    )
    notice = "Your answer cannot be used: it is empty. Answer again, or call a tool."
    assert model.prompts[2].messages[-1] == UserMessage(text=notice)
    assert rows(path, sqlite, "SELECT role, content FROM messages WHERE turn_id = 't2' ORDER BY seq") == [
        ("user", "two"),
        ("assistant", ""),
        ("user", notice),
        ("assistant", "beta"),
    ]


async def test_a_model_that_never_says_anything_ends_the_turn_in_words() -> None:
    """O19: never ok with nothing, never text of an earlier turn, a bounded number of times."""
    model = scripted(says("alpha"), NOTHING, says(" \n"), NOTHING)
    stage = Stage(model)
    session = await stage.open()
    await say(stage, session, "one")
    end = await say(stage, session, "two")
    assert end is not None
    assert end == ModelFailed(kind="empty", message="the model's answer cannot be used: it is empty")
    assert "alpha" not in shown(end)
    model.check_used()


async def test_reasoning_alone_is_not_an_answer() -> None:
    """O19."""
    model = scripted(Reply(text="", reasoning="hmm"), says("done"))
    stage = Stage(model)
    assert await say(stage, await stage.open()) == Completed(text="done")
    assert len(model.prompts) == 2


async def test_the_cap_holds_while_answers_are_empty() -> None:
    """O19, O-26."""
    model = ScriptedModel(lambda _: NOTHING)
    stage = Stage(model, policy=LoopPolicy(max_steps=2, max_notices=20))
    assert await say(stage, await stage.open()) == MaxSteps(limit=2, text="")
    assert len(model.prompts) == 2


# --- waiting and asking again -----------------------------------------------------------------------------------------


class Watched(MemoryJournal):
    """A journal that says when a fault is durable."""

    def __init__(self) -> None:
        super().__init__()
        self.faulted = anyio.Event()

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        await super().append(session_id, epoch, records)
        if any(isinstance(record.event, ModelFaulted) for record in records):
            self.faulted.set()


async def test_a_turn_that_waits_for_the_provider_can_be_interrupted() -> None:
    """O24: what it waits for is durable, the wait can be cancelled, and nothing was asked meanwhile."""

    def refuse(prompt: Prompt) -> Reply:
        raise ModelError("rate", "slow down", retry_after_seconds=50.0)

    journal, model = Watched(), ScriptedModel(refuse)
    stage = Stage(model, journal=journal)
    session = await stage.open()
    session.send(Input(text="go"))
    async with anyio.create_task_group() as group:

        async def interrupt() -> None:
            await journal.faulted.wait()
            session.send(Interrupt(by="me"))

        group.start_soon(interrupt)
        with anyio.fail_after(10):
            assert await run_turn(session, stage.ports) == Interrupted(by="me")
    assert len(model.prompts) == 1


async def test_a_provider_that_asks_for_a_day_ends_the_turn_at_once_and_the_turn_says_so() -> None:
    """O24."""
    fails = {"kind": "rate", "message": "slow down", "retry_after_seconds": 86_400}
    model = ScriptedModel({"replies": [{"text": "never", "fails": fails}]})
    stage = Stage(model)
    with anyio.fail_after(10):
        end = await say(stage, await stage.open())
    assert end == ModelFailed(
        kind="rate", message="slow down (it asks to wait 86400 s, longer than this turn waits; try again then)"
    )


# --- fallbacks --------------------------------------------------------------------------------------------------------


async def test_a_model_that_cannot_be_asked_is_stood_in_for(path: Path, sqlite: SqliteJournal) -> None:
    """C-7: at once, in the same step; the audit names who answered; the next turn begins with the first again."""
    spare = scripted(asks_for("look"), says("from the spare"), says("again from the spare"))
    stage = Stage(failing("auth"), {"look": lambda _: "seen"}, journal=sqlite, others={"spare": spare})
    stage.agents.fallbacks = (SPARE,)
    session = await stage.open()
    ends = [await say(stage, session, text) for text in ("one", "two")]
    assert ends == [Completed(text="from the spare"), Completed(text="again from the spare")]
    asked = [event for event in stage.events() if isinstance(event, ModelAsked)]
    assert [(ask.step, ask.attempt, ask.choice, ask.model) for ask in asked] == [
        (1, 1, 0, ""),
        (1, 2, 1, "spare:qwen3:8b"),
        (2, 1, 1, "spare:qwen3:8b"),
        (1, 1, 0, ""),
        (1, 2, 1, "spare:qwen3:8b"),
    ]
    sql = "SELECT turn_id, provider, model, status FROM llm_calls ORDER BY turn_id, step, attempt"
    assert rows(path, sqlite, sql) == [
        ("t1", "scripted", "demo", "failed"),
        ("t1", "spare", "qwen3:8b", "ok"),
        ("t1", "spare", "qwen3:8b", "ok"),
        ("t2", "scripted", "demo", "failed"),
        ("t2", "spare", "qwen3:8b", "ok"),
    ]


async def test_every_model_has_its_asks_and_then_the_turn_ends_with_the_words_of_the_last() -> None:
    first, spare, last = failing("network", "gone"), failing("overloaded", "busy"), failing("network", "gone too")
    stage = Stage(first, policy=LoopPolicy(retry_seconds=0.0, max_asks=3), others={"spare": spare, "last": last})
    stage.agents.fallbacks = (SPARE, LAST)
    assert await say(stage, await stage.open()) == ModelFailed(kind="network", message="gone too")
    assert [len(model.prompts) for model in (first, spare, last)] == [3, 3, 3]


class CrashError(BaseException):
    """The process is gone."""


async def test_a_crash_inside_a_fallback_asks_the_fallback_again() -> None:
    """G2: which model is next is in the journal, not in the process."""
    crashes = [True]

    def answer(prompt: Prompt) -> Reply:
        if crashes and crashes.pop():
            raise CrashError
        return says("from the spare")

    first = failing("auth")
    stage = Stage(first, others={"spare": ScriptedModel(answer)})
    stage.agents.fallbacks = (SPARE,)
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    assert await run_turn(await stage.open(), stage.ports) == Completed(text="from the spare")
    assert len(first.prompts) == 1


async def test_a_fallback_that_cannot_be_used_is_said_before_anything_is_recorded() -> None:
    stage = Stage(scripted(says("fine")))
    stage.agents.fallbacks = (SPARE,)
    session = await stage.open()
    with pytest.raises(ConfigError, match="no provider named 'spare'"):
        await say(stage, session)
    assert stage.events() == []


# --- prompts that are too long ----------------------------------------------------------------------------------------


class Narrow:
    """A model over a real wire's bytes, that refuses requests of `most_bytes` and more."""

    def __init__(self, codec: Codec, answer: Callable[[Prompt], Reply], *, most_bytes: int) -> None:
        self._codec = codec
        self._answer = answer
        self._most_bytes = most_bytes
        self._prompts: dict[int, Prompt] = {}
        self.bodies: list[bytes] = []

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        request = encode(self._codec, prompt, samples.OPENAI, previous)
        anew = encode(self._codec, prompt, samples.OPENAI, None)
        assert (request.body, request.sha256) == (anew.body, anew.sha256), "pieces of an old form were reused"
        self._prompts[id(request)] = prompt
        return request

    async def reply(self, request: Request, listen: Listen) -> Reply:
        assert isinstance(request, EncodedRequest)
        self.bodies.append(request.body)
        if len(request.body) >= self._most_bytes:
            raise ModelError("context_length", "your messages are too long")
        return self._answer(self._prompts[id(request)])


def looks_then_answers(prompt: Prompt) -> Reply:
    return says("short answer") if isinstance(prompt.messages[-1], ToolMessage) else asks_for("big")


CODECS = {"openai": OPENAI, "anthropic": ANTHROPIC, "responses": RESPONSES, "gemini": GEMINI}


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS.keys())
@pytest.mark.parametrize("most_bytes", [20_000, 4_000, 1_800])
async def test_a_prompt_that_is_too_long_is_cut_until_it_fits(codec: Codec, most_bytes: int) -> None:
    """O04, G7: few asks, each with other bytes; the tool does not run again; a later turn tries with everything."""
    model = Narrow(codec, looks_then_answers, most_bytes=most_bytes)
    stage = Stage(model, {"big": lambda _: "0123456789" * 6_000}, policy=AT_ONCE)
    session = await stage.open()
    for turn in range(1, 4):
        before = len(model.bodies)
        assert await say(stage, session) == Completed(text="short answer")
        bodies = model.bodies[before:]
        assert len(set(bodies)) == len(bodies) <= 5
        assert len(stage.tools.runs) == turn
    refused = [len(body) >= most_bytes for body in model.bodies]
    assert refused[0] is False, "the first prompt of the session fits"
    second = [len(body) for body in model.bodies][refused.index(True) :]
    assert sum(size > 60_000 for size in second) >= 2, "later turns begin with everything again"


async def test_a_cut_is_recorded_with_its_sizes_and_the_result_stays_whole_in_the_journal() -> None:
    """G7: nothing is cut silently, and nothing is lost."""
    stage = Stage(
        Narrow(OPENAI, looks_then_answers, most_bytes=20_000), {"big": lambda _: "0123456789" * 6_000}, policy=AT_ONCE
    )
    session = await stage.open()
    await say(stage, session, "hi")
    assert [event for event in stage.events() if isinstance(event, ContextCut)] == [
        ContextCut(
            step=2,
            attempt=1,
            history_turns=0,
            result_characters=8_000,
            characters_before=60_002,
            characters_after=8_080,
        )
    ]
    assert session.turn.messages[2] == ToolMessage(
        call_id=CallId("c1"), name="big", result=Succeeded(text="0123456789" * 6_000)
    )


async def test_a_prompt_that_can_never_fit_ends_the_turn_and_the_session_goes_on() -> None:
    """O04, G7: it stops after a few asks with the provider's words; the next input is not stuck behind it."""
    model = Narrow(OPENAI, lambda _: says("fine"), most_bytes=3_000)
    stage = Stage(model, policy=AT_ONCE)
    session = await stage.open()
    assert await say(stage, session, "word " * 1_000) == ContextExhausted(message="your messages are too long")
    assert len(model.bodies) == 1, "there was nothing to leave out"
    assert await say(stage, session, "are you there?") == Completed(text="fine")
    assert [len(body) >= 3_000 for body in model.bodies] == [True, True, False]


async def test_a_crash_between_a_cut_and_the_next_ask_loses_nothing() -> None:
    """G2: the cut is decided again from the records, to the same size."""
    crashes = [True]

    def answer(prompt: Prompt) -> Reply:
        if isinstance(prompt.messages[-1], ToolMessage) and crashes and crashes.pop():
            raise CrashError
        return looks_then_answers(prompt)

    model = Narrow(OPENAI, answer, most_bytes=20_000)
    stage = Stage(model, {"big": lambda _: "0123456789" * 6_000}, policy=AT_ONCE)
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    assert await run_turn(await stage.open(), stage.ports) == Completed(text="short answer")
    assert model.bodies[-1] == model.bodies[-2]
    assert stage.names().count("ContextCut") == 1


# --- answers that have to fit a schema --------------------------------------------------------------------------------


async def test_an_answer_that_fits_is_checked_recorded_and_comes_as_a_value() -> None:
    model = scripted(says('```json\n{"n": 1}\n```'))
    stage = Stage(model)
    stage.agents.output_schema = NUMBER
    assert await say(stage, await stage.open()) == Completed(text='```json\n{"n": 1}\n```', value={"n": 1})
    assert stage.names()[-3:] == ["ModelReplied", "AnswerChecked", "TurnEnded"]
    assert json.dumps(NUMBER) in model.prompts[0].system


async def test_an_answer_that_does_not_fit_is_repaired_by_a_notice() -> None:
    model = scripted(says("one"), says('{"n": "one"}'), says('{"n": 1}'))
    stage = Stage(model)
    stage.agents.output_schema = NUMBER
    assert await say(stage, await stage.open()) == Completed(text='{"n": 1}', value={"n": 1})
    unfit = "Your answer cannot be used: it does not fit the output schema: {}. Answer again, or call a tool."
    assert [event.text for event in stage.events() if isinstance(event, NoticeGiven)] == [
        unfit.format("it is not JSON (Expecting value: line 1 column 1 (char 0))"),
        unfit.format('n: "one" is not of type "number"'),
    ]
    checks = [event for event in stage.events() if isinstance(event, AnswerChecked)]
    assert [check.problem is None for check in checks] == [False, False, True]


async def test_an_answer_that_never_fits_is_a_failure_and_not_an_answer() -> None:
    model = ScriptedModel(lambda _: says("one"))
    stage = Stage(model)
    stage.agents.output_schema = NUMBER
    end = await say(stage, await stage.open())
    assert isinstance(end, ModelFailed)
    assert (end.kind, len(model.prompts)) == ("schema", 3)
    assert end.message.endswith(
        "it does not fit the output schema: it is not JSON (Expecting value: line 1 column 1 (char 0))"
    )


async def test_an_inputs_schema_stands_in_for_the_agents_for_one_turn() -> None:
    model = scripted(says("[1]"), says('{"n": 1}'), says('"any"'))
    stage = Stage(model)
    stage.agents.output_schema = NUMBER
    session = await stage.open()
    assert await say(stage, session, output_schema={"type": "array"}) == Completed(text="[1]", value=[1])
    assert await say(stage, session) == Completed(text='{"n": 1}', value={"n": 1})
    assert await say(stage, session, output_schema={}) == Completed(text='"any"', value="any")
    started = [event.output_schema for event in stage.events() if isinstance(event, TurnStarted)]
    assert started == [{"type": "array"}, NUMBER, {}]


async def test_a_schema_that_is_none_is_said_before_anything_is_recorded() -> None:
    model = scripted(says("fine"))
    stage = Stage(model)
    stage.agents.output_schema = {"type": "nope"}
    session = await stage.open()
    with pytest.raises(ConfigError, match="output_schema is not a JSON Schema: type"):
        await say(stage, session)
    assert (stage.events(), model.prompts) == ([], [])


# --- a model that takes too long --------------------------------------------------------------------------------------


class Silent:
    """A model that says something and then nothing more."""

    def __init__(self) -> None:
        self.inner = ScriptedModel(lambda _: says("never"))
        self.asks = 0

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return self.inner.build_request(prompt, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        self.asks += 1
        listen(TextDelta(text="Let me th"))
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_model_call_has_a_time_limit_of_its_own_and_may_be_asked_again() -> None:
    """C-7: too long is a fault that may pass."""
    model = Silent()
    stage = Stage(model, policy=LoopPolicy(retry_seconds=0.0, max_asks=2, model_timeout_seconds=0.01))
    with anyio.fail_after(10):
        end = await say(stage, await stage.open())
    assert end == ModelFailed(kind="timeout", message="no finished reply within 0.01 s")
    assert model.asks == 2


async def test_a_model_that_takes_too_long_is_stood_in_for() -> None:
    policy = LoopPolicy(retry_seconds=0.0, max_asks=1, model_timeout_seconds=0.01)
    stage = Stage(Silent(), policy=policy, others={"spare": scripted(says("from the spare"))})
    stage.agents.fallbacks = (SPARE,)
    with anyio.fail_after(10):
        assert await say(stage, await stage.open()) == Completed(text="from the spare")


async def test_an_interrupt_during_a_slow_call_is_not_taken_for_its_time_limit() -> None:
    model = Silent()
    stage = Stage(model, policy=LoopPolicy(model_timeout_seconds=60.0))
    session = await stage.open()
    session.send(Input(text="go"))
    async with anyio.create_task_group() as group:

        async def interrupt() -> None:
            while not model.asks:
                await anyio.lowlevel.checkpoint()
            session.send(Interrupt(by="me"))

        group.start_soon(interrupt)
        with anyio.fail_after(10):
            assert await run_turn(session, stage.ports) == Interrupted(by="me")
    assert not any(isinstance(event, ModelFaulted) for event in stage.events())
