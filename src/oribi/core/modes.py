"""Modes and commands: what an input of an agent can lead to besides its ordinary turn."""

from __future__ import annotations

from dataclasses import dataclass, field

from oribi.core.calls import CallId, Json, JsonObject, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A further policy of an agent, by its `name`; `description` is what a router reads to choose it (M-5).

    `aliases` are words that choose it when an input begins with one of them (M-6).
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()


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


def command_call(commands: tuple[Command, ...], text: str) -> ToolCall | None:
    """The call that the input `text` means; None when it is no command. The longest phrase wins."""
    words = " ".join(text.split())
    for command in sorted(commands, key=lambda each: len(each.phrase), reverse=True):
        phrase = " ".join(command.phrase.split())
        begins = words[: len(phrase)].casefold() == phrase.casefold()
        rest = text.strip() if not begins else words[len(phrase) :]
        if begins and not rest:
            return ToolCall(id=CallId("command"), name=command.tool, arguments=dict(command.arguments))
        if begins and command.rest and rest.startswith(" "):
            given: JsonObject = {**command.arguments, command.rest: rest.strip()}
            return ToolCall(id=CallId("command"), name=command.tool, arguments=given)
    return None


def mode_of(modes: tuple[Mode, ...], text: str) -> tuple[str, str]:
    """The mode that the input `text` asks for, and the rest of it; the mode is empty when it asks for none.

    `/NAME ...`, or an alias and then the request (M-6). An alias that is no word of letters may stand right before the
    request, as in Chinese.
    """
    stripped = text.strip()
    first, _, rest = stripped.partition(" ")
    for mode in modes:
        if first == f"/{mode.name}" or first in mode.aliases:
            return mode.name, rest.strip()
        for alias in mode.aliases:
            if not alias.isascii() and stripped.startswith(alias):
                return mode.name, stripped[len(alias) :].strip(" :,\uff0c\uff1a\u3000")
    return "", text
