"""Traces: what a session did, read off its records as values that are shown as text or as JSON.

The dataclasses here are the JSON that scripts read: add fields, do not change what one means. Times of day are
`...Z` texts, durations are milliseconds, None means that it is not known or has not happened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from oribi.cli.wording import utc_time
from oribi.core.budget import Spent
from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    Failed,
    Json,
    Malformed,
    Succeeded,
    ToolCall,
    ToolResult,
    Unknown,
)
from oribi.core.ends import facts, shown
from oribi.core.events import (
    AnswerChecked,
    CallCharged,
    CallJudged,
    CallProbed,
    CallResolved,
    ContextCut,
    ContextTrimmed,
    Erased,
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
from oribi.core.messages import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oribi.core.calls import SessionId, Verdict
    from oribi.core.ends import TurnEnd

Outcome: TypeAlias = Literal["succeeded", "failed", "denied", "unknown"]


@dataclass(slots=True, kw_only=True)
class CallTrace:
    """One tool call. `arguments` is an object, or the text that was none; `started` counts its starts.

    `probed` is what the world said of a call that was cut off, `resolved_by` who said what came of an unknown one.
    `faults` are the failures of the attempts that were followed by another. `nested` are the sessions that answer
    the call, with what their turns have spent.
    """

    call_id: str
    name: str
    arguments: Json
    problem: str | None = None
    verdict: Literal["allow", "deny"] | None = None
    rule: str | None = None
    started: int = 0
    started_at: str | None = None
    milliseconds: float | None = None
    outcome: Outcome | None = None
    result: str | None = None
    reason: str | None = None
    probed: Outcome | Literal["did not happen"] | None = None
    resolved_by: str | None = None
    faults: list[str] = field(default_factory=list[str])
    nested: dict[str, Spent] = field(default_factory=dict[str, Spent])


@dataclass(slots=True, kw_only=True)
class AskTrace:
    """One model call: an attempt of a step, with the request's hash and the injected lengths (O-31)."""

    attempt: int
    model: str
    asked_at: str
    request: RequestRef
    milliseconds: float | None = None
    error_kind: str | None = None
    error: str | None = None


@dataclass(slots=True, kw_only=True)
class StepTrace:
    """One step: its model calls, the reply (None: there is none), and the tool calls the reply asked for.

    `trims` and `cuts` are where less of the conversation was sent from then on: before a model call, and after one that
    was refused for its length. `notices` are what the runtime told the model, `answer_problem` why the answer does not
    fit the output schema. `problem` is why the reply is no JSON action; it is then no answer either. `wraps_up` says
    that the step was for an answer from what had been found.
    """

    step: int
    asks: list[AskTrace] = field(default_factory=list[AskTrace])
    reply: str | None = None
    reasoning: str = ""
    stop: str | None = None
    model: str = ""
    usage: Usage | None = None
    calls: list[CallTrace] = field(default_factory=list[CallTrace])
    trims: list[ContextTrimmed] = field(default_factory=list[ContextTrimmed])
    cuts: list[ContextCut] = field(default_factory=list[ContextCut])
    problem: str | None = None
    wraps_up: bool = False
    answer_problem: str | None = None
    notices: list[str] = field(default_factory=list[str])


@dataclass(slots=True, kw_only=True)
class FilesTrace:
    """The prompt's files as they were read: their names, and how much of the memory file was there and was sent."""

    sources: tuple[str, ...]
    memory_read_characters: int
    memory_characters: int


@dataclass(slots=True, kw_only=True)
class TurnTrace:
    """One turn. `end` is the label of its end, None while it is open; `text` what a person is shown for it.

    `attached` names the files that came with the input, `joined` holds the inputs that steered the turn. `route` is the
    model call that chose the `mode`, which is no step; `command` the call that the input meant, without any model.
    `trims` are those that no step followed. `wrap_up` is why the turn was wrapped up, `quota` which daily quota left no
    room, `withdrawn` what the turn could not use any more.
    Token counts sum what the provider reported, None if it never did; `tokens_complete` is false when some replies
    came without. `seconds` is from start to end.
    """

    session_id: str
    turn_id: str
    agent: str
    model: str
    tools: tuple[str, ...]
    max_steps: int
    started_at: str
    input: str
    mode: str = ""
    attached: tuple[str, ...] = ()
    joined: list[str] = field(default_factory=list[str])
    route: StepTrace | None = None
    command: CallTrace | None = None
    steps: list[StepTrace] = field(default_factory=list[StepTrace])
    trims: list[ContextTrimmed] = field(default_factory=list[ContextTrimmed])
    wrap_up: str | None = None
    quota: str | None = None
    withdrawn: list[str] = field(default_factory=list[str])
    files: list[FilesTrace] = field(default_factory=list[FilesTrace])
    stopped_by: list[str] = field(default_factory=list[str])
    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    tokens_complete: bool = True
    ended_at: str | None = None
    seconds: float | None = None
    end: str | None = None
    exit_code: int | None = None
    text: str | None = None

    @property
    def calls(self) -> list[CallTrace]:
        """All its calls, in order."""
        command = [] if self.command is None else [self.command]
        return [*command, *(call for step in self.steps for call in step.calls)]


@dataclass(slots=True, kw_only=True)
class SessionTrace:
    """A session and its turns. `forked_from` is the session it is a fork of, `erasures` who had content erased.

    `parent` is the call of another session that this one answers.
    """

    session_id: str
    agent: str
    principal: str
    channel: str
    opened_at: str
    parent: ParentCall | None = None
    forked_from: str | None = None
    erasures: list[str] = field(default_factory=list[str])
    turns: list[TurnTrace] = field(default_factory=list[TurnTrace])


def trace_of(session_id: SessionId, records: Iterable[Recorded]) -> SessionTrace:
    """The trace of a session's `records`, which are all of them, in order."""
    session = SessionTrace(session_id=session_id, agent="", principal="", channel="", opened_at="")
    tracer: TurnTracer | None = None
    for record in records:
        match record.event:
            case SessionOpened() as opened:
                session = SessionTrace(
                    session_id=session_id,
                    agent=opened.agent,
                    principal=opened.principal,
                    channel=opened.channel,
                    opened_at=utc_time(record.at),
                    parent=opened.parent,
                    forked_from=opened.forked_from,
                )
            case TurnStarted() as started:
                tracer = TurnTracer(record, started)
                session.turns.append(tracer.turn)
            case CallResolved() as resolved:
                for turn in session.turns:
                    if turn.turn_id == resolved.call_turn:
                        resolve_call(turn, resolved)
            case Erased(by=by, reason=reason):
                session.erasures.append(f"{by}: {reason}" if reason else by)
            case _ if tracer is not None:
                tracer.add(record)
            case _:
                pass
    return session


def resolve_call(turn: TurnTrace, resolved: CallResolved) -> None:
    """What a person said of a call whose outcome was unknown."""
    calls = (
        turn.calls
        if turn.command
        else [call for step in turn.steps if step.step == resolved.step for call in step.calls]
    )
    for call in calls:
        if call.call_id == resolved.call_id:
            call.outcome, call.result, call.reason = _outcome(resolved.result)
            call.resolved_by = resolved.by


class TurnTracer:
    """Builds the trace of one turn, record by record. `last_end` is its end once it has one."""

    def __init__(self, record: Recorded, started: TurnStarted) -> None:
        self._started_at = record.at
        self._asked_at = 0
        self._calls: dict[CallId, tuple[ToolCall, CallTrace]] = {}
        self._call_started_at: dict[CallId, int] = {}
        self.last_end: TurnEnd | None = None
        self.turn = TurnTrace(
            session_id=record.session_id,
            turn_id=started.turn_id,
            agent=started.agent,
            model=started.model.ref,
            tools=tuple(tool.name for tool in started.tools),
            max_steps=started.policy.max_steps,
            started_at=utc_time(record.at),
            input=started.input.text,
            mode=started.mode,
            attached=tuple(part.name for part in started.input.parts),
        )
        self._last = StepTrace(step=0)
        if started.command is not None:
            self.turn.command = _call_trace(started.command)
            self._calls = {started.command.id: (started.command, self.turn.command)}

    def add(self, record: Recorded) -> None:  # noqa: C901, PLR0912, PLR0915 - one match over all events
        """Take in the next record of the turn."""
        event, turn = record.event, self.turn
        match event:
            case SessionOpened() | TurnStarted():
                pass
            case FilesRead():
                turn.files.append(_files_trace(event))
            case ModeChosen(mode=mode, policy=policy, tools=tools):
                turn.mode, turn.max_steps = mode, policy.max_steps
                turn.tools = tuple(tool.name for tool in tools)
            case ModelAsked():
                self._ask(event, record.at)
            case ModelReplied():
                self._take_reply(event, record.at)
            case ModelFaulted():
                self._take_fault(event, record.at)
            case CallJudged(call_id=call_id, verdict=verdict):
                self._judge(call_id, verdict)
            case ToolStarted(call_id=call_id):
                self._start(call_id, record.at)
            case ToolSettled(call_id=call_id, result=result):
                self._settle(call_id, result, record.at)
            case ToolFaulted(call_id=call_id, result=result):
                self._calls[call_id][1].faults.append(result.text)
            case CallCharged(call_id=call_id, spent=spent, child=child):
                self._calls[call_id][1].nested[child] = spent
            case ContextCut():
                self._last.cuts.append(event)
            case ContextTrimmed():
                turn.trims.append(event)
            case WrapUpBegan(reason=reason):
                turn.wrap_up = reason
            case QuotaReached(limit=limit):
                turn.quota = limit
            case AnswerChecked(problem=problem):
                self._last.answer_problem = problem
            case NoticeGiven(text=text):
                self._last.notices.append(text)
            case InputAdded(input=added):
                turn.joined.append(added.text)
            case ModelChosen(model=model):
                turn.model = model.ref
            case CallProbed(call_id=call_id, found=found):
                _, call = self._calls[call_id]
                call.probed = "did not happen" if found is None else _outcome(found)[0]
            case CallResolved():
                resolve_call(turn, event)
            case Erased():
                pass
            case InterruptAsked(by=by):
                turn.stopped_by.append(by)
            case RevokeAsked(what=what, tool=tool, owner=owner):
                if tool or owner:  # the turn ends only if it has used it
                    turn.withdrawn.append(what)
                else:
                    turn.stopped_by.append(f"revocation of {what}")
            case TurnEnded(end=end):
                self._end(end, record.at)
            case _:
                assert_never(event)

    def call(self, call_id: CallId) -> tuple[ToolCall, CallTrace]:
        """A call of the last reply, and its trace so far."""
        return self._calls[call_id]

    def _ask(self, event: ModelAsked, at: int) -> None:
        turn = self.turn
        if event.attempt == 1:
            self._last = StepTrace(step=event.step, wraps_up=turn.wrap_up is not None)
            if event.step == 0:
                turn.route = self._last
            else:
                turn.steps.append(self._last)
        self._last.trims += turn.trims
        turn.trims = []
        turn.model_calls += 1
        self._asked_at = at
        self._last.asks.append(
            AskTrace(
                attempt=event.attempt,
                model=event.model or turn.model,
                asked_at=utc_time(at),
                request=event.request,
            )
        )

    def _take_reply(self, event: ModelReplied, at: int) -> None:
        step, reply, turn = self._last, event.reply, self.turn
        step.asks[-1].milliseconds = self._since(self._asked_at, at)
        step.reply, step.reasoning, step.stop = reply.text, reply.reasoning, reply.stop
        step.model, step.usage, step.problem = reply.model, reply.usage, reply.problem or None
        turn.input_tokens = _sum(turn.input_tokens, reply.usage.input_tokens)
        turn.output_tokens = _sum(turn.output_tokens, reply.usage.output_tokens)
        turn.tokens_complete &= None not in {reply.usage.input_tokens, reply.usage.output_tokens}
        traces = [(call, _call_trace(call)) for call in reply.calls]
        step.calls = [trace for _, trace in traces]
        self._calls = {call.id: (call, trace) for call, trace in traces}

    def _take_fault(self, event: ModelFaulted, at: int) -> None:
        ask = self._last.asks[-1]
        ask.milliseconds = self._since(self._asked_at, at)
        ask.error_kind, ask.error = event.kind, event.message

    def _judge(self, call_id: CallId, verdict: Verdict) -> None:
        trace = self._calls[call_id][1]
        trace.rule = verdict.rule
        match verdict:
            case Allow():
                trace.verdict = "allow"
            case Deny(reason=reason):
                trace.verdict, trace.reason, trace.outcome = "deny", reason, "denied"
            case _:
                assert_never(verdict)

    def _start(self, call_id: CallId, at: int) -> None:
        trace = self._calls[call_id][1]
        self.turn.tool_calls += 1
        self._call_started_at[call_id] = at
        trace.started += 1
        trace.started_at = trace.started_at or utc_time(at)

    def _settle(self, call_id: CallId, result: ToolResult, at: int) -> None:
        trace = self._calls[call_id][1]
        if trace.started:
            trace.milliseconds = self._since(self._call_started_at[call_id], at)
        trace.outcome, trace.result, trace.reason = _outcome(result)
        if isinstance(result, Denied):
            trace.rule = result.rule

    def _end(self, end: TurnEnd, at: int) -> None:
        known = facts(end)
        self.last_end = end
        self.turn.ended_at = utc_time(at)
        self.turn.seconds = (at - self._started_at) / 1e6
        self.turn.end, self.turn.exit_code, self.turn.text = known.label, known.exit_code, shown(end)

    def _since(self, earlier: int, at: int) -> float:
        return max(0, at - earlier) / 1000


def _files_trace(event: FilesRead) -> FilesTrace:
    return FilesTrace(
        sources=event.sources, memory_read_characters=event.memory_read, memory_characters=len(event.memory)
    )


def _call_trace(call: ToolCall) -> CallTrace:
    if isinstance(call.arguments, Malformed):
        text, problem = call.arguments.text, call.arguments.problem
        return CallTrace(call_id=call.id, name=call.name, arguments=text, problem=problem)
    return CallTrace(call_id=call.id, name=call.name, arguments=call.arguments)


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _outcome(result: ToolResult) -> tuple[Outcome, str | None, str | None]:
    """The outcome's name, the result's text, and the reason where there is no result."""
    match result:
        case Succeeded(text=text):
            return "succeeded", text, None
        case Failed(text=text):
            return "failed", text, None
        case Denied(reason=reason):
            return "denied", None, reason
        case Unknown(reason=reason):
            return "unknown", None, reason
        case _:
            assert_never(result)
