"""What a turn does next: questions in priority order, each a pure function; the first that has an answer decides.

`decide` never waits and never changes anything. It is only asked between effects, so an effect that has begun and has
no result was cut off: by an interrupt, a deadline, a deploy or a crash, which are all one case.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from oribi.core.budget import calls_left, spent_limit
from oribi.core.calls import CallId, Denied, EffectClass, Failed, ToolCall, ToolResult, Unknown
from oribi.core.compaction import plan_cut
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    TurnEnd,
)
from oribi.core.errors import TRANSIENT, FaultKind
from oribi.core.events import NoticeGiven
from oribi.core.prompt import Prompt, build_prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from oribi.core.calls import JsonObject
    from oribi.core.events import ContextCut, ModelFaulted, TurnStarted
    from oribi.core.turn import CallProgress, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Nothing to do: no turn is open. `end` is how the last one ended, None when there was none."""

    end: TurnEnd | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Ask policy about these calls."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel:
    """Ask the model number `choice` (0: the agent's), not before `not_before` (microseconds since the epoch)."""

    prompt: Prompt
    step: int
    attempt: int
    choice: int = 0
    not_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """Run these calls, in this order (Y-13)."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Ask the world whether this call, which was cut off, has happened (G1)."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOff:
    """Settle these calls without running them: they were cut off and may not be repeated, or may not run any more."""

    settled: tuple[tuple[CallId, ToolResult], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """End the turn."""

    end: TurnEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """Hold the final answer against the output schema."""

    text: str
    schema: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Record this fact: the model is told something, or less of the conversation is sent. Nothing else happens."""

    event: NoticeGiven | ContextCut


Action: TypeAlias = Rest | Judge | CallModel | RunTools | Probe | WriteOff | CheckAnswer | Record | End


def decide(turn: Turn, now: int) -> Action:
    """What `turn` does next at the time `now` (microseconds since the epoch)."""
    return explain(turn, now)[1]


def explain(turn: Turn, now: int) -> tuple[str, Action]:
    """The question that decides, in words, and the action it leads to."""
    if turn.started is None or turn.end is not None:
        return "Is there an open turn? No.", Rest(end=turn.end)
    for question in QUESTIONS:
        action = question(turn, turn.started, now)
        if action is not None:
            return question.__doc__ or question.__name__, action
    ask = _ask(turn, turn.started, turn.step + 1, 1, choice=turn.choice)  # a turn stays with the model that answered
    return "Nothing stands against it: ask the model.", ask


def _is_revoked(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Was something the turn depends on revoked?"""
    del started, now
    return _stop(turn, Revoked(what=turn.revoked.what)) if turn.revoked else None


def _is_interrupted(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Did somebody ask the turn to stop?"""
    del started, now
    return _stop(turn, Interrupted(by=turn.interrupted.by)) if turn.interrupted else None


def _has_answered(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Has the model answered without asking for a tool?"""
    del now
    if turn.reply is None or not turn.has_answer:
        return None
    if started.output_schema is None:
        return End(end=Completed(text=turn.reply.text))
    if turn.checked is None:
        return CheckAnswer(text=turn.reply.text, schema=started.output_schema)
    if turn.checked.problem is None:
        return End(end=Completed(text=turn.reply.text, value=turn.checked.value))
    return None


def _is_late(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Has the turn's deadline passed?"""
    deadline = deadline_of(turn, started)
    return _stop(turn, DeadlinePassed(text=_last_text(turn))) if deadline is not None and now >= deadline else None


def _has_cut_off_calls(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Was a call that may not be repeated cut off?"""
    del now
    cut_off = [progress for progress in _unsettled(turn) if progress.started]
    for progress in cut_off:
        if progress.probe is None and _effect(turn, progress) == "reconcilable":
            return Probe(call=progress.call)
    lost = [progress for progress in cut_off if not _may_start_again(turn, started, progress)]
    return WriteOff(settled=tuple((each.call.id, _cut_off(each)) for each in lost)) if lost else None


def _has_unjudged_calls(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Are there calls without a verdict?"""
    del started, now
    calls = tuple(progress.call for progress in _unsettled(turn) if progress.verdict is None)
    return Judge(calls=calls) if calls else None


def _has_allowed_calls(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Are there allowed calls without a result?"""
    del now
    waiting = _unsettled(turn)
    if not waiting:
        return None
    left = calls_left(turn.counters, started.policy.limits)
    new = [progress.call.id for progress in waiting if not progress.started]  # the others were counted at their start
    beyond = set(new if left == 0 else () if left is None else new[left:])
    if len(beyond) == len(waiting):  # no tool may run, but the model may still answer: a turn ends in words if it can
        return WriteOff(settled=tuple((progress.call.id, _beyond_budget(started)) for progress in waiting))
    return RunTools(calls=tuple(progress.call for progress in waiting if progress.call.id not in beyond))


def _has_said_nothing_usable(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Has the model answered with nothing, or with what does not fit the output schema?"""
    del now
    if turn.reply is None or turn.reply.calls or turn.messages[-1] is not turn.reply:
        return None
    kind: FaultKind = "empty" if turn.checked is None else "schema"
    problem = "it is empty" if turn.checked is None else f"it does not fit the output schema: {turn.checked.problem}"
    if turn.notices >= started.policy.max_notices:
        return End(end=ModelFailed(kind=kind, message=f"the model's answer cannot be used: {problem}"))
    text = f"Your answer cannot be used: {problem}. Answer again, or call a tool."
    return Record(event=NoticeGiven(step=turn.step, text=text))


def _lost_its_model_call(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Was a model call cut off, or did it fail?"""
    if turn.fault is not None and turn.fault.kind == "context_length":
        return _shrink(turn, started, turn.fault)
    if turn.asked:
        end = ModelFailed(kind="cut_off", message="the model call was cut off before its reply arrived")
        not_before, may_help = now, True
    elif turn.fault is not None:
        end = ModelFailed(kind=turn.fault.kind, message=turn.fault.message)
        wait_seconds = _wait(turn, started, turn.fault)
        not_before, may_help = turn.fault_at + int(wait_seconds * 1e6), turn.fault.kind in TRANSIENT
        if may_help and wait_seconds > started.policy.longest_wait_seconds:
            wait = f"it asks to wait {wait_seconds:g} s, longer than this turn waits; try again then"
            end, may_help = ModelFailed(kind=end.kind, message=f"{end.message} ({wait})"), False
    else:
        return None
    may_help = may_help and turn.asks_of_choice < started.policy.max_asks
    choice = turn.choice
    if not may_help and choice < len(started.fallbacks):
        choice, not_before, may_help = choice + 1, now, True
    deadline = deadline_of(turn, started)
    if not may_help or (deadline is not None and not_before >= deadline):
        return End(end=end)
    if spent := spent_limit(turn.counters, started.policy.limits):
        return End(end=BudgetSpent(limit=spent, text=_last_text(turn)))
    return _ask(turn, started, turn.step, turn.attempt + 1, choice=choice, not_before=not_before)


def _has_used_its_steps(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Are all steps used?"""
    del now
    limit = started.policy.max_steps
    return End(end=MaxSteps(limit=limit, text=_last_text(turn))) if turn.counters.steps >= limit else None


def _has_spent_its_budget(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Is the budget spent?"""
    del now
    spent = spent_limit(turn.counters, started.policy.limits)
    return End(end=BudgetSpent(limit=spent, text=_last_text(turn))) if spent else None


QUESTIONS: tuple[Callable[[Turn, TurnStarted, int], Action | None], ...] = (
    _is_revoked,
    _is_interrupted,
    _has_answered,
    _is_late,
    _has_cut_off_calls,
    _has_unjudged_calls,
    _has_allowed_calls,
    _has_said_nothing_usable,
    _lost_its_model_call,
    _has_used_its_steps,
    _has_spent_its_budget,
)
"""The order is the policy of the loop; tests/core/test_decide.py pins it."""


def deadline_of(turn: Turn, started: TurnStarted) -> int | None:
    """When the turn's time is up (microseconds since the epoch), None for never."""
    seconds = started.policy.limits.deadline_seconds
    return None if seconds is None else turn.started_at + int(seconds * 1e6)


def _ask(
    turn: Turn, started: TurnStarted, step: int, attempt: int, *, choice: int = 0, not_before: int = 0
) -> CallModel:
    prompt = build_prompt(turn, started, choice=choice)
    return CallModel(prompt=prompt, step=step, attempt=attempt, choice=choice, not_before=not_before)


def _shrink(turn: Turn, started: TurnStarted, fault: ModelFaulted) -> Action:
    """Ask again with less; never with the same bytes. A prompt that cannot shrink any more ends the turn."""
    if turn.cut is None or (turn.cut.step, turn.cut.attempt) != (fault.step, fault.attempt):
        cut = plan_cut(turn, started, fault)
        return End(end=ContextExhausted(message=fault.message)) if cut is None else Record(event=cut)
    if spent := spent_limit(turn.counters, started.policy.limits):
        return End(end=BudgetSpent(limit=spent, text=_last_text(turn)))
    return _ask(turn, started, turn.step, turn.attempt + 1, choice=turn.choice)


def _stop(turn: Turn, end: TurnEnd) -> Action:
    """End the turn, but answer its open calls first: a stored history never holds an unanswered call."""
    open_calls = tuple((progress.call.id, _cut_off(progress)) for progress in _unsettled(turn))
    return WriteOff(settled=open_calls) if open_calls else End(end=end)


def _cut_off(progress: CallProgress) -> ToolResult:
    if progress.probe is not None and progress.probe.found is not None:
        return progress.probe.found
    if progress.probe is not None:
        return Failed(text="cut off each time before it happened; it has not happened", retryable=True)
    if progress.started:
        return Unknown(
            reason=f"{progress.call.name} was cut off before its result arrived; it may or may not have happened"
        )
    return Denied(rule="turn-stopped", reason="the turn was stopped before this call ran")


def _beyond_budget(started: TurnStarted) -> ToolResult:
    limit = started.policy.limits.tool_calls
    return Denied(rule="budget", reason=f"all {limit} tool calls of this turn are used; answer with what you have")


def _unsettled(turn: Turn) -> list[CallProgress]:
    return [progress for progress in turn.calls.values() if progress.result is None] if turn.unsettled else []


def _effect(turn: Turn, progress: CallProgress) -> EffectClass:
    tool = turn.tools.get(progress.call.name)
    return "once" if tool is None else tool.effect


def _may_start_again(turn: Turn, started: TurnStarted, progress: CallProgress) -> bool:
    """Whether a repeat does no harm (G1), and the call has not brought the runtime down too often already."""
    did_not_happen = progress.probe is not None and progress.probe.found is None
    is_repeatable = did_not_happen or _effect(turn, progress) in ("pure", "idempotent")
    return is_repeatable and progress.starts < started.policy.max_starts


def _wait(turn: Turn, started: TurnStarted, fault: ModelFaulted) -> float:
    """How long to wait before asking again, in seconds: what the provider asked for, else doubling waits.

    The doubling waits are spread by up to a quarter, the same for the same step of the same session, so that many
    sessions do not come back at once and a turn decides the same whenever it is asked.
    """
    asked_for = fault.retry_after_seconds
    if asked_for is not None and math.isfinite(asked_for):
        return max(0.0, asked_for)
    policy = started.policy
    spread = zlib.crc32(f"{turn.session_id}/{fault.step}/{fault.attempt}".encode()) / 2**32
    doubled = policy.retry_seconds * 2.0 ** min(turn.asks_of_choice - 1, 32) * (1 + spread / 4)
    return min(doubled, policy.longest_wait_seconds)


def _last_text(turn: Turn) -> str:
    return turn.reply.text if turn.reply is not None else ""
