"""The wires by name. A new wire is a module with these parts, a line here, and its name in `endpoints.Wire`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from oribi.core.messages import Reply
from oribi.core.prompt import Prompt
from oribi.models import anthropic, openai_chat
from oribi.models.endpoints import Endpoint, Wire
from oribi.models.request import EncodedRequest
from oribi.models.stream import StreamAssembler
from oribi.ports import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class WireParts:
    """What makes a wire: three pure parts, the path below the base URL, and how a key is carried.

    `reserved` names the parameters that a configuration may not set, because the adapter does.
    """

    path: str
    reserved: frozenset[str]
    headers: dict[str, str]
    auth_headers: Callable[[str], dict[str, str]]
    build_request: Callable[[Prompt, Endpoint, Request | None], EncodedRequest]
    parse_response: Callable[[bytes, EncodedRequest], Reply]
    assembler: Callable[[EncodedRequest], StreamAssembler]


WIRES: Final[dict[Wire, WireParts]] = {
    "openai-chat": WireParts(
        path=openai_chat.PATH,
        reserved=openai_chat.RESERVED,
        headers={},
        auth_headers=openai_chat.auth_headers,
        build_request=openai_chat.build_request,
        parse_response=openai_chat.parse_response,
        assembler=openai_chat.StreamAssembler,
    ),
    "anthropic": WireParts(
        path=anthropic.PATH,
        reserved=anthropic.RESERVED,
        headers={"anthropic-version": "2023-06-01"},
        auth_headers=anthropic.auth_headers,
        build_request=anthropic.build_request,
        parse_response=anthropic.parse_response,
        assembler=anthropic.StreamAssembler,
    ),
}
