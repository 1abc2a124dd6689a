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

from oribi.core.budget import NOTHING, Counters, Spent
from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    Failed,
    SessionId,
    Succeeded,
    ToolCall,
    ToolResult,
    ToolSpec,
    TurnId,
    Unknown,
    Verdict,
)
from oribi.core.ends import TurnEnd
from oribi.core.errors import JournalError
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
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage
from oribi.core.repeats import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oribi.core.policy import LoopPolicy

NO_FILES = FilesRead(bootstrap="", skills="", memory="", memory_read=0, sources=())


@dataclass(slots=True, kw_only=True)
class CallProgress:
    """How far one call of the last reply has come.

    `starts` counts those of the attempt under way, `attempts` the attempts that failed; `fault` is the last one's
    failure until the next attempt starts, `fault_at` its time. `probe` is what the world said of the last start, once
    asked. `charged` is what was counted of the turns nested in the call, by their sessions.
    """

    call: ToolCall
    verdict: Verdict | None = None
    starts: int = 0
    attempts: int = 0
    fault: Failed | None = None
    fault_at: int = 0
    probe: CallProbed | None = None
    charged: dict[SessionId, Spent] = field(default_factory=dict[SessionId, Spent])
    result: ToolResult | None = None

    @property
    def started(self) -> bool:
        """Whether an attempt is under way, or was cut off."""
        return self.starts > 0

    @property
    def is_new(self) -> bool:
        """Whether the call has never begun to act."""
        return self.starts == 0 and self.fault is None


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
    `held` are inputs that joined the turn while calls were unanswered. `route` is the mode that the router named, None
    before it has. `wrap_up` is why the turn is being wrapped up, `last_step` the step that answers then. `used` are
    the tools that were started, `withdrawn` those that may not be any more, `keys` how often each call was made.
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
    trim: ContextTrimmed | None = None
    route: str | None = None
    wrap_up: str | None = None
    last_step: int = 0
    quota: str | None = None
    revision: int = field(default=0, compare=False)
    reply: Reply | None = None
    checked: AnswerChecked | None = None
    notices: int = 0
    held: list[UserMessage] = field(default_factory=list[UserMessage])
    holds_reasoning: bool = False
    calls: dict[CallId, CallProgress] = field(default_factory=dict[CallId, CallProgress])
    unsettled: int = 0
    used: set[str] = field(default_factory=set[str])
    withdrawn: set[str] = field(default_factory=set[str])
    keys: dict[str, int] = field(default_factory=dict[str, int])

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
        is_free = self.is_open and self.unsettled == 0 and not self.asked and not self.has_answer
        return (
            is_free and not self.is_unrouted and not (self.runs_command and isinstance(self.messages[-1], ToolMessage))
        )

    @property
    def runs_command(self) -> bool:
        """Whether the turn is a command, and no model has been asked."""
        return self.started is not None and self.started.command is not None and self.counters.steps == 0

    @property
    def is_unrouted(self) -> bool:
        """Whether the turn has yet to be given its mode."""
        return self.is_open and self.started is not None and bool(self.started.routes)

    @property
    def has_evidence(self) -> bool:
        """Whether a call of the turn has succeeded."""
        return any(isinstance(each, ToolMessage) and isinstance(each.result, Succeeded) for each in self.messages)

    def concerns(self, revoked: RevokeAsked) -> bool:
        """Whether the turn has to end for `revoked`: it withdraws all, or a tool that the turn has used."""
        return not (revoked.tool or revoked.owner) or bool(self.used & self.tools_of(revoked))

    def tools_of(self, revoked: RevokeAsked) -> set[str]:
        """The names of the turn's tools that `revoked` withdraws."""
        specs = self.tools.values()
        return {
            each.name
            for each in specs
            if each.name == revoked.tool or (revoked.owner != "" and each.owner == revoked.owner)
        }

    @property
    def has_answer(self) -> bool:
        """Whether the last reply asks for no tool and says something, and nothing was said against it."""
        reply = self.reply
        if reply is None or reply.calls or reply.problem or self.messages[-1] is not reply:
            return False
        return bool(reply.text.strip())


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
    before = None if turn.started is None else turn.started.policy
    turn.started = event
    turn.started_at = at
    turn.tools = {tool.name: tool for tool in event.tools}
    turn.messages = [event.input]
    turn.counters = Counters()
    turn.step = turn.attempt = turn.unsettled = 0
    turn.choice = turn.asks_of_choice = turn.notices = 0
    turn.asked = turn.holds_reasoning = False
    if (
        turn.cut is not None
        or turn.trim is not None
        or (before is not None and _writes_otherwise(before, event.policy))
    ):
        turn.revision += 1
    turn.fault = turn.cut = turn.trim = turn.reply = turn.checked = turn.interrupted = turn.revoked = turn.end = None
    turn.route = turn.wrap_up = turn.quota = None
    turn.last_step = 0
    turn.calls = {}
    turn.held = []
    turn.used, turn.withdrawn, turn.keys = set(), set(), {}
    if event.command is not None:  # stands as if a reply had asked for it, so that history and audit hold it alike
        turn.step = turn.unsettled = 1
        turn.reply = Reply(text="", calls=(event.command,), stop="tool_calls")
        turn.messages.append(turn.reply)
        turn.calls = {event.command.id: CallProgress(call=event.command)}


def _writes_otherwise(before: LoopPolicy, after: LoopPolicy) -> bool:
    """Whether messages that were sent under `before` are sent in another form under `after`."""
    forms = [(each.protocol, each.action_form, each.max_steps == 0) for each in (before, after)]
    return forms[0] != forms[1]


def _advance(
    turn: Turn,
    event: ModeChosen
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
    | InterruptAsked
    | RevokeAsked
    | TurnEnded,
    record: Recorded,
) -> None:
    match event:
        case ModeChosen():
            _require(turn.is_unrouted and turn.route is not None, turn, record, "no router has spoken")
            _take_mode(turn, event)
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
            if event.attempt == 1 and event.step > 0:  # the router's call is no step (M-10)
                turn.counters.steps += 1
            turn.counters.model_calls += 1
            is_next = event.attempt == 1 or event.choice != turn.choice
            turn.asks_of_choice = 1 if is_next else turn.asks_of_choice + 1
            turn.step, turn.attempt, turn.choice = event.step, event.attempt, event.choice
            turn.asked, turn.fault = True, None
        case ModelReplied(reply=reply):
            _require(_answers(turn, event), turn, record, "nobody asked")
            if turn.is_unrouted:
                turn.asked = False
                turn.counters.add(reply.usage)
                turn.route = reply.text.strip()
            else:
                _take_reply(turn, reply, record)
        case ModelFaulted():
            _require(_answers(turn, event), turn, record, "nobody asked")
            turn.asked = False
            if turn.is_unrouted:  # then it is the agent's ordinary turn
                turn.route = ""
            else:
                turn.fault, turn.fault_at = event, record.at
        case ContextCut():
            _require(_is_too_long(turn, event), turn, record, "the last prompt was not too long, or was cut already")
            turn.cut = event
            turn.revision += 1
        case ContextTrimmed():
            _require(turn.unsettled == 0, turn, record, "calls are unanswered")
            turn.trim = event
            turn.revision += 1
        case WrapUpBegan(reason=reason):
            _require(turn.wrap_up is None, turn, record, "the turn is being wrapped up already")
            turn.wrap_up, turn.last_step = reason, turn.step + 1
            turn.fault, turn.asked = None, False
        case QuotaReached(limit=limit):
            turn.quota = limit
        case AnswerChecked():
            _require(turn.has_answer and turn.checked is None, turn, record, "there is no unchecked answer")
            turn.checked = event
        case NoticeGiven(text=text):
            is_answer = _ends_in_words(turn)
            _require(
                is_answer or _ends_in_results(turn), turn, record, "the last thing said is not an answer of the model"
            )
            turn.messages.append(UserMessage(text=text))
            turn.notices += is_answer
        case CallJudged(verdict=verdict):
            progress = _progress(turn, event.step, event.call_id, record)
            _require(progress.verdict is None, turn, record, "the call has a verdict already")
            progress.verdict = verdict
            if isinstance(verdict, Deny):
                _settle(turn, progress, Denied(reason=verdict.reason, rule=verdict.rule))
        case ToolStarted():
            progress = _progress(turn, event.step, event.call_id, record)
            _require(isinstance(progress.verdict, Allow), turn, record, "the call was not allowed")
            _start_call(turn, progress)
        case ToolFaulted(result=failed):
            progress = _progress(turn, event.step, event.call_id, record)
            _require(progress.started, turn, record, "the call never started")
            progress.attempts += 1
            progress.fault, progress.fault_at, progress.starts, progress.probe = failed, record.at, 0, None
        case CallCharged(spent=spent, child=child):
            progress = _progress(turn, event.step, event.call_id, record)
            _require(progress.started, turn, record, "the call never started")
            before = progress.charged.get(child, NOTHING)
            _require(spent.covers(before), turn, record, "it takes back what was spent")
            turn.counters.charge(spent, before)
            progress.charged[child] = spent
        case ToolSettled(result=result):
            progress = _progress(turn, event.step, event.call_id, record)
            _require(not progress.is_new or isinstance(result, Denied), turn, record, "the call never started")
            _settle(turn, progress, result)
        case CallProbed():
            progress = _progress(turn, event.step, event.call_id, record)
            _require(progress.started and progress.probe is None, turn, record, "the call was not cut off")
            progress.probe = event
        case InterruptAsked():
            turn.interrupted = event
        case RevokeAsked():
            turn.withdrawn |= turn.tools_of(event)
            if turn.concerns(event):
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
        next_step = 0 if turn.is_unrouted else turn.step + 1
        return asked.step == next_step and not turn.asked and turn.fault is None
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


def _ends_in_results(turn: Turn) -> bool:
    """Whether the last message is the result of a call, and nothing is under way."""
    return isinstance(turn.messages[-1], ToolMessage) and not turn.unsettled and not turn.asked


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


def _take_mode(turn: Turn, chosen: ModeChosen) -> None:
    if turn.started is not None:
        turn.revision += _writes_otherwise(turn.started.policy, chosen.policy)
        turn.started = replace(
            turn.started,
            mode=chosen.mode,
            policy=chosen.policy,
            tools=chosen.tools,
            instructions=chosen.instructions,
            routes=(),
        )
    turn.tools = {tool.name: tool for tool in chosen.tools}
    turn.step = turn.attempt = 0
    turn.choice = turn.asks_of_choice = 0


def _start_call(turn: Turn, progress: CallProgress) -> None:
    """An attempt begins, or the one that was cut off begins again, which is the same attempt and costs nothing."""
    name = progress.call.name
    counts_repeats = turn.started is not None and turn.started.policy.repeat != "allow"
    if counts_repeats and progress.is_new and isinstance(progress.verdict, Allow):
        key = key_of(progress.call, progress.verdict)
        turn.keys[key] = turn.keys.get(key, 0) + 1
    if not progress.started:
        spec = turn.tools.get(name)
        turn.counters.tool_calls += 1
        turn.counters.write_calls += spec is None or spec.writes
    turn.used.add(name)
    progress.starts += 1
    progress.fault = progress.probe = None


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
    if isinstance(result, Failed) and result.retryable and isinstance(progress.verdict, Allow) and turn.keys:
        key = key_of(progress.call, progress.verdict)
        turn.keys[key] = turn.keys.get(key, 1) - 1  # what may work later is no repeat when it is tried then
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
