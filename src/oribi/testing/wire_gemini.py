"""The Gemini generateContent wire, as a server speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject, Malformed
from oribi.testing.reading import list_of, merged, object_of, pieces, text_of
from oribi.testing.said import Event, Said, json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.errors import FaultKind
    from oribi.core.messages import Reply, StopReason, Usage

_STOPS: dict[StopReason, str] = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "other": "OTHER",
}
_STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


class GeminiWire:
    """See `oribi.testing.wire.Wire`."""

    def said(self, request: JsonObject) -> list[Said]:
        said: list[Said] = []
        for item in list_of(request.get("contents")):
            content = object_of(item)
            parts = [object_of(part) for part in list_of(content.get("parts"))]
            text = "".join(text_of(part.get("text")) for part in parts if part.get("thought") is not True)
            if content.get("role") == "model":
                said.append(Said(by="model", text=text))
                continue
            results = [object_of(part["functionResponse"]) for part in parts if "functionResponse" in part]
            said += [Said(by="tool", text=_result(result), tool=text_of(result.get("name"))) for result in results]
            if text or not results:
                said.append(Said(by="user", text=text))
        return said

    def body(self, reply: Reply, request: JsonObject) -> JsonObject:
        parts: list[Json] = []
        if reply.reasoning:
            parts.append({"text": reply.reasoning, "thought": True})
        if reply.text:
            parts.append({"text": reply.text})
        for call in reply.calls:
            given: Json = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments
            parts.append({"functionCall": {"id": call.id, "name": call.name, "args": given}})
        candidate: JsonObject = {
            "index": 0,
            "content": {"role": "model", "parts": parts},
            "finishReason": _STOPS[reply.stop],
        }
        return {"candidates": [candidate], "usageMetadata": _usage(reply.usage)}

    def events(self, body: JsonObject, request: JsonObject) -> list[Event] | None:
        candidates = body.get("candidates")
        if not isinstance(candidates, list):
            return None
        candidate = object_of(candidates[0]) if candidates else {}
        content = object_of(candidate.get("content"))
        streamed = [piece for part in list_of(content.get("parts")) for piece in _pieces(object_of(part))]
        whole: list[JsonObject] = []
        for part in streamed or [None]:
            parts: list[Json] = [] if part is None else [part]
            whole.append({"index": candidate.get("index", 0), "content": merged(content, {"parts": parts})})
        whole[-1] = merged(candidate, whole[-1])
        rest: JsonObject = {key: value for key, value in body.items() if key not in ("candidates", "usageMetadata")}
        events = [Event(data=merged(rest, {"candidates": [part]})) for part in whole]
        events[-1] = Event(data=merged(body, {"candidates": [whole[-1]]}))
        return events

    def content(self, bodies: Sequence[JsonObject]) -> list[Json]:
        parts: list[Json] = []
        for body in bodies:
            for candidate in list_of(body.get("candidates"))[:1]:
                parts += list_of(object_of(object_of(candidate).get("content")).get("parts"))
        return parts

    def error(self, status: int, message: str, kind: FaultKind | None = None) -> JsonObject:
        text = f"The input token count exceeds the maximum: {message}" if kind == "context_length" else message
        return {"error": {"code": status, "message": text, "status": _STATUSES.get(status, "INTERNAL")}}


def _pieces(part: JsonObject) -> list[JsonObject]:
    if list(part) == ["text"] and text_of(part["text"]):
        return [{"text": piece} for piece in pieces(text_of(part["text"]))]
    return [part]


def _usage(usage: Usage) -> JsonObject:
    """This wire counts thoughts beside `candidatesTokenCount`, not within."""
    output, thoughts = usage.output_tokens or 0, usage.reasoning_tokens or 0
    given: JsonObject = {
        "promptTokenCount": usage.input_tokens or 0,
        "candidatesTokenCount": output - thoughts,
        "totalTokenCount": (usage.input_tokens or 0) + output,
    }
    if usage.cached_tokens is not None:
        given["cachedContentTokenCount"] = usage.cached_tokens
    if usage.reasoning_tokens is not None:
        given["thoughtsTokenCount"] = thoughts
    return given


def _result(result: JsonObject) -> str:
    """The text of a function's response: its one text field, else the whole as JSON."""
    response = object_of(result.get("response"))
    texts = [value for value in response.values() if isinstance(value, str)]
    return texts[0] if len(texts) == len(response) == 1 else json_text(response)
