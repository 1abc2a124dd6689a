"""A project folder with a workspace, the built-in tools over it, and a way to call them as a turn does."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from oribi.core.calls import (
    CallId,
    Denied,
    Deny,
    Json,
    JsonObject,
    SessionId,
    Succeeded,
    ToolCall,
    ToolResult,
    ToolSpec,
    TurnId,
)
from oribi.core.policy import LoopPolicy
from oribi.ports import Invocation
from oribi.testing import ManualClock
from oribi.tools.builtins import builtin_tools
from oribi.tools.channels import Channel
from oribi.tools.file_policy import FilePolicy
from oribi.tools.jail import Jail
from oribi.tools.openat import OpenBelow
from oribi.tools.tool import Tool
from oribi.tools.toolbox import Toolbox

MEMORY = ".oribi/agents/ops/MEMORY.md"

INVOCATION = Invocation(
    session_id=SessionId("s1"),
    turn_id=TurnId("t1"),
    step=1,
    call_id=CallId("c1"),
    agent="ops",
    policy=LoopPolicy(),
)


def call_of(name: str, arguments: JsonObject) -> ToolCall:
    return ToolCall(id=CallId("c1"), name=name, arguments=arguments)


@dataclass
class Bench:
    root: Path
    policy: FilePolicy = field(default_factory=FilePolicy)
    tools: Sequence[Tool] = ()
    channels: Sequence[Channel] = ()
    secrets: dict[str, str] = field(default_factory=dict[str, str])
    invocation: Invocation = INVOCATION
    open_below: OpenBelow | None = None

    def __post_init__(self) -> None:
        (self.root / ".oribi").mkdir(parents=True, exist_ok=True)
        self.clock = ManualClock()
        self.jail = Jail(self.root, self.policy, open_below=self.open_below)
        builtin = builtin_tools(
            root=self.root,
            jails=lambda _: self.jail,
            memory_file=lambda _: MEMORY,
            clock=self.clock,
            channels=self.channels,
            secret=self.secrets.get,
        )
        self.toolbox = Toolbox([*builtin, *self.tools], lambda _: self.jail)
        self.catalogue = catalogue_of(self.toolbox.specs(self.toolbox.names))

    def cap(self, characters: int) -> None:
        """Cap results at `characters`."""
        policy = replace(self.invocation.policy, result_characters=characters)
        self.invocation = replace(self.invocation, policy=policy)

    async def call(self, name: str, /, **arguments: Json) -> ToolResult:
        """Judge a call and, if it is allowed, run it."""
        call = call_of(name, arguments)
        verdict = self.toolbox.judge(self.catalogue, call, "ops")
        if isinstance(verdict, Deny):
            return Denied(reason=verdict.reason, rule=verdict.rule)
        return await self.toolbox.run(call, self.catalogue[name], self.invocation)

    async def text(self, name: str, /, **arguments: Json) -> str:
        """The text of a call that must succeed."""
        result = await self.call(name, **arguments)
        assert isinstance(result, Succeeded), result
        return result.text

    async def failure(self, name: str, /, **arguments: Json) -> str:
        """What the model is told of a call that must not succeed."""
        result = await self.call(name, **arguments)
        assert not isinstance(result, Succeeded), result
        return result.reason if isinstance(result, Denied) else getattr(result, "text", "")

    def write(self, path: str, content: str | bytes) -> Path:
        """Put a file into the project, past the tools."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file


def catalogue_of(specs: Iterable[ToolSpec]) -> dict[str, ToolSpec]:
    return {spec.name: spec for spec in specs}


def everything_below(folder: Path) -> dict[str, bytes | str]:
    """What is in `folder`, to compare before and after: contents of files, targets of links, kinds of the rest."""
    found: dict[str, bytes | str] = {}
    for directory, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(directory) / name
            if path.is_symlink():
                found[str(path.relative_to(folder))] = f"link to {path.readlink()}"
            elif path.is_file():
                found[str(path.relative_to(folder))] = path.read_bytes()
            else:
                found[str(path.relative_to(folder))] = "folder" if path.is_dir() else "special"
    return found
