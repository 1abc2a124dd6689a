"""The path language of `request_has`: `messages[role=tool][-1].content`, `contents[*].parts[0:2]`."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from tests.cases.harness.case import JsonDict

_PART = re.compile(r"\.?([A-Za-z_$][\w$-]*)|\[([^\]]*)\]")


class NothingThereError(LookupError):
    """The path leads nowhere."""


def look_at(document: Any, path: str) -> Any:
    """The value at `path`. A filter, a slice and `[*]` give lists, and what follows is looked at in each item.

    Raises:
        NothingThereError: There is nothing at that place.

    """
    value, is_many, rest = document, False, path
    while rest:
        found = _PART.match(rest)
        if found is None:
            raise ValueError(f"{path!r} is not a path: it goes wrong at {rest!r}")
        rest = rest[found.end() :]
        key, index = found[1], found[2]
        if key is not None:
            value = [_member(item, key, path) for item in value] if is_many else _member(value, key, path)
        else:
            value, is_many = _indexed(value, index, path, is_many=is_many)
    return value


def system_text(request: JsonDict, dialect: str) -> str:
    """The system text of a request."""
    match dialect:
        case "anthropic":
            return text_of(request.get("system", ""))
        case "gemini":
            found = request.get("systemInstruction", request.get("system_instruction", {}))
            return "\n".join(part.get("text", "") for part in found.get("parts", []))
        case _:
            texts = [message.get("content") for message in request["messages"] if message.get("role") == "system"]
            return "\n".join(text_of(text) for text in texts)


def text_of(content: Any) -> str:
    """A message's content as text: text itself, or the texts of its parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = cast("list[Any]", content)
        return "\n".join(part if isinstance(part, str) else str(part.get("text", part)) for part in parts)
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _member(value: Any, key: str, path: str) -> Any:
    if not (isinstance(value, dict) and key in value):
        raise NothingThereError(f"there is no {key!r} on the way to {path!r}")
    return cast("JsonDict", value)[key]


def _are_lists(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, list) for item in items)


def _indexed(value: Any, index: str, path: str, *, is_many: bool) -> tuple[Any, bool]:
    if not isinstance(value, list):
        raise NothingThereError(f"[{index}] is no place of {type(value).__name__} on the way to {path!r}")
    items = cast("list[Any]", value)
    if index == "*":
        return ([inner for item in items for inner in item] if is_many and _are_lists(items) else items), True
    if "=" in index:
        key, _, wanted = index.partition("=")
        return [item for item in items if isinstance(item, dict) and str(item.get(key)) == wanted], True  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] # JSON of any shape
    if ":" in index:
        first, _, last = index.partition(":")
        return items[int(first) if first else None : int(last) if last else None], True
    try:
        # After a filter or a slice an index chooses one of the list; what it gives is one value again.
        return items[int(index)], False
    except IndexError:
        kind = "matches" if is_many else "items"
        raise NothingThereError(f"[{index}]: there are {len(items)} {kind} on the way to {path!r}") from None
