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
from oribi.core.compaction import LEVELS, characters
from oribi.core.ends import BudgetSpent, Completed, Interrupted, MaxSteps, TurnEnd
from oribi.core.errors import FaultKind
from oribi.core.events import (
    AnswerChecked,
    CallJudged,
    CallProbed,
    CallResolved,
    ContextCut,
    Erased,
    Event,
    FilesRead,
    InputAdded,
    InterruptAsked,
    ModelAsked,
    ModelChosen,
    ModelFaulted,
    ModelReplied,
    NoticeGiven,
    Recorded,
    RevokeAsked,
    SessionOpened,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from oribi.core.messages import Reply, ToolMessage, Usage, UserMessage
from oribi.core.policy import LoopPolicy
from tests.core.story import LAST, MODEL, NO_REQUEST, NUMBER, OPENED, SECOND, SESSION, SPARE, TOOLS, Play, faulted

if TYPE_CHECKING:
    from oribi.core.decide import CallModel
    from oribi.core.turn import Turn

MOST_CALLS = 3
"""Calls in one generated reply."""

texts = st.sampled_from(["", "so far", "\u2028 é", "Observation: done", " \n"])
long_texts = st.sampled_from(["", "the longest " * 1_000, "so far", "longer " * 500, "long " * 150])
"""Texts of results: some are shortened by the first cut, some by the second, some by the last."""
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
    st.builds(Succeeded, text=long_texts),
    st.builds(Failed, text=long_texts, retryable=st.booleans()),
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
    model_calls=st.sampled_from([None, None, None, 6, None, None, None, 2, None, None, None, 0]),
    tool_calls=st.sampled_from([None, 1, 2, 4, 7, 0]),
    total_tokens=st.sampled_from([None, None, None, 400, None, None, None, 60, None, None, None, 0]),
    deadline_seconds=st.sampled_from([None, None, None, 60.0, None, None, None, 4.5, None, None, None, 0.0]),
)
policies = st.builds(
    LoopPolicy,
    max_steps=st.sampled_from([4, 3, 4, 2, 4, 4, 1, 4, 4, 0]),
    max_history_turns=st.integers(-1, 3),
    max_asks=st.integers(1, 3),
    max_starts=st.integers(1, 3),
    retry_seconds=st.sampled_from([0.0, 0.5, 4.0]),
    longest_wait_seconds=st.sampled_from([60.0, 60.0, 0.0]),
    max_notices=st.integers(0, 2),
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
    fallbacks=st.sampled_from([(), (), (SPARE,), (SPARE, LAST)]),
    output_schema=st.sampled_from([None, NUMBER]),
)
problems = st.sampled_from([None, "it is not JSON", "n: it is missing"])
cuts = st.builds(
    ContextCut,
    step=few,
    attempt=few,
    history_turns=few,
    result_characters=st.sampled_from([level[1] for level in LEVELS]),
    characters_before=few,
    characters_after=few,
)
faults = st.builds(
    ModelFaulted, step=few, attempt=few, kind=fault_kinds, message=st.just("no"), retry_after_seconds=waits
)
luck = st.integers(0, 11)
rare_luck = st.integers(0, 31)
ticks = st.sampled_from([0, 0, 1, SECOND // 3, 3 * SECOND, -SECOND])
turn_counts = st.integers(1, 3)
windows = st.sampled_from([1_000_000, 1_000, 1_000, 10_000, 1_000_000, 4_000, 1_000_000, 1_000, 10])
downs = st.sampled_from([0, 0, 0, 1, 0, 0, 2, 0, 0, 3])


def most_decisions(started: TurnStarted) -> int:
    """More decisions than the turn that `started` began needs if every cut-off leaves a record of the effect's start.

    A step: `max_asks` calls of each model, one judging, each call started at most `max_starts` times and probed after
    each, each call written off, or one check of the answer and one notice. A turn: a cut of each level and the call
    that follows it; then the end and the rest.
    """
    asks = most_asks(started)
    step = asks + 1 + MOST_CALLS * 2 * started.policy.max_starts + MOST_CALLS + 2
    return started.policy.max_steps * step + 2 * len(LEVELS) + 3


def most_asks(started: TurnStarted) -> int:
    """More model calls than one step can need that is not cut."""
    return started.policy.max_asks * (1 + len(started.fallbacks))


@dataclass(slots=True, kw_only=True)
class RandomWorld:
    """A world in which anything may happen; None stands for a crash after the effect's start was recorded.

    Models take prompts of up to `window` characters; the first `down` of them are out of order.
    """

    draw: st.DrawFn
    window: int
    down: int
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
            case 3 if turn.is_open:
                return InputAdded(input=UserMessage(text="and this"))
            case 5 if turn.started is not None and (place := last_unknown(turn)) is not None:
                step, call_id = place
                result = self.draw(results)
                return CallResolved(call_turn=turn.started.turn_id, step=step, call_id=call_id, result=result, by="ada")
            case 9:
                return Erased(rows=(), by="ada")
            case _:
                return None

    def reply(self, ask: CallModel) -> Reply | ModelFaulted | None:
        self.clock += self.draw(ticks)
        if characters(ask.prompt) > self.window:
            return faulted("context_length", step=ask.step, attempt=ask.attempt)
        match self.draw(luck):
            case n if ask.choice < self.down and n < 10:
                return faulted("network", step=ask.step, attempt=ask.attempt)
            case 8 | 9:
                return None
            case 10 | 11:
                return replace(self.draw(faults), step=ask.step, attempt=ask.attempt)
            case 4 | 5 | 6 | 7:
                return self.draw(answers)
            case _:
                return self.draw(requests)

    def judge(self, call: ToolCall) -> Verdict:
        return self.draw(verdicts)

    def run(self, call: ToolCall) -> ToolResult | None:
        self.clock += self.draw(ticks)
        return None if self.draw(luck) > 7 else self.draw(results)

    def probe(self, call: ToolCall) -> ToolResult | None:
        self.clock += self.draw(ticks)
        return self.draw(st.sampled_from([None, Succeeded(text="booked")]) | results)

    def check(self, text: str) -> str | None:
        self.clock += self.draw(ticks)
        return self.draw(problems)


@st.composite
def _sessions(draw: st.DrawFn) -> Play:
    play = Play()
    play.record(OPENED)
    world = RandomWorld(draw=draw, window=draw(windows), down=draw(downs))
    for number in range(1, draw(turn_counts) + 1):
        started = replace(draw(starts), turn_id=TurnId(f"t{number}"))
        play.record(started, at=world.now())
        play.drive(world, most_decisions=most_decisions(started))
    return play


def last_unknown(turn: Turn) -> tuple[int, CallId] | None:
    """The step and the id of the last call of the turn whose result is Unknown."""
    step = sum(isinstance(message, Reply) for message in turn.messages)
    for message in reversed(turn.messages):
        if isinstance(message, ToolMessage) and isinstance(message.result, Unknown):
            return step, message.call_id
        step -= isinstance(message, Reply)
    return None


sessions = _sessions()
"""Legal sessions of up to three turns, each driven to its end; any prefix of the records is what a crash leaves."""

turn_names = st.sampled_from([TurnId("t1"), TurnId("t2")])
ends: st.SearchStrategy[TurnEnd] = st.sampled_from(
    [Completed(text=""), MaxSteps(limit=1, text=""), Interrupted(by="x"), BudgetSpent(limit="x", text="")]
)
ended = st.builds(TurnEnded, end=ends)
any_events: st.SearchStrategy[Event] = st.one_of(
    st.builds(SessionOpened, agent=texts, principal=texts, channel=texts),
    starts,
    files_read,
    st.builds(ModelAsked, step=few, attempt=few, request=st.just(NO_REQUEST), choice=st.integers(-1, 3)),
    st.builds(ModelReplied, step=few, attempt=few, reply=answers | requests | sloppy_replies),
    faults,
    cuts,
    st.builds(AnswerChecked, step=few, problem=problems),
    st.builds(NoticeGiven, step=few, text=texts),
    st.builds(CallJudged, step=few, call_id=call_ids, verdict=verdicts),
    st.builds(ToolStarted, step=few, call_id=call_ids),
    st.builds(ToolSettled, step=few, call_id=call_ids, result=results),
    st.builds(CallProbed, step=few, call_id=call_ids, found=st.none() | results),
    st.builds(CallResolved, call_turn=turn_names, step=few, call_id=call_ids, result=results, by=texts),
    st.builds(InputAdded, input=st.builds(UserMessage, text=texts)),
    st.builds(ModelChosen, model=st.just(MODEL)),
    st.builds(Erased, rows=st.just(()), by=texts),
    st.builds(InterruptAsked, by=texts),
    st.builds(RevokeAsked, what=texts),
    ended,
)
turn_ids = st.sampled_from([None, TurnId("t1"), TurnId("t2")])
times = st.integers(0, 100 * SECOND)
odds = st.integers(0, 19)


def likely_event(draw: st.DrawFn, turn: Turn) -> Event:  # noqa: C901, PLR0912 - one match over what may come
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
        case 13 if turn.fault is not None:
            return replace(draw(cuts), step=step, attempt=attempt)
        case 14 if turn.has_answer:
            return AnswerChecked(step=step, problem=draw(problems))
        case 15 if turn.reply is not None:
            return NoticeGiven(step=step, text=draw(texts))
        case 16 if turn.started is not None:
            choice = draw(st.integers(0, len(turn.started.fallbacks)))
            return ModelAsked(step=step, attempt=attempt + 1, request=NO_REQUEST, choice=choice)
        case 17 if turn.unsettled:
            return CallProbed(step=step, call_id=call_id, found=draw(st.none() | results))
        case 18 if turn.started is not None:
            call_turn, of_step = turn.started.turn_id, draw(st.integers(1, max(1, step)))
            return CallResolved(call_turn=call_turn, step=of_step, call_id=call_id, result=draw(results), by="me")
        case 19 if turn.is_open:
            return InputAdded(input=UserMessage(text=draw(texts)))
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
