"""What arrives for a session from outside: a message, a message that steers, a wish to stop, a withdrawal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from oribi.core.budget import Limits
from oribi.core.calls import JsonObject
from oribi.core.events import SessionOpened
from oribi.core.messages import InputPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A person's message: starts a turn, or waits until the open one has ended.

    The turn's answer has to fit `output_schema`, where one is given, in place of the agent's. `parts` come with it.
    `mode` is one of the agent's modes, empty for none. `limits` and `confirm_writes` tighten the agent's policy.
    """

    text: str
    output_schema: JsonObject | None = None
    parts: tuple[InputPart, ...] = ()
    mode: str = ""
    limits: Limits | None = None
    confirm_writes: bool = False


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
    """Withdraw something: `what`, in words; a turn that depends on it ends as Revoked (M-21).

    With `tool` (a tool's name) or `owner` (a plug-in's) only a turn that has used one of those tools ends, any other
    cannot use them any more. With neither, the open turn ends.
    """

    what: str
    tool: str = ""
    owner: str = ""


Mail: TypeAlias = Input | Steer | Interrupt | Revoke


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """Mail that waits in the database, by its `number`; `opening` begins the session if there is none yet."""

    number: int
    mail: Mail
    opening: SessionOpened
