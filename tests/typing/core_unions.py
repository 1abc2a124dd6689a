"""What the type checker must see in the core's unions. Nothing runs here: `make check` reads it with pyright.

An `assert_type` that no longer holds, and an ignore that is no longer needed, are both errors.
"""

from __future__ import annotations

from typing import assert_type

from oribi.core.actions import Action, CallModel, CheckAnswer, End, Judge, Probe, Record, Rest, RunTools, WriteOff
from oribi.core.budget import Counters, Limits, Spent, calls_left, share_of, spent_limit, tightened
from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    Failed,
    JsonObject,
    Malformed,
    Succeeded,
    ToolCall,
    ToolResult,
    Unknown,
    Verdict,
    told,
)
from oribi.core.decide import decide, explain
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    EndFacts,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    TurnEnd,
    Unfinished,
    facts,
    shown,
)
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
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage
from oribi.core.prompt import Prompt, build_prompt
from oribi.core.results import TurnResult, result_of
from oribi.core.turn import Turn, apply, fold


def decide_gives_one_action_of_a_closed_set(turn: Turn) -> None:
    assert_type(decide(turn, 0), Rest | Judge | CallModel | RunTools | Probe | WriteOff | CheckAnswer | Record | End)
    assert_type(explain(turn, 0), tuple[str, Action])


def each_action_carries_what_its_act_needs(action: Action) -> None:
    match action:
        case Rest(end=end):
            assert_type(end, TurnEnd | None)
        case Judge(calls=calls):
            assert_type(calls, tuple[ToolCall, ...])
        case RunTools(calls=calls, at_once=at_once, not_before=not_before):
            assert_type(calls, tuple[ToolCall, ...])
            assert_type((at_once, not_before), tuple[int, int])
        case CallModel(prompt=prompt, step=step, attempt=attempt, not_before=not_before):
            assert_type(prompt, Prompt)
            assert_type((step, attempt, not_before), tuple[int, int, int])
        case Probe(call=call):
            assert_type(call, ToolCall)
        case WriteOff(settled=settled):
            assert_type(settled, tuple[tuple[CallId, ToolResult], ...])
        case CheckAnswer(text=text, schema=schema):
            assert_type((text, schema), tuple[str, JsonObject])
        case Record(event=event):
            assert_type(event, NoticeGiven | ContextCut | ContextTrimmed | WrapUpBegan)
        case _:
            assert_type(action, End)
            assert_type(action.end, TurnEnd)


def a_result_is_told_as_text(result: ToolResult) -> None:
    assert_type(result, Succeeded | Failed | Denied | Unknown)
    assert_type(told(result), str)


def a_verdict_is_yes_or_no(verdict: Verdict) -> None:
    assert_type(verdict, Allow | Deny)


def arguments_are_an_object_or_known_to_be_broken(call: ToolCall) -> None:
    assert_type(call.arguments, JsonObject | Malformed)


def an_end_is_one_of_a_closed_set(end: TurnEnd) -> None:
    """T-12."""
    assert_type(
        end,
        Completed
        | MaxSteps
        | BudgetSpent
        | DeadlinePassed
        | ContextExhausted
        | Interrupted
        | Revoked
        | ModelFailed
        | ToolFailed
        | Unfinished,
    )
    assert_type(facts(end), EndFacts)
    assert_type(shown(end), str)


def an_event_is_one_of_a_closed_set(record: Recorded) -> None:
    assert_type(record.event, Event)
    assert_type(
        record.event,
        SessionOpened
        | TurnStarted
        | ModeChosen
        | InputAdded
        | ModelChosen
        | FilesRead
        | ModelAsked
        | ModelReplied
        | ModelFaulted
        | ContextCut
        | ContextTrimmed
        | WrapUpBegan
        | QuotaReached
        | AnswerChecked
        | NoticeGiven
        | CallJudged
        | ToolStarted
        | ToolFaulted
        | CallCharged
        | ToolSettled
        | CallProbed
        | CallResolved
        | InterruptAsked
        | RevokeAsked
        | TurnEnded
        | Erased,
    )


def a_message_is_said_by_a_person_a_model_or_a_tool(message: Message) -> None:
    assert_type(message, UserMessage | Reply | ToolMessage)


def only_apply_changes_a_turn_and_it_gives_nothing_back(turn: Turn, record: Recorded) -> None:
    assert_type(fold(turn.session_id, [record]), Turn)
    assert_type(result_of(turn), TurnResult)
    assert_type(apply(turn, record), None)


def a_limit_is_named_or_none(counters: Counters, limits: Limits) -> None:
    assert_type(spent_limit(counters, limits), str | None)
    assert_type(calls_left(counters, limits), int | None)


def a_nested_turn_gets_limits_and_gives_back_what_it_spent(counters: Counters, limits: Limits) -> None:
    """M-17, M-42."""
    assert_type(share_of(counters, limits, among=2), Limits)
    assert_type(tightened(limits, limits), Limits)
    assert_type(counters.spent, Spent)


def a_prompt_needs_a_turn_that_was_started(turn: Turn, started: TurnStarted) -> None:
    assert_type(build_prompt(turn, started, step=1), Prompt)
    build_prompt(turn, turn.started, step=1)  # pyright: ignore[reportArgumentType] # there may be no turn to prompt for


def ids_do_not_mix(call_id: CallId) -> None:
    fold(call_id, [])  # pyright: ignore[reportArgumentType] # a call's id is no session's id


def values_cannot_be_changed(end: Completed, call: ToolCall, started: TurnStarted) -> None:
    end.text = ""  # pyright: ignore[reportAttributeAccessIssue] # frozen
    call.arguments = {}  # pyright: ignore[reportAttributeAccessIssue] # frozen
    started.policy.limits.tool_calls = 1  # pyright: ignore[reportAttributeAccessIssue] # frozen
