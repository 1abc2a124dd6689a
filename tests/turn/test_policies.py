"""The loop under other policies than the standard one: retries, calls side by side, stops, routes, commands, quotas."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import anyio
import anyio.lowlevel
import pytest

from oribi.core.budget import Limits
from oribi.core.calls import (
    CallId,
    Denied,
    Failed,
    JsonObject,
    SessionId,
    Succeeded,
    ToolCall,
    ToolResult,
    ToolSpec,
    Unknown,
)
from oribi.core.ends import BudgetSpent, Completed, Interrupted, MaxSteps, Revoked, ToolFailed, Unfinished
from oribi.core.errors import ModelError, QuotaSpent
from oribi.core.events import (
    FilesRead,
    ModeChosen,
    ModelAsked,
    ModelReplied,
    Recorded,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
)
from oribi.core.mail import Input, Interrupt, Mail, Revoke
from oribi.core.messages import Reply, ToolMessage, Usage, UserMessage
from oribi.core.modes import Command, Mode
from oribi.core.policy import PRESETS, LoopPolicy, StoreReasoning
from oribi.core.prompt import Prompt
from oribi.core.results import result_of
from oribi.testing import MemoryJournal, ScriptedModel
from oribi.turn.loop import run_turn
from oribi.turn.session import Session
from tests.turn.stage import Stage

pytestmark = pytest.mark.anyio

USAGE = Usage(input_tokens=10, output_tokens=5)
BUSY = Failed(text="busy", retryable=True)


class CrashError(BaseException):
    """The process is gone: nothing in the loop may catch it."""


def call(name: str, call_id: str = "c1", **arguments: str) -> ToolCall:
    return ToolCall(id=CallId(call_id), name=name, arguments=dict(arguments))


def asks_for(*calls: ToolCall, text: str = "") -> Reply:
    return Reply(text=text, calls=calls, stop="tool_calls", usage=USAGE)


def says(text: str) -> Reply:
    return Reply(text=text, usage=USAGE)


DONE = says("done")


def scripted(*replies: Reply) -> ScriptedModel:
    return ScriptedModel({"replies": list(replies)})


def echo(arguments: JsonObject) -> str:
    return f"echo: {arguments.get('text')}"


def parallel(spec: ToolSpec) -> ToolSpec:
    return replace(spec, parallel=True)


def results_of(stage: Stage) -> dict[str, ToolResult]:
    """The results in the order in which they were recorded."""
    return {event.call_id: event.result for event in stage.events() if isinstance(event, ToolSettled)}


async def when(holds: Callable[[], bool], then: Callable[[], object]) -> None:
    """Do something as soon as what is durable says so."""
    while not holds():  # noqa: ASYNC110 - the journal is asked, which tells nobody
        await anyio.sleep(0.001)
    then()


async def begin(stage: Stage, text: str = "go") -> Session:
    session = await stage.open()
    session.send(Input(text=text))
    return session


# --- retries of tools (Y-7, C-5) --------------------------------------------------------------------------------------


class Flaky:
    """A tool that is busy so many times, and notes when it was called."""

    def __init__(self, busy: int) -> None:
        self.busy = busy
        self.at: list[float] = []

    def __call__(self, arguments: JsonObject) -> ToolResult:
        self.at.append(anyio.current_time())
        return BUSY if len(self.at) <= self.busy else Succeeded(text="there")


def retrying(flaky: Callable[[JsonObject], ToolResult], *replies: Reply, seconds: float = 0.02) -> Stage:
    policy = LoopPolicy(tool_attempts=3, tool_retry_seconds=seconds)
    stage = Stage(scripted(asks_for(call("flaky")), *replies), {"flaky": flaky}, policy=policy)
    stage.tools.effects["flaky"] = "pure"
    return stage


async def test_a_busy_tool_is_tried_three_times_with_waits_that_double() -> None:
    """Y-7: three attempts, exponential backoff; every attempt and every failure is recorded."""
    flaky = Flaky(2)
    stage = retrying(flaky, DONE)
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    waits = [later - earlier for earlier, later in zip(flaky.at, flaky.at[1:], strict=False)]
    assert waits[0] >= 0.02
    assert waits[1] >= 0.04
    assert stage.names()[5:10] == ["ToolStarted", "ToolFaulted", "ToolStarted", "ToolFaulted", "ToolStarted"]
    assert results_of(stage) == {"c1": Succeeded(text="there")}


async def test_a_tool_that_stays_busy_is_told_to_the_model_after_the_third_attempt() -> None:
    """Y-7, O-25."""
    stage = retrying(Flaky(9), DONE, seconds=0.0)
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert (len(stage.tools.runs), results_of(stage)) == (3, {"c1": BUSY})
    assert session.turn.counters.tool_calls == 3


async def test_a_crash_while_a_retry_is_waited_for_forgets_no_attempt() -> None:
    """Y-7, G2: the failure is durable before the wait, which goes on from where it began."""
    flaky = Flaky(1)
    stage = retrying(flaky, DONE, seconds=600.0)
    session = await begin(stage)
    with anyio.move_on_after(0.05) as crash:
        await run_turn(session, stage.ports)
    assert (crash.cancelled_caught, stage.names()[-1]) == (True, "ToolFaulted")
    stage.clock.advance(750.0)
    session = await stage.open()
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert (len(flaky.at), sum(isinstance(event, ToolFaulted) for event in stage.events())) == (2, 1)


async def test_a_turn_that_waits_to_try_a_tool_again_can_be_interrupted() -> None:
    stage = retrying(Flaky(9), seconds=600.0)
    session = await begin(stage)
    async with anyio.create_task_group() as group:
        group.start_soon(when, lambda: "ToolFaulted" in stage.names(), lambda: session.send(Interrupt(by="me")))
        with anyio.fail_after(5):
            assert await run_turn(session, stage.ports) == Interrupted(by="me")
    assert results_of(stage) == {"c1": BUSY}


# --- calls side by side (C-2, O-35) -----------------------------------------------------------------------------------


class Meeting:
    """Two tools, `first` and `second`, of which each goes on only when the other has begun; `first` comes back last.

    `then` is what `first` does at its end.
    """

    def __init__(self, then: Callable[[], ToolResult | str] = lambda: "first done") -> None:
        self.begun = {"first": anyio.Event(), "second": anyio.Event()}
        self.may_end = anyio.Event()
        self.then = then

    async def first(self, arguments: JsonObject) -> ToolResult | str:
        self.begun["first"].set()
        await self.begun["second"].wait()
        await self.may_end.wait()
        return self.then()

    async def second(self, arguments: JsonObject) -> ToolResult | str:
        self.begun["second"].set()
        await self.begun["first"].wait()
        return "second done"


BOTH = asks_for(call("first", "a"), call("second", "b"))


def meeting_stage(meeting: Meeting, *replies: Reply, at_once: int = 2) -> Stage:
    policy = LoopPolicy(parallel_calls=at_once)
    stage = Stage(scripted(BOTH, *replies), {"first": meeting.first, "second": meeting.second}, policy=policy)
    stage.tools.refine = parallel
    return stage


async def test_calls_of_tools_that_are_parallel_safe_overlap_and_are_told_in_the_order_of_the_reply() -> None:
    """O-35, T-31: recorded as they come back, and each durable before the other has; sent in request order."""
    meeting = Meeting()
    stage = meeting_stage(meeting, DONE)
    session = await begin(stage)
    async with anyio.create_task_group() as group:
        group.start_soon(when, lambda: "b" in results_of(stage), meeting.may_end.set)
        with anyio.fail_after(5):
            assert await run_turn(session, stage.ports) == Completed(text="done")
    assert stage.names()[6:10] == ["ToolStarted", "ToolStarted", "ToolSettled", "ToolSettled"]
    assert list(results_of(stage)) == ["b", "a"]
    model = stage.ports.models.get(session.started.model)
    assert isinstance(model, ScriptedModel)
    assert model.prompts[1].messages[2:] == [
        ToolMessage(call_id=CallId("a"), name="first", result=Succeeded(text="first done")),
        ToolMessage(call_id=CallId("b"), name="second", result=Succeeded(text="second done")),
    ]


async def test_a_sibling_that_fails_loses_nobodys_result() -> None:
    """O-35: neither that of the one that came back before it, nor its own."""

    def breaks() -> str:
        raise OSError("no such volume")

    meeting = Meeting(breaks)
    stage = meeting_stage(meeting, DONE)
    session = await begin(stage)
    async with anyio.create_task_group() as group:
        group.start_soon(when, lambda: "b" in results_of(stage), meeting.may_end.set)
        assert await run_turn(session, stage.ports) == Completed(text="done")
    assert results_of(stage) == {
        "b": Succeeded(text="second done"),
        "a": Failed(text="OSError: no such volume"),
    }


async def test_a_stop_while_calls_run_side_by_side_keeps_the_result_that_is_there() -> None:
    """O-35: the other was cut off, and whether it happened is not known (G1)."""
    stage = meeting_stage(Meeting())
    session = await begin(stage)
    async with anyio.create_task_group() as group:
        group.start_soon(when, lambda: "b" in results_of(stage), lambda: session.send(Interrupt(by="me")))
        with anyio.fail_after(5):
            assert await run_turn(session, stage.ports) == Interrupted(by="me")
    assert results_of(stage) == {
        "b": Succeeded(text="second done"),
        "a": Unknown(reason="first was cut off before its result arrived; it may or may not have happened"),
    }


@pytest.mark.parametrize("effect", ["pure", "once"])
async def test_a_crash_while_calls_run_side_by_side_keeps_the_result_that_is_there(effect: str) -> None:
    """G1, G2: `second` never runs twice; `first` does only if it may be repeated."""
    crashes = [True]

    def dies() -> str:
        if crashes and crashes.pop():
            raise CrashError
        return "first done"

    meeting = Meeting(dies)
    stage = meeting_stage(meeting, DONE)
    stage.tools.effects["first"] = "pure" if effect == "pure" else "once"
    session = await begin(stage)

    async def until_the_crash() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(when, lambda: "b" in results_of(stage), meeting.may_end.set)
            await run_turn(session, stage.ports)

    with pytest.raises(BaseExceptionGroup):  # that of the calls, in that of this test
        await until_the_crash()
    assert results_of(stage) == {"b": Succeeded(text="second done")}
    session = await stage.open()
    assert await run_turn(session, stage.ports) == Completed(text="done")
    unknown = Unknown(reason="first was cut off before its result arrived; it may or may not have happened")
    first = Succeeded(text="first done") if effect == "pure" else unknown
    assert results_of(stage) == {"b": Succeeded(text="second done"), "a": first}
    assert [name for name, _ in stage.tools.runs].count("second") == 1


@dataclass
class Crowd:
    """A tool that counts how many of its calls run at the moment."""

    now: int = 0
    most: int = 0

    async def __call__(self, arguments: JsonObject) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        self.now -= 1
        return "done"


@pytest.mark.parametrize(
    ("at_once", "safe", "most"), [(1, True, 1), (2, True, 2), (3, True, 3), (9, True, 4), (9, False, 1)]
)
async def test_no_more_calls_run_at_once_than_policy_says_and_none_of_a_tool_that_is_not_declared(
    at_once: int, *, safe: bool, most: int
) -> None:
    """C-2, Y-13: the default is one after the other, in order."""
    crowd = Crowd()
    calls = [call("crowd", f"c{number}") for number in range(4)]
    stage = Stage(scripted(asks_for(*calls), DONE), {"crowd": crowd}, policy=LoopPolicy(parallel_calls=at_once))
    stage.tools.refine = lambda spec: replace(spec, parallel=safe)
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert (crowd.most, len(results_of(stage))) == (most, 4)
    assert (LoopPolicy().parallel_calls, PRESETS["standard"].parallel_calls) == (1, 1)


# --- withdrawals (M-20, M-21) -----------------------------------------------------------------------------------------


WRAPS = LoopPolicy(degrade="wrap_up", max_asks=1)


@pytest.mark.parametrize("named", [{"tool": "echo"}, {"owner": "plug"}, {}], ids=["tool", "owner", "all"])
@pytest.mark.parametrize("when", ["in the tool", "in the model call"])
async def test_a_withdrawal_between_the_use_of_a_tool_and_the_answer_ends_the_turn_without_either(
    when: str, named: dict[str, str]
) -> None:
    """M-20, M-21: checked after return and before the final output: no wrap-up, no answer, no further model call."""
    revoke = Revoke(what="the tool echo", tool=named.get("tool", ""), owner=named.get("owner", ""))

    def withdraws(arguments: JsonObject) -> str:
        if when == "in the tool":
            session.send(revoke)
        return "echo: hi"

    def answer(prompt: Prompt) -> Reply:
        if len(prompt.messages) == 1:
            return asks_for(call("echo"))
        session.send(revoke)
        return says("the answer, too late")

    model = ScriptedModel(answer)
    stage = Stage(model, {"echo": withdraws}, policy=WRAPS)
    stage.tools.refine = lambda spec: replace(spec, owner="plug")
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Revoked(what="the tool echo")
    assert len(model.prompts) == (1 if when == "in the tool" else 2)
    assert "WrapUpBegan" not in stage.names()
    assert "too late" not in result_of(session.turn).text


async def test_a_tool_that_is_withdrawn_before_it_is_used_is_refused_and_the_turn_goes_on() -> None:
    """M-20: checked before use; what was used before stands."""

    def withdraws(arguments: JsonObject) -> str:
        session.send(Revoke(what="tool send", tool="send"))
        return "looked"

    model = scripted(asks_for(call("look", "a"), call("send", "b")), asks_for(call("send", "c")), DONE)
    stage = Stage(model, {"look": withdraws, "send": echo})
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    refused = Denied(rule="revoked", reason="send was withdrawn while the turn ran")
    assert results_of(stage) == {"a": Succeeded(text="looked"), "b": refused, "c": refused}
    assert [name for name, _ in stage.tools.runs] == ["look"]


async def test_a_withdrawal_holds_for_the_open_turn_and_the_next_one_has_what_is_loaded_then() -> None:
    """M-18, M-20: what a turn may use is frozen; what comes after reads the files again."""
    model = scripted(asks_for(call("send", "a")), DONE, asks_for(call("send", "b")), DONE)
    stage = Stage(model, {"send": echo})
    session = await begin(stage)
    session.send(Revoke(what="tool send", tool="send"))
    assert await run_turn(session, stage.ports) == Completed(text="done")
    session.send(Input(text="again"))
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert [type(result) for result in results_of(stage).values()] == [Denied, Succeeded]


class SendsWhileWriting(MemoryJournal):
    """A journal during whose first write of a call's start something arrives."""

    def __init__(self, mail: Mail) -> None:
        super().__init__()
        self.mail: list[Mail] = [mail]
        self.session: Session | None = None

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        await super().append(session_id, epoch, records)
        if self.session is not None and self.mail and any(isinstance(record.event, ToolStarted) for record in records):
            self.session.send(self.mail.pop())


async def test_a_withdrawal_that_comes_while_the_start_of_its_call_is_written_keeps_it_from_running() -> None:
    """M-20: the last moment before use."""
    journal = SendsWhileWriting(Revoke(what="tool send", tool="send"))
    stage = Stage(scripted(asks_for(call("send"))), {"send": echo}, journal=journal)
    journal.session = session = await begin(stage)
    assert await run_turn(session, stage.ports) == Revoked(what="tool send")
    assert (stage.tools.runs, type(results_of(stage)["c1"])) == ([], Denied)


async def test_a_withdrawal_of_another_tool_does_not_keep_a_call_from_running() -> None:
    """M-20: the turn does not depend on it."""
    journal = SendsWhileWriting(Revoke(what="tool send", tool="send"))
    stage = Stage(scripted(asks_for(call("look")), DONE), {"look": echo, "send": echo}, journal=journal)
    journal.session = session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert results_of(stage) == {"c1": Succeeded(text="echo: None")}


# --- quotas (M-16) ----------------------------------------------------------------------------------------------------


@dataclass
class Daily:
    """The `Quota` port: so many model calls and tool calls, counted of the stage's events."""

    stage: Stage
    model_calls: int = 99
    tool_calls: int = 99

    def spent(self, principal: str, now: int) -> str | None:
        asked = sum(isinstance(event, ModelAsked) for event in self.stage.events())
        return "daily model_calls" if asked >= self.model_calls else None

    def tool_calls_left(self, principal: str, now: int) -> int | None:
        return self.tool_calls - sum(isinstance(event, ToolStarted) for event in self.stage.events())


def with_quota(stage: Stage, *, model_calls: int = 99, tool_calls: int = 99) -> Stage:
    stage.ports = replace(stage.ports, quota=Daily(stage, model_calls, tool_calls))
    return stage


async def test_a_daily_quota_ends_the_turn_before_the_call_that_it_has_no_room_for() -> None:
    """M-16: nothing is asked, and nothing is wrapped up; the last words are kept."""
    model = scripted(asks_for(call("echo", "a"), text="so far"), asks_for(call("echo", "b"), text="and so on"))
    stage = with_quota(Stage(model, {"echo": echo}, policy=WRAPS), model_calls=2)
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == BudgetSpent(limit="daily model_calls", text="and so on")
    assert (len(model.prompts), stage.names()[-2:]) == (2, ["QuotaReached", "TurnEnded"])


async def test_a_daily_quota_of_tool_calls_refuses_the_call_that_it_has_no_room_for() -> None:
    """M-16."""
    model = scripted(asks_for(call("echo", "a"), call("echo", "b"), text="two"))
    stage = with_quota(Stage(model, {"echo": echo}), tool_calls=1)
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == BudgetSpent(limit="daily tool_calls", text="two")
    assert {call_id: type(result) for call_id, result in results_of(stage).items()} == {"a": Succeeded, "b": Denied}


async def test_a_call_that_was_cut_off_runs_again_though_it_was_the_last_of_the_day() -> None:
    """M-16, G1: it was counted when it began; and the turn comes to its end, whatever the quota says meanwhile."""
    crashes = [True]

    def dies(arguments: JsonObject) -> str:
        if crashes and crashes.pop():
            raise CrashError
        return "done at last"

    stage = with_quota(Stage(scripted(asks_for(call("dies")), DONE), {"dies": dies}), tool_calls=1)
    stage.tools.effects["dies"] = "pure"
    session = await begin(stage)
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    session = await stage.open()
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert results_of(stage) == {"c1": Succeeded(text="done at last")}


@pytest.mark.parametrize("fails", ["crash", "fault"])
async def test_a_model_call_that_is_to_be_asked_again_needs_room_in_the_quota(fails: str) -> None:
    """M-16."""

    def answer(prompt: Prompt) -> Reply:
        if fails == "crash":
            raise CrashError
        raise ModelError("overloaded", "busy")

    stage = with_quota(Stage(ScriptedModel(answer)), model_calls=1)
    session = await begin(stage)
    if fails == "crash":
        with pytest.raises(CrashError):
            await run_turn(session, stage.ports)
        session = await stage.open()
    assert await run_turn(session, stage.ports) == BudgetSpent(limit="daily model_calls", text="")
    assert stage.names().count("ModelAsked") == 1


# --- modes, routes and commands (M-3, M-5, M-6) -----------------------------------------------------------------------


def routed(model: ScriptedModel) -> Stage:
    stage = Stage(model, {"look": echo, "send": echo})
    stage.agents.modes = {"question": PRESETS["question"], "free": replace(PRESETS["free"], max_steps=2)}
    stage.agents.routes = (Mode(name="question", description="Look it up."), Mode(name="free"))
    stage.tools.effects["look"] = "pure"
    return stage


def action(name: str, number: int) -> Reply:
    return says(f'{{"type": "{name}", "input": {{"n": {number}}}}}')


def router_then(*replies: Reply) -> Callable[[Prompt], Reply]:
    """A model that is asked for the mode, and then says `replies`, one after the other."""
    rest = list(replies)
    return lambda _: rest.pop(0)


async def test_a_routed_turn_has_the_policy_of_the_mode_that_the_model_chose() -> None:
    """M-5, M-10: the router is step 0, sees no tool, and its call is a call and no step."""
    model = ScriptedModel(
        router_then(says(" question\n"), action("look", 1), says('{"type": "answer", "text": "wheat"}'))
    )
    stage = routed(model)
    session = await begin(stage, "what is durum?")
    assert await run_turn(session, stage.ports) == Completed(text="wheat")
    assert [(event.step, event.attempt) for event in stage.events() if isinstance(event, ModelAsked)] == [
        (0, 1),
        (1, 1),
        (2, 1),
    ]
    assert [event.mode for event in stage.events() if isinstance(event, ModeChosen)] == ["question"]
    assert (model.prompts[0].tools, model.prompts[0].messages) == ((), [UserMessage(text="what is durum?")])
    assert session.started.policy == PRESETS["question"]
    assert (session.turn.counters.steps, session.turn.counters.model_calls) == (2, 3)


async def test_after_the_router_five_model_calls_are_left() -> None:
    """M-10: of six, though the round cap is still six."""
    stage = routed(ScriptedModel(router_then(says("question"), *(action("look", number) for number in range(9)))))
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == BudgetSpent(limit="model_calls", text="")
    assert (session.turn.counters.steps, stage.names().count("ModelAsked")) == (5, 6)


async def test_a_router_that_names_none_leaves_the_agents_ordinary_turn_which_later_turns_can_build_on() -> None:
    """M-5; and what the router said is in no later prompt."""
    model = ScriptedModel(router_then(says("none"), DONE, says("none"), DONE))
    stage = routed(model)
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    session.send(Input(text="and now?"))
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert session.started.policy == stage.agents.policy
    words = [message.text for message in model.prompts[-1].messages if not isinstance(message, ToolMessage)]
    assert words == ["go", "done", "and now?"]


async def test_a_mode_that_is_asked_for_needs_no_router() -> None:
    """M-6."""
    stage = routed(scripted(says('{"type": "answer", "text": "wheat"}')))
    session = await stage.open()
    session.send(Input(text="what is durum?", mode="question"))
    assert await run_turn(session, stage.ports) == Completed(text="wheat")
    assert stage.names().count("ModelAsked") == 1
    assert session.started.mode == "question"


async def test_a_crash_within_the_routers_call_asks_it_again_and_counts_both() -> None:
    """G2, M-10."""
    crashes = [True]

    def answer(prompt: Prompt) -> Reply:
        if crashes and crashes.pop():
            raise CrashError
        return says("none") if not prompt.tools else DONE

    stage = routed(ScriptedModel(answer))
    session = await begin(stage)
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    session = await stage.open()
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert (session.turn.counters.model_calls, session.turn.counters.steps) == (3, 1)


def commanding(function: Callable[[JsonObject], str | ToolResult], *, tool: str = "tasks") -> Stage:
    stage = Stage(ScriptedModel({"replies": []}), {"tasks": function}, policy=LoopPolicy(max_steps=0))
    stage.agents.commands = (Command(phrase="show tasks", tool=tool, arguments={"all": True}, rest="of"),)
    return stage


async def test_a_command_runs_its_tool_and_no_model() -> None:
    """M-3: deterministic workflows never enter the loop; also where the loop is disabled (M-12)."""
    stage = commanding(lambda arguments: f"two of {arguments['of']}, all: {arguments['all']}")
    session = await begin(stage, "Show tasks  ada")
    assert await run_turn(session, stage.ports) == Completed(text="two of ada, all: True")
    assert stage.names() == [
        *("SessionOpened", "TurnStarted", "CallJudged", "ToolStarted", "ToolSettled", "TurnEnded"),
    ]


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (lambda: commanding(lambda _: Failed(text="no board")), "Error: no board"),
        (
            lambda: commanding(lambda _: "", tool="board"),
            "Not run (catalogue): unknown tool 'board'; this agent has: tasks",
        ),
    ],
    ids=["fails", "denied"],
)
async def test_a_command_that_fails_or_is_denied_ends_with_what_was_said(
    stage: Callable[[], Stage], message: str
) -> None:
    """M-3: a typed end, and no model is asked to make something of it."""
    made = stage()
    session = await begin(made, "show tasks")
    end = await run_turn(session, made.ports)
    assert isinstance(end, ToolFailed)
    assert (end.message, made.names().count("ModelAsked")) == (message, 0)


async def test_what_is_no_command_is_an_ordinary_turn_which_knows_what_the_command_gave() -> None:
    """M-3: the command's call and result are history like any other."""
    model = ScriptedModel(lambda _: DONE)
    stage = Stage(model, {"tasks": lambda _: "two tasks"})
    stage.agents.commands = (Command(phrase="show tasks", tool="tasks"),)
    session = await begin(stage, "show tasks")
    await run_turn(session, stage.ports)
    session.send(Input(text="show tasks and tell me which is first"))
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert model.prompts[0].messages[2] == ToolMessage(
        call_id=CallId("t1_command"), name="tasks", result=Succeeded(text="two tasks")
    )


# --- what is fixed for a turn, and what is kept of it -----------------------------------------------------------------


@pytest.mark.parametrize(("snapshot", "knows"), [(False, [False, True, True]), (True, [False, False, True])])
async def test_the_prompts_files_are_read_before_each_step_or_once_a_turn(*, snapshot: bool, knows: list[bool]) -> None:
    """M-22, C-23 against O-16, O-18; the next turn reads them anew in either case (M-39)."""

    def learn(arguments: JsonObject) -> str:
        stage.agents.files = FilesRead(bootstrap="", skills="", memory="The port is 8080.", memory_read=17, sources=())
        return "noted"

    model = scripted(asks_for(call("learn")), DONE, DONE)
    stage = Stage(model, {"learn": learn}, policy=LoopPolicy(prompt_snapshot=snapshot))
    session = await begin(stage)
    await run_turn(session, stage.ports)
    session.send(Input(text="again"))
    await run_turn(session, stage.ports)
    assert ["8080" in prompt.system for prompt in model.prompts] == knows


@pytest.mark.parametrize(("keep", "kept"), [("never", ""), ("history", "It is a secret.")])
async def test_the_thought_of_an_action_is_kept_as_policy_says_and_never_sent_again(
    keep: StoreReasoning, kept: str
) -> None:
    """M-40: the model's private reasoning is not stored, and the observations are put into the input as text."""
    replies = (
        says('{"thought": "It is a secret.", "action": "look", "action_input": {"n": 1}}'),
        says('{"thought": "It is a secret.", "final": "done"}'),
    )
    policy = replace(PRESETS["compact"], store_reasoning=keep)
    model = scripted(*replies)
    stage = Stage(model, {"look": echo}, policy=policy)
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    stored = [event.reply for event in stage.events() if isinstance(event, ModelReplied)]
    assert [(reply.reasoning, reply.raw) for reply in stored] == [(kept, None)] * 2
    assert "secret" not in str(model.prompts[1].messages)
    assert model.prompts[1].messages[1:] == [
        replace(stored[0], calls=(), reasoning="", text='{"action": "look", "action_input": {"n": 1}}'),
        UserMessage(text="Observation: echo: None"),
    ]
    assert model.prompts[1].tools == ()


@pytest.mark.parametrize("preset", ["reasoning", "question", "free"])
async def test_the_game_presets_store_no_reasoning(preset: str) -> None:
    """M-40."""
    reply = replace(says('{"type": "answer", "text": "done"}'), reasoning="a secret", raw=["a secret"])
    stage = Stage(ScriptedModel(lambda _: reply), policy=PRESETS[preset])
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert "a secret" not in str(stage.events())


async def test_without_steps_the_model_answers_once_in_plain_words() -> None:
    """M-43, M-12: no tools, no JSON, one call; what the preset says of the protocol counts for its loop only."""
    model = scripted(says("It is a kind of wheat."))
    stage = Stage(model, {"look": echo}, policy=replace(PRESETS["question"], max_steps=0))
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="It is a kind of wheat.")
    [prompt] = model.prompts
    assert (prompt.tools, prompt.system) == ((), "You are ops.")


async def test_without_steps_a_tool_that_is_called_anyhow_does_not_run() -> None:
    """M-43."""
    stage = Stage(scripted(asks_for(call("look"), text="let me see")), {"look": echo}, policy=LoopPolicy(max_steps=0))
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == MaxSteps(limit=1, text="let me see")
    assert stage.tools.runs == []


# --- wrap-ups (M-36 to M-38) ------------------------------------------------------------------------------------------


def found_then(model: Callable[[Prompt], Reply], *, limits: Limits | None = None) -> Stage:
    """A stage under the reasoning preset, which never asks a model again that failed."""
    policy = PRESETS["reasoning"]
    stage = Stage(ScriptedModel(model), {"look": echo}, policy=replace(policy, limits=limits or policy.limits))
    stage.tools.effects["look"] = "pure"
    return stage


def looks_fails_then(*after: Reply | ModelError) -> Callable[[Prompt], Reply]:
    """A model that looks, fails, and then says or raises what comes `after`."""
    sequence: list[Reply | ModelError] = [action("look", 1), ModelError("overloaded", "busy"), *after]

    def answer(prompt: Prompt) -> Reply:
        item = sequence.pop(0)
        if isinstance(item, ModelError):
            raise item
        return item

    return answer


async def test_a_model_that_fails_after_something_was_found_may_once_answer_from_that() -> None:
    """M-36: within the three rounds and four calls of the preset (M-37)."""
    stage = found_then(looks_fails_then(says('{"text": "From what I saw: yes."}')))
    session = await begin(stage)
    assert await run_turn(session, stage.ports) == Completed(text="From what I saw: yes.")
    result = result_of(session.turn)
    assert (result.wrap_up, result.counters.steps, result.counters.model_calls) == (
        "the model could not answer (overloaded): busy",
        3,
        3,
    )


@pytest.mark.parametrize(
    "last", [ModelError("overloaded", "busy"), action("look", 2), says("I think")], ids=["fails", "calls", "prose"]
)
async def test_a_wrap_up_that_fails_is_told_as_unfinished_with_what_was_found(last: Reply | ModelError) -> None:
    """M-38, M-36: not tried again, and no JSON of a tool is shown as the answer."""
    stage = found_then(looks_fails_then(last))
    session = await begin(stage)
    reason = "the model could not answer (overloaded): busy"
    assert await run_turn(session, stage.ports) == Unfinished(reason=reason)
    assert (stage.names().count("ModelAsked"), stage.names().count("WrapUpBegan")) == (3, 1)
    assert result_of(session.turn).text.splitlines()[1:] == ["What was found:", "- look: echo: None"]
    assert "{" not in result_of(session.turn).text


async def test_without_a_call_left_there_is_no_wrap_up() -> None:
    """M-37: two model calls are all there are."""
    stage = found_then(looks_fails_then(), limits=Limits(model_calls=2))
    session = await begin(stage)
    end = await run_turn(session, stage.ports)
    assert (type(end).__name__, "WrapUpBegan" in stage.names()) == ("ModelFailed", False)


class FullDay(MemoryJournal):
    """A journal whose quota has no room for a model call: another session was quicker."""

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        if any(isinstance(record.event, ModelAsked) for record in records):
            raise QuotaSpent("daily model_calls", "me", 1)
        await super().append(session_id, epoch, records)


async def test_a_call_that_the_journal_refuses_leaves_the_session_as_it_was() -> None:
    """M-16: what was recorded before is not lost with it, and the turn ends as spent."""
    stage = Stage(ScriptedModel(lambda _: DONE), journal=FullDay())
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == BudgetSpent(limit="daily model_calls", text="")
    assert stage.names() == ["SessionOpened", "TurnStarted", "QuotaReached", "TurnEnded"]
