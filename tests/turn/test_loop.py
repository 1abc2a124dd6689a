"""The loop over fakes: what is committed when, what is told when, how turns end, go on and are cut off."""

from collections.abc import Sequence

import anyio
import pytest
from inline_snapshot import snapshot

from oribi.core.budget import Limits
from oribi.core.calls import CallId, Denied, JsonObject, SessionId, Succeeded, ToolCall, Unknown
from oribi.core.ends import (
    Completed,
    ContextExhausted,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
)
from oribi.core.errors import JournalError, LeaseLost, ModelError
from oribi.core.events import CallJudged, FilesRead, ModelAsked, Recorded, ToolSettled, ToolStarted, TurnStarted
from oribi.core.mail import Input, Interrupt, Revoke
from oribi.core.messages import Reply, ToolMessage, Usage, UserMessage
from oribi.core.policy import LoopPolicy
from oribi.core.prompt import Prompt
from oribi.core.results import result_of
from oribi.core.turn import fold
from oribi.ports import Listen, Request, TextDelta
from oribi.testing import MemoryJournal, ScriptedModel
from oribi.turn.loop import run_turn
from tests.turn.stage import SESSION, Stage

pytestmark = pytest.mark.anyio


def call(name: str, call_id: str = "c1", **arguments: str) -> ToolCall:
    return ToolCall(id=CallId(call_id), name=name, arguments=dict(arguments))


def asks_for(*calls: ToolCall, text: str = "") -> Reply:
    return Reply(text=text, calls=calls, stop="tool_calls", usage=Usage(input_tokens=10, output_tokens=5))


ANSWER = Reply(text="All is well.", usage=Usage(input_tokens=20, output_tokens=4))


def scripted(*replies: Reply) -> ScriptedModel:
    return ScriptedModel({"replies": list(replies)})


def echo(arguments: JsonObject) -> str:
    return f"echo: {arguments.get('text')}"


async def test_a_turn_with_one_tool_is_asked_judged_run_and_answered() -> None:
    """O-1 to O-10, T-5, Y-1, Y-4, Y-6, Y-12: a call is an event before it acts and after it acted."""
    model = scripted(asks_for(call("echo", text="hi")), ANSWER)
    stage = Stage(model, {"echo": echo})
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == Completed(text="All is well.")
    assert stage.names() == snapshot(
        [
            "SessionOpened",
            "TurnStarted",
            "ModelAsked",
            "ModelReplied",
            "CallJudged",
            "ToolStarted",
            "ToolSettled",
            "ModelAsked",
            "ModelReplied",
            "TurnEnded",
        ]
    )
    model.check_used()
    assert stage.tools.runs == [("echo", {"text": "hi"})]
    assert model.prompts[1].messages[-1] == ToolMessage(
        call_id=CallId("c1"), name="echo", result=Succeeded(text="echo: hi")
    )


async def test_a_step_with_one_tool_costs_two_commits() -> None:
    """A commit stands before every effect and none between two effects."""
    steps = 5
    model = scripted(*[asks_for(call("echo", text=str(n))) for n in range(steps)], ANSWER)
    journal = MemoryJournal()
    stage = Stage(model, {"echo": echo}, journal=journal)
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    assert journal.commits == 2 * steps + 2  # the answering step: one before the call, one at the end


async def test_the_call_is_durable_before_the_tool_acts_and_the_question_before_the_model_is_asked() -> None:
    """G1, O-6, O-23: intent first. Take either commit away and this fails."""
    seen: list[tuple[str, str]] = []

    def witness(arguments: JsonObject) -> str:
        seen.append(("tool", stage.names()[-1]))
        return "done"

    def answer(prompt: Prompt) -> Reply:
        seen.append(("model", stage.names()[-1]))
        return asks_for(call("witness")) if len(prompt.messages) == 1 else ANSWER

    stage = Stage(ScriptedModel(answer), {"witness": witness})
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    assert seen == [("model", "ModelAsked"), ("tool", "ToolStarted"), ("model", "ModelAsked")]


async def test_nothing_is_told_before_it_is_durable() -> None:
    stage = Stage(scripted(asks_for(call("echo", text="x")), ANSWER), {"echo": echo})
    session = await stage.open()
    with session.listeners.subscribe() as news:
        session.send(Input(text="go"))
        await run_turn(session, stage.ports)
        news.close()
        told = [item.seq async for item in news if isinstance(item, Recorded)]
    assert told == list(range(1, len(stage.events()) + 1))


async def test_deltas_reach_listeners_and_never_the_journal() -> None:
    stage = Stage(scripted(ANSWER))
    session = await stage.open()
    with session.listeners.subscribe() as news:
        session.send(Input(text="go"))
        await run_turn(session, stage.ports)
        news.close()
        deltas = [item.text async for item in news if isinstance(item, TextDelta)]
    assert "".join(deltas) == "All is well."
    assert "TextDelta" not in " ".join(stage.names())


async def test_several_calls_of_one_reply_run_in_order_each_committed_before_it_acts() -> None:
    """Y-13, O-35: in order, one after the other; O-24: each result carries its call's id."""
    calls = [call("echo", f"c{n}", text=str(n)) for n in range(3)]
    model = scripted(asks_for(*calls), ANSWER)
    stage = Stage(model, {"echo": echo})
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    assert [arguments["text"] for _, arguments in stage.tools.runs] == ["0", "1", "2"]
    results = [message for message in model.prompts[1].messages if isinstance(message, ToolMessage)]
    assert [message.call_id for message in results] == ["c0", "c1", "c2"]


@pytest.mark.parametrize("cap", [1, 3, 6, 10])
async def test_a_model_that_always_calls_a_tool_is_asked_exactly_as_often_as_the_cap_says(cap: int) -> None:
    """O-26, O-27, T-6, T-10, Y-3: the cap counts model decisions, then the last reply is returned, no further call."""
    model = ScriptedModel(
        {"replies": [asks_for(call("echo", text="again"), text="working on it")], "replies_cycle": True}
    )
    stage = Stage(model, {"echo": echo}, policy=LoopPolicy(max_steps=cap))
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == MaxSteps(limit=cap, text="working on it")
    assert len(model.prompts) == cap
    assert len(stage.tools.runs) == cap


async def test_the_documents_default_cap_is_ten() -> None:
    """O-26: `max_iterations` defaults to 10, `max_history_turns` to 20 (O-28)."""
    assert (LoopPolicy().max_steps, LoopPolicy().max_history_turns) == (10, 20)


async def test_an_unknown_tool_never_runs_and_the_model_reads_the_names_that_exist() -> None:
    """C-22, O-20: the frozen catalogue is the only look-up."""
    model = scripted(asks_for(call("grepp")), ANSWER)
    stage = Stage(model, {"echo": echo})
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    assert model.prompts[1].messages[-1] == ToolMessage(
        call_id=CallId("c1"),
        name="grepp",
        result=Denied(rule="catalogue", reason="unknown tool 'grepp'; this agent has: echo"),
    )
    assert not any(isinstance(event, ToolStarted) for event in stage.events())


async def test_a_failed_tool_is_told_to_the_model_which_goes_on() -> None:
    """O-25: the error text is appended so that the model can try another way."""

    def breaks(arguments: JsonObject) -> str:
        raise OSError("no such volume")

    model = scripted(asks_for(call("breaks")), ANSWER)
    stage = Stage(model, {"breaks": breaks})
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == Completed(text="All is well.")
    assert "no such volume" in str(model.prompts[1].messages[-1])


async def test_the_prompt_is_rebuilt_each_step_from_the_files_as_they_are() -> None:
    """O-16, O-18: what a tool changed in memory is in the next request; unchanged files are not recorded again."""

    def learn(arguments: JsonObject) -> str:
        stage.agents.files = FilesRead(bootstrap="", skills="", memory="The port is 8080.", memory_read=17, sources=())
        return "noted"

    model = scripted(asks_for(call("learn")), asks_for(call("learn", "c2")), ANSWER)
    stage = Stage(model, {"learn": learn})
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    assert ["8080" in prompt.system for prompt in model.prompts] == [False, True, True]
    assert stage.names().count("FilesRead") == 1


async def test_the_agent_is_frozen_while_a_turn_runs_and_new_with_the_next() -> None:
    """M-18 by the way, C-23: instructions, tools and policy are a snapshot of the turn."""

    def edit(arguments: JsonObject) -> str:
        stage.agents.instructions = "You are somebody else."
        return "edited"

    model = scripted(asks_for(call("edit")), ANSWER, ANSWER)
    stage = Stage(model, {"edit": edit})
    session = await stage.open()
    for text in ("one", "two"):
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
    assert ["You are ops." in prompt.system for prompt in model.prompts] == [True, True, False]


async def test_history_accumulates_across_turns_and_is_sent_structured() -> None:
    """O-13, T-3, T-18: one input is one turn; earlier turns go along with their calls, results and ids."""
    model = scripted(asks_for(call("echo", text="a")), ANSWER, ANSWER)
    stage = Stage(model, {"echo": echo})
    session = await stage.open()
    for text in ("one", "two"):
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
    assert [type(message).__name__ for message in model.prompts[-1].messages] == [
        "UserMessage",
        "Reply",
        "ToolMessage",
        "Reply",
        "UserMessage",
    ]
    started = [event.turn_id for event in stage.events() if isinstance(event, TurnStarted)]
    assert started == ["t1", "t2"]


async def test_the_injected_lengths_are_journaled_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """O-31: neither cut is silent: what was put into the prompt is in the log and in the event."""
    stage = Stage(ScriptedModel(lambda _: ANSWER), policy=LoopPolicy(max_history_turns=1))
    stage.agents.files = FilesRead(bootstrap="", skills="", memory="m" * 40, memory_read=5000, sources=("MEMORY.md",))
    session = await stage.open()
    with caplog.at_level("INFO", logger="oribi.turn"):
        for text in ("one", "two", "three"):
            session.send(Input(text=text))
            await run_turn(session, stage.ports)
    last = [event for event in stage.events() if isinstance(event, ModelAsked)][-1].request
    assert (last.memory_characters, last.history_turns, last.turns_left_out) == (40, 1, 1)
    assert "memory 40 characters, history 1 turns (1 left out)" in caplog.messages[-1]


async def test_a_transient_fault_is_asked_again_and_every_ask_is_recorded() -> None:
    """C-7, T-11: up to four asks; each paid attempt is its own row."""
    script = {"replies": [{"text": "fine", "fails": {"kind": "overloaded", "message": "busy", "times": 2}}]}
    model = ScriptedModel(script)
    stage = Stage(model)
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == Completed(text="fine")
    assert [(event.step, event.attempt) for event in stage.events() if isinstance(event, ModelAsked)] == [
        (1, 1),
        (1, 2),
        (1, 3),
    ]
    assert session.turn.counters.steps == 1


@pytest.mark.parametrize(
    ("kind", "asks", "end"),
    [
        ("overloaded", 4, ModelFailed(kind="overloaded", message="no")),
        ("auth", 1, ModelFailed(kind="auth", message="no")),
        ("context_length", 1, ContextExhausted(message="no")),
    ],
)
async def test_a_fault_that_stays_ends_the_turn_with_its_kind_and_words(kind: str, asks: int, end: ModelFailed) -> None:
    """T-11, O-37: the caller gets a typed end, never a bare exception, and everything so far is kept."""
    model = ScriptedModel({"replies": [{"text": "never", "fails": {"kind": kind, "message": "no"}}]})
    stage = Stage(model)
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == end
    assert len(model.prompts) == asks
    assert result_of(session.turn).counters.model_calls == asks


async def test_calls_beyond_the_tool_budget_do_not_run_and_the_turn_still_ends_in_words() -> None:
    calls = [call("echo", f"c{n}", text=str(n)) for n in range(3)]
    stage = Stage(scripted(asks_for(*calls), ANSWER), {"echo": echo}, policy=LoopPolicy(limits=Limits(tool_calls=2)))
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == Completed(text="All is well.")
    assert len(stage.tools.runs) == 2


class SlowModel:
    """A model that says something and then keeps silent until it is cut off."""

    def __init__(self, inner: ScriptedModel) -> None:
        self._inner = inner
        self.reached = anyio.Event()

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return self._inner.build_request(prompt, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        listen(TextDelta(text="Let me th"))
        self.reached.set()
        await anyio.sleep_forever()
        raise AssertionError


async def test_an_interrupt_cuts_off_a_model_call_and_the_session_takes_the_next_message() -> None:
    slow = SlowModel(scripted(ANSWER))
    stage = Stage(slow)
    session = await stage.open()
    session.send(Input(text="go"))
    async with anyio.create_task_group() as group:

        async def interrupt() -> None:
            await slow.reached.wait()
            session.send(Interrupt(by="me"))

        group.start_soon(interrupt)
        assert await run_turn(session, stage.ports) == Interrupted(by="me")
    next_model = ScriptedModel(lambda _: ANSWER)
    again = Stage(next_model, journal=stage.journal)
    session = await again.open()
    session.send(Input(text="are you there?"))
    assert await run_turn(session, again.ports) == Completed(text="All is well.")
    assert next_model.prompts[0].messages == [UserMessage(text="go"), UserMessage(text="are you there?")]


@pytest.mark.parametrize(
    ("stop", "end"), [(Interrupt(by="me"), Interrupted(by="me")), (Revoke(what="tool b"), Revoked(what="tool b"))]
)
async def test_a_stop_between_two_calls_keeps_the_finished_result_and_answers_the_other(
    stop: Interrupt | Revoke, end: Interrupted | Revoked
) -> None:
    """A stored history never holds an unanswered call; M-21: revoked means no further model call."""

    def stops(arguments: JsonObject) -> str:
        session.send(stop)
        return "first"

    model = scripted(asks_for(call("stops", "a"), call("echo", "b", text="x")))
    stage = Stage(model, {"stops": stops, "echo": echo})
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == end
    settled = {event.call_id: event.result for event in stage.events() if isinstance(event, ToolSettled)}
    assert settled == {
        "a": Succeeded(text="first"),
        "b": Denied(rule="turn-stopped", reason="the turn was stopped before this call ran"),
    }
    assert [name for name, _ in stage.tools.runs] == ["stops"]


async def test_the_deadline_cuts_off_a_model_that_keeps_silent() -> None:
    slow = SlowModel(scripted(ANSWER))
    stage = Stage(slow, policy=LoopPolicy(limits=Limits(deadline_seconds=0.05)))
    session = await stage.open()
    session.send(Input(text="go"))
    async with anyio.create_task_group() as group:

        async def turn_the_clock() -> None:
            await slow.reached.wait()
            stage.clock.advance(1.0)

        group.start_soon(turn_the_clock)
        assert await run_turn(session, stage.ports) == DeadlinePassed(text="")


async def test_a_call_does_not_start_once_the_time_is_up() -> None:
    """It would be written off as Unknown though it never ran."""

    def takes_long(arguments: JsonObject) -> str:
        stage.clock.advance(60.0)
        return "done"

    model = scripted(asks_for(call("takes_long", "a"), call("echo", "b", text="x")))
    policy = LoopPolicy(limits=Limits(deadline_seconds=30.0))
    stage = Stage(model, {"takes_long": takes_long, "echo": echo}, policy=policy)
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == DeadlinePassed(text="")
    settled = {event.call_id: event.result for event in stage.events() if isinstance(event, ToolSettled)}
    assert settled == {
        "a": Succeeded(text="done"),
        "b": Denied(rule="turn-stopped", reason="the turn was stopped before this call ran"),
    }


async def test_a_failed_journal_stops_the_turn_before_the_effect() -> None:
    """G2: fail closed. Nothing happens unrecorded."""

    class FullDisk(MemoryJournal):
        async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
            if any(isinstance(record.event, ToolStarted) for record in records):
                raise JournalError("the disk is full")
            await super().append(session_id, epoch, records)

    stage = Stage(scripted(asks_for(call("echo", text="x")), ANSWER), {"echo": echo}, journal=FullDisk())
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(JournalError, match="the disk is full"):
        await run_turn(session, stage.ports)
    assert stage.tools.runs == []
    with pytest.raises(JournalError):
        await session.commit()


async def test_a_fenced_writer_stops_and_writes_nothing() -> None:
    stage = Stage(scripted(asks_for(call("takes_over")), ANSWER), {"takes_over": lambda _: "x"})
    session = await stage.open()
    session.send(Input(text="go"))

    async def take_over() -> None:
        await stage.journal.open_session(SESSION)

    await take_over()
    with pytest.raises(LeaseLost):
        await run_turn(session, stage.ports)
    assert stage.events() == []


class CrashError(BaseException):
    """The process is gone: nothing in the loop may catch it."""


@pytest.mark.parametrize("effect", ["pure", "once"])
async def test_a_crash_inside_a_tool_is_written_off_or_repeated_by_its_effect_class(effect: str) -> None:
    """G1: `once` becomes Unknown and is never run twice; `pure` runs again. T-5: the turn goes on by itself."""
    crashes = [True]

    def dies(arguments: JsonObject) -> str:
        if crashes and crashes.pop():
            raise CrashError
        return "done at last"

    model = scripted(asks_for(call("dies")), ANSWER)
    stage = Stage(model, {"dies": dies})
    stage.tools.effects["dies"] = "pure" if effect == "pure" else "once"
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    assert stage.names()[-1] == "ToolStarted"
    session = await stage.open()
    assert await run_turn(session, stage.ports) == Completed(text="All is well.")
    [settled] = [event.result for event in stage.events() if isinstance(event, ToolSettled)]
    if effect == "pure":
        assert settled == Succeeded(text="done at last")
    else:
        assert settled == Unknown(reason="dies was cut off before its result arrived; it may or may not have happened")
    assert len(stage.tools.runs) == (2 if effect == "pure" else 1)


async def test_a_crash_inside_a_model_call_asks_again_in_the_same_step() -> None:
    crashes = [True]

    def answer(prompt: Prompt) -> Reply:
        if crashes and crashes.pop():
            raise CrashError
        return ANSWER

    stage = Stage(ScriptedModel(answer))
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    session = await stage.open()
    assert await run_turn(session, stage.ports) == Completed(text="All is well.")
    assert [(e.step, e.attempt) for e in stage.events() if isinstance(e, ModelAsked)] == [(1, 1), (1, 2)]
    assert session.turn.counters.steps == 1


async def test_the_session_in_memory_is_the_fold_of_what_is_durable() -> None:
    stage = Stage(scripted(asks_for(call("echo", text="x"), call("nope", "c2")), ANSWER), {"echo": echo})
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    assert fold(SESSION, stage.journal.read(SESSION)) == session.turn


async def test_a_model_error_that_is_not_ours_to_name_still_reaches_the_caller_as_an_end() -> None:
    def refuse(prompt: Prompt) -> Reply:
        raise ModelError("bad_request", "400: tools[0].name is not valid")

    stage = Stage(ScriptedModel(refuse))
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == ModelFailed(
        kind="bad_request", message="400: tools[0].name is not valid"
    )
    assert isinstance(stage.events()[1], TurnStarted)
    assert not any(isinstance(event, CallJudged) for event in stage.events())


async def test_one_thing_happens_at_a_time() -> None:
    """O-32: the loop is straight-line: no tool begins before the one before it has settled."""
    running = 0
    most = 0

    def counts(arguments: JsonObject) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        running -= 1
        return "done"

    calls = [call("counts", f"c{n}") for n in range(4)]
    stage = Stage(scripted(asks_for(*calls), asks_for(*calls), ANSWER), {"counts": counts})
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    assert most == 1
    names = [name for name in stage.names() if name.startswith("Tool")]
    assert names == ["ToolStarted", "ToolSettled"] * 8
