"""Turns within a call: a session of its own for each, that spends of the calling turn's budget (M-17, M-42).

A nested session is named after its call, so that a call that runs again after a crash finds it: it goes on with the
turn, or takes its result. What it spends is charged to the call, also when it is cut off.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import anyio

from oribi.core.calls import SessionId
from oribi.core.errors import ConfigError, SessionBusy
from oribi.core.events import ParentCall, SessionOpened
from oribi.core.mail import Input, Interrupt
from oribi.core.results import result_of
from oribi.turn.session import MADE

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from oribi.core.results import TurnResult
    from oribi.ports import AgentSnapshot, Invocation
    from oribi.turn.session import Session

CHANNEL = "nested"
STOP_SECONDS = 5.0
"""How long a nested turn that is cut off may take to come to its own end."""
LOOK_SECONDS = 0.05


class Driver(Protocol):
    """Who claims sessions and drives their turns: `LiveSessions`."""

    def driving(self, name: SessionId, new: SessionOpened | None) -> AbstractAsyncContextManager[Session]: ...

    async def drive(self, session: Session) -> TurnResult: ...


class Nesting:
    """The `Nest` port over the sessions of a process. The turns within one call run one after the other."""

    def __init__(self, live: Driver) -> None:
        self._live = live
        self._locks: dict[str, anyio.Lock] = {}

    async def __call__(self, call: Invocation, agent: str | AgentSnapshot, given: Input, part: str = "") -> TurnResult:
        """See `oribi.ports.Nest`."""
        made = None if isinstance(agent, str) else _made_for(call, agent)
        parent = ParentCall(
            session_id=call.session_id, turn_id=call.turn_id, step=call.step, call_id=call.call_id, depth=call.depth
        )
        name = agent if isinstance(agent, str) else f"{call.agent}{MADE}{agent.name}"
        opening = SessionOpened(agent=name, principal=call.principal, channel=CHANNEL, parent=parent)
        lock = self._locks.setdefault(call.key, anyio.Lock())
        try:
            async with lock:  # what one spends, the next has not
                return await self._bring_to_end(call, child_id(call, part), opening, given, made)
        finally:
            if not lock.statistics().tasks_waiting:
                self._locks.pop(call.key, None)

    async def _bring_to_end(
        self, call: Invocation, child: SessionId, opening: SessionOpened, given: Input, made: AgentSnapshot | None
    ) -> TurnResult:
        given = replace(given, limits=call.limits(), confirm_writes=call.policy.confirm_writes)
        try:
            result = await self._drive(call, child, opening, given, made)
        except anyio.get_cancelled_exc_class():
            if not call.is_stopping():  # only this process stops: the turn goes on with its caller's
                raise
            with anyio.move_on_after(STOP_SECONDS, shield=True):
                await self._drive(call, child, opening, Interrupt(by="the turn that it is part of"))
            raise
        if result is None:
            raise LookupError(f"session {child!r} has not begun")
        return result

    async def _drive(
        self,
        call: Invocation,
        child: SessionId,
        opening: SessionOpened,
        mail: Input | Interrupt,
        made: AgentSnapshot | None = None,
    ) -> TurnResult | None:
        """Bring the turn to its end, wherever it stands; `mail` begins it or stops it."""
        while True:
            try:
                async with self._live.driving(child, opening) as session:
                    turn = session.turn
                    call.charge(turn.counters.spent, child)  # says from the start which session it is
                    if isinstance(mail, Interrupt) and turn.started is None:
                        return None  # it never began
                    if turn.end is None:
                        session.made, session.outer_stops = made, call.is_stopping
                        if turn.is_open is isinstance(mail, Interrupt):
                            session.send(mail)
                        try:
                            await self._live.drive(session)
                        finally:
                            call.charge(turn.counters.spent, child)
                    return result_of(turn)
            except SessionBusy:  # another process went on with it after a crash
                await anyio.sleep(LOOK_SECONDS)


def _made_for(call: Invocation, agent: AgentSnapshot) -> AgentSnapshot:
    """`agent` as it may be within `call`: its tools are among those of the calling turn, as they are frozen there.

    Raises:
        ConfigError: One is not.

    """
    for tool in agent.tools:
        if tool.name not in call.catalogue:
            has = ", ".join(call.catalogue) or "none"
            raise ConfigError(
                f"the turn {agent.name!r} is to have the tool {tool.name!r}, which the turn that calls it has not; it"
                f" has: {has}. List the tool in the AGENT.md of {call.agent!r}"
            )
    tools = tuple(call.catalogue[tool.name] for tool in agent.tools)
    return replace(agent, name=f"{call.agent}{MADE}{agent.name}", tools=tools)


def child_id(call: Invocation, part: str) -> SessionId:
    """The name of the session that is nested in `call`: the same whenever it is asked for, and not to be guessed."""
    digest = hashlib.sha256(f"{call.key}/{part}".encode()).digest()
    return SessionId(base64.b32encode(digest[:10]).decode().lower())
