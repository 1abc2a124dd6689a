"""The few errors Oribi raises: each is for a person, and says what happened, with which input, and what to do next."""

from __future__ import annotations

from typing import Literal, TypeAlias

FaultKind: TypeAlias = Literal[
    "auth",
    "rate",
    "overloaded",
    "context_length",
    "bad_request",
    "network",
    "timeout",
    "protocol",
    "cut_off",
    "circuit_open",
    "empty",
    "schema",
]
"""Why a model gave no usable answer.

`protocol`: the reply was not understood; `cut_off`: the runtime died while it waited; `circuit_open`: the provider has
failed so often that it is left alone for a while; `empty`: it said nothing, again and again; `schema`: its answers did
not fit the agent's output schema.
"""

TRANSIENT: frozenset[FaultKind] = frozenset({"rate", "overloaded", "network", "timeout", "protocol"})
"""The kinds that may pass by themselves: asking again can help."""

RECOVERABLE: frozenset[FaultKind] = frozenset({*TRANSIENT, "circuit_open", "cut_off"})
"""The kinds after which a turn that has found something may still wrap it up (M-36); never one of authorisation."""


class OribiError(Exception):
    """Base of every error Oribi raises on purpose; its text is fit to be shown as it is."""


class ConfigError(OribiError):
    """A setting, file or argument is wrong; the text names it and the remedy."""


class JournalError(OribiError):
    """The journal is corrupt, in use by another writer, from a newer version, or cannot be written."""


class LeaseLost(JournalError):  # noqa: N818 - a fact about the lease, not a kind of mistake
    """Another writer took the session over (its epoch or `seq` moved on); this one stops and writes nothing."""


class SessionBusy(JournalError):  # noqa: N818 - a fact about the session, not a kind of mistake
    """Another turn of the session is under way, here or in another process, and the input was not to wait for it."""


class QuotaSpent(JournalError):  # noqa: N818 - a fact about the day, not a kind of mistake
    """The daily quota leaves no room for what was to begin; nothing was written, and the session can go on.

    `limit` names which, as in `daily model_calls`.
    """

    def __init__(self, limit: str, principal: str, most: int) -> None:
        super().__init__(f"{principal!r} has no {limit} left: the quota of a day is {most}")
        self.limit = limit


class ModelError(OribiError):
    """A model call that gave no reply.

    `kind` says why (see `FaultKind`), the text holds the provider's own words, `retry_after_seconds` is what the
    provider asked for (None: nothing), `partial` the text that had already been shown.
    """

    def __init__(
        self, kind: FaultKind, message: str, *, retry_after_seconds: float | None = None, partial: str = ""
    ) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.retry_after_seconds = retry_after_seconds
        self.partial = partial
