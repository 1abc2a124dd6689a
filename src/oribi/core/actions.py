"""Actions: what a turn can do next, as values in the imperative. `decide` gives one, the loop does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from oribi.core.calls import CallId, JsonObject, ToolCall, ToolResult
from oribi.core.ends import TurnEnd
from oribi.core.events import ContextCut, ContextTrimmed, NoticeGiven, WrapUpBegan
from oribi.core.prompt import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Nothing to do: no turn is open. `end` is how the last one ended, None when there was none."""

    end: TurnEnd | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Ask policy about these calls."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel:
    """Ask the model number `choice` (0: the agent's), not before `not_before` (microseconds since the epoch)."""

    prompt: Prompt
    step: int
    attempt: int
    choice: int = 0
    not_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """Run these calls, in this order (Y-13), not before `not_before` (microseconds since the epoch).

    Up to `at_once` of them may run at the same time where they stand side by side and their tools say so (C-2).
    """

    calls: tuple[ToolCall, ...]
    at_once: int = 1
    not_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Ask the world whether this call, which was cut off, has happened (G1)."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOff:
    """Settle these calls without running them: they were cut off and may not be repeated, or may not run any more."""

    settled: tuple[tuple[CallId, ToolResult], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """End the turn."""

    end: TurnEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """Hold the final answer against the output schema."""

    text: str
    schema: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Record this fact: what the model is told or sent from now on is another. Nothing else happens."""

    event: NoticeGiven | ContextCut | ContextTrimmed | WrapUpBegan


Action: TypeAlias = Rest | Judge | CallModel | RunTools | Probe | WriteOff | CheckAnswer | Record | End
