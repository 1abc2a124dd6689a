"""What was said in a conversation, read off any wire, and the situation it leaves a script in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from oribi.core.calls import Json
from oribi.testing.script import Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing said: by the user, by the model, or by a tool named `tool`."""

    by: Literal["user", "model", "tool"]
    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One server-sent event; `data` given as text is sent as it is, anything else as JSON."""

    data: Json
    name: str | None = None

    def encoded(self, *, ascii_only: bool = False) -> bytes:
        """The event's bytes; `ascii_only` keeps every other character as an escape."""
        data = self.data if isinstance(self.data, str) else json_text(self.data, ascii_only=ascii_only)
        head = "" if self.name is None else f"event: {self.name}\n"
        return f"{head}data: {data}\n\n".encode()


def json_text(value: Json, *, ascii_only: bool = False) -> str:
    """`value` as JSON; what UTF-8 cannot hold (a lone surrogate) becomes an escape."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace").decode()


def situation_after(said: list[Said]) -> Situation:
    """What a script sees of a conversation."""
    step, typed, results = 1, "", dict[str, str]()
    for item in reversed(said):
        if item.by == "user":
            typed = item.text
            break
        if item.by == "model":
            step += 1
        else:
            results.setdefault(item.tool, item.text)
    last = said[-1] if said else Said(by="user", text="")
    return Situation(
        position=sum(item.by == "model" for item in said),
        step=step,
        input=typed,
        last=last.text,
        tool=last.tool if last.by == "tool" else None,
        results=results,
    )
