"""Short words for telling a session in a test, and a driver that plays one with `decide` and `apply` alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, assert_never, cast

from oribi.core.actions import Action, CallModel, CheckAnswer, End, Judge, Probe, Record, Rest, RunTools, WriteOff
from oribi.core.budget import Spent
from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    Failed,
    Json,
    JsonObject,
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
from oribi.core.decide import decide, may_try_again
from oribi.core.events import (
    AnswerChecked,
    CallCharged,
    CallJudged,
    CallProbed,
    ContextCut,
    ContextTrimmed,
    Event,
    FilesRead,
    ModeChosen,
    ModelAsked,
    ModelFaulted,
    ModelReplied,
    NoticeGiven,
    QuotaReached,
    Recorded,
    RequestRef,
    SessionOpened,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.messages import Message, ModelChoice, Reply, StopReason, ToolMessage, Usage, UserMessage
from oribi.core.policy import LoopPolicy
from oribi.core.prompt import Prompt
from oribi.core.turn import Turn, apply, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hypothesis.vendor.pretty import RepresentationPrinter

    from oribi.core.errors import FaultKind

SECOND = 1_000_000
SESSION = SessionId("s1")
MODEL = ModelChoice(provider="scripted", name="m", wire="scripted")
SPARE = ModelChoice(provider="spare", name="n", wire="scripted")
LAST = ModelChoice(provider="last", name="o:8b", wire="scripted")
NUMBER: JsonObject = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
NO_REQUEST = RequestRef(
    sha256="0" * 64,
    bytes=0,
    system_characters=0,
    memory_characters=0,
    history_turns=0,
    turns_left_out=0,
    messages=0,
    tools=0,
)

LOOK = ToolSpec(name="look", description="Look.", parameters={"type": "object"}, effect="pure")
SET = ToolSpec(name="set", description="Set.", parameters={"type": "object"}, effect="idempotent")
BOOK = ToolSpec(name="book", description="Book.", parameters={"type": "object"}, effect="reconcilable")
SEND = ToolSpec(name="send", description="Send.", parameters={"type": "object"}, effect="once")
TOOLS = (LOOK, SET, BOOK, SEND)

OPENED = SessionOpened(agent="ops", principal="ada", channel="cli")


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """An event with the time at which it is recorded, where a test cares (microseconds)."""

    at: int
    event: Event


Told: TypeAlias = Event | At


def recorded(*events: Told) -> list[Recorded]:
    """`events` with their places in the session; a time holds until the next `At`."""
    records: list[Recorded] = []
    turn_id: TurnId | None = None
    at = 0
    for seq, told in enumerate(events, start=1):
        event = told
        if isinstance(event, At):
            at, event = event.at, event.event
        if isinstance(event, TurnStarted):
            turn_id = event.turn_id
        of = None if isinstance(event, SessionOpened) else turn_id
        records.append(Recorded(session_id=SESSION, seq=seq, turn_id=of, at=at, event=event))
    return records


def turn_of(*events: Told) -> Turn:
    """The turn that an opened session and `events` leave behind."""
    return fold(SESSION, recorded(OPENED, *events))


def began(
    text: str = "hi",
    *,
    turn: str = "t1",
    policy: LoopPolicy | None = None,
    tools: tuple[ToolSpec, ...] = TOOLS,
    instructions: str = "Be brief.",
    datetime_line: str = "",
    fallbacks: tuple[ModelChoice, ...] = (),
    output_schema: JsonObject | None = None,
) -> TurnStarted:
    """A turn that starts with the input `text`."""
    return TurnStarted(
        turn_id=TurnId(turn),
        input=UserMessage(text=text),
        agent="ops",
        model=MODEL,
        policy=policy or LoopPolicy(),
        tools=tools,
        instructions=instructions,
        datetime_line=datetime_line,
        fallbacks=fallbacks,
        output_schema=output_schema,
    )


def asked(step: int = 1, attempt: int = 1, *, choice: int = 0) -> ModelAsked:
    """The model was asked, or a fallback of it."""
    return ModelAsked(step=step, attempt=attempt, request=NO_REQUEST, choice=choice)


def call(call_id: str, tool: str = "look", arguments: JsonObject | Malformed | None = None) -> ToolCall:
    """The model's request to use `tool`."""
    return ToolCall(id=CallId(call_id), name=tool, arguments={} if arguments is None else arguments)


def said(text: str, *calls: ToolCall, usage: Usage | None = None) -> Reply:
    """What the model said."""
    stop: StopReason = "tool_calls" if calls else "stop"
    return Reply(text=text, calls=calls, stop=stop, usage=usage or Usage())


def replied(reply: Reply, *, step: int = 1, attempt: int = 1) -> ModelReplied:
    """The model replied."""
    return ModelReplied(step=step, attempt=attempt, reply=reply)


def faulted(
    kind: FaultKind = "network", *, step: int = 1, attempt: int = 1, retry_after_seconds: float | None = None
) -> ModelFaulted:
    """The model gave no reply."""
    return ModelFaulted(
        step=step, attempt=attempt, kind=kind, message=f"it was {kind}", retry_after_seconds=retry_after_seconds
    )


def noticed(text: str, *, step: int = 1) -> NoticeGiven:
    """The model was told that its answer cannot be used."""
    return NoticeGiven(step=step, text=text)


def checked(value: Json = None, *, problem: str | None = None, step: int = 1) -> AnswerChecked:
    """The answer was held against the output schema."""
    return AnswerChecked(step=step, value=value, problem=problem)


def cut(
    history_turns: int,
    result_characters: int,
    *,
    sizes: tuple[int, int] = (0, 0),
    step: int = 1,
    attempt: int = 1,
) -> ContextCut:
    """Less of the conversation is sent from now on; `sizes` are the characters before and after."""
    return ContextCut(
        step=step,
        attempt=attempt,
        history_turns=history_turns,
        result_characters=result_characters,
        characters_before=sizes[0],
        characters_after=sizes[1],
    )


def chose(
    mode: str, policy: LoopPolicy, *, tools: tuple[ToolSpec, ...] = TOOLS, instructions: str = "Be brief."
) -> ModeChosen:
    """The router named a mode."""
    return ModeChosen(mode=mode, policy=policy, tools=tools, instructions=instructions)


def trimmed(
    *, history_turns: int = 0, steps_left_out: int = 0, removed: int, tokens: tuple[int, int]
) -> ContextTrimmed:
    """The oldest messages are not sent from now on; `tokens` are the estimates before and after."""
    return ContextTrimmed(
        history_turns=history_turns,
        steps_left_out=steps_left_out,
        removed=removed,
        tokens_before=tokens[0],
        tokens_after=tokens[1],
    )


def wrapping_up(reason: str) -> WrapUpBegan:
    """The model may once answer from what was found."""
    return WrapUpBegan(reason=reason)


def tool_faulted(call_id: str, text: str = "busy", *, step: int = 1) -> ToolFaulted:
    """An attempt of the call failed in a way that may pass."""
    return ToolFaulted(step=step, call_id=CallId(call_id), result=Failed(text=text, retryable=True))


def allowed(call_id: str, *, step: int = 1, key: str | None = None) -> CallJudged:
    """Policy allowed the call; `key` is what its tool says makes it the same as another."""
    return CallJudged(step=step, call_id=CallId(call_id), verdict=Allow(rule="catalogue", key=key))


def denied(call_id: str, *, step: int = 1) -> CallJudged:
    """Policy denied the call."""
    return CallJudged(step=step, call_id=CallId(call_id), verdict=Deny(rule="no-send", reason="not today"))


def acting(call_id: str, *, step: int = 1) -> ToolStarted:
    """The call began to act."""
    return ToolStarted(step=step, call_id=CallId(call_id))


def settled(call_id: str, result: ToolResult | None = None, *, step: int = 1) -> ToolSettled:
    """The call has a result."""
    return ToolSettled(step=step, call_id=CallId(call_id), result=result or Succeeded(text=f"{call_id} done"))


def ran(call_id: str, result: ToolResult | None = None, *, step: int = 1) -> tuple[Event, Event, Event]:
    """The call was allowed, acted, and has a result."""
    return allowed(call_id, step=step), acting(call_id, step=step), settled(call_id, result, step=step)


def answer(call_id: str, tool: str = "look", result: ToolResult | None = None) -> ToolMessage:
    """The message that tells the model what came of its call."""
    return ToolMessage(call_id=CallId(call_id), name=tool, result=result or Succeeded(text=f"{call_id} done"))


def files(*, bootstrap: str = "", skills: str = "", memory: str = "") -> FilesRead:
    """The prompt's files were read."""
    return FilesRead(bootstrap=bootstrap, skills=skills, memory=memory, memory_read=len(memory), sources=())


def prompt_of(
    *messages: Message,
    system: str = "Be brief.",
    first: int = 0,
    history_turns: int = 0,
    turns_left_out: int = 0,
    memory_characters: int = 0,
    model: ModelChoice = MODEL,
    revision: int = 0,
    output_schema: JsonObject | None = None,
) -> Prompt:
    """The prompt that holds `messages` and the tools of this file."""
    return Prompt(
        model=model,
        system=system,
        messages=list(messages),
        tools=TOOLS,
        first=first,
        history_turns=history_turns,
        turns_left_out=turns_left_out,
        memory_characters=memory_characters,
        revision=revision,
        output_schema=output_schema,
    )


class World(Protocol):
    """What a turn meets outside, for `play`. None means that the runtime was cut off before it came to know."""

    def now(self) -> int:
        """The time, in microseconds."""
        ...

    def happens(self, turn: Turn) -> Event | None:
        """Something that arrives before the next decision: an interrupt, a revocation, changed files."""
        ...

    def mode(self, turn: Turn) -> ModeChosen:
        """What the mode that the router named brings with it."""
        ...

    def quota_spent(self) -> bool:
        """Whether the person's daily quota leaves no room for another call."""
        ...

    def reply(self, ask: CallModel) -> Reply | ModelFaulted | None:
        """What the model says."""
        ...

    def judge(self, call: ToolCall) -> Verdict:
        """What policy says."""
        ...

    def run(self, call: ToolCall) -> ToolResult | None:
        """What comes of an allowed call."""
        ...

    def nested(self, turn: Turn, call: ToolCall, among: int) -> Sequence[Spent]:
        """What the turn nested in a call, one of `among` that run at the same time, says it has spent, in order."""
        ...

    def finish(self, group: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """The order in which calls that run at the same time come back."""
        ...

    def probe(self, call: ToolCall) -> ToolResult | None:
        """What came of a call that was cut off; None: it did not happen."""
        ...

    def check(self, text: str) -> str | None:
        """Why an answer does not fit the output schema, None when it does; its value is its length here."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An action with what it was decided from: the state after event `seq`, the time `now`."""

    seq: int
    now: int
    action: Action


def line_of(value: object, *, most: int = 200) -> str:
    """`value` on one line: its fields that are not as by default, long texts cut, tools and prompts by name only."""
    match value:
        case str():
            return repr(value if len(value) <= most else f"{value[:most]}... ({len(value)} characters)")
        case ToolSpec(name=name):
            return name
        case Prompt(messages=messages, tools=tools):
            return f"Prompt({len(messages)} messages, {len(tools)} tools)"
        case RequestRef():
            return f"request({value.messages} messages, {value.tools} tools, {value.turns_left_out} turns left out)"
        case list() | tuple():
            items = cast("Sequence[object]", value)
            return f"[{', '.join(line_of(item, most=most) for item in items)}]"
        case _ if is_dataclass(value):
            shown = [each for each in fields(value) if getattr(value, each.name) != _default(each)]
            told = (f"{each.name}={line_of(getattr(value, each.name), most=most)}" for each in shown)
            return f"{type(value).__name__}({', '.join(told)})"
        case _:
            return repr(value)


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


@dataclass(slots=True, kw_only=True, repr=False)
class Play:
    """A session being played: every record, every decision, and the state kept by `apply` as it goes."""

    turn: Turn = field(default_factory=lambda: Turn(session_id=SESSION))
    records: list[Recorded] = field(default_factory=list[Recorded])
    decisions: list[Decision] = field(default_factory=list[Decision])

    def __repr__(self) -> str:
        """The records and decisions in their order, one a line: what a failing property shows of it."""
        decided = {decision.seq: decision for decision in self.decisions}
        lines: list[str] = []
        for record in self.records:
            lines.append(f"{record.seq} {line_of(record.event)}")
            if record.seq in decided:
                lines.append(f"    -> {line_of(decided[record.seq].action)}")
        return "\n".join(lines)

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:  # noqa: FBT001 - Hypothesis calls it
        printer.text(f"Play(\n{self!r}\n)")

    @property
    def actions(self) -> list[Action]:
        """What was decided, in order."""
        return [decision.action for decision in self.decisions]

    @property
    def prompts(self) -> list[Prompt]:
        """Every prompt the model was given, in order."""
        return [action.prompt for action in self.actions if isinstance(action, CallModel)]

    @property
    def starts(self) -> list[CallId]:
        """Every start of a call, in order."""
        return [record.event.call_id for record in self.records if isinstance(record.event, ToolStarted)]

    def record(self, event: Event, *, at: int = 0) -> None:
        """Add `event` to the session."""
        if isinstance(event, TurnStarted):
            turn_id: TurnId | None = event.turn_id
        else:
            turn_id = self.turn.started.turn_id if self.turn.started else None
        record = Recorded(session_id=SESSION, seq=self.turn.seq + 1, turn_id=turn_id, at=at, event=event)
        apply(self.turn, record)
        self.records.append(record)

    def drive(self, world: World, *, most_decisions: Callable[[TurnStarted], int] = lambda _: 1_000) -> None:
        """Do what `decide` says until it rests.

        Raises:
            AssertionError: It did not rest within `most_decisions`, and one more for each thing that happened.

        """
        decisions = happenings = 0
        while self.turn.started is None or decisions < most_decisions(self.turn.started) + happenings:
            decisions += 1
            happening = world.happens(self.turn)
            if happening is not None:
                happenings += 1
                self.record(happening, at=world.now())
            if self.turn.is_unrouted and self.turn.route is not None:
                self.record(world.mode(self.turn), at=world.now())
            now = world.now()
            action = decide(self.turn, now)
            self.decisions.append(Decision(seq=self.turn.seq, now=now, action=action))
            if isinstance(action, Rest):
                return
            self._do(action, world)
        raise AssertionError(f"the turn did not end within {decisions} decisions")

    def _do(  # noqa: C901, PLR0912 - one match over all actions
        self, action: Judge | CallModel | RunTools | Probe | WriteOff | CheckAnswer | Record | End, world: World
    ) -> None:
        step = self.turn.step
        match action:
            case Judge(calls=calls):
                for each in calls:
                    self.record(CallJudged(step=step, call_id=each.id, verdict=world.judge(each)), at=world.now())
            case CallModel() if world.quota_spent():
                self.record(QuotaReached(limit="daily model_calls"), at=world.now())
            case CallModel(step=step, attempt=attempt, choice=choice):
                self.record(asked(step, attempt, choice=choice), at=world.now())
                came = world.reply(action)
                if came is not None:
                    event = came if isinstance(came, ModelFaulted) else replied(came, step=step, attempt=attempt)
                    self.record(event, at=world.now())
            case RunTools() as run:
                for group in _groups(self.turn, run):
                    if not self._run_group(group, world):
                        return
            case Probe(call=each):
                found = world.probe(each)
                self.record(CallProbed(step=step, call_id=each.id, found=found), at=world.now())
            case WriteOff(settled=written_off):
                for call_id, result in written_off:
                    self.record(settled(call_id, result, step=step), at=world.now())
            case CheckAnswer(text=text):
                problem = world.check(text)
                value = len(text) if problem is None else None
                self.record(checked(value, problem=problem, step=step), at=world.now())
            case Record(event=event):
                self.record(event, at=world.now())
            case End(end=end):
                self.record(TurnEnded(end=end), at=world.now())
            case _:
                assert_never(action)

    def _run_group(self, group: Sequence[ToolCall], world: World) -> bool:
        """Run calls side by side, as `oribi.turn.acts` does; False when something has to be decided first."""
        turn, step = self.turn, self.turn.step
        if world.quota_spent() and not all(turn.calls[each.id].started for each in group):
            self.record(QuotaReached(limit="daily tool_calls"), at=world.now())
            return False
        for each in group:
            self.record(acting(each.id, step=step), at=world.now())
        before = turn.counters.spent
        for each in world.finish(group):
            for spent in world.nested(turn, each, len(group)):
                charged = CallCharged(step=step, call_id=each.id, spent=spent, child=SessionId("s2"))
                self.record(charged, at=world.now())
            result = world.run(each)
            if isinstance(result, Failed) and may_try_again(turn, each, result):
                self.record(ToolFaulted(step=step, call_id=each.id, result=result), at=world.now())
            elif result is not None:
                self.record(settled(each.id, result, step=step), at=world.now())
        results = [turn.calls[each.id].result for each in group]
        is_plain = all(result is not None and not isinstance(result, Failed) for result in results)
        return is_plain and turn.counters.spent == before


def _groups(turn: Turn, run: RunTools) -> list[list[ToolCall]]:
    """The calls in groups that may run side by side."""
    groups: list[list[ToolCall]] = []
    for each in run.calls:
        last = groups[-1] if groups else []
        beside = {tool.name for tool in turn.tools.values() if tool.parallel}
        if last and len(last) < run.at_once and beside.issuperset(call.name for call in [*last, each]):
            last.append(each)
        else:
            groups.append([each])
    return groups


@dataclass(slots=True, kw_only=True)
class Script:
    """A world told in advance: `replies` in order, files that change before the n-th model call, tools that obey."""

    replies: Sequence[Reply | ModelFaulted]
    results: Mapping[str, ToolResult | Sequence[ToolResult]]
    verdict: Verdict
    between: Mapping[int, FilesRead]
    modes: Mapping[str, ModeChosen]
    spends: Mapping[str, Sequence[Spent]]
    asks: int = 0
    runs: Counter[str] = field(default_factory=Counter[str])

    def now(self) -> int:
        return 0

    def probe(self, call: ToolCall) -> ToolResult | None:
        return None

    def happens(self, turn: Turn) -> Event | None:
        read = self.between.get(self.asks + 1)
        return read if turn.wants_model and read != turn.files else None

    def mode(self, turn: Turn) -> ModeChosen:
        assert turn.started is not None
        return self.modes.get(
            turn.route or "",
            ModeChosen(
                mode="", policy=turn.started.policy, tools=turn.started.tools, instructions=turn.started.instructions
            ),
        )

    def quota_spent(self) -> bool:
        return False

    def nested(self, turn: Turn, call: ToolCall, among: int) -> Sequence[Spent]:
        return self.spends.get(call.id, ())

    def finish(self, group: Sequence[ToolCall]) -> Sequence[ToolCall]:
        return group

    def reply(self, ask: CallModel) -> Reply | ModelFaulted:
        self.asks += 1
        return self.replies[self.asks - 1]

    def judge(self, call: ToolCall) -> Verdict:
        return self.verdict

    def run(self, call: ToolCall) -> ToolResult:
        results = self.results.get(call.id, Succeeded(text=f"{call.id} done"))
        if not isinstance(results, Succeeded | Failed | Denied | Unknown):
            self.runs[call.id] += 1
            results = results[self.runs[call.id] - 1]
        return results

    def check(self, text: str) -> str | None:
        return None if text.startswith("{") else "it is not JSON"


def play(
    started: TurnStarted,
    replies: Sequence[Reply | ModelFaulted],
    *,
    results: Mapping[str, ToolResult | Sequence[ToolResult]] | None = None,
    verdict: Verdict | None = None,
    between: Mapping[int, FilesRead] | None = None,
    modes: Mapping[str, ModeChosen] | None = None,
    spends: Mapping[str, Sequence[Spent]] | None = None,
) -> Play:
    """Play one turn to its end. The model has exactly these `replies`: one more is an IndexError.

    Each call has one result, or one for each of its attempts.
    """
    played = Play()
    played.record(OPENED)
    played.record(started)
    script = Script(
        replies=replies,
        results=results or {},
        verdict=verdict or Allow(rule="catalogue"),
        between=between or {},
        modes=modes or {},
        spends=spends or {},
    )
    played.drive(script)
    assert script.asks == len(replies), "the model was not asked for every reply"
    return played
