"""Fakes for your own tests: a scripted model, a strict fake provider on a real socket, a clock turned by hand.

Names are loaded when they are first used, so that a scripted model does not pay for the server.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oribi.testing.clock import ManualClock
    from oribi.testing.fake_server import FakeModelServer
    from oribi.testing.fake_tools import FakeTools
    from oribi.testing.memory_journal import MemoryJournal
    from oribi.testing.model_request import ModelRequest
    from oribi.testing.rules import broken_rules
    from oribi.testing.script import Script
    from oribi.testing.scripted import ScriptedModel

__all__ = [
    "FakeModelServer",
    "FakeTools",
    "ManualClock",
    "MemoryJournal",
    "ModelRequest",
    "Script",
    "ScriptedModel",
    "broken_rules",
]

_HOMES = {
    "FakeModelServer": "fake_server",
    "FakeTools": "fake_tools",
    "ManualClock": "clock",
    "MemoryJournal": "memory_journal",
    "ModelRequest": "model_request",
    "Script": "script",
    "ScriptedModel": "scripted",
    "broken_rules": "rules",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'oribi.testing' has no name {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(f"oribi.testing.{_HOMES[name]}"), name)
