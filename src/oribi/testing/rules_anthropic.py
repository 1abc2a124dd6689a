"""The strict rules of the Anthropic Messages wire."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import is_base64, list_of, object_of, text_of
from oribi.testing.schemas import closed_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_THINKING = ("thinking", "redacted_thinking")


def broken_anthropic_rules(request: JsonObject, sent: Sequence[list[Json]]) -> list[str]:
    """The rules that `request` breaks; `sent` are the contents of earlier replies, for their thinking blocks."""
    broken: list[str] = []
    limit = request.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        broken.append(f"max-tokens: max_tokens is {limit!r}")
    messages = [object_of(message) for message in list_of(request.get("messages"))]
    if not messages:
        return [*broken, "messages: there are none"]
    if messages[0].get("role") != "user":
        broken.append(f"first-user: messages[0] has the role {messages[0].get('role')!r}")
    broken += _broken_blocks(list_of(request.get("system")), "system")
    for index, message in enumerate(messages):
        broken += _broken_message(message, f"messages[{index}]")
    return (
        broken
        + _broken_order(messages)
        + _broken_thinking(messages, sent)
        + _broken_tools(request)
        + _broken_format(request)
    )


def _broken_message(message: JsonObject, place: str) -> list[str]:
    role, content = message.get("role"), message.get("content")
    broken: list[str] = []
    if role not in ("user", "assistant"):
        broken.append(f"messages: {place} has the role {role!r}")
    if isinstance(content, str):
        return broken if content.strip() else [*broken, f"blank-text: {place} has blank text"]
    if not list_of(content):
        return [*broken, f"empty-content: {place} has the content {content!r}"]
    blocks = _blocks(message)
    broken += _broken_blocks(list_of(content), place)
    ids = [text_of(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
    if "" in ids or len(set(ids)) < len(ids):
        broken.append(f"call-id: {place} has the tool_use ids {ids}; they must differ and not be empty")
    seen_call = False
    for block in blocks:
        if block.get("type") == "tool_use":
            seen_call = True
            if not _NAME.fullmatch(text_of(block.get("name"))):
                broken.append(f"name: {place} calls {block.get('name')!r}")
            if not isinstance(block.get("input"), dict):
                broken.append(f"input: {place} has the input {block.get('input')!r}, not an object")
        elif block.get("type") in _THINKING:
            if seen_call:
                broken.append(f"thinking: {place} has a thinking block after a tool_use")
            if block.get("type") == "thinking" and not text_of(block.get("signature")):
                broken.append(f"thinking: {place} has a thinking block without its signature")
    return broken


def _broken_blocks(blocks: list[Json], place: str) -> list[str]:
    """Blank text and empty lists, also inside tool results."""
    broken: list[str] = []
    for item in blocks:
        block = object_of(item)
        if block.get("type") == "text" and not text_of(block.get("text")).strip():
            broken.append(f"blank-text: {place} has a text block {block.get('text')!r}")
        if block.get("type") in ("image", "document"):
            broken += _broken_source(block, place)
        if block.get("type") == "tool_result":
            inner = block.get("content")
            if inner == []:
                broken.append(f"empty-content: {place} has a tool_result with an empty list")
            broken += _broken_blocks(list_of(inner), f"{place}.tool_result")
    return broken


def _broken_source(block: JsonObject, place: str) -> list[str]:
    """The content of an image or a document, when it is given as data."""
    source = object_of(block.get("source"))
    if source.get("type") != "base64":
        return [] if source else [f"input-part: {place} has a block of type {block.get('type')!r} without a source"]
    fit = _IMAGES if block.get("type") == "image" else ("application/pdf",)
    if source.get("media_type") in fit and is_base64(text_of(source.get("data"))):
        return []
    return [f"input-part: {place} has a block of type {block.get('type')!r} as {source.get('media_type')!r}"]


def _broken_format(request: JsonObject) -> list[str]:
    """The schema that an answer is held to: closed objects and few keywords."""
    held = object_of(object_of(request.get("output_config")).get("format"))
    problems = closed_problems(held.get("schema")) if held else []
    return [f"schema: the output format: {problem}" for problem in problems]


def _broken_order(messages: list[JsonObject]) -> list[str]:
    """Calls and results: one user message answers all calls of the message before, before it says anything else."""
    broken: list[str] = []
    waiting: list[str] = []
    known: set[str] = set()
    for index, message in enumerate(messages):
        calls, waiting = waiting, []
        answered: list[str] = []
        other = False
        for block in _blocks(message):
            match block.get("type"):
                case "tool_result":
                    call_id = text_of(block.get("tool_use_id"))
                    if call_id not in calls or message.get("role") != "user":
                        broken.append(f"orphan-result: messages[{index}] answers {call_id!r}, no call just before it")
                    elif call_id in answered:
                        broken.append(f"repeated-result: messages[{index}] answers call {call_id!r} again")
                    if other:
                        broken.append(f"result-order: messages[{index}] has another block before a tool_result")
                    answered.append(call_id)
                case "tool_use" if message.get("role") == "assistant":
                    waiting.append(text_of(block.get("id")))
                    if waiting[-1] in known:
                        broken.append(f"call-id: messages[{index}] uses the id {waiting[-1]!r} of an earlier message")
                case _:
                    other = True
        known.update(waiting)
        if missing := [call_id for call_id in calls if call_id not in answered]:
            broken.append(f"unanswered-call: messages[{index}] does not answer the calls {missing}")
    if waiting:
        broken.append(f"unanswered-call: calls {waiting} have no result at the end")
    return broken


def _broken_thinking(messages: list[JsonObject], sent: Sequence[list[Json]]) -> list[str]:
    """Thinking blocks of the open tool turn: the same blocks in the same order as they were sent."""
    broken: list[str] = []
    for index in range(len(messages) - 1, -1, -1):
        blocks = _blocks(messages[index])
        if messages[index].get("role") == "user" and not any(b.get("type") == "tool_result" for b in blocks):
            break
        calls = _call_ids(blocks)
        originals = [found for content in sent if _call_ids(found := _objects(content)) == calls]
        if calls and originals and all(_thinking(blocks) != _thinking(original) for original in originals):
            broken.append(f"thinking: the thinking blocks of messages[{index}] are not those that were sent")
    return broken


def _broken_tools(request: JsonObject) -> list[str]:
    broken: list[str] = []
    names: set[str] = set()
    for item in list_of(request.get("tools")):
        tool = object_of(item)
        name = text_of(tool.get("name"))
        if not _NAME.fullmatch(name):
            broken.append(f"name: a tool is named {tool.get('name')!r}")
        if name in names:
            broken.append(f"name: two tools are named {name!r}")
        names.add(name)
        if tool.get("type", "custom") == "custom" and object_of(tool.get("input_schema")).get("type") != "object":
            broken.append(f"schema: tool {name!r}: its input_schema is not of type object")
    return broken


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else _objects(list_of(content))


def _objects(content: list[Json]) -> list[JsonObject]:
    return [object_of(block) for block in content]


def _call_ids(blocks: list[JsonObject]) -> list[str]:
    return [text_of(block.get("id")) for block in blocks if block.get("type") == "tool_use"]


def _thinking(blocks: list[JsonObject]) -> list[JsonObject]:
    return [block for block in blocks if block.get("type") in _THINKING]
