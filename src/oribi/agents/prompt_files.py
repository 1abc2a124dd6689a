"""The prompt's files: bootstrap files, skills and memory of an agent, read again only when one of them has changed.

What is read here enters the system text, so only files that belong to the workspace's owner or to the agent's own
memory are read, each at a fixed place and with a cap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from oribi.agents.agent import BOOTSTRAP, AgentFile, Skills
from oribi.agents.skills import Skill, SkillFile, cut_text, find_skills, point_to, read_skill, write_out
from oribi.agents.stamps import Stamp, stamp_of
from oribi.agents.workspace import Workspace
from oribi.core.errors import ConfigError
from oribi.core.events import FilesRead
from oribi.core.memory import cut_memory

MAX_BOOTSTRAP = 20_000
"""Characters of one bootstrap file that enter a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which files an agent wants in its prompt."""

    bootstrap: tuple[str, ...] = BOOTSTRAP
    skills: Skills = field(default_factory=Skills)

    @classmethod
    def of(cls, agent: AgentFile) -> Selection:
        """What `agent` asks for."""
        return cls(bootstrap=agent.bootstrap, skills=agent.skills)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Which files there are now and how they look from outside: equal means that nothing has changed."""

    selection: Selection
    memory_characters: int
    bootstrap: tuple[tuple[str, Stamp], ...]
    memory: tuple[str, Stamp] | None
    skills: tuple[SkillFile, ...]


class PromptFiles:
    """Reads the prompt's files of agents, and remembers what it read."""

    def __init__(self, workspace: Workspace, report: Callable[[str], None]) -> None:
        self._workspace = workspace
        # As texts: joining paths costs more than asking for the files' stamps, at every step.
        self._home, self._agents = str(workspace.home), str(workspace.agents)
        self._shared_skills, self._shared_memory = str(workspace.skills), str(workspace.memory)
        self._report = report
        self._read: dict[str, tuple[_Found, FilesRead]] = {}
        self._skills: dict[str, tuple[Stamp, Skill | None]] = {}

    def read(self, name: str, selection: Selection, *, memory_characters: int) -> FilesRead:
        """The files of agent `name` as they are now. A file that cannot be read is left out and reported once."""
        found = self._find(name, selection, memory_characters)
        known = self._read.get(name)
        if known is not None and known[0] == found:
            return known[1]
        files = self._assemble(found)
        self._read[name] = (found, files)
        return files

    def memory_path(self, name: str) -> Path:
        """The memory in force: the agent's own MEMORY.md, else the shared one, else the own one that may be made."""
        found = self._memory(name)
        return Path(found[0] if found else f"{self._agents}/{name}/MEMORY.md")

    def skills_of(self, name: str) -> tuple[SkillFile, ...]:
        """All skills there are for agent `name`."""
        return find_skills(f"{self._agents}/{name}/skills", self._shared_skills)

    def _find(self, name: str, selection: Selection, memory_characters: int) -> _Found:
        bootstrap = [(file, stamp) for file in selection.bootstrap if (stamp := stamp_of(f"{self._home}/{file}"))]
        wanted = selection.skills.names
        skills = () if wanted == () else self.skills_of(name)
        if wanted is not None:
            skills = tuple(skill for skill in skills if skill.name in wanted)
        return _Found(
            selection=selection,
            memory_characters=memory_characters,
            bootstrap=tuple(bootstrap),
            memory=self._memory(name),
            skills=skills,
        )

    def _memory(self, name: str) -> tuple[str, Stamp] | None:
        for path in (f"{self._agents}/{name}/MEMORY.md", self._shared_memory):
            if stamp := stamp_of(path):
                return path, stamp
        return None

    def _assemble(self, found: _Found) -> FilesRead:
        sources: list[str] = []
        parts: list[str] = []
        for file, _ in found.bootstrap:
            path = self._workspace.home / file
            text = self._text(path, sources).strip()
            if text:
                parts.append(f"# {file}\n\n{cut_text(text, MAX_BOOTSTRAP, self._workspace.in_root(path))}")
        skills = self._skill_text(found, sources)
        memory = self._text(Path(found.memory[0]), sources) if found.memory else ""
        cut = cut_memory(memory, found.memory_characters).strip()
        return FilesRead(
            bootstrap="\n\n".join(parts),
            skills=skills,
            memory=f"# MEMORY.md\n\n{cut}" if cut else "",
            memory_read=len(memory),
            sources=tuple(sources),
        )

    def _skill_text(self, found: _Found, sources: list[str]) -> str:
        skills: list[tuple[Skill, str]] = []
        for file in found.skills:
            skill = self._skill(file)
            if skill is not None:
                path = self._workspace.in_root(file.path)
                skills.append((skill, path))
                sources.append(path)
        return write_out(skills) if found.selection.skills.mode == "inline" else point_to(skills)

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
