"""Tool calls and tool results: what a model asked for, and what it is told came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NewType, TypeAlias, assert_never

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, "Json"]

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
CallId = NewType("CallId", str)

EffectClass: TypeAlias = Literal["pure", "idempotent", "reconcilable", "once"]
"""What may be done about a call that was cut off (G1).

`pure` and `idempotent` run again, `reconcilable` asks the world, `once` (the default) becomes Unknown.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool as a turn sees it: frozen when the turn starts, the only look-up while it lasts (C-22)."""

    name: str
    description: str
    parameters: JsonObject
    effect: EffectClass = "once"
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """Arguments that are not a JSON object. They never run; the model is told the `problem`."""

    text: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model's request. Nothing has happened yet. `id` is unique within its reply."""

    id: CallId
    name: str
    arguments: JsonObject | Malformed


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    """The tool did what was asked; `text` is what it gave back."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The tool ran, or tried to, and did not do it; `retryable` when the same call may work later (O-25)."""

    text: str
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The call did not run: `rule` names what forbade it, `reason` says it in one sentence."""

    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The call was cut off: it may or may not have happened."""

    reason: str


ToolResult: TypeAlias = Succeeded | Failed | Denied | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may run; `rule` names what allowed it."""

    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call may not run; `reason` is told to the model."""

    rule: str
    reason: str


Verdict: TypeAlias = Allow | Deny


def told(result: ToolResult) -> str:
    """The text the model reads for `result`; never blank, so that every wire accepts it."""
    match result:
        case Succeeded(text=text):
            return text if text.strip() else "(the tool gave no output)"
        case Failed(text=text):
            return f"Error: {text}" if text.strip() else "Error: the tool failed without saying why"
        case Denied(reason=reason, rule=rule):
            return f"Not run ({rule}): {reason}"
        case Unknown(reason=reason):
            return f"Unknown: {reason}"
        case _:
            assert_never(result)
