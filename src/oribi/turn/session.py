"""The session: the only mutable cell. It takes in what arrives, records events, commits them, and bounds effects."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Self, assert_never

import anyio

from oribi.core.budget import tightened
from oribi.core.calls import CallId, TurnId
from oribi.core.decide import deadline_of
from oribi.core.errors import JournalError, OribiError, QuotaSpent
from oribi.core.events import InputAdded, InterruptAsked, ModeChosen, Recorded, RevokeAsked, SessionOpened, TurnStarted
from oribi.core.mail import Input, Interrupt, Mail, Revoke, Steer
from oribi.core.messages import UserMessage
from oribi.core.modes import Mode, command_call
from oribi.core.turn import NO_FILES, Turn, apply, fold
from oribi.ports import TextDelta
from oribi.turn.listen import Listeners

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from oribi.core.calls import SessionId
    from oribi.core.events import Event, FilesRead
    from oribi.core.policy import LoopPolicy
    from oribi.ports import AgentSnapshot, Delta, Ports, Request

MADE = "/"
"""Stands in the name of an agent that was made for one session, and that no folder has; it has no prompt files."""
DEADLINE_SLACK_SECONDS = 0.002
"""An effect is cut off this much after the deadline, so that the clock `decide` reads has passed it for certain."""


class SessionHeld(OribiError):  # noqa: N818 - what was asked for
    """The session was told to stop where it is; its open turn can be continued."""


class Session:
    """One durable conversation, driven by one writer.

    Nested in a call, it may have an agent `made` for it, and `outer_stops` says whether the calling turn is stopping.
    """

    def __init__(self, turn: Turn, epoch: int, ports: Ports, opening: SessionOpened) -> None:
        self.turn = turn
        self._opening = opening
        self.made: AgentSnapshot | None = None
        self.outer_stops: Callable[[], bool] = bool
        self.last_request: tuple[Request, int] | None = None
        self.listeners = Listeners()
        self._epoch = epoch
        self._ports = ports
        self._inbox: deque[tuple[Mail, int | None]] = deque()
        self._last_letter = 0
        self._is_held = False
        self._pending: list[Recorded] = []
        self._scope: anyio.CancelScope | None = None
        self._failed: JournalError | None = None
        self.commits = 0

    @property
    def agent(self) -> str:
        """The name of the session's agent."""
        return self._opening.agent

    @property
    def principal(self) -> str:
        """The person the session is for."""
        return self._opening.principal

    @property
    def depth(self) -> int:
        """How many turns the session's turns are nested in."""
        return 0 if self._opening.parent is None else self._opening.parent.depth

    @property
    def started(self) -> TurnStarted:
        """What the open turn was started with.

        Raises:
            LookupError: No turn was ever started.

        """
        if self.turn.started is None:
            raise LookupError(f"session {self.turn.session_id} has no turn")
        return self.turn.started

    @property
    def must_decide(self) -> bool:
        """Whether `decide` has to be asked before the next effect: a stop waits in the inbox, or the time is up."""
        withdraws = any(isinstance(mail, Revoke) for mail, _ in self._inbox)
        return withdraws or self.must_stop

    @property
    def must_stop(self) -> bool:
        """Whether nothing more may begin: as `must_decide`, but for what was withdrawn and does not end the turn."""
        return self._is_held or self._is_late or self._waiting_stop is not None

    @property
    def is_stopping(self) -> bool:
        """Whether the open turn comes to its end, or the one it is nested in: not just this process's part of it."""
        is_stopped = self.turn.interrupted is not None or self.turn.revoked is not None
        return is_stopped or self._is_late or self._waiting_stop is not None or self.outer_stops()

    @property
    def _is_late(self) -> bool:
        deadline = deadline_of(self.turn, self.started)
        return deadline is not None and self._ports.clock.now() >= deadline

    @property
    def _waiting_stop(self) -> InterruptAsked | RevokeAsked | None:
        """The first stop in the inbox, while the open turn has not been stopped yet."""
        if not self._inbox or self.turn.interrupted is not None or self.turn.revoked is not None:
            return None
        for mail, number in self._inbox:
            if isinstance(mail, Interrupt):
                return InterruptAsked(by=mail.by, mail=number)
            if isinstance(mail, Revoke) and self.turn.concerns(revoked := _revoked(mail, number)):
                return revoked
        return None

    def last_request_of(self, revision: int) -> Request | None:
        """The last request, if its messages are sent in the same form as those of `revision`."""
        if self.last_request is None or self.last_request[1] != revision:
            return None
        return self.last_request[0]

    def send(self, mail: Mail, number: int | None = None) -> None:
        """Put something into the session's inbox. A stop cuts off the effect that is under way.

        `number` is that of the letter in the database, where the mail came from there.
        """
        self._inbox.append((mail, number))
        if self._scope is not None and self._waiting_stop is not None:
            self._scope.cancel()

    @property
    def has_failed(self) -> bool:
        """Whether a write has failed: the session is ahead of its journal and must be opened again."""
        return self._failed is not None

    def drop_mail(self) -> None:
        """Forget what waits in the inbox."""
        self._inbox.clear()

    def hold(self) -> None:
        """Let the session stop where it is as soon as the effect under way is done: `take_in` raises from then on."""
        self._is_held = True

    def read_letters(self) -> None:
        """Take in what others sent to the open turn by way of the database; their inputs wait there for its end."""
        for letter in self._ports.journal.joining_letters(self.turn.session_id, self._last_letter):
            self._last_letter = letter.number
            self.send(letter.mail, letter.number)

    def take_in(self) -> None:
        """Record what waits in the inbox, and what the prompt's files say when a model call is next.

        Raises:
            ConfigError: A turn was to start and its agent or model cannot be used; nothing was recorded.
            SessionHeld: `hold` was called; the turn stays open.

        """
        if self._is_held:
            raise SessionHeld(f"session {self.turn.session_id!r} stops here; it can be continued")
        if self.turn.is_open:
            self.read_letters()
            self._take_open()
        else:
            while self._inbox and not isinstance(self._inbox[0][0], Input | Steer):
                self._inbox.popleft()  # there is no turn to stop
            if self._inbox:
                mail, number = self._inbox[0]
                if isinstance(mail, Input | Steer):
                    self._start_turn(mail, number)
                self._inbox.popleft()
                self._take_open()
        if self.turn.is_unrouted and self.turn.route is not None:
            self._choose_mode(self.turn.route)
        if self.turn.wants_model and not (self.started.policy.prompt_snapshot and self.turn.step > 0):
            files = self._read_files()
            if files != self.turn.files:
                self.record(files)

    def _read_files(self) -> FilesRead:
        started = self.started
        if MADE in started.agent:
            return NO_FILES
        return self._ports.agents.read_files(started.agent, started.policy, self.principal)

    def _load(self, mode: str) -> AgentSnapshot:
        return self._ports.agents.load(self.agent, mode) if self.made is None else self.made

    def _take_open(self) -> None:
        """Record the first stop that waits, what was withdrawn, and the inputs that join.

        A stop and a withdrawal are of the open turn, wherever they stand. What a person says after an input waits.
        """
        stop = self._waiting_stop
        if stop is not None:
            self.record(stop)
        waiting, self._inbox = self._inbox, deque[tuple[Mail, int | None]]()
        for mail, number in waiting:
            match mail:
                case Interrupt():
                    pass  # the turn is stopped
                case Revoke():
                    revoked = _revoked(mail, number)
                    if self.turn.revoked is None and not self.turn.concerns(revoked):
                        self.record(revoked)
                case Steer() if not self._inbox:
                    self.record(InputAdded(input=UserMessage(text=mail.text, parts=mail.parts), mail=number))
                case Input() | Steer():
                    self._inbox.append((mail, number))
                case _:
                    assert_never(mail)

    def _choose_mode(self, said: str) -> None:
        """Give the turn the mode that the router named; what is none of them leaves it as it is."""
        started = self.started
        mode = next((mode for mode in started.routes if mode.name == said and mode.policy is not None), None)
        if mode is None or mode.policy is None:
            chosen = ModeChosen(mode="", policy=started.policy, tools=started.tools, instructions=started.instructions)
        else:
            chosen = ModeChosen(mode=mode.name, policy=mode.policy, tools=mode.tools, instructions=mode.instructions)
        self.record(chosen)

    def _frozen(self, mode: Mode, given: Input | Steer) -> Mode:
        """A mode that a router may choose, as it is now: an edit after this counts for the next turn (M-18)."""
        if mode.policy is not None:
            return mode
        agent = self._load(mode.name)
        policy = _tightened(agent.policy, given)
        return replace(mode, policy=policy, tools=agent.tools, instructions=agent.instructions)

    def _start_turn(self, given: Input | Steer, number: int | None) -> None:
        mode = given.mode if isinstance(given, Input) else ""
        agent = self._load(mode)
        policy = _tightened(agent.policy, given)
        for choice in (agent.model, *agent.fallbacks):
            self._ports.models.get(choice)
        schema = given.output_schema if isinstance(given, Input) else None
        schema = agent.output_schema if schema is None else schema
        if schema is not None:
            self._ports.check_answer(schema, "null")  # a schema that is none is said now, before anything is recorded
        if self.turn.opened is None:
            self.record(self._opening)
        turn_id = TurnId(f"t{len(self.turn.history) + (2 if self.turn.started else 1)}")
        self.record(
            TurnStarted(
                turn_id=turn_id,
                input=UserMessage(text=given.text, parts=given.parts),
                agent=agent.name,
                model=agent.model,
                policy=policy,
                tools=agent.tools,
                instructions=agent.instructions,
                fallbacks=agent.fallbacks,
                output_schema=schema,
                lock=agent.lock,
                datetime_line=self._ports.clock.local_line() if policy.datetime_line else "",
                mail=number,
                mode=agent.mode,
                routes=tuple(self._frozen(each, given) for each in agent.routes),
                command=None if mode else command_call(agent.commands, given.text, CallId(f"{turn_id}_command")),
            )
        )

    def record(self, event: Event) -> None:
        """Apply `event` to the turn and keep it for the next commit."""
        record = self._next(event, self.turn.seq + 1)
        apply(self.turn, record)
        self._pending.append(record)

    def _next(self, event: Event, seq: int) -> Recorded:
        turn = self.turn
        if isinstance(event, TurnStarted):
            turn_id: TurnId | None = event.turn_id
        else:
            turn_id = turn.started.turn_id if turn.is_open and turn.started else None
        return Recorded(session_id=turn.session_id, seq=seq, turn_id=turn_id, at=self._ports.clock.now(), event=event)

    async def begin(self, *events: Event) -> str | None:
        """Make everything recorded durable, and with it the beginning of effects, which `events` are.

        The name of the limit that leaves no room for them in the person's daily quota: then neither is durable, and the
        session is as it was. None: they may begin.

        Raises:
            LeaseLost: As `commit`.
            JournalError: As `commit`.

        """
        starting = [self._next(event, self.turn.seq + place) for place, event in enumerate(events, start=1)]
        before, self._pending = self._pending, [*self._pending, *starting]
        try:
            pending = await self._append()
        except QuotaSpent as refused:
            self._failed, self._pending = None, before
            return refused.limit
        for record in starting:
            apply(self.turn, record)
        self._told(pending)
        return None

    async def commit(self) -> None:
        """Make everything recorded durable, then tell the listeners.

        Raises:
            LeaseLost: Another writer has the session. This one is finished.
            JournalError: The journal cannot be written. Nothing of the batch was, and this session stops for good:
                its state is ahead of the journal, so it must be opened again.

        """
        self._told(await self._append())

    async def _append(self) -> list[Recorded]:
        if self._failed is not None:
            raise self._failed
        pending, self._pending = self._pending, []
        if not pending:
            return []
        try:
            await self._ports.journal.append(self.turn.session_id, self._epoch, pending)
        except JournalError as error:
            self._failed = error
            raise
        except BaseException:
            name = self.turn.session_id
            self._failed = JournalError(f"session {name!r} was cut off while it was written; open it again")
            raise
        self.commits += 1
        return pending

    def _told(self, records: list[Recorded]) -> None:
        for record in records:
            self.listeners.publish(record)

    def publish(self, delta: Delta) -> None:
        """Hand a live fragment to the listeners."""
        self.listeners.publish(delta)

    def publish_reasoning(self, delta: Delta) -> None:
        """As `publish`, but for text."""
        if not isinstance(delta, TextDelta):
            self.publish(delta)

    def effect(self, timeout_seconds: float = math.inf) -> Effect:
        """Bound one effect: by the turn's deadline, by stops from the inbox, and by its own time."""
        return Effect(self, timeout_seconds)

    def enter(self, scope: anyio.CancelScope, timeout_seconds: float) -> None:
        """An effect begins within `scope`."""
        deadline = deadline_of(self.turn, self.started)
        if deadline is not None:
            left_seconds = (deadline - self._ports.clock.now()) / 1e6 + DEADLINE_SLACK_SECONDS
            timeout_seconds = min(timeout_seconds, max(0.0, left_seconds))
        if timeout_seconds != math.inf:
            scope.deadline = anyio.current_time() + timeout_seconds
        if self._waiting_stop is not None:
            scope.cancel()
        self._scope = scope

    def leave(self) -> None:
        """The effect is over."""
        self._scope = None


class Effect:
    """One effect, as a context manager.

    Afterwards `was_cut_off` says if it did not finish, and `timed_out` if that was for its own time and nothing else:
    then `decide` learns it from a fault, not from the clock or the inbox.
    """

    __slots__ = ("_scope", "_session", "_timeout_seconds", "timed_out", "was_cut_off")

    def __init__(self, session: Session, timeout_seconds: float) -> None:
        self._session = session
        self._timeout_seconds = timeout_seconds
        self._scope = anyio.CancelScope()
        self.was_cut_off = self.timed_out = False

    def __enter__(self) -> Self:
        """Begin."""
        self._session.enter(self._scope, self._timeout_seconds)
        self._scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """End; a cut-off stays inside."""
        self._session.leave()
        is_ours = bool(self._scope.__exit__(kind, error, trace))
        self.was_cut_off = self._scope.cancelled_caught
        self.timed_out = self.was_cut_off and not self._session.must_stop
        return is_ours


def _tightened(policy: LoopPolicy, given: Input | Steer) -> LoopPolicy:
    """`policy` within what the input of a nested turn leaves it."""
    if not isinstance(given, Input) or given.limits is None:
        return policy
    confirms = policy.confirm_writes or given.confirm_writes
    return replace(policy, limits=tightened(policy.limits, given.limits), confirm_writes=confirms)


def _revoked(mail: Revoke, number: int | None) -> RevokeAsked:
    return RevokeAsked(what=mail.what, mail=number, tool=mail.tool, owner=mail.owner)


async def open_session(ports: Ports, session_id: SessionId, new: SessionOpened | None = None) -> Session:
    """Open a session as its one writer: fold its events. With `new`, it begins with its first turn if there is none.

    Raises:
        JournalError: There is no such session and `new` is None, or its records are corrupt.

    """
    turn = fold(session_id, ports.journal.read(session_id))
    if turn.opened is None and new is None:
        raise JournalError(f"no session {session_id!r} in the journal; `oribi sessions list` shows them")
    epoch = await ports.journal.open_session(session_id)
    for record in ports.journal.read(session_id, after=turn.seq):  # what a writer that is fenced now still wrote
        apply(turn, record)
    opening = turn.opened or new
    if opening is None:
        raise JournalError(f"session {session_id!r} has no beginning; restore the journal from a backup")
    return Session(turn, epoch, ports, opening)
