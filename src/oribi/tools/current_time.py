"""`current_time`: what time it is, here or in a zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from oribi.core.calls import Failed, Succeeded, ToolResult
from oribi.ports import Clock, Invocation
from oribi.tools.builtin import make_builtin
from oribi.tools.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    zone: str = "UTC"


def current_time_tool(clock: Clock) -> Tool:
    """The tool `current_time`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        del invocation
        zone = _zone(arguments.zone)
        if zone is None:
            return Failed(text=f"no time zone {arguments.zone!r}; give an IANA name such as 'Europe/Berlin', or 'UTC'")
        now = datetime.fromtimestamp(clock.now() // 1_000_000, tz=zone)
        return Succeeded(text=f"{now.isoformat()} ({now:%A}, {arguments.zone})")

    return make_builtin(
        "current_time",
        "The current date, time and day of the week.",
        arguments=_Arguments,
        properties={
            "zone": {"type": "string", "description": "IANA time zone such as 'Europe/Berlin' (default 'UTC')."}
        },
        run=run,
        for_reasoning=True,
    )


def _zone(name: str) -> tzinfo | None:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # also for names such as '../x' or of a folder
        return None
