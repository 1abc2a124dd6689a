"""Tool arguments as models write them: a JSON object, or a `Malformed` that says what is wrong and never runs."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Final

import orjson

from oribi.core.calls import Json, JsonObject, Malformed
from oribi.core.messages import StopReason
from oribi.core.text import kind_of
from oribi.models.jsontext import clean, clean_tree, dumps, loads

LONG_NUMBER: Final = re.compile(r"\d{19}")
"""Digits that may not fit 64 bits; a fast reader would round them without a word."""


def parse_arguments(given: Json) -> JsonObject | Malformed:
    """The arguments of a call.

    Empty, blank, null and absent all mean `{}`. One extra layer of encoding (text that holds an object) is peeled off.
    Everything else that is not an object is `Malformed`, as are arguments that nothing could carry unchanged: integers
    beyond 64 bits, and more than 250 levels.
    """
    if given is None:
        return {}
    if isinstance(given, str):
        return _parse_text(given)
    return _as_arguments(given, given)


def never_run(arguments: JsonObject | Malformed, stop: StopReason) -> JsonObject | Malformed:
    """The arguments of a call in a reply that stopped for `stop`: those of a cut reply may lack their end (O-34)."""
    match stop:
        case "length":
            problem = (
                "your reply hit the output limit before it was complete, so this call was not run. "
                "Write less at once, or do it in several smaller calls"
            )
        case "content_filter":
            problem = "the provider's content filter stopped your reply before it was complete; this call was not run"
        case "stop" | "tool_calls" | "other":
            return arguments
    text = arguments.text if isinstance(arguments, Malformed) else dumps(arguments).decode()
    return Malformed(text=text, problem=problem)


def parse_exactly(text: str) -> Json:
    """The value of a whole JSON text, with no number rounded.

    Raises:
        ValueError: The text is not JSON, or an integer in it does not fit 64 bits.

    """
    if LONG_NUMBER.search(text) is None:
        return loads(text)
    loads(text)  # refuses what is not JSON, in the words used for every text
    return clean_tree(json.loads(text, parse_int=_within_64_bits))


def _parse_text(given: str) -> JsonObject | Malformed:
    text = given.strip()
    if text in {"", "null"}:
        return {}
    try:
        value = parse_exactly(text)
    except ValueError as error:
        return Malformed(
            text=clean(given),
            problem=f"the arguments are not valid JSON ({clean(str(error))}); send one complete JSON object",
        )
    if isinstance(value, str):
        with suppress(ValueError):
            inner = parse_exactly(value)
            value = inner if isinstance(inner, dict) else value
    return _as_arguments(value, given)


def _within_64_bits(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"the integer {digits[:40]} does not fit 64 bits, send it as text")
    return number


def _as_arguments(value: Json, given: Json) -> JsonObject | Malformed:
    if isinstance(value, dict):
        try:
            orjson.dumps(value)
        except TypeError as error:
            return Malformed(text=_shown(given), problem=f"the arguments cannot be carried ({error})")
        return value
    return Malformed(
        text=_shown(given), problem=f"the arguments are {kind_of(value)}, not a JSON object; send one JSON object"
    )


def _shown(given: Json) -> str:
    if isinstance(given, str):
        return clean(given)
    try:
        return dumps(given).decode()
    except ValueError:
        return ""
