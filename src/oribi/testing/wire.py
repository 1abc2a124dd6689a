"""A provider's wire as the fake server speaks it: what the server needs to know of each, and which path means which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from oribi.core.calls import Json, JsonObject
from oribi.testing.wire_anthropic import AnthropicWire
from oribi.testing.wire_gemini import GeminiWire
from oribi.testing.wire_openai import OpenAIWire
from oribi.testing.wire_responses import ResponsesWire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.errors import FaultKind
    from oribi.core.messages import Reply
    from oribi.testing.rules import Dialect
    from oribi.testing.said import Event, Said


class Wire(Protocol):
    """How one provider is spoken. Stateless."""

    def said(self, request: JsonObject) -> list[Said]:
        """What was said in the conversation that `request` sends, in order."""
        ...

    def body(self, reply: Reply, request: JsonObject) -> JsonObject:
        """`reply` in the plain form."""
        ...

    def events(self, body: JsonObject, request: JsonObject) -> list[Event] | None:
        """The plain form `body` as the events of a well-formed stream; None if it is no reply of this wire."""
        ...

    def content(self, bodies: Sequence[JsonObject]) -> list[Json]:
        """What the client must send back unchanged, out of a plain body or the data of a stream's events."""
        ...

    def error(self, status: int, message: str, kind: FaultKind | None = None) -> JsonObject:
        """An error in the provider's own shape."""
        ...


WIRES: dict[Dialect, Wire] = {
    "openai": OpenAIWire(),
    "responses": ResponsesWire(),
    "anthropic": AnthropicWire(),
    "gemini": GeminiWire(),
}


def dialect_of(path: str) -> Dialect | None:
    """The wire that a request to `path` speaks, whatever stands in front of it; None if it is none of ours."""
    place = path.partition("?")[0]
    if place.endswith("/chat/completions"):
        return "openai"
    if place.endswith("/responses"):
        return "responses"
    if place.endswith("/messages"):
        return "anthropic"
    if place.endswith((":generateContent", ":streamGenerateContent")):
        return "gemini"
    return None


def wants_stream(dialect: Dialect, path: str, request: JsonObject) -> bool:
    """Whether the request asks for a stream."""
    return ":streamGenerateContent" in path if dialect == "gemini" else request.get("stream") is True
