"""Text at the border: make any text safe to store and send, and cut what is too long."""

from __future__ import annotations

import re

from oribi.core.calls import Json, JsonObject
from oribi.core.text import whole

_NUL = "\0"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """`text` without lone surrogates and NULs, each replaced by U+FFFD; two halves of a character are joined.

    Such text cannot be encoded as UTF-8, or is refused by databases and providers.
    """
    text = whole(text)
    return text.replace(_NUL, _REPLACEMENT) if _NUL in text else text


def clean_arguments(arguments: JsonObject) -> JsonObject:
    """`arguments` without lone surrogates in any text or name."""
    cleaned = clean_json(arguments)
    return cleaned if isinstance(cleaned, dict) else arguments


def clean_json(value: Json) -> Json:
    """`value` without lone surrogates in any text or name.

    Raises:
        RecursionError: It is nested too deeply.

    """
    import orjson

    try:
        orjson.dumps(value)
    except TypeError:  # also for what is nested deeply and for numbers beyond 64 bits, which pass through
        return _clean_json(value)
    return value


def _clean_json(value: Json) -> Json:
    match value:
        case str():
            return clean(value)
        case list():
            return [_clean_json(item) for item in value]
        case dict():
            return {clean(key): _clean_json(item) for key, item in value.items()}
        case _:
            return value


def one_line(text: str, most_characters: int = 500) -> str:
    """`text` on one line, cut in its middle when it is longer than `most_characters`."""
    line = _SPACES.sub(" ", text).strip()
    if len(line) <= most_characters:
        return line
    half = most_characters // 2
    return f"{line[:half]} … {line[-half:]}"


def decode(content: bytes) -> tuple[str, bool]:
    """`content` as UTF-8 text, and whether bytes that are none had to be replaced by U+FFFD."""
    try:
        return content.decode(), False
    except UnicodeDecodeError:
        return content.decode(errors="replace"), True


def is_binary(start: bytes) -> bool:
    """Whether a file that begins with `start` holds no text: a NUL gives it away."""
    return b"\0" in start


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 line`, `2,000 lines`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
