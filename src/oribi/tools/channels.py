"""Where `notify` can send messages, as the operator configures it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class LogChannel:
    """Appends each message as one JSON line to `file`, a path relative to the root."""

    name: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChannel:
    """Posts each message as JSON to `url`. `headers_env` pairs a header with the environment variable of its value.

    The body has `text` (as chat services expect), `channel`, `agent`, `session_id`, `turn_id` and `at`; the header
    `Idempotency-Key` is the same for every attempt of a call. Redirects are not followed.
    """

    name: str
    url: str
    headers_env: tuple[tuple[str, str], ...] = ()


Channel: TypeAlias = LogChannel | WebhookChannel
