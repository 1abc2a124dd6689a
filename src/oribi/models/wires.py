"""The wires by name. A new wire is a module with these parts, a line here, and its name in `endpoints.Wire`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from oribi.core.messages import ModelChoice, Reply
from oribi.core.prompt import Prompt
from oribi.models import anthropic, gemini, openai_chat, openai_responses
from oribi.models.endpoints import Endpoint, Wire
from oribi.models.request import EncodedRequest
from oribi.models.stream import StreamAssembler
from oribi.ports import Request


class Path(Protocol):
    """Where a wire's requests go, below the base URL."""

    def __call__(self, choice: ModelChoice, *, stream: bool) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WireParts:
    """What makes a wire: three pure parts, the path below the base URL, and how a key is carried.

    `path` depends on the model and on whether a stream is wanted, on some wires. `reserved` names the parameters that a
    configuration may not set, because the adapter does.
    """

    path: Path
    reserved: frozenset[str]
    headers: dict[str, str]
    auth_headers: Callable[[str], dict[str, str]]
    build_request: Callable[[Prompt, Endpoint, Request | None], EncodedRequest]
    parse_response: Callable[[bytes, EncodedRequest], Reply]
    assembler: Callable[[EncodedRequest], StreamAssembler]


def _always(path: str) -> Path:
    """The same path for every model."""

    def same(choice: ModelChoice, *, stream: bool) -> str:
        del choice, stream
        return path

    return same


WIRES: Final[dict[Wire, WireParts]] = {
    "openai-chat": WireParts(
        path=_always(openai_chat.PATH),
        reserved=openai_chat.RESERVED,
        headers={},
        auth_headers=openai_chat.auth_headers,
        build_request=openai_chat.build_request,
        parse_response=openai_chat.parse_response,
        assembler=openai_chat.StreamAssembler,
    ),
    "openai-responses": WireParts(
        path=_always(openai_responses.PATH),
        reserved=openai_responses.RESERVED,
        headers={},
        auth_headers=openai_responses.auth_headers,
        build_request=openai_responses.build_request,
        parse_response=openai_responses.parse_response,
        assembler=openai_responses.StreamAssembler,
    ),
    "anthropic": WireParts(
        path=_always(anthropic.PATH),
        reserved=anthropic.RESERVED,
        headers={"anthropic-version": "2023-06-01"},
        auth_headers=anthropic.auth_headers,
        build_request=anthropic.build_request,
        parse_response=anthropic.parse_response,
        assembler=anthropic.StreamAssembler,
    ),
    "gemini": WireParts(
        path=gemini.path,
        reserved=gemini.RESERVED,
        headers={},
        auth_headers=gemini.auth_headers,
        build_request=gemini.build_request,
        parse_response=gemini.parse_response,
        assembler=gemini.StreamAssembler,
    ),
}
