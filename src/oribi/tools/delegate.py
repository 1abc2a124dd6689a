"""`delegate`: another agent does a part of the work, in a session of its own (O-38, C-24).

Which agents may be asked stands in the AGENT.md that lists the tool (`delegates`), and is part of its frozen schema.
"""

from __future__ import annotations

from dataclasses import dataclass

from oribi.core.calls import Denied, Failed, Succeeded, ToolResult
from oribi.core.ends import Completed, facts
from oribi.core.mail import Input
from oribi.ports import Invocation
from oribi.tools.builtin import make_builtin
from oribi.tools.tool import Tool

LONGEST_SECONDS = 24 * 3_600.0
"""A turn has its own deadline; this bounds one that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    agent: str
    input: str


def delegate_tool() -> Tool:
    """The tool `delegate`. A call that was cut off goes on where it stood, so it may be started again."""

    async def run(arguments: _Arguments, call: Invocation) -> ToolResult:
        if call.nest is None:
            return Failed(text="there is no turn here to delegate from")
        if call.depth > call.policy.max_depth:
            most = call.policy.max_depth
            return Denied(
                rule="depth", reason=f"turns may be nested {most} deep, and this one is; do the work yourself"
            )
        result = await call.nest(call, arguments.agent, Input(text=arguments.input))
        if isinstance(result.end, Completed):
            return Succeeded(text=result.text)
        return Failed(text=f"{arguments.agent} did not finish ({facts(result.end).label}): {result.text}")

    return make_builtin(
        "delegate",
        "Give a part of the work to another agent. It sees only `input`, and what it spends is spent of your budget.",
        arguments=_Arguments,
        properties={
            "agent": {"type": "string", "description": "The agent to ask."},
            "input": {"type": "string", "description": "The whole task, with everything the agent has to know."},
        },
        run=run,
        effect="idempotent",
        timeout_seconds=LONGEST_SECONDS,
        parallel=True,
    )
