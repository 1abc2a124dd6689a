"""Generated sessions: legal ones, played by `decide` and `apply` in a random world, and events in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from oribi.core.budget import Limits, Spent, share_of, total_of
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
    CallCharged,
    CallJudged,
    CallProbed,
    CallResolved,
    ContextCut,
    ContextTrimmed,
    Erased,
    Event,
    FilesRead,
    InputAdded,
    InterruptAsked,
    ModeChosen,
    ModelAsked,
    ModelChosen,
    ModelFaulted,
    ModelReplied,
    NoticeGiven,
    QuotaReached,
    Recorded,
    RevokeAsked,
    SessionOpened,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.messages import Reply, ToolMessage, Usage, UserMessage
from oribi.core.modes import Mode
from oribi.core.policy import LoopPolicy
from oribi.core.prompt import most_steps, speaks_actions
from tests.core.story import (
    BOOK,
    LAST,
    LOOK,
    MODEL,
    NO_REQUEST,
    NUMBER,
    OPENED,
    SECOND,
    SEND,
    SESSION,
    SET,
    SPARE,
    TOOLS,
    Play,
    call,
    faulted,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.actions import CallModel
    from oribi.core.turn import Turn

MOST_CALLS = 3
"""Calls in one generated reply."""
MOST_ASKS = 3
"""Asks of one step, by a generated policy."""

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
    arguments=st.sampled_from([{"path": "a"}, {"path": "a"}, {"path": "b"}, Malformed(text="{", problem="cut")]),
)


def _reply(text: str, calls: list[ToolCall], usage: Usage) -> Reply:
    return Reply(text=text, calls=tuple(calls), stop="tool_calls" if calls else "stop", usage=usage)


def _action(call: ToolCall, usage: Usage) -> Reply:
    return replace(_reply("", [call], usage), action=True)


several_calls = st.lists(calls, min_size=MOST_CALLS, max_size=MOST_CALLS, unique_by=lambda each: each.id)
some_calls = several_calls | st.lists(calls, min_size=1, max_size=MOST_CALLS, unique_by=lambda each: each.id)
answers = st.builds(_reply, texts, st.just(list[ToolCall]()), usages)
requests = st.builds(_reply, texts, some_calls, usages)
failed_actions = st.builds(
    Reply,
    text=st.just("{}"),
    usage=usages,
    action=st.sampled_from([True]),
    problem=st.just("it is a final answer without a text"),
)
"""What was to be a JSON action and is none, as it was read."""
sloppy_replies = st.builds(_reply, texts, st.lists(calls, max_size=MOST_CALLS), usages)
"""Replies in which two calls may share an id."""
requested_actions = st.builds(_action, calls, usages)
routings = st.none() | st.builds(
    _reply, st.sampled_from(["deep", " fast\n", "none", ""]), st.just(list[ToolCall]()), usages
)
verdicts: st.SearchStrategy[Verdict] = st.sampled_from(
    [Allow(rule="x"), Allow(rule="y", key="k"), Allow(rule="w"), Deny(rule="z", reason="no")]
)
results: st.SearchStrategy[ToolResult] = st.one_of(
    st.builds(Succeeded, text=long_texts),
    st.builds(
        Failed,
        text=long_texts,
        retryable=st.sampled_from([True, False]),
        kind=st.sampled_from([None, None, None, "recoverable", "model_visible", "terminal"]),
    ),
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
limits = st.just(Limits()) | st.builds(
    Limits,
    model_calls=st.sampled_from([None, None, None, 6, None, None, None, 2, None, None, None, 0]),
    tool_calls=st.sampled_from([None, 1, 2, 4, 7, 0]),
    total_steps=st.sampled_from([None, None, None, 9, None, None, None, 3, None, None, None, 0]),
    write_calls=st.sampled_from([None, None, 1, 2, 0]),
    input_bytes=st.sampled_from([None, None, None, None, None, 4_000, None, None, None, None, None, 500]),
    output_tokens=st.sampled_from([None, None, 20]),
    total_tokens=st.sampled_from([None, None, None, 4_000, None, None, None, 400, None, None, None, 60]),
    deadline_seconds=st.sampled_from([None, None, None, 60.0, None, None, None, 4.5, None, None, None, 0.0]),
)
policies = st.builds(
    LoopPolicy,
    protocol=st.sampled_from(["native", "native", "native", "native", "json_action"]),
    calls_per_step=st.sampled_from(["many", "many", "many", "one"]),
    parallel_calls=st.integers(1, 3),
    cap_outcome=st.sampled_from(["last_response", "last_response", "fixed_text", "final_only"]),
    degrade=st.sampled_from(["none", "wrap_up"]),
    tool_attempts=st.sampled_from([1, 3, 2]),
    tool_retry_seconds=st.sampled_from([0.0, 0.5]),
    failures=st.sampled_from([{}, {}, {"look": "recoverable"}, {"set": "terminal"}]),
    repeat=st.sampled_from(["allow", "block", "finalize", "remind", "block"]),
    remind_after=st.integers(1, 3),
    confirm_writes=st.sampled_from([False, False, False, True]),
    token_budget=st.sampled_from([None, None, None, 500, None, None, None, 5]),
    keep_messages=st.integers(0, 4),
    estimator=st.sampled_from(["cjk_aware", "chars4"]),
    summary=st.sampled_from(["off", "extractive"]),
    max_steps=st.sampled_from([4, 3, 4, 2, 4, 4, 1, 4, 4, 0]),
    max_history_turns=st.integers(-1, 3),
    max_asks=st.integers(1, MOST_ASKS),
    max_starts=st.integers(1, 3),
    retry_seconds=st.sampled_from([0.0, 0.5, 4.0]),
    longest_wait_seconds=st.sampled_from([60.0, 60.0, 0.0]),
    max_notices=st.integers(0, 2),
    limits=limits,
)
BESIDE = (
    replace(LOOK, parallel=True, may_repeat=True),
    replace(SET, parallel=True, failure="recoverable", owner="plug"),
    replace(BOOK, parallel=True),
    replace(SEND, owner="plug"),
)
"""The tools of the story with other declarations: three may run side by side, two come from a plug-in."""
catalogues = st.sampled_from([TOOLS, BESIDE, TOOLS, BESIDE]) | st.lists(
    st.sampled_from(TOOLS), unique_by=lambda tool: tool.name
).map(tuple[ToolSpec, ...])
MODES = (Mode(name="deep", description="Hard questions."), Mode(name="fast"))
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
    routes=st.sampled_from([(), (), (), (), (), (), (), MODES]),
    command=st.sampled_from([None] * 9 + [call("a"), call("a", "send")]),
)
chosen_modes = st.builds(ModeChosen, mode=texts, policy=policies, tools=catalogues, instructions=texts)
revocations = st.sampled_from(
    [
        RevokeAsked(what="tool send", tool="send"),
        RevokeAsked(what="tool book", tool="book"),
        RevokeAsked(what="tool look", tool="look"),
        RevokeAsked(what="the plug-in", owner="plug"),
        RevokeAsked(what="the person"),
    ]
)
trims = st.builds(
    ContextTrimmed, history_turns=few, steps_left_out=few, removed=few, tokens_before=few, tokens_after=few
)
spendings = st.builds(Spent, model_calls=few, tool_calls=few, write_calls=few, input_tokens=few, output_tokens=few)
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
quotas = st.sampled_from([99, 99, 99, 4, 99, 99, 99, 9, 99, 99])
downs = st.sampled_from([0, 0, 0, 1, 0, 0, 2, 0, 0, 3])


def most_decisions(started: TurnStarted) -> int:
    """More decisions than a turn with what it was `started` with needs, if nothing happens beside it.

    Every cut-off leaves a record of the effect's start. A step: the model's calls, each with a trim before it; one
    judging; of each call each start of each attempt, a probe after it, a refusal or what becomes of it, and a quota
    that is found used up; then a refusal of repeats, a check of the answer, a notice. A turn: its router's calls, a cut
    of each level and the call that follows it, one wrap-up; the end and the rest.
    """
    policy = started.policy
    call = policy.tool_attempts * 2 * policy.max_starts + 3
    step = 2 * most_asks(started) + 1 + MOST_CALLS * call + 3
    return most_steps(policy) * step + MOST_ASKS + 4 * len(LEVELS) + 1 + 3


def most_asks(started: TurnStarted) -> int:
    """More model calls than one step can need that is not cut."""
    return started.policy.max_asks * (1 + len(started.fallbacks))


@dataclass(slots=True, kw_only=True)
class RandomWorld:
    """A world in which anything may happen; None stands for a crash after the effect's start was recorded.

    Models take prompts of up to `window` characters; the first `down` of them are out of order. `quota` is how many
    calls the person still has this day.
    """

    draw: st.DrawFn
    window: int
    down: int
    quota: int
    clock: int = 0
    speaks_actions: bool = False

    def now(self) -> int:
        return self.clock

    def happens(self, turn: Turn) -> Event | None:
        self.clock += self.draw(ticks)
        self.speaks_actions = turn.started is not None and speaks_actions(turn.started.policy)
        match self.draw(rare_luck):
            case n if n > 20 and turn.wants_model:
                return self.draw(files_read)
            case 7 if turn.is_open:
                return InterruptAsked(by="ada")
            case 13 | 14 if turn.is_open:
                return self.draw(revocations)
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

    def mode(self, turn: Turn) -> ModeChosen:
        return self.draw(chosen_modes)

    def quota_spent(self) -> bool:
        self.quota -= 1
        return self.quota < 0

    def nested(self, turn: Turn, call: ToolCall, among: int) -> list[Spent]:
        """Mostly nothing; else what a nested turn may well spend, once or twice."""
        if turn.started is None or self.draw(luck) > 1:
            return []
        share = share_of(turn.counters, turn.started.policy.limits, among=among)
        before = total_of(turn.calls[call.id].charged.values())
        first = Spent(model_calls=self.draw(_up_to(share.model_calls, share.total_steps)))
        rest = None if share.total_steps is None else share.total_steps - first.model_calls
        tools = self.draw(_up_to(share.tool_calls, rest))
        writes = self.draw(_up_to(share.write_calls, tools))
        later = replace(first, tool_calls=tools, write_calls=writes, input_tokens=self.draw(few))
        return [total_of([before, first]), total_of([before, later])]

    def finish(self, group: Sequence[ToolCall]) -> Sequence[ToolCall]:
        return group if len(group) == 1 else self.draw(st.permutations(group))

    def reply(self, ask: CallModel) -> Reply | ModelFaulted | None:
        self.clock += self.draw(ticks)
        if ask.step == 0:
            return self.draw(routings) or faulted("network", step=0, attempt=ask.attempt)
        if characters(ask.prompt) > self.window:
            return faulted("context_length", step=ask.step, attempt=ask.attempt)
        match self.draw(rare_luck):
            case n if ask.choice < self.down and n < 28:
                return faulted("network", step=ask.step, attempt=ask.attempt)
            case 1 | 2:
                return None
            case 3 | 4:
                return replace(self.draw(faults), step=ask.step, attempt=ask.attempt)
            case 6 | 7 if self.speaks_actions:
                return self.draw(failed_actions)
            case 5 | 6 | 7 | 8 | 9:
                return self.draw(answers)
            case _ if self.speaks_actions:
                return self.draw(requested_actions)
            case _:
                return self.draw(requests)

    def judge(self, call: ToolCall) -> Verdict:
        return self.draw(verdicts)

    def run(self, call: ToolCall) -> ToolResult | None:
        self.clock += self.draw(ticks)
        match self.draw(luck):
            case 9 | 10 | 11:
                return None
            case 7 | 8:
                return Failed(text="busy", retryable=True)
            case _:
                return self.draw(results)

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
    world = RandomWorld(draw=draw, window=draw(windows), down=draw(downs), quota=draw(quotas))
    for number in range(1, draw(turn_counts) + 1):
        started = replace(draw(starts), turn_id=TurnId(f"t{number}"))
        play.record(started, at=world.now())
        play.drive(world, most_decisions=most_decisions)
    return play


def _up_to(*limits: int | None) -> st.SearchStrategy[int]:
    return st.integers(0, min((2, *(limit for limit in limits if limit is not None))))


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
    st.builds(ToolFaulted, step=few, call_id=call_ids, result=st.just(Failed(text="busy", retryable=True))),
    st.builds(CallCharged, step=few, call_id=call_ids, spent=spendings, child=st.just(SessionId("s2"))),
    chosen_modes,
    trims,
    st.builds(WrapUpBegan, reason=texts),
    st.builds(QuotaReached, limit=texts),
    st.builds(CallProbed, step=few, call_id=call_ids, found=st.none() | results),
    st.builds(CallResolved, call_turn=turn_names, step=few, call_id=call_ids, result=results, by=texts),
    st.builds(InputAdded, input=st.builds(UserMessage, text=texts)),
    st.builds(ModelChosen, model=st.just(MODEL)),
    st.builds(Erased, rows=st.just(()), by=texts),
    st.builds(InterruptAsked, by=texts),
    revocations,
    ended,
)
turn_ids = st.sampled_from([None, TurnId("t1"), TurnId("t2")])
times = st.integers(0, 100 * SECOND)
odds = st.integers(0, 25)


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
        case 20 if turn.unsettled:
            return ToolFaulted(step=step, call_id=call_id, result=Failed(text="busy", retryable=True))
        case 21 if turn.unsettled:
            return CallCharged(step=step, call_id=call_id, spent=draw(spendings), child=SessionId("s2"))
        case 22 if turn.is_unrouted:
            return ModelAsked(step=0, attempt=attempt + turn.asked or 1, request=NO_REQUEST)
        case 22 | 23 if turn.is_unrouted and turn.route is not None:
            return draw(chosen_modes)
        case 23 if turn.is_open:
            return draw(trims)
        case 24 if turn.is_open:
            return WrapUpBegan(reason=draw(texts))
        case 25 if turn.is_open:
            return draw(revocations)
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
