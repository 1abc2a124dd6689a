"""Which of the tools that an agent lists a turn has, and how its model sees them. Nothing here ever adds one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oribi.core.calls import JsonObject, ToolSpec
    from oribi.core.policy import LoopPolicy


def catalogue(policy: LoopPolicy, specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """The tools of a turn among those its agent lists; for reasoning, those that declare themselves for it (M-25)."""
    match policy.catalogue:
        case "listed":
            return specs
        case "for_reasoning":
            declared = (spec for spec in specs if spec.for_reasoning and not spec.writes)
            return tuple(replace(spec, description=spec.for_reasoning) for spec in declared)
        case _:
            assert_never(policy.catalogue)


def for_agents(spec: ToolSpec, agents: Mapping[str, str]) -> ToolSpec:
    """The tool `delegate` for these agents and no others; each is described, where that is known."""
    properties = spec.parameters.get("properties")
    known = properties if isinstance(properties, dict) else {}
    given = known.get("agent")
    one: JsonObject = {**(given if isinstance(given, dict) else {}), "enum": [*agents]}
    lines = [f"- {name}: {about}" if about else f"- {name}" for name, about in agents.items()]
    return replace(
        spec,
        description="\n".join([f"{spec.description}\n\nAgents:", *lines]),
        parameters={**spec.parameters, "properties": {**known, "agent": one}},
    )
