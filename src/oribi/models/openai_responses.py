"""The OpenAI Responses wire, stateless: request, plain reply and stream, each a pure part (O-17, Y-9).

Nothing is stored at the provider (`store: false`): the whole conversation is sent as items, and reasoning comes and
goes encrypted.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final, assert_never

from oribi.core.calls import Json, JsonObject, Malformed, ToolCall, told
from oribi.core.messages import FilePart, ImagePart, InputPart, Message, Reply, TextPart, ToolMessage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models.endpoints import Endpoint
from oribi.models.faults import not_understood, reported
from oribi.models.ids import fit_id
from oribi.models.inputs import data_url, goes_to, in_words
from oribi.models.jsontext import as_list, as_object, as_text, clean, dumps, loads
from oribi.models.request import Codec, EncodedRequest, Head, Role, Scene, encode
from oribi.models.responses_reply import StreamAssembler, reply_of
from oribi.models.schemas import answer_schema, is_strict, parameters_schema
from oribi.ports import Request

__all__ = ["PATH", "RESERVED", "StreamAssembler", "auth_headers", "build_request", "parse_response"]

PATH: Final = "/responses"

RESERVED: Final = frozenset(
    {"model", "input", "stream", "instructions", "tools", "store", "include", "previous_response_id", "conversation"}
)
"""Parameters that are not for a configuration to set."""

WITHOUT_REASONING: Final = re.compile(r"(?:chat)?gpt-[34]")
"""Models that refuse a request for encrypted reasoning, since they have none."""

LONGEST_ID: Final = 64


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
    if answer.get("error") or answer.get("status") == "failed":
        raise reported(endpoint, answer)
    if not isinstance(answer.get("output"), list):
        raise not_understood(endpoint, "the answer holds no output", body)
    return reply_of([as_object(item) for item in as_list(answer["output"])], answer, request)


def auth_headers(key: str) -> dict[str, str]:
    """The headers that carry the key."""
    return {"Authorization": f"Bearer {key}"}


def _head(head: Head, scene: Scene) -> tuple[bytes, Role]:
    dialect = scene.endpoint.dialect
    body: JsonObject = {"model": clean(head.model.name), "stream": dialect.stream, "store": False}
    if WITHOUT_REASONING.match(head.model.name) is None:
        body["include"] = ["reasoning.encrypted_content"]
    for name, value in sorted(head.model.parameters.items()):
        if name in RESERVED or value is None:
            continue
        match name:
            case "max_tokens" | "max_completion_tokens":
                body["max_output_tokens"] = value
            case "reasoning_effort":
                body["reasoning"] = {"effort": value, **as_object(head.model.parameters.get("reasoning"))}
            case "reasoning" if "reasoning" in body:
                pass
            case _:
                body[name] = value
    if head.tools:
        tools: list[Json] = []
        for tool in head.tools:
            schema = parameters_schema(tool.parameters)
            tools.append(
                {
                    "type": "function",
                    "name": scene.names.wire(tool.name),
                    "description": tool.description,
                    "parameters": schema,
                    "strict": dialect.strict_tools and is_strict(schema),
                }
            )
        body["tools"] = tools
    if head.output_schema is not None and (schema := answer_schema(head.output_schema)) is not None:
        held: JsonObject = {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict(schema)}
        body["text"] = {"format": held, **as_object(body.get("text"))}
    if head.system.strip():
        body["instructions"] = head.system
    return dumps(body)[:-1] + b',"input":[', "start"


def _piece(message: Message, before: Role, scene: Scene) -> tuple[bytes, Role]:
    after: Role = "user"
    match message:
        case UserMessage():
            items = [dumps({"role": "user", "content": _content(message, scene)})]
        case Reply():
            if not message.calls and not message.text.strip():
                return b"", before
            items, after = _said(message, scene), "assistant"
        case ToolMessage(call_id=call_id, result=result):
            output: JsonObject = {
                "type": "function_call_output",
                "call_id": fit_id(call_id, LONGEST_ID),
                "output": told(result),
            }
            items = [dumps(output)]
        case _:
            assert_never(message)
    return (b"" if before == "start" else b",") + b",".join(items), after


def _content(message: UserMessage, scene: Scene) -> Json:
    if not message.parts:
        return message.text or "(no text)"
    parts: list[Json] = [_part(part, scene) for part in message.parts]
    return [*parts, {"type": "input_text", "text": message.text}] if message.text else parts


def _part(part: InputPart, scene: Scene) -> JsonObject:
    if not goes_to(part, scene.endpoint):
        return {"type": "input_text", "text": in_words(part)}
    match part:
        case TextPart():
            return {"type": "input_text", "text": in_words(part)}
        case ImagePart():
            return {"type": "input_image", "detail": "auto", "image_url": data_url(part)}
        case FilePart():
            return {"type": "input_file", "filename": part.name.strip() or "file", "file_data": data_url(part)}
        case _:
            assert_never(part)


def _said(reply: Reply, scene: Scene) -> list[bytes]:
    raw = as_list(reply.raw) if scene.is_own(reply) else []
    if not raw:
        text = [dumps({"role": "assistant", "content": reply.text})] if reply.text.strip() else []
        return text + [_call({}, call, scene) for call in reply.calls]
    calls = list(reply.calls)
    items: list[bytes] = []
    for item in map(as_object, raw):
        if item.get("type") == "function_call" and calls:
            items.append(_call(item, calls.pop(0), scene))
        else:
            items.append(dumps(item))
    return items + [_call({}, call, scene) for call in calls]


def _call(item: JsonObject, call: ToolCall, scene: Scene) -> bytes:
    """A call as our parts have it, ids and names that were mended included, in the dress in which it came."""
    arguments = as_text(item.get("arguments"))
    if not arguments:
        arguments = "{}"
        if not isinstance(call.arguments, Malformed):
            with suppress(ValueError):  # nested too deeply for any reader; parse_arguments lets no such thing in
                arguments = dumps(call.arguments).decode()
    return dumps(
        {
            **item,
            "type": "function_call",
            "call_id": fit_id(call.id, LONGEST_ID),
            "name": scene.names.wire(call.name),
            "arguments": arguments,
        }
    )


def _tail(last: Role, scene: Scene) -> bytes:
    del last, scene
    return b"]}"


CODEC: Final = Codec(head=_head, piece=_piece, tail=_tail)
