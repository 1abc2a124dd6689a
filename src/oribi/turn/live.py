"""The sessions a process works on: who drives them, what waits for them, and how an input comes to its turn.

Rules that hold here:
- A session has one driver, in this process or another; to drive it is to hold its lease (see the journal).
- What comes while it is driven waits in the database, in the order it came, and is used once. Whoever drives the
  session next works off what waits, also what others sent.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

from oribi.core.errors import ConfigError, JournalError, LeaseLost, SessionBusy
from oribi.core.events import CallResolved, TurnEnded, TurnStarted
from oribi.core.mail import Input, Interrupt, Steer
from oribi.core.results import TurnResult, result_of
from oribi.core.turn import fold
from oribi.turn.loop import run_turn
from oribi.turn.nested import Nesting
from oribi.turn.session import SessionHeld, open_session

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from oribi.core.calls import SessionId
    from oribi.core.events import SessionOpened
    from oribi.core.mail import Letter, Mail
    from oribi.core.policy import Busy
    from oribi.ports import Ports, TurnQueue
    from oribi.turn.listen import Subscription
    from oribi.turn.session import Session

MOST_IDLE_SESSIONS = 64
"""So many sessions are kept folded in memory when nobody drives them; the rest is rows."""
LOOK_SECONDS = 0.05
"""How often one who waits for another process looks at the database."""
RETRY_SECONDS = 30.0
"""A session that cannot be continued, since its agent or model cannot be used, is tried again after so long."""

log = logging.getLogger("oribi.turn")


@dataclass(slots=True)
class _Live:
    """A session in memory, and whether somebody in this process drives it."""

    session: Session
    is_driven: bool = False


@dataclass(slots=True, kw_only=True)
class Ask:
    """One input on its way to its turn: to which session, what becomes of it when that is busy, who watches.

    `busy` None means what the agent's policy says. `letter` is its number once it waits in the database. `stopped_by`
    is set by `LiveSessions.stop`.
    """

    session_id: SessionId
    opening: SessionOpened
    given: Input
    busy: Busy | None = None
    news: Subscription | None = None
    letter: int | None = None
    stopped_by: str | None = None
    is_driving: bool = field(default=False, init=False)


class LiveSessions:
    """All sessions of a process. `queue` is where what waits is kept, and who drives what."""

    def __init__(self, ports: Ports, queue: TurnQueue) -> None:
        self._ports = replace(ports, nest=Nesting(self))
        self._queue = queue
        self._live: dict[SessionId, _Live] = {}
        self._claiming: set[SessionId] = set()
        self._freed = anyio.Event()
        self._listens = False

    async def give(self, ask: Ask) -> TurnResult:
        """Bring `ask` to its turn, and that to its end.

        Raises:
            SessionBusy: The session is busy and the input was not to wait, or was taken back while it waited.
            ConfigError: The agent or its model cannot be used; nothing was recorded.
            JournalError: The journal cannot be read or written.

        """
        try:
            while True:
                try:
                    async with self.driving(ask.session_id, ask.opening) as session:
                        before = session.commits
                        try:
                            return await self._work_off(session, ask)
                        except LeaseLost:  # another process was quicker, and nothing has been done here
                            if session.commits != before:
                                raise
                except SessionBusy as busy:
                    await self._post(ask, busy)
                if (result := await self._wait(ask)) is not None:
                    return result
        except anyio.get_cancelled_exc_class():
            if ask.letter is not None:
                with anyio.CancelScope(shield=True), suppress(JournalError):
                    await self._queue.withdraw(ask.letter)
            raise

    async def go_on(self, session_id: SessionId, news: Subscription | None = None) -> TurnResult:
        """Continue the session's open turn to its end.

        Raises:
            SessionBusy: Somebody else drives it.
            ConfigError: Its model cannot be used.
            JournalError: There is no such session, no turn of it is open, or the journal cannot be written.

        """
        async with self.driving(session_id, None) as session:
            if not session.turn.is_open:
                raise JournalError(f"session {session_id!r} has no open turn; there is nothing to resume")
            return await self.drive(session, news)

    async def resolve(self, session_id: SessionId, resolved: CallResolved) -> None:
        """Record a person's word about a call whose result is unknown.

        Raises:
            SessionBusy: A turn of the session is under way.
            JournalError: There is no such session, or no such call of it has an unknown result.

        """
        async with self.driving(session_id, None) as session:
            session.record(resolved)
            await session.commit()

    async def work(self, is_over: anyio.Event, *, most: int, grace_seconds: float, leave_when_done: bool) -> int:
        """Continue whatever is unfinished and nobody drives, up to `most` sessions at once, until `is_over`.

        Then every session stops where it is, as soon as its effect under way is done, at the latest after
        `grace_seconds`. With `leave_when_done`, ends when nothing is left. How many turns came to their end.
        """
        ended = 0
        not_before: dict[SessionId, float] = {}
        busy: set[SessionId] = set()

        async def finish(name: SessionId) -> None:
            nonlocal ended
            try:
                async with self.driving(name, None) as session:
                    ended += await self._finish(session)
                not_before.pop(name, None)
            except SessionBusy:
                pass  # somebody else was quicker
            except SessionHeld:
                pass
            except (ConfigError, JournalError) as error:
                if name not in not_before:
                    log.warning("session %s cannot be continued now: %s", name, error)
                not_before[name] = anyio.current_time() + RETRY_SECONDS
            finally:
                busy.discard(name)

        with anyio.CancelScope() as whole:
            async with anyio.create_task_group() as group:
                while not is_over.is_set():
                    waiting = [name for name in self._queue.unfinished() if name not in busy]
                    waiting = [name for name in waiting if not_before.get(name, 0.0) <= anyio.current_time()]
                    for name in waiting[: most - len(busy)]:
                        busy.add(name)
                        group.start_soon(finish, name)
                    if leave_when_done and not busy:
                        break
                    with anyio.move_on_after(LOOK_SECONDS * 4):
                        await is_over.wait()
                for name in list(busy):
                    if name in self._live:
                        self._live[name].session.hold()
                whole.deadline = anyio.current_time() + grace_seconds
        return ended

    def send(self, session_id: SessionId, mail: Mail) -> bool:
        """Put mail into the inbox of a session that is driven in this process; False when it is not."""
        live = self._live.get(session_id)
        if live is None or not live.is_driven:
            return False
        live.session.send(mail)
        return True

    def stop(self, ask: Ask, by: str) -> None:
        """Stop the ask's turn; before it has begun, the input is taken back."""
        ask.stopped_by = by
        if ask.is_driving:
            self.send(ask.session_id, Interrupt(by=by))
        self._ring()

    @asynccontextmanager
    async def driving(self, name: SessionId, new: SessionOpened | None) -> AsyncGenerator[Session]:
        """The session, claimed for as long as the block runs. One that failed is forgotten: it is ahead of its journal.

        Raises:
            SessionBusy: Somebody drives it, here or in another process.
            JournalError: There is no such session and `new` is None, or it cannot be read.

        """
        live = await self._claim(name, new)
        has_failed = True
        try:
            with self._queue.driving():
                yield live.session
            has_failed = live.session.has_failed
        finally:
            live.is_driven = False
            if has_failed and self._live.get(name) is live:
                del self._live[name]
            with anyio.CancelScope(shield=True), suppress(JournalError):
                await self._queue.let_go(name)
            if has_failed:
                self._queue.close_session(name)
            self._ring()
            idle = [other for other, kept in self._live.items() if not kept.is_driven]
            for other in idle[: max(0, len(idle) - MOST_IDLE_SESSIONS)]:
                del self._live[other]
                self._queue.close_session(other)

    async def _claim(self, name: SessionId, new: SessionOpened | None) -> _Live:
        live = self._live.get(name)
        if name in self._claiming or (live is not None and live.is_driven):
            raise SessionBusy(f"session {name!r} is in use: a turn of it is under way; wait for its end, or stop it")
        if not self._listens:
            self._queue.listen(self._read_letters)
            self._listens = True
        if live is None or not self._queue.is_current(name):
            self._live.pop(name, None)
            self._claiming.add(name)
            try:
                live = _Live(await open_session(self._ports, name, new))
            finally:
                self._claiming.discard(name)
        self._live.pop(name, None)
        self._live[name] = live  # the last used stands last
        live.is_driven = True
        return live

    async def drive(self, session: Session, news: Subscription | None = None) -> TurnResult:
        """Run the turn; whatever stops it, what was recorded is committed."""
        with session.listeners.listening(news):
            try:
                await run_turn(session, self._ports)
            finally:
                if not session.has_failed:  # else the error under way is the one to tell
                    await session.commit()
        return result_of(session.turn)

    async def _finish(self, session: Session) -> int:
        """Drive the open turn and everything that waits; how many turns ended."""
        ended = 0
        parent = None if session.turn.opened is None else session.turn.opened.parent
        if parent is not None and session.turn.is_open:
            calling = fold(parent.session_id, self._ports.journal.read(parent.session_id))
            is_called = calling.is_open and calling.started is not None and calling.started.turn_id == parent.turn_id
            if is_called:  # whoever drives that turn goes on with this one
                return 0
            session.send(Interrupt(by="the end of the turn that it is part of"))
        if session.turn.is_open:
            await self.drive(session)
            ended += 1
        while (letter := await self._next_letter(session)) is not None:
            await self._start(session, letter)
            ended += 1
        return ended

    async def _work_off(self, session: Session, ask: Ask) -> TurnResult:
        """Drive what came before `ask`, and then `ask`."""
        taken = None if ask.letter is None else self._queue.taken_at(ask.letter)
        if session.turn.is_open:
            await self._drive_own(session, ask, is_own=taken is not None)
        while taken is None and (letter := await self._next_letter(session)) is not None:
            if letter.number == ask.letter:
                return await self._drive_own(session, ask, letter)
            await self._start(session, letter)
        if ask.letter is None:
            session.send(ask.given)
            return await self._drive_own(session, ask)
        taken = self._queue.taken_at(ask.letter)
        if taken is None:
            raise JournalError(f"session {ask.session_id!r}: the waiting input {ask.letter} is not to be found")
        return _result(self._ports, ask.session_id, taken)

    async def _drive_own(
        self, session: Session, ask: Ask, letter: Letter | None = None, *, is_own: bool = True
    ) -> TurnResult:
        """Drive the turn of `ask`, which can be stopped and is watched from here on."""
        ask.is_driving = is_own
        try:
            if letter is not None:
                session.send(letter.mail, letter.number)
            if is_own and ask.stopped_by is not None:
                session.send(Interrupt(by=ask.stopped_by))
            return await self.drive(session, ask.news if is_own else None)
        finally:
            ask.is_driving = False

    async def _start(self, session: Session, letter: Letter) -> None:
        """Drive the turn of an input that another process sent. One that cannot start is given back to its sender."""
        session.send(letter.mail, letter.number)
        try:
            await self.drive(session)
        except ConfigError as error:
            session.drop_mail()
            log.warning("a waiting input of session %s cannot start: %s", session.turn.session_id, error)
            await self._queue.withdraw(letter.number)

    async def _next_letter(self, session: Session) -> Letter | None:
        """The first input that waits. Stops that came too late for the turn they were meant for are dropped."""
        for letter in self._queue.letters(session.turn.session_id):
            if isinstance(letter.mail, Input | Steer):
                return letter
            await self._queue.withdraw(letter.number)
        return None

    async def _post(self, ask: Ask, busy: SessionBusy) -> None:
        """Let the input wait, as its `busy` says."""
        if ask.letter is not None:
            return
        how = ask.busy or self._ports.agents.load(ask.opening.agent).policy.busy
        given: Mail = ask.given
        if how == "refuse":
            raise busy
        if how == "interrupt":
            await self._queue.post(ask.session_id, Interrupt(by="a new input"), ask.opening)
        if how == "steer" and not ask.given.mode:  # a mode is of a turn of its own
            given = Steer(text=ask.given.text, parts=ask.given.parts)
        ask.letter = await self._queue.post(ask.session_id, given, ask.opening)
        self._read_letters()

    async def _wait(self, ask: Ask) -> TurnResult | None:
        """Wait until the session is free, or until whoever drives it has brought the input's turn to its end."""
        if ask.letter is None:
            return None
        shown = 0
        is_stopping = False
        while True:
            try:
                taken = self._queue.taken_at(ask.letter)
            except LookupError:  # its driver could not start it; here it may be said why
                ask.letter = None
                return None
            if ask.stopped_by is not None and taken is None and await self._queue.withdraw(ask.letter):
                raise SessionBusy(f"the input for session {ask.session_id!r} was taken back before its turn began")
            if taken is not None:
                if ask.stopped_by is not None and not is_stopping:
                    is_stopping = True
                    await self._queue.post(ask.session_id, Interrupt(by=ask.stopped_by), ask.opening)
                    self._read_letters()
                shown = shown or _start_of(self._ports, ask.session_id, taken) - 1
                for record in self._ports.journal.read(ask.session_id, after=shown):
                    shown = record.seq
                    if ask.news is not None:
                        ask.news.put(record)
                    if record.seq >= taken and isinstance(record.event, TurnEnded):
                        return _result(self._ports, ask.session_id, taken)
            if self._is_free(ask.session_id):
                return None
            self._freed = anyio.Event()
            with anyio.move_on_after(LOOK_SECONDS):
                await self._freed.wait()

    def _is_free(self, name: SessionId) -> bool:
        live = self._live.get(name)
        driven_here = name in self._claiming or (live is not None and live.is_driven)
        return not driven_here and self._queue.is_free(name)

    def _read_letters(self) -> None:
        """Somebody has posted mail: those who drive take in what concerns their open turn."""
        for live in list(self._live.values()):
            if live.is_driven and live.session.turn.is_open:
                with suppress(JournalError):  # who drives it learns it at the next step
                    live.session.read_letters()

    def _ring(self) -> None:
        self._freed.set()


def _start_of(ports: Ports, session_id: SessionId, taken: int) -> int:
    """The record that began the turn that the record `taken` belongs to: who joins a turn sees it whole."""
    records = ports.journal.read(session_id)[:taken]
    return max(record.seq for record in records if isinstance(record.event, TurnStarted))


def _result(ports: Ports, session_id: SessionId, taken: int) -> TurnResult:
    """The result of the turn that the record `taken` belongs to."""
    records = ports.journal.read(session_id)
    end = next(record.seq for record in records[taken - 1 :] if isinstance(record.event, TurnEnded))
    return result_of(fold(session_id, records[:end]))
