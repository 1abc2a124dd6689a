"""What a turn may spend and has spent: steps, calls, bytes and tokens; what a nested turn gets of it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from oribi.core.messages import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Upper bounds for one turn and the turns nested in it; None means no bound (M-14, M-15).

    `model_calls`, `tool_calls`: calls that may begin; `total_steps`: both together (M-11). `write_calls`: calls of
    tools that are not `pure`. `input_bytes`: UTF-8 bytes of the texts of one prompt. `output_tokens`: tokens of one
    reply. `total_tokens`: input and output tokens of all calls. `deadline_seconds` counts from the start of the turn.
    """

    model_calls: int | None = None
    tool_calls: int | None = None
    total_steps: int | None = None
    write_calls: int | None = None
    input_bytes: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a nested turn has spent so far, with the turns nested in it."""

    model_calls: int = 0
    tool_calls: int = 0
    write_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def covers(self, before: Spent) -> bool:
        """Whether nothing of what was spent `before` is missing."""
        return all(getattr(self, each.name) >= getattr(before, each.name) for each in fields(Spent))


NOTHING = Spent()


@dataclass(slots=True, kw_only=True)
class Counters:
    """What a turn has spent so far, nested turns included; `steps` are its own.

    Only `apply` changes it. Tokens a provider did not report are not in it.
    """

    steps: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    write_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_steps(self) -> int:
        """Model calls and tool calls together."""
        return self.model_calls + self.tool_calls

    @property
    def total_tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    @property
    def spent(self) -> Spent:
        """All of it, for the turn that this one is nested in."""
        return Spent(**{each.name: getattr(self, each.name) for each in fields(Spent)})

    def add(self, usage: Usage) -> None:
        """Count the tokens of one reply."""
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0

    def charge(self, spent: Spent, before: Spent = NOTHING) -> None:
        """Count what a nested turn has spent beyond what was counted of it `before`."""
        for each in fields(Spent):
            setattr(self, each.name, getattr(self, each.name) + getattr(spent, each.name) - getattr(before, each.name))


def spent_limit(counters: Counters, limits: Limits) -> str | None:
    """The name of the first limit that leaves no room for another model call, or None."""
    for name in ("model_calls", "total_steps", "total_tokens"):
        limit: int | None = getattr(limits, name)
        if limit is not None and getattr(counters, name) >= limit:
            return name
    return None


def calls_left(counters: Counters, limits: Limits, *, writes: bool = False) -> int | None:
    """How many more tool calls the turn may start, or calls that change something; None means any number."""
    names = ("tool_calls", "total_steps", "write_calls") if writes else ("tool_calls", "total_steps")
    left = [limit - getattr(counters, name) for name in names if (limit := getattr(limits, name)) is not None]
    return max(0, min(left)) if left else None


def calls_spent(counters: Counters, limits: Limits) -> bool:
    """Whether as many tool calls have begun as may."""
    return limits.tool_calls is not None and counters.tool_calls >= limits.tool_calls


def tightened(limits: Limits, by: Limits) -> Limits:
    """The stricter of both in every bound: nested turns only tighten (M-42)."""
    both = {each.name: (getattr(limits, each.name), getattr(by, each.name)) for each in fields(Limits)}
    return Limits(
        **{name: min((each for each in pair if each is not None), default=None) for name, pair in both.items()}
    )


def share_of(counters: Counters, limits: Limits, *, among: int) -> Limits:
    """What a nested turn may spend: an equal part, `among` so many that run at once, of what the turn has left.

    A new loop refills nothing (M-17): the parts together are never more than the whole. The deadline is not among them.
    """
    left = {name: (limit, getattr(counters, name)) for name in SHARED if (limit := getattr(limits, name)) is not None}
    parts = {name: max(0, limit - spent) // among for name, (limit, spent) in left.items()}
    return Limits(input_bytes=limits.input_bytes, output_tokens=limits.output_tokens, **parts)


def without(share: Limits, spent: Spent, before: Spent) -> Limits:
    """What is left of a `share` when `spent` is spent of it, beyond what was spent `before` it was given."""
    counters = Counters()
    counters.charge(spent, before)
    return replace(share_of(counters, share, among=1), deadline_seconds=share.deadline_seconds)


def total_of(spendings: Iterable[Spent]) -> Spent:
    """All of them together."""
    counters = Counters()
    for spent in spendings:
        counters.charge(spent)
    return counters.spent


SHARED = ("model_calls", "tool_calls", "total_steps", "write_calls", "total_tokens")
"""The limits that nested turns spend of together; the others hold for each prompt or reply by itself."""
