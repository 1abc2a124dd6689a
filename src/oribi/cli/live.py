"""A turn as it happens: what the model says goes to stdout, what the tools do to stderr, and one line at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from oribi.cli.failures import error_lines, hint_of
from oribi.cli.timeline import spent_text, trim_text
from oribi.cli.tracing import CallTrace, TurnTracer
from oribi.cli.wording import arguments_text, counted, cut, duration, one_line, safe
from oribi.core.budget import NOTHING
from oribi.core.calls import Denied, Deny, Failed, Succeeded, ToolResult, Unknown
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
    shown,
)
from oribi.core.errors import TRANSIENT
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
from oribi.ports import ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from oribi.cli.output import Output
    from oribi.cli.paint import Paint
    from oribi.cli.tracing import CallTrace, TurnTrace
    from oribi.core.calls import CallId, ToolCall
    from oribi.core.policy import LoopPolicy
    from oribi.core.results import TurnResult
    from oribi.turn.listen import News


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a turn is shown.

    `streams`: the model's words go to stdout as they come. `shows_work`: tool activity and the closing line go to
    stderr. `shows_reasoning`: so does readable reasoning. `columns` is the width of stderr.
    """

    paint: Paint
    columns: int
    streams: bool = True
    shows_work: bool = True
    shows_reasoning: bool = False


class LiveTurn:
    """Shows the news of turns on an `Output`, and keeps the trace of the last one. Shows nothing twice.

    `result` is that of the last turn, once whoever drives it has set it.
    """

    def __init__(self, output: Output, manner: Manner) -> None:
        self.result: TurnResult | None = None
        self._output = output
        self._manner = manner
        self._tracer: TurnTracer | None = None
        self._streamed: list[str] = []
        self._holds_return = False
        self._is_midline = False
        self._is_thinking = False
        self._is_routing = False
        self._policy: LoopPolicy | None = None
        self._has_fallbacks = False

    @property
    def trace(self) -> TurnTrace | None:
        """The trace of the last turn seen."""
        return None if self._tracer is None else self._tracer.turn

    @property
    def end(self) -> TurnEnd | None:
        """How the last turn seen ended; None while it is open."""
        return None if self._tracer is None else self._tracer.last_end

    @property
    def text(self) -> str:
        """What a person is shown of the last turn seen, once it has ended."""
        if self.result is not None:
            return self.result.text
        return "" if self.end is None else shown(self.end)

    @property
    def answer(self) -> str:
        """What of it is for stdout: the answer, or what was found when none came; empty when there is nothing."""
        if self.end is None:
            return ""
        return self.text if isinstance(self.end, Unfinished) else answer_of(self.end)

    def begin_with(self, records: list[Recorded]) -> None:
        """Take in what was recorded of a turn before it was cut off, without showing it."""
        for record in records:
            self._trace(record)

    def show(self, news: News) -> None:
        """Show one piece of news."""
        match news:
            case TextDelta(text=text):
                if not self._is_routing:  # what a router says is for the runtime
                    self._end_thinking()
                    self._streamed.append(text)
                    self._say_piece(text)
            case ReasoningDelta(text=text):
                if self._manner.shows_reasoning:
                    self._is_thinking = True
                    self._output.tell(self._manner.paint.dim(safe(text)))
            case Recorded():
                self._end_thinking()
                self._trace(news)
                self._show_event(news)
            case _:
                assert_never(news)

    def close(self) -> None:
        """The closing line of the last turn; before it, in words, why a turn without an answer stopped."""
        trace, end = self.trace, self.end
        if trace is None or end is None:
            return
        if isinstance(end, Unfinished) or trace.command is not None:  # nothing of this was streamed
            self._say_piece(self.answer)
            self._end_line()
        if isinstance(end, ModelFailed | ContextExhausted | Revoked | ToolFailed):
            self._output.tell(error_lines(shown(end)))
            hint = hint_of(end.kind) if isinstance(end, ModelFailed) else None
            if hint is not None:
                self._output.tell(f"hint: {hint}\n")
        elif not self._manner.shows_work and not isinstance(end, Completed):
            self._output.tell(error_lines(ended_text(end)))
        paint = self._manner.paint
        ended = ended_text(end)
        ended = paint.green(ended) if isinstance(end, Completed) else paint.yellow(ended)
        self._tell(f"{paint.dim(f'{spent_text(trace)}, session {safe(trace.session_id)}:')} {ended}\n")

    def _trace(self, record: Recorded) -> None:
        if isinstance(record.event, TurnStarted):
            self._policy = record.event.policy
            self._has_fallbacks = bool(record.event.fallbacks)
            self._tracer = TurnTracer(record, record.event)
        elif self._tracer is not None:
            if isinstance(record.event, ModeChosen):
                self._policy = record.event.policy
            self._tracer.add(record)

    def _show_event(self, record: Recorded) -> None:  # noqa: C901, PLR0912, PLR0915 - one match over all events
        event, paint = record.event, self._manner.paint
        match event:
            case ModelAsked(attempt=attempt, step=step, model=model):
                self._streamed.clear()
                self._is_routing = step == 0
                if attempt > 1:
                    asked = safe(model) or "the model again"
                    self._tell(paint.yellow(f"[{_place(step)}] asking {asked}, attempt {attempt}\n"))
            case ModelReplied(reply=reply, step=step):
                self._is_routing = False
                if step and not reply.problem:  # what was to be a call and is none is no answer
                    self._finish_reply(reply.text)
            case ModelFaulted():
                self._is_routing = False
                self._show_fault(event)
            case ModeChosen(mode=mode):
                self._tell(f"{paint.bold('[route]')} {f'mode {safe(mode)}' if mode else 'none of the modes'}\n")
            case CallJudged(call_id=call_id, verdict=verdict, step=step):
                if isinstance(verdict, Deny):
                    self._tell(self._call_line(step, call_id))
                    self._tell_outcome(paint.yellow("not run"), f"({verdict.rule}): {verdict.reason}")
            case ToolStarted(call_id=call_id, step=step):
                self._tell(self._call_line(step, call_id))
            case ToolFaulted(call_id=call_id, result=result):
                self._tell_outcome(paint.red("failed") + f", {self._attempt(call_id, 0)}", _gist(result.text))
            case CallCharged(child=child, spent=spent):
                if spent == NOTHING:
                    self._tell(f"    in session {safe(child)} (`oribi trace {safe(child)}` shows it)\n")
            case ToolSettled(call_id=call_id, result=result):
                self._show_result(call_id, result)
            case NoticeGiven(text=text, step=step):
                self._tell(paint.yellow(one_line(f"[{step}] told the model: {text}", self._manner.columns)) + "\n")
            case ContextCut(step=step):
                self._tell(paint.yellow(f"[{step}] the conversation is too long for the model: sending less of it\n"))
            case ContextTrimmed():
                self._tell(paint.yellow(f"context trimmed: {trim_text(event)}\n"))
            case WrapUpBegan(reason=reason):
                self._tell(paint.yellow(one_line(f"wrapping up: {reason}", self._manner.columns)) + "\n")
            case QuotaReached(limit=limit):
                self._tell(paint.yellow(f"no room left in the {safe(limit)}\n"))
            case InterruptAsked(by=by):
                self._tell_stop(f"stopping, asked by {by}")
            case RevokeAsked(what=what):  # whether the turn ends for it is said at its end
                self._tell_stop(f"revoked: {what}")
            case InputAdded(input=added):
                self._tell(paint.yellow(one_line(f"joined by: {added.text}", self._manner.columns)) + "\n")
            case CallProbed(call_id=call_id, step=step, found=found):
                asked_of = "it has not happened" if found is None else type(found).__name__.lower()
                self._tell(self._call_line(step, call_id))
                self._tell_outcome(paint.yellow("probed"), asked_of)
            case CallResolved(by=by, call_id=call_id, result=result):
                self._tell(paint.yellow(f"{safe(by)} settled call {safe(call_id)}: {type(result).__name__.lower()}\n"))
            case ModelChosen(model=model):
                self._tell(paint.yellow(f"from here on {safe(model.ref)} answers\n"))
            case Erased(by=by):
                self._tell(paint.yellow(f"{safe(by)} had content of this session erased\n"))
            case SessionOpened() | TurnStarted() | FilesRead() | AnswerChecked() | TurnEnded():
                self._end_line()
            case _:
                assert_never(event)

    def _show_fault(self, fault: ModelFaulted) -> None:
        """Say that a model call failed and is repeated; what ends the turn is said at its end, once."""
        self._end_line()
        most = 1 if self._policy is None else self._policy.max_asks
        if self._has_fallbacks or fault.step == 0 or (fault.kind in TRANSIENT and fault.attempt < most):
            text = f"[{_place(fault.step)}] the model call failed ({fault.kind}): {fault.message}"
            self._tell(self._manner.paint.yellow(one_line(text, self._manner.columns)) + "\n")

    def _tell_stop(self, text: str) -> None:
        self._end_line()
        self._tell(self._manner.paint.yellow(safe(text)) + "\n")

    def _call_line(self, step: int, call_id: CallId) -> str:
        call, trace = self._called(call_id)
        is_command = self.trace is not None and self.trace.command is not None
        head = f"[{'command' if is_command else step}] {safe(call.name)}"
        head += f" ({self._attempt(call_id, 1)})" if trace.faults else ""
        room = max(10, self._manner.columns - len(head) - 1)
        arguments = cut(safe(arguments_text(call.arguments)), room)
        return f"{self._manner.paint.bold(head)} {arguments}".rstrip() + "\n"

    def _attempt(self, call_id: CallId, more: int) -> str:
        """Which attempt of a call failed last, or with `more` 1, is under way."""
        most = 1 if self._policy is None else self._policy.tool_attempts
        return f"attempt {len(self._called(call_id)[1].faults) + more} of {most}"

    def _show_result(self, call_id: CallId, result: ToolResult) -> None:
        paint, (_, trace) = self._manner.paint, self._called(call_id)
        took = "" if trace.milliseconds is None else f", {duration(trace.milliseconds)}"
        match result:
            case Succeeded(text=text):
                self._tell_outcome(paint.green("ok") + took, _gist(text))
            case Failed(text=text):
                self._tell_outcome(paint.red("failed") + took, _gist(text))
            case Denied(reason=reason, rule=rule):
                self._tell_outcome(paint.yellow("not run"), f"({rule}): {reason}")
            case Unknown(reason=reason):
                self._tell_outcome(paint.yellow("cut off") + took, reason)
            case _:
                assert_never(result)

    def _tell_outcome(self, outcome: str, text: str) -> None:
        gap = "" if text.startswith("(") or not text else ": "
        room = max(20, self._manner.columns - 24)
        words = one_line(text, room)
        self._tell(f"    {outcome}{gap or (' ' if words else '')}{words}\n")

    def _called(self, call_id: CallId) -> tuple[ToolCall, CallTrace]:
        if self._tracer is None:
            raise LookupError(f"call {call_id!r} came before its turn")
        return self._tracer.call(call_id)

    def _say_piece(self, text: str) -> None:
        """Stream a piece of text; a carriage return waits for what follows it."""
        if not self._manner.streams or not text:
            return
        text = "\r" + text if self._holds_return else text
        self._holds_return = text.endswith("\r")
        text = safe(text[:-1] if self._holds_return else text)
        if text:
            self._is_midline = not text.endswith("\n")
            self._output.say(text)

    def _finish_reply(self, text: str) -> None:
        """Bring stdout to the reply's whole text: some models do not stream, and fragments may be lost."""
        streamed = "".join(self._streamed)
        self._streamed.clear()
        if text.startswith(streamed):
            self._say_piece(text[len(streamed) :])
        else:
            self._end_line()
            self._tell(self._manner.paint.dim("parts of this were lost on the way here; once more:\n"))
            self._say_piece(text)
        self._end_line()

    def _end_line(self) -> None:
        if self._holds_return:
            self._holds_return = False
            self._output.say("\\x0d")
            self._is_midline = True
        if self._is_midline:
            self._is_midline = False
            self._output.say("\n")

    def _end_thinking(self) -> None:
        if self._is_thinking:
            self._is_thinking = False
            self._output.tell("\n")

    def _tell(self, text: str) -> None:
        if self._manner.shows_work:
            self._output.tell(text)


def answer_of(end: TurnEnd) -> str:
    """What of an end is an answer, for stdout; empty when there is none."""
    match end:
        case Completed(text=text) | MaxSteps(text=text) | BudgetSpent(text=text) | DeadlinePassed(text=text):
            return text
        case ContextExhausted() | Interrupted() | Revoked() | ModelFailed() | ToolFailed() | Unfinished():
            return ""
        case _:
            assert_never(end)


def ended_text(end: TurnEnd) -> str:
    """How a turn ended, in the last words of its closing line."""
    match end:
        case Completed():
            return "completed"
        case MaxSteps(limit=limit):
            return f"stopped after all its {counted(limit, 'step')}, without a final answer"
        case BudgetSpent(limit=limit):
            return f"stopped, its budget of {limit} is spent"
        case DeadlinePassed():
            return "stopped, its time is up"
        case ContextExhausted():
            return "stopped, the context window is full"
        case Interrupted(by=by):
            return f"interrupted by {safe(by)}"
        case Revoked(what=what):
            return f"stopped, {safe(what)} was revoked"
        case ModelFailed(kind=kind):
            return f"the model failed ({kind})"
        case ToolFailed(tool=tool):
            return f"stopped, {safe(tool)} failed"
        case Unfinished(reason=reason):
            return one_line(f"unfinished: {reason}", 200)
        case _:
            assert_never(end)


def _place(step: int) -> str:
    return str(step) if step else "route"


def _gist(text: str) -> str:
    """The first line of a result that says something, and how much more there is."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return "(no output)"
    more = f" (+{counted(len(lines) - 1, 'line')})" if len(lines) > 1 else ""
    return lines[0] + more
