"""The Anthropic Messages wire, as a server speaks it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject, Malformed
from oribi.testing.reading import list_of, merged, object_of, pieces, text_of
from oribi.testing.said import Event, Said, json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.errors import FaultKind
    from oribi.core.messages import Reply, StopReason, Usage

_STOPS: dict[StopReason, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "other": "pause_turn",
}
_ERRORS: dict[FaultKind, str] = {
    "auth": "authentication_error",
    "rate": "rate_limit_error",
    "overloaded": "overloaded_error",
}
_PIECEWISE = {
    "text": ("text", "text_delta"),
    "thinking": ("thinking", "thinking_delta"),
}
"""Block types whose text comes in pieces: the field, and the type of its deltas."""


class AnthropicWire:
    """See `oribi.testing.wire.Wire`."""

    def said(self, request: JsonObject) -> list[Said]:
        said: list[Said] = []
        names: dict[str, str] = {}
        for item in list_of(request.get("messages")):
            message = object_of(item)
            content = message.get("content")
            blocks = [object_of(block) for block in list_of(content)]
            text = text_of(content) or "".join(text_of(b.get("text")) for b in blocks if b.get("type") == "text")
            if message.get("role") == "assistant":
                said.append(Said(by="model", text=text))
                names |= {text_of(b.get("id")): text_of(b.get("name")) for b in blocks if b.get("type") == "tool_use"}
                continue
            results = [block for block in blocks if block.get("type") == "tool_result"]
            said += [
                Said(by="tool", text=_result(block), tool=names.get(text_of(block.get("tool_use_id")), ""))
                for block in results
            ]
            if text or not results:
                said.append(Said(by="user", text=text))
        return said

    def body(self, reply: Reply, request: JsonObject) -> JsonObject:
        content: list[Json] = []
        if reply.reasoning:
            content.append({"type": "thinking", "thinking": reply.reasoning, "signature": "fake-signature"})
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        for call in reply.calls:
            given: Json = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments
            content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
        return {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": reply.model or text_of(request.get("model")),
            "content": content,
            "stop_reason": _STOPS[reply.stop],
            "stop_sequence": None,
            "usage": _usage(reply.usage),
        }

    def events(self, body: JsonObject, request: JsonObject) -> list[Event] | None:
        content = body.get("content")
        if not isinstance(content, list):
            return None
        usage = object_of(body.get("usage"))
        start = merged(body, {"content": [], "stop_reason": None, "stop_sequence": None})
        if usage:
            start["usage"] = merged(usage, {"output_tokens": 1})
            start["usage"].pop("output_tokens_details", None)
        events = [_event({"type": "message_start", "message": start}), _event({"type": "ping"})]
        for index, item in enumerate(content):
            first, deltas = _streamed(object_of(item))
            events.append(_event({"type": "content_block_start", "index": index, "content_block": first}))
            events += [_event({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas]
            events.append(_event({"type": "content_block_stop", "index": index}))
        end: JsonObject = {
            "type": "message_delta",
            "delta": {"stop_reason": body.get("stop_reason"), "stop_sequence": body.get("stop_sequence")},
        }
        if usage:
            end["usage"] = {key: usage[key] for key in ("output_tokens", "output_tokens_details") if key in usage}
        return [*events, _event(end), _event({"type": "message_stop"})]

    def content(self, bodies: Sequence[JsonObject]) -> list[Json]:
        content: list[Json] = []
        blocks: dict[Json, JsonObject] = {}
        written: dict[Json, str] = {}
        for body in bodies:
            index = body.get("index")
            match body.get("type"):
                case "message":
                    content += list_of(body.get("content"))
                case "content_block_start" if isinstance(index, int):
                    blocks[index] = dict(object_of(body.get("content_block")))
                case "content_block_delta" if index in blocks:
                    for key, value in object_of(body.get("delta")).items():
                        if key == "partial_json":
                            written[index] = written.get(index, "") + text_of(value)
                        elif key in ("text", "thinking", "signature"):
                            blocks[index][key] = text_of(blocks[index].get(key)) + text_of(value)
                case _:
                    pass
        for index, text in written.items():
            blocks[index]["input"] = _parsed(text)
        return [*content, *blocks.values()]

    def error(self, status: int, message: str, kind: FaultKind | None = None) -> JsonObject:
        name = _ERRORS.get(kind or "bad_request", "api_error" if status >= 500 else "invalid_request_error")
        text = f"prompt is too long: {message}" if kind == "context_length" else message
        return {"type": "error", "error": {"type": name, "message": text}}


def _event(data: JsonObject) -> Event:
    return Event(name=text_of(data.get("type")), data=data)


def _streamed(block: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """How a block begins in a stream, and the deltas that complete it."""
    kind = text_of(block.get("type"))
    if kind == "tool_use":
        given = block.get("input")
        text = given if isinstance(given, str) else json_text(given)
        deltas: list[JsonObject] = [
            {"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces(text))
        ]
        return merged(block, {"input": {}}), deltas
    if kind not in _PIECEWISE:
        return block, []
    key, delta_type = _PIECEWISE[kind]
    first = merged(block, {key: ""})
    deltas = [merged({"type": delta_type}, {key: piece}) for piece in pieces(text_of(block.get(key)))]
    if "signature" in block:
        first["signature"] = ""
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return first, deltas


def _usage(usage: Usage) -> JsonObject:
    """This wire counts cached tokens beside `input_tokens`, not within."""
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    given: JsonObject = {
        "input_tokens": max(0, (usage.input_tokens or 0) - cached - written),
        "output_tokens": usage.output_tokens or 0,
    }
    if usage.cached_tokens is not None:
        given["cache_read_input_tokens"] = cached
    if usage.cache_write_tokens is not None:
        given["cache_creation_input_tokens"] = written
    if usage.reasoning_tokens is not None:
        given["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return given


def _result(block: JsonObject) -> str:
    content = block.get("content")
    if isinstance(content, list):
        return "".join(text_of(object_of(part).get("text")) for part in content)
    return text_of(content)


def _parsed(text: str) -> Json:
    try:
        parsed: Json = json.loads(text or "{}")
    except ValueError:
        return text
    return parsed
