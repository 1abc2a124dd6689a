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

FailureClass: TypeAlias = Literal["model_visible", "recoverable", "terminal"]
"""What a failed call does to its turn (C-6).

`model_visible` (the default): the model reads it and goes on. `recoverable`: a turn that has found something is wrapped
up, once. `terminal`: the turn ends.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool as a turn sees it: frozen when the turn starts, the only look-up while it lasts (C-22).

    `owner` is the plug-in it came from, empty for our own and for a program's. `failure` is the class of its failures
    that do not name one. `parallel`: its calls may run beside others (C-2). `may_repeat`: the same call may be made
    again within a turn, whatever the policy says of repeats, since its result changes (C-8). `for_reasoning` is what
    it is for in a turn that may only look (M-25); empty: it is not for such turns.
    """

    name: str
    description: str
    parameters: JsonObject
    effect: EffectClass = "once"
    timeout_seconds: float = 60.0
    owner: str = ""
    failure: FailureClass = "model_visible"
    parallel: bool = False
    may_repeat: bool = False
    for_reasoning: str = ""

    @property
    def writes(self) -> bool:
        """Whether a call may change something."""
        return self.effect != "pure"


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
    """The tool did what was asked; `text` is what the model reads of what it gave back.

    `value` is the whole of it, where the text is only a projection of it (M-23, M-24).
    """

    text: str
    value: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The tool ran, or tried to, and did not do it; `retryable` when the same call may work later (O-25).

    `kind` is its class (M-29); None: the one of its tool.
    """

    text: str
    retryable: bool = False
    kind: FailureClass | None = None


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
    """The call may run; `rule` names what allowed it.

    `key` is what its tool says makes it the same call as another (M-23); None: its name and arguments.
    """

    rule: str
    key: str | None = None


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
