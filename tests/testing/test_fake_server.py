"""The fake provider over real sockets: exact bytes, cuts, refusals, strictness, and scripts as its source."""

import asyncio
import json
import time
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any

import pytest

from oribi.core.errors import ConfigError
from oribi.core.messages import Reply, Usage
from oribi.testing import FakeModelServer, ModelRequest
from tests.testing.raw_client import (
    CHAT,
    GEMINI,
    MESSAGES,
    Answered,
    chat,
    connect,
    encoded,
    messages,
    post,
    read_answer,
    read_chunk,
    read_head,
    text_events,
)

CALLING = {"text": "Let me look.", "calls": [{"name": "grep", "arguments": {"path": "error.log", "pattern": "é"}}]}


def completion(text: str) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


async def wait_until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - the server has no event for this
            await asyncio.sleep(0.001)


async def post_when_it_listens(server: FakeModelServer) -> Answered:
    async with asyncio.timeout(5):
        while True:
            try:
                return await post(server, chat())
            except ConnectionRefusedError:
                await asyncio.sleep(0.01)


# Both dialects, plain and streamed.


@pytest.mark.anyio
async def test_a_plain_reply_speaks_openai_below_any_prefix() -> None:
    async with FakeModelServer([CALLING]) as server:
        answer = await post(server, chat(), "/proxy/openai/v1/chat/completions?x=1")
    assert answer.headers["content-type"] == "application/json"
    message = answer.json["choices"][0]["message"]
    assert message["content"] == "Let me look."
    assert message["tool_calls"] == [
        {
            "id": "call_1_1",
            "type": "function",
            "function": {"name": "grep", "arguments": '{"path":"error.log","pattern":"é"}'},
        }
    ]
    assert answer.json["choices"][0]["finish_reason"] == "tool_calls"
    assert answer.json["usage"]["total_tokens"] > 0


@pytest.mark.anyio
async def test_a_plain_reply_speaks_anthropic() -> None:
    usage = {"input_tokens": 100, "output_tokens": 7, "cached_tokens": 60, "cache_write_tokens": 30}
    async with FakeModelServer([{**CALLING, "reasoning": "Hm.", "usage": usage}]) as server:
        answer = await post(server, messages(), MESSAGES)
    assert answer.json["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "fake-signature"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "call_1_1", "name": "grep", "input": {"path": "error.log", "pattern": "é"}},
    ]
    assert answer.json["stop_reason"] == "tool_use"
    assert answer.json["usage"] == {
        "input_tokens": 10,
        "output_tokens": 7,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
    }


@pytest.mark.anyio
async def test_a_reply_asked_for_as_a_stream_comes_as_an_openai_stream() -> None:
    async with FakeModelServer([CALLING]) as server:
        answer = await post(server, chat(stream=True))
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.ended
    assert answer.body.endswith(b"data: [DONE]\n\n")
    deltas = [chunk["choices"][0]["delta"] for chunk in answer.data if chunk["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == "Let me look."
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert (calls[0]["id"], calls[0]["function"]["name"], calls[0]["index"]) == ("call_1_1", "grep", 0)
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"path": "error.log", "pattern": "é"}
    finishes = [chunk["choices"][0]["finish_reason"] for chunk in answer.data if chunk["choices"]]
    assert [finish for finish in finishes if finish] == ["tool_calls"]
    assert answer.data[-1]["usage"]["completion_tokens"] > 0


@pytest.mark.anyio
async def test_an_openai_stream_tells_usage_only_if_asked() -> None:
    async with FakeModelServer([{"json": completion("hi")}] * 2) as server:
        silent = await post(server, chat() | {"stream": True})
        telling = await post(server, chat(stream=True))
    assert not any("usage" in chunk for chunk in silent.data)
    assert telling.data[-1]["usage"] == completion("hi")["usage"]


@pytest.mark.anyio
async def test_a_reply_asked_for_as_a_stream_comes_as_an_anthropic_stream() -> None:
    async with FakeModelServer([{**CALLING, "reasoning": "Thinking about it."}]) as server:
        answer = await post(server, messages(stream=True), MESSAGES)
    names = [line.removeprefix("event: ") for line in answer.body.decode().splitlines() if line.startswith("event: ")]
    assert names == [event["type"] for event in answer.data]
    assert (names[0], names[-2], names[-1]) == ("message_start", "message_delta", "message_stop")
    assert answer.data[0]["message"]["content"] == []
    deltas = [event["delta"] for event in answer.data if event["type"] == "content_block_delta"]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "Thinking about it."
    assert "".join(delta.get("text", "") for delta in deltas) == "Let me look."
    arguments = "".join(delta.get("partial_json", "") for delta in deltas)
    assert json.loads(arguments) == {"path": "error.log", "pattern": "é"}
    assert {"type": "signature_delta", "signature": "fake-signature"} in deltas
    assert answer.data[-2]["delta"]["stop_reason"] == "tool_use"
    assert answer.data[-2]["usage"]["output_tokens"] > 0


@pytest.mark.anyio
@pytest.mark.parametrize("path", [GEMINI, GEMINI.replace(":generate", ":streamGenerate") + "?alt=sse"])
async def test_a_reply_speaks_gemini(path: str) -> None:
    async with FakeModelServer([CALLING]) as server:
        answer = await post(server, {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}, path)
    bodies = answer.data or [answer.json]
    parts = [part for body in bodies for part in body["candidates"][0]["content"]["parts"]]
    assert "".join(part.get("text", "") for part in parts) == "Let me look."
    assert parts[-1] == {
        "functionCall": {"id": "call_1_1", "name": "grep", "args": {"path": "error.log", "pattern": "é"}}
    }
    assert bodies[-1]["candidates"][0]["finishReason"] == "STOP"
    assert bodies[-1]["usageMetadata"]["promptTokenCount"] > 0


@pytest.mark.anyio
async def test_a_finished_reply_of_the_library_can_be_served() -> None:
    async with FakeModelServer([Reply(text="hi {there}", usage=Usage(input_tokens=4, output_tokens=2))]) as server:
        answer = await post(server, chat())
    assert answer.json["choices"][0]["message"]["content"] == "hi {there}"
    assert answer.json["usage"] == {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}


@pytest.mark.anyio
async def test_models_are_listed_and_other_places_are_not_found() -> None:
    async with FakeModelServer([]) as server:
        reader, writer = await connect(server)
        writer.write(b"GET /v1/models HTTP/1.1\r\n\r\nGET /v1/nothing HTTP/1.1\r\n\r\n")
        listed, missing = await read_answer(reader), await read_answer(reader)
        writer.close()
    assert listed.json["data"][0]["id"] == "fake"
    assert (missing.status, missing.json["error"]["message"]) == (404, "nothing at GET /v1/nothing")
    assert server.requests == []


# Exact bytes.


@pytest.mark.anyio
async def test_writes_go_out_one_by_one_exactly_as_scripted() -> None:
    script = ["data: {", {"text": "é😀", "split_bytes": 1}, {"text": "ka", "times": 3}, "\ufeffend"]
    async with FakeModelServer([{"sse": script}]) as server:
        answer = await post(server, chat(stream=True))
    one_by_one = [bytes([byte]) for byte in "é😀".encode()]
    assert answer.chunks == [b"data: {", *one_by_one, b"ka", b"ka", b"ka", "\ufeffend".encode()]
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.ended


@pytest.mark.anyio
async def test_a_write_arrives_before_the_pause_after_it() -> None:
    async with FakeModelServer([{"sse": ["one", {"sleep_ms": 300}, "two"]}]) as server:
        reader, writer = await connect(server)
        writer.write(encoded(CHAT, json.dumps(chat(stream=True)).encode()))
        await read_head(reader)
        first, at = await read_chunk(reader), time.monotonic()
        second, later = await read_chunk(reader), time.monotonic()
        writer.close()
    assert (first, second) == (b"one", b"two")
    assert later - at > 0.2


@pytest.mark.anyio
async def test_no_write_is_held_back_by_the_network() -> None:
    script = {"replies": [{"sse": ["piece"] * 50}], "replies_cycle": True}
    async with FakeModelServer(script) as server:
        reader, writer = await connect(server)
        start = time.monotonic()
        for _ in range(250):
            writer.write(encoded(CHAT, json.dumps(chat(stream=True)).encode()))
            await read_answer(reader)
        writer.close()
    assert time.monotonic() - start < 8, "250 answers with Nagle's delay of 40 ms each take 10 s"


@pytest.mark.anyio
async def test_a_raw_json_reply_keeps_its_escapes_also_in_a_stream() -> None:
    raw = json.dumps(completion("bad \ud83d end")).replace(" ", "  ")
    async with FakeModelServer([{"raw_json": raw}, {"raw_json": raw}]) as server:
        plain = await post(server, chat())
        streamed = await post(server, chat(stream=True))
    assert plain.body == raw.encode()
    assert b"\\ud83d" in streamed.body
    contents = [chunk["choices"][0]["delta"].get("content") or "" for chunk in streamed.data if chunk["choices"]]
    assert "".join(contents).replace(" ", "") == "bad\ud83dend"


@pytest.mark.anyio
async def test_json_as_it_is_any_text_and_any_status_can_be_sent() -> None:
    script = [
        {"json": completion("hi"), "as_is": True},
        {"body": "<html>gateway</html>", "headers": {"Content-Type": "text/html"}},
        {"status": 503, "body": ""},
        {"json": {"error": {"code": 502}}},
    ]
    async with FakeModelServer(script) as server:
        as_is, html, empty, error = [await post(server, chat(stream=True)) for _ in script]
    assert as_is.json == completion("hi")
    assert (html.status, html.headers["content-type"], html.body) == (200, "text/html", b"<html>gateway</html>")
    assert (empty.status, empty.body) == (503, b"")
    assert error.json == {"error": {"code": 502}}


@pytest.mark.anyio
@pytest.mark.parametrize("wait", ["2", "Wed, 21 Oct 2015 07:28:00 GMT", "0.5", "soon", "nan", "-5", "86400"])
async def test_an_error_carries_its_retry_after_header(wait: str) -> None:
    body = {"error": {"message": "rate limited", "type": "rate_limit_error"}}
    async with FakeModelServer([{"status": 429, "json": body, "headers": {"retry-after": wait}}, "ok"]) as server:
        refused = await post(server, chat(stream=True))
        assert (await post(server, chat())).status == 200
    assert (refused.status, refused.headers["retry-after"], refused.json) == (429, wait, body)


# Ends of connections.


@pytest.mark.anyio
async def test_abort_resets_the_connection_before_any_byte() -> None:
    async with FakeModelServer([{"close": "abort"}]) as server:
        with pytest.raises(ConnectionResetError):
            await post(server, chat())


@pytest.mark.anyio
async def test_abort_resets_the_connection_in_mid_body_after_the_writes() -> None:
    async with FakeModelServer([{"sse": ["data: {"], "close": "abort"}]) as server:
        reader, writer = await connect(server)
        writer.write(encoded(CHAT, json.dumps(chat(stream=True)).encode()))
        await read_head(reader)
        assert await read_chunk(reader) == b"data: {"
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()


@pytest.mark.anyio
@pytest.mark.parametrize("reply", [{"close": "hang"}, {"sse": ["data: {"], "close": "hang"}])
async def test_a_hanging_reply_stays_open_and_silent(reply: dict[str, Any]) -> None:
    async with FakeModelServer([reply]) as server:
        reader, writer = await connect(server)
        writer.write(encoded(CHAT, json.dumps(chat(stream=True)).encode()))
        if "sse" in reply:
            await read_head(reader)
            assert await read_chunk(reader) == b"data: {"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await reader.read(1)
        assert not reader.at_eof()
        assert server.abandoned == []
        writer.close()
        await wait_until(lambda: server.abandoned == [0])


@pytest.mark.anyio
async def test_a_server_closes_although_a_client_hangs_on() -> None:
    async with asyncio.timeout(5):
        async with FakeModelServer([{"close": "hang"}]) as server:
            reader, writer = await connect(server)
            writer.write(encoded(CHAT, json.dumps(chat()).encode()))
            await server.wait_requests(1)
        assert await reader.read() == b""
        writer.close()


@pytest.mark.anyio
async def test_a_client_that_leaves_while_it_waits_is_noticed() -> None:
    async with FakeModelServer([{"json": completion("late"), "sleep_ms": 60_000}]) as server:
        _, writer = await connect(server)
        writer.write(encoded(CHAT, json.dumps(chat()).encode()))
        await server.wait_requests(1)
        writer.transport.abort()
        await wait_until(lambda: server.abandoned == [0])


@pytest.mark.anyio
async def test_a_reply_can_be_late() -> None:
    async with FakeModelServer(
        [{"json": completion("late"), "sleep_ms": 150}, {"text": "x", "delay_seconds": 0.15}]
    ) as s:
        for _ in range(2):
            start = time.monotonic()
            assert (await post(s, chat())).status == 200
            assert time.monotonic() - start > 0.1


@pytest.mark.anyio
async def test_one_connection_serves_many_requests() -> None:
    async with FakeModelServer({"rules": [{"reply": "again"}]}) as server:
        reader, writer = await connect(server)
        for stream in (False, True, False):
            writer.write(encoded(CHAT, json.dumps(chat(stream=stream)).encode()))
            assert (await read_answer(reader)).ended
        writer.close()
    assert [request.streamed for request in server.requests] == [False, True, False]


@pytest.mark.anyio
async def test_a_request_in_chunks_is_read_whole() -> None:
    body = json.dumps(chat()).encode()
    async with FakeModelServer(["hi"]) as server:
        reader, writer = await connect(server)
        writer.write(f"POST {CHAT} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for part in (body[:10], body[10:]):
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
        writer.write(b"0\r\n\r\n")
        assert (await read_answer(reader)).status == 200
        writer.close()
    assert server.requests[0].body == body


@pytest.mark.anyio
async def test_refuse_means_that_nothing_listens_until_it_is_over() -> None:
    async with FakeModelServer(["one", {"close": "refuse", "for_ms": 200}, {"json": completion("back")}]) as server:
        kept_reader, kept_writer = await connect(server)
        answer = await post(server, chat())
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        with pytest.raises(ConnectionRefusedError):
            await connect(server)
        assert await kept_reader.read() == b""
        kept_writer.close()
        back = await post_when_it_listens(server)
        assert back.json["choices"][0]["message"]["content"] == "back"
        server.check_used()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "script",
    [
        [{"close": "refuse", "for_ms": 1}],
        {"replies": [{"close": "refuse", "for_ms": 1}], "replies_cycle": True},
        {"replies_tail": {"close": "refuse", "for_ms": 1}},
    ],
)
async def test_refuse_with_nothing_after_it_lasts(script: Any) -> None:
    async with FakeModelServer(script) as server:
        await asyncio.sleep(0.1)
        with pytest.raises(ConnectionRefusedError):
            await connect(server)


# The order of replies.


def texts(answers: list[Any]) -> list[str]:
    return [answer.json["choices"][0]["message"]["content"] for answer in answers]


@pytest.mark.anyio
async def test_exact_replies_are_handed_out_one_per_request_and_then_comes_500() -> None:
    async with FakeModelServer([{"json": completion("one")}, {"json": completion("two")}]) as server:
        answers = [await post(server, chat()) for _ in range(3)]
    assert texts(answers[:2]) == ["one", "two"]
    assert answers[2].status == 500
    assert "has no answer to the prompt at position 0" in answers[2].json["error"]["message"]


@pytest.mark.anyio
async def test_a_cycle_starts_again_and_a_tail_goes_on() -> None:
    one, two, rest = ({"json": completion(text)} for text in ("one", "two", "rest"))
    async with FakeModelServer({"replies": [one, two], "replies_cycle": True}) as server:
        cycled = [await post(server, chat()) for _ in range(5)]
    async with FakeModelServer({"replies": [one], "replies_tail": rest}) as server:
        tailed = [await post(server, chat()) for _ in range(3)]
    assert texts(cycled) == ["one", "two", "one", "two", "one"]
    assert texts(tailed) == ["one", "rest", "rest"]


@pytest.mark.anyio
async def test_a_match_is_looked_for_in_the_last_message_only() -> None:
    script = {
        "replies_match": [
            {"match": "alpha-1", "reply": {"json": completion("A")}},
            {"match": "tool:A", "reply": {"json": completion("answer")}},
        ],
        "replies_tail": {"json": completion("other")},
    }
    call = {"id": "c1", "type": "function", "function": {"name": "wait", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "do alpha-1."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "tool:A"},
    ]
    async with FakeModelServer(script) as server:
        answers = [await post(server, chat(*said[:1])), await post(server, chat(*said)), await post(server, chat())]
    assert texts(answers) == ["A", "answer", "other"]


@pytest.mark.anyio
async def test_a_reply_for_small_requests_waits_for_one() -> None:
    too_long = {"status": 400, "json": {"error": {"code": "context_length_exceeded"}}}
    script = [{"json": completion("fits"), "when": {"body_bytes_lt": 300}, "otherwise": too_long}, "next"]
    long = chat({"role": "user", "content": "x" * 400})
    async with FakeModelServer(script) as server:
        answers = [await post(server, body) for body in (long, long, chat(), long)]
    assert [answer.status for answer in answers] == [400, 400, 200, 200]
    assert texts(answers[2:]) == ["fits", "next"]


@pytest.mark.anyio
@pytest.mark.parametrize("path", [CHAT, MESSAGES])
async def test_plain_replies_go_by_position_so_each_conversation_has_its_own(path: str) -> None:
    said = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "one"},
        {"role": "user", "content": "?"},
    ]
    body = chat if path == CHAT else messages
    async with FakeModelServer(["one", "two"]) as server:
        answers = [await post(server, body(*said[:count]), path) for count in (1, 1, 3, 1)]
        assert server.unused() == []
    found = [
        a.json["choices"][0]["message"]["content"] if path == CHAT else a.json["content"][0]["text"] for a in answers
    ]
    assert found == ["one", "one", "two", "one"]


RULES = {
    "rules": [
        {
            "when": {"tool": "notify", "earlier": {"grep": r"(?P<count>\d+) matches"}},
            "reply": "Told the team about {count}.",
        },
        {
            "when": {
                "tool": "grep",
                "step": 2,
                "input": "the (?P<log>.*) log",
                "result": r"(?P<count>[1-9]\d*) matches",
            },
            "reply": {"calls": [{"name": "notify", "arguments": {"text": "{count} in {log}"}}]},
        },
    ]
}


@pytest.mark.anyio
async def test_rules_act_on_the_results_that_an_openai_request_holds() -> None:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for n, name in enumerate(["grep", "notify"])
    ]
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "check the nginx log"}]},
        {"role": "assistant", "content": None, "tool_calls": calls[:1]},
        {"role": "tool", "tool_call_id": "c0", "content": "37 matches"},
        {"role": "assistant", "content": None, "tool_calls": calls[1:]},
        {"role": "tool", "tool_call_id": "c1", "content": "sent"},
    ]
    async with FakeModelServer(RULES) as server:
        asks, ends = await post(server, chat(*said[:4])), await post(server, chat(*said))
    function = asks.json["choices"][0]["message"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("notify", {"text": "37 in nginx"})
    assert texts([ends]) == ["Told the team about 37."]


@pytest.mark.anyio
async def test_rules_act_on_the_results_that_an_anthropic_request_holds() -> None:
    said: list[dict[str, Any]] = [{"role": "user", "content": "check the nginx log"}]
    for name, result in (("grep", "37 matches"), ("notify", [{"type": "text", "text": "sent"}])):
        said.append({"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": name, "input": {}}]})
        said.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": result}]})
    async with FakeModelServer(RULES) as server:
        asks = await post(server, messages(*said[:3]), MESSAGES)
        ends = await post(server, messages(*said), MESSAGES)
    assert asks.json["content"][0]["input"] == {"text": "37 in nginx"}
    assert ends.json["content"][0]["text"] == "Told the team about 37."


@pytest.mark.anyio
async def test_a_function_of_the_request_can_answer() -> None:
    def answer(request: ModelRequest) -> dict[str, Any]:
        return {"status": 418, "json": {"got": request.headers["x-mark"], "model": request.json["model"]}}

    async with FakeModelServer(answer) as server:
        reader, writer = await connect(server)
        body = json.dumps(chat()).encode()
        writer.write(encoded(CHAT, body).replace(b"Host: x", b"X-Mark: 7"))
        found = await read_answer(reader)
        writer.close()
    assert (found.status, found.json) == (418, {"got": "7", "model": "fake"})


@pytest.mark.anyio
async def test_a_mistake_in_a_function_reaches_the_test() -> None:
    server = FakeModelServer(lambda _: {"txt": "hi"})
    await server.__aenter__()
    with pytest.raises(ConnectionResetError):
        await post(server, chat())
    with pytest.raises(ConfigError, match="reply has the key 'txt'"):
        await server.__aexit__(None, None, None)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "path", "status", "words"),
    [
        ("auth", CHAT, 401, "invalid_api_key"),
        ("rate", CHAT, 429, "rate_limit_exceeded"),
        ("context_length", CHAT, 400, "context_length_exceeded"),
        ("overloaded", MESSAGES, 529, "overloaded_error"),
        ("rate", MESSAGES, 429, "rate_limit_error"),
        ("context_length", MESSAGES, 400, "prompt is too long"),
        ("overloaded", GEMINI, 503, "UNAVAILABLE"),
    ],
)
async def test_a_scripted_fault_has_the_status_and_shape_of_its_wire(
    kind: str, path: str, status: int, words: str
) -> None:
    fails = {"kind": kind, "message": "so it is", "times": 1, "retry_after_seconds": 0.5}
    body = chat() | {"max_tokens": 5, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    async with FakeModelServer([{"fails": fails, "text": "then"}]) as server:
        refused, answered = await post(server, body, path), await post(server, body, path)
        server.check_used()
    assert refused.status == status
    assert words in refused.body.decode()
    assert "so it is" in refused.body.decode()
    assert refused.headers["retry-after"] == "0.5"
    assert (answered.status, b"then" in answered.body) == (200, True)


@pytest.mark.anyio
async def test_a_fault_of_the_network_is_a_reset_and_one_of_time_a_silence() -> None:
    async with FakeModelServer([{"fails": {"kind": "network", "times": 1}, "text": "then"}]) as server:
        with pytest.raises(ConnectionResetError):
            await post(server, chat())
        assert texts([await post(server, chat())]) == ["then"]
    async with FakeModelServer([{"fails": {"kind": "timeout"}}]) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await post(server, chat())


# Strictness and the record.


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "body", "rule", "shape"),
    [
        (CHAT, chat({"role": "assistant", "content": ""}), "empty-reply", ["error", "message"]),
        (MESSAGES, chat(), "max-tokens", ["error", "message"]),
        (GEMINI, {"contents": []}, "contents", ["error", "message"]),
        (CHAT, b"{", "json", ["error", "message"]),
    ],
)
async def test_a_request_that_breaks_a_rule_gets_400_and_uses_up_no_reply(
    path: str, body: object, rule: str, shape: list[str]
) -> None:
    async with FakeModelServer([{"json": completion("still here")}]) as server:
        refused = await post(server, body, path)
        answered = await post(server, chat())
    found = refused.json
    for key in shape:
        found = found[key]
    assert refused.status == 400
    assert found.startswith(f"{rule}: ")
    assert server.requests[0].broken[0].startswith(f"{rule}: ")
    assert server.requests[1].broken == ()
    assert texts([answered]) == ["still here"]


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
async def test_thinking_must_come_back_as_it_was_sent_plain_or_streamed(*, streamed: bool) -> None:
    sent = [
        {"type": "thinking", "thinking": "a long first thought", "signature": "SIG_a+/=="},
        {"type": "redacted_thinking", "data": "UkVE"},
        {"type": "tool_use", "id": "t1", "name": "echo", "input": {"text": "A"}},
    ]
    reply = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "f",
        "content": sent,
        "stop_reason": "tool_use",
    }
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}
    blocks = [start, {"type": "content_block_start", "index": 1, "content_block": sent[1]}]
    blocks += [{"type": "content_block_start", "index": 2, "content_block": {**sent[2], "input": {}}}]
    for text in ("a long ", "first thought"):
        blocks.append(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": text}}
        )
    blocks.append(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "SIG_a+/=="}}
    )
    sse = {"sse": [f"event: {block['type']}\ndata: {json.dumps(block)}\n\n" for block in blocks]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "A"}]}
    changed = [{**sent[0], "thinking": "a long first  thought"}, *sent[1:]]

    def next_request(content: list[dict[str, Any]]) -> dict[str, Any]:
        return messages({"role": "user", "content": "go"}, {"role": "assistant", "content": content}, result)

    async with FakeModelServer({"replies": [sse if streamed else {"json": reply}], "replies_tail": "ok"}) as server:
        await post(server, messages(stream=streamed), MESSAGES)
        statuses = [(await post(server, next_request(c), MESSAGES)).status for c in (sent, changed, sent[1:])]
    assert statuses == [200, 400, 400]
    assert server.requests[2].broken == ("thinking: the thinking blocks of messages[1] are not those that were sent",)


@pytest.mark.anyio
async def test_every_request_is_noted_with_body_headers_and_time() -> None:
    async with FakeModelServer(["one"]) as server:
        before = time.monotonic()
        await post(server, chat(), "/x" + CHAT)
    request = server.requests[0]
    assert (request.dialect, request.path, request.json) == ("openai", "/x/v1/chat/completions", chat())
    assert request.headers["host"] == "x"
    assert before <= request.at <= time.monotonic()


@pytest.mark.anyio
async def test_unsent_replies_are_named() -> None:
    async with FakeModelServer([{"json": completion("one")}, {"close": "abort"}]) as server:
        await post(server, chat())
    with pytest.raises(AssertionError, match=r"1 of its replies: reply 2 \(Cut, status 200\)"):
        server.check_used()


@pytest.mark.anyio
async def test_a_taken_port_is_an_error_that_says_so() -> None:
    async with FakeModelServer([]) as server:
        with pytest.raises(ConfigError, match=f"port {server.port} on 127.0.0.1 is taken"):
            async with FakeModelServer([], port=server.port):
                pass


def test_a_server_in_a_thread_serves_a_plain_test() -> None:
    with FakeModelServer(["Hello."]) as server:
        client = HTTPConnection("127.0.0.1", server.port, timeout=10)
        client.request("POST", CHAT, json.dumps(chat()))
        assert json.load(client.getresponse())["choices"][0]["message"]["content"] == "Hello."
        client.close()
        assert server.requests[0].json == chat()


@pytest.mark.anyio
async def test_a_well_formed_stream_written_by_hand_is_sent_verbatim() -> None:
    events = text_events("Hel", "lo")
    async with FakeModelServer([{"sse": events}]) as server:
        answer = await post(server, chat(stream=True))
    assert answer.chunks == [event.encode() for event in events]
