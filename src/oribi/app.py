"""The application: what a program or a channel can ask of a workspace that is open.

One `App` is one workspace, opened for writing by a process or for reading; `opening.py` puts it together.
"""

from __future__ import annotations

import base64
import secrets
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

import anyio

from oribi.agents.loader import AgentFiles
from oribi.agents.workspace import Workspace
from oribi.attachments import as_parts
from oribi.clock import SystemClock
from oribi.config import Config
from oribi.core.actions import Action
from oribi.core.calls import JsonObject, SessionId, ToolResult
from oribi.core.decide import explain
from oribi.core.errors import JournalError, OribiError
from oribi.core.events import CallResolved, SessionOpened
from oribi.core.mail import Input, Interrupt, Mail, Revoke
from oribi.core.messages import InputPart
from oribi.core.results import TurnResult, UnknownCall, unknown_calls
from oribi.core.text import whole
from oribi.core.turn import Turn, fold
from oribi.journal.sqlite import SessionRow, SqliteJournal
from oribi.models.answers import AnswerChecker
from oribi.models.extras import ExtraModels
from oribi.models.inputs import check_parts
from oribi.models.registry import HttpModels
from oribi.models.slots import LimitedModels
from oribi.ports import Ports
from oribi.tools.toolbox import Toolbox
from oribi.turn.listen import Subscription
from oribi.turn.live import Ask, LiveSessions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
    from types import TracebackType

    from oribi.attachments import Attachment
    from oribi.core.events import Recorded
    from oribi.core.policy import Busy
    from oribi.replay.changed import Compared
    from oribi.replay.encoders import Encoders
    from oribi.replay.exact import Replayed


class Stream:
    """A turn under way: an async iterator of live fragments and durable events that ends when the turn has.

    `result` is None until then. `stop(by)` asks the turn to stop; if it has not begun, its input is taken back.
    """

    def __init__(self, session_id: SessionId, news: Subscription, stop: Callable[[str], None]) -> None:
        self.session_id = session_id
        self.result: TurnResult | None = None
        self.stop = stop
        self._news = news

    def __aiter__(self) -> Subscription:
        """Iterate over the news."""
        return self._news


class App:
    """A workspace in use. Made by `oribi.open`; used as an async context manager.

    `workspace`, `config`, `agents`, `toolbox` and `models` are there to be looked at; turns go through `run`,
    `stream`, `resume` and `interrupt`.
    """

    def __init__(  # noqa: PLR0913 - the parts of the whole, put together in one place
        self,
        *,
        workspace: Workspace,
        config: Config,
        agents: AgentFiles,
        toolbox: Toolbox,
        models: HttpModels,
        extra: ExtraModels,
        clock: SystemClock,
        journal: SqliteJournal | None,
        open_journal: Callable[[], SqliteJournal],
    ) -> None:
        self.workspace = workspace
        self.config = config
        self.agents = agents
        self.toolbox = toolbox
        self.models = models
        self._extra = extra
        self._clock = clock
        self._opened = journal
        self._open_journal = open_journal
        self._lives: LiveSessions | None = None

    async def __aenter__(self) -> Self:
        """Nothing more to do: the journal is open."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections and the journal."""
        await self.close()

    async def close(self) -> None:
        """Close the connections and the journal. Turns that are open stay open; `resume` continues them."""
        with anyio.CancelScope(shield=True):
            await self.models.close()
            await self._extra.close()
            if self._opened is not None:
                self._opened.close()

    @property
    def _journal(self) -> SqliteJournal:
        """The journal; opened when it is first read where the workspace is open to read only."""
        if self._opened is None:
            self._opened = self._open_journal()
        return self._opened

    @property
    def _live(self) -> LiveSessions:
        """The sessions this process works on; the ports are put together when the first is."""
        if self._lives is None:
            most = self.config.max_concurrent_calls
            ports = Ports(
                agents=self.agents,
                models=self.models if most is None else LimitedModels(self.models, most),
                tools=self.toolbox,
                journal=self._journal,
                clock=self._clock,
                check_answer=AnswerChecker(),
                quota=self._journal.quota,
            )
            self._lives = LiveSessions(ports, self._journal)
        return self._lives

    @property
    def commits(self) -> int:
        """Transactions written since the workspace was opened."""
        return self._journal.commits

    async def run(  # noqa: PLR0913 - an input and what it may say, by name
        self,
        agent: str,
        text: str,
        *,
        session_id: str | None = None,
        output_schema: JsonObject | None = None,
        attachments: Sequence[Attachment] = (),
        mode: str = "",
        busy: Busy | None = None,
        principal: str = "local",
        channel: str = "library",
    ) -> TurnResult:
        """One turn: give `agent` the `text` and return how the turn came out.

        With `session_id` the turn continues that session (an open turn of it is finished first); without, or if there
        is no such session, a new one begins. With `output_schema` the answer is JSON that fits it, parsed in the end's
        `value`. `attachments` are files that come with the text, of at most 20 MB each; their content is recorded.
        `mode` is one of the agent's modes. `busy` says what becomes of the text when a turn of the session is under
        way, here or in another process (default: what the agent's policy says, else it waits); with `steer`, the result
        is that of the turn it joined.

        Raises:
            ConfigError: The agent, its mode, model or a tool cannot be used, or an attachment cannot be read or sent to
                the model; nothing was recorded.
            SessionBusy: The session is busy, and `busy` is `refuse`.
            JournalError: The journal cannot be read or written.

        """
        parts = await _read(attachments)
        given = Input(text=whole(text), output_schema=output_schema, parts=parts, mode=mode)
        opening = SessionOpened(agent=agent, principal=principal, channel=channel)
        return await self._live.give(self._ask(session_id, opening, given, busy))

    @asynccontextmanager
    async def stream(  # noqa: PLR0913 - as `run`
        self,
        agent: str,
        text: str,
        *,
        session_id: str | None = None,
        output_schema: JsonObject | None = None,
        attachments: Sequence[Attachment] = (),
        mode: str = "",
        busy: Busy | None = None,
        principal: str = "local",
        channel: str = "library",
    ) -> AsyncGenerator[Stream]:
        """As `run`, to be watched: iterate over the block's value. Leaving the block early interrupts the turn.

        When another process drives the turn, its events are seen as they become durable; live fragments are not.
        """
        parts = await _read(attachments)
        given = Input(text=whole(text), output_schema=output_schema, parts=parts, mode=mode)
        opening = SessionOpened(agent=agent, principal=principal, channel=channel)
        live, news = self._live, Subscription()
        ask = self._ask(session_id, opening, given, busy, news=news)

        def stop(by: str) -> None:
            live.stop(ask, by)

        async with _watched(ask.session_id, news, lambda: live.give(ask), stop) as stream:
            yield stream

    async def resume(self, session_id: str) -> TurnResult:
        """Continue the session's open turn to its end.

        Raises:
            SessionBusy: Somebody drives it already.
            ConfigError: Its model cannot be used.
            JournalError: There is no such session, no turn of it is open, or the journal cannot be written.

        """
        return await self._live.go_on(SessionId(session_id))

    @asynccontextmanager
    async def stream_resume(self, session_id: str) -> AsyncGenerator[Stream]:
        """As `resume`, to be watched."""
        live, name, news = self._live, SessionId(session_id), Subscription()

        def stop(by: str) -> None:
            live.send(name, Interrupt(by=by))

        async with _watched(name, news, lambda: live.go_on(name, news), stop) as stream:
            yield stream

    async def work(
        self, is_over: anyio.Event, *, most: int = 8, grace_seconds: float = 10.0, leave_when_done: bool = False
    ) -> int:
        """Continue every turn of the workspace that is open and nobody drives, and every input that waits.

        Goes on until `is_over` is set, with up to `most` sessions at once; then each stops as soon as its effect under
        way is done, at the latest after `grace_seconds`, and can be continued. With `leave_when_done`, ends when
        nothing is left. Returns how many turns ended.

        Raises:
            JournalError: The journal cannot be read.

        """
        return await self._live.work(is_over, most=most, grace_seconds=grace_seconds, leave_when_done=leave_when_done)

    async def resolve(self, session_id: str, call: UnknownCall, result: ToolResult, *, by: str = "the user") -> None:
        """Say what came of a call whose result is unknown (`unknown_calls` lists them); the model reads it from now on.

        Raises:
            SessionBusy: A turn of the session is under way.
            JournalError: There is no such session or call, or the journal cannot be written.

        """
        resolved = CallResolved(call_turn=call.turn_id, step=call.step, call_id=call.call.id, result=result, by=by)
        await self._live.resolve(SessionId(session_id), resolved)

    def unknown_calls(self, session_id: str) -> list[UnknownCall]:
        """The calls of a session of which nobody knows whether they happened, in order.

        Raises:
            JournalError: There is no such session, or its records are corrupt.

        """
        return unknown_calls(self.turn(session_id))

    @property
    def encoders(self) -> Encoders:
        """What builds the requests of this workspace's models without sending them."""
        from oribi.replay.encoders import Encoders

        return Encoders(self.config.providers, self.models)

    async def replay(self, session_id: str, *, turn: int | None = None) -> Replayed:
        """Replay a session, or its turns up to number `turn`, offline and exactly (G5); see `oribi.replay.exact`.

        Raises:
            ConfigError: A provider that the session used is not configured any more.
            JournalError: There is no such session or turn, it is corrupt, or content of it was erased.

        """
        from oribi.replay.exact import replay, turns_of

        return await replay(SessionId(session_id), turns_of(self.records(session_id), turn), self.encoders)

    def compare(self, records: Sequence[Recorded], agent: str | Path) -> Compared:
        """Compare recorded requests with those that another version of their agent would make.

        `agent` is the name of an agent of the workspace, as its files are now, or the folder of another version.

        Raises:
            ConfigError: There is no such agent, or it cannot be used.
            JournalError: The records cannot be read.

        """
        from oribi.replay.changed import compare
        from oribi.replay.versions import version_of

        return compare(records[0].session_id, records, version_of(self.agents, self.workspace, agent), self.encoders)

    async def fork(
        self, session_id: str, place: str, *, model: str | None = None, new_id: str | None = None
    ) -> SessionId:
        """A new session that begins with this one's records, up to the model call at `place`; its id.

        `place` is `TURN.STEP`, or `STEP` of the last turn. With `model` (`provider:name`), that one answers from there
        on. The turn is open: `resume` goes on with it.

        Raises:
            ConfigError: There is no such model.
            JournalError: There is no such session or step, or there is a session `new_id` already.

        """
        from oribi.replay.fork import fork_point, fork_records

        records = self.records(session_id)
        choice = None if model is None else self.config.choose_model(model, {})
        name = SessionId(new_id or new_session_id())
        if self._journal.read(name):
            raise JournalError(f"there is a session {name!r} already; choose another name for the fork")
        digest = self._journal.hash_at(SessionId(session_id), fork_point(records, place))
        forked = fork_records(records, place, name, model=choice, hash_of_last=digest.hex(), now=self._clock.now())
        epoch = await self._journal.open_session(name)
        await self._journal.append(name, epoch, forked)
        await self._journal.let_go(name)
        self._journal.close_session(name)
        return name

    def send(self, session_id: str, mail: Mail) -> bool:
        """Put mail into the inbox of a session that this process drives; False when it does not."""
        return self._live.send(SessionId(session_id), mail)

    def interrupt(self, session_id: str, by: str = "the user") -> bool:
        """Ask the session's turn to stop; False when none is being driven here."""
        return self.send(session_id, Interrupt(by=by))

    async def post(self, session_id: str, mail: Mail, *, client_key: str | None = None) -> None:
        """Put mail into the database for whoever drives the session, in this process or another.

        An input waits for its turn, whoever drives the session next; a `Steer` or an `Interrupt` reaches the open turn
        within a tenth of a second. Posted again under the same `client_key`, it is the same mail.

        Raises:
            JournalError: There is no such session, or the journal cannot be written.

        """
        opened = self.turn(session_id).opened
        if opened is not None:
            await self._journal.post(SessionId(session_id), mail, opened, client_key=client_key)

    async def revoke(
        self,
        what: str,
        *,
        tool: str = "",
        plugin: str = "",
        principal: str | None = None,
        session_id: str | None = None,
    ) -> list[SessionId]:
        """Withdraw something from the turns that are open, in this process or another; the sessions that are told.

        `what` says it in words. With `tool` or `plugin` (its tools), turns that have used it end and others cannot use
        it any more; with neither, every turn told ends (M-20, M-21). `principal` and `session_id` narrow who is told.
        What new turns may use is what their AGENT.md lists.

        Raises:
            JournalError: The journal cannot be read or written.

        """
        told: list[SessionId] = []
        for name in self.open_turns() if session_id is None else self._with_nested(SessionId(session_id)):
            opened = self.turn(name).opened
            if opened is not None and principal in (None, opened.principal):
                await self._journal.post(name, Revoke(what=what, tool=tool, owner=plugin), opened)
                told.append(name)
        return told

    def _with_nested(self, session_id: SessionId) -> list[SessionId]:
        """A session, and those that are nested in its calls."""
        children = [child for name, _ in self._journal.children(session_id) for child in self._with_nested(name)]
        return [session_id, *children]

    def unfinished(self) -> list[SessionId]:
        """Sessions with an open turn or a waiting input that nobody drives at the moment, the oldest first."""
        return self._journal.unfinished()

    def sessions(self, limit: int = 50) -> list[SessionRow]:
        """The sessions, the last used first."""
        return self._journal.sessions(limit)

    def open_turns(self) -> list[SessionId]:
        """Sessions with a turn that has not ended, the oldest first."""
        return self._journal.open_turns()

    def records(self, session_id: str) -> list[Recorded]:
        """Everything recorded of a session, in order.

        Raises:
            JournalError: There is no such session, or its records are corrupt.

        """
        records = self._journal.read(SessionId(session_id))
        if not records:
            raise JournalError(f"no session {session_id!r} in the journal; `oribi sessions list` shows them")
        return records

    def turn(self, session_id: str) -> Turn:
        """The state of a session, folded from its records."""
        return fold(SessionId(session_id), self.records(session_id))

    def why(self, session_id: str) -> tuple[str, Action]:
        """The question that decides what the session does next, and what that is."""
        return explain(self.turn(session_id), self._clock.now())

    def _ask(
        self,
        session_id: str | None,
        opening: SessionOpened,
        given: Input,
        busy: Busy | None,
        *,
        news: Subscription | None = None,
    ) -> Ask:
        """`given` on its way, if its agent's model can take it."""
        if given.parts:
            choice = self.agents.load(opening.agent).model
            if choice.provider != "scripted":
                check_parts(given.parts, choice, self.config.providers.get(choice.provider))
        name = SessionId(session_id or new_session_id())
        return Ask(session_id=name, opening=opening, given=given, busy=busy, news=news)


async def _read(attachments: Sequence[Attachment]) -> tuple[InputPart, ...]:
    """The attachments, read in a thread: a file may be large, or on a slow disk."""
    return await anyio.to_thread.run_sync(as_parts, attachments) if attachments else ()


@asynccontextmanager
async def _watched(
    session_id: SessionId, news: Subscription, drive: Callable[[], Awaitable[TurnResult]], stop: Callable[[str], None]
) -> AsyncGenerator[Stream]:
    """Drive in the background while the block reads the news; an error of the turn is raised when the block is left."""
    failure: Exception | None = None
    stream = Stream(session_id, news, stop)

    async def drive_and_close() -> None:
        nonlocal failure
        try:
            stream.result = await drive()
        except OribiError as error:
            failure = failure or error
        finally:
            news.close()

    async with anyio.create_task_group() as group:
        group.start_soon(drive_and_close)
        try:
            yield stream
        except Exception as error:  # noqa: BLE001 - raised below, once the turn has been stopped in order
            failure = error
        finally:
            if stream.result is None:
                stream.stop("the listener")
    if failure is not None:
        raise failure


def new_session_id() -> str:
    """A new session's id: short, since every row carries it, and not to be guessed."""
    return base64.b32encode(secrets.token_bytes(5)).decode().lower()
