"""Beside the official SDKs: they take our requests for their own, and read every reply as we do."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import anthropic as anthropic_sdk
import openai as openai_sdk
import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google import genai
from google.genai import types as genai_types
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import BaseModel, TypeAdapter

from oribi.core.calls import CallId, Succeeded, ToolCall, ToolSpec
from oribi.core.messages import Message, Reply, ToolMessage, Usage, UserMessage
from oribi.models.endpoints import Endpoint, Wire
from oribi.models.request import EncodedRequest
from oribi.models.stream import StreamReading
from oribi.models.wires import WIRES
from oribi.testing import FakeModelServer, ModelRequest
from oribi.testing.rules import Dialect as Spoken
from oribi.testing.wire import WIRES as SPOKEN
from tests.models.samples import ANTHROPIC, GEMINI, OPENAI, RESPONSES, TOOLS, Turn, choice, histories, prompt

ENDPOINTS: dict[Wire, Endpoint] = {
    "openai-chat": OPENAI,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
}
DIALECTS: dict[Wire, Spoken] = {
    "openai-chat": "openai",
    "openai-responses": "responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
EACH_WIRE = pytest.mark.parametrize("wire", ENDPOINTS)


@dataclass(frozen=True)
class Values:
    """What a reply says, as an SDK hands it out."""

    text: str
    calls: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])
    reasoning: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


def ours(reply: Reply) -> Values:
    """The same of ours. Ids that we made, where none were given, are none."""
    return Values(
        text=reply.text,
        calls=[(each.id, each.name, each.arguments) for each in reply.calls],
        reasoning=reply.reasoning,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
    )


# --- requests ---------------------------------------------------------------------------------------------------------


def as_openai(body: dict[str, Any]) -> tuple[Any, Any]:
    """What the SDK's types keep of `body`, and `body`, but for what is no part of its own wire."""
    typed = _through(CompletionCreateParamsStreaming, body)
    return typed, _without(body, "reasoning_details", "extra_content")


def as_responses(body: dict[str, Any]) -> tuple[Any, Any]:
    return _through(ResponseCreateParamsStreaming, body), body


def as_anthropic(body: dict[str, Any]) -> tuple[Any, Any]:
    return _through(MessageCreateParamsStreaming, body), body


def as_gemini(body: dict[str, Any]) -> tuple[Any, Any]:
    """The SDK's own models forbid what they do not know."""
    config = genai_types.GenerationConfig.model_validate(body.get("generationConfig", {}))
    typed = {
        "generationConfig": config,
        "contents": [genai_types.Content.model_validate(content) for content in body["contents"]],
        "tools": [genai_types.Tool.model_validate(tool) for tool in body.get("tools", [])],
        "systemInstruction": genai_types.Content.model_validate(body.get("systemInstruction", {})),
    }
    dumped = {
        key: [item.model_dump(mode="json", by_alias=True, exclude_none=True) for item in value]
        if isinstance(value, list)
        else value.model_dump(mode="json", by_alias=True, exclude_none=True)
        for key, value in typed.items()
    }
    return {key: value for key, value in dumped.items() if key in body}, body


def _through(params: Any, body: dict[str, Any]) -> Any:
    """`body` after the SDK's types: what they do not know is gone."""
    adapter: TypeAdapter[Any] = TypeAdapter(params)
    return _unpacked(adapter.validate_python(body))


def _unpacked(value: Any) -> Any:
    """JSON again, out of models and lists that are validated as they are read."""
    match value:
        case BaseModel():
            return value.model_dump(mode="json", exclude_unset=True)
        case dict():
            return {key: _unpacked(item) for key, item in cast("dict[str, Any]", value).items()}
        case Iterable() if not isinstance(value, str):
            return [_unpacked(item) for item in cast("Iterable[Any]", value)]
        case _:
            return value


def _without(value: Any, *keys: str) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _without(item, *keys) for key, item in fields.items() if key not in keys}
    return [_without(item, *keys) for item in cast("list[Any]", value)] if isinstance(value, list) else value


TYPED: dict[Wire, Callable[[dict[str, Any]], tuple[Any, Any]]] = {
    "openai-chat": as_openai,
    "openai-responses": as_responses,
    "anthropic": as_anthropic,
    "gemini": as_gemini,
}


@EACH_WIRE
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=[Phase.generate])
@given(history=histories(), tools=TOOLS)
def test_the_types_of_the_sdk_hold_our_requests_and_lose_nothing_of_them(
    wire: Wire, history: list[Turn], tools: tuple[ToolSpec, ...]
) -> None:
    """Y-9."""
    messages = [message for turn in history for message in turn.messages]
    model = choice(wire, max_tokens=100)
    body = WIRES[wire].build_request(prompt(*messages, tools=tools, model=model), ENDPOINTS[wire], None).body
    typed, given_body = TYPED[wire](json.loads(body))
    assert typed == given_body


# --- replies ----------------------------------------------------------------------------------------------------------

# Two SDKs take these for ends of lines, in the middle of an event.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"))
COUNTS = st.integers(1, 2**31)


def _used(read: int, written: int, cached: int) -> Usage:
    return Usage(input_tokens=read + cached, output_tokens=written, cached_tokens=cached)


USED = st.one_of(st.just(Usage()), st.builds(_used, COUNTS, COUNTS, COUNTS))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
CALLS = st.lists(
    st.builds(
        ToolCall,
        id=st.from_regex(r"call-[a-z0-9]{1,12}", fullmatch=True).map(CallId),
        name=st.sampled_from(["read_file", "no_such_tool"]),
        arguments=st.dictionaries(TEXT, JSON, max_size=3),
    ),
    max_size=3,
    unique_by=lambda each: each.id,
).map(tuple)
REPLIES = st.builds(Reply, text=TEXT.filter(bool), calls=CALLS, reasoning=TEXT, usage=USED, stop=st.just("stop"))


def _list(value: Any) -> list[Any]:
    return [] if value is None else value


def _text(value: Any) -> str:
    return "" if value is None else value


def from_openai(client: Any, body: dict[str, Any]) -> Values:
    text, reasoning = "", ""
    usage: Any = None
    calls: dict[int, list[str]] = {}
    for chunk in client.chat.completions.create(**body):
        usage = chunk.usage or usage
        for piece in chunk.choices:
            text += _text(piece.delta.content)
            reasoning += _text(getattr(piece.delta, "reasoning_content", None))
            for part in _list(piece.delta.tool_calls):
                call = calls.setdefault(part.index, ["", "", ""])
                call[0] += _text(part.id)
                if part.function:
                    call[1] += _text(part.function.name)
                    call[2] += _text(part.function.arguments)
    return Values(
        text=text,
        calls=[(identifier, name, json.loads(arguments)) for identifier, name, arguments in calls.values()],
        reasoning=reasoning,
        input_tokens=usage.prompt_tokens if usage else None,
        output_tokens=usage.completion_tokens if usage else None,
    )


def from_responses(client: Any, body: dict[str, Any]) -> Values:
    *_, last = client.responses.create(**body)
    assert last.type == "response.completed"
    answer = last.response
    calls = [item for item in answer.output if item.type == "function_call"]
    thoughts = [part.text for item in answer.output if item.type == "reasoning" for part in item.summary]
    return Values(
        text=answer.output_text,
        calls=[(each.call_id, each.name, json.loads(each.arguments)) for each in calls],
        reasoning="".join(thoughts),
        input_tokens=answer.usage.input_tokens if answer.usage else None,
        output_tokens=answer.usage.output_tokens if answer.usage else None,
    )


def from_anthropic(client: Any, body: dict[str, Any]) -> Values:
    rest = {key: value for key, value in body.items() if key != "stream"}
    with client.messages.stream(**rest) as stream:
        answer = stream.get_final_message()
    text, reasoning = "", ""
    calls: list[tuple[str, str, Any]] = []
    for block in answer.content:
        match block.type:
            case "text":
                text += block.text
            case "thinking":
                reasoning += block.thinking
            case "tool_use":
                calls.append((block.id, block.name, block.input))
            case _:
                pass
    used = answer.usage
    fresh = used.input_tokens + (used.cache_read_input_tokens or 0)
    return Values(text=text, calls=calls, reasoning=reasoning, input_tokens=fresh, output_tokens=used.output_tokens)


def from_gemini(client: Any, body: dict[str, Any]) -> Values:
    text, reasoning = "", ""
    usage: Any = None
    calls: list[tuple[str, str, Any]] = []
    config = genai_types.GenerateContentConfig(
        tools=[genai_types.Tool.model_validate(tool) for tool in body["tools"]],
        system_instruction=genai_types.Content.model_validate(body["systemInstruction"]),
        automatic_function_calling=genai_types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: Any = [genai_types.Content.model_validate(content) for content in body["contents"]]
    for chunk in client.models.generate_content_stream(model="fake-1", contents=contents, config=config):
        usage = chunk.usage_metadata or usage
        for part in _list(chunk.parts):
            if part.function_call:
                call = part.function_call
                calls.append((_text(call.id), _text(call.name), call.args))
            elif part.thought:
                reasoning += _text(part.text)
            else:
                text += _text(part.text)
    assert usage is not None
    return Values(
        text=text,
        calls=calls,
        reasoning=reasoning,
        input_tokens=usage.prompt_token_count,
        output_tokens=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
    )


def client_of(wire: Wire, server: FakeModelServer) -> AbstractContextManager[Any]:
    """The official SDK's client, as Any: its own types change faster than its behaviour."""
    match wire:
        case "openai-chat" | "openai-responses":
            return openai_sdk.OpenAI(api_key="k", base_url=f"{server.base_url}/v1", max_retries=0)
        case "anthropic":
            return anthropic_sdk.Anthropic(api_key="k", base_url=server.base_url, max_retries=0)
        case "gemini":
            options = genai_types.HttpOptions(base_url=server.base_url, api_version="v1beta")
            return genai.Client(api_key="k", http_options=options)


READ: dict[Wire, Callable[[Any, dict[str, Any]], Values]] = {
    "openai-chat": from_openai,
    "openai-responses": from_responses,
    "anthropic": from_anthropic,
    "gemini": from_gemini,
}


@dataclass
class Served:
    """What the server gives next."""

    reply: Reply = field(default_factory=lambda: Reply(text="none yet"))

    def answer(self, request: ModelRequest) -> Reply:
        return self.reply


@contextmanager
def serving() -> Generator[tuple[Served, FakeModelServer]]:
    served = Served()
    with FakeModelServer(served.answer) as server:
        yield served, server


def read_by_us(wire: Wire, request: EncodedRequest, reply: Reply, *, stream: bool) -> Reply:
    """The bytes that the server makes of `reply`, read by our parsers."""
    spoken = SPOKEN[DIALECTS[wire]]
    asked = json.loads(request.body)
    body = spoken.body(reply, asked)
    if not stream:
        return WIRES[wire].parse_response(json.dumps(body).encode(), request)
    reading = StreamReading(WIRES[wire].assembler(request))
    reading.feed(b"".join(event.encoded() for event in spoken.events(body, asked) or []))
    return reading.finish()


@EACH_WIRE
def test_the_sdk_reads_a_stream_as_we_do_and_sends_our_request_as_it_is(wire: Wire) -> None:
    """O-34, Y-9: text, calls with their arguments, reasoning and counts; over a real socket."""
    request = WIRES[wire].build_request(prompt(*HISTORY, model=choice(wire)), ENDPOINTS[wire], None)

    with serving() as (served, server), client_of(wire, server) as client:

        @settings(max_examples=15, deadline=None, database=None, phases=[Phase.generate])
        @given(reply=REPLIES)
        def compare(reply: Reply) -> None:
            served.reply = reply
            body = json.loads(request.body)
            theirs = READ[wire](client, body)
            streamed = read_by_us(wire, request, reply, stream=True)
            assert ours(streamed) == theirs or (reply.usage == Usage() and _uncounted(streamed) == _uncounted(theirs))
            assert streamed == read_by_us(wire, request, reply, stream=False)
            arrived = server.requests[-1]
            assert arrived.broken == ()
            assert _as_we_write(arrived.json) == body

        compare()


def _as_we_write(body: dict[str, Any]) -> dict[str, Any]:
    """The Gemini SDK writes one name in snake case, which its server takes as well, and an empty object."""
    text = json.dumps(body).replace('"parameters_json_schema"', '"parametersJsonSchema"')
    return {key: value for key, value in json.loads(text).items() if value or key != "generationConfig"}


def _uncounted(reply: Reply | Values) -> Values:
    """Where the provider counts nothing, an SDK may say 0 and we say that we do not know."""
    values = ours(reply) if isinstance(reply, Reply) else reply
    return Values(text=values.text, calls=values.calls, reasoning=values.reasoning)


HISTORY: tuple[Message, ...] = (
    UserMessage(text="hi é🍸"),
    Reply(text="I look.", calls=(ToolCall(id=CallId("c1"), name="read_file", arguments={"path": "a"}),)),
    ToolMessage(call_id=CallId("c1"), name="read_file", result=Succeeded(text="nothing")),
)
