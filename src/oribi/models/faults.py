"""Faults: what a provider says when it does not reply, as a typed `ModelError` in the provider's own words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

from oribi.core.calls import Json
from oribi.core.errors import FaultKind, ModelError
from oribi.models.endpoints import Endpoint
from oribi.models.jsontext import as_list, as_object, as_text, clean, loads

LONGEST_WORDS: Final = 2_000
"""Characters of a provider's text that are kept."""

LONGEST_WAIT: Final = 31_536_000.0
"""Seconds: a year. Providers have been seen to ask for more."""

CONTEXT: Final = re.compile(
    r"context[ _](?:length|window|size|limit)|maximum context|prompt is too long|input is too long"
    r"|too many (?:input |prompt )?tokens|reduce the length|input tokens exceed|exceeds the maximum number of tokens"
    r"|input token count.{0,40}exceeds|request_too_large|request too large for the model|exceed_context",
    re.IGNORECASE,
)

CONTEXT_STATUSES: Final = frozenset({None, 400, 413, 422, 500})

KIND_OF_NAME: Final[tuple[tuple[str, FaultKind], ...]] = (
    ("insufficient_quota", "auth"),
    ("api_key_invalid", "auth"),
    ("authentication", "auth"),
    ("invalid_api_key", "auth"),
    ("permission", "auth"),
    ("billing", "auth"),
    ("rate_limit", "rate"),
    ("overloaded", "overloaded"),
    ("unavailable", "overloaded"),
    ("timeout", "timeout"),
    ("server_error", "overloaded"),
    ("api_error", "overloaded"),
    ("internal", "overloaded"),
    ("resource_exhausted", "rate"),
    ("invalid_argument", "bad_request"),
    ("invalid_request", "bad_request"),
    ("not_found", "bad_request"),
)
"""What providers call their errors, as parts of `type` or `code`; the first that fits decides where no status does."""


def refusal(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes, now: float) -> ModelError:
    """The error for an HTTP answer that is not a success; `now` is the time in seconds since the epoch."""
    try:
        payload: Json = loads(body)
    except ValueError:
        payload = None
    text, names = _words(payload)
    if not text:
        text = " ".join(clean(body.decode("utf-8", "replace")).split()) or "no explanation"
    kind = _kind(status, names, text)
    wait = retry_after(headers, now)
    return ModelError(
        kind,
        f"{endpoint.provider} answered {status}: {text[:LONGEST_WORDS]}{_next_step(endpoint, kind, status)}",
        retry_after_seconds=_retry_delay(payload) if wait is None else wait,
    )


def reported(endpoint: Endpoint, payload: Json) -> ModelError:
    """The error for an error object inside a stream, or inside an answer that claims success."""
    text, names = _words(payload)
    status = next((int(name) for name in names if re.fullmatch(r"[45]\d\d", name)), None)
    kind = _kind(status, names, text)
    text = text or "an error without a text"
    return ModelError(
        kind,
        f"{endpoint.provider} reported an error in its reply: {text[:LONGEST_WORDS]}"
        f"{_next_step(endpoint, kind, status)}",
    )


def not_understood(endpoint: Endpoint, what: str, received: bytes) -> ModelError:
    """The error for an answer that is not what its wire says; `what` says how, `received` is quoted in part."""
    quoted = clean(received[:200].decode("utf-8", "replace"))
    return ModelError("protocol", f"{endpoint.provider}: {what}; it begins with {quoted!r}")


def cut_short(endpoint: Endpoint, partial: str) -> ModelError:
    """The error for a stream that ended before its reply was finished."""
    return ModelError(
        "network", f"{endpoint.provider}: the stream ended before the reply was finished", partial=partial
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds the provider asks to wait; None when it does not say, or nothing that can be used.

    A date is measured against the answer's own `Date`, so that a clock that is wrong here does no harm.
    """
    if (milliseconds := _seconds(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1_000
    text = headers.get("retry-after", "").strip()
    if (seconds := _seconds(text)) is not None:
        return seconds
    until = _date(text)
    if until is None:
        return None
    sent = _date(headers.get("date", ""))
    wait = until - (now if sent is None else sent)
    return min(wait, LONGEST_WAIT) if wait > 0 else None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return min(seconds, LONGEST_WAIT) if math.isfinite(seconds) and seconds >= 0 else None


def _date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _words(payload: Json) -> tuple[str, list[str]]:
    """The text of an error object in any of the known shapes, and the names (code, type) it goes by."""
    if isinstance(payload, list):
        payload = payload[0] if payload else None
    if isinstance(payload, str):
        return clean(payload), []
    outer = as_object(payload)
    inner = outer.get("error")
    if isinstance(inner, str):
        return clean(inner), _names(outer)
    error = as_object(inner) or outer
    text = as_text(error.get("message")) or as_text(error.get("detail")) or as_text(error.get("msg"))
    upstream = as_text(as_object(error.get("metadata")).get("raw"))
    if upstream and upstream not in text:
        text = f"{text}: {upstream}" if text else upstream
    return clean(text), _names(error)


def _names(error: dict[str, Json]) -> list[str]:
    given = [error.get(key) for key in ("code", "type", "status")]
    given += [as_object(detail).get("reason") for detail in as_list(error.get("details"))]
    return [str(name).lower() for name in given if isinstance(name, str | int)]


def _retry_delay(payload: Json) -> float | None:
    """How long to wait, as Google says it inside the error: `"retryDelay": "7.5s"`."""
    error = as_object(as_object(payload[0] if isinstance(payload, list) and payload else payload).get("error"))
    for detail in as_list(error.get("details")):
        text = as_text(as_object(detail).get("retryDelay"))
        if text.endswith("s") and (seconds := _seconds(text[:-1])) is not None:
            return seconds
    return None


def _kind(status: int | None, names: list[str], text: str) -> FaultKind:
    if status in CONTEXT_STATUSES and (CONTEXT.search(text) or any(CONTEXT.search(name) for name in names)):
        return "context_length"
    if status in {401, 402, 403}:
        return "auth"
    for part, kind in KIND_OF_NAME:
        if any(part in name for name in names) and (status is None or kind == "auth"):
            return kind
    match status:
        case None:
            return "protocol"
        case 408 | 504 | 524:
            return "timeout"
        case 413:
            return "context_length"
        case 429:
            return "rate"
        case _:
            return "overloaded" if status >= 500 else "bad_request"  # noqa: PLR2004 - HTTP: the server's own fault


def _next_step(endpoint: Endpoint, kind: FaultKind, status: int | None) -> str:
    if kind == "auth":
        key = f"the key in {endpoint.key_env}" if endpoint.key_env else "whether this endpoint needs a key"
        return f". Check {key} and the account behind it"
    if status == 404:  # noqa: PLR2004 - HTTP: not found
        return f". Check the model's name and the base_url {endpoint.base_url!r}"
    if status is not None and 300 <= status < 400:  # noqa: PLR2004 - HTTP: redirects
        return f". Redirects are not followed; check the base_url {endpoint.base_url!r}"
    return ""
