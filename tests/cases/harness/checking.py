"""What the checks are made of: the error of a check that does not hold, value tests, and what a check is about."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from tests.cases.harness.outcome import Sent
from tests.cases.harness.settings import ROLES
from tests.cases.harness.store import Store, read_store

if TYPE_CHECKING:
    from oribi.testing.model_request import ModelRequest
    from tests.cases.harness.case import JsonDict
    from tests.cases.harness.stage import Stage

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "==": lambda found, wanted: found == wanted,
    "!=": lambda found, wanted: found != wanted,
    "<=": lambda found, wanted: found <= wanted,
    ">=": lambda found, wanted: found >= wanted,
    "<": lambda found, wanted: found < wanted,
    ">": lambda found, wanted: found > wanted,
}


VALUE_TESTS = ("equals", "contains", "not_contains", "contains_none", "matches", "not_matches", "nonempty")


class Unmet(AssertionError):  # noqa: N818 - a fact about the product, not an error of the harness
    """A check does not hold; the text says how."""


def compare(check: JsonDict, found: float) -> bool:
    """Whether `found` stands to the check's `n` as its `op` says; default: is equal."""
    return _COMPARE[check.get("op", "==")](found, check["n"])


def require(holds: bool, text: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise Unmet(text)


def test_value(check: JsonDict, value: Any, what: str) -> None:
    """The value tests of a check."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    shown = f"{what} is {text[:400]!r}"
    if "equals" in check:
        require(value == check["equals"], f"{shown}, not {check['equals']!r}")
    if "contains" in check:
        require(check["contains"] in text, f"{shown}, without {check['contains']!r}")
    if "not_contains" in check:
        require(check["not_contains"] not in text, f"{shown}, with {check['not_contains']!r}")
    for word in check.get("contains_none", []):
        require(word not in text, f"{what} holds {word!r}")
    if "matches" in check:
        require(re.search(check["matches"], text) is not None, f"{shown}, which does not match {check['matches']!r}")
    if "not_matches" in check:
        found = re.search(check["not_matches"], text)
        require(found is None, f"{shown}, which matches {check['not_matches']!r}")
    if check.get("nonempty"):
        require(bool(text.strip()) and value not in ([], {}, None), f"{what} is empty")


def requests_of(stage: Stage, which: Any, default: Any = 0) -> list[tuple[int, ModelRequest]]:
    requests = stage.provider.requests[: stage.provider.script.counted or None]
    which = default if which is None else which
    if which in ("each", "all"):
        return list(enumerate(requests))
    numbers = cast("list[int]", which) if isinstance(which, list) else [which]
    for number in numbers:
        require(-len(requests) <= number < len(requests), f"there is no request {number}; {len(requests)} were sent")
    return [(number, requests[number]) for number in numbers]


def sends_of(stage: Stage, check: JsonDict) -> list[Sent]:
    """The messages a check is about."""
    require(bool(stage.sent), "nothing was sent")
    if "as" in check:
        return [stage.labelled(check["as"])]
    match check.get("turn"):
        case "each":
            return stage.sent
        case int(number):
            require(number <= len(stage.sent), f"there is no turn {number}; {len(stage.sent)} messages were sent")
            return [stage.sent[number - 1 if number > 0 else number]]
        case _:
            plain = [sent for sent in stage.sent if sent.label is None]
            return [(plain or stage.sent)[-1]]


def tool_name(named: str) -> str:
    return ROLES.get(named) or named.removeprefix("@").partition(".")[2] or named.removeprefix("@")


def snapshot(stage: Stage, check: JsonDict) -> Store:
    """The store as it is now, or as it was when a step read it."""
    return stage.snapshots[str(check["at"])] if "at" in check else read_store(stage.world.workspace)
