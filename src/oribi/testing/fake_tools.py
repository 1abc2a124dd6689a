"""Tools made of plain functions, as the `Tools` port: no sandbox, no files, every run noted."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, TypeAlias

from oribi.core.calls import Allow, Deny, Failed, JsonObject, Malformed, Succeeded, ToolCall, ToolSpec, Unknown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from oribi.core.calls import EffectClass, ToolResult, Verdict
    from oribi.ports import Invocation

Function: TypeAlias = "Callable[[JsonObject], str | ToolResult | Awaitable[str | ToolResult]]"


class FakeTools:
    """The `Tools` port over `functions`: name to a function of the call's arguments.

    A function, async or not, returns the text that succeeded or a whole `ToolResult`; what it raises becomes a
    `Failed`. Every call in the catalogue is allowed. `effects` may give a tool another effect class than `once`,
    `refine` change its spec, `probes` say what a `reconcilable` one tells of a call that was cut off. `runs` notes
    each run: the tool's name and arguments, in order.
    """

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = dict(functions)
        self.effects: dict[str, EffectClass] = {}
        self.refine: Callable[[ToolSpec], ToolSpec] = lambda spec: spec
        self.probes: dict[str, Callable[[JsonObject], ToolResult | None]] = {}
        self.runs: list[tuple[str, JsonObject]] = []

    def specs(self) -> tuple[ToolSpec, ...]:
        """The functions as a turn's tools: any arguments, effect class as `effects` says, else `once`."""
        parameters: JsonObject = {"type": "object", "properties": {}}
        return tuple(
            self.refine(
                ToolSpec(
                    name=name,
                    description=f"The tool {name}.",
                    parameters=parameters,
                    effect=self.effects.get(name, "once"),
                )
            )
            for name in self._functions
        )

    def judge(self, catalogue: Mapping[str, ToolSpec], call: ToolCall, agent: str) -> Verdict:
        if call.name not in catalogue:
            known = ", ".join(catalogue) or "none"
            return Deny(rule="catalogue", reason=f"unknown tool {call.name!r}; this agent has: {known}")
        if isinstance(call.arguments, Malformed):
            return Deny(rule="arguments", reason=call.arguments.problem)
        return Allow(rule="catalogue")

    async def run(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult:
        if isinstance(call.arguments, Malformed):
            return Failed(text=call.arguments.problem)
        self.runs.append((call.name, call.arguments))
        try:
            returned = self._functions[spec.name](call.arguments)
            outcome = await returned if isawaitable(returned) else returned
        except Exception as error:  # noqa: BLE001 - the one broad except, around a tool's body
            return Failed(text=f"{type(error).__name__}: {error}")
        return Succeeded(text=outcome) if isinstance(outcome, str) else outcome

    async def probe(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult | None:
        probe = self.probes.get(spec.name)
        if probe is None or isinstance(call.arguments, Malformed):
            return Unknown(reason=f"{spec.name} was cut off and has no probe")
        return probe(call.arguments)
