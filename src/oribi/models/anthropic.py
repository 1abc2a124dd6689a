"""The Anthropic Messages wire: request, plain reply and stream, each a pure part (O-17, Y-9).

Messages of one role in a row are one message there, and the last block may carry a cache mark. So a piece leaves its
last block open: the next piece closes it and begins a block, or a message of the other role; the tail closes all.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final, assert_never

from oribi.core.calls import Json, JsonObject, Malformed, Succeeded, ToolCall, told
from oribi.core.messages import FilePart, ImagePart, InputPart, Message, Reply, TextPart, ToolMessage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models.anthropic_reply import StreamAssembler, reply_of
from oribi.models.endpoints import Endpoint
from oribi.models.faults import not_understood, reported
from oribi.models.ids import fit_id
from oribi.models.inputs import goes_to, in_words
from oribi.models.jsontext import as_list, as_object, as_text, clean, dumps, loads
from oribi.models.request import Codec, EncodedRequest, Head, Role, Scene, encode
from oribi.models.schemas import closed_schema, parameters_schema
from oribi.ports import Request

__all__ = ["PATH", "RESERVED", "StreamAssembler", "auth_headers", "build_request", "parse_response"]

PATH: Final = "/messages"

RESERVED: Final = frozenset({"model", "messages", "stream", "system", "tools"})
"""Parameters that are not for a configuration to set."""

DEFAULT_MAX_TOKENS: Final = 8_192
"""The wire wants a limit; this one is sent where the configuration names none."""

CACHE_MARK: Final = b',"cache_control":{"type":"ephemeral"}'
LONGEST_ID: Final = 128

WITHOUT_SCHEMAS: Final = re.compile(r"claude-(?:[1-3]|instant|v\d|(?:opus|sonnet)-4-(?:0|\d{8}))")
"""Models that refuse a request to hold the answer to a schema."""

NO_TOOL: Final[Json] = [
    {
        "name": "no_tool",
        "description": "Stands for the tools of earlier turns. It cannot be called.",
        "input_schema": {"type": "object", "properties": {}},
    }
]
"""The wire refuses a history with calls unless the request names a tool, even when none can be called any more."""


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
    if answer.get("error") or answer.get("type") == "error":
        raise reported(endpoint, answer)
    if not isinstance(answer.get("content"), list):
        raise not_understood(endpoint, "the answer holds no content", body)
    blocks = [as_object(block) for block in as_list(answer["content"])]
    return reply_of(blocks, as_text(answer.get("stop_reason")), as_object(answer.get("usage")), request)


def auth_headers(key: str) -> dict[str, str]:
    """The headers that carry the key."""
    return {"x-api-key": key}


def _head(head: Head, scene: Scene) -> tuple[bytes, Role]:
    dialect = scene.endpoint.dialect
    parameters = {name: value for name, value in head.model.parameters.items() if value is not None}
    body: JsonObject = {
        "model": clean(head.model.name),
        "stream": dialect.stream,
        "max_tokens": parameters.pop("max_tokens", DEFAULT_MAX_TOKENS),
    }
    for name, value in sorted(parameters.items()):
        if name not in RESERVED:
            body[name] = value
    if head.tools:
        body["tools"] = [
            {
                "name": scene.names.wire(tool.name),
                "description": tool.description,
                "input_schema": parameters_schema(tool.parameters),
            }
            for tool in head.tools
        ]
    if head.has_calls:
        body["tools"], body["tool_choice"] = NO_TOOL, {"type": "none"}
    if head.output_schema is not None and WITHOUT_SCHEMAS.match(head.model.name) is None:
        schema = closed_schema(head.output_schema)
        if schema is not None:
            held: JsonObject = {"type": "json_schema", "schema": schema}
            body["output_config"] = {"format": held, **as_object(body.get("output_config"))}
    opening = dumps(body)[:-1]
    if head.system.strip():
        mark = CACHE_MARK if dialect.prompt_cache else b""
        opening += b',"system":[{"type":"text","text":' + dumps(head.system) + mark + b"}]"
    return opening + b',"messages":[', "start"


def _piece(message: Message, before: Role, scene: Scene) -> tuple[bytes, Role]:
    after: Role = "user"
    match message:
        case UserMessage(text=text, parts=parts):
            blocks = [dumps(_part(part, scene)) for part in parts]
            if text.strip() or not blocks:
                blocks.append(dumps({"type": "text", "text": text if text.strip() else "(no text)"}))
        case Reply():
            if not message.calls and not message.text.strip():
                return b"", before
            blocks, after = _assistant(message, scene), "assistant"
        case ToolMessage():
            blocks = [dumps(_result(message))]
        case _:
            assert_never(message)
    if before == after:
        opening = b"},"
    else:
        opening = b"" if before == "start" else b"}]},"
        opening += b'{"role":"' + after.encode() + b'","content":['
    return opening + b",".join(blocks)[:-1], after


def _tail(last: Role, scene: Scene) -> bytes:
    match last:
        case "start":
            return b"]}"
        case "user" | "tool":
            return (CACHE_MARK if scene.endpoint.dialect.prompt_cache else b"") + b"}]}]}"
        case "assistant":
            return b"}]}]}"


def _part(part: InputPart, scene: Scene) -> JsonObject:
    if not goes_to(part, scene.endpoint):
        return {"type": "text", "text": in_words(part)}
    match part:
        case TextPart():
            return {"type": "text", "text": in_words(part)}
        case ImagePart():
            return {"type": "image", "source": _source(part)}
        case FilePart():
            named: JsonObject = {"title": part.name} if part.name.strip() else {}
            return {"type": "document", "source": _source(part), **named}
        case _:
            assert_never(part)


def _source(part: ImagePart | FilePart) -> JsonObject:
    return {"type": "base64", "media_type": part.media_type, "data": part.data}


def _assistant(reply: Reply, scene: Scene) -> list[bytes]:
    calls = [_call(call, scene) for call in reply.calls]
    raw = as_list(reply.raw) if scene.is_own(reply) else []
    if not raw:
        text = [dumps({"type": "text", "text": reply.text})] if reply.text.strip() else []
        return text + calls
    blocks: list[bytes] = []
    for block in map(as_object, raw):
        match block.get("type"):
            case "text" if not as_text(block.get("text")).strip():
                pass
            case "tool_use" if calls:
                blocks.append(calls.pop(0))  # as our parts have it: ids and names that were mended stay mended
            case _:
                blocks.append(dumps(block))
    return blocks + calls


def _call(call: ToolCall, scene: Scene) -> bytes:
    arguments = b"{}"
    if not isinstance(call.arguments, Malformed):
        with suppress(ValueError):  # nested too deeply for any reader; parse_arguments lets no such thing in
            arguments = dumps(call.arguments)
    head = dumps({"type": "tool_use", "id": fit_id(call.id, LONGEST_ID), "name": scene.names.wire(call.name)})
    return head[:-1] + b',"input":' + arguments + b"}"


def _result(message: ToolMessage) -> JsonObject:
    text = told(message.result)
    block: JsonObject = {
        "type": "tool_result",
        "tool_use_id": fit_id(message.call_id, LONGEST_ID),
        "content": text if text.strip() else "(the tool gave only white space)",
    }
    if not isinstance(message.result, Succeeded):
        block["is_error"] = True
    return block


CODEC: Final = Codec(head=_head, piece=_piece, tail=_tail)
