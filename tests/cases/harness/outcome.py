"""What came of what was sent: the outcome of one message, as a caller of the product sees it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Outcome:
    """`status`: ok, error, stopped, cancelled, rejected; `died` and `crashed` are what no product should do.

    `text` is the answer, or what the caller is told. `exit_code` and the outputs are those of a one-shot process.
    """

    status: str
    text: str = ""
    end: str = ""
    turn_id: str = ""
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""


@dataclass(slots=True, kw_only=True)
class Sent:
    """One message sent, and what came of it once it is known. Times are in seconds of a monotonic clock."""

    text: str
    session: str
    agent: str
    via: str
    label: str | None
    sent_at: float
    ended_at: float | None = None
    outcome: Outcome | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def milliseconds(self) -> float:
        """From the send to the outcome."""
        assert self.ended_at is not None, f"{self.text!r} has no outcome yet"
        return (self.ended_at - self.sent_at) * 1000
