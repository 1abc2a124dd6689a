"""One of each event, with texts short and long."""

from dataclasses import replace
from typing import get_args

from oribi.core.budget import Limits, Spent
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
    ToolSpec,
    TurnId,
    Unknown,
)
from oribi.core.ends import BudgetSpent, Completed, Interrupted, MaxSteps, ModelFailed, ToolFailed, Unfinished
from oribi.core.events import (
    AnswerChecked,
    CallCharged,
    CallJudged,
    CallProbed,
    CallResolved,
    ContextCut,
    ContextTrimmed,
    Erased,
    ErasedRow,
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
    ParentCall,
    QuotaReached,
    Recorded,
    RequestRef,
    RevokeAsked,
    SessionOpened,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.messages import ModelChoice, Reply, Usage, UserMessage
from oribi.core.modes import Mode
from oribi.core.policy import PRESETS, LoopPolicy

LONG = "ä long text \U0001f98c\n" * 200
LOOKING = ToolSpec(
    name="look",
    description="Looks.",
    parameters={},
    effect="pure",
    owner="eyes",
    failure="recoverable",
    parallel=True,
    may_repeat=True,
    for_reasoning="To see.",
)
SPEC = ToolSpec(name="echo", description="Says it again.", parameters={"type": "object", "$defs": {"x": {"type": []}}})
STARTED = TurnStarted(
    turn_id=TurnId("t1"),
    input=UserMessage(text="hello"),
    agent="ops",
    model=ModelChoice(provider="scripted", name="demo", wire="scripted", parameters={"temperature": 1, "stop": ["x"]}),
    policy=LoopPolicy(),
    tools=(SPEC,),
    instructions="Be brief.",
)
REFERENCE = RequestRef(
    sha256="0" * 64,
    bytes=10,
    system_characters=9,
    memory_characters=0,
    history_turns=0,
    turns_left_out=0,
    messages=1,
    tools=1,
)
CALL = ToolCall(id=CallId("c1"), name="echo", arguments={"text": "hi", "deep": {"n": [1, 2.5, None, True]}})
SAMPLES: list[Event] = [
    SessionOpened(agent="ops", principal="me", channel="cli"),
    SessionOpened(
        agent="ops",
        principal="me",
        channel="call",
        parent=ParentCall(session_id=SessionId("s0"), turn_id=TurnId("t2"), step=3, call_id=CallId("c1"), depth=2),
    ),
    STARTED,
    replace(
        STARTED, policy=LoopPolicy(failures={"echo": "terminal", "$type": "recoverable"}), mode="deep", command=CALL
    ),
    replace(STARTED, routes=(Mode(name="deep", description=LONG, aliases=("think",)), Mode(name="$type"))),
    ModeChosen(mode="deep", policy=PRESETS["free"], tools=(SPEC, LOOKING), instructions=LONG),
    ModeChosen(mode="", policy=LoopPolicy(limits=Limits(deadline_seconds=1.5)), tools=(), instructions=""),
    FilesRead(bootstrap=LONG, skills="", memory="m", memory_read=1, sources=("USER.md", "MEMORY.md")),
    ModelAsked(step=1, attempt=1, request=REFERENCE),
    ModelReplied(step=1, attempt=1, reply=Reply(text=LONG, reasoning="why", raw=[{"type": "thinking", "$x": None}])),
    ModelReplied(step=1, attempt=1, reply=Reply(text="", calls=(CALL,), usage=Usage(input_tokens=3))),
    ModelReplied(
        step=1,
        attempt=2,
        reply=Reply(
            text="",
            calls=(
                ToolCall(id=CallId("a"), name="x", arguments=Malformed(text='{"a"', problem="cut")),
                ToolCall(id=CallId("b"), name="x", arguments={"$json": "not a mark", "$type": "Malformed"}),
                ToolCall(id=CallId("c"), name="x", arguments={"$text": LONG}),
            ),
        ),
    ),
    ModelReplied(step=1, attempt=3, reply=Reply(text="{", action=True, problem="it is not one JSON object")),
    ModelFaulted(step=1, attempt=1, kind="rate", message="slow down", retry_after_seconds=1.5, partial="Let me"),
    ContextCut(step=1, attempt=1, history_turns=0, result_characters=500, characters_before=9000, characters_after=900),
    ContextTrimmed(history_turns=3, steps_left_out=0, removed=6, tokens_before=2225, tokens_after=940),
    WrapUpBegan(reason="look was asked for again, with the same input"),
    QuotaReached(limit="daily tool_calls"),
    AnswerChecked(step=1, value={"n": [1, None], "$x": True}),
    AnswerChecked(step=1, problem="n: 'x' is not of type \"number\""),
    NoticeGiven(step=1, text="Your answer cannot be used."),
    CallJudged(step=1, call_id=CallId("c1"), verdict=Allow(rule="catalogue")),
    CallJudged(step=1, call_id=CallId("c1"), verdict=Allow(rule="catalogue", key="look/at the sky")),
    CallJudged(step=1, call_id=CallId("c1"), verdict=Deny(rule="files", reason="outside")),
    ToolStarted(step=1, call_id=CallId("c1")),
    ToolFaulted(step=1, call_id=CallId("c1"), result=Failed(text=LONG, retryable=True)),
    CallCharged(
        step=1,
        call_id=CallId("c1"),
        spent=Spent(model_calls=2, tool_calls=3, write_calls=1, input_tokens=900, output_tokens=30),
        child=SessionId("s1/c1"),
    ),
    ToolSettled(step=1, call_id=CallId("c1"), result=Succeeded(text=LONG)),
    ToolSettled(step=1, call_id=CallId("c1"), result=Failed(text="no", retryable=True)),
    ToolSettled(step=1, call_id=CallId("c1"), result=Failed(text="no", kind="terminal")),
    ToolSettled(step=1, call_id=CallId("c1"), result=Denied(rule="r", reason="no")),
    ToolSettled(step=1, call_id=CallId("c1"), result=Unknown(reason="cut off")),
    CallProbed(step=1, call_id=CallId("c1")),
    CallProbed(step=1, call_id=CallId("c1"), found=Succeeded(text=LONG)),
    CallResolved(call_turn=TurnId("t1"), step=1, call_id=CallId("c1"), result=Succeeded(text="it did"), by="me"),
    InputAdded(input=UserMessage(text="and hurry"), mail=7),
    ModelChosen(model=ModelChoice(provider="scripted", name="other", wire="scripted")),
    Erased(rows=(ErasedRow(seq=2, sha256="0" * 64),), by="me", reason="asked for"),
    InterruptAsked(by="me"),
    InterruptAsked(by="me", mail=3),
    RevokeAsked(what="tool echo"),
    RevokeAsked(what="the plug-in", mail=4, tool="echo", owner="eyes"),
    TurnEnded(end=Completed(text="done")),
    TurnEnded(end=Completed(text="{}", value={"$type": "x"})),
    TurnEnded(end=MaxSteps(limit=3, text="")),
    TurnEnded(end=ModelFailed(kind="auth", message="bad key")),
    TurnEnded(end=BudgetSpent(limit="tool_calls", text=LONG)),
    TurnEnded(end=Interrupted(by="me")),
    TurnEnded(end=ToolFailed(tool="echo", message=LONG)),
    TurnEnded(end=Unfinished(reason="the model could not answer (rate): slow down")),
]
assert {type(event) for event in SAMPLES} == set(get_args(Event))

SESSION = SessionId("s1")


def recorded(
    *events: Event, first: int = 1, session_id: SessionId = SESSION, turn_id: str | None = "t1"
) -> list[Recorded]:
    """`events` as records that follow each other from `first`."""
    return [
        Recorded(
            session_id=session_id,
            seq=first + index,
            turn_id=None if isinstance(event, SessionOpened) or turn_id is None else TurnId(turn_id),
            at=1_000_000 * (first + index),
            event=event,
        )
        for index, event in enumerate(events)
    ]
