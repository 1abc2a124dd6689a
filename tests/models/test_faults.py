"""Faults: every refusal gets the right kind, the provider's own words, and the time to wait."""

import json
from typing import Any

import pytest

from oribi.core.errors import FaultKind
from oribi.models.endpoints import Endpoint
from oribi.models.faults import refusal, reported, retry_after

ENDPOINT = Endpoint(provider="fake", wire="openai-chat", base_url="http://host/v1", key_env="FAKE_KEY")
NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (
            401,
            {"error": {"message": "bad key", "type": "x"}},
            "auth",
            "answered 401: bad key. Check the key in FAKE_KEY",
        ),
        (403, {"error": "forbidden"}, "auth", "forbidden"),
        (402, {"error": {"message": "no balance"}}, "auth", "no balance"),
        (400, {"error": {"message": "API key not valid", "code": "invalid_api_key"}}, "auth", "API key not valid"),
        (429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, "rate", "slow down"),
        (429, {"error": {"message": "pay", "code": "insufficient_quota"}}, "auth", "pay"),
        (503, {"error": {"message": "busy"}}, "overloaded", "busy"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", "Overl"),
        (500, {"message": "boom"}, "overloaded", "boom"),
        (502, "<html>\n bad  gateway</html>", "overloaded", "<html> bad gateway</html>"),
        (504, "", "timeout", "no explanation"),
        (408, {"detail": "late"}, "timeout", "late"),
        (404, {"error": {"message": "no such model"}}, "bad_request", "Check the model's name and the base_url"),
        (422, {"detail": [{"loc": 1}]}, "bad_request", "loc"),
        (400, {"error": {"message": "messages.1: bad"}}, "bad_request", "messages.1: bad"),
        (307, "", "bad_request", "Redirects are not followed"),
        (413, {"error": {"type": "request_too_large", "message": "big"}}, "context_length", "big"),
        (
            400,
            {
                "error": {
                    "message": "This model's maximum context length is 8192 tokens.",
                    "code": "context_length_exceeded",
                }
            },
            "context_length",
            "8192",
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "exceeds the available context size",
                    "type": "exceed_context_size_error",
                }
            },
            "context_length",
            "available context size",
        ),
        (
            400,
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "prompt is too long: 2 > 1 maximum"},
            },
            "context_length",
            "prompt is too long",
        ),
        (400, {"error": {"message": "max_tokens: 9 > 8, the maximum number of output tokens"}}, "bad_request", "9 > 8"),
        (
            502,
            {"error": {"message": "Provider returned error", "metadata": {"raw": "upstream words"}}},
            "overloaded",
            "Provider returned error: upstream words",
        ),
    ],
)
def test_an_answer_that_is_no_success_is_typed_and_quoted(status: int, body: Any, kind: FaultKind, words: str) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    error = refusal(ENDPOINT, status, {}, text.encode(), NOW)
    assert (error.kind, error.retry_after_seconds) == (kind, None)
    assert words in str(error)
    assert str(error).startswith("fake answered")


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"error": {"code": 502, "message": "upstream busy"}}, "overloaded"),
        ({"error": {"code": "429", "message": "m"}}, "rate"),
        ({"error": {"message": "upstream busy", "type": "server_error"}}, "overloaded"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "m"}}, "rate"),
        ({"error": {"code": "context_length_exceeded", "message": "m"}}, "context_length"),
        ({"error": {"type": "authentication_error"}}, "auth"),
        ({"error": {"type": "invalid_request_error"}}, "bad_request"),
        ({"error": "what"}, "protocol"),
    ],
)
def test_an_error_object_inside_a_reply_is_typed_too(payload: Any, kind: FaultKind) -> None:
    assert reported(ENDPOINT, payload).kind == kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:23 GMT"}, 3.0),
        ({"retry-after": "Tue, 14 Nov 2023 23:00:05 GMT", "date": "Tue, 14 Nov 2023 23:00:00 GMT"}, 5.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "9999999999999"}, 31_536_000.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_milliseconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_a_long_text_is_cut_and_odd_bytes_do_no_harm() -> None:
    error = refusal(ENDPOINT, 400, {}, b'{"error":{"message":"\\ud83d ' + b"x" * 9_000 + b'"}}', NOW)
    assert "\ufffd x" in str(error)
    assert len(str(error)) < 2_200
    assert "\ufffd" in str(refusal(ENDPOINT, 400, {}, b"\xff\xfe", NOW))
