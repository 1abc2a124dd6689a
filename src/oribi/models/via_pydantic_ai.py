"""Bedrock, Vertex, Mistral, Cohere and Groq, through the model classes of pydantic-ai: one call, one request.

Needs the extra `providers`. Only the library's direct request is used: no agent of its library runs, so it executes no
tool (O-33, Y-10), and its retries are off. A request's `body` is canonical JSON of everything that is handed to the
library, and is read back from there to be sent: the journal's hash covers all of it. It is not what crosses the
socket. Those bytes are written by the library and the provider's SDK, which may add, leave out or reorder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, assert_never, cast

import anyio
import orjson

from oribi.core.calls import CallId, Denied, Failed, Json, JsonObject, Malformed, Succeeded, ToolCall, Unknown, told
from oribi.core.errors import FaultKind, ModelError
from oribi.core.messages import Message, ModelChoice, Reply, StopReason, ToolMessage, Usage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models.arguments import never_run, parse_arguments
from oribi.models.faults import LONGEST_WORDS
from oribi.models.inputs import all_in_words
from oribi.models.jsontext import as_list, as_object, as_text, clean, clean_tree, loads
from oribi.models.names import WireNames
from oribi.models.replies import Shown
from oribi.models.schemas import parameters_schema
from oribi.ports import Listen, ReasoningDelta, Request, TextDelta

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse, ModelResponsePart
    from pydantic_ai.models import Model as LibraryModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

WIRE: Final = "pydantic-ai"

SETTINGS: Final = {
    "frequency_penalty": "frequency_penalty",
    "max_tokens": "max_tokens",
    "parallel_tool_calls": "parallel_tool_calls",
    "presence_penalty": "presence_penalty",
    "seed": "seed",
    "stop": "stop_sequences",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
}
"""Parameters of a model choice, and what the library calls them."""

STOPS: Final[Mapping[str, StopReason]] = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}

FAULTS: Final[tuple[tuple[str, FaultKind], ...]] = (
    ("ModelContextWindowExceededError", "context_length"),
    ("ModelAuthenticationError", "auth"),
    ("ModelQuotaExceededError", "auth"),
    ("ModelRateLimitError", "rate"),
    ("ModelUnavailableError", "overloaded"),
    ("ModelServerError", "overloaded"),
    ("ModelTimeoutError", "timeout"),
    ("ModelRequestTimeout", "timeout"),
    ("ModelConnectionError", "network"),
    ("ModelRequestRejectedError", "bad_request"),
    ("ContentFilterError", "bad_request"),
    ("UserError", "bad_request"),
)
"""The library's errors by class, the special ones first."""

CALL_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MISTRAL_CALL_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignRequest:
    """What one call hands to the library. `reply_index` is the place in the session that the reply will take."""

    body: bytes = field(repr=False)
    sha256: str
    choice: ModelChoice
    names: WireNames = field(repr=False)
    reply_index: int


class ForeignModel:
    """One of the library's models, as the `Model` port.

    `idle_seconds` bounds the silence before and within a reply. `says_why_it_stops`: a stream that ends without a
    reason was cut, which is so with every real provider. `key` is kept out of errors, should the provider quote it.
    """

    def __init__(
        self, model: LibraryModel[Any], *, key: str = "", idle_seconds: float = 120.0, says_why_it_stops: bool = True
    ) -> None:
        self._model = model
        self._key = key
        self._idle_seconds = idle_seconds
        self._says_why_it_stops = says_why_it_stops
        self._entered = False

    def build_request(self, prompt: Prompt, previous: Request | None) -> ForeignRequest:
        names = WireNames.of(prompt.tools)
        body = orjson.dumps(
            clean_tree(
                {
                    "model": prompt.model.ref,
                    "settings": dict(prompt.model.parameters),
                    "system": prompt.system,
                    "messages": [_written(message, prompt.model.provider, names) for message in prompt.messages],
                    "tools": [
                        {
                            "name": names.wire(tool.name),
                            "description": tool.description,
                            "parameters": parameters_schema(tool.parameters),
                        }
                        for tool in prompt.tools
                    ],
                }
            ),
            option=orjson.OPT_SORT_KEYS,
        )
        return ForeignRequest(
            body=body,
            sha256=hashlib.sha256(body).hexdigest(),
            choice=prompt.model,
            names=names,
            reply_index=prompt.reply_index,
        )

    async def reply(self, request: Request, listen: Listen) -> Reply:
        if not isinstance(request, ForeignRequest):
            raise TypeError(f"this model sends requests that it has built itself, not {type(request).__name__}")
        provider = request.choice.provider
        shown = Shown()
        try:
            with anyio.move_on_after(self._idle_seconds) as silence:
                response = await self._stream(request, shown, listen, silence)
                return _reply(response, request, must_say_why=self._says_why_it_stops)
        except ModelError as error:
            error.partial = shown.text
            raise
        except Exception as error:
            # Five SDKs and their HTTP libraries raise errors of their own beside the library's, and may add more.
            words = " ".join(clean(str(error)).split())[:LONGEST_WORDS] or type(error).__name__
            words = words.replace(self._key, "***") if self._key else words
            raise ModelError(
                _kind(error),
                f"{provider}: {words}",
                retry_after_seconds=_retry_after(error),
                partial=shown.text,
            ) from error
        raise ModelError("timeout", f"{provider} fell silent", partial=shown.text)

    async def close(self) -> None:
        """Close the provider's connections. Harmless when there are none."""
        if self._entered:
            self._entered = False
            await self._model.__aexit__(None, None, None)

    async def _stream(
        self, request: ForeignRequest, shown: Shown, listen: Listen, silence: anyio.CancelScope
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent

        if not self._entered:
            self._entered = True  # before the wait, so that a second call does not enter it again
            await self._model.__aenter__()
        handed = as_object(loads(request.body))
        async with model_request_stream(
            self._model,
            library_messages(handed),
            model_settings=_settings(handed, request.choice.provider),
            model_request_parameters=_parameters(handed),
            instrument=False,
        ) as stream:
            async for event in stream:
                silence.deadline = anyio.current_time() + self._idle_seconds
                if isinstance(event, PartStartEvent):
                    _show(event.part, shown, listen)
                elif isinstance(event, PartDeltaEvent):
                    _show(event.delta, shown, listen)
            return stream.get()


def library_messages(handed: JsonObject) -> list[ModelMessage]:
    """The library's messages for what a request's body says."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, SystemPromptPart

    found: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    if system := as_text(handed.get("system")):
        parts.append(SystemPromptPart(content=system))
    for message in map(as_object, as_list(handed.get("messages"))):
        if message.get("role") != "assistant":
            parts.append(_request_part(message))
            continue
        if parts:
            found.append(ModelRequest(parts=parts))
            parts = []
        if own := as_object(message.get("own")):
            found += ModelMessagesTypeAdapter.validate_python([own])
        else:
            found.append(ModelResponse(parts=_response_parts(message)))
    if parts:
        found.append(ModelRequest(parts=parts))
    return found


def _written(message: Message, provider: str, names: WireNames) -> JsonObject:
    """`message` as the request's body has it."""
    match message:
        case UserMessage():
            return {"role": "user", "text": all_in_words(message) or "(no text)"}
        case ToolMessage(call_id=call_id, name=name, result=result):
            match result:
                case Succeeded():
                    outcome = "success"
                case Failed():
                    outcome = "failed"
                case Denied():
                    outcome = "denied"
                case Unknown():
                    outcome = "interrupted"
                case _:
                    assert_never(result)
            return {
                "role": "tool",
                "id": _wire_id(call_id, provider),
                "name": names.wire(name),
                "outcome": outcome,
                "text": told(result),
            }
        case Reply():
            raw = as_object(message.raw)
            if message.wire == WIRE and raw and message.model.partition(":")[0] == provider:
                return {"role": "assistant", "own": _own(raw, message, provider, names)}
            return {
                "role": "assistant",
                "text": message.text,
                "calls": [_written_call(call, provider, names) for call in message.calls],
            }
        case _:
            assert_never(message)


def _written_call(call: ToolCall, provider: str, names: WireNames) -> JsonObject:
    return {
        "id": _wire_id(call.id, provider),
        "name": names.wire(call.name),
        "arguments": {} if isinstance(call.arguments, Malformed) else call.arguments,
    }


def _own(raw: JsonObject, reply: Reply, provider: str, names: WireNames) -> JsonObject:
    """The response as the library gave it, its calls as our parts have them: ids and names that were mended stay so."""
    calls = [_written_call(call, provider, names) for call in reply.calls]
    parts: list[Json] = []
    for part in map(as_object, as_list(raw.get("parts"))):
        if part.get("part_kind") == "tool-call" and calls:
            call = calls.pop(0)
            parts.append({**part, "tool_call_id": call["id"], "tool_name": call["name"], "args": call["arguments"]})
        else:
            parts.append(part)
    return {**raw, "parts": parts}


def _wire_id(call_id: str, provider: str) -> str:
    """`call_id` if the provider takes it, else one made of it: ids of other providers have other characters."""
    if (MISTRAL_CALL_ID if provider == "mistral" else CALL_ID).fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:9] if provider == "mistral" else f"call_{digest[:24]}"


def _request_part(message: JsonObject) -> ModelRequestPart:
    from pydantic_ai.messages import ToolReturnPart, UserPromptPart

    if message.get("role") == "user":
        return UserPromptPart(content=as_text(message.get("text")))
    return ToolReturnPart(
        tool_name=as_text(message.get("name")),
        content=as_text(message.get("text")),
        tool_call_id=as_text(message.get("id")),
        outcome=cast("Any", message.get("outcome")),  # one of the library's words, as `_written` chose it
    )


def _response_parts(message: JsonObject) -> list[ModelResponsePart]:
    from pydantic_ai.messages import TextPart, ToolCallPart

    parts: list[ModelResponsePart] = []
    if (text := as_text(message.get("text"))).strip():
        parts.append(TextPart(content=text))
    parts.extend(
        ToolCallPart(
            tool_name=as_text(call.get("name")),
            args=dict(as_object(call.get("arguments"))),
            tool_call_id=as_text(call.get("id")),
        )
        for call in map(as_object, as_list(message.get("calls")))
    )
    return parts or [TextPart(content="(no text)")]


def _settings(handed: JsonObject, provider: str) -> ModelSettings:
    settings: dict[str, Any] = {
        SETTINGS[name]: value for name, value in as_object(handed.get("settings")).items() if value is not None
    }
    if isinstance(settings.get("stop_sequences"), str):
        settings["stop_sequences"] = [settings["stop_sequences"]]
    if provider != "bedrock":  # whose client is made without retries, and which warns of the setting
        settings["max_retries"] = 0
    return cast("ModelSettings", settings)  # a TypedDict; the names come from SETTINGS


def _parameters(handed: JsonObject) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=as_text(tool.get("name")),
                description=as_text(tool.get("description")),
                parameters_json_schema=dict(as_object(tool.get("parameters"))),
            )
            for tool in map(as_object, as_list(handed.get("tools")))
        ]
    )


def _show(fragment: object, shown: Shown, listen: Listen) -> None:
    from pydantic_ai.messages import TextPart, TextPartDelta, ThinkingPart, ThinkingPartDelta

    match fragment:
        case TextPart(content=text) | TextPartDelta(content_delta=text) if text:
            if part := shown.add(text):
                listen(TextDelta(text=part))
        case ThinkingPart(content=text) | ThinkingPartDelta(content_delta=text) if text:
            listen(ReasoningDelta(text=clean(text)))
        case _:
            pass


def _reply(response: ModelResponse, request: ForeignRequest, *, must_say_why: bool) -> Reply:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    provider = request.choice.provider
    reason = response.finish_reason or as_text((response.provider_details or {}).get("finish_reason"))
    if response.state != "complete" or (must_say_why and not reason):
        raise ModelError("network", f"{provider}: the stream ended before the reply was finished")
    if response.finish_reason == "error":
        raise ModelError("protocol", f"{provider} broke the reply off with an error")
    unknown: StopReason = "other" if must_say_why else "stop"
    stop = STOPS.get(response.finish_reason or "") or unknown
    calls: list[ToolCall] = []
    text: list[str] = []
    reasoning: list[str] = []
    is_plain = True
    for part in response.parts:
        match part:
            case TextPart(content=content):
                text.append(content)
            case ThinkingPart(content=content):
                reasoning.append(content)
            case ToolCallPart():
                arguments = parse_arguments(cast("Json", part.args))
                identifier = _new_id(clean(part.tool_call_id), calls, request)
                name = request.names.ours(clean(part.tool_name))
                calls.append(ToolCall(id=identifier, name=name, arguments=never_run(arguments, stop)))
            case _:
                is_plain = False
        # What the library could not make again from our parts: signatures, ids, provider details.
        is_plain = is_plain and not (isinstance(part, ThinkingPart) or getattr(part, "provider_details", None))
    return Reply(
        text=clean("".join(text)),
        calls=tuple(calls),
        stop=stop,
        usage=_usage(response),
        model=request.choice.ref,
        wire=WIRE,
        reasoning=clean("".join(reasoning)),
        raw=None if is_plain else _raw(response),
    )


def _new_id(identifier: str, calls: list[ToolCall], request: ForeignRequest) -> CallId:
    used = {call.id for call in calls}
    if not identifier.strip() or identifier in used:
        identifier = f"call_{request.reply_index}_{len(calls)}"
        while identifier in used:
            identifier += "x"
    return CallId(identifier)


def _raw(response: ModelResponse) -> Json:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    (whole,) = cast("list[Json]", ModelMessagesTypeAdapter.dump_python([response], mode="json"))
    kept = ("parts", "kind", "model_name", "provider_name", "provider_details", "provider_response_id", "timestamp")
    return clean_tree({name: value for name, value in as_object(whole).items() if name in kept})


def _usage(response: ModelResponse) -> Usage:
    """The counts. The library says 0 where a provider said nothing, so 0 is unknown here."""
    usage = response.usage
    if usage.unmeasured_requests:
        return Usage()
    return Usage(
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or None,
        cached_tokens=usage.cache_read_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
        reasoning_tokens=usage.output_reasoning_tokens or None,
    )


def _kind(error: Exception) -> FaultKind:
    classes = {one.__name__ for one in type(error).__mro__}
    for name, kind in FAULTS:
        if name in classes:
            return kind
    if any("credential" in name.lower() or "auth" in name.lower() for name in classes):
        return "auth"
    return "timeout" if isinstance(error, TimeoutError) else "protocol"


def _retry_after(error: Exception) -> float | None:
    seconds = getattr(error, "retry_after", None)
    return float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None
