"""The turn: the state of a session as a fold of its events; only `apply` changes it, at O(1) an event.

Rules that hold here:
- `apply` fails only on a corrupt journal: an event that cannot follow the ones before it is a `JournalError`, and
  leaves the turn as it was.
- A call's result becomes a message when every call of its reply has one, in the order of the reply, so that no
  prompt can hold an unanswered call or an orphan result.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from oribi.core.budget import Counters
from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    SessionId,
    ToolCall,
    ToolResult,
    ToolSpec,
    TurnId,
    Unknown,
    Verdict,
)
from oribi.core.ends import TurnEnd, shown
from oribi.core.errors import JournalError
from oribi.core.events import (
    AnswerChecked,
    CallJudged,
    CallProbed,
    CallResolved,
    ContextCut,
    Erased,
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
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

NO_FILES = FilesRead(bootstrap="", skills="", memory="", memory_read=0, sources=())


@dataclass(slots=True, kw_only=True)
class CallProgress:
    """How far one call of the last reply has come. `probe` is what the world said of its last start, once asked."""

    call: ToolCall
    verdict: Verdict | None = None
    starts: int = 0
    probe: CallProbed | None = None
    result: ToolResult | None = None

    @property
    def started(self) -> bool:
        """Whether the call has begun to act at least once."""
        return self.starts > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A closed turn as history: `first` is the index of its first message within the session."""

    turn_id: TurnId
    first: int
    messages: list[Message]


@dataclass(slots=True, kw_only=True)
class Turn:
    """A session's open turn (or its last one, once `end` is set) and the history before it.

    `choice` is the model that is asked, 0 the agent's and then its fallbacks; `asks_of_choice` counts the asks of this
    step that went to it. `revision` changes whenever messages that were sent before are sent in another form.
    `notices` counts those given in a row; `holds_reasoning` says whether a reply of the turn has private reasoning.
    `held` are inputs that joined the turn while calls were unanswered.
    """

    session_id: SessionId
    opened: SessionOpened | None = None
    seq: int = 0
    history: list[Exchange] = field(default_factory=list[Exchange])

    started: TurnStarted | None = None
    started_at: int = 0
    tools: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    files: FilesRead = NO_FILES
    first: int = 0
    messages: list[Message] = field(default_factory=list[Message])
    counters: Counters = field(default_factory=Counters)

    step: int = 0
    attempt: int = 0
    asked: bool = False
    fault: ModelFaulted | None = None
    fault_at: int = 0
    choice: int = 0
    asks_of_choice: int = 0
    cut: ContextCut | None = None
    revision: int = field(default=0, compare=False)
    reply: Reply | None = None
    checked: AnswerChecked | None = None
    notices: int = 0
    held: list[UserMessage] = field(default_factory=list[UserMessage])
    holds_reasoning: bool = False
    calls: dict[CallId, CallProgress] = field(default_factory=dict[CallId, CallProgress])
    unsettled: int = 0

    interrupted: InterruptAsked | None = None
    revoked: RevokeAsked | None = None
    end: TurnEnd | None = None
    ended_at: int = 0

    @property
    def is_open(self) -> bool:
        """Whether there is a turn that has not ended."""
        return self.started is not None and self.end is None

    @property
    def wants_model(self) -> bool:
        """Whether the next act can only be a model call or an end: the moment to read the prompt's files."""
        return self.is_open and self.unsettled == 0 and not self.asked and not self.has_answer

    @property
    def has_answer(self) -> bool:
        """Whether the last reply asks for no tool and says something, and nothing was said against it."""
        reply = self.reply
        return reply is not None and not reply.calls and bool(reply.text.strip()) and self.messages[-1] is reply


def fold(session_id: SessionId, records: Iterable[Recorded]) -> Turn:
    """The state that `records`, in order from the first, leave behind.

    Raises:
        JournalError: The records are not a possible history.

    """
    turn = Turn(session_id=session_id)
    for record in records:
        apply(turn, record)
    return turn


def apply(turn: Turn, record: Recorded) -> None:
    """Fold one fact into `turn`.

    Raises:
        JournalError: The event cannot follow the ones before it.

    """
    if record.seq != turn.seq + 1:
        raise _impossible(turn, record, f"expected seq {turn.seq + 1}")
    if record.session_id != turn.session_id:
        raise _impossible(turn, record, f"it belongs to session {record.session_id!r}")
    event = record.event
    match event:
        case SessionOpened():
            _require(turn.opened is None, turn, record, "the session is open already")
            turn.opened = event
        case TurnStarted():
            _require(
                turn.opened is not None and not turn.is_open, turn, record, "a turn is open, or the session is not"
            )
            _start(turn, event, record.at)
        case CallResolved():
            _resolve(turn, event, record)
        case Erased():
            _require(turn.opened is not None, turn, record, "the session is not open")
        case _:
            _require(turn.is_open, turn, record, "no turn is open")
            _require(_is_of(turn, record), turn, record, f"it belongs to turn {record.turn_id!r}")
            _advance(turn, event, record)
    turn.seq = record.seq


def _is_of(turn: Turn, record: Recorded) -> bool:
    return turn.started is not None and record.turn_id == turn.started.turn_id


def _start(turn: Turn, event: TurnStarted, at: int) -> None:
    if turn.started is not None:
        turn.history.append(Exchange(turn_id=turn.started.turn_id, first=turn.first, messages=turn.messages))
        turn.first += len(turn.messages)
    turn.started = event
    turn.started_at = at
    turn.tools = {tool.name: tool for tool in event.tools}
    turn.messages = [event.input]
    turn.counters = Counters()
    turn.step = turn.attempt = turn.unsettled = 0
    turn.choice = turn.asks_of_choice = turn.notices = 0
    turn.asked = turn.holds_reasoning = False
    if turn.cut is not None:
        turn.revision += 1
    turn.fault = turn.cut = turn.reply = turn.checked = turn.interrupted = turn.revoked = turn.end = None
    turn.calls = {}
    turn.held = []


def _advance(
    turn: Turn,
    event: InputAdded
    | ModelChosen
    | FilesRead
    | ModelAsked
    | ModelReplied
    | ModelFaulted
    | ContextCut
    | AnswerChecked
    | NoticeGiven
    | CallJudged
    | ToolStarted
    | ToolSettled
    | CallProbed
    | InterruptAsked
    | RevokeAsked
    | TurnEnded,
    record: Recorded,
) -> None:
    match event:
        case InputAdded(input=added):
            turn.notices = 0
            (turn.held if turn.unsettled else turn.messages).append(added)
        case ModelChosen(model=model):
            _require(turn.started is not None and not turn.asked, turn, record, "a model call is under way")
            turn.started = replace(turn.started, model=model, fallbacks=()) if turn.started else None
            turn.choice = turn.asks_of_choice = 0
        case FilesRead():
            turn.files = event
        case ModelAsked():
            _require(turn.unsettled == 0, turn, record, "calls are unanswered")
            _require(_follows(turn, event), turn, record, f"step {turn.step}, attempt {turn.attempt} came before")
            _require(_has_choice(turn, event.choice), turn, record, f"the turn has no model number {event.choice}")
            if event.attempt == 1:
                turn.counters.steps += 1
            turn.counters.model_calls += 1
            is_next = event.attempt == 1 or event.choice != turn.choice
            turn.asks_of_choice = 1 if is_next else turn.asks_of_choice + 1
            turn.step, turn.attempt, turn.choice = event.step, event.attempt, event.choice
            turn.asked, turn.fault = True, None
        case ModelReplied(reply=reply):
            _require(_answers(turn, event), turn, record, "nobody asked")
            _take_reply(turn, reply, record)
        case ModelFaulted():
            _require(_answers(turn, event), turn, record, "nobody asked")
            turn.asked = False
            turn.fault, turn.fault_at = event, record.at
        case ContextCut():
            _require(_is_too_long(turn, event), turn, record, "the last prompt was not too long, or was cut already")
            turn.cut = event
            turn.revision += 1
        case AnswerChecked():
            _require(turn.has_answer and turn.checked is None, turn, record, "there is no unchecked answer")
            turn.checked = event
        case NoticeGiven(text=text):
            _require(_ends_in_words(turn), turn, record, "the last thing said is not an answer of the model")
            turn.messages.append(UserMessage(text=text))
            turn.notices += 1
        case CallJudged(verdict=verdict):
            progress = _progress(turn, event.step, event.call_id, record)
            _require(progress.verdict is None, turn, record, "the call has a verdict already")
            progress.verdict = verdict
            if isinstance(verdict, Deny):
                _settle(turn, progress, Denied(reason=verdict.reason, rule=verdict.rule))
        case ToolStarted():
            progress = _progress(turn, event.step, event.call_id, record)
            _require(isinstance(progress.verdict, Allow), turn, record, "the call was not allowed")
            turn.counters.tool_calls += not progress.started  # a call that starts again is the same call
            progress.starts += 1
            progress.probe = None
        case ToolSettled(result=result):
            progress = _progress(turn, event.step, event.call_id, record)
            _require(progress.started or isinstance(result, Denied), turn, record, "the call never started")
            _settle(turn, progress, result)
        case CallProbed():
            progress = _progress(turn, event.step, event.call_id, record)
            _require(progress.started and progress.probe is None, turn, record, "the call was not cut off")
            progress.probe = event
        case InterruptAsked():
            turn.interrupted = event
        case RevokeAsked():
            turn.revoked = event
        case TurnEnded(end=end):
            _require(turn.unsettled == 0, turn, record, "calls are unanswered")
            turn.end, turn.ended_at = end, record.at
            turn.asked = False
            if turn.holds_reasoning and turn.started is not None and turn.started.policy.store_reasoning == "turn":
                _forget_reasoning(turn)
        case _:
            assert_never(event)


def _follows(turn: Turn, asked: ModelAsked) -> bool:
    """Whether `asked` is the next step, or the next attempt of a step that has no reply."""
    if asked.attempt == 1:
        return asked.step == turn.step + 1 and not turn.asked and turn.fault is None
    return asked.step == turn.step and asked.attempt == turn.attempt + 1 and (turn.asked or turn.fault is not None)


def _has_choice(turn: Turn, choice: int) -> bool:
    return turn.started is not None and 0 <= choice <= len(turn.started.fallbacks)


def _is_too_long(turn: Turn, cut: ContextCut) -> bool:
    """Whether the last model call failed for the length of its prompt, and was not answered with a cut yet."""
    fault = turn.fault
    if fault is None or fault.kind != "context_length" or (cut.step, cut.attempt) != (fault.step, fault.attempt):
        return False
    return turn.cut is None or (turn.cut.step, turn.cut.attempt) != (cut.step, cut.attempt)


def _ends_in_words(turn: Turn) -> bool:
    """Whether the last message is a reply without calls, and nothing is under way."""
    return turn.reply is not None and not turn.reply.calls and turn.messages[-1] is turn.reply and not turn.asked


def _answers(turn: Turn, event: ModelReplied | ModelFaulted) -> bool:
    return turn.asked and (event.step, event.attempt) == (turn.step, turn.attempt)


def _take_reply(turn: Turn, reply: Reply, record: Recorded) -> None:
    calls = {call.id: CallProgress(call=call) for call in reply.calls}
    _require(len(calls) == len(reply.calls), turn, record, "two calls of one reply share an id")
    turn.asked = False
    turn.reply, turn.checked = reply, None
    if calls:
        turn.notices = 0
    if reply.reasoning or reply.raw is not None:
        turn.holds_reasoning = True
    turn.counters.add(reply.usage)
    turn.messages.append(reply)
    turn.calls = calls
    turn.unsettled = len(calls)


def _forget_reasoning(turn: Turn) -> None:
    """Drop what replies hold of private reasoning, but for the blocks that were sent back within the turn.

    Wires want those back as long as the calls they led to are in the history, and a replay rebuilds the requests that
    held them. Only the blocks of an answer that nothing followed go.
    """
    is_last_word = turn.reply is not None and not turn.reply.calls and turn.messages[-1] is turn.reply
    answer = turn.messages.pop() if is_last_word else None
    turn.messages = [replace(each, reasoning="") if isinstance(each, Reply) else each for each in turn.messages]
    if isinstance(answer, Reply):
        turn.reply = answer.without_reasoning
        turn.messages.append(turn.reply)
    elif turn.reply is not None:
        turn.reply = replace(turn.reply, reasoning="")
    turn.holds_reasoning = False
    turn.revision += 1


def _progress(turn: Turn, step: int, call_id: CallId, record: Recorded) -> CallProgress:
    progress = turn.calls.get(call_id)
    if progress is None or step != turn.step or progress.result is not None:
        raise _impossible(turn, record, "no such unanswered call")
    return progress


def _settle(turn: Turn, progress: CallProgress, result: ToolResult) -> None:
    progress.result = result
    turn.unsettled -= 1
    if turn.unsettled == 0:
        for settled in turn.calls.values():
            if settled.result is not None:
                call = settled.call
                turn.messages.append(ToolMessage(call_id=call.id, name=call.name, result=settled.result))
        turn.messages += turn.held
        turn.held = []


def _resolve(turn: Turn, event: CallResolved, record: Recorded) -> None:
    """Put a person's word in the place of an Unknown, wherever the session holds it."""
    is_last_turn = turn.started is not None and event.call_turn == turn.started.turn_id
    progress = turn.calls.get(event.call_id) if is_last_turn and event.step == turn.step else None
    if progress is not None and turn.unsettled and isinstance(progress.result, Unknown):
        progress.result = event.result  # its message is made when the calls beside it have their results
        return
    messages = turn.messages if is_last_turn else _messages_of(turn, event.call_turn)
    found = _unknown_of(messages, event)
    if found is None:
        raise _impossible(turn, record, "no such call has an unknown result")
    index, message = found
    messages[index] = replace(message, result=event.result)
    if progress is not None:
        progress.result = event.result
    turn.revision += 1


def _messages_of(turn: Turn, turn_id: TurnId) -> list[Message]:
    for exchange in reversed(turn.history):
        if exchange.turn_id == turn_id:
            return exchange.messages
    return []


def _unknown_of(messages: list[Message], event: CallResolved) -> tuple[int, ToolMessage] | None:
    """The Unknown result of the call and its place: after the reply of its step, which is the reply of that number."""
    step = 0
    for index, message in enumerate(messages):
        if isinstance(message, Reply):
            step += 1
        elif isinstance(message, ToolMessage) and step == event.step and message.call_id == event.call_id:
            return (index, message) if isinstance(message.result, Unknown) else None
    return None


def _require(holds: bool, turn: Turn, record: Recorded, why: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise _impossible(turn, record, why)


def _impossible(turn: Turn, record: Recorded, why: str) -> JournalError:
    return JournalError(
        f"session {turn.session_id!r}: event {record.seq} ({type(record.event).__name__}) cannot stand here: {why}; "
        "the journal is damaged: keep a copy of it, and go on in a new session"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn came out: its end, the results gathered on the way, and what it spent (C-26).

    `reply` is the model's last reply, if any; `evidence` the tool messages in order; `usage` sums what the provider
    reported. `seconds` is the time from the start of the turn to its end.
    """

    session_id: SessionId
    turn_id: TurnId
    end: TurnEnd
    reply: Reply | None
    evidence: tuple[ToolMessage, ...]
    counters: Counters
    seconds: float

    @property
    def text(self) -> str:
        """The text to show: the answer, or why there is none."""
        return shown(self.end)


def result_of(turn: Turn) -> TurnResult:
    """The result of an ended turn.

    Raises:
        ValueError: The turn has not ended.

    """
    if turn.started is None or turn.end is None:
        raise ValueError(f"session {turn.session_id} has no ended turn")
    return TurnResult(
        session_id=turn.session_id,
        turn_id=turn.started.turn_id,
        end=turn.end,
        reply=turn.reply,
        evidence=tuple(message for message in turn.messages if isinstance(message, ToolMessage)),
        counters=replace(turn.counters),
        seconds=(turn.ended_at - turn.started_at) / 1e6,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCall:
    """A call of which nobody knows whether it happened, and where it stands."""

    turn_id: TurnId
    step: int
    call: ToolCall
    reason: str


def unknown_calls(turn: Turn) -> list[UnknownCall]:
    """The calls of a session whose results are Unknown, in order."""
    last = [Exchange(turn_id=turn.started.turn_id, first=turn.first, messages=turn.messages)] if turn.started else []
    found: list[UnknownCall] = []
    for exchange in [*turn.history, *last]:
        step = 0
        calls: dict[CallId, ToolCall] = {}
        for message in exchange.messages:
            match message:
                case Reply():
                    step += 1
                    calls = {call.id: call for call in message.calls}
                case ToolMessage(call_id=call_id, result=Unknown(reason=reason)):
                    found.append(UnknownCall(turn_id=exchange.turn_id, step=step, call=calls[call_id], reason=reason))
                case _:
                    pass
    return found
