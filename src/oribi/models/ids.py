"""Ids of calls: those that providers give, as each wire takes them, and those we make where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Final

FIT: Final = re.compile(r"[a-zA-Z0-9_-]+")
MADE_UP: Final = re.compile(r"call_\d+_\d+x*")


def made_up_id(reply_index: int, position: int, is_used: Callable[[str], bool]) -> str:
    """An id for the call at `position` of the reply at `reply_index` of its session: stable, and not used yet."""
    identifier = f"call_{reply_index}_{position}"
    while is_used(identifier):
        identifier += "x"
    return identifier


def is_made_up(call_id: str) -> bool:
    """Whether `call_id` looks like one of ours, so that the provider has never seen it."""
    return MADE_UP.fullmatch(call_id) is not None


def fit_id(call_id: str, longest: int) -> str:
    """`call_id` if it is letters, digits, `_` and `-`, at most `longest` of them; else one made of it, always the same.

    Ids of other providers have other characters and lengths. `longest` is at least 29.
    """
    if len(call_id) <= longest and FIT.fullmatch(call_id):
        return call_id
    digest = sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"call_{digest}"
