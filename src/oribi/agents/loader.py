"""Agents from files, as the `Agents` port: edits count from the next turn, and a broken edit stops nobody."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from oribi.agents.agent import AGENT_NAME, BOOTSTRAP, AgentFile, parse_agent
from oribi.agents.catalogue import catalogue, command_problem, for_agents
from oribi.agents.lock import Locks
from oribi.agents.modes import DELEGATE
from oribi.agents.prompt_files import PromptFiles, Selection
from oribi.agents.skills import MAX_DESCRIPTION, read_skill
from oribi.agents.stamps import Stamp, names_in, read_source, stamp_of
from oribi.agents.values import place
from oribi.agents.workspace import Workspace
from oribi.core.calls import JsonObject, ToolSpec
from oribi.core.errors import ConfigError
from oribi.core.events import FilesRead
from oribi.core.json_actions import FINALS
from oribi.core.messages import ModelChoice
from oribi.core.modes import Mode
from oribi.core.policy import LoopPolicy, MemoryScope
from oribi.ports import AgentSnapshot

Specs: TypeAlias = Callable[[Sequence[str]], tuple[ToolSpec, ...]]
"""The tools of these names; raises `ConfigError` for a name that is not one."""

Choose: TypeAlias = Callable[[str | None, JsonObject], ModelChoice]
"""The model for a `provider:name` (None: the default) and parameters; raises `ConfigError` if there is none."""

_MAX_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentListing:
    """One agent of the workspace. `problem` says why it cannot be used, None when it can."""

    name: str
    description: str
    model: str | None
    tools: tuple[str, ...]
    file: Path
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What is wrong with an agent's files (`problems`) and what is worth knowing (`notes`), each with its place."""

    problems: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Kept:
    """The last good version of an agent, its bytes, and the stamp of the file when it was last looked at."""

    good: AgentFile
    source: bytes
    stamp: Stamp | None


class AgentFiles:
    """The agents of a workspace.

    `report` is told, once each, what a person should know and no caller is waiting to hear: a broken edit, a skill
    that cannot be read.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        environment: Mapping[str, str],
        specs: Specs,
        choose: Choose,
        report: Callable[[str], None],
    ) -> None:
        self._workspace = workspace
        self._environment = environment
        self._specs = specs
        self._choose = choose
        self._report = report
        self._prompt_files = PromptFiles(workspace, report)
        self._locks = Locks(workspace)
        self._kept: dict[str, _Kept] = {}
        self._abouts: dict[str, tuple[Stamp | None, str]] = {}

    def in_workspace(self, workspace: Workspace) -> AgentFiles:
        """The agents of another workspace, with the same tools and models: another version of one, for example."""
        return AgentFiles(
            workspace, environment=self._environment, specs=self._specs, choose=self._choose, report=self._report
        )

    def load(self, name: str, mode: str = "") -> AgentSnapshot:
        """The agent as its AGENT.md is now, in its mode `mode` or in none.

        When that cannot be used, or is missing while its folder is still there (editors save by way of a gap), the
        last good version stays in force and `report` hears why, once for each state of the file.

        Raises:
            ConfigError: There is no such agent or mode, or it never loaded.

        """
        agent, source = self._in_force(name)
        return self._locked(agent.in_mode(mode), source)

    def reload(self, name: str) -> AgentSnapshot:
        """Read everything about the agent again, changed or not, and load it.

        Raises:
            ConfigError: There is no such agent, or its AGENT.md cannot be used; its last good version stays in force.

        """
        self._require(name)
        self._prompt_files.forget(name)
        stamp = stamp_of(self._file(name))
        kept = self._kept.get(name)
        try:
            self._take(name, stamp)
        except ConfigError:
            if kept is not None:
                kept.stamp = stamp
            raise
        return self.load(name)

    def modes(self, name: str) -> tuple[Mode, ...]:
        """The modes that the agent has.

        Raises:
            ConfigError: There is no such agent, or it never loaded.

        """
        return tuple(each.mode for each in self._in_force(name)[0].modes)

    def origins(self, name: str, mode: str = "") -> Mapping[str, str]:
        """Where each field of the agent's policy comes from; its limits stand under `limits.NAME`.

        Raises:
            ConfigError: There is no such agent or mode, or it never loaded.

        """
        return self._in_force(name)[0].in_mode(mode).origins

    def read_files(self, agent: str, policy: LoopPolicy, principal: str) -> FilesRead:
        """The prompt's files of `agent` as they are now, chosen by its last good version. Never raises."""
        known = self._last_good(agent)
        selection = Selection() if known is None else Selection.of(known)
        return self._prompt_files.read(agent, selection, policy, principal)

    def memory_path(self, agent: str, scope: MemoryScope = "agent", principal: str = "") -> Path:
        """Where `agent` reads and saves its memory: its own MEMORY.md, else the shared one if it has none (O-12, C-12).

        When neither is there, its own, to be made. With another `scope`, the shared one, or that of the `principal`.

        Raises:
            ConfigError: That is no agent's name.

        """
        if not AGENT_NAME.fullmatch(agent):
            self._require(agent)
        return self._prompt_files.memory_path(agent, scope, principal)

    def list(self) -> tuple[AgentListing, ...]:
        """All agents by name, the broken ones with their problem."""
        return tuple(self._listing(name) for name in names_in(self._workspace.agents))

    def validate(self, name: str) -> Validation:
        """Everything there is to say about the files of agent `name`.

        Raises:
            ConfigError: There is no such agent.

        """
        self._require(name)
        problems: tuple[str, ...] = ()
        notes: tuple[str, ...] = ()
        try:
            agent = self._parse(name)
            notes = agent.warnings + agent.notes + self._missing(agent)
            for find in (self._models, self._tools):
                try:
                    find(agent)
                except ConfigError as error:
                    problems += tuple(str(error).split("\n"))
            if not problems:
                notes += self._left_out(agent)
        except ConfigError as error:
            problems = tuple(str(error).split("\n"))
        for skill in self._prompt_files.skills_of(name):
            try:
                read_skill(skill, self._workspace.in_home(skill.path))
            except ConfigError as error:
                problems += tuple(str(error).split("\n"))
        return Validation(problems=problems, notes=notes)

    def _in_force(self, name: str) -> tuple[AgentFile, bytes]:
        """The version that counts now, and its bytes."""
        self._require(name)
        stamp = stamp_of(self._file(name))
        kept = self._kept.get(name)
        if kept is None:
            kept = self._take(name, stamp)
        elif kept.stamp != stamp:
            try:
                kept = self._take(name, stamp)
            except ConfigError as error:
                kept.stamp = stamp
                self._report(f"{error}\nagent {name!r} goes on with its last good version until the file is mended")
        return kept.good, kept.source

    def _take(self, name: str, stamp: Stamp | None) -> _Kept:
        """Put the version that the file holds in force, if it can be used.

        Raises:
            ConfigError: It cannot.

        """
        source = self._source(name)
        agent = self._parse(name, source)
        self._check_modes(agent)
        for warning in agent.warnings:
            self._report(warning)
        self._kept[name] = _Kept(good=agent, source=source, stamp=stamp)
        return self._kept[name]

    def _file(self, name: str) -> Path:
        return self._workspace.agents / name / "AGENT.md"

    def _require(self, name: str) -> None:
        """Refuse a name that is no agent's folder, before it becomes part of a path."""
        if AGENT_NAME.fullmatch(name) and (self._workspace.agents / name).is_dir():
            return
        there = names_in(self._workspace.agents)
        if not there:
            hint = "this workspace has none yet: 'oribi agents new NAME' makes one"
        else:
            listed = ", ".join(there[:_MAX_LISTED]) + (", …" if len(there) > _MAX_LISTED else "")
            close = difflib.get_close_matches(name, there, n=1)
            hint = (f"did you mean {close[0]!r}? " if close else "") + f"this workspace has: {listed}"
        raise ConfigError(f"no agent named {name!r}; {hint}")

    def _source(self, name: str) -> bytes:
        path = self._file(name)
        return read_source(path, self._workspace.in_home(path))

    def _parse(self, name: str, source: bytes | None = None) -> AgentFile:
        source = self._source(name) if source is None else source
        file = self._workspace.in_home(self._file(name))
        return parse_agent(source, folder=name, file=file, environment=self._environment)

    def _locked(self, agent: AgentFile, source: bytes) -> AgentSnapshot:
        """`agent` with its tools, its model, and its lock."""
        snapshot = self._snapshot(agent)
        files = self._prompt_files.read(agent.name, Selection.of(agent), agent.policy, principal="")
        lock = self._locks.of(
            snapshot, source, files, memory=lambda: self._prompt_files.memory_read(agent.name, agent.policy)
        )
        return replace(snapshot, lock=lock)

    def _snapshot(self, agent: AgentFile) -> AgentSnapshot:
        """`agent` with its tools and model, which must exist.

        Raises:
            ConfigError: One does not.

        """
        models = self._models(agent)
        return AgentSnapshot(
            name=agent.name,
            description=agent.description,
            model=models[0],
            policy=agent.policy,
            tools=catalogue(agent.policy, self._tools(agent)),
            instructions=agent.instructions,
            fallbacks=models[1:],
            output_schema=agent.output_schema,
            mode=agent.mode,
            routes=agent.routes,
            commands=agent.commands,
        )

    def _check_modes(self, agent: AgentFile) -> None:
        """Make a snapshot of `agent` in each of its modes.

        Raises:
            ConfigError: One cannot be used.

        """
        for mode in ("", *(each.mode.name for each in agent.modes)):
            self._snapshot(agent.in_mode(mode) if mode else agent)

    def _tools(self, agent: AgentFile) -> tuple[ToolSpec, ...]:
        """The tools that the agent lists, before its policy chooses among them."""
        specs = self._specs_of(agent)
        listed = {spec.name for spec in specs}
        problems: list[str] = []
        for command in agent.commands if not agent.mode else ():
            if (problem := command_problem(command, catalogue(agent.policy, specs))) is not None:
                place = f"commands.{command.phrase}"
                problems.append(self._at(agent, place, f"{place} {problem}"))
        for name in sorted(FINALS & listed) if agent.policy.protocol == "json_action" else ():
            text = (
                f"tools: a JSON action named {name!r} is an answer, so no tool of that name can be called; "
                "give the tool another name, or use the protocol native"
            )
            problems.append(self._at(agent, f"tools.{name}", text))
        if problems:
            raise ConfigError("\n".join(problems))
        if not agent.delegates:
            return specs
        abouts = {name: self._about(name) for name in agent.delegates}
        return tuple(for_agents(spec, abouts) if spec.name == DELEGATE else spec for spec in specs)

    def _specs_of(self, agent: AgentFile) -> tuple[ToolSpec, ...]:
        try:
            return self._specs(agent.tools)
        except ConfigError as error:
            whole = error
        problems: dict[str, None] = {}
        for tool in agent.tools:  # one by one, to say which of them it is
            try:
                self._specs((tool,))
            except ConfigError as error:
                problems[self._at(agent, f"tools.{tool}", f"tools: {error}")] = None
        raise ConfigError("\n".join(problems) or self._at(agent, "tools", f"tools: {whole}")) from whole

    def _about(self, name: str) -> str:
        """What agent `name` says of itself; nothing if it cannot be read."""
        stamp = stamp_of(self._file(name)) if AGENT_NAME.fullmatch(name) else None
        known = self._abouts.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            about = " ".join(self._parse(name).description.split())[:MAX_DESCRIPTION] if stamp else ""
        except ConfigError:
            about = ""
        self._abouts[name] = (stamp, about)
        return about

    def _models(self, agent: AgentFile) -> tuple[ModelChoice, ...]:
        """The agent's model and then its fallbacks."""
        first = self._choice(agent, "model", agent.model)
        return (first, *(self._choice(agent, "fallbacks", ref) for ref in agent.fallbacks))

    def _choice(self, agent: AgentFile, key: str, ref: str | None) -> ModelChoice:
        try:
            return self._choose(ref, agent.parameters)
        except ConfigError as error:
            raise ConfigError(self._at(agent, key, f"{key}: {error}")) from error

    def _at(self, agent: AgentFile, key: str, text: str) -> str:
        file = self._workspace.in_home(self._file(agent.name))
        return f"{place(file, agent.lines.get(key))}: {text}"

    def _last_good(self, name: str) -> AgentFile | None:
        """The version in force, also in a process that has not started a turn of it: a session being resumed."""
        kept = self._kept.get(name)
        if kept is not None:
            return kept.good
        try:
            self._require(name)
            return self._parse(name)
        except ConfigError:
            return None

    def _listing(self, name: str) -> AgentListing:
        agent = None
        problem = None
        try:
            if name.endswith(".md"):
                remedy = f"move it to agents/{name.removesuffix('.md')}/AGENT.md"
                raise ConfigError(f"agents/{name}: an agent is a folder; {remedy}")  # noqa: TRY301 - listed like the rest
            agent = self._parse(name)
            self._check_modes(agent)
        except ConfigError as error:
            problem = str(error)
        return AgentListing(
            name=name,
            description=agent.description if agent else "",
            model=agent.model if agent else None,
            tools=agent.tools if agent else (),
            file=self._file(name),
            problem=problem,
        )

    def _missing(self, agent: AgentFile) -> tuple[str, ...]:
        """Notes on files and skills that the agent names and that are not there."""
        file = self._workspace.in_home(self._file(agent.name))
        notes: tuple[str, ...] = ()
        for name in agent.bootstrap:
            if name not in BOOTSTRAP and stamp_of(self._workspace.home / name) is None:
                notes += (f"{file}: bootstrap names {name!r}, which is not there",)
        there = {skill.name for skill in self._prompt_files.skills_of(agent.name)}
        for name in agent.skills or ():
            if name not in there:
                known = ", ".join(sorted(there)) or "none"
                notes += (f"{file}: skills names {name!r}, which does not exist; there is: {known}",)
        for name in agent.delegates:
            if name not in names_in(self._workspace.agents):
                notes += (f"{file}: delegates names {name!r}, which is no agent of this workspace",)
        return notes

    def _left_out(self, agent: AgentFile) -> tuple[str, ...]:
        """Notes on tools that a policy leaves out, for the agent and each of its modes."""
        notes: tuple[str, ...] = ()
        for mode in ("", *(each.mode.name for each in agent.modes)):
            one = agent.in_mode(mode)
            there = {spec.name for spec in catalogue(one.policy, self._tools(one))}
            left_out = [name for name in one.tools if name not in there]
            if left_out:
                who = f"mode {mode!r}" if mode else "the agent"
                text = f"{who} does without {', '.join(left_out)}: with policy.catalogue 'for_reasoning' it has only"
                notes += (self._at(one, f"tools.{left_out[0]}", f"{text} tools that say what they are for there"),)
            for name in one.policy.failures.keys() - set(one.tools):
                notes += (self._at(one, "policy", f"policy.failures names {name!r}, which the agent does not list"),)
        return notes
