"""Generated sessions: legal ones, played by `decide` and `apply` in a random world, and events in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from oribi.core.budget import Limits
from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    Failed,
    Malformed,
    SessionId,
    Succeeded,
    ToolCall,
    ToolResult,
    ToolSpec,
    TurnId,
    Unknown,
    Verdict,
)
from oribi.core.ends import BudgetSpent, Completed, Interrupted, MaxSteps, TurnEnd
from oribi.core.errors import FaultKind
from oribi.core.events import (
    CallJudged,
    Event,
    FilesRead,
    InterruptAsked,
    ModelAsked,
    ModelFaulted,
    ModelReplied,
    Recorded,
    RevokeAsked,
    SessionOpened,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from oribi.core.messages import Reply, Usage, UserMessage
from oribi.core.policy import LoopPolicy
from tests.core.story import MODEL, NO_REQUEST, OPENED, SECOND, SESSION, TOOLS, Play

if TYPE_CHECKING:
    from oribi.core.decide import CallModel
    from oribi.core.turn import Turn

MOST_CALLS = 3
"""Calls in one generated reply."""

texts = st.sampled_from(["", "so far", "\u2028 é", "Observation: done"])
few = st.integers(0, 4)
call_ids = st.sampled_from([CallId("a"), CallId("b"), CallId("c")])
tool_names = st.sampled_from([*(tool.name for tool in TOOLS), "ghost"])
fault_kinds: st.SearchStrategy[FaultKind] = st.sampled_from(
    [
        "network",
        "rate",
        "overloaded",
        "timeout",
        "protocol",
        "cut_off",
        "auth",
        "bad_request",
        "context_length",
        "context_length",
    ]
)
usages = st.builds(Usage, input_tokens=st.none() | st.integers(0, 50), output_tokens=st.none() | st.integers(0, 50))
calls = st.builds(
    ToolCall,
    id=call_ids,
    name=tool_names,
    arguments=st.just({"path": "a"}) | st.just(Malformed(text="{", problem="cut")),
)


def _reply(text: str, calls: list[ToolCall], usage: Usage) -> Reply:
    return Reply(text=text, calls=tuple(calls), stop="tool_calls" if calls else "stop", usage=usage)


several_calls = st.lists(calls, min_size=MOST_CALLS, max_size=MOST_CALLS, unique_by=lambda each: each.id)
some_calls = several_calls | st.lists(calls, min_size=1, max_size=MOST_CALLS, unique_by=lambda each: each.id)
answers = st.builds(_reply, texts, st.just(list[ToolCall]()), usages)
requests = st.builds(_reply, texts, some_calls, usages)
sloppy_replies = st.builds(_reply, texts, st.lists(calls, max_size=MOST_CALLS), usages)
"""Replies in which two calls may share an id."""
verdicts: st.SearchStrategy[Verdict] = st.sampled_from(
    [Allow(rule="x"), Allow(rule="y"), Allow(rule="w"), Deny(rule="z", reason="no")]
)
results: st.SearchStrategy[ToolResult] = st.one_of(
    st.builds(Succeeded, text=texts),
    st.builds(Failed, text=texts, retryable=st.booleans()),
    st.builds(Denied, reason=texts, rule=st.just("in the tool")),
    st.builds(Unknown, reason=texts),
)
files_read = st.builds(
    FilesRead,
    bootstrap=texts,
    skills=texts,
    memory=texts,
    memory_read=few,
    sources=st.just(("AGENTS.md",)),
)
limits = st.builds(
    Limits,
    model_calls=st.sampled_from([None, None, None, None, 6, 2, 0]),
    tool_calls=st.sampled_from([None, 1, 2, 4, 7, 0]),
    total_tokens=st.sampled_from([None, None, None, None, 400, 60, 0]),
    deadline_seconds=st.sampled_from([None, None, None, None, 60.0, 4.5, 0.0]),
)
policies = st.builds(
    LoopPolicy,
    max_steps=st.sampled_from([4, 3, 2, 4, 1, 4, 0]),
    max_history_turns=st.integers(-1, 3),
    max_asks=st.integers(1, 3),
    max_starts=st.integers(1, 3),
    retry_seconds=st.sampled_from([0.0, 0.5, 4.0]),
    limits=limits,
)
catalogues = st.just(TOOLS) | st.lists(st.sampled_from(TOOLS), unique_by=lambda tool: tool.name).map(
    tuple[ToolSpec, ...]
)
waits = st.sampled_from([None, 0.0, 1.5, 1e9, float("inf"), float("nan"), -1.0])


starts = st.builds(
    TurnStarted,
    turn_id=st.just(TurnId("t1")) | st.just(TurnId("t2")),
    input=st.builds(UserMessage, text=texts),
    agent=st.just("ops"),
    model=st.just(MODEL),
    policy=policies,
    tools=catalogues,
    instructions=texts,
    datetime_line=texts,
)
faults = st.builds(
    ModelFaulted, step=few, attempt=few, kind=fault_kinds, message=st.just("no"), retry_after_seconds=waits
)
luck = st.integers(0, 11)
rare_luck = st.integers(0, 31)
ticks = st.sampled_from([0, 0, 1, SECOND // 3, 3 * SECOND, -SECOND])
turn_counts = st.integers(1, 3)


def most_decisions(policy: LoopPolicy) -> int:
    """More decisions than any turn under `policy` can need when every cut-off leaves a record of its effect's start.

    A step: `max_asks` model calls, one judging, each call started at most `max_starts` times, each call written off;
    then the end and the rest.
    """
    return policy.max_steps * (policy.max_asks + 1 + MOST_CALLS * policy.max_starts + MOST_CALLS) + 3


@dataclass(slots=True, kw_only=True)
class RandomWorld:
    """A world in which anything may happen; None stands for a crash after the effect's start was recorded."""

    draw: st.DrawFn
    clock: int = 0

    def now(self) -> int:
        return self.clock

    def happens(self, turn: Turn) -> Event | None:
        self.clock += self.draw(ticks)
        match self.draw(rare_luck):
            case n if n > 20 and turn.wants_model:
                return self.draw(files_read)
            case 7 if turn.is_open:
                return InterruptAsked(by="ada")
            case 13 if turn.is_open:
                return RevokeAsked(what="tool send")
            case _:
                return None

    def reply(self, ask: CallModel) -> Reply | ModelFaulted | None:
        self.clock += self.draw(ticks)
        match self.draw(luck):
            case 8 | 9:
                return None
            case 10 | 11:
                return replace(self.draw(faults), step=ask.step, attempt=ask.attempt)
            case 6 | 7:
                return self.draw(answers)
            case _:
                return self.draw(requests)

    def judge(self, call: ToolCall) -> Verdict:
        return self.draw(verdicts)

    def run(self, call: ToolCall) -> ToolResult | None:
        self.clock += self.draw(ticks)
        return None if self.draw(luck) > 7 else self.draw(results)


@st.composite
def _sessions(draw: st.DrawFn) -> Play:
    play = Play()
    play.record(OPENED)
    world = RandomWorld(draw=draw)
    for number in range(1, draw(turn_counts) + 1):
        started = replace(draw(starts), turn_id=TurnId(f"t{number}"))
        play.record(started, at=world.now())
        play.drive(world, most_decisions=most_decisions(started.policy))
    return play


sessions = _sessions()
"""Legal sessions of up to three turns, each driven to its end; any prefix of the records is what a crash leaves."""

ends: st.SearchStrategy[TurnEnd] = st.sampled_from(
    [Completed(text=""), MaxSteps(limit=1, text=""), Interrupted(by="x"), BudgetSpent(limit="x", text="")]
)
ended = st.builds(TurnEnded, end=ends)
any_events: st.SearchStrategy[Event] = st.one_of(
    st.builds(SessionOpened, agent=texts, principal=texts, channel=texts),
    starts,
    files_read,
    st.builds(ModelAsked, step=few, attempt=few, request=st.just(NO_REQUEST)),
    st.builds(ModelReplied, step=few, attempt=few, reply=answers | requests | sloppy_replies),
    faults,
    st.builds(CallJudged, step=few, call_id=call_ids, verdict=verdicts),
    st.builds(ToolStarted, step=few, call_id=call_ids),
    st.builds(ToolSettled, step=few, call_id=call_ids, result=results),
    st.builds(InterruptAsked, by=texts),
    st.builds(RevokeAsked, what=texts),
    ended,
)
turn_ids = st.sampled_from([None, TurnId("t1"), TurnId("t2")])
times = st.integers(0, 100 * SECOND)
odds = st.integers(0, 19)


def likely_event(draw: st.DrawFn, turn: Turn) -> Event:
    """An event that may well follow in `turn`, so that chance reaches the depths of a session, not only its start."""
    step, attempt = turn.step, turn.attempt
    call_id = draw(call_ids)
    match draw(odds):
        case 0:
            return draw(ended)
        case 1 | 2:
            return ModelAsked(step=step, attempt=attempt + 1, request=NO_REQUEST)
        case 3:
            return replace(draw(faults), step=step, attempt=attempt)
        case 4 | 5 | 6:
            return CallJudged(step=step, call_id=call_id, verdict=draw(verdicts))
        case 7 | 8 | 9:
            return ToolStarted(step=step, call_id=call_id)
        case 10 | 11 | 12:
            return ToolSettled(step=step, call_id=call_id, result=draw(results))
        case _ if not turn.is_open:
            return draw(starts)
        case _ if turn.asked:
            return ModelReplied(step=step, attempt=attempt, reply=draw(requests | sloppy_replies))
        case _:
            return ModelAsked(step=step + 1, attempt=1, request=NO_REQUEST)


@st.composite
def any_records(draw: st.DrawFn, turn: Turn) -> Recorded:
    """Some record that claims to follow in `turn`: usually in its place, sometimes not."""
    off = draw(odds)
    event = draw(any_events) if off < 6 else likely_event(draw, turn)
    turn_id = turn.started.turn_id if turn.started else None
    if isinstance(event, SessionOpened | TurnStarted):
        turn_id = event.turn_id if isinstance(event, TurnStarted) else None
    return Recorded(
        session_id=SessionId("s2") if off == 19 else SESSION,
        seq=draw(few) if off == 18 else turn.seq + 1,
        turn_id=draw(turn_ids) if off == 17 else turn_id,
        at=draw(times),
        event=event,
    )
