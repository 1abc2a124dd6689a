"""Which of the tools that an agent lists a turn has, and how its model sees them. Nothing here ever adds one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oribi.core.calls import JsonObject, ToolSpec
    from oribi.core.modes import Command
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


def command_problem(command: Command, specs: tuple[ToolSpec, ...]) -> str | None:
    """Why `command` cannot run one of these tools, the agent's; None when it can."""
    spec = next((spec for spec in specs if spec.name == command.tool), None)
    if spec is None:
        there = ", ".join(spec.name for spec in specs) or "none"
        return f"runs {command.tool!r}, which the agent does not list, or its policy leaves out; it has: {there}"
    properties, required = spec.parameters.get("properties"), spec.parameters.get("required")
    known = properties if isinstance(properties, dict) else {}
    given = {*command.arguments, *([command.rest] if command.rest else [])}
    if unknown := sorted(given - known.keys()) if spec.parameters.get("additionalProperties") is False else []:
        return (
            f"gives {command.tool!r} {unknown[0]!r}, which it does not take; it takes: {', '.join(known) or 'nothing'}"
        )
    if missing := [name for name in required if name not in given] if isinstance(required, list) else []:
        return f"does not give {command.tool!r} {missing[0]!r}, which it needs"
    return None


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
