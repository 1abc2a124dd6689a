"""The lock document of an agent: every file, tool and setting that shapes its turns, by hash (G13).

No value that came from `${NAME}` in AGENT.md stands in it in clear, so that it can be kept with the files.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from oribi.agents.stamps import Stamp, stamp_of
from oribi.core.errors import ConfigError
from oribi.core.events import FilesRead, ModelAsked, Recorded, TurnStarted
from oribi.core.lock import json_hash, text_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from oribi.agents.workspace import Workspace
    from oribi.core.calls import Json, JsonObject, TurnId
    from oribi.core.messages import ModelChoice
    from oribi.ports import AgentSnapshot

FORMAT = 1
"""The version of the document's shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTurn:
    """The lock of a recorded turn, and the texts whose hashes stand under its `prompt`, by their keys there."""

    lock: JsonObject
    texts: dict[str, str]


class Locks:
    """Makes locks, and makes one again only when what it is about has changed."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._hashes: dict[Path, tuple[Stamp, str]] = {}
        self._made: dict[tuple[str, str], tuple[bytes, FilesRead, AgentSnapshot, JsonObject]] = {}

    def of(
        self, agent: AgentSnapshot, source: bytes, files: FilesRead, *, memory: Callable[[], Path | None]
    ) -> JsonObject:
        """The lock of `agent`, whose AGENT.md is `source` and whose prompt takes `files`; never to be changed.

        Its memory, in the file that `memory` finds, is what it learned and no part of the lock.
        """
        made = self._made.get((agent.name, agent.mode))
        if made is not None and made[0] is source and made[1] is files and made[2] == agent:
            return made[3]
        lock = self._make(agent, source, files, memory())
        self._made[agent.name, agent.mode] = (source, files, agent, lock)
        return lock

    def _make(self, agent: AgentSnapshot, source: bytes, files: FilesRead, memory: Path | None) -> JsonObject:
        bootstrap: JsonObject = {}
        skills: JsonObject = {}
        folders = (self._workspace.skills, self._workspace.agents / agent.name / "skills")
        for name in files.sources:
            path = self._workspace.root / name
            digest = None if path == memory else self._hash(path)
            if digest is not None:
                kind = skills if any(path.is_relative_to(folder) for folder in folders) else bootstrap
                kind[self._workspace.in_home(path)] = digest
        text = source.decode("utf-8", "replace")
        return {
            "format": FORMAT,
            "runtime": runtime_version(),
            "agent": agent.name,
            "mode": agent.mode or None,
            "agent_file": hashlib.sha256(source).hexdigest(),
            "bootstrap": bootstrap,
            "skills": skills,
            "prompt": {key: text_hash(part) for key, part in prompt_texts(agent.instructions, files).items()},
            "tools": {tool.name: json_hash(cast("JsonObject", asdict(tool))) for tool in agent.tools},
            "model": _model(agent.model, text),
            "fallbacks": [_model(choice, text) for choice in agent.fallbacks],
            "policy": json.loads(json.dumps(asdict(agent.policy))),
            "output_schema": None if agent.output_schema is None else json_hash(agent.output_schema),
        }

    def _hash(self, path: Path) -> str | None:
        """SHA-256 (hex) of a file's content; None when it is gone or cannot be read."""
        stamp = stamp_of(path)
        known = self._hashes.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return None
        if stamp is not None:
            self._hashes[path] = (stamp, digest)
        return digest


def prompt_texts(instructions: str, files: FilesRead) -> dict[str, str]:
    """The texts that a lock holds under `prompt`, exactly as they enter the prompt and the journal."""
    texts = {"instructions": instructions, "bootstrap": files.bootstrap, "skills": files.skills}
    return texts | ({"actions": files.actions} if files.actions else {})


def recorded_lock(records: Sequence[Recorded], turn_id: TurnId) -> LockedTurn:
    """The lock that a turn was started with, and the texts of it that the journal holds.

    Raises:
        ConfigError: There is no such turn, or it has no lock.

    """
    files = FilesRead(bootstrap="", skills="", memory="", memory_read=0, sources=())
    started: TurnStarted | None = None
    for record in records:
        if isinstance(record.event, TurnStarted):
            if started is not None:
                break
            started = record.event if record.event.turn_id == turn_id else None
        elif isinstance(record.event, FilesRead):
            files = record.event
        elif isinstance(record.event, ModelAsked) and started is not None:
            break
    if started is None:
        raise ConfigError(f"the session has no turn {turn_id!r}; `oribi sessions show` lists its turns")
    if started.lock is None:
        raise ConfigError(f"turn {turn_id!r} has no lock: its agent is none of files, or an older Oribi recorded it")
    hashes = started.lock.get("prompt")
    texts = prompt_texts(started.instructions, files)
    known = hashes if isinstance(hashes, dict) else {}
    kept = {key: text for key, text in texts.items() if known.get(key) == text_hash(text)}
    return LockedTurn(lock=started.lock, texts=kept)


@cache
def runtime_version() -> str:
    """The version of Oribi that runs; empty when it is not installed as a package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("oribi")
    except PackageNotFoundError:
        return ""


def _model(choice: ModelChoice, text: str) -> JsonObject:
    """A model and its parameters, in clear only where AGENT.md itself says so or cannot have brought a secret."""
    has_variables = "${" in text
    is_clear = not has_variables or (choice.provider in text and choice.name in text)
    parameters: Json = choice.parameters
    return {
        "ref": choice.ref if is_clear else f"sha256:{text_hash(choice.ref)}",
        "wire": choice.wire,
        "parameters": f"sha256:{json_hash(parameters)}" if has_variables else parameters,
    }
