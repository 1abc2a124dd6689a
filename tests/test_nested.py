"""Turns within a call: delegation to other agents, a tool's own turn, and tools that call tools. One budget for all."""

import json
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.calls import Denied, Failed, Json, Succeeded
from oribi.core.ends import BudgetSpent, Completed, DeadlinePassed, Interrupted, MaxSteps
from oribi.core.events import CallCharged, SessionOpened, ToolSettled, TurnStarted
from oribi.core.messages import ToolMessage
from oribi.core.policy import LoopPolicy
from oribi.ports import Invocation
from oribi.tools.own_turn import Outcome

pytestmark = pytest.mark.anyio


def write_agent(root: Path, name: str, script: Json, *, more: str = "") -> None:
    folder = root / ".oribi" / "agents" / name
    folder.mkdir(exist_ok=True)
    (folder / "AGENT.md").write_text(f"---\nmodel: scripted:{name}.json\n{more}---\nYou are {name}.\n")
    (root / ".oribi" / f"{name}.json").write_text(json.dumps(script))


def ask(*agents: str, text: str = "part {input}") -> Json:
    """A reply that delegates to `agents`."""
    calls: list[Json] = [{"name": "delegate", "arguments": {"agent": name, "input": text}} for name in agents]
    return {"calls": calls}


def boss_script(*agents: str) -> Json:
    return {"rules": [{"when": {"step": 1}, "reply": ask(*agents)}, {"when": {}, "reply": {"text": "all: {last}"}}]}


BOSS = "tools: [delegate]\ndelegates: [helper]\n"
HELPER: Json = {
    "rules": [
        {"when": {"step": 1}, "reply": {"calls": [{"name": "count", "arguments": {"to": 3}}]}},
        {"when": {}, "reply": {"text": "counted {last}"}},
    ]
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    init_workspace(tmp_path)
    write_agent(tmp_path, "helper", HELPER)
    return tmp_path


@oribi.tool(effect="pure")
def count(to: int) -> list[int]:
    """Count."""
    return list(range(1, to + 1))


def events_of(app: oribi.App, session_id: str) -> list[object]:
    return [record.event for record in app.records(session_id)]


def child_of(app: oribi.App, session_id: str) -> str:
    charged = [event for event in events_of(app, session_id) if isinstance(event, CallCharged)]
    return charged[-1].child


# --- delegation -------------------------------------------------------------------------------------------------------


async def test_an_agent_gives_a_part_of_the_work_to_another(root: Path) -> None:
    """O-38, C-24: a session of its own, linked both ways; its answer is the call's result."""
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    async with oribi.open(root, tools=[count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        child = child_of(app, "s1")
        opened = events_of(app, child)[0]
        records = app.records(child)
    assert result.end == Completed(text="all: counted [1,2,3]")
    assert isinstance(opened, SessionOpened)
    assert opened.parent is not None
    assert (opened.agent, opened.principal, opened.parent.session_id, opened.parent.depth) == (
        "helper",
        "local",
        "s1",
        1,
    )
    assert [r.event.input.text for r in records if isinstance(r.event, TurnStarted)] == ["part x"]


async def test_what_a_nested_turn_spends_is_spent_of_the_calling_turns_budget(root: Path) -> None:
    """M-17, M-19, M-42: one budget: two model calls and one tool call of the helper stand beside the boss's own."""
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    async with oribi.open(root, tools=[count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        inner = app.turn(child_of(app, "s1")).counters
    own = result.counters
    assert (inner.model_calls, inner.tool_calls) == (2, 1)
    assert (own.steps, own.model_calls, own.tool_calls) == (2, 4, 2)
    assert own.total_tokens > inner.total_tokens > 0


@pytest.mark.parametrize("most", [2, 3, 4])
async def test_a_nested_turn_gets_what_is_left_and_no_more(root: Path, most: int) -> None:
    """M-17: a new loop refills nothing. The boss asks once; of `most` calls the helper has the rest."""
    write_agent(root, "boss", boss_script("helper"), more=f"{BOSS}budget:\n  model_calls: {most}\n")
    async with oribi.open(root, tools=[count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        child = app.turn(child_of(app, "s1"))
    assert child.started is not None
    assert child.started.policy.limits.model_calls == most - 1
    assert child.counters.model_calls == min(2, most - 1)
    assert result.counters.model_calls <= most
    has_answered = isinstance(result.end, Completed)
    assert has_answered is (most == 4)
    if not has_answered:
        assert isinstance(result.end, BudgetSpent)


async def test_nested_turns_run_side_by_side_with_an_equal_part_each(root: Path) -> None:
    """M-17, O-35, T-31: two at once share what is left by halves; results come in the order of the calls."""
    write_agent(root, "other", {"rules": [{"when": {}, "reply": {"text": "other here"}}]})
    more = "tools: [delegate]\ndelegates: [helper, other]\nbudget:\n  model_calls: 10\npolicy:\n  parallel_calls: 2\n"
    write_agent(root, "boss", boss_script("helper", "other"), more=more)
    async with oribi.open(root, tools=[count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        charged = [event for event in events_of(app, "s1") if isinstance(event, CallCharged)]
        children = {event.child: app.turn(event.child) for event in charged}
    limits = [turn.started.policy.limits.model_calls for turn in children.values() if turn.started is not None]
    assert limits == [4, 4]  # 10, less the boss's own first call, by halves
    said = [message.result for message in result.messages if isinstance(message, ToolMessage)]
    assert said == [Succeeded(text="counted [1,2,3]"), Succeeded(text="other here")]
    assert result.counters.model_calls == 1 + 2 + 1 + 1


async def test_an_agent_that_is_not_named_cannot_be_asked(root: Path) -> None:
    """C-22: whom an agent may ask is part of its frozen schema."""
    write_agent(root, "boss", boss_script("boss"), more=BOSS)
    async with oribi.open(root, tools=[count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        assert [type(each.result) for each in result.evidence] == [Denied]
        assert not any(isinstance(event, CallCharged) for event in events_of(app, "s1"))


async def test_turns_are_nested_so_deep_and_no_deeper(root: Path) -> None:
    """C-24: an agent that asks itself comes to an end."""
    more = "tools: [delegate]\ndelegates: [boss]\npolicy:\n  max_depth: 2\n"
    write_agent(root, "boss", boss_script("boss"), more=more)
    async with oribi.open(root, tools=[count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        rows = app.sessions()
    assert isinstance(result.end, Completed)
    assert "nested 2 deep" in result.end.text
    assert len(rows) == 3


async def test_a_nested_turn_that_does_not_finish_is_a_failure_that_the_model_reads(root: Path) -> None:
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    write_agent(root, "helper", HELPER, more="policy:\n  max_steps: 1\n")
    async with oribi.open(root, tools=[count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        assert isinstance(app.turn(child_of(app, "s1")).end, MaxSteps)
    (found,) = result.evidence
    assert isinstance(found.result, Failed)
    assert "helper did not finish (max_steps)" in found.result.text


class Slow:
    """A tool that runs until it is let go."""

    def __init__(self) -> None:
        self.has_begun = anyio.Event()
        self.have_begun = anyio.Event()
        self.may_end = anyio.Event()
        self.runs = 0

    async def count(self, to: int) -> str:
        """Count, slowly."""
        self.runs += 1
        self.has_begun.set()
        if self.runs == 2:
            self.have_begun.set()
        await self.may_end.wait()
        return f"{to}"


async def test_stopping_the_calling_turn_stops_the_nested_one_and_counts_what_it_spent(root: Path) -> None:
    """M-21: nothing goes on in the dark, and its spending is in the parent's."""
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    slow = Slow()
    async with oribi.open(root, tools=[slow.count]) as app:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: app.run("boss", "x", session_id="s1"))
            await slow.has_begun.wait()
            assert app.interrupt("s1", by="ada")
        boss, child = app.turn("s1"), app.turn(child_of(app, "s1"))
        assert app.unfinished() == []
    assert boss.end == Interrupted(by="ada")
    assert child.end == Interrupted(by="the turn that it is part of")
    assert (boss.counters.model_calls, boss.counters.tool_calls) == (2, 2)


async def test_the_deadline_of_the_calling_turn_holds_for_the_nested_one(root: Path) -> None:
    """M-15, M-42: the helper has no deadline of its own, and gets what is left of the boss's."""
    write_agent(root, "boss", boss_script("helper"), more=f"{BOSS}budget:\n  deadline_seconds: 0.5\n")
    slow = Slow()
    async with oribi.open(root, tools=[slow.count]) as app:
        result = await app.run("boss", "x", session_id="s1")
        child = app.turn(child_of(app, "s1"))
    assert isinstance(result.end, DeadlinePassed)
    assert child.started is not None
    limit = child.started.policy.limits.deadline_seconds
    assert limit is not None
    assert 0 < limit <= 0.5
    assert isinstance(child.end, DeadlinePassed | Interrupted)


async def test_after_a_crash_the_nested_turn_goes_on_where_it_stood(root: Path) -> None:
    """G1, G2: the same session, no second one; a process that is killed leaves both turns open."""
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    slow = Slow()
    async with oribi.open(root, tools=[slow.count]) as app:
        async with anyio.create_task_group() as group:

            async def begin() -> None:
                await app.run("boss", "x", session_id="s1")

            group.start_soon(begin)
            await slow.has_begun.wait()
            group.cancel_scope.cancel()
        first = child_of(app, "s1")
    slow.may_end.set()
    async with oribi.open(root, tools=[slow.count]) as app:
        result = await app.resume("s1")
        assert child_of(app, "s1") == first
        assert app.unfinished() == []
        settled = [event for event in events_of(app, "s1") if isinstance(event, ToolSettled)]
    assert len(settled) == 1
    assert isinstance(result.end, Completed)


# --- a tool's own turn ------------------------------------------------------------------------------------------------


@dataclass
class Page:
    url: str
    title: str


@dataclass
class Report:
    text: str
    sources: list[int]


@oribi.tool(effect="pure", for_reasoning="Search the pages.", project=lambda pages: f"{len(pages)} pages found")
def search(query: str) -> list[Page]:
    """Search."""
    return [Page(url=f"http://x/{query}", title=query)]


ABOUT: list[Outcome[Report]] = []


@oribi.tool(effect="idempotent")
async def research(question: str, here: Invocation) -> str:
    """Look something up."""
    turn = oribi.Turn(instructions="Search, then report.", tools=[search], answer=Report)
    outcome = await turn.run(question, within=here)
    ABOUT.append(outcome)
    return outcome.answer.text if outcome.answer is not None else "nothing came of it"


def research_script(*inner: Json) -> Json:
    """The outer agent asks for research; the inner turn, on the same model, writes JSON actions."""
    rules: list[Json] = [{"when": {"input": "^go", "step": 1}, "reply": call("research", question="cats")}]
    rules.append({"when": {"input": "^go"}, "reply": {"text": "so: {last}"}})
    for place, said in enumerate(inner):
        rules.append({"when": {"position": place}, "reply": {"text": json.dumps(said)}})
    return {"rules": rules}


def call(tool: str, **arguments: Json) -> Json:
    return {"calls": [{"name": tool, "arguments": arguments}]}


SEARCH: Json = {"type": "search", "input": {"query": "cats"}}
ANSWER: Json = {"type": "answer", "text": "cats are fine", "sources": [1]}


async def test_a_tool_runs_a_turn_of_its_own_with_typed_observations_and_a_typed_answer(root: Path) -> None:
    """M-22, M-23, M-24, M-28: a subset of the tools, the whole value kept beside what the model read of it."""
    ABOUT.clear()
    write_agent(root, "ops", research_script(SEARCH, ANSWER), more="tools: [research, search]\n")
    async with oribi.open(root, tools=[research, search]) as app:
        result = await app.run("ops", "go", session_id="s1")
        inner = app.turn(ABOUT[0].session_id)
    (outcome,) = ABOUT
    assert result.end == Completed(text="so: cats are fine")
    assert outcome.answer == Report(text="cats are fine", sources=[1])
    (seen,) = outcome.of(search)
    assert (seen.arguments, seen.value) == ({"query": "cats"}, [Page(url="http://x/cats", title="cats")])
    assert isinstance(seen.result, Succeeded)
    assert seen.result.text == "1 pages found"
    assert inner.started is not None
    assert [tool.name for tool in inner.started.tools] == ["search"]
    assert inner.started.instructions == "Search, then report."
    assert result.counters.model_calls == 4


async def test_a_turn_of_its_own_tells_how_it_ended(root: Path) -> None:
    """M-29, M-38: a typed end and what was found, for the tool to make the best of."""
    ABOUT.clear()
    write_agent(root, "ops", research_script(SEARCH, SEARCH, SEARCH), more="tools: [research, search]\n")
    async with oribi.open(root, tools=[research, search]) as app:
        result = await app.run("ops", "go", session_id="s1")
    (outcome,) = ABOUT
    assert outcome.answer is None
    assert type(outcome.end).__name__ in {"Unfinished", "MaxSteps"}
    assert len(outcome.of(search)) == 1
    assert result.end == Completed(text="so: nothing came of it")


async def test_a_turn_of_its_own_has_no_tool_that_its_caller_has_not(root: Path) -> None:
    """M-25, M-28, C-22: what is not in the calling turn's catalogue cannot be had by way of a tool."""

    @oribi.tool(effect="pure", for_reasoning="Look.")
    async def peek(here: Invocation) -> str:
        """Look."""
        turn = oribi.Turn(instructions="Count.", tools=[count], answer=str)
        return str((await turn.run("go", within=here)).answer)

    script: Json = {"rules": [{"when": {"step": 1}, "reply": call("peek")}, {"when": {}, "reply": {"text": "{last}"}}]}
    write_agent(root, "ops", script, more="tools: [peek, count]\npolicy:\n  catalogue: for_reasoning\n")
    async with oribi.open(root, tools=[peek, count]) as app:
        result = await app.run("ops", "go", session_id="s1")
    assert isinstance(result.end, Completed)
    assert "'count', which the turn that calls it has not" in result.end.text
    assert result.counters.tool_calls == 1


async def test_a_tool_calls_another_tool_which_is_judged_recorded_and_counted(root: Path) -> None:
    """M-11, M-28: a query nested in a step shares its budget: the second has no room any more."""

    @oribi.tool(effect="idempotent")
    async def twice(query: str, here: Invocation) -> str:
        """Search twice."""
        found = [await oribi.call_tool(search, {"query": query}, within=here, part=part) for part in ("a", "b")]
        return " | ".join(type(each.result).__name__ for each in found)

    script: Json = {
        "rules": [
            {"when": {"step": 1}, "reply": call("twice", query="x")},
            {"when": {}, "reply": {"text": "{last}"}},
        ]
    }
    write_agent(root, "ops", script, more="tools: [twice, search]\nbudget:\n  tool_calls: 2\n")
    async with oribi.open(root, tools=[twice, search]) as app:
        result = await app.run("ops", "go", session_id="s1")
        judged = [app.turn(row.session_id) for row in app.sessions() if row.session_id != "s1"]
    assert result.end == Completed(text="Succeeded | Denied")
    assert result.counters.tool_calls == 2
    assert len(judged) == 2


async def test_turns_and_the_turns_within_them_replay_exactly(root: Path) -> None:
    """G5: the calling session by what its calls gave and charged, each nested one by itself."""
    write_agent(root, "other", {"rules": [{"when": {}, "reply": {"text": "other here"}}]})
    more = "tools: [delegate]\ndelegates: [helper, other]\npolicy:\n  parallel_calls: 2\n"
    write_agent(root, "boss", boss_script("helper", "other"), more=more)
    write_agent(root, "ops", research_script(SEARCH, ANSWER), more="tools: [research, search]\n")
    async with oribi.open(root, tools=[count, research, search]) as app:
        await app.run("boss", "x", session_id="s1")
        await app.run("ops", "go", session_id="s2")
        rows = app.sessions()
        replayed = [await app.replay(row.session_id) for row in rows]
    assert len(rows) == 5
    assert [each.divergence for each in replayed] == [None] * 5


async def test_turns_made_for_calls_that_run_at_once_are_not_mixed_up(root: Path) -> None:
    """M-20, M-22: the same tool for two people at the same time; each call has its own instructions and arguments."""
    paid: list[str] = []

    @oribi.tool(effect="idempotent")
    def pay(to: str) -> str:
        """Pay."""
        paid.append(to)
        return f"paid {to}"

    @oribi.tool(effect="idempotent")
    async def shop(who: str, here: Invocation) -> str:
        """Buy something."""
        turn = oribi.Turn(instructions=f"You serve {who}.", tools=[], answer=str, policy=LoopPolicy(max_steps=0))
        told = await turn.run("hello", within=here)
        bill = await oribi.call_tool(pay, {"to": who}, within=here)
        return f"{bill.value} {told.session_id}"

    script: Json = {
        "rules": [
            {"when": {"input": "(?P<who>ada|bob)", "step": 1}, "reply": call("shop", who="{who}")},
            {"when": {"tool": "shop"}, "reply": {"text": "{last}"}},
            {"when": {}, "reply": {"text": "hello"}},
        ]
    }
    write_agent(root, "ops", script, more="tools: [shop, pay]\n")
    said: dict[str, str] = {}
    async with oribi.open(root, tools=[shop, pay]) as app:

        async def run(who: str) -> None:
            said[who] = (await app.run("ops", who, principal=who)).text

        async with anyio.create_task_group() as group:
            for who in ("ada", "bob"):
                group.start_soon(run, who)
        instructions: dict[str, str] = {}
        for who, text in said.items():
            started = app.turn(text.split()[-1]).started
            assert started is not None
            instructions[who] = started.instructions
    assert sorted(paid) == ["ada", "bob"]
    assert {who: text.split()[1] for who, text in said.items()} == {"ada": "ada", "bob": "bob"}
    assert instructions == {"ada": "You serve ada.", "bob": "You serve bob."}


async def test_a_caller_that_is_only_put_aside_leaves_its_nested_turn_open(root: Path) -> None:
    """G2, M-17: a deploy or a closed client is no stop: both turns go on later, and nothing paid for is thrown away."""
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    slow = Slow()
    async with oribi.open(root, tools=[slow.count]) as app:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: app.run("boss", "x", session_id="s1"))
                await slow.has_begun.wait()
                scope.cancel()
        child = child_of(app, "s1")
        assert (app.turn("s1").is_open, app.turn(child).is_open) == (True, True)
        slow.may_end.set()
        result = await app.resume("s1")
        assert child_of(app, "s1") == child
    assert isinstance(result.end, Completed)
    assert result.end.text.startswith("all: counted")


async def test_what_was_cut_off_is_not_run_beside_what_is_new(root: Path) -> None:
    """M-17: after a crash a nested turn has its part already; what is new gets a part of what that one leaves."""
    more = "tools: [delegate]\ndelegates: [helper]\nbudget:\n  model_calls: 8\npolicy:\n  parallel_calls: 2\n"
    write_agent(root, "boss", boss_script("helper", "helper", "helper"), more=more)
    slow = Slow()
    async with oribi.open(root, tools=[slow.count]) as app:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: app.run("boss", "x", session_id="s1"))
                await slow.have_begun.wait()
                scope.cancel()
    slow.may_end.set()
    async with oribi.open(root, tools=[slow.count]) as app:
        result = await app.resume("s1")
        shares = [
            turn.started.policy.limits.model_calls
            for row in app.sessions()
            if row.session_id != "s1" and (turn := app.turn(row.session_id)).started is not None
        ]
    assert sorted(shares, key=str)[:2] == [3, 3]
    assert result.counters.model_calls <= 8
    assert len(shares) == 3


async def test_a_projected_value_that_cannot_be_stored_as_it_is_is_mended(root: Path) -> None:
    """G1: a file name or an API's text with half a character does not break the record of what was done."""

    @oribi.tool(project=lambda names: f"{len(names)} names")
    def names() -> list[str]:
        """List."""
        return ["caf\ud83d", "ok"]

    script: Json = {"rules": [{"when": {"step": 1}, "reply": call("names")}, {"when": {}, "reply": {"text": "{last}"}}]}
    write_agent(root, "ops", script, more="tools: [names]\n")
    async with oribi.open(root, tools=[names]) as app:
        result = await app.run("ops", "go", session_id="s1")
        again = app.turn("s1").messages
    (found,) = result.evidence
    assert found.result == Succeeded(text="2 names", value=["caf\ufffd", "ok"])
    assert found in again


async def test_what_was_withdrawn_cannot_be_had_by_way_of_another_tool(root: Path) -> None:
    """M-20, M-21: a tool withdrawn from the calling turn is in no turn within it."""
    runs: list[str] = []

    @oribi.tool(effect="idempotent")
    def danger() -> str:
        """Do it."""
        runs.append("danger")
        return "done"

    @oribi.tool(effect="idempotent")
    async def wrap(here: Invocation) -> str:
        """Do it for me."""
        await app.revoke("danger is off", tool="danger", session_id="s1")
        return "told"

    @oribi.tool(effect="idempotent")
    async def wrap_again(here: Invocation) -> str:
        """Do it for me."""
        return str((await oribi.call_tool(danger, {}, within=here)).result)

    calls: Json = {"calls": [{"name": "wrap", "arguments": {}}, {"name": "wrap_again", "arguments": {}}]}
    script: Json = {"rules": [{"when": {"step": 1}, "reply": calls}, {"when": {}, "reply": {"text": "{last}"}}]}
    write_agent(root, "ops", script, more="tools: [wrap, wrap_again, danger]\n")
    async with oribi.open(root, tools=[wrap, wrap_again, danger]) as app:
        result = await app.run("ops", "go", session_id="s1")
    assert runs == []
    assert isinstance(result.end, Completed)
    assert "'danger', which the turn that calls it has not" in result.end.text


async def put_aside(root: Path, slow: Slow) -> str:
    """Leave a delegating turn where a closed client leaves it: it is open, and so is the turn within; its session."""
    async with oribi.open(root, tools=[slow.count]) as app:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: app.run("boss", "x", session_id="s1"))
                await slow.has_begun.wait()
                scope.cancel()
        return child_of(app, "s1")


async def test_a_worker_continues_the_calling_turn_and_the_one_within_once(root: Path) -> None:
    """G1, G2: the turn within is its caller's to continue, also where a worker finds both open."""
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    slow = Slow()
    child = await put_aside(root, slow)
    slow.may_end.set()
    async with oribi.open(root, tools=[slow.count]) as app:
        assert set(app.unfinished()) == {"s1", child}
        await app.work(anyio.Event(), leave_when_done=True)
        assert app.unfinished() == []
        ends = [app.turn(name).end for name in ("s1", child)]
    assert [type(end) for end in ends] == [Completed, Completed]
    assert slow.runs == 1  # the cut-off call of a tool that may not be repeated is Unknown to the helper's model


async def test_a_worker_ends_a_nested_turn_whose_caller_is_over(root: Path) -> None:
    """M-21: nothing goes on in the dark for a caller that was stopped while nobody ran it."""
    write_agent(root, "boss", boss_script("helper"), more=BOSS)
    slow = Slow()
    child = await put_aside(root, slow)
    async with oribi.open(root, tools=[slow.count]) as app:
        await app.post("s1", oribi.Interrupt(by="ada"))
        assert (await app.resume("s1")).end == Interrupted(by="ada")
        assert app.turn(child).is_open
        await app.work(anyio.Event(), leave_when_done=True)
        assert app.unfinished() == []
        assert app.turn(child).end == Interrupted(by="the end of the turn that it is part of")


async def test_after_a_crash_what_is_new_gets_a_part_of_what_the_one_cut_off_leaves(root: Path) -> None:
    """M-17: 9 model calls, less the boss's 1, the first's 1 and the second's 2, leave 5 for the third."""
    write_agent(root, "other", {"rules": [{"when": {}, "reply": {"text": "other here"}}]})
    more = "tools: [delegate]\ndelegates: [helper, other]\nbudget:\n  model_calls: 9\npolicy:\n  parallel_calls: 2\n"
    write_agent(root, "boss", boss_script("other", "helper", "other"), more=more)
    slow = Slow()
    await put_aside(root, slow)
    slow.may_end.set()
    async with oribi.open(root, tools=[slow.count]) as app:
        await app.resume("s1")
        charged = {event.child: None for event in events_of(app, "s1") if isinstance(event, CallCharged)}
        children = [app.turn(name).started for name in charged]
    shares = [started.policy.limits.model_calls for started in children if started is not None]
    assert shares == [4, 4, 5]
