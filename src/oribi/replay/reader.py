"""The reader: a record in the place of the world. Its ports give back what was recorded, in the order it was.

What comes next is always told by the session's own `seq`: the record after it is what really happened then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.lowlevel

from oribi.core.calls import Allow, Malformed, SessionId, ToolResult
from oribi.core.decide import deadline_of
from oribi.core.errors import JournalError, ModelError, OribiError
from oribi.core.events import (
    AnswerChecked,
    CallCharged,
    CallJudged,
    CallProbed,
    CallResolved,
    Erased,
    FilesRead,
    InputAdded,
    InterruptAsked,
    ModelAsked,
    ModelChosen,
    ModelFaulted,
    ModelReplied,
    QuotaReached,
    RevokeAsked,
    ToolFaulted,
    ToolSettled,
    TurnEnded,
    TurnStarted,
)
from oribi.core.mail import Input, Interrupt, Revoke, Steer
from oribi.core.modes import Command
from oribi.ports import AgentSnapshot, Invocation, Ports

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oribi.core.calls import Json, JsonObject, ToolCall, ToolSpec, Verdict
    from oribi.core.events import Event, Recorded
    from oribi.core.mail import Letter
    from oribi.core.messages import ModelChoice, Reply
    from oribi.core.policy import LoopPolicy
    from oribi.core.prompt import Prompt
    from oribi.ports import Listen, Model, Request
    from oribi.replay.encoders import Encoder, Encoding
    from oribi.turn.session import Session


class CutOffError(OribiError):
    """What the record shows: here the runtime was cut off, or something came from outside before it went on."""


class DivergedError(OribiError):
    """The loop did something else than what was recorded: `made` in the place of `was` (None: nothing was)."""

    def __init__(self, made: Recorded, was: Recorded | None) -> None:
        super().__init__(f"record {made.seq} differs")
        self.made = made
        self.was = was


class Reader:
    """All ports of a session that is replayed from `records`. It is told whenever the session is opened."""

    def __init__(self, records: Sequence[Recorded], encoders: Encoding) -> None:
        self.records = records
        self.session: Session | None = None
        self.steps = 0
        self._fed: set[int] = set()
        self._appended: list[Recorded] = []
        self._encoders = encoders

    @property
    def ports(self) -> Ports:
        """The ports."""
        return Ports(
            agents=self,
            models=self,
            tools=self,
            journal=self,
            clock=self,
            check_answer=self.check_answer,
            quota=self,
        )

    def opened(self, session: Session) -> None:
        """The session is opened, at the start or after a cut; its inbox is empty."""
        self.session = session
        self._fed.clear()

    def next(self) -> Event | None:
        """What really happened next; None at the end of the record."""
        seq = 0 if self.session is None else self.session.turn.seq
        return self.records[seq].event if seq < len(self.records) else None

    def feed(self, after: int = 0) -> None:
        """Put what came from outside just now, or `after` so many records, into the session's inbox."""
        session = self._session
        for index, record in enumerate(self.records[session.turn.seq + after :]):
            if record.seq in self._fed:
                continue
            self._fed.add(record.seq)
            match record.event:
                case InterruptAsked(by=by, mail=mail) if index == 0:
                    session.send(Interrupt(by=by), mail)
                case RevokeAsked(what=what, mail=mail, tool=tool, owner=owner) if index == 0 or tool or owner:
                    session.send(Revoke(what=what, tool=tool, owner=owner), mail)
                case InputAdded(input=added, mail=mail):
                    session.send(Steer(text=added.text, parts=added.parts), mail)
                case _:
                    self._fed.discard(record.seq)
                    return

    @property
    def _session(self) -> Session:
        if self.session is None:
            raise LookupError("no session is replayed")
        return self.session

    # --- journal ---

    async def open_session(self, session_id: SessionId) -> int:
        return 1

    def read(self, session_id: SessionId, after: int = 0) -> list[Recorded]:
        return self._appended[after:]

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        for record in records:
            was = self.records[record.seq - 1] if record.seq <= len(self.records) else None
            if was is None or (record.event, record.turn_id) != (was.event, was.turn_id):
                raise DivergedError(record, was)
            self._appended.append(was)  # with the time at which it was recorded
            self.steps += isinstance(record.event, ModelAsked)

    def joining_letters(self, session_id: SessionId, after: int) -> list[Letter]:
        """What came from outside is put into the inbox at once; what the loop has no part in stops it."""
        if isinstance(self.next(), CallResolved | Erased | ModelChosen | None):
            raise CutOffError("something else came here")
        self.feed()
        return []

    # --- clock ---

    def now(self) -> int:
        session = self._session
        seq, turn = session.turn.seq, session.turn
        if seq >= len(self.records):
            raise CutOffError("the record ends here")
        before = self.records[seq - 1].at if seq else 0
        at = self.records[seq].at
        deadline = deadline_of(turn, turn.started) if turn.started is not None and turn.is_open else None
        if deadline is not None and before < deadline <= at and not self._is_of_a_stop(self.records[seq].event):
            return deadline - 1  # what was recorded too late had begun in time
        return at

    def _is_of_a_stop(self, event: Event) -> bool:
        """Whether the passing of the deadline itself can have led to `event`: an end, or a call that never began."""
        if isinstance(event, ToolSettled):
            progress = self._session.turn.calls.get(event.call_id)
            return progress is not None and not progress.started
        return isinstance(event, TurnEnded)

    def local_line(self) -> str:
        event = self.coming_turn()
        return "" if event is None else event.datetime_line

    def coming_turn(self) -> TurnStarted | None:
        """The turn that starts next; its session may have to be opened before."""
        seq = self._session.turn.seq
        for record in self.records[seq : seq + 2]:
            if isinstance(record.event, TurnStarted):
                return record.event
        return None

    # --- agents ---

    def load(self, name: str, mode: str = "") -> AgentSnapshot:
        started = self.coming_turn()
        if started is None:
            raise JournalError("no turn starts here")
        call = started.command
        return AgentSnapshot(
            name=started.agent,
            description="",
            model=started.model,
            policy=started.policy,
            tools=started.tools,
            instructions=started.instructions,
            fallbacks=started.fallbacks,
            output_schema=started.output_schema,
            lock=started.lock,
            mode=started.mode,
            routes=started.routes,
            commands=() if call is None else (_command(started.input.text, call),),
        )

    def read_files(self, agent: str, policy: LoopPolicy, principal: str) -> FilesRead:
        event = self.next()
        return event if isinstance(event, FilesRead) else self._session.turn.files

    # --- models ---

    def get(self, choice: ModelChoice) -> Model:
        return _ReadModel(self, self._encoders.get(choice))

    # --- tools ---

    def judge(self, catalogue: Mapping[str, ToolSpec], call: ToolCall, agent: str) -> Verdict:
        event = self.next()
        if isinstance(event, CallJudged) and event.call_id == call.id:
            return event.verdict
        return Allow(rule="nothing was recorded")  # which differs from what was, and is named

    async def run(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult:
        while isinstance(event := self.next(), ToolSettled | ToolFaulted | CallCharged):
            if event.call_id != call.id:  # one that ran beside it came back first
                await anyio.lowlevel.checkpoint()
            elif isinstance(event, CallCharged):
                invocation.charge(event.spent, event.child)
            else:
                self.feed(1)  # a stop that came while the tool ran keeps the next call from starting
                return event.result
        raise CutOffError(f"call {call.id} was cut off")

    async def probe(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult | None:
        event = self.next()
        if isinstance(event, CallProbed) and event.call_id == call.id:
            return event.found
        raise CutOffError(f"the probe of call {call.id} was cut off")

    def spent(self, principal: str, now: int) -> str | None:
        event = self.next()
        return event.limit if isinstance(event, QuotaReached) else None

    def tool_calls_left(self, principal: str, now: int) -> int | None:
        return 0 if isinstance(self.next(), QuotaReached) else None

    def check_answer(self, schema: JsonObject, text: str) -> tuple[Json, str | None]:
        """What was found when it was checked."""
        event = self.next()
        return (event.value, event.problem) if isinstance(event, AnswerChecked) else (None, None)


class _ReadModel:
    """A model that says what it said then."""

    def __init__(self, reader: Reader, encoder: Encoder) -> None:
        self._reader = reader
        self._encoder = encoder

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return self._encoder.build_request(prompt, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        event = self._reader.next()
        match event:
            case ModelReplied(reply=reply):
                return reply
            case ModelFaulted():
                raise ModelError(
                    event.kind, event.message, retry_after_seconds=event.retry_after_seconds, partial=event.partial
                )
            case _:
                raise CutOffError("the model call was cut off")


def input_of(started: TurnStarted) -> Input:
    """The input that began a turn."""
    return Input(
        text=started.input.text, parts=started.input.parts, output_schema=started.output_schema, mode=started.mode
    )


def _command(text: str, call: ToolCall) -> Command:
    """The command that the input `text` was."""
    arguments = {} if isinstance(call.arguments, Malformed) else call.arguments
    return Command(phrase=text, tool=call.name, arguments=arguments)
