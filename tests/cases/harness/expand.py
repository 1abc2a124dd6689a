"""Placeholders and built values of case files, expanded from the inside out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from tests.cases.harness.case import JsonDict

LookUp: TypeAlias = Callable[[str, str], Any]
"""The value of a placeholder: its name and what stands behind its colon or plus sign (with that sign)."""

_PLACEHOLDER = re.compile(r"\$\{([A-Z][A-Z0-9_]*)([:+|][^}]*)?\}")


def expand(value: Any, look_up: LookUp) -> Any:
    """`value` with every placeholder replaced and every `$repeat` and `$nest` built. `$json` stays, expanded inside."""
    match value:
        case str():
            return _fill(value, look_up)
        case list():
            return [expand(item, look_up) for item in cast("list[Any]", value)]
        case {"$repeat": _}:
            return _repeated(expand(value["$repeat"], look_up))
        case {"$nest": _}:
            return _nested(expand(value["$nest"], look_up))
        case dict():
            return {key: expand(item, look_up) for key, item in cast("JsonDict", value).items()}
        case _:
            return value


def encode_arguments(value: Any, role: str, names: Callable[[str, JsonDict], JsonDict], *, as_text: bool) -> Any:
    """Arguments written as `{"$json": ..., "of": ...}`: under the product's names, as text or as an object."""
    if not (isinstance(value, dict) and "$json" in value):
        return cast("Any", value)
    given = cast("JsonDict", value)
    mapped = names(given.get("of", role), given["$json"])
    return json.dumps(mapped, ensure_ascii=False) if as_text else mapped


def _fill(text: str, look_up: LookUp) -> Any:
    whole = _PLACEHOLDER.fullmatch(text)
    if whole is not None:
        return look_up(whole[1], whole[2] or "")
    return _PLACEHOLDER.sub(lambda found: str(look_up(found[1], found[2] or "")), text)


def _repeated(repeat: JsonDict) -> str:
    return repeat.get("before", "") + repeat["text"] * int(repeat["times"]) + repeat.get("after", "")


def _nested(nest: JsonDict) -> str:
    times = int(nest["times"])
    return nest["open"] * times + nest.get("core", "") + nest["close"] * times
