"""Oribi: an agent runtime that you own and can hold to account.

    import oribi

    async with oribi.open("path/to/workspace") as app:
        result = await app.run("ops", "Check the error log.")

Everything the command line does is here as a function; names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oribi.app import App, Stream
    from oribi.core.calls import Failed, Succeeded
    from oribi.core.ends import TurnEnd
    from oribi.core.errors import ConfigError, JournalError, OribiError, SessionBusy
    from oribi.core.mail import Input, Interrupt, Steer
    from oribi.core.results import TurnResult
    from oribi.opening import open_app as open  # noqa: A004 - reads as `oribi.open(...)`
    from oribi.opening import run
    from oribi.ports import Invocation
    from oribi.tools.function import tool
    from oribi.tools.own_turn import Observation, Outcome, Turn, call_tool

__all__ = [
    "App",
    "ConfigError",
    "Failed",
    "Input",
    "Interrupt",
    "Invocation",
    "JournalError",
    "Observation",
    "OribiError",
    "Outcome",
    "SessionBusy",
    "Steer",
    "Stream",
    "Succeeded",
    "Turn",
    "TurnEnd",
    "TurnResult",
    "call_tool",
    "open",
    "run",
    "tool",
]

_HOMES = {
    "App": ("oribi.app", "App"),
    "ConfigError": ("oribi.core.errors", "ConfigError"),
    "Failed": ("oribi.core.calls", "Failed"),
    "Input": ("oribi.core.mail", "Input"),
    "Interrupt": ("oribi.core.mail", "Interrupt"),
    "Invocation": ("oribi.ports", "Invocation"),
    "JournalError": ("oribi.core.errors", "JournalError"),
    "Observation": ("oribi.tools.own_turn", "Observation"),
    "OribiError": ("oribi.core.errors", "OribiError"),
    "Outcome": ("oribi.tools.own_turn", "Outcome"),
    "SessionBusy": ("oribi.core.errors", "SessionBusy"),
    "Steer": ("oribi.core.mail", "Steer"),
    "Stream": ("oribi.app", "Stream"),
    "Succeeded": ("oribi.core.calls", "Succeeded"),
    "Turn": ("oribi.tools.own_turn", "Turn"),
    "TurnEnd": ("oribi.core.ends", "TurnEnd"),
    "TurnResult": ("oribi.core.results", "TurnResult"),
    "call_tool": ("oribi.tools.own_turn", "call_tool"),
    "open": ("oribi.opening", "open_app"),
    "run": ("oribi.opening", "run"),
    "tool": ("oribi.tools.function", "tool"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'oribi' has no name {name!r}; it has: {', '.join(__all__)}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
