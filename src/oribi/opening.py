"""Opening a workspace: every adapter put together into an `App`. The only file that knows them all."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio

from oribi.agents.loader import AgentFiles
from oribi.agents.workspace import Workspace, find_workspace
from oribi.app import App
from oribi.clock import SystemClock
from oribi.config import Config, Overrides, load_config, system_environment
from oribi.core.calls import ToolSpec
from oribi.core.messages import ModelChoice
from oribi.journal.sqlite import SqliteJournal
from oribi.models.extras import extra_models
from oribi.models.registry import HttpModels
from oribi.ports import Invocation
from oribi.tools.builtins import builtin_tools
from oribi.tools.file_policy import FilePolicy
from oribi.tools.function import tool
from oribi.tools.jail import Jail
from oribi.tools.tool import Tool
from oribi.tools.toolbox import Toolbox
from oribi.turn.session import MADE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from oribi.attachments import Attachment
    from oribi.core.results import TurnResult
    from oribi.ports import Model

log = logging.getLogger("oribi")

GivenTool: TypeAlias = "Tool | Callable[..., object]"
"""A tool, or a function that becomes one."""


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
        return SqliteJournal(
            workspace.database,
            read_only=read_only,
            synchronous=config.synchronous,
            quota=config.quota,
            zone=config.zone,
        )

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

    def memory_file(call: Invocation) -> str:
        agent = call.agent.partition(MADE)[0]  # a turn within a tool has the memory of the agent that has the tool
        return workspace.in_root(agents.memory_path(agent, call.policy.memory_scope, call.principal))

    agents = AgentFiles(workspace, environment=environment, specs=specs, choose=config.choose_model, report=report)
    jail = Jail(workspace.root, FilePolicy(workspace=workspace.in_root(workspace.home)))
    builtin = builtin_tools(
        root=workspace.root,
        jails=lambda _: jail,
        memory_file=memory_file,
        clock=clock,
        channels=config.notify,
        secret=environment.get,
    )
    toolbox = Toolbox([*builtin, *given], lambda _: jail)
    return toolbox, agents


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
