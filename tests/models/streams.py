"""One reply on each wire as its server streams it, byte for byte: text, reasoning, a call, counts at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oribi.models import anthropic, gemini, openai_chat, openai_responses
from oribi.models.stream import StreamReading
from tests.models.samples import anthropic_request, gemini_request, openai_request, responses_request


@dataclass(frozen=True)
class Recorded:
    """`stream` as it came; `enough`: how much of it completes the reply; `open`: how to read one."""

    stream: bytes
    enough: int
    open: Callable[[], StreamReading]


def sse(data: Any, *, name: bool = False, line_end: str = "\n") -> str:
    head = f"event: {data['type']}{line_end}" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}{line_end}{line_end}"


def _recorded(text: str, last: str, open_reading: Callable[[], StreamReading]) -> Recorded:
    stream = text.encode()
    return Recorded(stream=stream, enough=stream.index(last.encode()) + len(last.encode()), open=open_reading)


def _chat(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-1",
        "choices": [choice],
        "usage": None,
    }


def _call(**fields: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **fields}]}


CHAT_EVENTS: list[dict[str, Any]] = [
    _chat({"role": "assistant", "content": ""}),
    _chat({"reasoning_content": "hm"}),
    _chat({"content": "I look, é🍸"}),
    _chat(_call(id="c1", type="function", function={"name": "read_file", "arguments": ""})),
    _chat(_call(function={"arguments": '{"path":'})),
    _chat(_call(function={"arguments": '"a"}'})),
    _chat({}, "tool_calls"),
    {
        **_chat({}),
        "choices": [],
        "usage": {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29},
    },
]
CHAT = _recorded(
    ": keep-alive\n\n"
    + "".join(
        map(
            sse,
            CHAT_EVENTS,
        )
    )
    + "data: [DONE]\n\n",
    '"finish_reason": "tool_calls"}], "usage": null}',
    lambda: StreamReading(openai_chat.StreamAssembler(openai_request())),
)

ANTHROPIC_EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 20, "output_tokens": 1}},
    },
    {"type": "ping"},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "SIG"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look, é🍸"}},
    {"type": "content_block_stop", "index": 1},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "c1", "name": "read_file", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '{"path":'},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '"a"}'}},
    {"type": "content_block_stop", "index": 2},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 9},
    },
    {"type": "message_stop"},
]
ANTHROPIC = _recorded(
    "".join(sse(event, name=True, line_end="\r\n") for event in ANTHROPIC_EVENTS),
    '"usage": {"output_tokens": 9}}',
    lambda: StreamReading(anthropic.StreamAssembler(anthropic_request())),
)

_REASONING: dict[str, Any] = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "RU5D",
}
_MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "I look, é🍸", "annotations": [], "logprobs": []}],
}
_FUNCTION: dict[str, Any] = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "c1",
    "name": "read_file",
    "arguments": '{"path":"a"}',
}
_USED: dict[str, Any] = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 16},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 29,
}
_RESPONSE: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "in_progress", "output": [], "usage": None}

RESPONSES_EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "response": _RESPONSE},
    {"type": "response.in_progress", "response": _RESPONSE},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {**_REASONING, "summary": [], "encrypted_content": "UE"},
    },
    {
        "type": "response.reasoning_summary_part.added",
        "output_index": 0,
        "summary_index": 0,
        "part": {"type": "summary_text", "text": ""},
    },
    {
        "type": "response.reasoning_summary_text.delta",
        "output_index": 0,
        "summary_index": 0,
        "delta": "hm",
    },
    {"type": "response.output_item.done", "output_index": 0, "item": _REASONING},
    {"type": "response.output_item.added", "output_index": 1, "item": {**_MESSAGE, "content": []}},
    {
        "type": "response.output_text.delta",
        "output_index": 1,
        "content_index": 0,
        "delta": "I look, é🍸",
    },
    {
        "type": "response.output_text.done",
        "output_index": 1,
        "content_index": 0,
        "text": "I look, é🍸",
    },
    {"type": "response.output_item.done", "output_index": 1, "item": _MESSAGE},
    {"type": "response.output_item.added", "output_index": 2, "item": {**_FUNCTION, "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"path":'},
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '"a"}'},
    {"type": "response.output_item.done", "output_index": 2, "item": _FUNCTION},
    {
        "type": "response.completed",
        "response": {
            **_RESPONSE,
            "status": "completed",
            "output": [_REASONING, _MESSAGE, _FUNCTION],
            "usage": _USED,
            "end": 1,
        },
    },
]
RESPONSES = _recorded(
    "".join(sse(event, name=True) for event in RESPONSES_EVENTS),
    '"end": 1}}',
    lambda: StreamReading(openai_responses.StreamAssembler(responses_request())),
)


def _chunk(*parts: dict[str, Any], finish: str | None = None, used: int = 0) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 20, "totalTokenCount": 24 + used, "thoughtsTokenCount": 4}
    if used:
        usage["candidatesTokenCount"] = used
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake-1", "responseId": "r"}


GEMINI = _recorded(
    "".join(
        sse(chunk, line_end="\r\n")
        for chunk in [
            _chunk({"text": "hm", "thought": True}),
            _chunk({"text": "I look, "}),
            _chunk({"text": "é🍸"}, used=3),
            _chunk(
                {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}, "thoughtSignature": "U0lH"},
                used=5,
            ),
            _chunk({"text": ""}, finish="STOP", used=5),
        ]
    ),
    '"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 20, "totalTokenCount": 29, "thoughtsTokenCount":'
    ' 4, "candidatesTokenCount": 5}, "modelVersion": "fake-1", "responseId": "r"}',
    lambda: StreamReading(gemini.StreamAssembler(gemini_request())),
)

RECORDED = {"openai-chat": CHAT, "openai-responses": RESPONSES, "anthropic": ANTHROPIC, "gemini": GEMINI}
