"""The OpenAI chat wire, which many providers speak: request, plain reply and stream, each a pure part (O-17, Y-9)."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, assert_never

from oribi.core.calls import Json, JsonObject, Malformed, ToolCall, ToolSpec, told
from oribi.core.messages import FilePart, ImagePart, InputPart, Message, Reply, TextPart, ToolMessage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models.endpoints import Endpoint
from oribi.models.faults import not_understood, reported
from oribi.models.inputs import data_url, goes_to, in_words
from oribi.models.jsontext import as_list, as_object, clean, dumps, loads
from oribi.models.openai_reply import ReplyDraft, StreamAssembler
from oribi.models.request import Codec, EncodedRequest, Head, Role, Scene, encode
from oribi.models.schemas import answer_schema, is_strict, parameters_schema
from oribi.ports import Request

__all__ = ["PATH", "RESERVED", "StreamAssembler", "auth_headers", "build_request", "parse_response"]

PATH: Final = "/chat/completions"

RESERVED: Final = frozenset({"model", "messages", "stream", "stream_options", "tools"})
"""Parameters that are not for a configuration to set."""


def build_request(prompt: Prompt, endpoint: Endpoint, previous: Request | None) -> EncodedRequest:
    """The request for `prompt`; `previous` is the session's last one, for the parts it has encoded."""
    return encode(CODEC, prompt, endpoint, previous)


def parse_response(body: bytes, request: EncodedRequest) -> Reply:
    """The reply in a plain JSON answer.

    Raises:
        ModelError: It is no reply, or reports an error.

    """
    endpoint = request.endpoint
    try:
        answer = as_object(loads(body))
    except ValueError:
        answer = {}
    if answer.get("error"):
        raise reported(endpoint, answer)
    choices = as_list(answer.get("choices"))
    if not choices:
        raise not_understood(endpoint, "the answer holds no choice", body)
    draft = ReplyDraft(request, is_stream=False)
    draft.take_usage(answer.get("usage"))
    draft.take_message(as_object(choices[0]))
    return draft.reply()


def auth_headers(key: str) -> dict[str, str]:
    """The headers that carry the key."""
    return {"Authorization": f"Bearer {key}"}


def _head(head: Head, scene: Scene) -> tuple[bytes, Role]:
    dialect = scene.endpoint.dialect
    body: JsonObject = {"model": clean(head.model.name), "stream": dialect.stream}
    if dialect.stream and dialect.stream_usage:
        body["stream_options"] = {"include_usage": True}
    for name, value in sorted(head.model.parameters.items()):
        if name not in RESERVED and value is not None:
            body[dialect.max_tokens_field if name == "max_tokens" else name] = value
    if head.tools:
        body["tools"] = [_tool(tool, scene) for tool in head.tools]
    if head.output_schema is not None and (schema := answer_schema(head.output_schema)) is not None:
        held: JsonObject = {"name": "answer", "schema": schema, **({"strict": True} if is_strict(schema) else {})}
        body.setdefault("response_format", {"type": "json_schema", "json_schema": held})
    opening = dumps(body)[:-1] + b',"messages":['
    if not head.system:
        return opening, "start"
    return opening + dumps({"role": "system", "content": head.system}), "user"


def _tool(tool: ToolSpec, scene: Scene) -> JsonObject:
    schema = parameters_schema(tool.parameters)
    function: JsonObject = {
        "name": scene.names.wire(tool.name),
        "description": tool.description,
        "parameters": schema,
    }
    if scene.endpoint.dialect.strict_tools and is_strict(schema):
        function["strict"] = True
    return {"type": "function", "function": function}


def _piece(message: Message, before: Role, scene: Scene) -> tuple[bytes, Role]:
    match message:
        case UserMessage():
            value: JsonObject = {"role": "user", "content": _content(message, scene)}
            after: Role = "user"
        case Reply():
            if not message.calls and not message.text.strip():
                return b"", before
            value, after = _assistant(message, scene), "assistant"
        case ToolMessage(call_id=call_id, result=result):
            value, after = {"role": "tool", "tool_call_id": call_id, "content": told(result)}, "user"
        case _:
            assert_never(message)
    return (dumps(value) if before == "start" else b"," + dumps(value)), after


def _content(message: UserMessage, scene: Scene) -> Json:
    if not message.parts:
        return message.text or "(no text)"
    parts: list[Json] = [_part(part, scene) for part in message.parts]
    return [*parts, {"type": "text", "text": message.text}] if message.text else parts


def _part(part: InputPart, scene: Scene) -> JsonObject:
    if not goes_to(part, scene.endpoint):
        return {"type": "text", "text": in_words(part)}
    match part:
        case TextPart():
            return {"type": "text", "text": in_words(part)}
        case ImagePart():
            return {"type": "image_url", "image_url": {"url": data_url(part)}}
        case FilePart():
            return {"type": "file", "file": {"filename": part.name.strip() or "file", "file_data": data_url(part)}}
        case _:
            assert_never(part)


def _assistant(reply: Reply, scene: Scene) -> JsonObject:
    raw = as_object(reply.raw) if scene.is_own(reply) else {}
    value: JsonObject = {"role": "assistant", "content": reply.text if reply.text.strip() else None}
    value.update(as_object(raw.get("message")))
    if not reply.calls:
        return value
    back = scene.endpoint.dialect.reasoning_back
    if back and reply.reasoning and scene.is_own(reply):
        value[back] = reply.reasoning
    extras = as_object(raw.get("calls"))
    calls: list[Json] = [
        {**as_object(extras.get(str(position))), **_call(call, scene)} for position, call in enumerate(reply.calls)
    ]
    value["tool_calls"] = calls
    return value


def _call(call: ToolCall, scene: Scene) -> JsonObject:
    arguments = "{}"
    if not isinstance(call.arguments, Malformed):
        with suppress(ValueError):  # nested too deeply for any reader; parse_arguments lets no such thing in
            arguments = dumps(call.arguments).decode()
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": scene.names.wire(call.name), "arguments": arguments},
    }


def _tail(last: Role, scene: Scene) -> bytes:
    del last, scene
    return b"]}"


CODEC: Final = Codec(head=_head, piece=_piece, tail=_tail)
