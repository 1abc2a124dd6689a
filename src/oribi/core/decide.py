"""What a turn does next: questions in priority order, each a pure function; the first that has an answer decides.

`decide` never waits and never changes anything. It is only asked between effects, so an effect that has begun and has
no result was cut off: by an interrupt, a deadline, a deploy or a crash, which are all one case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from oribi.core.budget import calls_left, spent_limit
from oribi.core.calls import CallId, Denied, ToolCall, ToolResult, Unknown
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
from oribi.core.errors import TRANSIENT
from oribi.core.prompt import Prompt, build_prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from oribi.core.events import ModelFaulted, TurnStarted
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
    """Ask the model, not before `not_before` (microseconds since the epoch)."""

    prompt: Prompt
    step: int
    attempt: int
    not_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """Run these calls, in this order (Y-13)."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOff:
    """Settle these calls without running them: they were cut off and may not be repeated, or may not run any more."""

    settled: tuple[tuple[CallId, ToolResult], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """End the turn."""

    end: TurnEnd


LONGEST_WAIT_SECONDS = 3600.0
"""The longest wait before a model is asked again, whatever its provider asks for (be it infinity or no number)."""

Action: TypeAlias = Rest | Judge | CallModel | RunTools | WriteOff | End


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
    return "Nothing stands against it: ask the model.", _ask(turn, turn.started, turn.step + 1, 1)


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
    del started, now
    if turn.reply is not None and not turn.reply.calls:
        return End(end=Completed(text=turn.reply.text))
    return None


def _is_late(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Has the turn's deadline passed?"""
    deadline = deadline_of(turn, started)
    return _stop(turn, DeadlinePassed(text=_last_text(turn))) if deadline is not None and now >= deadline else None


def _has_cut_off_calls(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Was a call that may not be repeated cut off?"""
    del now
    cut_off = tuple(
        (progress.call.id, _cut_off(progress))
        for progress in _unsettled(turn)
        if progress.started and not _may_start_again(turn, started, progress)
    )
    return WriteOff(settled=cut_off) if cut_off else None


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
    if left == 0:  # no tool may run any more, but the model may still answer: a turn ends in words where it can
        return WriteOff(settled=tuple((progress.call.id, _beyond_budget(progress, started)) for progress in waiting))
    return RunTools(calls=tuple(progress.call for progress in waiting[:left]))


def _lost_its_model_call(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Was a model call cut off, or did it fail?"""
    if turn.asked:
        kind, message, not_before = "cut_off", "the model call was cut off before its reply arrived", now
    elif turn.fault is not None:
        kind, message, not_before = turn.fault.kind, turn.fault.message, turn.fault_at + _backoff(turn.fault, started)
    else:
        return None
    if kind == "context_length":
        return End(end=ContextExhausted(message=message))
    deadline = deadline_of(turn, started)
    gives_up = (
        (kind != "cut_off" and kind not in TRANSIENT)
        or turn.attempt >= started.policy.max_asks
        or (deadline is not None and not_before >= deadline)
    )
    if gives_up:
        return End(end=ModelFailed(kind=kind, message=message))
    if spent := spent_limit(turn.counters, started.policy.limits):
        return End(end=BudgetSpent(limit=spent, text=_last_text(turn)))
    return _ask(turn, started, turn.step, turn.attempt + 1, not_before)


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
    _lost_its_model_call,
    _has_used_its_steps,
    _has_spent_its_budget,
)
"""The order is the policy of the loop; tests/core/test_decide.py pins it."""


def deadline_of(turn: Turn, started: TurnStarted) -> int | None:
    """When the turn's time is up (microseconds since the epoch), None for never."""
    seconds = started.policy.limits.deadline_seconds
    return None if seconds is None else turn.started_at + int(seconds * 1e6)


def _ask(turn: Turn, started: TurnStarted, step: int, attempt: int, not_before: int = 0) -> CallModel:
    return CallModel(prompt=build_prompt(turn, started), step=step, attempt=attempt, not_before=not_before)


def _stop(turn: Turn, end: TurnEnd) -> Action:
    """End the turn, but answer its open calls first: a stored history never holds an unanswered call."""
    open_calls = tuple((progress.call.id, _cut_off(progress)) for progress in _unsettled(turn))
    return WriteOff(settled=open_calls) if open_calls else End(end=end)


def _cut_off(progress: CallProgress) -> ToolResult:
    if progress.started:
        return Unknown(
            reason=f"{progress.call.name} was cut off before its result arrived; it may or may not have happened"
        )
    return Denied(rule="turn-stopped", reason="the turn was stopped before this call ran")


def _beyond_budget(progress: CallProgress, started: TurnStarted) -> ToolResult:
    if progress.started:
        return _cut_off(progress)
    limit = started.policy.limits.tool_calls
    return Denied(rule="budget", reason=f"all {limit} tool calls of this turn are used; answer with what you have")


def _unsettled(turn: Turn) -> list[CallProgress]:
    return [progress for progress in turn.calls.values() if progress.result is None] if turn.unsettled else []


def _may_start_again(turn: Turn, started: TurnStarted, progress: CallProgress) -> bool:
    """Whether a repeat does no harm (G1), and the call has not brought the runtime down too often already."""
    tool = turn.tools.get(progress.call.name)
    is_repeatable = tool is not None and tool.effect in ("pure", "idempotent")
    return is_repeatable and progress.starts < started.policy.max_starts


def _backoff(fault: ModelFaulted, started: TurnStarted) -> int:
    """How long to wait before asking again, in microseconds: what the provider asked for, else doubling; capped."""
    seconds = fault.retry_after_seconds
    if seconds is None:
        seconds = started.policy.retry_seconds * 2.0 ** min(fault.attempt - 1, 32)
    return int(max(0.0, min(LONGEST_WAIT_SECONDS, seconds)) * 1e6)


def _last_text(turn: Turn) -> str:
    return turn.reply.text if turn.reply is not None else ""
