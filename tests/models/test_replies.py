"""Replies, plain and streamed: everything the provider said, in our parts, whatever dress it came in."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from oribi.core.calls import CallId, Malformed
from oribi.core.errors import FaultKind, ModelError
from oribi.core.messages import Reply, StopReason, Usage, UserMessage
from oribi.models import anthropic, openai_chat
from oribi.models.request import EncodedRequest
from oribi.models.stream import StreamReading
from oribi.ports import Delta, ReasoningDelta, TextDelta
from tests.models.samples import OPENAI, answer, anthropic_request, call, openai_request, prompt


def openai_plain(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> Reply:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}
    return openai_chat.parse_response(json.dumps(body).encode(), openai_request())


def openai_stream(*chunks: Any, end: str = "data: [DONE]\n\n") -> tuple[Reply, list[Delta]]:
    reading = StreamReading(openai_chat.StreamAssembler(openai_request()))
    deltas: list[Delta] = []
    for chunk in chunks:
        deltas += reading.feed(f"data: {json.dumps(chunk)}\n\n".encode())
    deltas += reading.feed(end.encode())
    return reading.finish(), deltas


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def fragment(*entries: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(entries)})


def anthropic_plain(*blocks: dict[str, Any], stop: str = "end_turn", usage: dict[str, Any] | None = None) -> Reply:
    body = {"type": "message", "content": list(blocks), "stop_reason": stop, "usage": usage or {}}
    return anthropic.parse_response(json.dumps(body).encode(), anthropic_request())


def anthropic_stream(*events: dict[str, Any]) -> tuple[Reply, list[Delta]]:
    reading = StreamReading(anthropic.StreamAssembler(anthropic_request()))
    deltas: list[Delta] = []
    for event in events:
        deltas += reading.feed(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    return reading.finish(), deltas


def begin(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def add(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def ending(stop: str | None, usage: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage or {}},
        {"type": "message_stop"},
    ]


# --- calls ------------------------------------------------------------------------------------------------------------


def test_calls_come_in_order_with_our_names_and_are_not_run_here() -> None:
    """O-33, O-34, Y-10: the adapter hands the calls on; the loop runs them."""
    reply = openai_plain(
        {
            "content": "Looking.",
            "tool_calls": [
                {"id": "b", "function": {"name": "server__tool", "arguments": '{"x":1}'}},
                {"id": "a", "function": {"name": "no_such_tool", "arguments": "{}"}},
            ],
        },
        "tool_calls",
    )
    assert reply.calls == (call("b", "server/tool", {"x": 1}), call("a", "no_such_tool", {}))
    assert (reply.text, reply.stop, reply.model, reply.wire, reply.raw) == (
        "Looking.",
        "tool_calls",
        "fake:fake-1",
        "openai-chat",
        None,
    )


def test_an_id_of_an_earlier_reply_becomes_another_one_and_stays_it() -> None:
    """O-17: servers count from 0 in each reply; on one wire, a history that says an id twice is refused for good."""
    body = json.dumps(
        {"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "read_file"}}]}}]}
    ).encode()
    history = (UserMessage(text="hi"), Reply(text="", calls=(call("c1"),)), answer("c1"))
    first = openai_chat.build_request(prompt(UserMessage(text="hi")), OPENAI, None)
    for previous in (None, first):
        request = openai_chat.build_request(prompt(*history), OPENAI, previous)
        assert [each.id for each in openai_chat.parse_response(body, request).calls] == ["call_3_0"]
    assert [each.id for each in openai_chat.parse_response(body, first).calls] == ["c1"], "the reply that it came with"


@pytest.mark.parametrize("identifier", [None, "", " ", "same"])
def test_missing_and_repeated_ids_become_stable_ones_of_their_own(identifier: str | None) -> None:
    """O-17: results are matched by id, so every call of a session needs one."""
    entry: dict[str, Any] = {"function": {"name": "read_file", "arguments": "{}"}}
    if identifier is not None:
        entry["id"] = identifier
    body = json.dumps({"choices": [{"message": {"tool_calls": [entry, entry]}, "finish_reason": "stop"}]}).encode()
    history = [UserMessage(text="1"), Reply(text="2"), UserMessage(text="3")]
    request = openai_chat.build_request(prompt(*history, first=10), openai_request().endpoint, None)
    first = "same" if identifier == "same" else "call_13_0"
    for _ in range(2):
        assert [each.id for each in openai_chat.parse_response(body, request).calls] == [first, "call_13_1"]


PIECES = ['{"a":', '1,"b":', "2}"]
WHOLE = call("c1", "read_file", {"a": 1, "b": 2})
START = {"index": 0, "id": "c1", "type": "function", "function": {"name": "read_file", "arguments": ""}}


def piece(text: str, **more: Any) -> dict[str, Any]:
    return {"index": 0, "function": {"arguments": text}} | more


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        pytest.param([fragment(START), *(fragment(piece(text)) for text in PIECES)], [WHOLE], id="plain"),
        pytest.param(
            [
                fragment(START),
                *(
                    fragment({"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": text}})
                    for text in PIECES
                ),
            ],
            [WHOLE],
            id="nulls",
        ),
        pytest.param([fragment(START, *(piece(text) for text in PIECES))], [WHOLE], id="one chunk"),
        pytest.param(
            [
                fragment({"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": text}})
                for text in PIECES
            ],
            [WHOLE],
            id="name and id repeated",
        ),
        pytest.param(
            [fragment({"id": "c1", "function": {"name": "read_file", "arguments": "".join(PIECES)}})],
            [WHOLE],
            id="no index",
        ),
        pytest.param(
            [
                fragment({"id": "c1", "function": {"name": "read_file"}}),
                *(fragment({"function": {"arguments": text}}) for text in PIECES),
            ],
            [WHOLE],
            id="no index, in pieces",
        ),
        pytest.param(
            [
                fragment({"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": {"a": 1, "b": 2}}}),
                fragment({"index": 0, "function": None}),
            ],
            [WHOLE],
            id="an object, and a null function",
        ),
        pytest.param(
            [
                fragment({"function": {"name": "read_file", "arguments": '{"a":1}'}}),
                fragment({"function": {"name": "read_file", "arguments": '{"a":2}'}}),
            ],
            [call("call_1_0", arguments={"a": 1}), call("call_1_1", arguments={"a": 2})],
            id="two whole ones without index and id",
        ),
        pytest.param(
            [
                fragment({"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": '{"a":1}'}}),
                fragment({"index": 0, "id": "c2", "function": {"name": "read_file", "arguments": '{"a":2}'}}),
            ],
            [call("c1", arguments={"a": 1}), call("c2", arguments={"a": 2})],
            id="two under one index",
        ),
        pytest.param(
            [
                fragment({"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": '{"a":1}'}}),
                fragment({"index": 2, "id": "c3", "function": {"name": "read_file", "arguments": '{"a":2}'}}),
            ],
            [call("c1", arguments={"a": 1}), call("c3", arguments={"a": 2})],
            id="a gap",
        ),
        pytest.param(
            [
                fragment(
                    {"index": 1, "id": "c2", "function": {"name": "read_file"}},
                    {"index": 0, "id": "c1", "function": {"name": "read_file"}},
                ),
                fragment(piece('{"a":5,', index=1)),
                fragment(piece('{"a":1,', index=0)),
                fragment(piece('"b":6}', index=1), piece('"b":2}', index=0)),
            ],
            [WHOLE, call("c2", arguments={"a": 5, "b": 6})],
            id="interleaved",
        ),
        pytest.param([chunk({"content": "Hi", "tool_calls": None}), chunk({"tool_calls": []})], [], id="none"),
    ],
)
def test_fragments_of_calls_are_put_together_however_they_are_cut(
    chunks: list[dict[str, Any]], calls: list[Any]
) -> None:
    """Y-9."""
    reply, _ = openai_stream(chunk({"role": "assistant", "content": ""}), *chunks, chunk(finish="tool_calls"))
    assert list(reply.calls) == calls


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_calls_of_a_reply_that_was_cut_off_do_not_run(finish: str) -> None:
    """O-34: complete ones too, since the model had not finished."""
    entry = {"id": "c1", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
    reply = openai_plain({"tool_calls": [entry]}, finish)
    assert reply.stop == finish
    assert isinstance(reply.calls[0].arguments, Malformed)
    block: dict[str, Any] = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
    reply = anthropic_plain(block, stop={"length": "max_tokens", "content_filter": "refusal"}[finish])
    assert isinstance(reply.calls[0].arguments, Malformed)


# --- text, stops, usage -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("tool_calls", "tool_calls"),
        ("length", "length"),
        ("weird", "other"),
        (None, "other"),
    ],
)
def test_stop_reasons_are_mapped(reason: str | None, stop: StopReason) -> None:
    assert openai_plain({"content": "x"}, reason).stop == stop


def test_a_refusal_is_shown_as_text_that_the_filter_stopped() -> None:
    reply = openai_plain({"content": None, "refusal": "I cannot."})
    assert (reply.text, reply.stop) == ("I cannot.", "content_filter")


def test_content_may_come_as_a_list_of_parts() -> None:
    assert openai_plain({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}).text == "ab"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_and_shown_live(name: str) -> None:
    reply, deltas = openai_stream(
        chunk({name: "hm "}), chunk({name: "yes"}), chunk({"content": "ok"}), chunk(finish="stop")
    )
    assert (reply.reasoning, reply.text) == ("hm yes", "ok")
    assert deltas == [ReasoningDelta(text="hm "), ReasoningDelta(text="yes"), TextDelta(text="ok")]
    assert openai_plain({"content": "ok", name: "hm"}).reasoning == "hm"


def test_streamed_reasoning_details_are_joined_by_index() -> None:
    reply, _ = openai_stream(
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}]}),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 1}]}),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "y", "index": 1}]}),
        chunk({"content": "ok"}, finish="stop"),
    )
    assert reply.raw == {
        "message": {
            "reasoning_details": [
                {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
                {"type": "reasoning.encrypted", "data": "x", "index": 1},
                {"type": "reasoning.encrypted", "data": "y", "index": 1},
            ]
        }
    }


def test_details_of_one_kind_are_not_merged_when_each_came_whole() -> None:
    details = [{"type": "reasoning.summary", "summary": text} for text in ("a", "b")]
    assert openai_plain({"content": "x", "reasoning_details": details}).raw == {
        "message": {"reasoning_details": details}
    }


def test_a_detail_whose_signature_did_not_arrive_is_not_kept() -> None:
    """OpenRouter passes on the thoughts of a provider that refuses them unsigned; those of others have none."""
    lost = {"type": "reasoning.text", "format": "anthropic-claude-v1", "text": "hm", "signature": None}
    other = {"type": "reasoning.text", "format": "unknown", "text": "hm"}
    assert openai_plain({"content": "x", "reasoning_details": [lost]}).raw is None
    raw = openai_plain({"content": "x", "reasoning_details": [lost, other, {**lost, "signature": "S"}]}).raw
    assert raw == {"message": {"reasoning_details": [other, {**lost, "signature": "S"}]}}


USED = {
    "prompt_tokens": 20_000,
    "completion_tokens": 500,
    "prompt_tokens_details": {"cached_tokens": 16_000},
    "completion_tokens_details": {"reasoning_tokens": 200},
}
COUNTED = Usage(input_tokens=20_000, output_tokens=500, cached_tokens=16_000, reasoning_tokens=200)


@pytest.mark.parametrize("choices", [{"choices": []}, {"choices": None}, {}])
def test_usage_is_read_from_a_chunk_without_a_choice(choices: dict[str, Any]) -> None:
    reply, _ = openai_stream(choices, chunk({"content": "Hello"}), chunk(finish="stop"), {**choices, "usage": USED})
    assert (reply.text, reply.usage) == ("Hello", COUNTED)


def test_usage_that_was_not_reported_is_unknown_and_not_zero() -> None:
    reply, _ = openai_stream(chunk({"content": "Hello"}, usage=None), chunk(finish="stop", usage=None))
    assert reply.usage == openai_plain({"content": "x"}).usage == anthropic_plain().usage == Usage()
    assert openai_plain({"content": "x"}, usage={"prompt_tokens": "many"}).usage == Usage()


def test_usage_of_a_plain_answer_and_of_deepseek() -> None:
    assert openai_plain({"content": "x"}, usage=USED).usage == COUNTED
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}
    assert openai_plain({"content": "x"}, usage=usage).usage.cached_tokens == 4


def test_anthropic_input_is_fresh_and_cached_and_written_together() -> None:
    usage = {
        "input_tokens": 4_000,
        "cache_read_input_tokens": 16_000,
        "cache_creation_input_tokens": 2_000,
        "output_tokens": 500,
        "output_tokens_details": {"thinking_tokens": 200},
    }
    counted = Usage(
        input_tokens=22_000,
        output_tokens=500,
        cached_tokens=16_000,
        cache_write_tokens=2_000,
        reasoning_tokens=200,
    )
    assert anthropic_plain({"type": "text", "text": "ok"}, usage=usage).usage == counted
    reply, _ = anthropic_stream(
        {"type": "message_start", "message": {"usage": {**usage, "output_tokens": 1}}},
        begin(0, type="text", text=""),
        add(0, type="text_delta", text="ok"),
        *ending("end_turn", {"output_tokens": 500}),
    )
    assert reply.usage == counted


# --- blocks -----------------------------------------------------------------------------------------------------------

THOUGHTS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "first thought", "signature": "SIG_a+/=="},
    {"type": "thinking", "thinking": "", "signature": "SIG_b=="},
    {"type": "redacted_thinking", "data": "UkVEQUNURUQ="},
]
SEARCH: dict[str, Any] = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
USE: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}}
CITED: dict[str, Any] = {"type": "text", "text": "I will look.", "citations": [{"cited_text": "c"}]}


def test_a_streamed_reply_keeps_the_exact_blocks_of_the_plain_one() -> None:
    """O-34: what our parts cannot hold is kept as it came, thinking unmerged and unchanged."""
    plain = anthropic_plain(*THOUGHTS, SEARCH, CITED, USE, stop="tool_use")
    reply, deltas = anthropic_stream(
        {"type": "message_start", "message": {"content": [], "usage": {}}},
        begin(0, type="thinking", thinking="", signature=""),
        add(0, type="thinking_delta", thinking="first "),
        add(0, type="thinking_delta", thinking="thought"),
        add(0, type="signature_delta", signature="SIG_a+/=="),
        {"type": "content_block_stop", "index": 0},
        begin(1, type="thinking", thinking="", signature=""),
        add(1, type="signature_delta", signature="SIG_b=="),
        begin(2, **THOUGHTS[2]),
        {"type": "ping"},
        begin(3, type="server_tool_use", id="s1", name="web_search", input={}),
        add(3, type="input_json_delta", partial_json='{"query":"q"}'),
        begin(4, type="text", text=""),
        add(4, type="text_delta", text="I will"),
        add(4, type="text_delta", text=" look."),
        add(4, type="citations_delta", citation={"cited_text": "c"}),
        begin(5, type="tool_use", id="toolu_1", name="read_file", input={}),
        add(5, type="input_json_delta", partial_json=""),
        add(5, type="input_json_delta", partial_json='{"path":'),
        add(5, type="input_json_delta", partial_json='"a"}'),
        *ending("tool_use"),
    )
    assert reply == plain
    assert reply.raw == [*THOUGHTS, SEARCH, CITED, USE]
    assert reply.reasoning == "first thought"
    assert reply.calls == (call("toolu_1", "read_file", {"path": "a"}),)
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["I will", " look."]
    assert [delta.text for delta in deltas if isinstance(delta, ReasoningDelta)] == ["first ", "thought"]


def test_plain_blocks_are_not_kept_twice() -> None:
    assert anthropic_plain({"type": "text", "text": "hi"}, USE, stop="tool_use").raw is None


def test_thinking_whose_signature_did_not_arrive_is_not_kept() -> None:
    reply = anthropic_plain({"type": "thinking", "thinking": "hm", "signature": ""}, USE, stop="tool_use")
    assert (reply.raw, reply.reasoning) == (None, "hm")


def test_input_in_the_start_event_counts_when_no_fragments_follow() -> None:
    reply, _ = anthropic_stream(begin(0, **USE), *ending("tool_use"))
    assert reply.calls == (call("toolu_1", "read_file", {"path": "a"}),)


def test_input_that_is_cut_is_malformed_and_not_empty() -> None:
    reply, _ = anthropic_stream(
        begin(0, type="tool_use", id="t", name="read_file", input={}),
        add(0, type="input_json_delta", partial_json='{"path":'),
        *ending("tool_use"),
    )
    assert isinstance(reply.calls[0].arguments, Malformed)


# --- odd text ---------------------------------------------------------------------------------------------------------


def test_lone_surrogates_are_replaced_and_pairs_survive_even_in_two_fragments() -> None:
    assert openai_plain({"content": "bad \ud83d end"}).text == "bad \ufffd end"
    reply, deltas = openai_stream(
        chunk({"content": "a\ud83c"}), chunk({"content": "\udf78 \ud83d"}), chunk(finish="stop")
    )
    assert reply.text == "a🍸 \ufffd"
    assert [delta.text for delta in deltas] == ["a", "🍸 "]


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "body", "kind", "words"),
    [
        ("openai", '{"error":{"code":502,"message":"upstream busy"}}', "overloaded", "upstream busy"),
        ("openai", '{"choices":[],"error":null}', "protocol", "holds no choice"),
        ("openai", "<html>gateway</html>", "protocol", "begins with '<html>gateway"),
        ("openai", "[]", "protocol", "holds no choice"),
        (
            "openai",
            '{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}',
            "protocol",
            "finish_reason 'error'",
        ),
        (
            "anthropic",
            '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
            "overloaded",
            "Overl",
        ),
        ("anthropic", "{}", "protocol", "holds no content"),
    ],
)
def test_an_answer_that_is_no_reply_is_an_error_with_its_words(
    wire: str, body: str, kind: FaultKind, words: str
) -> None:
    parse = openai_chat.parse_response if wire == "openai" else anthropic.parse_response
    request = openai_request() if wire == "openai" else anthropic_request()
    with pytest.raises(ModelError, match=words) as caught:
        parse(body.encode(), request)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"choices": [], "error": {"code": 502, "message": "busy"}}, "overloaded"),
        ({"error": {"message": "busy", "type": "server_error"}}, "overloaded"),
        ({"error": {"message": "busy", "code": "rate_limit_exceeded"}}, "rate"),
        ([], "protocol"),
    ],
)
def test_an_error_in_a_stream_is_never_an_answer(event: Any, kind: FaultKind) -> None:
    with pytest.raises(ModelError) as caught:
        openai_stream(chunk({"content": "Par"}), event)
    assert caught.value.kind == kind


def test_an_error_event_of_anthropic_is_typed() -> None:
    with pytest.raises(ModelError, match="Overloaded") as caught:
        anthropic_stream(
            begin(0, **USE), {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        )
    assert caught.value.kind == "overloaded"


def test_the_closing_event_without_a_reason_closes_text_but_never_calls() -> None:
    reply, _ = openai_stream(chunk({"content": "ok"}))
    assert (reply.text, reply.stop) == ("ok", "stop")
    with pytest.raises(ModelError, match="ended before"):
        openai_stream(chunk({"content": "I look."}), fragment(START))
    with pytest.raises(ModelError, match="ended before"):
        openai_stream()
    with pytest.raises(ModelError, match="ended before"):
        anthropic_stream(begin(0, **USE), *ending(None))
    assert anthropic_stream(begin(0, type="text", text="ok"), *ending(None))[0].text == "ok"


def test_a_request_shows_neither_its_body_nor_its_history_when_printed() -> None:
    request: EncodedRequest = openai_request(UserMessage(text="secret words"))
    assert "secret words" not in repr(request)


def test_an_id_of_a_call_that_is_left_out_for_now_is_not_given_again() -> None:
    """C-9, O-24: a provider that counts its ids from 0 in each reply; the next turn sends both calls."""
    asked = replace(prompt(UserMessage(text="hi")), left_out=4, other_calls=frozenset({CallId("call_0")}))
    function = {"name": "read_file", "arguments": "{}"}
    message = {"tool_calls": [{"id": "call_0", "type": "function", "function": function}]}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
    reply = openai_chat.parse_response(body, openai_chat.build_request(asked, OPENAI, None))
    assert [call.id for call in reply.calls] == ["call_5_0"]
