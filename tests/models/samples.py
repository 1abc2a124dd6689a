"""Prompts and conversations for the wire tests: a few plain ones, and any that core can build, odd text included."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from oribi.core.calls import CallId, Denied, Failed, JsonObject, Malformed, Succeeded, ToolCall, ToolSpec, Unknown
from oribi.core.messages import Message, ModelChoice, Reply, ToolMessage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models import anthropic, gemini, openai_chat, openai_responses
from oribi.models.endpoints import Dialect, Endpoint
from oribi.models.request import EncodedRequest
from oribi.testing import broken_rules

OPENAI = Endpoint(provider="fake", wire="openai-chat", base_url="http://127.0.0.1:1/v1")
ANTHROPIC = Endpoint(
    provider="fake", wire="anthropic", base_url="http://127.0.0.1:1/v1", dialect=Dialect(prompt_cache=True)
)
RESPONSES = Endpoint(
    provider="fake", wire="openai-responses", base_url="http://127.0.0.1:1/v1", dialect=Dialect(strict_tools=True)
)
GEMINI = Endpoint(provider="fake", wire="gemini", base_url="http://127.0.0.1:1/v1beta")

READ = ToolSpec(
    name="read_file",
    description="Read a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
PREFIXED = ToolSpec(name="server/tool", description="A tool of a server.", parameters={"type": "object"})


def choice(wire: str = "openai-chat", **parameters: Any) -> ModelChoice:
    return ModelChoice(provider="fake", name="fake-1", wire=wire, parameters=parameters)


def prompt(
    *messages: Message,
    system: str = "You are careful.",
    tools: tuple[ToolSpec, ...] = (READ, PREFIXED),
    first: int = 0,
    model: ModelChoice | None = None,
) -> Prompt:
    return Prompt(
        model=model or choice(),
        system=system,
        messages=list(messages),
        tools=tools,
        first=first,
        history_turns=0,
        turns_left_out=0,
        memory_characters=0,
    )


def call(identifier: str = "c1", name: str = "read_file", arguments: JsonObject | Malformed | None = None) -> ToolCall:
    return ToolCall(id=CallId(identifier), name=name, arguments={} if arguments is None else arguments)


def answer(identifier: str = "c1", text: str = "result", name: str = "read_file") -> ToolMessage:
    return ToolMessage(call_id=CallId(identifier), name=name, result=Succeeded(text=text))


def check_openai(body: bytes) -> dict[str, Any]:
    """The request in `body`, which keeps every strict rule."""
    assert broken_rules("openai", body) == []
    return json.loads(body)


def check_anthropic(body: bytes) -> dict[str, Any]:
    """The request in `body`, which keeps every strict rule, and three that the fake provider does not ask for."""
    assert broken_rules("anthropic", body) == []
    request: dict[str, Any] = json.loads(body)
    blocks = [block for message in request["messages"] for block in message["content"]]
    roles = [message["role"] for message in request["messages"]]
    assert not any(before == after for before, after in pairwise(roles)), "two messages of one role in a row"
    assert body.count(b'"cache_control"') <= 4
    assert request.get("tools") or all(block["type"] != "tool_use" for block in blocks), "calls, and no tool"
    return request


def check_responses(body: bytes) -> dict[str, Any]:
    """The request in `body`, which keeps every strict rule, and stores nothing."""
    assert broken_rules("responses", body) == []
    request: dict[str, Any] = json.loads(body)
    assert request["store"] is False
    return request


def check_gemini(body: bytes) -> dict[str, Any]:
    """The request in `body`, which keeps every strict rule, and three that the fake provider does not ask for."""
    assert broken_rules("gemini", body) == []
    request: dict[str, Any] = json.loads(body)
    contents = request["contents"]
    assert contents[0]["role"] == "user"
    assert all(content["parts"] for content in contents)
    for asked, answered in pairwise(contents):
        calls = [part["functionCall"] for part in asked["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in answered["parts"] if "functionResponse" in part]
        assert [each.get("id") for each in results] == [each.get("id") for each in calls]
    for content in contents:
        kinds = {next(iter(part)) == "functionResponse" for part in content["parts"]}
        assert len(kinds) == 1, "results and words in one content"
    return request


def openai_request(*messages: Message) -> EncodedRequest:
    return openai_chat.build_request(prompt(*(messages or (UserMessage(text="hi"),))), OPENAI, None)


def anthropic_request(*messages: Message) -> EncodedRequest:
    return anthropic.build_request(prompt(*(messages or (UserMessage(text="hi"),))), ANTHROPIC, None)


def responses_request(*messages: Message) -> EncodedRequest:
    return openai_responses.build_request(prompt(*(messages or (UserMessage(text="hi"),))), RESPONSES, None)


def gemini_request(*messages: Message) -> EncodedRequest:
    return gemini.build_request(prompt(*(messages or (UserMessage(text="hi"),))), GEMINI, None)


# --- any conversation -------------------------------------------------------------------------------------------------

ANY_CHARACTER = st.characters(exclude_categories=())  # surrogates too
TEXTS = st.one_of(
    st.sampled_from(["", " ", "\n", "ok", "bad \ud83d end", "\ud83c\udf78", "\ufeff", "\x00"]), st.text(ANY_CHARACTER)
)
NAMES = st.one_of(
    st.sampled_from(["read_file", "server/tool", "server__tool", "a.b", "a_b", "", "é", "x" * 64, "y" * 90, "\udc00"]),
    st.text(ANY_CHARACTER, max_size=8),
)
IDS = st.one_of(
    st.sampled_from(["c1", "toolu_1", "functions.read:0", "call_1_0", "\ud800", "z" * 200]),
    st.text(ANY_CHARACTER, min_size=1, max_size=8),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(min_value=2**62, max_value=2**80), st.floats(), TEXTS
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
ARGUMENTS = st.one_of(
    st.dictionaries(TEXTS, VALUES, max_size=3), st.builds(Malformed, text=TEXTS, problem=st.just("broken"))
)
RESULTS = st.one_of(
    st.builds(Succeeded, text=TEXTS),
    st.builds(Failed, text=TEXTS),
    st.builds(Denied, reason=TEXTS, rule=st.just("rule")),
    st.builds(Unknown, reason=TEXTS),
)
BLOCKS = st.sampled_from(
    [
        {"type": "thinking", "thinking": "first  thought\n", "signature": "SIG_a+/=="},
        {"type": "thinking", "thinking": "", "signature": "SIG_b=="},
        {"type": "redacted_thinking", "data": "UkVEQUNURUQ="},
        {"type": "text", "text": "  "},
    ]
)

SOME_ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "RU5D"},
    {"type": "reasoning", "id": "rs_2", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
]
SOME_PARTS: list[dict[str, Any]] = [
    {"text": "", "thoughtSignature": "c2ln"},
    {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
    {"executableCode": {"language": "PYTHON", "code": "1"}},
]
ITEMS = st.sampled_from(SOME_ITEMS)
PARTS = st.sampled_from(SOME_PARTS)


def _items(text: str, calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "phase": "commentary"}
    said = [{**message, "content": [part]}] if text.strip() or not calls else []
    used = [
        {"type": "function_call", "id": "fc", "call_id": each.id, "name": each.name, "arguments": "{}"}
        for each in calls
    ]
    return [*said, *used]


def _parts(text: str, calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
    used: list[dict[str, Any]] = [
        {"functionCall": {"name": each.name, "args": {}}, "thoughtSignature": "c2ln"} for each in calls
    ]
    return [*([{"text": text}] if text else []), *used]


@dataclass(frozen=True)
class Turn:
    """The messages of one turn, as core makes them: an input, steps with every call answered, perhaps an answer."""

    messages: tuple[Message, ...]


@st.composite
def histories(draw: st.DrawFn, min_size: int = 1, max_size: int = 3) -> list[Turn]:
    """Turns as one session holds them: no call has the id of another, in whatever reply."""
    made = draw(st.lists(turns(), min_size=min_size, max_size=max_size))
    used: set[str] = set()
    history: list[Turn] = []
    for position, turn in enumerate(made):
        renamed: dict[str, str] = {}
        messages: list[Message] = []
        for message in turn.messages:
            if isinstance(message, Reply):
                renamed = {each.id: _unused(each.id, position, used) for each in message.calls}
                messages.append(
                    replace(message, calls=tuple(replace(each, id=CallId(renamed[each.id])) for each in message.calls))
                )
            elif isinstance(message, ToolMessage):
                messages.append(replace(message, call_id=CallId(renamed[message.call_id])))
            else:
                messages.append(message)
        history.append(Turn(messages=tuple(messages)))
    return history


def _unused(identifier: str, position: int, used: set[str]) -> str:
    """As the parsers do it: an id that was there before becomes one of our own."""
    seen = _seen_by_a_wire(identifier)
    made = identifier if seen not in used else f"call_{position}_{len(used)}"
    used.add(_seen_by_a_wire(made))
    return made


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    messages: list[Message] = [UserMessage(text=draw(TEXTS))]
    for _ in range(draw(st.integers(0, 3))):
        ids = draw(st.lists(IDS, min_size=1, max_size=3, unique_by=_seen_by_a_wire))
        calls = tuple(call(identifier, draw(NAMES), draw(ARGUMENTS)) for identifier in ids)
        messages.append(draw(replies(calls)))
        messages += [ToolMessage(call_id=each.id, name=each.name, result=draw(RESULTS)) for each in calls]
    if draw(st.booleans()):
        messages.append(draw(replies(())))
    return Turn(messages=tuple(messages))


@st.composite
def replies(draw: st.DrawFn, calls: tuple[ToolCall, ...]) -> Reply:
    text = draw(TEXTS)
    wire = draw(st.sampled_from(["openai-chat", "openai-responses", "anthropic", "gemini"]))
    raw: Any = None
    if draw(st.booleans()):
        thoughts = draw(st.lists(BLOCKS, min_size=1, max_size=3))
        used: list[dict[str, Any]] = [
            {"type": "tool_use", "id": each.id, "name": each.name, "input": {}} for each in calls
        ]
        own: dict[str, Any] = {
            "anthropic": [*thoughts, *([{"type": "text", "text": "said"}] if text.strip() else []), *used],
            "openai-chat": {
                "message": {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
                "calls": {"0": {"extra_content": {"google": {"thought_signature": "sig"}}}},
            },
            "openai-responses": [*draw(st.lists(ITEMS, max_size=2)), *_items(text, calls)],
            "gemini": [*draw(st.lists(PARTS, min_size=1, max_size=2)), *_parts(text, calls)],
        }
        raw = own[wire]
    model = draw(st.sampled_from(["fake:fake-1", "other:m"]))
    return Reply(text=text, calls=calls, wire=wire, model=model, reasoning=draw(TEXTS), raw=raw)


def _seen_by_a_wire(identifier: str) -> str:
    """Ids that differ only in lone surrogates do not reach a session: parsers clean them."""
    return identifier.encode("utf-8", "replace").decode()


TOOLS = st.lists(
    st.builds(
        ToolSpec,
        name=NAMES,
        description=TEXTS,
        parameters=st.sampled_from(
            [
                {},
                {"type": "object"},
                {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": ["array", "null"]}}},
                {
                    "type": "object",
                    "properties": {"n": {"$ref": "#/$defs/Node"}, "m": {"$ref": "#/$defs/None"}},
                    "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
                },
            ]
        ),
    ),
    max_size=4,
    unique_by=lambda tool: tool.name.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
).map(tuple)
