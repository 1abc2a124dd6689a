"""Reading the exact answers of a script: bodies, streams, cuts. Their form is in `oribi.testing.script_reader`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from oribi.core.calls import Json
from oribi.core.errors import ConfigError
from oribi.testing.checking import count_at, list_at, mapping_at, number_at, text_at
from oribi.testing.wire_reply import Cut, JsonBody, Refuse, Silence, Stream, TextBody, WireContent, WireReply

EXACT_KEYS = ("json", "raw_json", "body", "sse", "close", "status")
"""A reply with one of these is an exact answer."""

WIRE_KEYS = (*EXACT_KEYS, "headers", "sleep_ms", "as_is", "for_ms", "when", "otherwise")


def read_wire_reply(given: Mapping[str, object], place: str) -> WireReply:
    """The exact answer that `given` says.

    Raises:
        ConfigError: It is not one.

    """
    mapping_at(given, place, WIRE_KEYS)
    below = None
    if "when" in given:
        below = count_at(
            mapping_at(given["when"], f"{place}.when", ("body_bytes_lt",)).get("body_bytes_lt"), f"{place}.when"
        )
    otherwise = None
    if "otherwise" in given:
        otherwise = read_wire_reply(mapping_at(given["otherwise"], f"{place}.otherwise", None), f"{place}.otherwise")
    if (below is None) != (otherwise is None):
        raise ConfigError(f"{place} needs both `when` and `otherwise`, or neither")
    headers = mapping_at(given.get("headers", {}), f"{place}.headers", None)
    return WireReply(
        content=_content(given, place),
        status=count_at(given.get("status", 200), f"{place}.status"),
        headers={key.lower(): text_at(text, f"{place}.headers.{key}") for key, text in headers.items()},
        delay_seconds=number_at(given.get("sleep_ms", 0), f"{place}.sleep_ms") / 1000,
        below_bytes=below,
        otherwise=otherwise,
    )


def _content(given: Mapping[str, object], place: str) -> WireContent:
    kinds = [key for key in ("json", "raw_json", "body", "sse") if key in given]
    if len(kinds) > 1:
        raise ConfigError(f"{place} has both {kinds[0]} and {kinds[1]}; a reply has one body")
    close = given.get("close", "clean")
    if "sse" in given:
        if close not in ("clean", "abort", "hang"):
            raise ConfigError(f"{place}.close is {close!r}; for a stream it is clean, abort or hang")
        return Stream(writes=_writes(given["sse"], f"{place}.sse"), close=close)
    if kinds and "close" in given:
        raise ConfigError(f"{place} has `close` beside {kinds[0]}; only `sse` or nothing goes with it")
    if "raw_json" in given:
        raw = text_at(given["raw_json"], f"{place}.raw_json")
        try:
            return JsonBody(value=json.loads(raw), raw=raw, as_is=bool(given.get("as_is", False)))
        except ValueError as error:
            raise ConfigError(f"{place}.raw_json is not JSON ({error}); use `body` for other text") from error
    if "json" in given:
        # YAML and JSON readers give nothing but JSON values, dates apart, which the encoder refuses by name.
        return JsonBody(value=cast("Json", given["json"]), as_is=bool(given.get("as_is", False)))
    if "body" in given or "close" not in given:
        return TextBody(text=text_at(given.get("body", ""), f"{place}.body"))
    match close:
        case "abort":
            return Cut()
        case "hang":
            return Silence()
        case "refuse":
            return Refuse(seconds=number_at(given.get("for_ms", 500), f"{place}.for_ms") / 1000)
        case _:
            raise ConfigError(f"{place}.close is {close!r}; alone it is abort, hang or refuse")


def _writes(value: object, place: str) -> tuple[bytes | float, ...]:
    writes: list[bytes | float] = []
    for index, item in enumerate(list_at(value, place)):
        where = f"{place}[{index}]"
        if isinstance(item, str):
            writes.append(_encoded(item))
            continue
        given = mapping_at(item, where, ("sleep_ms", "text", "split_bytes", "times"))
        if "sleep_ms" in given:
            writes.append(number_at(given["sleep_ms"], f"{where}.sleep_ms") / 1000)
            continue
        text = _encoded(text_at(given.get("text"), f"{where}.text"))
        size = count_at(given.get("split_bytes", len(text) or 1), f"{where}.split_bytes") or 1
        for _ in range(count_at(given.get("times", 1), f"{where}.times")):
            writes += [text[start : start + size] for start in range(0, len(text), size)]
    return tuple(writes)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
