"""A tool as a value: what the model is told of it, what a call of it touches, and how to run it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oribi.core.calls import JsonObject, Succeeded, ToolResult, ToolSpec
from oribi.ports import Invocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """A call reads this file or folder, named as the model wrote it."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """A call writes this file, named as the model wrote it."""

    path: str


FileEffect: TypeAlias = Reads | Writes
"""What a call touches; policy judges it before the call runs (C-18)."""


def touches_nothing(arguments: JsonObject) -> Sequence[FileEffect]:
    """The effects of a tool that touches no files."""
    del arguments
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """How recorded arguments and results of a tool become the values its function took and returned."""

    arguments: Callable[[JsonObject], Mapping[str, object]]
    result: Callable[[Succeeded], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    `run` gets arguments that fit `spec.parameters`. It may raise: an `OribiError` reaches the model as it is, anything
    else with the name of its class in front. `effects` names the files a call touches; a tool that touches files must
    reach them through a `Jail` as well, which judges again at the moment it opens them. A `reconcilable` tool has a
    `probe`: what came of a call with these arguments and this `Invocation.key`, None if it did not happen; it changes
    nothing, and may raise when it cannot tell. `key` says what makes a call the same as another within a turn (M-23);
    None, or a key that is None: its arguments. `typed` reads recorded calls of it back as typed values (M-24).
    """

    spec: ToolSpec
    run: Callable[[JsonObject, Invocation], Awaitable[ToolResult]]
    effects: Callable[[JsonObject], Sequence[FileEffect]] = touches_nothing
    probe: Callable[[JsonObject, Invocation], Awaitable[ToolResult | None]] | None = None
    key: Callable[[JsonObject], str | None] | None = None
    typed: Typed | None = None
