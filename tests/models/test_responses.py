"""The Responses wire: items as they came go back to their provider, and nothing that it would refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from oribi.core.calls import Malformed, ToolSpec
from oribi.core.errors import ModelError
from oribi.core.messages import Message, Reply, StopReason, Usage, UserMessage
from oribi.models import openai_responses
from oribi.models.endpoints import Endpoint
from oribi.models.stream import StreamReading
from oribi.ports import ReasoningDelta, TextDelta
from tests.models.samples import RESPONSES, answer, call, check_responses, choice, prompt, responses_request

REASONING: dict[str, Any] = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}],
    "encrypted_content": "RU5D",
}
SEARCH: dict[str, Any] = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"query": "q"}}


def message(text: str, **more: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": [part], **more}


def function(call_id: str = "c1", arguments: Any = '{"path": "a"}', name: str = "read_file") -> dict[str, Any]:
    return {"id": "fc_1", "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def plain(*items: dict[str, Any], **more: Any) -> Reply:
    body = {"object": "response", "status": "completed", "output": list(items), **more}
    return openai_responses.parse_response(json.dumps(body).encode(), responses_request())


def sent(*messages: Message, endpoint: Endpoint = RESPONSES) -> list[Any]:
    body = openai_responses.build_request(prompt(*messages), endpoint, None).body
    return check_responses(body)["input"]


def reading(*events: dict[str, Any]) -> StreamReading:
    stream = StreamReading(openai_responses.StreamAssembler(responses_request()))
    for event in events:
        stream.feed(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    return stream


def completed(*output: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": list(output)}}


def test_the_body_as_it_is_sent() -> None:
    """O-17, Y-9: nothing is stored there, so the reasoning travels encrypted."""
    model = choice("openai-responses", max_tokens=100, reasoning_effort="low", reasoning={"summary": "auto"})
    strict = ToolSpec(
        name="strict",
        description="",
        parameters={
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    )
    free = ToolSpec(
        name="a/b", description="", parameters={"type": "object", "additionalProperties": {"type": "string"}}
    )
    request = openai_responses.build_request(
        prompt(UserMessage(text="hi"), model=model, tools=(strict, free)), RESPONSES, None
    )
    body = check_responses(request.body)
    tools = body.pop("tools")
    assert body == {
        "model": "fake-1",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 100,
        "reasoning": {"effort": "low", "summary": "auto"},
        "instructions": "You are careful.",
        "input": [{"role": "user", "content": "hi"}],
    }
    assert [(tool["name"], tool["strict"]) for tool in tools] == [("strict", True), ("a__b", False)]
    assert tools[1]["parameters"]["additionalProperties"] == {"type": "string"}


@pytest.mark.parametrize(("name", "asked"), [("gpt-4.1", False), ("chatgpt-4o-latest", False), ("gpt-5-mini", True)])
def test_encrypted_reasoning_is_not_asked_of_models_that_refuse_to(name: str, asked: bool) -> None:  # noqa: FBT001 - a parameter of the table
    model = replace(choice("openai-responses"), name=name)
    body = openai_responses.build_request(prompt(UserMessage(text="hi"), model=model), RESPONSES, None).body
    assert (b"encrypted_content" in body) is asked


def test_items_go_back_as_they_came_to_their_provider_and_nowhere_else() -> None:
    """O-34, Y-9: encrypted reasoning and items we know nothing of, in their order; the call as our parts have it."""
    said = message("I look.", phase="commentary")
    reply = plain(REASONING, SEARCH, said, function())
    assert (reply.text, reply.reasoning) == ("I look.", "First.\n\nThen.")
    assert reply.calls == (call("c1", "read_file", {"path": "a"}),)
    history = (UserMessage(text="hi"), reply, answer("c1"))
    assert sent(*history)[1:-1] == [REASONING, SEARCH, said, function()]
    elsewhere = Endpoint(provider="else", wire="openai-responses", base_url="http://127.0.0.1:1/v1")
    assert sent(*history, endpoint=elsewhere)[1:-1] == [
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": '{"path":"a"}'},
    ]


def test_what_our_parts_can_say_is_not_kept_twice() -> None:
    assert plain(message("I look.", status="completed", phase=None), function()).raw is None
    assert plain(function(), message("Order counts.")).raw is not None


@pytest.mark.parametrize(
    "lost",
    [{**REASONING, "encrypted_content": None}, {"type": "reasoning", "id": "rs_1", "summary": []}],
)
def test_reasoning_of_which_nothing_was_stored_or_sent_is_neither_kept_nor_named(lost: dict[str, Any]) -> None:
    """Its provider refuses the id, and asks for it when it sees the ids of what it led to."""
    reply = plain(lost, SEARCH, function())
    assert sent(UserMessage(text="hi"), reply, answer("c1"))[1:-1] == [
        {key: value for key, value in item.items() if key != "id"} for item in (SEARCH, function())
    ]


def test_reasoning_in_the_open_goes_back_too() -> None:
    """As servers of open models give it."""
    thought: dict[str, Any] = {
        "type": "reasoning",
        "id": "rs",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }
    reply = plain(thought, function())
    assert reply.reasoning == "hm"
    assert sent(UserMessage(text="hi"), reply, answer("c1"))[1] == thought


def test_reasoning_that_the_limit_cut_off_from_its_end_is_not_kept() -> None:
    reply = plain(message("Half"), REASONING, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert (reply.stop, reply.raw) == ("length", None)
    assert sent(UserMessage(text="hi"), reply, UserMessage(text="go on"))[1]["content"] == "Half"


@pytest.mark.parametrize("arguments", ["", "null", None, '{"path"', "[]", '"{\\"a\\":1}"', '{"a":"\\ud83d"}'])
def test_arguments_go_back_as_the_text_of_an_object_whatever_came(arguments: Any) -> None:
    reply = plain(REASONING, function(arguments=arguments))
    item = sent(UserMessage(text="hi"), reply, answer("c1"))[2]
    assert isinstance(json.loads(item["arguments"]), dict)


def test_ids_of_other_providers_are_made_to_fit() -> None:
    long = Reply(text="", calls=(call("functions.read:0"), call("z" * 100)))
    items = sent(UserMessage(text="hi"), long, answer("functions.read:0"), answer("z" * 100))
    assert items[1]["call_id"] == items[3]["call_id"]
    assert items[2]["call_id"] == items[4]["call_id"] != items[1]["call_id"]
    assert all(item["call_id"].replace("_", "").isalnum() for item in items[1:])


@pytest.mark.parametrize(
    ("status", "reason", "items", "stop"),
    [
        ("completed", None, [message("x")], "stop"),
        ("completed", None, [function()], "tool_calls"),
        ("incomplete", "max_output_tokens", [message("x")], "length"),
        ("incomplete", "content_filter", [message("x")], "content_filter"),
        ("incomplete", "steered", [message("x")], "other"),
        ("cancelled", None, [message("x")], "other"),
    ],
)
def test_how_it_ended_is_read_from_the_status(
    status: str, reason: str | None, items: list[dict[str, Any]], stop: StopReason
) -> None:
    assert plain(*items, status=status, incomplete_details=reason and {"reason": reason}).stop == stop


def test_calls_of_a_reply_that_was_cut_off_do_not_run() -> None:
    """O-34: complete ones too, since the model had not finished."""
    reply = plain(function(), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert isinstance(reply.calls[0].arguments, Malformed)


def test_a_refusal_is_shown_as_text_that_the_filter_stopped() -> None:
    refusal = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}
    reply = plain(refusal)
    assert (reply.text, reply.stop) == ("I cannot.", "content_filter")
    parts = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**refusal, "content": []}},
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I cannot."},
        completed(),
    ]
    assert reading(*parts).finish() == reply


def test_usage_is_counted_whole_and_unknown_is_not_zero() -> None:
    usage = {
        "input_tokens": 20_000,
        "input_tokens_details": {"cached_tokens": 16_000, "cache_write_tokens": 2_000},
        "output_tokens": 500,
        "output_tokens_details": {"reasoning_tokens": 200},
    }
    assert plain(message("x"), usage=usage).usage == Usage(
        input_tokens=20_000, output_tokens=500, cached_tokens=16_000, cache_write_tokens=2_000, reasoning_tokens=200
    )
    assert plain(message("x"), usage=None).usage == Usage()
    assert plain(message("x"), usage={"input_tokens": 0, "output_tokens": 1}).usage == Usage(
        input_tokens=0, output_tokens=1
    )


# --- streams ----------------------------------------------------------------------------------------------------------


def delta(text: str, output: int = 0, kind: str = "output_text", **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": output, "delta": text, **more}


def added(item: dict[str, Any], output: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": output, "item": item}


def test_a_server_that_sends_only_fragments_is_understood() -> None:
    thought: dict[str, Any] = {"type": "reasoning", "id": "rs", "summary": []}
    reply = reading(
        added(thought),
        delta("First.", 0, "reasoning_summary_text", summary_index=0),
        delta("Then.", 0, "reasoning_summary_text", summary_index=1),
        added({"type": "message", "role": "assistant", "content": []}, 1),
        delta("I ", 1),
        delta("look.", 1),
        added(function(arguments=""), 2),
        delta('{"path":', 2, "function_call_arguments"),
        delta('"a"}', 2, "function_call_arguments"),
        completed(),
    ).finish()
    assert (reply.reasoning, reply.text) == ("First.\n\nThen.", "I look.")
    assert reply.calls == (call("c1", "read_file", {"path": "a"}),)


def test_the_whole_item_counts_and_not_its_first_shape() -> None:
    """The encrypted content in the first event may be incomplete."""
    first = {**REASONING, "encrypted_content": "R"}
    done = {"type": "response.output_item.done", "output_index": 0, "item": REASONING}
    reply = reading(added(first), done, completed(first, function())).finish()
    assert reply.raw == [REASONING, function()]


def test_what_is_shown_live_is_what_the_reply_says() -> None:
    stream = StreamReading(openai_responses.StreamAssembler(responses_request()))
    shown = [
        part
        for event in (
            delta("hm", 0, "reasoning_text", content_index=0),
            delta("A", 1, content_index=0),
            delta("B", 1, content_index=1),
            delta("C", 2, content_index=0),
            completed(
                {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]},
                {"type": "message", "content": [{"type": "output_text", "text": text} for text in "AB"]},
                message("C"),
            ),
        )
        for part in stream.feed(f"data: {json.dumps(event)}\n\n".encode())
    ]
    reply = stream.finish()
    assert "".join(part.text for part in shown if isinstance(part, TextDelta)) == reply.text == "AB\n\nC"
    assert "".join(part.text for part in shown if isinstance(part, ReasoningDelta)) == reply.reasoning == "hm"


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}, "rate"),
        ({"type": "error", "error": {"type": "server_error", "message": "busy"}}, "overloaded"),
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "busy"}}},
            "overloaded",
        ),
        (
            {
                "type": "response.failed",
                "response": {"error": {"code": "context_length_exceeded", "message": "long"}},
            },
            "context_length",
        ),
    ],
)
def test_an_error_in_a_stream_is_never_an_answer(event: dict[str, Any], kind: str) -> None:
    stream = reading(delta("Par"))
    with pytest.raises(ModelError) as caught:
        stream.feed(f"data: {json.dumps(event)}\n\n".encode())
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"status":"failed","error":{"code":"server_error","message":"busy"}}', "overloaded"),
        ('{"error":{"code":"rate_limit_exceeded","message":"slow"}}', "rate"),
        ('{"status":"queued"}', "protocol"),
        ("<html>", "protocol"),
    ],
)
def test_an_answer_that_is_no_reply_is_an_error(body: str, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        openai_responses.parse_response(body.encode(), responses_request())
    assert caught.value.kind == kind


def test_the_end_of_the_stream_alone_finishes_nothing() -> None:
    stream = reading(
        added(message("")), delta("Hello"), {"type": "response.output_item.done", "item": message("Hello")}
    )
    stream.feed(b"data: [DONE]\n\n")
    with pytest.raises(ModelError, match="ended before") as caught:
        stream.finish()
    assert caught.value.partial == "Hello"
