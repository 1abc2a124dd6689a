"""Requests of every wire: accepted by its strict rules whatever the history holds, and encoded once."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from oribi.core.calls import Denied, Malformed, ToolSpec
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models import anthropic, gemini, openai_chat, openai_responses
from oribi.models.endpoints import Dialect, Endpoint
from oribi.models.request import EncodedRequest
from oribi.ports import Request
from tests.models.samples import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    PREFIXED,
    READ,
    RESPONSES,
    TEXTS,
    TOOLS,
    Turn,
    answer,
    anthropic_request,
    call,
    check_anthropic,
    check_gemini,
    check_openai,
    check_responses,
    choice,
    histories,
    openai_request,
    prompt,
)

Build = Callable[[Prompt, Endpoint, Request | None], EncodedRequest]
WIRES = [
    pytest.param(openai_chat.build_request, OPENAI, check_openai, id="openai-chat"),
    pytest.param(openai_responses.build_request, RESPONSES, check_responses, id="openai-responses"),
    pytest.param(anthropic.build_request, ANTHROPIC, check_anthropic, id="anthropic"),
    pytest.param(gemini.build_request, GEMINI, check_gemini, id="gemini"),
]


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
@given(history=histories(), tools=TOOLS, system=TEXTS)
def test_any_history_keeps_the_strict_rules_of_the_wire(
    build: Build,
    endpoint: Endpoint,
    check: Callable[[bytes], dict[str, Any]],
    history: list[Turn],
    tools: tuple[ToolSpec, ...],
    system: str,
) -> None:
    """O-17, Y-9: results answer calls by id, and the translation layer takes in every difference."""
    messages = [message for turn in history for message in turn.messages]
    check(build(prompt(*messages, tools=tools, system=system), endpoint, None).body)


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
@settings(max_examples=40)
@given(data=st.data())
def test_a_request_has_the_same_bytes_with_and_without_the_one_before(
    build: Build, endpoint: Endpoint, check: Callable[[bytes], dict[str, Any]], data: st.DataObject
) -> None:
    """A session grows turn by turn; turns leave in front; now and then the system text or the tools change."""
    session: list[Message] = []
    starts: list[int] = []
    system, tools = "system", (READ,)
    previous: EncodedRequest | None = None
    for turn in data.draw(histories(max_size=5)):
        starts.append(len(session))
        first = starts[data.draw(st.integers(max(0, len(starts) - 3), len(starts) - 1))]
        if previous is not None:
            first = max(first, previous.kept.first)
        if data.draw(st.booleans()):
            system = data.draw(st.sampled_from(["", "system", "another"]))
            tools = data.draw(st.sampled_from([(READ,), (READ, PREFIXED), ()]))
        for size in range(1, len(turn.messages) + 1):
            session.append(turn.messages[size - 1])
            if isinstance(session[-1], Reply) and session[-1].calls:
                continue  # core asks again when every call is answered
            asked = prompt(*session[first:], first=first, system=system, tools=tools)
            fresh = build(asked, endpoint, None)
            request = build(asked, endpoint, previous)
            if not _has_open_calls(session):
                check(request.body)
            assert request.body == fresh.body
            assert request.sha256 == fresh.sha256 == hashlib.sha256(request.body).hexdigest()
            assert request.prefix_bytes == fresh.prefix_bytes
            assert build(asked, endpoint, previous).sha256 == request.sha256, "asking again changed the one before"
            assert request.reply_index == len(session)
            previous = request


def _has_open_calls(session: list[Message]) -> bool:
    answered = 0
    for message in reversed(session):
        if isinstance(message, ToolMessage):
            answered += 1
        elif isinstance(message, Reply):
            return len(message.calls) > answered
        else:
            return False
    return False


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
@settings(max_examples=40)
@given(history=histories(min_size=2, max_size=4))
def test_a_body_extends_the_prefix_of_the_one_before(
    build: Build, endpoint: Endpoint, check: Callable[[bytes], dict[str, Any]], history: list[Turn]
) -> None:
    """Guards the cached prefix, the provider's and ours: what was sent is sent again, then come new messages."""
    messages: list[Message] = []
    previous: EncodedRequest | None = None
    for turn in history:
        messages += turn.messages
        request = build(prompt(*messages), endpoint, previous)
        check(request.body)
        if previous is not None:
            assert request.body.startswith(previous.body[: previous.prefix_bytes])
            assert request.prefix_bytes > previous.prefix_bytes
        previous = request


@pytest.mark.parametrize(("build", "endpoint", "check"), WIRES)
def test_a_step_late_in_a_long_session_makes_as_many_calls_as_an_early_one(
    build: Build, endpoint: Endpoint, check: Callable[[bytes], dict[str, Any]]
) -> None:
    messages: list[Message] = [UserMessage(text="go")]
    counts: list[int] = []
    for step in range(1_000):
        messages += [
            Reply(text="", calls=(call(f"c{step}", arguments={"path": "x" * 200}),)),
            answer(f"c{step}", "y" * 256),
        ]
        if step in (10, 999):
            previous = build(prompt(*messages[:-2]), endpoint, None)
            asked = prompt(*messages)
            counts.append(calls_made(lambda asked=asked, previous=previous: build(asked, endpoint, previous)))
            check(build(asked, endpoint, previous).body)
    early, late = counts
    assert late <= early + 5


def calls_made(act: Callable[[], object]) -> int:
    """How many functions `act` calls, Python's and C's: what does not depend on how busy the machine is."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def test_messages_that_are_not_the_kept_ones_are_encoded_anew() -> None:
    previous = openai_request(UserMessage(text="one"), Reply(text="two"), UserMessage(text="three"))
    asked = prompt(UserMessage(text="1"), Reply(text="2"), UserMessage(text="3"), UserMessage(text="4"))
    assert (
        openai_chat.build_request(asked, OPENAI, previous).body == openai_chat.build_request(asked, OPENAI, None).body
    )


def test_a_request_of_another_wire_or_endpoint_is_no_help() -> None:
    asked = prompt(
        UserMessage(text="one"), Reply(text="two", wire="openai-chat", model="fake:m", raw={"message": {"k": 1}})
    )
    other = Endpoint(provider="other", wire="openai-chat", base_url="http://127.0.0.1:1/v1")
    for previous in (anthropic_request(), openai_chat.build_request(asked, OPENAI, None)):
        request = openai_chat.build_request(asked, other, previous)
        assert request.body == openai_chat.build_request(asked, other, None).body


CONVERSATION = (
    UserMessage(text="Check the log."),
    Reply(
        text="I will look.",
        calls=(
            call("c1", "read_file", {"path": "a.log"}),
            call("c2", "server/tool", Malformed(text='{"cut', problem="cut")),
        ),
    ),
    answer("c1", "502 502"),
    ToolMessage(call_id=call("c2").id, name="server/tool", result=Denied(reason="no", rule="r")),
    Reply(text="  "),
    UserMessage(text="Well?"),
)


def test_the_openai_body_as_it_is_sent() -> None:
    """O-17, Y-9."""
    request = openai_chat.build_request(
        prompt(*CONVERSATION, model=choice(temperature=0.5, max_tokens=100)), OPENAI, None
    )
    body = json.loads(request.body)
    assert list(body) == ["model", "stream", "stream_options", "max_tokens", "temperature", "tools", "messages"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["read_file", "server__tool"]
    assert body["messages"] == snapshot(
        [
            {"role": "system", "content": "You are careful."},
            {"role": "user", "content": "Check the log."},
            {
                "role": "assistant",
                "content": "I will look.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"path":"a.log"}'},
                    },
                    {"id": "c2", "type": "function", "function": {"name": "server__tool", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "502 502"},
            {"role": "tool", "tool_call_id": "c2", "content": "Not run (r): no"},
            {"role": "user", "content": "Well?"},
        ]
    )


def test_the_anthropic_body_as_it_is_sent() -> None:
    """O-17, Y-9: results come first in one user message, the input that follows is its last block."""
    request = anthropic.build_request(prompt(*CONVERSATION, model=choice("anthropic")), ANTHROPIC, None)
    body = json.loads(request.body)
    assert list(body) == ["model", "stream", "max_tokens", "tools", "system", "messages"]
    assert body["max_tokens"] == 8192
    assert body["messages"] == snapshot(
        [
            {"role": "user", "content": [{"type": "text", "text": "Check the log."}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I will look."},
                    {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.log"}},
                    {"type": "tool_use", "id": "c2", "name": "server__tool", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "502 502"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "Not run (r): no", "is_error": True},
                    {"type": "text", "text": "Well?", "cache_control": {"type": "ephemeral"}},
                ],
            },
        ]
    )


def test_thinking_goes_back_unchanged_to_its_provider_and_nowhere_else() -> None:
    """Y-9: blocks that only their provider understands are not rendered for another one."""
    thoughts = [
        {"type": "thinking", "thinking": "first  thought\n", "signature": "SIG_a+/=="},
        {"type": "thinking", "thinking": "", "signature": "SIG_b=="},
        {"type": "redacted_thinking", "data": "UkVEQUNURUQ="},
    ]
    body = json.dumps(
        {
            "content": [
                *thoughts,
                {"type": "text", "text": " "},
                {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}},
            ],
            "stop_reason": "tool_use",
        }
    ).encode()
    reply = anthropic.parse_response(body, anthropic_request())
    messages = (UserMessage(text="hi"), reply, answer("toolu_1"))
    assert reply.text == " "
    own = check_anthropic(anthropic.build_request(prompt(*messages), ANTHROPIC, None).body)
    assert own["messages"][1]["content"] == [
        *thoughts,
        {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}},
    ]
    elsewhere = Endpoint(provider="else", wire="anthropic", base_url="http://127.0.0.1:1/v1")
    foreign = check_anthropic(anthropic.build_request(prompt(*messages), elsewhere, None).body)
    assert [block["type"] for block in foreign["messages"][1]["content"]] == ["tool_use"]
    assert b"thought" not in openai_chat.build_request(prompt(*messages), OPENAI, None).body


def test_reasoning_details_and_call_signatures_go_back_to_their_provider() -> None:
    details = [{"type": "reasoning.encrypted", "data": "abc", "index": 0}]
    signature = {"google": {"thought_signature": "sig"}}
    body = json.dumps(
        {
            "choices": [
                {
                    "message": {
                        "content": None,
                        "reasoning_details": details,
                        "tool_calls": [
                            {"id": "c1", "function": {"name": "read_file"}},
                            {"id": "c2", "function": {"name": "read_file"}, "extra_content": signature},
                        ],
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        }
    ).encode()
    reply = openai_chat.parse_response(body, openai_request())
    messages = (UserMessage(text="hi"), reply, answer("c1"), answer("c2"))
    sent = check_openai(openai_chat.build_request(prompt(*messages), OPENAI, None).body)["messages"][2]
    assert sent["reasoning_details"] == details
    assert [each.get("extra_content") for each in sent["tool_calls"]] == [None, signature]


def test_reasoning_that_led_to_calls_comes_back_where_the_dialect_wants_it() -> None:
    endpoint = Endpoint(
        provider="fake",
        wire="openai-chat",
        base_url="http://127.0.0.1:1",
        dialect=Dialect(reasoning_back="reasoning_content"),
    )
    led = Reply(text="", calls=(call(),), wire="openai-chat", model="fake:m", reasoning="because")
    told = Reply(text="done", wire="openai-chat", model="fake:m", reasoning="because")
    body = openai_chat.build_request(prompt(UserMessage(text="hi"), led, answer(), told), endpoint, None).body
    assert [message.get("reasoning_content") for message in json.loads(body)["messages"]] == [
        None,
        None,
        "because",
        None,
        None,
    ]


def test_a_dialect_names_the_output_limit_and_can_do_without_a_stream() -> None:
    endpoint = Endpoint(
        provider="fake",
        wire="openai-chat",
        base_url="http://127.0.0.1:1",
        dialect=Dialect(stream=False, max_tokens_field="max_completion_tokens"),
    )
    model = choice(max_tokens=9, reasoning_effort="low", temperature=None, stream=True)
    body = json.loads(
        openai_chat.build_request(prompt(UserMessage(text="hi"), model=model, tools=()), endpoint, None).body
    )
    del body["messages"]
    assert body == {"model": "fake-1", "stream": False, "max_completion_tokens": 9, "reasoning_effort": "low"}


def test_a_history_with_calls_still_names_a_tool_when_the_agent_has_none_left() -> None:
    """The Anthropic wire refuses such a history otherwise, on every later turn."""
    messages = (UserMessage(text="hi"), Reply(text="", calls=(call(),)), answer(), UserMessage(text="and now?"))
    body = check_anthropic(anthropic.build_request(prompt(*messages, tools=()), ANTHROPIC, None).body)
    assert body["tool_choice"] == {"type": "none"}


def test_the_cache_marks_stand_at_the_end_of_the_system_text_and_of_the_last_message() -> None:
    request = anthropic_request(UserMessage(text="hi"), Reply(text="", calls=(call(),)), answer())
    body = json.loads(request.body)
    assert "cache_control" in body["system"][-1]
    assert ["cache_control" in message["content"][-1] for message in body["messages"]] == [False, False, True]
    assert b"cache_control" not in request.body[: request.prefix_bytes].partition(b'"messages"')[2]


def test_adapters_know_nothing_of_each_other() -> None:
    """Y-9: the translation layer stands alone; of oribi it imports only core, the ports and itself."""
    import ast
    from pathlib import Path

    import oribi.models

    for file in Path(oribi.models.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("oribi"):
                assert node.module == "oribi.ports" or node.module.startswith(("oribi.core.", "oribi.models")), file
            elif isinstance(node, ast.Import):
                assert not any(alias.name.startswith("oribi") for alias in node.names), file
