"""Locks: what shaped a turn as a JSON document of hashes (G13), its own hash, and what differs between two of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from oribi.core.calls import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One item that differs; `before` None means that it was added, `after` None that it was removed.

    `item` is the path of keys that leads to it.
    """

    item: tuple[str, ...]
    before: Json
    after: Json

    @property
    def word(self) -> str:
        """`added`, `removed` or `changed`."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"


def lock_hash(document: JsonObject) -> str:
    """SHA-256 (hex) of `document` as canonical JSON: keys sorted, no spaces, UTF-8."""
    return json_hash(document)


def json_hash(value: Json) -> str:
    """SHA-256 (hex) of any JSON value in its canonical form."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 (hex) of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def changes(before: JsonObject, after: JsonObject) -> tuple[Change, ...]:
    """What differs, item by item, in the order of the keys; an absent item and a null one are the same."""
    return tuple(_changes(before, after, ()))


def _changes(before: JsonObject, after: JsonObject, at: tuple[str, ...]) -> list[Change]:
    found: list[Change] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _changes(old, new, (*at, key))
        elif old != new or type(old) is not type(new):
            found.append(Change(item=(*at, key), before=old, after=new))
    return found
