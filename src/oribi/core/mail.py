"""What arrives for a session from outside: a message, a message that steers, a wish to stop, a withdrawal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from oribi.core.calls import JsonObject
from oribi.core.events import SessionOpened
from oribi.core.messages import InputPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A person's message: starts a turn, or waits until the open one has ended.

    The turn's answer has to fit `output_schema`, where one is given, in place of the agent's. `parts` come with it.
    """

    text: str
    output_schema: JsonObject | None = None
    parts: tuple[InputPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """A person's message that joins the open turn; starts one when none is open."""

    text: str
    parts: tuple[InputPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """Stop the open turn; it ends as Interrupted."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoke:
    """Stop the open turn: something it depends on is withdrawn; it ends as Revoked (M-21)."""

    what: str


Mail: TypeAlias = Input | Steer | Interrupt | Revoke


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """Mail that waits in the database, by its `number`; `opening` begins the session if there is none yet."""

    number: int
    mail: Mail
    opening: SessionOpened
