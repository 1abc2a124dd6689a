"""Sizes of prompts before they are sent: tokens by rule of thumb, bytes as they are (C-9, C-10).

A provider counts otherwise; what it reports is recorded with each reply. Estimates only decide what is left out.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Protocol, assert_never

from oribi.core.calls import Malformed, told
from oribi.core.messages import FilePart, ImagePart, Reply, TextPart, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oribi.core.calls import JsonObject, ToolSpec
    from oribi.core.messages import Message
    from oribi.core.policy import Estimator

_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
"""Chinese, Japanese and Korean: about one token a character, where other scripts take four characters for one."""

MEDIA_CHARACTERS = 6_000
"""An image or a file counts as so much text at most: providers count what is seen, not its encoding."""


class Saying(Protocol):
    """What of a prompt is measured."""

    @property
    def system(self) -> str: ...

    @property
    def messages(self) -> list[Message]: ...

    @property
    def tools(self) -> tuple[ToolSpec, ...]: ...


def message_tokens(messages: Iterable[Message], estimator: Estimator) -> int:
    """The estimated tokens of `messages`, summed (T-15)."""
    return int(sum(_tokens(text[:most], estimator) for message in messages for text, most in _texts(message)))


def prompt_tokens(prompt: Saying, estimator: Estimator) -> int:
    """The estimated tokens of all that `prompt` says: system text, messages, tools."""
    return int(sum(_tokens(text[:most], estimator) for text, most in _prompt_texts(prompt)))


def prompt_bytes(prompt: Saying) -> int:
    """The UTF-8 bytes of all that `prompt` says (M-15); the JSON around it is not counted."""
    return sum(len(text.encode(errors="replace")) for text, _ in _prompt_texts(prompt))


def _tokens(text: str, estimator: Estimator) -> float:
    match estimator:
        case "chars4":
            return len(text) / 4
        case "cjk_aware":
            wide = 0 if text.isascii() else len(_WIDE.findall(text))
            return wide + (len(text) - wide) / 4
        case _:
            assert_never(estimator)


def _prompt_texts(prompt: Saying) -> Iterable[tuple[str, int | None]]:
    yield prompt.system, None
    for message in prompt.messages:
        yield from _texts(message)
    for tool in prompt.tools:
        yield f"{tool.name} {tool.description} {_json(tool.parameters)}", None


def _texts(message: Message) -> Iterable[tuple[str, int | None]]:
    """The texts of a message, each with how many of its characters count as text (None: all)."""
    match message:
        case UserMessage(text=text, parts=parts):
            yield text, None
            for part in parts:
                match part:
                    case TextPart(text=attached):
                        yield attached, None
                    case ImagePart(data=data) | FilePart(data=data):
                        yield data, MEDIA_CHARACTERS
                    case _:
                        assert_never(part)
        case Reply(text=text, calls=calls):
            yield text, None
            for call in calls:
                given = call.arguments.text if isinstance(call.arguments, Malformed) else _json(call.arguments)
                yield f"{call.name} {given}", None
        case ToolMessage(result=result):
            yield told(result), None
        case _:
            assert_never(message)


def _json(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False)
