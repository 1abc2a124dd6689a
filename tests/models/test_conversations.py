"""Whole conversations with the strict fake provider over real sockets, on every wire, streamed and plain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from oribi.core.calls import Malformed, Succeeded
from oribi.core.errors import FaultKind, ModelError
from oribi.core.messages import Message, Reply, ToolMessage, Usage, UserMessage
from oribi.models.endpoints import Dialect, Endpoint, Wire
from oribi.models.registry import HttpModels
from oribi.ports import Delta, Model, ReasoningDelta, Request, TextDelta
from oribi.testing import FakeModelServer
from tests.models.samples import choice, prompt

STREAMED = Dialect(prompt_cache=True)
PLAIN = Dialect(prompt_cache=True, stream=False)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("wire", get_args(Wire)),
    pytest.mark.parametrize("dialect", [STREAMED, PLAIN], ids=["streamed", "plain"]),
]

USAGE = {"input_tokens": 20, "output_tokens": 7, "cached_tokens": 16}
REPLIES: list[Any] = [
    {
        "text": "Looking, é🍸.",
        "reasoning": "Where?",
        "calls": [
            {"name": "read_file", "arguments": {"path": "a.log"}},
            {"name": "server__tool", "arguments": {"deep": {"list": [1, 2.5, None, "ü"]}}},
            {"name": "read_file", "arguments": '{"cut'},
            {"name": "no_such_tool", "arguments": {}},
        ],
        "usage": USAGE,
    },
    {"text": ""},
    {"text": "It says 502.", "usage": USAGE},
]
SCRIPT = {"replies": REPLIES, "order": "requests"}


def models(server: FakeModelServer, wire: Wire, dialect: Dialect, *, idle_seconds: float = 20) -> HttpModels:
    endpoint = Endpoint(provider="fake", wire=wire, base_url=f"{server.base_url}/v1", dialect=dialect)
    return HttpModels({"fake": endpoint}, {"UNUSED": ""}.get, idle_seconds=idle_seconds)


async def converse(model: Model, *inputs: str) -> tuple[list[Message], list[Delta]]:
    """A loop in small: every call is answered, every input ends with a reply without calls."""
    messages: list[Message] = []
    deltas: list[Delta] = []
    previous: Request | None = None
    for text in inputs:
        messages.append(UserMessage(text=text))
        while True:
            previous = model.build_request(prompt(*messages), previous)
            reply = await model.reply(previous, deltas.append)
            messages.append(reply)
            if not reply.calls:
                break
            messages += [
                ToolMessage(call_id=call.id, name=call.name, result=Succeeded(text=f"result of {call.name}"))
                for call in reply.calls
            ]
    return messages, deltas


async def test_a_conversation_with_calls_keeps_every_rule_to_its_end(wire: Wire, dialect: Dialect) -> None:
    """O-17, O-33, O-34, Y-9, Y-10: structured calls and results matched by id; one request for each ask, no more."""
    async with FakeModelServer(SCRIPT) as server:
        registry = models(server, wire, dialect)
        messages, deltas = await converse(registry.get(choice(wire)), "Check.", "Well?")
        await registry.close()
        server.check_used()
    assert [request.broken for request in server.requests] == [(), (), ()]
    assert all(request.streamed == dialect.stream for request in server.requests)
    first, last = messages[1], messages[-1]
    assert isinstance(first, Reply)
    assert isinstance(last, Reply)
    assert (first.text, first.reasoning, first.stop) == ("Looking, é🍸.", "Where?", "tool_calls")
    assert [call.name for call in first.calls] == ["read_file", "server/tool", "read_file", "no_such_tool"]
    assert first.calls[1].arguments == {"deep": {"list": [1, 2.5, None, "ü"]}}
    assert isinstance(first.calls[2].arguments, Malformed)
    usage = Usage(input_tokens=20, output_tokens=7, cached_tokens=16)
    assert replace(first.usage, cache_write_tokens=None, reasoning_tokens=None) == usage
    assert last.text == "It says 502."
    if dialect.stream:
        shown = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
        assert shown == "Looking, é🍸.It says 502."
        assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == "Where?"


async def test_the_key_goes_in_the_header_of_its_wire_and_the_model_where_it_belongs(
    wire: Wire, dialect: Dialect
) -> None:
    async with FakeModelServer(["Hello."]) as server:
        base_url = f"{server.base_url}/api/paas/v4"  # any version, any prefix
        endpoint = Endpoint(provider="fake", wire=wire, base_url=base_url, key_env="KEY", dialect=dialect)
        registry = HttpModels({"fake": endpoint}, {"KEY": "sk-1"}.get)
        await converse(registry.get(choice(wire)), "Hello.")
        await registry.close()
    headers, path = server.requests[0].headers, server.requests[0].path
    method = "streamGenerateContent?alt=sse" if dialect.stream else "generateContent"
    expected: dict[Wire, tuple[str, str, str]] = {
        "openai-chat": ("authorization", "Bearer sk-1", "/chat/completions"),
        "openai-responses": ("authorization", "Bearer sk-1", "/responses"),
        "anthropic": ("x-api-key", "sk-1", "/messages"),
        "gemini": ("x-goog-api-key", "sk-1", f"/models/fake-1:{method}"),
    }
    name, value, end = expected[wire]
    assert headers[name] == value
    assert path == f"/api/paas/v4{end}"


@pytest.mark.parametrize("kind", ["auth", "rate", "overloaded", "context_length", "bad_request", "timeout"])
async def test_every_kind_of_fault_keeps_its_kind_over_the_wire(wire: Wire, dialect: Dialect, kind: FaultKind) -> None:
    """O-33, Y-10: and nothing is asked twice."""
    script = [{"fails": {"kind": kind, "message": "the words of the provider", "retry_after_seconds": 3.0}}]
    async with FakeModelServer(script) as server:
        registry = models(server, wire, dialect, idle_seconds=0.3)
        with pytest.raises(ModelError) as caught:
            await converse(registry.get(choice(wire)), "Hello.")
        await registry.close()
    assert caught.value.kind == kind
    assert len(server.requests) == 1
