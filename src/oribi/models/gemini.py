"""The Gemini generateContent wire: request, plain reply and stream, each a pure part (O-17, Y-9).

Results of one reply's calls stand together in one content of their own, so a result leaves its content open: the next
result joins it, anything else closes it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final, assert_never
from urllib.parse import quote

from oribi.core.calls import Json, JsonObject, Malformed, Succeeded, ToolCall, told
from oribi.core.messages import InputPart, Message, ModelChoice, Reply, TextPart, ToolMessage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models.endpoints import Endpoint
from oribi.models.faults import not_understood, reported
from oribi.models.gemini_reply import SIGNATURE, ReplyDraft, StreamAssembler
from oribi.models.gemini_schema import gemini_answer_schema, gemini_schema
from oribi.models.ids import is_made_up
from oribi.models.inputs import goes_to, in_words
from oribi.models.jsontext import as_list, as_object, clean, dumps, loads
from oribi.models.request import Codec, EncodedRequest, Head, Role, Scene, encode
from oribi.ports import Request

__all__ = ["RESERVED", "StreamAssembler", "auth_headers", "build_request", "parse_response", "path"]

RESERVED: Final = frozenset({"contents", "model", "stream", "systemInstruction", "tools"})
"""Parameters that are not for a configuration to set."""

RENAMED: Final = {
    "frequency_penalty": "frequencyPenalty",
    "max_tokens": "maxOutputTokens",
    "presence_penalty": "presencePenalty",
    "stop": "stopSequences",
    "top_k": "topK",
    "top_p": "topP",
}
"""Parameters as the other wires call them, and their names here."""

TOP_LEVEL: Final = frozenset({"cachedContent", "labels", "safetySettings", "serviceTier", "store", "toolConfig"})
"""Parameters that stand beside `generationConfig`, not in it."""

SIGNED: Final = re.compile(r"(?:.*/)?gemini-(?:[3-9]|\d\d)")
"""Models that refuse the first call of a reply without a thought signature."""

WITH_BOTH: Final = re.compile(r"(?:models/)?gemini-(?:[3-9]|[1-9]\d)")
"""Models that take tools and a schema for the answer in one request; others refuse it."""

RESPONSE_SHAPE: Final = frozenset({"responseMimeType", "responseJsonSchema", "responseSchema"})

NO_SIGNATURE: Final = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""What the provider documents for calls that came from another model: `skip_thought_signature_validator`, in base64."""


def path(choice: ModelChoice, *, stream: bool) -> str:
    """The path for a model. A name may hold its collection, as in `tunedModels/mine`."""
    name = choice.name if "/" in choice.name else f"models/{choice.name}"
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"/{quote(clean(name), safe='/')}:{method}"


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
    draft = ReplyDraft(request)
    draft.take(answer)
    if not as_list(answer.get("candidates")):
        raise not_understood(endpoint, "the answer holds no candidate", body)
    return draft.reply()


def auth_headers(key: str) -> dict[str, str]:
    """The headers that carry the key."""
    return {"x-goog-api-key": key}


def _head(head: Head, scene: Scene) -> tuple[bytes, Role]:
    body: JsonObject = {}
    config: JsonObject = {}
    for name, value in sorted(head.model.parameters.items()):
        if name in RESERVED or value is None:
            continue
        match RENAMED.get(name, name):
            case "generationConfig":
                config = {**config, **as_object(value)}
            case "stopSequences" if isinstance(value, str):
                config["stopSequences"] = [value]
            case place if place in TOP_LEVEL:
                body[place] = value
            case place:
                config[place] = value
    if head.output_schema is not None and not config.keys() & RESPONSE_SHAPE and _may_hold(head):
        config["responseMimeType"] = "application/json"
        if schema := gemini_answer_schema(head.output_schema):
            config["responseJsonSchema"] = schema
    if config:
        body["generationConfig"] = config
    if head.tools:
        declarations: list[Json] = []
        for tool in head.tools:
            declaration: JsonObject = {
                "name": scene.names.wire(tool.name),
                "description": tool.description,
                "parametersJsonSchema": gemini_schema(tool.parameters),
            }
            declarations.append(declaration)
        body["tools"] = [{"functionDeclarations": declarations}]
    if head.system.strip():
        body["systemInstruction"] = {"parts": [{"text": head.system}]}
    opening = dumps(body)[:-1] + (b"," if body else b"")
    return opening + b'"contents":[', "start"


def _may_hold(head: Head) -> bool:
    return not head.tools or WITH_BOTH.match(head.model.name) is not None


def _piece(message: Message, before: Role, scene: Scene) -> tuple[bytes, Role]:
    match message:
        case UserMessage(text=text):
            parts = [dumps(_part(part, scene)) for part in message.parts]
            if text.strip() or not parts:
                parts.append(dumps({"text": text if text.strip() else "(no text)"}))
            return _between(before) + b'{"role":"user","parts":[' + b",".join(parts) + b"]}", "user"
        case Reply():
            if not message.calls and not message.text.strip():
                return b"", before
            parts = _said(message, scene)
            return _between(before) + b'{"role":"model","parts":[' + b",".join(parts) + b"]}", "assistant"
        case ToolMessage():
            result = dumps({"functionResponse": _result(message, scene)})
            if before == "tool":
                return b"," + result, "tool"
            return _between(before) + b'{"role":"user","parts":[' + result, "tool"
        case _:
            assert_never(message)


def _part(part: InputPart, scene: Scene) -> JsonObject:
    if isinstance(part, TextPart) or not goes_to(part, scene.endpoint):
        return {"text": in_words(part)}
    return {"inlineData": {"mimeType": part.media_type, "data": part.data}}


def _between(before: Role) -> bytes:
    match before:
        case "start":
            return b""
        case "tool":
            return b"]},"
        case "user" | "assistant":
            return b","


def _tail(last: Role, scene: Scene) -> bytes:
    del scene
    return b"]}]}" if last == "tool" else b"]}"


def _said(reply: Reply, scene: Scene) -> list[bytes]:
    raw = as_list(reply.raw) if scene.is_own(reply) else []
    if not raw:
        text = [dumps({"text": reply.text})] if reply.text.strip() else []
        unsigned: JsonObject = {SIGNATURE: NO_SIGNATURE} if SIGNED.match(scene.model) else {}
        return text + [_call({} if position else unsigned, call, scene) for position, call in enumerate(reply.calls)]
    calls = list(reply.calls)
    parts: list[bytes] = []
    for part in map(as_object, raw):
        if "functionCall" in part and calls:
            parts.append(_call(part, calls.pop(0), scene))
        else:
            parts.append(dumps(part))
    return parts + [_call({}, call, scene) for call in calls]


def _call(part: JsonObject, call: ToolCall, scene: Scene) -> bytes:
    """A call as our parts have it, with what stood beside it on its part, such as its thought signature."""
    function: JsonObject = {"name": scene.names.wire(call.name)}
    if not is_made_up(call.id):
        function["id"] = call.id
    arguments = b"{}"
    if not isinstance(call.arguments, Malformed):
        with suppress(ValueError):  # nested too deeply for any reader; parse_arguments lets no such thing in
            arguments = dumps(call.arguments)
    beside: JsonObject = {key: value for key, value in part.items() if key != "functionCall"}
    whole = b'{"functionCall":' + dumps(function)[:-1] + b',"args":' + arguments + b"}"
    return whole + b"," + dumps(beside)[1:] if beside else whole + b"}"


def _result(message: ToolMessage, scene: Scene) -> JsonObject:
    """A result as text under one key: as an object it would be searched for `$ref`, which this wire takes for its own.

    Results are matched by their order; by ids only where the provider gave some.
    """
    key = "output" if isinstance(message.result, Succeeded) else "error"
    response: JsonObject = {"name": scene.names.wire(message.name), "response": {key: told(message.result)}}
    if not is_made_up(message.call_id):
        response["id"] = message.call_id
    return response


CODEC: Final = Codec(head=_head, piece=_piece, tail=_tail)
