"""The Gemini wire: parts as they came, signatures on their parts, results in the order of their calls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from oribi.core.calls import Denied, Malformed
from oribi.core.errors import ModelError
from oribi.core.messages import Message, Reply, StopReason, ToolMessage, Usage, UserMessage
from oribi.models import gemini
from oribi.models.endpoints import Dialect, Endpoint
from oribi.models.faults import refusal
from oribi.models.stream import StreamReading
from oribi.ports import ReasoningDelta, TextDelta
from tests.models.samples import GEMINI, PREFIXED, answer, call, check_gemini, choice, gemini_request, prompt


def plain(*parts: dict[str, Any], finish: str | None = "STOP", usage: dict[str, Any] | None = None) -> Reply:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}
    body = {"candidates": [candidate], "usageMetadata": usage}
    return gemini.parse_response(json.dumps(body).encode(), gemini_request())


def function(name: str = "read_file", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"path": "a"}} | more}


def read(*chunks: Any) -> Reply:
    stream = StreamReading(gemini.StreamAssembler(gemini_request()))
    for chunk in chunks:
        stream.feed(f"data: {json.dumps(chunk)}\n\n".encode())
    return stream.finish()


def sent(*messages: Message, endpoint: Endpoint = GEMINI) -> list[Any]:
    return check_gemini(gemini.build_request(prompt(*messages), endpoint, None).body)["contents"]


def test_the_body_as_it_is_sent() -> None:
    """O-17, Y-9: the results of one reply stand together in the order of its calls, apart from what is said next."""
    history = (
        UserMessage(text="Check the log."),
        Reply(
            text="I will look.",
            calls=(
                call("c1", "read_file", {"path": "a"}),
                call("call_1_1", "server/tool", Malformed(text="{", problem="cut")),
            ),
        ),
        answer("c1", "502"),
        ToolMessage(call_id=call("call_1_1").id, name="server/tool", result=Denied(reason="no", rule="r")),
        UserMessage(text="Well?"),
    )
    model = choice("gemini", max_tokens=9, stop="END", topK=3, safetySettings=[], generationConfig={"seed": 1})
    body = check_gemini(gemini.build_request(prompt(*history, model=model, tools=(PREFIXED,)), GEMINI, None).body)
    assert body == snapshot(
        {
            "safetySettings": [],
            "generationConfig": {"seed": 1, "maxOutputTokens": 9, "stopSequences": ["END"], "topK": 3},
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "server__tool",
                            "description": "A tool of a server.",
                            "parametersJsonSchema": {"properties": {}, "type": "object"},
                        }
                    ]
                }
            ],
            "systemInstruction": {"parts": [{"text": "You are careful."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Check the log."}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "I will look."},
                        {"functionCall": {"name": "read_file", "id": "c1", "args": {"path": "a"}}},
                        {"functionCall": {"name": "server__tool", "args": {}}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "read_file", "response": {"output": "502"}, "id": "c1"}},
                        {"functionResponse": {"name": "server__tool", "response": {"error": "Not run (r): no"}}},
                    ],
                },
                {"role": "user", "parts": [{"text": "Well?"}]},
            ],
        }
    )


@pytest.mark.parametrize(
    ("name", "stream", "path"),
    [
        ("gemini-3-pro", True, "/models/gemini-3-pro:streamGenerateContent?alt=sse"),
        ("gemini-3-pro", False, "/models/gemini-3-pro:generateContent"),
        ("tunedModels/mine", False, "/tunedModels/mine:generateContent"),
        ("a b?", False, "/models/a%20b%3F:generateContent"),
    ],
)
def test_the_model_and_the_stream_stand_in_the_path(name: str, stream: bool, path: str) -> None:  # noqa: FBT001 - a parameter of the table
    assert gemini.path(replace(choice("gemini"), name=name), stream=stream) == path


def test_parts_go_back_as_they_came_to_their_provider_and_nowhere_else() -> None:
    """O-34, Y-9: each signature on the part it came with, and parts we know nothing of."""
    parts = [
        {"text": "hm", "thought": True, "thoughtSignature": "U0lHMA=="},
        {"text": "I look."},
        {"text": "", "thoughtSignature": "U0lHMQ=="},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {**function(id="g1"), "thoughtSignature": "U0lHMg=="},
        function(),
    ]
    reply = plain({"text": "A summary.", "thought": True}, *parts)
    assert (reply.text, reply.reasoning) == ("I look.", "A summary.hm")
    assert [each.id for each in reply.calls] == ["g1", "call_1_1"]
    history = (UserMessage(text="hi"), reply, answer("g1"), answer("call_1_1"))
    assert sent(*history)[1]["parts"] == parts
    assert [part["functionResponse"].get("id") for part in sent(*history)[2]["parts"]] == ["g1", None]
    elsewhere = Endpoint(provider="else", wire="gemini", base_url="http://127.0.0.1:1")
    assert sent(*history, endpoint=elsewhere)[1]["parts"] == [{"text": "I look."}, function(id="g1"), function()]


def test_what_our_parts_can_say_is_not_kept_twice() -> None:
    assert plain({"text": "a"}, {"text": "b"}, function()).raw is None
    assert plain(function(), {"text": "Order counts."}).raw is not None


def test_fragments_of_a_text_are_joined_but_never_across_a_signature() -> None:
    reply = plain({"text": "a"}, {"text": "b"}, {"text": "c", "thoughtSignature": "Uw=="}, {"text": "d"}, {"text": "e"})
    assert reply.raw == [{"text": "ab"}, {"text": "c", "thoughtSignature": "Uw=="}, {"text": "de"}]
    assert reply.text == "abcde"


@pytest.mark.parametrize(("name", "signed"), [("gemini-2.5-pro", False), ("gemini-3-pro", True), ("gemini-12", True)])
def test_calls_of_another_model_carry_the_documented_mark_where_one_is_wanted(name: str, signed: bool) -> None:  # noqa: FBT001 - a parameter of the table
    history = (UserMessage(text="hi"), Reply(text="", calls=(call("c1"), call("c2"))), answer("c1"), answer("c2"))
    asked = prompt(*history, model=replace(choice("gemini"), name=name))
    parts = check_gemini(gemini.build_request(asked, GEMINI, None).body)["contents"][1]["parts"]
    assert ["thoughtSignature" in part for part in parts] == [signed, False]


@pytest.mark.parametrize("args", [None, "", '{"cut', [], "null"])
def test_arguments_that_are_no_object_go_back_as_one(args: Any) -> None:
    reply = plain(function(args=args))
    assert sent(UserMessage(text="hi"), reply, answer(reply.calls[0].id))[1]["parts"][0]["functionCall"]["args"] == {}


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("STOP", "stop"), ("MAX_TOKENS", "length"), ("SAFETY", "content_filter"), ("OTHER", "other"), (None, "other")],
)
def test_stop_reasons_are_mapped(finish: str | None, stop: StopReason) -> None:
    assert plain({"text": "x"}, finish=finish).stop == stop


def test_calls_of_a_reply_that_was_cut_off_do_not_run() -> None:
    """O-34: complete ones too, since the model had not finished."""
    assert isinstance(plain(function(), finish="MAX_TOKENS").calls[0].arguments, Malformed)


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        (
            {
                "promptTokenCount": 20_000,
                "cachedContentTokenCount": 16_000,
                "candidatesTokenCount": 300,
                "thoughtsTokenCount": 200,
                "totalTokenCount": 20_500,
            },
            Usage(input_tokens=20_000, output_tokens=500, cached_tokens=16_000, reasoning_tokens=200),
        ),
        (
            {"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 16},
            Usage(input_tokens=15, output_tokens=1),
        ),
        ({"promptTokenCount": 10, "totalTokenCount": 10}, Usage(input_tokens=10, output_tokens=0)),
        ({"promptTokenCount": 10}, Usage(input_tokens=10)),
        ({}, Usage()),
        (None, Usage()),
    ],
)
def test_usage_is_counted_whole_and_unknown_is_not_zero(given: dict[str, Any] | None, counted: Usage) -> None:
    assert plain({"text": "x"}, usage=given).usage == counted


def test_counts_in_a_stream_are_running_totals() -> None:
    chunks = [
        {
            "candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": finish}],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": count},
        }
        for count, finish in ((1, None), (4, None), (7, "STOP"))
    ]
    assert read(*chunks).usage == Usage(input_tokens=5, output_tokens=7)


def test_thoughts_are_shown_live_and_apart() -> None:
    stream = StreamReading(gemini.StreamAssembler(gemini_request()))
    parts = [{"text": "hm", "thought": True}, {"text": "ok"}]
    chunk = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    shown = stream.feed(f"data: {json.dumps(chunk)}\n\n".encode())
    assert shown == [ReasoningDelta(text="hm"), TextDelta(text="ok")]
    assert stream.finish().raw is None


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}, "overloaded"),
        ({"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}, "rate"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "bad_request"),
        ({"candidates": []}, "protocol"),
        ([], "protocol"),
    ],
)
def test_an_answer_that_is_no_reply_is_an_error_streamed_or_not(body: Any, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        gemini.parse_response(json.dumps(body).encode(), gemini_request())
    assert caught.value.kind == kind
    with pytest.raises(ModelError) as caught:
        read(body)
    assert caught.value.kind == ("network" if body == {"candidates": []} else kind)


@pytest.mark.parametrize(
    ("status", "error", "kind", "wait"),
    [
        (
            400,
            {
                "message": "API key not valid.",
                "status": "INVALID_ARGUMENT",
                "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
            },
            "auth",
            None,
        ),
        (
            429,
            {
                "message": "Quota exceeded.",
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"}],
            },
            "rate",
            7.5,
        ),
        (
            400,
            {"message": "The input token count (2) exceeds the maximum number of tokens allowed (1)."},
            "context_length",
            None,
        ),
        (404, {"message": "models/x is not found"}, "bad_request", None),
    ],
)
def test_refusals_are_typed_with_the_time_to_wait(
    status: int, error: dict[str, Any], kind: str, wait: float | None
) -> None:
    for body in ({"error": error}, [{"error": error}]):
        fault = refusal(GEMINI, status, {}, json.dumps(body).encode(), 0.0)
        assert (fault.kind, fault.retry_after_seconds) == (kind, wait)


def test_a_dialect_can_do_without_a_stream() -> None:
    endpoint = Endpoint(provider="fake", wire="gemini", base_url="http://h", dialect=Dialect(stream=False))
    assert b"stream" not in gemini.build_request(prompt(UserMessage(text="hi")), endpoint, None).body
