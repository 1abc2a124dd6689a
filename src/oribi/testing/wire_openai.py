"""The OpenAI chat wire, as a server speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import list_of, merged, object_of, pieces, text_of
from oribi.testing.said import Event, Said
from oribi.testing.script import argument_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.errors import FaultKind
    from oribi.core.messages import Reply, Usage

_CODES: dict[FaultKind, tuple[str, str | None]] = {
    "auth": ("invalid_request_error", "invalid_api_key"),
    "rate": ("rate_limit_error", "rate_limit_exceeded"),
    "overloaded": ("server_error", None),
    "context_length": ("invalid_request_error", "context_length_exceeded"),
}


class OpenAIWire:
    """See `oribi.testing.wire.Wire`."""

    def said(self, request: JsonObject) -> list[Said]:
        said: list[Said] = []
        names: dict[str, str] = {}
        for item in list_of(request.get("messages")):
            message = object_of(item)
            text = _text(message.get("content"))
            match message.get("role"):
                case "user":
                    said.append(Said(by="user", text=text))
                case "assistant":
                    said.append(Said(by="model", text=text))
                    for call in list_of(message.get("tool_calls")):
                        names[text_of(object_of(call).get("id"))] = text_of(
                            object_of(object_of(call).get("function")).get("name")
                        )
                case "tool":
                    name = names.get(text_of(message.get("tool_call_id")), "")
                    said.append(Said(by="tool", text=text, tool=name))
                case _:
                    pass
        return said

    def body(self, reply: Reply, request: JsonObject) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": reply.text or None}
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": argument_text(call)},
                }
                for call in reply.calls
            ]
        body: JsonObject = {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "created": 1,
            "model": reply.model or text_of(request.get("model")),
            "choices": [{"index": 0, "message": message, "finish_reason": reply.stop}],
        }
        return merged(body, _usage(reply.usage))

    def events(self, body: JsonObject, request: JsonObject) -> list[Event] | None:
        choices = body.get("choices")
        if not isinstance(choices, list):
            return None
        base: JsonObject = {key: value for key, value in body.items() if key not in ("choices", "usage")}
        base["object"] = "chat.completion.chunk"
        events: list[Event] = []
        for number, item in enumerate(choices):
            choice = object_of(item)
            index = choice.get("index", number)
            whole = object_of(choice.get("message"))
            streamed: list[JsonObject] = [
                {"index": index, "delta": delta, "finish_reason": None} for delta in _deltas(whole)
            ]
            streamed.append({"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")})
            events += [Event(data=merged(base, {"choices": [part]})) for part in streamed]
        if "usage" in body and object_of(request.get("stream_options")).get("include_usage") is True:
            events.append(Event(data=merged(base, {"choices": [], "usage": body["usage"]})))
        return [*events, Event(data="[DONE]")]

    def content(self, bodies: Sequence[JsonObject]) -> list[Json]:
        return []

    def error(self, status: int, message: str, kind: FaultKind | None = None) -> JsonObject:
        name, code = _CODES.get(kind or "bad_request", ("invalid_request_error", None))
        if kind is None and status >= 500:
            name = "server_error"
        return {"error": {"message": message, "type": name, "param": None, "code": code}}


def _deltas(message: JsonObject) -> list[JsonObject]:
    """The message as a stream brings it: the role, reasoning, text, each call's head and its arguments in pieces."""
    deltas: list[JsonObject] = [{"role": message.get("role", "assistant"), "content": ""}]
    for key in ("reasoning_content", "content"):
        value = message.get(key)
        texts: list[Json] = list(pieces(value)) if isinstance(value, str) else [value] if value is not None else []
        deltas += [{key: text} for text in texts]
    for index, item in enumerate(list_of(message.get("tool_calls"))):
        call = object_of(item)
        function = object_of(call.get("function"))
        arguments = function.get("arguments")
        first = "" if isinstance(arguments, str) else arguments
        head = merged(call, {"index": index, "function": merged(function, {"arguments": first})})
        deltas.append({"tool_calls": [head]})
        for piece in pieces(text_of(arguments)):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return deltas


def _usage(usage: Usage) -> JsonObject:
    if usage.input_tokens is None and usage.output_tokens is None:
        return {}
    given: JsonObject = {
        "prompt_tokens": usage.input_tokens or 0,
        "completion_tokens": usage.output_tokens or 0,
        "total_tokens": (usage.input_tokens or 0) + (usage.output_tokens or 0),
    }
    if usage.cached_tokens is not None:
        given["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens is not None:
        given["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return {"usage": given}


def _text(content: Json) -> str:
    if isinstance(content, list):
        return "".join(text_of(object_of(part).get("text")) for part in content)
    return text_of(content)
