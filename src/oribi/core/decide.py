"""What a turn does next: questions in priority order, each a pure function; the first that has an answer decides.

`decide` never waits and never changes anything. It is only asked between effects, so an effect that has begun and has
no result was cut off: by an interrupt, a deadline, a deploy or a crash, which are all one case.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING

from oribi.core.actions import (
    Action,
    CallModel,
    CheckAnswer,
    End,
    Judge,
    Probe,
    Record,
    Rest,
    RunTools,
    WriteOff,
)
from oribi.core.budget import calls_left, calls_spent, spent_limit
from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    EffectClass,
    Failed,
    FailureClass,
    Succeeded,
    ToolCall,
    ToolResult,
    Unknown,
    told,
)
from oribi.core.compaction import plan_cut, plan_trim
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    TurnEnd,
    Unfinished,
)
from oribi.core.errors import RECOVERABLE, TRANSIENT, FaultKind
from oribi.core.estimate import prompt_bytes
from oribi.core.events import NoticeGiven, WrapUpBegan
from oribi.core.messages import ToolMessage, UserMessage
from oribi.core.prompt import Prompt, is_last_call, is_last_step, most_steps, prompt_for, tokens_left
from oribi.core.repeats import key_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from oribi.core.events import ModelFaulted, TurnStarted
    from oribi.core.turn import CallProgress, Turn


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


def may_try_again(turn: Turn, call: ToolCall, failed: Failed) -> bool:
    """Whether another attempt of `call` may follow the one that `failed` (C-5, Y-7)."""
    progress, started = turn.calls[call.id], turn.started
    if started is None or not failed.retryable:
        return False
    is_repeatable = _effect(turn, progress) in ("pure", "idempotent")
    return is_repeatable and progress.attempts + 1 < started.policy.tool_attempts


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


def _has_run_its_command(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Was the turn a command, which needs no model, and has it run?"""
    del now
    if started.command is None or not turn.runs_command or turn.unsettled:
        return None
    if isinstance(turn.messages[-1], UserMessage):  # a person has joined in, and is answered by the model
        return None
    if turn.quota is not None:
        return End(end=BudgetSpent(limit=turn.quota, text=""))
    result = turn.calls[started.command.id].result
    if isinstance(result, Succeeded):
        return End(end=Completed(text=told(result)))
    return End(end=ToolFailed(tool=started.command.name, message=told(result) if result is not None else ""))


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
    is_over = not turn.runs_command and is_last_step(turn, started, turn.step)
    lost = [progress for progress in cut_off if is_over or not _may_start_again(turn, started, progress)]
    return WriteOff(settled=tuple((each.call.id, _cut_off(each)) for each in lost)) if lost else None


def _has_failed_for_good(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Did a call fail in a way that its turn does not simply go on from?"""
    del now
    for progress in turn.calls.values():
        if not isinstance(progress.result, Failed):
            continue
        reason = f"{progress.call.name} failed: {progress.result.text}"
        match _failure_class(turn, started, progress, progress.result):
            case "terminal":
                return _stop(turn, ToolFailed(tool=progress.call.name, message=progress.result.text))
            case "recoverable" if started.policy.degrade == "wrap_up" and _may_wrap_up_evidence(turn, started):
                return Record(event=WrapUpBegan(reason=reason))
            case _:
                pass
    return None


def _has_calls_that_may_not_run(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Are there calls that may not run, whatever policy says of each?"""
    del now
    if not turn.unsettled:
        return None
    refused = tuple(
        (progress.call.id, denied)
        for place, progress in enumerate(turn.calls.values())
        if progress.is_new and progress.result is None and (denied := _refusal(turn, started, progress, place))
    )
    return WriteOff(settled=refused) if refused else None


def _refusal(turn: Turn, started: TurnStarted, progress: CallProgress, place: int) -> Denied | None:
    """Why a call that has not begun may not; `place` is its place in the reply, from 0."""
    name = progress.call.name
    spec = turn.tools.get(name)
    if not turn.runs_command and is_last_call(turn, started, turn.step):
        return Denied(rule="final-only", reason="this step was for the answer; no tool may run in it")
    if started.policy.calls_per_step == "one" and place > 0:
        return Denied(rule="one-call", reason="only one call runs in a step; ask for this one in the next")
    if name in turn.withdrawn:
        return Denied(rule="revoked", reason=f"{name} was withdrawn while the turn ran")
    if started.policy.confirm_writes and spec is not None and spec.writes:
        return Denied(rule="confirmation", reason=f"{name} needs a person's confirmation, and nobody can be asked")
    return None


def _has_unjudged_calls(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Are there calls without a verdict?"""
    del started, now
    calls = tuple(progress.call for progress in _unsettled(turn) if progress.verdict is None)
    return Judge(calls=calls) if calls else None


def _has_repeated_calls(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Was a call made before in this turn?"""
    del now
    policy = started.policy
    if policy.repeat not in ("block", "finalize"):
        return None
    made = {key for key, times in turn.keys.items() if times > 0}
    repeated: list[CallProgress] = []
    for progress in _unsettled(turn):
        key = _repeat_key(turn, progress)
        if key is None or not progress.is_new:
            continue
        if key in made:
            repeated.append(progress)
        made.add(key)
    if not repeated:
        return None
    if policy.repeat == "finalize" and _may_wrap_up(turn, started):
        return Record(event=WrapUpBegan(reason=f"{repeated[0].call.name} was asked for again, with the same input"))
    refused = Denied(rule="repeat", reason="this call was made before in this turn; use its result above")
    return WriteOff(settled=tuple((progress.call.id, refused) for progress in repeated))


def _has_allowed_calls(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Are there allowed calls without a result?"""
    del now
    waiting = _unsettled(turn)
    if not waiting:
        return None
    for progress in waiting:
        if progress.fault is not None:
            return _try_again(turn, started, progress, progress.fault)
    beyond = _beyond_budget(turn, started, waiting)
    if len(beyond) == len(waiting):  # no tool may run, but the model may still answer: a turn ends in words if it can
        return WriteOff(settled=tuple(beyond.items()))
    calls = tuple(progress.call for progress in waiting if progress.call.id not in beyond)
    return RunTools(calls=calls, at_once=started.policy.parallel_calls)


def _try_again(turn: Turn, started: TurnStarted, progress: CallProgress, fault: Failed) -> Action:
    """Try a call again whose last attempt failed; where budget or time leave no room, that failure is its result."""
    place = f"{progress.call.id}/{progress.attempts}"
    wait_seconds = _doubled(turn, started.policy.tool_retry_seconds, progress.attempts - 1, place)
    not_before = progress.fault_at + int(wait_seconds * 1e6)
    deadline = deadline_of(turn, started)
    is_over = deadline is not None and not_before >= deadline
    if not turn.runs_command:
        is_over = is_over or is_last_step(turn, started, turn.step)
    if is_over or _beyond_budget(turn, started, [progress]):
        return WriteOff(settled=((progress.call.id, fault),))
    return RunTools(calls=(progress.call,), not_before=not_before)


def _has_said_nothing_usable(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Has the model answered with nothing, or with what does not fit the output schema?"""
    del now
    if turn.reply is None or turn.reply.calls or turn.messages[-1] is not turn.reply:
        return None
    kind: FaultKind = "empty"
    problem, again = "it is empty", ". Answer again, or call a tool."
    if turn.checked is not None:
        kind, problem = "schema", f"it does not fit the output schema: {turn.checked.problem}"
    elif turn.reply.text.strip():  # a JSON action that is none; what is wrong with it says what to send instead
        kind, problem, again = "protocol", turn.reply.problem, ""
    if turn.notices >= started.policy.max_notices:
        return End(end=ModelFailed(kind=kind, message=f"the model's answer cannot be used: {problem}"))
    return Record(event=NoticeGiven(step=turn.step, text=f"Your answer cannot be used: {problem}{again}"))


def _repeats_itself(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Has a call been made so often that the model is to be reminded?"""
    del now
    policy = started.policy
    if policy.repeat != "remind" or not turn.calls or not isinstance(turn.messages[-1], ToolMessage):
        return None
    if turn.counters.steps >= most_steps(policy):  # nobody would read it
        return None
    for progress in turn.calls.values():
        key = _repeat_key(turn, progress)
        if key is None:
            continue
        times = turn.keys.get(key, 0)
        if times >= policy.remind_after:
            said = f"You have called {progress.call.name} with the same input {times} times in this turn."
            text = f"{said} Use what it gave, try another way, or answer."
            return Record(event=NoticeGiven(step=turn.step, text=text))
    return None


def _repeat_key(turn: Turn, progress: CallProgress) -> str | None:
    """What makes an allowed call a repeat of another; None where it is none whatever came before (C-8)."""
    spec = turn.tools.get(progress.call.name)
    if not isinstance(progress.verdict, Allow) or (spec is not None and spec.may_repeat):
        return None
    return key_of(progress.call, progress.verdict)


def _has_to_be_routed(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Is the model to choose the turn's mode first?"""
    del now
    if not turn.is_unrouted:
        return None
    if spent := _spent(turn, started):
        return End(end=BudgetSpent(limit=spent, text=""))
    if turn.asked and turn.attempt >= started.policy.max_asks:
        return End(end=ModelFailed(kind="cut_off", message="the call that chooses the turn's mode was cut off"))
    prompt = prompt_for(turn, started, step=0)
    if end := _beyond_bounds(turn, started, prompt):
        return end
    return CallModel(prompt=prompt, step=0, attempt=turn.attempt + 1 if turn.asked else 1)


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
        return _give_up(turn, started, end)
    if spent := _spent(turn, started):
        return End(end=BudgetSpent(limit=spent, text=_last_text(turn)))
    return _ask(turn, started, turn.step, turn.attempt + 1, choice=choice, not_before=not_before)


def _give_up(turn: Turn, started: TurnStarted, end: ModelFailed) -> Action:
    """The model cannot be asked any more: end, or wrap up what was found, once and within what is left (M-36)."""
    if turn.wrap_up is not None:
        return End(end=Unfinished(reason=turn.wrap_up))
    is_recoverable = end.kind in RECOVERABLE and started.policy.degrade == "wrap_up"
    if is_recoverable and _may_wrap_up_evidence(turn, started):
        return Record(event=WrapUpBegan(reason=f"the model could not answer ({end.kind}): {end.message}"))
    return End(end=end)


def _has_used_its_steps(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Are all steps used?"""
    del now
    if turn.wrap_up is not None and turn.step >= turn.last_step:
        return End(end=Unfinished(reason=turn.wrap_up))
    limit = most_steps(started.policy)
    text = "" if started.policy.cap_outcome == "fixed_text" else _last_text(turn)
    return End(end=MaxSteps(limit=limit, text=text)) if turn.counters.steps >= limit else None


def _has_spent_its_budget(turn: Turn, started: TurnStarted, now: int) -> Action | None:
    """Is the budget spent?"""
    del now
    spent = _spent(turn, started)
    return End(end=BudgetSpent(limit=spent, text=_last_text(turn))) if spent else None


QUESTIONS: tuple[Callable[[Turn, TurnStarted, int], Action | None], ...] = (
    _is_revoked,
    _is_interrupted,
    _has_answered,
    _has_run_its_command,
    _is_late,
    _has_cut_off_calls,
    _has_failed_for_good,
    _has_calls_that_may_not_run,
    _has_unjudged_calls,
    _has_repeated_calls,
    _has_allowed_calls,
    _has_said_nothing_usable,
    _repeats_itself,
    _has_to_be_routed,
    _lost_its_model_call,
    _has_used_its_steps,
    _has_spent_its_budget,
)
"""The order is the policy of the loop; tests/core/test_decide.py pins it."""


def deadline_of(turn: Turn, started: TurnStarted) -> int | None:
    """When the turn's time is up (microseconds since the epoch), None for never."""
    seconds = started.policy.limits.deadline_seconds
    return None if seconds is None else turn.started_at + int(seconds * 1e6)


def _ask(turn: Turn, started: TurnStarted, step: int, attempt: int, *, choice: int = 0, not_before: int = 0) -> Action:
    """Ask the model, if the prompt is within its bounds: trimmed first where it has to be (C-9, T-17)."""
    if trim := plan_trim(turn, started, step):
        return Record(event=trim)
    prompt = prompt_for(turn, started, step=step, choice=choice)
    if end := _beyond_bounds(turn, started, prompt):
        return end
    return CallModel(prompt=prompt, step=step, attempt=attempt, choice=choice, not_before=not_before)


def _beyond_bounds(turn: Turn, started: TurnStarted, prompt: Prompt) -> End | None:
    """The end of a turn whose next prompt is larger than may be sent, or than the budget has room for."""
    most = started.policy.limits.input_bytes
    if most is not None and prompt_bytes(prompt) > most:
        return End(end=BudgetSpent(limit="input_bytes", text=_last_text(turn)))
    if (left := tokens_left(turn, started, prompt)) is not None and left <= 0:
        return End(end=BudgetSpent(limit="total_tokens", text=_last_text(turn)))
    return None


def _may_wrap_up(turn: Turn, started: TurnStarted) -> bool:
    """Whether there is a step and a call left for an answer: nothing is added for it (M-37), and there is only one."""
    has_room = turn.counters.steps < most_steps(started.policy) and _spent(turn, started) is None
    return turn.wrap_up is None and has_room


def _may_wrap_up_evidence(turn: Turn, started: TurnStarted) -> bool:
    """Whether there is something found to answer from, too."""
    return _may_wrap_up(turn, started) and turn.has_evidence


def _spent(turn: Turn, started: TurnStarted) -> str | None:
    """What leaves no room for another model call: the person's daily quota, or a limit of the turn."""
    return turn.quota or spent_limit(turn.counters, started.policy.limits)


def _failure_class(turn: Turn, started: TurnStarted, progress: CallProgress, failed: Failed) -> FailureClass:
    """The class of a failure: what the agent's policy says of its tool, else what it says itself, else its tool's."""
    name = progress.call.name
    spec = turn.tools.get(name)
    own = failed.kind or (spec.failure if spec is not None else "model_visible")
    return started.policy.failures.get(name, own)


def _shrink(turn: Turn, started: TurnStarted, fault: ModelFaulted) -> Action:
    """Ask again with less; never with the same bytes. A prompt that cannot shrink any more ends the turn."""
    if turn.cut is None or (turn.cut.step, turn.cut.attempt) != (fault.step, fault.attempt):
        cut = plan_cut(turn, started, fault)
        return End(end=ContextExhausted(message=fault.message)) if cut is None else Record(event=cut)
    if spent := _spent(turn, started):
        return End(end=BudgetSpent(limit=spent, text=_last_text(turn)))
    return _ask(turn, started, turn.step, turn.attempt + 1, choice=turn.choice)


def _stop(turn: Turn, end: TurnEnd) -> Action:
    """End the turn, but answer its open calls first: a stored history never holds an unanswered call."""
    open_calls = tuple((progress.call.id, _cut_off(progress)) for progress in _unsettled(turn))
    return WriteOff(settled=open_calls) if open_calls else End(end=end)


def _cut_off(progress: CallProgress) -> ToolResult:
    if progress.fault is not None:
        return progress.fault
    if progress.probe is not None and progress.probe.found is not None:
        return progress.probe.found
    if progress.probe is not None:
        return Failed(text="cut off each time before it happened; it has not happened", retryable=True)
    if progress.started:
        return Unknown(
            reason=f"{progress.call.name} was cut off before its result arrived; it may or may not have happened"
        )
    return Denied(rule="turn-stopped", reason="the turn was stopped before this call ran")


def _beyond_budget(turn: Turn, started: TurnStarted, waiting: list[CallProgress]) -> dict[CallId, ToolResult]:
    """Those of the `waiting` calls that the budget has no room for, each with what its model is told.

    A call that was cut off is not among them: it was counted when it started.
    """
    limits = started.policy.limits
    left = 0 if turn.quota is not None else calls_left(turn.counters, limits)
    writes_left = calls_left(turn.counters, limits, writes=True)
    beyond: dict[CallId, ToolResult] = {}
    for progress in waiting:
        if progress.started:
            continue
        spec = turn.tools.get(progress.call.name)
        writes = spec is None or spec.writes
        if left == 0:
            of = f"all {limits.tool_calls} tool calls" if calls_spent(turn.counters, limits) else "all calls"
            reason = f"{of} of this turn are used; answer with what you have"
        elif writes and writes_left == 0:
            reason = "this turn may not change anything more; look, or answer with what you have"
        else:
            left = None if left is None else left - 1
            writes_left = writes_left if writes_left is None else writes_left - writes
            continue
        beyond[progress.call.id] = Denied(rule="budget", reason=reason)
    return beyond


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
    """How long to wait before asking again, in seconds: what the provider asked for, else doubling waits."""
    asked_for = fault.retry_after_seconds
    if asked_for is not None and math.isfinite(asked_for):
        return max(0.0, asked_for)
    policy = started.policy
    doubled = _doubled(turn, policy.retry_seconds, turn.asks_of_choice - 1, f"{fault.step}/{fault.attempt}")
    return min(doubled, policy.longest_wait_seconds)


def _doubled(turn: Turn, first_seconds: float, times: int, place: str) -> float:
    """A wait that has doubled so many `times`, in seconds.

    It is spread by up to a quarter, the same for the same `place` of the same session, so that many sessions do not
    come back at once and a turn decides the same whenever it is asked.
    """
    spread = zlib.crc32(f"{turn.session_id}/{place}".encode()) / 2**32
    return first_seconds * 2.0 ** min(times, 32) * (1 + spread / 4)


def _last_text(turn: Turn) -> str:
    """The model's last words; what was to be a JSON action and is none is not shown to anybody (M-38)."""
    return "" if turn.reply is None or turn.reply.problem else turn.reply.text
