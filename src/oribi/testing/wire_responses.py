"""The OpenAI Responses wire, as a server speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import list_of, merged, object_of, pieces, text_of
from oribi.testing.said import Event, Said
from oribi.testing.script import argument_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oribi.core.errors import FaultKind
    from oribi.core.messages import Reply, Usage

_CODES: dict[FaultKind, tuple[str, str | None]] = {
    "auth": ("invalid_request_error", "invalid_api_key"),
    "rate": ("rate_limit_error", "rate_limit_exceeded"),
    "overloaded": ("server_error", "server_error"),
    "context_length": ("invalid_request_error", "context_length_exceeded"),
}
_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponsesWire:
    """See `oribi.testing.wire.Wire`."""

    def said(self, request: JsonObject) -> list[Said]:
        given = request.get("input")
        if isinstance(given, str):
            return [Said(by="user", text=given)]
        said: list[Said] = []
        names: dict[str, str] = {}
        spoken = False  # items of one reply stand side by side and count as one
        for item in map(object_of, list_of(given)):
            match item.get("type", "message"):
                case "message" if item.get("role") in ("user", "system", "developer"):
                    if item.get("role") == "user":
                        said.append(Said(by="user", text=_text(item.get("content"))))
                    spoken = False
                case "function_call_output":
                    name = names.get(text_of(item.get("call_id")), "")
                    said.append(Said(by="tool", text=_text(item.get("output")), tool=name))
                    spoken = False
                case kind:
                    if kind == "function_call":
                        names[text_of(item.get("call_id"))] = text_of(item.get("name"))
                    text = _text(item.get("content")) if kind == "message" else ""
                    if spoken:
                        text = said.pop().text + text
                    said.append(Said(by="model", text=text))
                    spoken = True
        return said

    def body(self, reply: Reply, request: JsonObject) -> JsonObject:
        output: list[Json] = []
        if reply.reasoning:
            output.append(
                {
                    "type": "reasoning",
                    "id": "rs_fake",
                    "summary": [{"type": "summary_text", "text": reply.reasoning}],
                    "encrypted_content": "fake-encrypted",
                }
            )
        if reply.text:
            part: JsonObject = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
            output.append(
                {"type": "message", "id": "msg_fake", "role": "assistant", "status": "completed", "content": [part]}
            )
        output += [
            {
                "type": "function_call",
                "id": f"fc_fake_{number}",
                "status": "completed",
                "call_id": call.id,
                "name": call.name,
                "arguments": argument_text(call),
            }
            for number, call in enumerate(reply.calls)
        ]
        body: JsonObject = {
            "id": "resp_fake",
            "object": "response",
            "created_at": 1,
            "model": reply.model or text_of(request.get("model")),
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": request.get("instructions"),
            "metadata": {},
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": output,
        }
        if reason := _REASONS.get(reply.stop):
            body |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        return merged(body, _usage(reply.usage))

    def events(self, body: JsonObject, request: JsonObject) -> list[Event] | None:
        output = body.get("output")
        if not isinstance(output, list):
            return None
        start = merged(body, {"status": "in_progress", "output": [], "usage": None, "incomplete_details": None})
        events: list[JsonObject] = [
            {"type": "response.created", "response": start},
            {"type": "response.in_progress", "response": start},
        ]
        for index, item in enumerate(output):
            place: JsonObject = {"output_index": index, "item_id": object_of(item).get("id")}
            events += [merged(place, event) for event in _item_events(object_of(item))]
        status = body.get("status")
        events.append(
            {"type": f"response.{status if status in ('incomplete', 'failed') else 'completed'}", "response": body}
        )
        return [
            Event(name=text_of(event["type"]), data=merged(event, {"sequence_number": number}))
            for number, event in enumerate(events)
        ]

    def content(self, bodies: Sequence[JsonObject]) -> list[Json]:
        content: list[Json] = []
        for body in bodies:
            match body.get("type"):
                case "response.output_item.done":
                    content.append(body.get("item"))
                case None:
                    content += list_of(body.get("output"))
                case _:
                    pass
        return content

    def error(self, status: int, message: str, kind: FaultKind | None = None) -> JsonObject:
        name, code = _CODES.get(kind or "bad_request", ("invalid_request_error", None))
        if kind is None and status >= 500:
            name = "server_error"
        return {"error": {"message": message, "type": name, "param": None, "code": code}}


def _item_events(item: JsonObject) -> Iterator[JsonObject]:
    """One output item as a stream brings it: empty, its parts piece by piece, whole."""
    match item.get("type"):
        case "message":
            yield {"type": "response.output_item.added", "item": merged(item, {"status": "in_progress", "content": []})}
            for index, part in enumerate(map(object_of, list_of(item.get("content")))):
                yield from _content_events(part, index)
        case "function_call":
            yield {"type": "response.output_item.added", "item": merged(item, {"arguments": ""})}
            arguments = text_of(item.get("arguments"))
            for piece in pieces(arguments):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {
                "type": "response.function_call_arguments.done",
                "arguments": arguments,
                "name": item.get("name"),
            }
        case "reasoning":
            yield {"type": "response.output_item.added", "item": merged(item, {"summary": []})}
            for index, part in enumerate(map(object_of, list_of(item.get("summary")))):
                yield from _summary_events(part, index)
        case _:
            yield {"type": "response.output_item.added", "item": item}
    yield {"type": "response.output_item.done", "item": item}


def _content_events(part: JsonObject, index: int) -> Iterator[JsonObject]:
    key, kind = ("refusal", "refusal") if part.get("type") == "refusal" else ("text", "output_text")
    text, place = text_of(part.get(key)), {"content_index": index}
    yield {"type": "response.content_part.added", **place, "part": merged(part, {key: ""})}
    more: JsonObject = {} if kind == "refusal" else {"logprobs": []}
    for piece in pieces(text):
        yield {"type": f"response.{kind}.delta", **place, "delta": piece, **more}
    yield {"type": f"response.{kind}.done", **place, key: text, **more}
    yield {"type": "response.content_part.done", **place, "part": part}


def _summary_events(part: JsonObject, index: int) -> Iterator[JsonObject]:
    text, place = text_of(part.get("text")), {"summary_index": index}
    yield {"type": "response.reasoning_summary_part.added", **place, "part": merged(part, {"text": ""})}
    for piece in pieces(text):
        yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **place, "text": text}
    yield {"type": "response.reasoning_summary_part.done", **place, "part": part}


def _usage(usage: Usage) -> JsonObject:
    if usage.input_tokens is None and usage.output_tokens is None:
        return {"usage": None}
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    given: JsonObject = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    if usage.cached_tokens is not None or usage.cache_write_tokens is not None:
        given["input_tokens_details"] = {
            "cached_tokens": usage.cached_tokens or 0,
            "cache_write_tokens": usage.cache_write_tokens or 0,
        }
    if usage.reasoning_tokens is not None:
        given["output_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return {"usage": given}


def _text(content: Json) -> str:
    """The text of a content, given as text or as parts."""
    if isinstance(content, list):
        return "".join(text_of(object_of(part).get("text")) for part in content)
    return text_of(content)
