"""How a built-in tool is put together: a plain JSON Schema for the model, a typed value for the code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import signature
from typing import TypeVar

import msgspec

from oribi.core.calls import EffectClass, Json, JsonObject, ToolResult, ToolSpec
from oribi.ports import Invocation
from oribi.tools.tool import FileEffect, Tool

A = TypeVar("A")


def make_builtin(  # noqa: PLR0913 - the parts of a tool, by name
    name: str,
    description: str,
    *,
    arguments: type[A],
    properties: dict[str, JsonObject],
    run: Callable[[A, Invocation], Awaitable[ToolResult]],
    effects: Callable[[A], Sequence[FileEffect]] = lambda _: (),
    effect: EffectClass = "pure",
    timeout_seconds: float = 30.0,
    parallel: bool | None = None,
    for_reasoning: bool = False,
) -> Tool:
    """A tool whose arguments are a dataclass; fields without a default are required. `properties` is their schema.

    `parallel` says whether its calls may run beside others (default: if it changes nothing). With `for_reasoning`,
    turns that may only look have it too (M-25).
    """
    required: list[Json] = [
        parameter.name for parameter in signature(arguments).parameters.values() if parameter.default is parameter.empty
    ]
    parameters: JsonObject = {
        "type": "object",
        "properties": dict[str, Json](properties),
        "required": required,
        "additionalProperties": False,
    }

    async def run_parsed(raw: JsonObject, invocation: Invocation) -> ToolResult:
        return await run(_parse(raw, arguments), invocation)

    return Tool(
        spec=ToolSpec(
            name=name,
            description=description,
            parameters=parameters,
            effect=effect,
            timeout_seconds=timeout_seconds,
            parallel=effect == "pure" if parallel is None else parallel,
            for_reasoning=description if for_reasoning else "",
        ),
        run=run_parsed,
        effects=lambda raw: effects(_parse(raw, arguments)),
    )


def _parse(raw: JsonObject, arguments: type[A]) -> A:
    """The typed arguments; to JSON Schema 3.0 is an integer, to Python it is not."""
    whole = {
        key: int(value) if isinstance(value, float) and value.is_integer() else value for key, value in raw.items()
    }
    return msgspec.convert(whole, arguments)


PATH: JsonObject = {"type": "string", "description": "Path relative to the project folder."}
"""The schema of a path."""
