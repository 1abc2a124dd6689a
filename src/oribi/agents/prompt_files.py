"""The prompt's files: bootstrap files, skills and memory of an agent, read again only when one of them has changed.

What is read here enters the system text, so only files that belong to the workspace's owner or to the agent's own
memory are read, each at a fixed place and with a cap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from oribi.agents.agent import BOOTSTRAP, AgentFile
from oribi.agents.skills import Skill, SkillFile, cut_text, find_skills, point_to, read_skill, write_out
from oribi.agents.stamps import Stamp, stamp_of
from oribi.agents.workspace import Workspace
from oribi.core.errors import ConfigError
from oribi.core.events import FilesRead
from oribi.core.memory import cut_memory
from oribi.core.policy import LoopPolicy, MemoryScope, SkillsMode

MAX_BOOTSTRAP = 20_000
"""Characters of one bootstrap file, or prompt of the workspace, that enter a prompt."""

_MAX_KEPT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which files an agent wants in its prompt; `skills` None means all there are."""

    bootstrap: tuple[str, ...] = BOOTSTRAP
    skills: tuple[str, ...] | None = None

    @classmethod
    def of(cls, agent: AgentFile) -> Selection:
        """What `agent` asks for."""
        return cls(bootstrap=agent.bootstrap, skills=agent.skills)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """Whose files are read and how: what one agent has several of, for its policies and its people."""

    agent: str
    principal: str
    memory_scope: MemoryScope
    memory_characters: int
    skills_mode: SkillsMode
    actions: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Which files there are now and how they look from outside: equal means that nothing has changed."""

    bootstrap: tuple[tuple[str, Stamp], ...]
    memory: tuple[str, Stamp] | None
    skills: tuple[SkillFile, ...]
    actions: Stamp | None


class PromptFiles:
    """Reads the prompt's files of agents, and remembers what it read."""

    def __init__(self, workspace: Workspace, report: Callable[[str], None]) -> None:
        self._workspace = workspace
        # As texts: joining paths costs more than asking for the files' stamps, at every step.
        self._home, self._agents = str(workspace.home), str(workspace.agents)
        self._shared_skills, self._shared_memory = str(workspace.skills), str(workspace.memory)
        self._actions = str(workspace.action_prompt)
        self._report = report
        self._read: dict[_Way, tuple[_Found, FilesRead]] = {}
        self._skills: dict[str, tuple[Stamp, Skill | None]] = {}

    def read(self, name: str, selection: Selection, policy: LoopPolicy, principal: str) -> FilesRead:
        """The files of agent `name` as they are now. A file that cannot be read is left out and reported once."""
        way = _Way(
            agent=name,
            principal=principal if policy.memory_scope == "principal" else "",
            memory_scope=policy.memory_scope,
            memory_characters=policy.memory_characters,
            skills_mode=policy.skills_mode,
            actions=policy.protocol == "json_action",
        )
        found = self._find(way, selection)
        known = self._read.get(way)
        if known is not None and known[0] == found:
            return known[1]
        files = self._assemble(found, way)
        if known is None and len(self._read) >= _MAX_KEPT:
            del self._read[next(iter(self._read))]
        self._read[way] = (found, files)
        return files

    def forget(self, name: str) -> None:
        """Read the files of agent `name`, and all skills, again."""
        self._read = {way: read for way, read in self._read.items() if way.agent != name}
        self._skills.clear()

    def memory_path(self, name: str, scope: MemoryScope = "agent", principal: str = "") -> Path:
        """The memory in force; where there is none, the one that may be made."""
        found = self._memory(name, scope, principal)
        return Path(found[0] if found else self._memories(name, scope, principal)[0])

    def memory_read(self, name: str, policy: LoopPolicy) -> Path | None:
        """The memory that the prompts of agent `name` hold, if it is not that of a person; None if there is none."""
        found = self._memory(name, policy.memory_scope, "")
        return Path(found[0]) if found else None

    def skills_of(self, name: str) -> tuple[SkillFile, ...]:
        """All skills there are for agent `name`."""
        return find_skills(f"{self._agents}/{name}/skills", self._shared_skills)

    def _find(self, way: _Way, selection: Selection) -> _Found:
        bootstrap = [(file, stamp) for file in selection.bootstrap if (stamp := stamp_of(f"{self._home}/{file}"))]
        wanted = selection.skills
        skills = () if wanted == () else self.skills_of(way.agent)
        if wanted is not None:
            skills = tuple(skill for skill in skills if skill.name in wanted)
        return _Found(
            bootstrap=tuple(bootstrap),
            memory=self._memory(way.agent, way.memory_scope, way.principal),
            skills=skills,
            actions=stamp_of(self._actions) if way.actions else None,
        )

    def _memories(self, name: str, scope: MemoryScope, principal: str) -> tuple[str, ...]:
        """The places of a memory, the one to be made first (C-12)."""
        match scope:
            case "agent":
                return (f"{self._agents}/{name}/MEMORY.md", self._shared_memory)
            case "global":
                return (self._shared_memory,)
            case "principal":
                return (str(self._workspace.memory_of(principal)),)
            case _:
                assert_never(scope)

    def _memory(self, name: str, scope: MemoryScope, principal: str) -> tuple[str, Stamp] | None:
        if scope == "principal" and not principal:
            return None
        for path in self._memories(name, scope, principal):
            if stamp := stamp_of(path):
                return path, stamp
        return None

    def _assemble(self, found: _Found, way: _Way) -> FilesRead:
        sources: list[str] = []
        parts: list[str] = []
        for file, _ in found.bootstrap:
            text = self._prompt_text(self._home + "/" + file, sources)
            if text:
                parts.append(f"# {file}\n\n{text}")
        skills = self._skill_text(found, way, sources)
        memory = self._text(Path(found.memory[0]), sources) if found.memory else ""
        cut = cut_memory(memory, way.memory_characters).strip()
        return FilesRead(
            bootstrap="\n\n".join(parts),
            skills=skills,
            memory=f"# MEMORY.md\n\n{cut}" if cut else "",
            memory_read=len(memory),
            actions=self._prompt_text(self._actions, sources) if found.actions else "",
            sources=tuple(sources),
        )

    def _skill_text(self, found: _Found, way: _Way, sources: list[str]) -> str:
        skills: list[tuple[Skill, str]] = []
        for file in found.skills:
            skill = self._skill(file)
            if skill is not None:
                path = self._workspace.in_root(file.path)
                skills.append((skill, path))
                sources.append(path)
        return write_out(skills) if way.skills_mode == "inline" else point_to(skills)

    def _skill(self, file: SkillFile) -> Skill | None:
        known = self._skills.get(file.path)
        if known is not None and known[0] == file.stamp:
            return known[1]
        try:
            skill = read_skill(file, self._workspace.in_home(file.path))
        except ConfigError as error:
            self._report(f"{error}\nthe skill {file.name!r} is left out until the file is mended")
            skill = None
        self._skills[file.path] = (file.stamp, skill)
        return skill

    def _prompt_text(self, path: str, sources: list[str]) -> str:
        """The text of a file that a person writes for prompts, without blanks around it and cut to its cap."""
        text = self._text(Path(path), sources).strip()
        return cut_text(text, MAX_BOOTSTRAP, self._workspace.in_root(path))

    def _text(self, path: Path, sources: list[str]) -> str:
        """The text of a file; what is not UTF-8 in it becomes a replacement character."""
        try:
            source = path.read_bytes()
        except FileNotFoundError:  # removed since it was found: the next step sees that
            return ""
        except OSError as error:
            file = self._workspace.in_home(path)
            self._report(f"{file}: cannot be read: {error.strerror or error}; the prompt goes without it")
            return ""
        sources.append(self._workspace.in_root(path))
        return source.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
