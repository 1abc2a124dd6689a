"""The application: everything put together, and what a program or a channel can ask of it.

The only file that knows every adapter. One `App` is one workspace, opened for writing by one process or for reading
by any.
"""

from __future__ import annotations

import base64
import logging
import secrets
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

import anyio

from oribi.agents.loader import AgentFiles
from oribi.agents.workspace import Workspace, find_workspace
from oribi.attachments import as_parts
from oribi.clock import SystemClock
from oribi.config import Config, Overrides, load_config, system_environment
from oribi.core.calls import JsonObject, SessionId, ToolResult, ToolSpec
from oribi.core.decide import Action, explain
from oribi.core.errors import ConfigError, JournalError, OribiError
from oribi.core.events import CallResolved, SessionOpened
from oribi.core.mail import Input, Interrupt, Mail
from oribi.core.messages import InputPart, ModelChoice
from oribi.core.turn import Turn, TurnResult, UnknownCall, fold, unknown_calls
from oribi.journal.sqlite import SessionRow, SqliteJournal
from oribi.models.answers import AnswerChecker
from oribi.models.endpoints import parse_model_ref
from oribi.models.extras import EXTRA_WIRES, ExtraModels, extra_models
from oribi.models.inputs import check_parts
from oribi.models.registry import HttpModels
from oribi.ports import Ports
from oribi.tools.builtins import builtin_tools
from oribi.tools.file_policy import FilePolicy
from oribi.tools.function import tool
from oribi.tools.jail import Jail
from oribi.tools.tool import Tool
from oribi.tools.toolbox import Toolbox
from oribi.turn.listen import Subscription
from oribi.turn.live import Ask, LiveSessions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
    from types import TracebackType

    from oribi.attachments import Attachment
    from oribi.core.events import FilesRead, Recorded
    from oribi.core.policy import Busy
    from oribi.ports import AgentSnapshot, Model
    from oribi.replay.changed import Compared
    from oribi.replay.encoders import Encoders
    from oribi.replay.exact import Replayed

log = logging.getLogger("oribi")

OTHER_WIRES = {"scripted": "scripted", **EXTRA_WIRES}
"""Providers that are not HTTP endpoints of ours, and what is recorded as their wire."""

GivenTool: TypeAlias = "Tool | Callable[..., object]"
"""A tool, or a function that becomes one."""


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
            ports = Ports(
                agents=self.agents,
                models=self.models,
                tools=self.toolbox,
                journal=self._journal,
                clock=self._clock,
                check_answer=AnswerChecker(),
            )
            self._lives = LiveSessions(ports, self._journal)
        return self._lives

    @property
    def commits(self) -> int:
        """Transactions written since the workspace was opened."""
        return self._journal.commits

    async def run(
        self,
        agent: str,
        text: str,
        *,
        session_id: str | None = None,
        output_schema: JsonObject | None = None,
        attachments: Sequence[Attachment] = (),
        busy: Busy | None = None,
        principal: str = "local",
        channel: str = "library",
    ) -> TurnResult:
        """One turn: give `agent` the `text` and return how the turn came out.

        With `session_id` the turn continues that session (an open turn of it is finished first); without, or if there
        is no such session, a new one begins. With `output_schema` the answer is JSON that fits it, parsed in the end's
        `value`. `attachments` are files that come with the text, of at most 20 MB each; their content is recorded.
        `busy` says what becomes of the text when a turn of the session is under way, here or in another process
        (default: what the agent's policy says, else it waits); with `steer`, the result is that of the turn it joined.

        Raises:
            ConfigError: The agent, its model or a tool cannot be used, or an attachment cannot be read or sent to the
                model; nothing was recorded.
            SessionBusy: The session is busy, and `busy` is `refuse`.
            JournalError: The journal cannot be read or written.

        """
        given = Input(text=clean_text(text), output_schema=output_schema, parts=await _read(attachments))
        opening = SessionOpened(agent=agent, principal=principal, channel=channel)
        return await self._live.give(self._ask(session_id, opening, given, busy))

    @asynccontextmanager
    async def stream(
        self,
        agent: str,
        text: str,
        *,
        session_id: str | None = None,
        output_schema: JsonObject | None = None,
        attachments: Sequence[Attachment] = (),
        busy: Busy | None = None,
        principal: str = "local",
        channel: str = "library",
    ) -> AsyncGenerator[Stream]:
        """As `run`, to be watched: iterate over the block's value. Leaving the block early interrupts the turn.

        When another process drives the turn, its events are seen as they become durable; live fragments are not.
        """
        given = Input(text=clean_text(text), output_schema=output_schema, parts=await _read(attachments))
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

        snapshot, files = self._version_of(agent)
        return compare(records[0].session_id, records, snapshot, files, self.encoders)

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
        choice = None if model is None else choose_model(self.config, model, {})
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

    def _version_of(self, agent: str | Path) -> tuple[AgentSnapshot, FilesRead]:
        """An agent of the workspace, or the one in a folder, with the workspace's other files around it."""
        if not isinstance(agent, Path):
            snapshot = self.agents.load(agent)
            return snapshot, self.agents.read_files(snapshot)
        if not (agent / "AGENT.md").is_file():
            raise ConfigError(f"{str(agent)!r} is no agent's folder: it has no AGENT.md")
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            around = {"agents", self.workspace.database.name, "output", "logs"}
            home.mkdir()
            for entry in self.workspace.home.iterdir():
                if entry.name not in around and not entry.name.startswith("oribi."):
                    (home / entry.name).symlink_to(entry, target_is_directory=entry.is_dir())
            copy = home / "agents" / agent.resolve().name
            shutil.copytree(agent, copy)
            workspace = Workspace(root=self.workspace.root, home=home)
            files = self.agents.in_workspace(workspace)
            snapshot = files.load(copy.name)
            return snapshot, files.read_files(snapshot)

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


def clean_text(text: str) -> str:
    """`text` as it can be stored and sent: lone surrogates become the replacement character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def open_app(
    path: str | Path | None = None,
    *,
    tools: Sequence[GivenTool] = (),
    read_only: bool = False,
    overrides: Overrides | None = None,
    report: Callable[[str], None] | None = None,
) -> App:
    """Open the workspace at `path` (default: found upward from the current folder, or ORIBI_HOME).

    `tools` are offered to every agent besides those its AGENT.md lists: the program that passes them grants them.
    With `read_only`, turns cannot run, and another process may be writing. `overrides` win over oribi.toml and the
    environment. `report` is told what a person should know and nobody waits for (a broken edit of an agent, for
    example); default: the log.

    Raises:
        ConfigError: There is no workspace, or its settings are wrong.
        JournalError: The journal cannot be opened; another process writes it.

    """
    environment = system_environment()
    workspace = find_workspace(
        Path.cwd(), explicit=None if path is None else Path(path), home=environment.get("ORIBI_HOME")
    )
    config = load_config(workspace, environment=environment, flags=overrides)
    clock = SystemClock(config.zone)
    given = [one if isinstance(one, Tool) else tool(one) for one in tools]
    toolbox, agents = _toolbox_and_agents(
        workspace, config, clock, given, environment=environment, report=report or log.warning
    )
    extra = extra_models(workspace.home, environment.get, configured=config.providers)
    models = HttpModels(config.providers, environment.get, {"scripted": _scripted_models(workspace), **extra.makers})

    def open_journal() -> SqliteJournal:
        return SqliteJournal(workspace.database, read_only=read_only, synchronous=config.synchronous)

    return App(
        workspace=workspace,
        config=config,
        agents=agents,
        toolbox=toolbox,
        models=models,
        extra=extra,
        clock=clock,
        open_journal=open_journal,
        journal=None if read_only else open_journal(),
    )


def run(
    agent: str,
    text: str,
    *,
    workspace: str | Path | None = None,
    tools: Sequence[GivenTool] = (),
    session_id: str | None = None,
    attachments: Sequence[Attachment] = (),
) -> TurnResult:
    """One turn, for scripts that are not async: `oribi.run("ops", "Check the log.")`. See `App.run` and `open_app`.

    Raises:
        ConfigError: The workspace, the agent, its model or a tool cannot be used.
        JournalError: The journal cannot be opened, read or written.

    """

    async def one_turn() -> TurnResult:
        async with open_app(workspace, tools=tools) as app:
            return await app.run(agent, text, session_id=session_id, attachments=attachments)

    return anyio.run(one_turn)


def _toolbox_and_agents(
    workspace: Workspace,
    config: Config,
    clock: SystemClock,
    given: Sequence[Tool],
    *,
    environment: Mapping[str, str],
    report: Callable[[str], None],
) -> tuple[Toolbox, AgentFiles]:
    """The two that know each other: agents list tools, and some tools work on an agent's files."""
    granted = [one.spec.name for one in given]

    def specs(names: Sequence[str]) -> tuple[ToolSpec, ...]:
        return toolbox.specs([*names, *granted])

    def choose(ref: str | None, parameters: JsonObject) -> ModelChoice:
        return choose_model(config, ref, parameters)

    agents = AgentFiles(workspace, environment=environment, specs=specs, choose=choose, report=report)
    jail = Jail(workspace.root, FilePolicy(workspace=workspace.in_root(workspace.home)))
    builtin = builtin_tools(
        root=workspace.root,
        jails=lambda _: jail,
        memory_file=lambda agent: workspace.in_root(agents.memory_path(agent)),
        clock=clock,
        channels=config.notify,
        secret=environment.get,
    )
    toolbox = Toolbox([*builtin, *given], lambda _: jail)
    return toolbox, agents


def choose_model(config: Config, ref: str | None, parameters: JsonObject) -> ModelChoice:
    """The model that `ref` (`provider:name`; None: the workspace's default) means.

    Raises:
        ConfigError: There is no default, or no such provider.

    """
    ref = ref or config.default_model
    if ref is None:
        raise ConfigError(
            "no model is chosen: write `model: provider:name` into the agent's AGENT.md, or set default_model in "
            "oribi.toml (or ORIBI_DEFAULT_MODEL)"
        )
    provider, name = parse_model_ref(ref, [*config.providers, *OTHER_WIRES])
    wire = config.providers[provider].wire if provider in config.providers else OTHER_WIRES[provider]
    return ModelChoice(provider=provider, name=name, wire=wire, parameters=parameters)


def _scripted_models(workspace: Workspace) -> Callable[[ModelChoice], Model]:
    """Models from script files, named relative to the workspace's folder; a script is read when it has changed."""
    read: dict[Path, tuple[int, Model]] = {}

    def get(choice: ModelChoice) -> Model:
        from oribi.testing import ScriptedModel

        path = workspace.home / choice.name
        changed = path.stat().st_mtime_ns if path.is_file() else 0
        known = read.get(path)
        if known is None or known[0] != changed:
            known = read[path] = changed, ScriptedModel.from_file(path)
        return known[1]

    return get
