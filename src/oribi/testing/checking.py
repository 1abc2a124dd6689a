"""Checking what a script holds: each function gives the value at `place`, or a `ConfigError` that names the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from oribi.core.errors import ConfigError


def mapping_at(value: object, place: str, keys: Sequence[str] | None) -> Mapping[str, object]:
    """`value` as a mapping with text keys, none but `keys` (None: any)."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{place} is {value!r}; it should be a mapping")
    found = cast("Mapping[object, object]", value)
    for key in found:
        if not isinstance(key, str) or (keys is not None and key not in keys):
            raise ConfigError(f"{place} has the key {key!r}" + (f"; it may have: {', '.join(keys)}" if keys else ""))
    return cast("Mapping[str, object]", found)


def list_at(value: object, place: str) -> Sequence[object]:
    """`value` as a list."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ConfigError(f"{place} is {value!r}; it should be a list")
    return cast("Sequence[object]", value)


def text_at(value: object, place: str) -> str:
    """`value` as text."""
    if not isinstance(value, str):
        raise ConfigError(f"{place} is {value!r}; it should be text (put it in quotes)")
    return value


def count_at(value: object, place: str) -> int:
    """`value` as a whole number from 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigError(f"{place} is {value!r}; it should be a whole number from 0")
    return value


def number_at(value: object, place: str) -> float:
    """`value` as a number from 0."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < float("inf"):
        raise ConfigError(f"{place} is {value!r}; it should be a number from 0")
    return float(value)
