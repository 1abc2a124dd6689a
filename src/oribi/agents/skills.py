"""Skills: which there are for an agent, and what the prompt says of them.

A skill is `skills/<name>/SKILL.md` (the public Agent Skills format) beside an agent or shared in the workspace, or a
plain `skills/<name>.md` beside an agent. An agent's own hides a shared one of the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from oribi.agents.frontmatter import read_document
from oribi.agents.stamps import Stamp, names_in, read_source, stamp_of
from oribi.agents.values import Problems

MAX_SKILLS = 200
MAX_DESCRIPTION = 1_024
"""Characters of a description that are shown; the public format allows no more."""
MAX_BODY = 20_000
"""Characters of a body that are put into a prompt in inline mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """Where a skill lies, and its stamp."""

    name: str
    path: str
    stamp: Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill as read."""

    name: str
    description: str
    body: str


def find_skills(own: str, shared: str) -> tuple[SkillFile, ...]:
    """The skills in the folder `own` of an agent and in the folder `shared`, by name. Reads no file."""
    found: dict[str, SkillFile] = {}
    for folder, takes_plain_files in ((own, True), (shared, False)):
        for name in names_in(folder):
            is_plain = name.endswith(".md")
            if is_plain and not takes_plain_files:
                continue
            path = f"{folder}/{name}" if is_plain else f"{folder}/{name}/SKILL.md"
            stamp = stamp_of(path)
            if stamp is not None:
                key = name.removesuffix(".md")
                found.setdefault(key, SkillFile(name=key, path=path, stamp=stamp))
    return tuple(found[name] for name in sorted(found))


def read_skill(skill: SkillFile, file: str) -> Skill:
    """The skill in its file, which errors call `file`. Without a description, its first line stands for one.

    Raises:
        ConfigError: The file cannot be read, or its frontmatter is broken.

    """
    problems = Problems(file=file)
    document = read_document(read_source(Path(skill.path), file), problems)
    value = (document.settings or {}).get("description")
    written = value.content if value is not None else None
    first = next((line.strip("# \t") for line in document.body.split("\n") if line.strip("# \t")), "")
    description = " ".join(written.split()) if isinstance(written, str) else first
    return Skill(name=skill.name, description=description[:MAX_DESCRIPTION], body=document.body)


def point_to(skills: Sequence[tuple[Skill, str]]) -> str:
    """The text that names each skill and its path, for the model to read when it needs it (O-15)."""
    if not skills:
        return ""
    lines = [f"- {_named(skill)} ({path})" for skill, path in skills[:MAX_SKILLS]]
    if len(skills) > MAX_SKILLS:
        lines.append(f"[{len(skills) - MAX_SKILLS} more skills are not listed]")
    return "# Skills\n\nBefore you do what a skill is for, read its file.\n\n" + "\n".join(lines)


def write_out(skills: Iterable[tuple[Skill, str]]) -> str:
    """The text that holds each skill's body (Y-5)."""
    parts = [f"## {_named(skill)}\n\n{cut_text(skill.body, MAX_BODY, path)}" for skill, path in skills]
    return "\n\n".join(["# Skills", *parts]) if parts else ""


def cut_text(text: str, cap: int, path: str) -> str:
    """The first `cap` characters of `text`, and where the rest is if there is more."""
    if len(text) <= cap:
        return text
    return f"{text[:cap]}\n[cut here after {cap:,} of {len(text):,} characters; the rest is in {path}]"


def _named(skill: Skill) -> str:
    return f"{skill.name}: {skill.description}" if skill.description else skill.name
