"""Reading JSON of unknown shape without raising: what is not there is empty."""

from __future__ import annotations

import binascii
from base64 import b64decode

from oribi.core.calls import Json, JsonObject


def object_of(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Json) -> str:
    """`value` if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def is_base64(text: str) -> bool:
    """Whether `text` is base64 of something."""
    try:
        return bool(b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False


def is_data_url(text: str) -> bool:
    """Whether `text` is a URL that holds base64 of a media type."""
    media_type, mark, data = text.removeprefix("data:").partition(";base64,")
    return text.startswith("data:") and "/" in media_type and bool(mark) and is_base64(data)


def merged(first: JsonObject, more: JsonObject) -> JsonObject:
    """`first` with the fields of `more`, which win."""
    return {**first, **more}


def pieces(text: str, size: int = 12) -> list[str]:
    """`text` cut into pieces of `size` characters, as a stream would bring it; none for an empty text."""
    return [text[start : start + size] for start in range(0, len(text), size)]
