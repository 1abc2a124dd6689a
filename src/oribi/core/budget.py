"""What a turn may spend and has spent, counted in steps, calls and tokens."""

from __future__ import annotations

from dataclasses import dataclass

from oribi.core.messages import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Upper bounds for one turn; None means no bound. `deadline_seconds` counts from the start of the turn."""

    model_calls: int | None = None
    tool_calls: int | None = None
    total_tokens: int | None = None
    deadline_seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class Counters:
    """What a turn has spent so far. Only `apply` changes it. Tokens a provider did not report are not in it."""

    steps: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, usage: Usage) -> None:
        """Count the tokens of one reply."""
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0


def spent_limit(counters: Counters, limits: Limits) -> str | None:
    """The name of the first limit that leaves no room for another model call, or None."""
    if limits.model_calls is not None and counters.model_calls >= limits.model_calls:
        return "model_calls"
    if limits.total_tokens is not None and counters.input_tokens + counters.output_tokens >= limits.total_tokens:
        return "total_tokens"
    return None


def calls_left(counters: Counters, limits: Limits) -> int | None:
    """How many more tool calls the turn may start; None means any number."""
    return None if limits.tool_calls is None else max(0, limits.tool_calls - counters.tool_calls)
