"""The workspace: where it is found, where things lie in it, and how a new one is made."""

from __future__ import annotations

import hashlib
import string
from dataclasses import dataclass
from pathlib import Path

from oribi.core.errors import ConfigError

HOMES = (".oribi", ".oryxos")
"""What the folder is called. An existing `.oryxos` is taken as it is; `.oribi` wins where both are."""

_PLAIN = frozenset(string.ascii_lowercase + string.digits + "._-@+")
_MAX_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where everything lies. Both paths are absolute.

    `root` is the project folder, in which sessions work; `home` holds the agents and the database.
    """

    root: Path
    home: Path

    @property
    def settings_file(self) -> Path:
        """`oribi.toml`."""
        return self.home / "oribi.toml"

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.home / "oribi.db"

    @property
    def agents(self) -> Path:
        """One folder per agent, each with an AGENT.md."""
        return self.home / "agents"

    @property
    def skills(self) -> Path:
        """Skills that all agents share: a folder each, with a SKILL.md."""
        return self.home / "skills"

    @property
    def action_prompt(self) -> Path:
        """The workspace's own text on how a model writes a JSON action (M-39)."""
        return self.home / "prompts" / "json_action.md"

    @property
    def memory(self) -> Path:
        """The memory of agents that have none of their own (O-12)."""
        return self.home / "memory" / "MEMORY.md"

    def memory_of(self, principal: str) -> Path:
        """The memory that belongs to a person (C-12). No two have the same, also where case makes no difference."""
        return self.home / "memory" / "principals" / _folder_name(principal) / "MEMORY.md"

    @property
    def output(self) -> Path:
        """What agents write for people."""
        return self.home / "output"

    @property
    def logs(self) -> Path:
        """Logs, and the files of `log` channels."""
        return self.home / "logs"

    def in_root(self, path: Path | str) -> str:
        """`path` as tools and models name it: relative to the project folder."""
        return _relative(Path(path), self.root)

    def in_home(self, path: Path | str) -> str:
        """`path` as errors name it: relative to the workspace's own folder."""
        return _relative(Path(path), self.home)


def _folder_name(text: str) -> str:
    """A folder's name for any text that is not empty, another one for every other text."""
    raw = text.encode("utf-8", "surrogatepass")
    name = "".join(
        chr(byte) if chr(byte) in _PLAIN and (number or byte != ord(".")) else f"%{byte:02x}"
        for number, byte in enumerate(raw)
    )
    return name if len(name) <= _MAX_NAME else f"%sha256-{hashlib.sha256(raw).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialised:
    """What `init_workspace` did. `created` are the files it made, none of which was there before."""

    workspace: Workspace
    created: tuple[Path, ...]


def find_workspace(start: Path, *, explicit: Path | None = None, home: str | None = None) -> Workspace:
    """The workspace to use: `explicit` (from a flag), else `home` (ORIBI_HOME), else upward from the folder `start`.

    The first two may name the project folder or the workspace's own folder.

    Raises:
        ConfigError: There is none.

    """
    if explicit is not None:
        return _named(explicit, "--workspace")
    if home:
        return _named(Path(home), "ORIBI_HOME")
    start = start.absolute()
    for folder in (start, *start.parents):
        for name in HOMES:
            if _is_folder(folder / name):
                return Workspace(root=folder, home=folder / name)
    raise ConfigError(f"no workspace in {str(start)!r} or above it: 'oribi init' makes one here")


def init_workspace(path: Path) -> Initialised:
    """Make a workspace in the folder `path`, or add what is missing to the one there. Nothing is overwritten.

    A default agent is added only if there is no agent yet.

    Raises:
        ConfigError: The folder cannot be written.

    """
    root = path.expanduser().absolute()
    home = next((root / name for name in HOMES if _is_folder(root / name)), root / HOMES[0])
    workspace = Workspace(root=root, home=home)
    files = {
        workspace.settings_file: _SETTINGS,
        home / "AGENTS.md": _AGENTS,
        home / "SOUL.md": _SOUL,
        home / "USER.md": _USER,
        home / ".gitignore": _GITIGNORE,
    }
    created: list[Path] = []
    try:
        if not _has_agents(workspace.agents):
            files[workspace.agents / "default" / "AGENT.md"] = _DEFAULT_AGENT
        for folder in (workspace.skills, workspace.memory.parent, workspace.output, workspace.logs):
            folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                with file.open("x", encoding="utf-8", newline="\n") as out:
                    out.write(text)
            except FileExistsError:
                continue
            created.append(file)
    except OSError as error:
        where = error.filename or str(home)
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot make the workspace: {where!r}: {reason}; choose a folder you may write") from error
    return Initialised(workspace=workspace, created=tuple(created))


def _named(path: Path, source: str) -> Workspace:
    """The workspace that a person named, by its project folder or by its own."""
    path = path.expanduser().absolute()
    for name in HOMES:
        if _is_folder(path / name):
            return Workspace(root=path, home=path / name)
    if not _is_folder(path):
        raise ConfigError(f"{source} names {str(path)!r}, which is not a folder; 'oribi init PATH' makes a workspace")
    if path.name in HOMES:
        return Workspace(root=path.parent, home=path)
    if _is_folder(path / "agents"):
        return Workspace(root=path, home=path)
    raise ConfigError(f"{source} names {str(path)!r}, which holds no workspace; 'oribi init {path}' makes one")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a folder we may not enter, or a name no file can have
        return False


def _has_agents(folder: Path) -> bool:
    return _is_folder(folder) and any(True for _ in folder.iterdir())


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


_DEFAULT_AGENT = """\
---
description: Reads and edits the files of this project
# model: anthropic:claude-sonnet-4-5     # else default_model of oribi.toml
tools:
  - read_file
  - list_dir
  - glob
  - grep
  - write_file
  - edit_file
  - current_time
  - save_memory
  - recall_memory
settings:
  max_iterations: 10       # model calls in one turn
  max_history_turns: 20    # earlier turns that are sent
modes:
  reason:                  # /reason ..., or `oribi run --mode reason`: a few look-ups, no change, then the answer
    description: Combines several look-ups into one answer, and changes nothing
    aliases: [analyse, 分析]
    policy: reasoning
---
You help the person who owns this project.

Look before you answer: list, search and read the files that matter, and say which ones you used.
Change a file only when you were asked to. If something failed, say so and say what you tried.
"""

_AGENTS = """\
# About this project

What every agent here should know: what the project is, how it is built and tested, what to leave alone.
"""

_SOUL = """\
# How to speak

Be plain and brief. Say what you know, what you guess, and what you could not find out.
"""

_USER = """\
# About the person

Who you work for and what they prefer. Agents read this file and never write it.
"""

_GITIGNORE = """\
oribi.db*
oribi.lock
oribi.workers/
backups/
pruned.jsonl
logs/
output/
"""

_SETTINGS = """\
# Settings of this workspace. Texts may use ${NAME} for a variable of the environment.
# Each setting can be overridden by a variable (ORIBI_DEFAULT_MODEL, ORIBI_ZONE, ...) and that by a flag.

# The model of agents that name none, as provider:name.
# default_model = "anthropic:claude-sonnet-4-5"

# The agent that answers when none is named.
# default_agent = "default"

# Time zone of the date line in prompts.
# zone = "Europe/Berlin"

# Any endpoint that speaks a known wire. Keys stay in the environment: key_env names the variable.
# [providers.local]
# base_url = "http://127.0.0.1:8080/v1"
# wire = "openai-chat"
# key_env = "LOCAL_API_KEY"

# Where the tool `notify` may send to: a file in the project, or a URL that receives JSON.
# [notify.team]
# file = ".oribi/logs/team.log"
#
# [notify.pager]
# url = "https://example.com/hooks/oribi"
# headers_env = { Authorization = "PAGER_AUTHORIZATION" }

[journal]
# "full": an acknowledged step survives a power cut. "normal": it survives a crash of the process only, faster.
synchronous = "full"

[log]
level = "warning"
"""
