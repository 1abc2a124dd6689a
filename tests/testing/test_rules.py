"""Every strict rule: a well-formed request keeps them all, and each rule is broken once and caught by its name."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from oribi.testing import broken_rules
from oribi.testing.rules import Dialect

Edit = Callable[[Any], object]

PNG_URL, PDF_URL = "data:image/png;base64,UE5H", "data:application/pdf;base64,UERG"
PNG = {"type": "base64", "media_type": "image/png", "data": "UE5H"}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "UERG"}
CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}

OPENAI: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "go 😀"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "echo", "arguments": '{"text":"A"}'}},
                {"id": "c2", "type": "function", "function": {"name": "echo", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "B"},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "assistant", "content": "done"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "more"},
                {"type": "image_url", "image_url": {"url": PNG_URL}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF_URL}},
            ],
        },
    ],
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": CLOSED, "strict": True}},
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "echo",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "$ref": {"type": "string"},
                        "type": {"type": "array", "items": {"$ref": "#/$defs/a~1b"}},
                    },
                    "$defs": {"a/b": {"type": "integer"}},
                },
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ],
}


def openai_call(request: Any) -> Any:
    return request["messages"][2]["tool_calls"][0]


def openai_schema(request: Any) -> Any:
    return request["tools"][0]["function"]["parameters"]


def openai_format(request: Any) -> Any:
    return request["response_format"]["json_schema"]


OPENAI_BREAKS: dict[str, tuple[str, Edit]] = {
    "no messages": ("messages", lambda r: r["messages"].clear()),
    "an unknown role": ("messages", lambda r: r["messages"][0].update(role="boss")),
    "a result without a call": (
        "orphan-result",
        lambda r: r["messages"].append({"role": "tool", "tool_call_id": "c1"}),
    ),
    "a result for an id nobody gave": ("orphan-result", lambda r: r["messages"][3].update(tool_call_id="c9")),
    "a result that is missing": ("unanswered-call", lambda r: r["messages"].pop(3)),
    "a message between call and result": (
        "unanswered-call",
        lambda r: r["messages"].insert(3, {"role": "user", "content": "wait"}),
    ),
    "a call at the end": ("unanswered-call", lambda r: r["messages"].__delitem__(slice(3, None))),
    "a result given twice": ("repeated-result", lambda r: r["messages"].insert(5, dict(r["messages"][4]))),
    "an empty call id": ("call-id", lambda r: openai_call(r).update(id="")),
    "two calls with one id": ("call-id", lambda r: openai_call(r).update(id="c2")),
    "arguments that are an object": ("arguments", lambda r: openai_call(r)["function"].update(arguments={"text": "A"})),
    "arguments that are no JSON": ("arguments", lambda r: openai_call(r)["function"].update(arguments='{"text":')),
    "arguments that are a list": ("arguments", lambda r: openai_call(r)["function"].update(arguments="[]")),
    "empty arguments": ("arguments", lambda r: openai_call(r)["function"].update(arguments="")),
    "a called name with a dot": ("name", lambda r: openai_call(r)["function"].update(name="fx.echo")),
    "an advertised name of 65 letters": ("name", lambda r: r["tools"][1]["function"].update(name="n" * 65)),
    "an advertised name with a line end": ("name", lambda r: r["tools"][1]["function"].update(name="now\n")),
    "two tools of one name": ("name", lambda r: r["tools"][1]["function"].update(name="echo")),
    "an empty reply": ("empty-reply", lambda r: r["messages"][5].update(content="")),
    "a reply of null": ("empty-reply", lambda r: r["messages"][5].update(content=None)),
    "an empty list of calls": ("empty-calls", lambda r: r["messages"][5].update(tool_calls=[])),
    "calls of null": ("empty-calls", lambda r: r["messages"][5].update(tool_calls=None)),
    "a schema that is no object": ("schema", lambda r: openai_schema(r).update(type="string")),
    "a schema of null": ("schema", lambda r: r["tools"][0]["function"].update(parameters=None)),
    "a reference to nothing": ("schema", lambda r: openai_schema(r).pop("$defs")),
    "a reference elsewhere": (
        "schema",
        lambda r: openai_schema(r)["properties"].update(x={"$ref": "https://example.com/s"}),
    ),
    "an image of no content": ("input-part", lambda r: r["messages"][6]["content"][1].pop("image_url")),
    "an image that is not base64": (
        "input-part",
        lambda r: r["messages"][6]["content"][1].update(image_url={"url": "data:image/png;base64,U-"}),
    ),
    "a file without a name": ("input-part", lambda r: r["messages"][6]["content"][2]["file"].pop("filename")),
    "a part of another wire": ("input-part", lambda r: r["messages"][6]["content"][0].update(type="input_text")),
    "no part at all": ("input-part", lambda r: r["messages"][6]["content"].clear()),
    "a response format without a name": ("name", lambda r: openai_format(r).pop("name")),
    "a response format that is no object": ("schema", lambda r: openai_format(r).update(schema={"type": "array"})),
    "a strict response format that is open": ("schema", lambda r: openai_format(r).update(schema={"type": "object"})),
    "an array without items": ("schema", lambda r: openai_schema(r)["properties"]["type"].pop("items")),
    "an array among types without items": (
        "schema",
        lambda r: openai_schema(r).update(anyOf=[{"type": ["array", "null"]}]),
    ),
    "a raw lone surrogate": ("json", lambda r: json.dumps(r).encode().replace(b"done", b"\xed\xa0\xbd")),
    "an escaped lone surrogate": ("json", lambda r: r["messages"][1].update(content="bad \ud83d end")),
    "a lone surrogate in a key": ("json", lambda r: r.update({"\ud83d": 1})),
    "NaN": ("json", lambda r: r.update(temperature=float("nan"))),
    "Infinity": ("json", lambda r: r.update(temperature=float("-inf"))),
    "no JSON": ("json", lambda _: b"{"),
    "no object": ("json", lambda _: b"[]"),
    "JSON nested without end": ("json", lambda _: b"[" * 200_000),
}

THINKING: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "first", "signature": "SIG_a"},
    {"type": "thinking", "thinking": "", "signature": "SIG_b"},
    {"type": "redacted_thinking", "data": "UkVE"},
]
REPLY: list[Any] = [
    *THINKING,
    {"type": "text", "text": "I will look."},
    {"type": "tool_use", "id": "t1", "name": "echo", "input": {"text": "A"}},
    {"type": "tool_use", "id": "t2", "name": "echo", "input": {}},
]
ANTHROPIC: dict[str, Any] = {
    "model": "m",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "go"},
                {"type": "image", "source": PNG},
                {"type": "document", "source": PDF},
            ],
        },
        {"role": "assistant", "content": REPLY},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t2", "content": "B"},
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "A"}]},
                {"type": "text", "text": "hurry"},
            ],
        },
    ],
    "output_config": {"format": {"type": "json_schema", "schema": CLOSED}},
    "tools": [{"name": "echo", "input_schema": {"type": "object"}}],
}


def reply_blocks(request: Any) -> Any:
    return request["messages"][1]["content"]


def result_blocks(request: Any) -> Any:
    return request["messages"][2]["content"]


def output_schema(request: Any) -> Any:
    return request["output_config"]["format"]["schema"]


ANTHROPIC_BREAKS: dict[str, tuple[str, Edit]] = {
    "no max_tokens": ("max-tokens", lambda r: r.pop("max_tokens")),
    "no messages": ("messages", lambda r: r["messages"].clear()),
    "a system message in the list": ("messages", lambda r: r["messages"][0].update(role="system")),
    "an assistant first": ("first-user", lambda r: r["messages"].insert(0, {"role": "assistant", "content": "hi"})),
    "a result without a call": ("orphan-result", lambda r: result_blocks(r)[0].update(tool_use_id="t9")),
    "a missing result": ("unanswered-call", lambda r: result_blocks(r).pop(0)),
    "results in two messages": (
        "unanswered-call",
        lambda r: r["messages"].append({"role": "user", "content": [result_blocks(r).pop(1)]}),
    ),
    "a call at the end": ("unanswered-call", lambda r: r["messages"].pop()),
    "a result given twice": ("repeated-result", lambda r: result_blocks(r).insert(1, result_blocks(r)[0])),
    "text before a result": ("result-order", lambda r: result_blocks(r).insert(0, {"type": "text", "text": "so"})),
    "two calls with one id": ("call-id", lambda r: reply_blocks(r)[5].update(id="t1")),
    "an empty call id": ("call-id", lambda r: reply_blocks(r)[5].update(id="")),
    "an id of an earlier message": (
        "call-id",
        lambda r: r["messages"].extend([{"role": "assistant", "content": "ok"}, *r["messages"]]),
    ),
    "an input that is text": ("input", lambda r: reply_blocks(r)[5].update(input="{}")),
    "a called name with a dot": ("name", lambda r: reply_blocks(r)[5].update(name="fx.echo")),
    "an advertised name of 129 letters": ("name", lambda r: r["tools"][0].update(name="n" * 129)),
    "two tools of one name": ("name", lambda r: r["tools"].append(r["tools"][0])),
    "an empty content list": ("empty-content", lambda r: r["messages"][0].update(content=[])),
    "an empty list in a result": ("empty-content", lambda r: result_blocks(r)[0].update(content=[])),
    "an empty content text": ("blank-text", lambda r: r["messages"][0].update(content="")),
    "a blank text block": ("blank-text", lambda r: reply_blocks(r)[3].update(text=" \n")),
    "a blank text in a result": ("blank-text", lambda r: result_blocks(r)[1]["content"][0].update(text="")),
    "a blank system text": ("blank-text", lambda r: r["system"][0].update(text="")),
    "thinking without its signature": ("thinking", lambda r: reply_blocks(r)[0].pop("signature")),
    "thinking after a call": ("thinking", lambda r: reply_blocks(r).append(reply_blocks(r).pop(0))),
    "thinking changed": ("thinking", lambda r: reply_blocks(r)[0].update(thinking="first ")),
    "thinking left out": ("thinking", lambda r: reply_blocks(r).pop(1)),
    "redacted thinking left out": ("thinking", lambda r: reply_blocks(r).pop(2)),
    "thinking in another order": ("thinking", lambda r: reply_blocks(r).insert(0, reply_blocks(r).pop(1))),
    "an image without its source": ("input-part", lambda r: r["messages"][0]["content"][1].pop("source")),
    "an image of an unknown kind": (
        "input-part",
        lambda r: r["messages"][0]["content"][1].update(source=PNG | {"media_type": "image/tiff"}),
    ),
    "a document that is not base64": (
        "input-part",
        lambda r: r["messages"][0]["content"][2].update(source=PDF | {"data": "U-"}),
    ),
    "an open output schema": ("schema", lambda r: output_schema(r).pop("additionalProperties")),
    "a limit in an output schema": ("schema", lambda r: output_schema(r)["properties"]["n"].update(minimum=1)),
    "true in an output schema": ("schema", lambda r: output_schema(r)["properties"].update(n=True)),
    "a schema that is no object": ("schema", lambda r: r["tools"][0].update(input_schema={})),
    "an escaped lone surrogate": ("json", lambda r: r["messages"][0].update(content="bad \ud83d end")),
}

PARTS: list[Any] = [
    {"functionCall": {"id": "g1", "name": "echo", "args": {"text": "A"}}, "thoughtSignature": "SIG"},
    {"functionCall": {"name": "now", "args": {}}},
]
GEMINI: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "UE5H"}}, {"text": "go"}]},
        {"role": "model", "parts": PARTS},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "g1", "name": "echo", "response": {"output": "A"}}},
                {"functionResponse": {"name": "now", "response": {"output": "12:00"}}},
            ],
        },
    ],
    "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": {"type": "string"}},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "echo",
                    "parameters": {"type": "OBJECT", "properties": {"type": {"type": "ARRAY", "items": {}}}},
                }
            ]
        }
    ],
}


def gemini_parts(request: Any, content: int) -> Any:
    return request["contents"][content]["parts"]


def gemini_schema(request: Any) -> Any:
    return request["tools"][0]["functionDeclarations"][0]["parameters"]["properties"]


GEMINI_BREAKS: dict[str, tuple[str, Edit]] = {
    "no contents": ("contents", lambda r: r["contents"].clear()),
    "a result without a call": ("orphan-result", lambda r: r["contents"].append(r["contents"][2])),
    "a missing result": ("unanswered-call", lambda r: gemini_parts(r, 2).pop()),
    "a call at the end": ("unanswered-call", lambda r: r["contents"].pop()),
    "results in another order": ("result-order", lambda r: gemini_parts(r, 2).reverse()),
    "a result with another name": (
        "result-order",
        lambda r: gemini_parts(r, 2)[1]["functionResponse"].update(name="then"),
    ),
    "a result without the id of its call": (
        "result-order",
        lambda r: gemini_parts(r, 2)[0]["functionResponse"].pop("id"),
    ),
    "a signature lost": ("thought-signature", lambda r: gemini_parts(r, 1)[0].pop("thoughtSignature")),
    "a signature changed": ("thought-signature", lambda r: gemini_parts(r, 1)[0].update(thoughtSignature="SIH")),
    "a signature on another part": (
        "thought-signature",
        lambda r: gemini_parts(r, 1)[1].update(thoughtSignature="SIG"),
    ),
    "inline data without a type": ("input-part", lambda r: gemini_parts(r, 0)[0]["inlineData"].pop("mimeType")),
    "inline data that is not base64": (
        "input-part",
        lambda r: gemini_parts(r, 0)[0]["inlineData"].update(data="not base64"),
    ),
    "a response schema without its type": ("schema", lambda r: r["generationConfig"].pop("responseMimeType")),
    "a reference in a response schema": (
        "schema",
        lambda r: r["generationConfig"].update(responseJsonSchema={"$ref": "#"}),
    ),
    "a reference": ("schema", lambda r: gemini_schema(r).update(x={"$ref": "#/$defs/x"})),
    "a list as type": ("schema", lambda r: gemini_schema(r).update(x={"type": ["STRING", "NULL"]})),
    "a boolean schema": ("schema", lambda r: gemini_schema(r).update(x=True)),
    "an array without items": ("schema", lambda r: gemini_schema(r)["type"].pop("items")),
    "a reference in a JSON schema": (
        "schema",
        lambda r: r["tools"][0]["functionDeclarations"][0].update(parametersJsonSchema={"$ref": "#"}),
    ),
    "NaN": ("json", lambda r: r.update(generationConfig={"temperature": float("nan")})),
}

OUTPUT: list[Any] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ENC"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will look."}]},
    {"type": "function_call", "call_id": "r1", "name": "echo", "arguments": '{"text":"A"}'},
    {"type": "function_call", "call_id": "r2", "name": "echo", "arguments": "{}"},
]
RESPONSES: dict[str, Any] = {
    "model": "m",
    "store": False,
    "text": {"format": {"type": "json_schema", "name": "answer", "schema": CLOSED, "strict": True}},
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "go"},
                {"type": "input_image", "detail": "auto", "image_url": PNG_URL},
                {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URL},
            ],
        },
        *OUTPUT,
        {"type": "function_call_output", "call_id": "r2", "output": "B"},
        {"type": "function_call_output", "call_id": "r1", "output": ""},
    ],
    "tools": [
        {
            "type": "function",
            "name": "echo",
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": {"text": {"type": ["string", "null"]}},
                "required": ["text"],
                "additionalProperties": False,
            },
        },
        {"type": "function", "name": "now", "strict": False, "parameters": {"type": "object"}},
    ],
}


def echo_schema(request: Any) -> Any:
    return request["tools"][0]["parameters"]


def text_format(request: Any) -> Any:
    return request["text"]["format"]


RESPONSES_BREAKS: dict[str, tuple[str, Edit]] = {
    "no input": ("input", lambda r: r["input"].clear()),
    "an unknown role": ("input", lambda r: r["input"][0].update(role="boss")),
    "an item whose type is no text": ("input", lambda r: r["input"][0].update(type=None)),
    "an assistant's part in the user's mouth": ("input", lambda r: r["input"][2].update(role="user")),
    "a result that is no text": ("input", lambda r: r["input"][5].update(output=None)),
    "a response that was not stored": ("input", lambda r: r.update(previous_response_id="resp_1")),
    "a result without a call": ("orphan-result", lambda r: r["input"][5].update(call_id="r9")),
    "a missing result": ("unanswered-call", lambda r: r["input"].pop()),
    "a message between call and result": (
        "unanswered-call",
        lambda r: r["input"].insert(5, {"role": "user", "content": "wait"}),
    ),
    "a result given twice": ("repeated-result", lambda r: r["input"].append(r["input"][5])),
    "two calls with one id": ("call-id", lambda r: r["input"][4].update(call_id="r1")),
    "a call id of 65 letters": ("call-id", lambda r: r["input"][4].update(call_id="i" * 65)),
    "no call id": ("call-id", lambda r: r["input"][4].pop("call_id")),
    "arguments that are an object": ("arguments", lambda r: r["input"][4].update(arguments={})),
    "a called name with a dot": ("name", lambda r: r["input"][4].update(name="fx.echo")),
    "two tools of one name": ("name", lambda r: r["tools"].append(r["tools"][1])),
    "an empty text": ("empty-content", lambda r: r["input"][0].update(content="")),
    "an empty list": ("empty-content", lambda r: r["input"][2].update(content=[])),
    "reasoning that was not sent along": ("reasoning", lambda r: r["input"][1].pop("encrypted_content")),
    "reasoning changed": ("reasoning", lambda r: r["input"][1].update(encrypted_content="END")),
    "reasoning left out": ("reasoning", lambda r: r["input"].pop(1)),
    "reasoning that led to nothing": ("reasoning", lambda r: r["input"].append(r["input"][1])),
    "reasoning behind its call": ("reasoning", lambda r: r["input"].insert(4, r["input"].pop(1))),
    "an image of no content": ("input-part", lambda r: r["input"][0]["content"][1].pop("image_url")),
    "a file without a name": ("input-part", lambda r: r["input"][0]["content"][2].pop("filename")),
    "a text format without a name": ("name", lambda r: text_format(r).pop("name")),
    "a text format that is no object": ("schema", lambda r: text_format(r).update(schema={"type": "array"})),
    "a strict text format that is open": ("schema", lambda r: text_format(r).update(schema={"type": "object"})),
    "a schema that is no object": ("schema", lambda r: r["tools"][1].update(parameters={})),
    "strict, with an optional property": ("schema", lambda r: echo_schema(r).pop("required")),
    "strict, with free properties": ("schema", lambda r: echo_schema(r).pop("additionalProperties")),
    "strict, with a free map": ("schema", lambda r: echo_schema(r)["properties"].update(text={"type": "object"})),
    "strict, without a type": ("schema", lambda r: echo_schema(r)["properties"].update(text={})),
    "strict because nothing was said": (
        "schema",
        lambda r: (
            r["tools"][1].pop("strict")
            or r["tools"][1].update(parameters={"type": "object", "properties": {"n": {"type": "integer"}}})
        ),
    ),
    "NaN": ("json", lambda r: r.update(temperature=float("nan"))),
}

GOOD: dict[Dialect, tuple[dict[str, Any], list[list[Any]]]] = {
    "openai": (OPENAI, []),
    "responses": (RESPONSES, [OUTPUT]),
    "anthropic": (ANTHROPIC, [REPLY]),
    "gemini": (GEMINI, [PARTS]),
}
BREAKS: list[tuple[Dialect, str, str, Edit]] = [
    *(("openai", case, rule, edit) for case, (rule, edit) in OPENAI_BREAKS.items()),
    *(("responses", case, rule, edit) for case, (rule, edit) in RESPONSES_BREAKS.items()),
    *(("anthropic", case, rule, edit) for case, (rule, edit) in ANTHROPIC_BREAKS.items()),
    *(("gemini", case, rule, edit) for case, (rule, edit) in GEMINI_BREAKS.items()),
]


@pytest.mark.parametrize("dialect", GOOD)
def test_a_well_formed_request_breaks_no_rule(dialect: Dialect) -> None:
    request, sent = GOOD[dialect]
    assert broken_rules(dialect, json.dumps(request).encode(), sent) == []
    assert broken_rules(dialect, json.dumps(request, ensure_ascii=False).encode(), sent) == []


@pytest.mark.parametrize(("dialect", "case", "rule", "edit"), BREAKS, ids=[f"{b[0]}: {b[1]}" for b in BREAKS])
def test_each_rule_is_caught_when_it_is_broken(dialect: Dialect, case: str, rule: str, edit: Edit) -> None:
    request, sent = GOOD[dialect]
    broken_request = deepcopy(request)
    result = edit(broken_request)
    body = result if isinstance(result, bytes) else json.dumps(broken_request).encode()
    assert rule in {problem.partition(":")[0] for problem in broken_rules(dialect, body, sent)}


def test_every_rule_that_the_module_names_is_broken_by_a_case() -> None:
    from oribi.testing import rules

    documented = set[str]()
    for line in (rules.__doc__ or "").split("- all:")[1].replace("\n  ", " ").split("\n- "):
        names = line.split("(")[0] if line.startswith(" `json`") else line.partition(":")[2]
        documented |= set(names.replace("`", "").replace(",", " ").split())
    assert documented == {rule for _, _, rule, _ in BREAKS}


def test_thinking_of_a_finished_turn_may_be_left_out() -> None:
    request = deepcopy(ANTHROPIC)
    del reply_blocks(request)[:3]
    request["messages"] += [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "next"}]
    assert broken_rules("anthropic", json.dumps(request).encode(), [REPLY]) == []
