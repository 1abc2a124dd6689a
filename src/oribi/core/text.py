"""Words about JSON values, and text that can be stored and sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oribi.core.calls import Json


def whole(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced by U+FFFD, so that UTF-8 can hold it."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def kind_of(value: Json) -> str:
    """What `value` is, in words, where an object was wanted."""
    match value:
        case str():
            return "text"
        case list():
            return "a list"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case _:
            return "null"
