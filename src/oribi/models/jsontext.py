"""JSON as providers write it: fast where it is clean, and without lone surrogates or NaN whatever came in."""

from __future__ import annotations

import json
import math
from typing import Never

import orjson

from oribi.core.calls import Json, JsonObject
from oribi.core.text import whole as clean


def loads(text: bytes | str) -> Json:
    """The value of a whole JSON text. Lone surrogates become U+FFFD, bytes that are not UTF-8 too.

    Raises:
        ValueError: The text is not JSON (NaN and Infinity are not), or is nested too deeply.

    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return clean_tree(_loads_loosely(text))


def loads_part(text: bytes) -> Json:
    """As `loads`, for one part of a stream: half of a surrogate pair is kept, since its other half may follow.

    Raises:
        ValueError: The text is not JSON, or is nested too deeply.

    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _loads_loosely(text)


def dumps(value: Json) -> bytes:
    """`value` as compact UTF-8 JSON that every reader accepts: no lone surrogate, no NaN or Infinity.

    Raises:
        ValueError: The value is nested too deeply.

    """
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate, an integer beyond 64 bits, or too many levels
        try:
            return json.dumps(clean_tree(value), ensure_ascii=False, separators=(",", ":")).encode()
        except RecursionError as error:
            raise ValueError("the value is nested too deeply to be written as JSON") from error


def clean_tree(value: Json) -> Json:
    """`value` with every text in it cleaned, and numbers that are not finite replaced by null.

    Raises:
        ValueError: The value is nested too deeply.

    """
    try:
        return _cleaned(value)
    except RecursionError as error:
        raise ValueError("the value is nested too deeply") from error


def as_object(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Json) -> str:
    """`value` if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def as_count(value: Json) -> int | None:
    """`value` if it is a count; None, which means unknown, if it is not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _loads_loosely(text: bytes | str) -> Json:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        value: Json = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is beyond every number")
    return number


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant} is not JSON")


def _cleaned(value: Json) -> Json:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
