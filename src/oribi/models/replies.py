"""What the replies of all wires have in common: ids for calls, shown fragments, text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from oribi.core.calls import CallId, JsonObject, Malformed, ToolCall
from oribi.core.messages import StopReason
from oribi.models.arguments import never_run
from oribi.models.ids import made_up_id
from oribi.models.jsontext import clean
from oribi.models.request import EncodedRequest

HALVES: Final = ("\ud800", "\udbff")
"""The range of first halves of surrogate pairs; a fragment that ends in one waits for the other half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCall:
    """A call as the wire gave it; `id` is empty when there was none."""

    id: str
    name: str
    arguments: JsonObject | Malformed


def tool_calls(found: Iterable[FoundCall], stop: StopReason, request: EncodedRequest) -> tuple[ToolCall, ...]:
    """The calls of a reply, in order, by our names, under ids that differ.

    A missing id, or one that stands in this reply or an earlier one already, becomes one made of the reply's place in
    the session and the call's place in the reply: stable, and unlike every other call's.
    """
    calls: list[ToolCall] = []
    used: set[str] = set()

    def is_used(identifier: str) -> bool:
        return identifier in used or request.has_call(identifier)

    for position, call in enumerate(found):
        identifier = clean(call.id).strip()
        if not identifier or is_used(identifier):
            identifier = made_up_id(request.reply_index, position, is_used)
        used.add(identifier)
        calls.append(
            ToolCall(
                id=CallId(identifier),
                name=request.names.ours(clean(call.name)),
                arguments=never_run(call.arguments, stop),
            )
        )
    return tuple(calls)


class Shown:
    """Text that goes out fragment by fragment and is whole at the end."""

    __slots__ = ("_half", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._half = ""

    def add(self, text: str) -> str:
        """Take in a fragment; what of it can be shown now, without half a character."""
        self.parts.append(text)
        if not self._half and text.isascii():
            return text
        if self._half:
            text = self._half + text
            self._half = ""
        if HALVES[0] <= text[-1] <= HALVES[1]:
            self._half = text[-1]
            text = text[:-1]
        return clean(text)

    @property
    def text(self) -> str:
        """All of it."""
        return clean("".join(self.parts))
