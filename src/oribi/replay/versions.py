"""Another version of an agent: one of the workspace as its files are now, or a folder outside of it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from oribi.agents.workspace import Workspace
from oribi.core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oribi.agents.loader import AgentFiles
    from oribi.core.events import FilesRead
    from oribi.ports import AgentSnapshot


Version: TypeAlias = "Mapping[str, tuple[AgentSnapshot, FilesRead]]"
"""An agent and its prompt's files in each of its modes; without a mode under the empty name."""


def version_of(agents: AgentFiles, workspace: Workspace, agent: str | Path) -> Version:
    """An agent of the workspace, or the one in a folder, with the workspace's other files around it.

    Raises:
        ConfigError: There is no such agent, or it cannot be used.

    """
    if not isinstance(agent, Path):
        return _in_its_modes(agents, agent)
    if not (agent / "AGENT.md").is_file():
        raise ConfigError(f"{str(agent)!r} is no agent's folder: it has no AGENT.md")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        around = {"agents", workspace.database.name, "output", "logs"}
        home.mkdir()
        for entry in workspace.home.iterdir():
            if entry.name not in around and not entry.name.startswith("oribi."):
                (home / entry.name).symlink_to(entry, target_is_directory=entry.is_dir())
        copy = home / "agents" / agent.resolve().name
        shutil.copytree(agent, copy)
        return _in_its_modes(agents.in_workspace(Workspace(root=workspace.root, home=home)), copy.name)


def _in_its_modes(agents: AgentFiles, name: str) -> Version:
    version: dict[str, tuple[AgentSnapshot, FilesRead]] = {}
    for mode in ("", *(each.name for each in agents.modes(name))):
        snapshot = agents.load(name, mode)
        version[mode] = snapshot, agents.read_files(snapshot.name, snapshot.policy, "")
    return version
