"""What comes with an input, and the schema of an answer, as each wire sends them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oribi.core.calls import JsonObject
from oribi.core.errors import ConfigError
from oribi.core.messages import FilePart, ImagePart, InputPart, Message, ModelChoice, Reply, TextPart, UserMessage
from oribi.core.prompt import Prompt
from oribi.models import anthropic, gemini, openai_chat, openai_responses
from oribi.models.actions import as_actions
from oribi.models.endpoints import Dialect, Endpoint, Wire, known_endpoints
from oribi.models.gemini_schema import gemini_answer_schema
from oribi.models.inputs import check_parts
from oribi.models.registry import HttpModels
from oribi.models.request import EncodedRequest
from oribi.models.schemas import answer_schema, closed_schema, is_strict
from oribi.ports import Request
from oribi.testing import FakeModelServer
from oribi.testing.schemas import closed_problems, gemini_schema_problems, schema_problems, strict_problems
from tests.models.samples import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    RESPONSES,
    TEXTS,
    TOOLS,
    Turn,
    answer,
    call,
    check_anthropic,
    check_gemini,
    check_openai,
    check_responses,
    choice,
    histories,
    prompt,
)
from tests.models.test_schemas import PARAMETERS

Build = Callable[[Prompt, Endpoint, Request | None], EncodedRequest]
Check = Callable[[bytes], dict[str, Any]]
WIRES = [
    pytest.param(openai_chat.build_request, OPENAI, check_openai, id="openai-chat"),
    pytest.param(openai_responses.build_request, RESPONSES, check_responses, id="openai-responses"),
    pytest.param(anthropic.build_request, ANTHROPIC, check_anthropic, id="anthropic"),
    pytest.param(gemini.build_request, GEMINI, check_gemini, id="gemini"),
]

IMAGE = ImagePart(name="a.png", media_type="image/png", data=b64encode(b"PNG").decode())
PDF = FilePart(name="a.pdf", media_type="application/pdf", data=b64encode(b"PDF").decode())
SOUND = FilePart(name="a.mp3", media_type="audio/mpeg", data=b64encode(b"MP3").decode())
NOTE = TextPart(name="note.md", text="# Note")
LOOK = UserMessage(text="Look.", parts=(NOTE, IMAGE, PDF))

DATA = st.binary(min_size=1, max_size=20).map(lambda content: b64encode(content).decode())
MEDIA_TYPES = st.sampled_from(
    ["image/png", "image/gif", "image/heic", "image/tiff", "application/pdf", "audio/mpeg", "x", ""]
)
PARTS = st.one_of(
    st.builds(TextPart, name=TEXTS, text=TEXTS),
    st.builds(ImagePart, name=TEXTS, media_type=MEDIA_TYPES, data=DATA),
    st.builds(FilePart, name=TEXTS, media_type=MEDIA_TYPES, data=DATA),
)
TEXT = {"type": "string", "maxLength": 9}
PERSON: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "ages": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name", "ages"],
    "additionalProperties": False,
}
SOME_SCHEMAS: list[Any] = [
    None,
    PERSON,
    {},
    {"type": "object"},
    {"type": "array"},
    {"type": "object", "properties": {"a": {"type": "array"}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": TEXT}, "required": ["a"], "additionalProperties": False},
    {"type": "object", "properties": {"a": True}, "additionalProperties": False},
    {"type": "object", "properties": {"a": {"type": ["object", "null"]}}, "additionalProperties": False},
    {"anyOf": [{"type": "string"}, PERSON]},
    {"$ref": "#/$defs/N", "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}}},
    {"type": "object", "properties": {"n": {"$ref": "#"}, "m": {"$ref": "#/nowhere"}}},
]
SCHEMAS = st.sampled_from(SOME_SCHEMAS)


def holding(endpoint: Endpoint) -> Endpoint:
    return replace(endpoint, dialect=replace(endpoint.dialect, structured_output=True))


def with_parts(data: st.DataObject, turn: Turn) -> list[Message]:
    return [
        replace(message, parts=tuple(data.draw(st.lists(PARTS, max_size=3))))
        if isinstance(message, UserMessage)
        else message
        for message in turn.messages
    ]


# --- images and files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
@settings(max_examples=60)
@given(data=st.data(), history=histories(), tools=TOOLS, schema=SCHEMAS, media=st.booleans())
def test_any_history_with_parts_and_any_schema_keeps_the_strict_rules(
    build: Build,
    endpoint: Endpoint,
    check: Check,
    data: st.DataObject,
    history: list[Turn],
    tools: Any,
    schema: JsonObject | None,
    media: bool,  # noqa: FBT001 - hypothesis passes it by name
) -> None:
    """O-17, Y-9: and the bytes are the same with and without the request before."""
    endpoint = replace(endpoint, dialect=replace(endpoint.dialect, structured_output=True, media=media))
    messages = [message for turn in history for message in with_parts(data, turn)]
    model = replace(
        choice(endpoint.wire), name=data.draw(st.sampled_from(["fake-1", "gemini-3-pro", "gemini-2.5-pro"]))
    )
    asked = replace(prompt(*messages, tools=tools, model=model), output_schema=schema)
    whole = build(asked, endpoint, None)
    check(whole.body)
    some = data.draw(st.integers(1, len(messages)))
    before = replace(asked, messages=messages[:some], output_schema=data.draw(SCHEMAS))
    assert build(asked, endpoint, build(before, endpoint, None)).body == whole.body


def test_parts_stand_before_the_text_in_the_form_of_each_wire() -> None:
    said = "File 'note.md':\n# Note"
    body = check_openai(openai_chat.build_request(prompt(LOOK), OPENAI, None).body)
    assert body["messages"][1]["content"] == [
        {"type": "text", "text": said},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,UERG"}},
        {"type": "text", "text": "Look."},
    ]
    body = check_responses(openai_responses.build_request(prompt(LOOK), RESPONSES, None).body)
    assert body["input"][0]["content"] == [
        {"type": "input_text", "text": said},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,UE5H"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,UERG"},
        {"type": "input_text", "text": "Look."},
    ]
    body = check_anthropic(anthropic.build_request(prompt(LOOK), ANTHROPIC, None).body)
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": said},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "UE5H"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "UERG"},
            "title": "a.pdf",
        },
        {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
    ]
    body = check_gemini(gemini.build_request(prompt(LOOK), GEMINI, None).body)
    assert body["contents"][0]["parts"] == [
        {"text": said},
        {"inlineData": {"mimeType": "image/png", "data": "UE5H"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "UERG"}},
        {"text": "Look."},
    ]


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
def test_an_input_may_be_nothing_but_an_image(build: Build, endpoint: Endpoint, check: Check) -> None:
    request = build(prompt(UserMessage(text="", parts=(IMAGE,))), endpoint, None)
    check(request.body)
    assert b"UE5H" in request.body
    assert b"(no text)" not in request.body


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
def test_what_a_model_cannot_see_is_named_to_it(build: Build, endpoint: Endpoint, check: Check) -> None:
    """A session that was begun with another model goes on, and nothing is passed over in silence."""
    blind = replace(endpoint, dialect=replace(endpoint.dialect, media=False))
    request = build(prompt(LOOK), blind, None)
    check(request.body)
    assert b"UE5H" not in request.body
    assert b"['a.png' (image/png) was attached here; it cannot be shown to you]" in request.body
    assert b"# Note" in request.body


def test_a_model_that_knows_only_text_gets_text() -> None:
    acts = as_actions(prompt(LOOK, tools=()))
    assert acts.messages == [
        UserMessage(
            text="File 'note.md':\n# Note\n\n"
            "['a.png' (image/png) was attached here; it cannot be shown to you]\n\n"
            "['a.pdf' (application/pdf) was attached here; it cannot be shown to you]\n\nLook."
        )
    ]


@pytest.mark.parametrize(
    ("part", "refused"),
    [
        (NOTE, set[str]()),
        (IMAGE, {"deepseek"}),
        (PDF, {"deepseek"}),
        (SOUND, {"openai", "openai-responses", "anthropic", "deepseek"}),
        (replace(IMAGE, media_type="image/heic"), {"openai", "openai-responses", "anthropic", "deepseek"}),
        (replace(IMAGE, media_type="image/gif"), {"gemini", "deepseek"}),
    ],
)
def test_each_wire_says_what_it_does_not_take(part: InputPart, refused: set[str]) -> None:
    found: set[str] = set()
    for provider in ("openai", "openai-responses", "anthropic", "gemini", "deepseek"):
        model = ModelChoice(provider=provider, name="m", wire="")
        try:
            check_parts([part], model, known_endpoints()[provider])
        except ConfigError:
            found.add(provider)
    assert found == refused


def test_a_refusal_names_the_file_the_model_and_what_it_takes() -> None:
    model = ModelChoice(provider="anthropic", name="m", wire="anthropic")
    with pytest.raises(ConfigError) as caught:
        check_parts([SOUND], model, known_endpoints()["anthropic"])
    assert str(caught.value) == (
        "'a.mp3' (audio/mpeg) cannot be sent to 'anthropic:m', which takes text files, image/(png|jpeg|gif|webp) and "
        "PDF; leave it out, or choose another model"
    )
    with pytest.raises(ConfigError, match="'cohere:m', which takes only text files; leave it out"):
        check_parts([IMAGE], ModelChoice(provider="cohere", name="m", wire="pydantic-ai"), None)


# --- the schema of the answer -----------------------------------------------------------------------------------------


def sent(build: Build, endpoint: Endpoint, schema: Any, model: str = "m", **parameters: Any) -> dict[str, Any]:
    """What a request without tools says beside its messages."""
    chosen = replace(choice(endpoint.wire, **parameters), name=model)
    asked = replace(prompt(UserMessage(text="hi"), tools=(), model=chosen), output_schema=schema)
    body = json.loads(build(asked, holding(endpoint), None).body)
    return {key: body[key] for key in body if key not in {"messages", "input", "contents", "systemInstruction"}}


OPEN: JsonObject = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
LIMITED: JsonObject = {**OPEN, "required": ["n"], "additionalProperties": False}
LIST: JsonObject = {"type": "array", "items": {"type": "string"}}


def _inner(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    of_object = st.dictionaries(st.sampled_from(["a", "b"]), parts, max_size=2).map(
        lambda properties: {
            "type": "object",
            "properties": properties,
            "required": sorted(properties),
            "additionalProperties": False,
        }
    )
    of_list = parts.map(lambda items: {"type": ["array", "null"], "items": items, "maxItems": 3})
    return of_object | of_list | st.lists(parts, min_size=1, max_size=2).map(lambda options: {"anyOf": options})


LEAVES: list[Any] = [TEXT, {"type": "integer", "minimum": 1}, {"enum": ["x", None]}, {"type": "boolean", "title": "t"}]
ODD_LEAVES: list[Any] = [True, {}, {"type": "object"}, {"type": "array"}, {"not": {}}, {"$ref": "#"}]
MOSTLY_CLOSED = st.recursive(st.sampled_from(LEAVES * 4 + ODD_LEAVES), _inner, max_leaves=5)


@given(schema=PARAMETERS | MOSTLY_CLOSED)
def test_any_schema_of_an_answer_is_sent_as_the_wire_takes_it_or_not_at_all(schema: dict[str, Any]) -> None:
    plain, closed = answer_schema(schema), closed_schema(schema)
    assert plain is None or schema_problems(plain) == []
    assert plain is None or not is_strict(plain) or strict_problems(plain) == []
    assert closed is None or closed_problems(closed) == []
    assert gemini_schema_problems(gemini_answer_schema(schema)) == []


def test_the_openai_wires_hold_the_answer_to_its_schema() -> None:
    """Strict only where that changes nothing; an answer that is no object is only asked for in words."""
    build, other = openai_chat.build_request, openai_responses.build_request
    strict = sent(build, OPENAI, PERSON)["response_format"]
    assert strict == {"type": "json_schema", "json_schema": {"name": "answer", "schema": PERSON, "strict": True}}
    loose = sent(build, OPENAI, OPEN)["response_format"]
    assert loose == {"type": "json_schema", "json_schema": {"name": "answer", "schema": OPEN}}
    strict = sent(other, RESPONSES, PERSON, text={"verbosity": "low"})["text"]
    assert strict == {
        "format": {"type": "json_schema", "name": "answer", "schema": PERSON, "strict": True},
        "verbosity": "low",
    }
    assert sent(other, RESPONSES, OPEN)["text"]["format"]["strict"] is False
    refused: list[Any] = [LIST, {"anyOf": [PERSON]}, {"type": "object", "anyOf": [PERSON]}]
    for schema in refused:
        assert "response_format" not in sent(build, OPENAI, schema)
        assert "text" not in sent(other, RESPONSES, schema)


def test_the_anthropic_wire_holds_closed_objects_and_leaves_limits_to_the_check() -> None:
    build = anthropic.build_request
    held = sent(build, ANTHROPIC, LIMITED, output_config={"effort": "low"})["output_config"]
    closed = {**LIMITED, "properties": {"n": {"type": "integer"}}}
    assert held == {"format": {"type": "json_schema", "schema": closed}, "effort": "low"}
    either: dict[str, Any] = {**LIMITED, "properties": {"n": {"anyOf": [PERSON, {"type": "null"}]}}}
    assert sent(build, ANTHROPIC, either)["output_config"]["format"]["schema"] == either
    inner_open = {**LIMITED, "properties": {"n": {"type": "object"}}}
    anything: dict[str, Any] = {**LIMITED, "properties": {"n": {}}}
    refused: list[Any] = [OPEN, LIST, inner_open, anything, {**LIMITED, "patternProperties": {}}]
    for schema in refused:
        assert "output_config" not in sent(build, ANTHROPIC, schema)
    for model, is_held in {
        "claude-3-7-sonnet-latest": False,
        "claude-sonnet-4-0": False,
        "claude-opus-4-20250514": False,
        "claude-opus-4-1-20250805": True,
        "claude-sonnet-4-5": True,
        "claude-haiku-5-5": True,
    }.items():
        assert ("output_config" in sent(build, ANTHROPIC, PERSON, model)) == is_held, model


def test_gemini_holds_any_answer_but_with_tools_only_in_models_that_take_both() -> None:
    build = gemini.build_request
    config = sent(build, GEMINI, LIST, max_tokens=9)["generationConfig"]
    assert config == {"maxOutputTokens": 9, "responseMimeType": "application/json", "responseJsonSchema": LIST}
    own = sent(build, GEMINI, LIST, responseMimeType="text/x.enum")["generationConfig"]
    assert own == {"responseMimeType": "text/x.enum"}
    for model, is_held in {"gemini-2.5-pro": False, "gemini-3-pro": True, "models/gemini-3.5-flash": True}.items():
        chosen = replace(choice("gemini"), name=model)
        asked = replace(prompt(UserMessage(text="hi"), model=chosen), output_schema=PERSON)
        body = check_gemini(build(asked, holding(GEMINI), None).body)
        assert ("generationConfig" in body) == is_held, model
        assert body["tools"]


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
def test_a_schema_changes_only_the_head_and_only_where_the_dialect_says_so(
    build: Build, endpoint: Endpoint, check: Check
) -> None:
    messages = (UserMessage(text="hi"), Reply(text="", calls=(call(),)), answer())
    asked = prompt(*messages, model=replace(choice(endpoint.wire), name="gemini-3-pro"))
    held = replace(asked, output_schema=PERSON)
    key = {"openai-chat": b'"messages"', "openai-responses": b'"input"', "gemini": b'"contents"'}.get(
        endpoint.wire, b'"system"'
    )
    without, with_schema = (build(each, holding(endpoint), None).body for each in (asked, held))
    check(with_schema)
    assert without != with_schema
    assert without.partition(key)[2] == with_schema.partition(key)[2]
    assert build(held, endpoint, None).body == build(asked, endpoint, None).body
    assert build(held, holding(endpoint), build(asked, holding(endpoint), None)).body == with_schema


def test_providers_that_are_known_to_hold_a_schema_are_asked_to() -> None:
    asked = {name for name, endpoint in known_endpoints().items() if endpoint.dialect.structured_output}
    assert asked == {"openai", "openai-responses", "anthropic", "gemini", "openrouter"}
    assert Dialect().structured_output is False


# --- over sockets -----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("wire", get_args(Wire))
async def test_a_conversation_with_images_and_a_schema_is_taken_by_the_strict_provider(wire: Wire) -> None:
    """O-17, Y-9: the text that a script sees of an input is still what the person wrote."""
    rules = [{"when": {"input": "Look"}, "reply": {"text": "A cat."}}]
    async with FakeModelServer({"rules": rules, "replies_tail": {"text": "You said: {input}"}}) as server:
        dialect = Dialect(structured_output=True)
        endpoint = Endpoint(provider="fake", wire=wire, base_url=f"{server.base_url}/v1", dialect=dialect)
        registry = HttpModels({"fake": endpoint}, {"UNUSED": ""}.get)
        model = registry.get(choice(wire))
        seen = UserMessage(text="Look.", parts=(IMAGE, PDF))
        asked = replace(prompt(seen, tools=()), output_schema=PERSON)
        first = model.build_request(asked, None)
        reply = await model.reply(first, lambda _: None)
        again = replace(asked, messages=[seen, reply, UserMessage(text="And?")])
        last = await model.reply(model.build_request(again, first), lambda _: None)
        await registry.close()
    assert [request.broken for request in server.requests] == [(), ()]
    assert (reply.text, last.text) == ("A cat.", "You said: And?")
    assert all(part in request.body for request in server.requests for part in (b"UE5H", b"UERG", b'"ages"'))


def test_the_official_sdks_accept_what_is_sent() -> None:
    """Each body goes through the SDK's own types for requests, which drop what they do not know, and is the same."""
    from anthropic.types.message_create_params import MessageCreateParamsStreaming
    from google.genai import types
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
    from pydantic import TypeAdapter

    asked = replace(prompt(LOOK, Reply(text="A cat."), LOOK), output_schema=PERSON, tools=())
    shapes: list[tuple[Build, Endpoint, Any]] = [
        (openai_chat.build_request, OPENAI, CompletionCreateParamsStreaming),
        (openai_responses.build_request, RESPONSES, ResponseCreateParamsStreaming),
        (anthropic.build_request, ANTHROPIC, MessageCreateParamsStreaming),
    ]
    for build, endpoint, shape in shapes:
        body = json.loads(build(asked, holding(endpoint), None).body)
        adapter: TypeAdapter[Any] = TypeAdapter(shape)
        assert unpacked(adapter.validate_python(body)) == body
    body = json.loads(gemini.build_request(asked, holding(GEMINI), None).body)
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    data = [part.inline_data.data for part in contents[0].parts or [] if part.inline_data]
    assert data == [b"PNG", b"PDF"]
    config = types.GenerationConfig.model_validate(body["generationConfig"])
    assert config.response_mime_type == "application/json"
    assert config.response_json_schema == {key: PERSON[key] for key in ("type", "properties", "required")}


def unpacked(value: Any) -> Any:
    """JSON again, out of lists that are validated as they are read."""
    if isinstance(value, dict):
        return {key: unpacked(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [unpacked(item) for item in cast("Iterable[Any]", value)]
    return value
