"""Why a turn stopped: a sealed union, so a new end makes the type checker list every place to change (T-12, T-13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from oribi.core.calls import Json
from oribi.core.errors import FaultKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The model answered without asking for a tool (T-8, O-8); `value` is the answer parsed, with an output schema."""

    text: str
    value: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxSteps:
    """The step cap was reached; `text` is the last reply's (O-27, T-10). The model was not called again (T-24)."""

    limit: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSpent:
    """A limit of the budget left no room for another call; `limit` names it."""

    limit: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlinePassed:
    """The turn's time was up."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextExhausted:
    """The provider said that the prompt does not fit the model's context window."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """Somebody asked the turn to stop."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """Something the turn depended on was withdrawn."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailed:
    """The model could not be asked, and asking again did not help or could not (T-11)."""

    kind: FaultKind
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailed:
    """A call failed in a way that ends its turn (C-6), or it was all the turn had to do (M-3)."""

    tool: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """The turn was wrapped up for `reason`, and no answer came of what it had found (M-38)."""

    reason: str


TurnEnd: TypeAlias = (
    Completed
    | MaxSteps
    | BudgetSpent
    | DeadlinePassed
    | ContextExhausted
    | Interrupted
    | Revoked
    | ModelFailed
    | ToolFailed
    | Unfinished
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndFacts:
    """How an end is shown: process exit code, HTTP status, a short label (also the metric's name)."""

    exit_code: int
    http_status: int
    label: str


def facts(end: TurnEnd) -> EndFacts:
    """Exit code, HTTP status and label of `end`. The codes are documented in docs/reference/exit-codes.md."""
    match end:
        case Completed():
            return EndFacts(exit_code=0, http_status=200, label="completed")
        case MaxSteps():
            return EndFacts(exit_code=10, http_status=200, label="max_steps")
        case BudgetSpent():
            return EndFacts(exit_code=11, http_status=402, label="budget_spent")
        case DeadlinePassed():
            return EndFacts(exit_code=12, http_status=504, label="deadline_passed")
        case ContextExhausted():
            return EndFacts(exit_code=13, http_status=413, label="context_exhausted")
        case Interrupted():
            return EndFacts(exit_code=130, http_status=499, label="interrupted")
        case Revoked():
            return EndFacts(exit_code=14, http_status=403, label="revoked")
        case ModelFailed(kind=kind):
            return EndFacts(exit_code=15, http_status=504 if kind == "timeout" else 502, label="model_failed")
        case ToolFailed():
            return EndFacts(exit_code=16, http_status=502, label="tool_failed")
        case Unfinished():
            return EndFacts(exit_code=17, http_status=502, label="unfinished")
        case _:
            assert_never(end)


def shown(end: TurnEnd) -> str:
    """The text a person is shown for `end`."""
    match end:
        case Completed(text=text):
            return text
        case MaxSteps(limit=limit, text=text):
            return text or f"Stopped after {limit} steps without a final answer."
        case BudgetSpent(limit=limit, text=text):
            return text or f"Stopped: the turn's budget of {limit} is spent."
        case DeadlinePassed(text=text):
            return text or "Stopped: the turn's time is up."
        case ContextExhausted(message=message):
            return f"The conversation no longer fits the model's context window: {message}"
        case Interrupted(by=by):
            return f"Interrupted by {by}."
        case Revoked(what=what):
            return f"Stopped: {what} was revoked."
        case ModelFailed(kind=kind, message=message):
            return f"The model could not answer ({kind}): {message}"
        case ToolFailed(tool=tool, message=message):
            return f"Stopped: {tool} failed: {message}"
        case Unfinished(reason=reason):
            return f"Unfinished: {reason}, and no answer came of what was found."
        case _:
            assert_never(end)
