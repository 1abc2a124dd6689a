"""The strict rules of the OpenAI Responses wire, used without storage."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import is_data_url, list_of, object_of, text_of
from oribi.testing.schemas import schema_problems, strict_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGEST_ID = 64
_SAID = ("user", "assistant", "system", "developer")


def broken_responses_rules(request: JsonObject, sent: Sequence[list[Json]]) -> list[str]:
    """The rules that `request` breaks; `sent` are the output items of earlier replies, for their reasoning."""
    given = request.get("input")
    if isinstance(given, str) and given:
        return _broken_tools(list_of(request.get("tools")))
    items = [object_of(item) for item in list_of(given)]
    if not items:
        return ["input: there are no items"]
    broken: list[str] = []
    for index, item in enumerate(items):
        broken += _broken_item(item, f"input[{index}]")
    return (
        broken
        + _broken_order(items)
        + _broken_reasoning(items, sent)
        + _broken_tools(list_of(request.get("tools")))
        + _broken_format(object_of(object_of(request.get("text")).get("format")))
        + _broken_storage(request)
    )


def _broken_item(item: JsonObject, place: str) -> list[str]:
    match item.get("type", "message"):
        case "message":
            return _broken_message(item, place)
        case "function_call":
            return _broken_call(item, place)
        case "function_call_output":
            output = item.get("output")
            return [] if isinstance(output, str) or list_of(output) else [f"input: {place} has the output {output!r}"]
        case str():
            return []
        case kind:
            return [f"input: {place} has the type {kind!r}"]


def _broken_message(item: JsonObject, place: str) -> list[str]:
    role, content = item.get("role"), item.get("content")
    if role not in _SAID:
        return [f"input: {place} has the role {role!r}"]
    if not isinstance(content, list):
        return [] if isinstance(content, str) and content else [f"empty-content: {place} has the content {content!r}"]
    if not content:
        return [f"empty-content: {place} has an empty list"]
    fit = ("output_text", "refusal") if role == "assistant" else ("input_text", "input_image", "input_file")
    parts = [object_of(part) for part in content]
    broken = [
        f"input: {place} holds a part of type {part.get('type')!r}" for part in parts if part.get("type") not in fit
    ]
    return broken + [
        f"input-part: {place} holds a part of type {part.get('type')!r} that is not whole"
        for part in parts
        if not _is_whole(part)
    ]


def _is_whole(part: JsonObject) -> bool:
    """Whether an image or a file has its content, as a URL or as data."""
    match part.get("type"):
        case "input_image":
            url = text_of(part.get("image_url"))
            return bool(part.get("file_id")) or url.startswith(("https://", "http://")) or is_data_url(url)
        case "input_file":
            named = bool(text_of(part.get("filename"))) and is_data_url(text_of(part.get("file_data")))
            return named or bool(part.get("file_id")) or bool(part.get("file_url"))
        case _:
            return True


def _broken_format(given: JsonObject) -> list[str]:
    if given.get("type") != "json_schema":
        return []
    broken = [] if _NAME.fullmatch(text_of(given.get("name"))) else [f"name: the format is named {given.get('name')!r}"]
    problems = schema_problems(given.get("schema"))
    if given.get("strict") is True:
        problems = problems or strict_problems(given.get("schema"))
    return broken + [f"schema: the text format: {problem}" for problem in problems]


def _broken_call(item: JsonObject, place: str) -> list[str]:
    broken: list[str] = []
    call_id = text_of(item.get("call_id"))
    if not 0 < len(call_id) <= _LONGEST_ID:
        broken.append(f"call-id: {place} has the call_id {item.get('call_id')!r}")
    if not _NAME.fullmatch(text_of(item.get("name"))):
        broken.append(f"name: {place} calls {item.get('name')!r}")
    arguments = item.get("arguments")
    try:
        parsed: Json = json.loads(arguments) if isinstance(arguments, str) else None
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        broken.append(f"arguments: {place} has {arguments!r}, which is not the text of a JSON object")
    return broken


def _broken_order(items: list[JsonObject]) -> list[str]:
    """Calls and results: one result for each call, after it and before anything else is said; ids differ throughout."""
    broken: list[str] = []
    waiting: list[str] = []
    known: set[str] = set()
    for index, item in enumerate(items):
        call_id = text_of(item.get("call_id"))
        match item.get("type", "message"):
            case "function_call":
                if call_id in known:
                    broken.append(f"call-id: input[{index}] repeats the call_id {call_id!r}")
                known.add(call_id)
                waiting.append(call_id)
            case "function_call_output" if call_id in waiting:
                waiting.remove(call_id)
            case "function_call_output":
                rule = "repeated-result" if call_id in known else "orphan-result"
                broken.append(f"{rule}: input[{index}] answers {call_id!r}, which waits for no result")
            case "message" if waiting and item.get("role") != "assistant":
                broken.append(f"unanswered-call: calls {waiting} have no result before input[{index}]")
                waiting = []
            case _:
                pass
    if waiting:
        broken.append(f"unanswered-call: calls {waiting} have no result at the end")
    return broken


def _broken_reasoning(items: list[JsonObject], sent: Sequence[list[Json]]) -> list[str]:
    """Reasoning comes back whole, before what it led to; that of the open turn as it was sent."""
    broken: list[str] = []
    for index, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        if not item.get("encrypted_content") and not item.get("content"):
            broken.append(f"reasoning: input[{index}] holds none, and nothing is stored under its id")
        after = items[index + 1] if index + 1 < len(items) else {}
        if after.get("type") in (None, "function_call_output") and after.get("role") != "assistant":
            broken.append(f"reasoning: nothing follows input[{index}] that it led to")
    for reply in _open_replies(items):
        calls = _call_ids(reply)
        originals = [found for content in sent if _call_ids(found := [object_of(one) for one in content]) == calls]
        if calls and originals and all(_reasoning(reply) != _reasoning(original) for original in originals):
            broken.append(f"reasoning: that of the calls {calls} is not what was sent")
    return broken


def _open_replies(items: list[JsonObject]) -> list[list[JsonObject]]:
    """The replies since the last input, each as its items."""
    replies: list[list[JsonObject]] = [[]]
    for item in items:
        if item.get("role") in ("user", "system", "developer"):
            replies = [[]]
        elif item.get("type") == "function_call_output":
            replies.append([])
        else:
            replies[-1].append(item)
    return replies


def _broken_tools(tools: list[Json]) -> list[str]:
    broken: list[str] = []
    names: set[str] = set()
    for tool in map(object_of, tools):
        if tool.get("type") != "function":
            continue
        name = text_of(tool.get("name"))
        if not _NAME.fullmatch(name):
            broken.append(f"name: a tool is named {tool.get('name')!r}")
        if name in names:
            broken.append(f"name: two tools are named {name!r}")
        names.add(name)
        problems = schema_problems(tool.get("parameters"))
        if tool.get("strict", True) is True:  # strict is what the provider takes when nothing is said
            problems = problems or strict_problems(tool.get("parameters"))
        broken += [f"schema: tool {name!r}: {problem}" for problem in problems]
    return broken


def _broken_storage(request: JsonObject) -> list[str]:
    if request.get("store") is False and request.get("previous_response_id") is not None:
        return ["input: previous_response_id names a response that was not stored"]
    return []


def _call_ids(items: list[JsonObject]) -> list[str]:
    return [text_of(item.get("call_id")) for item in items if item.get("type") == "function_call"]


def _reasoning(items: list[JsonObject]) -> list[JsonObject]:
    """The reasoning that can come back."""
    return [
        item
        for item in items
        if item.get("type") == "reasoning" and (item.get("encrypted_content") or item.get("content"))
    ]
