"""Modes and commands: what an input of an agent can lead to besides its ordinary turn."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oribi.core.calls import CallId, Json, JsonObject, ToolCall, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

from oribi.core.policy import LoopPolicy

_WORD = re.compile(r"\S+")
_WITHOUT_BLANKS = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A further policy of an agent, by its `name`; `description` is what a router reads to choose it (M-5).

    `aliases` are words that choose it when an input begins with one of them (M-6). In a turn that is to be routed,
    `policy`, `tools` and `instructions` are what the mode was when the turn started (M-18).
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    policy: LoopPolicy | None = None
    tools: tuple[ToolSpec, ...] = ()
    instructions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A phrase that runs a tool and no model (M-3).

    An input that is the phrase, whatever its case, makes the call. With `rest`, what follows the phrase becomes the
    argument of that name.
    """

    phrase: str
    tool: str
    arguments: JsonObject = field(default_factory=dict[str, Json])
    rest: str = ""


def command_call(commands: tuple[Command, ...], text: str, call_id: CallId) -> ToolCall | None:
    """The call that the input `text` means; None when it is no command. The longest phrase wins."""
    for command in sorted(commands, key=lambda each: len(each.phrase.split()), reverse=True):
        rest = _after(command.phrase, text)
        if rest is not None and (command.rest or not rest):
            given: JsonObject = {command.rest: rest} if rest else {}
            return ToolCall(id=call_id, name=command.tool, arguments={**command.arguments, **given})
    return None


def mode_of(modes: Iterable[Mode], text: str) -> tuple[str, str]:
    """The mode that the input `text` asks for, and the rest of it; the mode is empty when it asks for none.

    `/NAME ...`, or an alias and then the request, whatever their case (M-6). An alias of a script without blanks may
    stand right before the request. The longest alias wins.
    """
    words = [(word, mode.name) for mode in modes for word in (f"/{mode.name}", *mode.aliases)]
    for word, name in words:
        if (rest := _after(word, text)) is not None:
            return name, rest
    stripped = text.strip()
    for word, name in sorted(words, key=lambda each: len(each[0]), reverse=True):
        if stands_without_blank(word) and stripped.startswith(word):
            return name, stripped[len(word) :].strip(" :,\uff0c\uff1a\u3000")
    return "", text


def stands_without_blank(word: str) -> bool:
    """Whether `word` is of a script that puts no blanks between words, so that a request may follow it at once."""
    return _WITHOUT_BLANKS.fullmatch(word) is not None


def _after(phrase: str, text: str) -> str | None:
    """What follows the words of `phrase` in `text`; None when `text` does not begin with them."""
    end = 0
    for word in phrase.split():
        found = _WORD.search(text, end)
        if found is None or found[0].casefold() != word.casefold():
            return None
        end = found.end()
    return text[end:].strip()
