"""The strict rules of the OpenAI chat wire."""

from __future__ import annotations

import json
import re

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import is_data_url, list_of, object_of, text_of
from oribi.testing.schemas import schema_problems, strict_problems

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = ("system", "developer", "user", "assistant", "tool")


def broken_openai_rules(request: JsonObject) -> list[str]:
    """The rules that `request` breaks."""
    messages = list_of(request.get("messages"))
    if not messages:
        return ["messages: there are none"]
    return (
        _broken_order(messages)
        + _broken_messages(messages)
        + _broken_tools(list_of(request.get("tools")))
        + _broken_format(object_of(request.get("response_format")))
    )


def _broken_order(messages: list[Json]) -> list[str]:
    """Calls and results: each result right after its call, each call answered once."""
    broken: list[str] = []
    waiting: list[str] = []
    answered: set[str] = set()
    for index, item in enumerate(messages):
        message = object_of(item)
        if message.get("role") == "tool":
            call_id = text_of(message.get("tool_call_id"))
            if call_id in waiting:
                waiting.remove(call_id)
                answered.add(call_id)
            elif call_id in answered:
                broken.append(f"repeated-result: messages[{index}] answers call {call_id!r} again")
            else:
                broken.append(f"orphan-result: messages[{index}] answers {call_id!r}, which is no call just before it")
            continue
        if waiting:
            broken.append(f"unanswered-call: calls {waiting} have no result before messages[{index}]")
        calls = list_of(message.get("tool_calls")) if message.get("role") == "assistant" else []
        waiting = [text_of(object_of(call).get("id")) for call in calls]
        answered = set()
    if waiting:
        broken.append(f"unanswered-call: calls {waiting} have no result at the end")
    return broken


def _broken_messages(messages: list[Json]) -> list[str]:
    broken: list[str] = []
    for index, item in enumerate(messages):
        message = object_of(item)
        role = message.get("role")
        if role not in _ROLES:
            broken.append(f"messages: messages[{index}] has the role {role!r}")
        if role == "user":
            broken += _broken_parts(message.get("content"), f"messages[{index}]")
        if role != "assistant":
            continue
        if message.get("tool_calls", ...) in (None, []):
            broken.append(f"empty-calls: messages[{index}] has tool_calls {message['tool_calls']!r}; leave it out")
        calls = list_of(message.get("tool_calls"))
        if not calls and not _text(message.get("content")):
            broken.append(f"empty-reply: messages[{index}] has neither text nor calls")
        ids = [text_of(object_of(call).get("id")) for call in calls]
        if "" in ids or len(set(ids)) < len(ids):
            broken.append(f"call-id: messages[{index}] has the call ids {ids}; they must differ and not be empty")
        for call in calls:
            broken += _broken_call(object_of(object_of(call).get("function")), f"messages[{index}]")
    return broken


def _broken_parts(content: Json, place: str) -> list[str]:
    """Text, images and files that a user sends: each with its content, as a URL or as data."""
    if content == []:
        return [f"input-part: {place} has an empty list"]
    broken: list[str] = []
    for part in map(object_of, list_of(content)):
        match part.get("type"):
            case "text" if isinstance(part.get("text"), str):
                fits = True
            case "image_url":
                url = text_of(object_of(part.get("image_url")).get("url"))
                fits = url.startswith(("https://", "http://")) or is_data_url(url)
            case "file":
                file = object_of(part.get("file"))
                named = bool(text_of(file.get("filename"))) and is_data_url(text_of(file.get("file_data")))
                fits = named or bool(text_of(file.get("file_id")))
            case kind:
                fits = kind == "input_audio"
        if not fits:
            broken.append(f"input-part: {place} holds a part of type {part.get('type')!r} that is not whole")
    return broken


def _broken_format(given: JsonObject) -> list[str]:
    if given.get("type") != "json_schema":
        return []
    held = object_of(given.get("json_schema"))
    broken: list[str] = []
    if not _NAME.fullmatch(text_of(held.get("name"))):
        broken.append(f"name: the response format is named {held.get('name')!r}")
    problems = schema_problems(held.get("schema"))
    if held.get("strict") is True:
        problems = problems or strict_problems(held.get("schema"))
    return broken + [f"schema: the response format: {problem}" for problem in problems]


def _broken_call(function: JsonObject, place: str) -> list[str]:
    broken: list[str] = []
    if not _NAME.fullmatch(text_of(function.get("name"))):
        broken.append(f"name: {place} calls {function.get('name')!r}")
    arguments = function.get("arguments")
    try:
        parsed: Json = json.loads(arguments) if isinstance(arguments, str) else None
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        broken.append(f"arguments: {place} has {arguments!r}, which is not the text of a JSON object")
    return broken


def _broken_tools(tools: list[Json]) -> list[str]:
    broken: list[str] = []
    names: set[str] = set()
    for tool in tools:
        function = object_of(object_of(tool).get("function"))
        name = text_of(function.get("name"))
        if not _NAME.fullmatch(name):
            broken.append(f"name: a tool is named {function.get('name')!r}")
        if name in names:
            broken.append(f"name: two tools are named {name!r}")
        names.add(name)
        if "parameters" in function:
            broken += [f"schema: tool {name!r}: {problem}" for problem in schema_problems(function["parameters"])]
    return broken


def _text(content: Json) -> str:
    """The text of a content, given as text or as parts."""
    if isinstance(content, list):
        return "".join(text_of(object_of(part).get("text")) for part in content)
    return text_of(content)
