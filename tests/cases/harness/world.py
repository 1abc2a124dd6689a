"""The folders, the random word and the placeholders of one play."""

from __future__ import annotations

import base64
import os
import secrets
import socket
import string
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cases.harness.expand import expand

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict

_LETTERS = string.ascii_lowercase + string.digits


@dataclass(slots=True, kw_only=True)
class World:
    """Where a play happens. Everything lies below `root`; `values` are the placeholders that are known so far."""

    root: Path
    canary: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def workspace(self) -> Path:
        """The agent's workspace."""
        return self.root / "ws"

    @property
    def fixture_log(self) -> Path:
        """Where fixture tools note their calls."""
        return self.root / "fixtures" / "calls.log"

    @property
    def ledger(self) -> Path:
        """Where the effects of fixture tools are counted."""
        return self.root / "fixtures" / "ledger"

    def look_up(self, name: str, rest: str) -> Any:
        """The value of a placeholder.

        Raises:
            KeyError: It is not known here.

        """
        if name not in self.values:
            raise KeyError(f"the placeholder ${{{name}{rest}}} is not known here")
        return self.values[name]

    def filled(self, value: Any) -> Any:
        """`value` with its placeholders filled in."""
        return expand(value, self.look_up)


def new_world(root: Path) -> World:
    """A fresh world in the empty folder `root`."""
    canary = "".join(secrets.choice(_LETTERS) for _ in range(20))
    padding = "".join(secrets.choice(_LETTERS) for _ in range(16))
    world = World(root=root, canary=canary)
    for folder in (world.workspace, root / "out", root / "fixtures"):
        folder.mkdir(parents=True)
    world.values = {
        "WS": str(world.workspace),
        "OUT": str(root / "out"),
        "CANARY": canary,
        "CANARY36": canary + padding,
        "KEY": f"sk-test-{canary}",
        "LONG90": "long_" + "n" * 85,
        "MCP_MARK": f"mcp-{canary[:8]}",
        "P": free_port(),
        "P2": free_port(),
    }
    return world


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def write_files(world: World, files: list[JsonDict]) -> None:
    """Make the files, links and repositories of a set-up."""
    for given in files:
        write_file(world.filled(given))


def write_file(given: JsonDict) -> None:
    """Make one entry of `files`, its placeholders filled in."""
    if "git_repo" in given:
        _git_repository(Path(given["git_repo"]), given.get("commits", 1))
        return
    place = given.get("symlink") or given.get("fifo") or given.get("socket") or given.get("dir") or given.get("sparse")
    path = Path(given["path"] if isinstance(place, bool) or place is None else place)
    path.parent.mkdir(parents=True, exist_ok=True)
    if "symlink" in given:
        path.symlink_to(given["to"])
    elif "fifo" in given:
        os.mkfifo(path)
    elif "socket" in given:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif "dir" in given:
        path.mkdir(exist_ok=True)
    elif "sparse" in given or "bytes" in given:
        with path.open("wb") as file:
            file.truncate(given["bytes"])
    else:
        path.write_bytes(content_of(given))
    if "mode" in given:
        path.chmod(int(given["mode"], 8))


def content_of(given: JsonDict) -> bytes:
    """The bytes that `text`, `b64` or `repeat` say; text may hold lone surrogates."""
    if "b64" in given:
        return base64.b64decode(given["b64"])
    repeat = given.get("repeat")
    if isinstance(repeat, dict):
        return (repeat["text"] * repeat["times"]).encode()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] # JSON
    return str(given.get("text", "")).encode("utf-8", "surrogatepass")


def _git_repository(path: Path, commits: int) -> None:
    path.mkdir(parents=True, exist_ok=True)

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(path), *arguments], check=True, capture_output=True)

    git("init", "--quiet")
    git("config", "user.name", "Case")
    git("config", "user.email", "case@example.invalid")
    for number in range(1, commits + 1):
        (path / "tracked.txt").write_text(f"version {number}\n")
        git("add", "tracked.txt")
        git("commit", "--quiet", "--message", f"commit {number}")
