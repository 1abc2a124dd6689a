"""Actions as constrained JSON: tool calls for models that were never taught any.

The model's output is held to a JSON schema with one variant per tool, `{"tool": name, "arguments": {...}}`, and one for
the answer, `{"answer": text}`. Requests are written in those terms (the template of such a model renders neither calls
nor results), and what comes back is translated to a `Reply` like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, assert_never

from oribi.core.calls import CallId, Json, JsonObject, Malformed, ToolCall, ToolSpec, told
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage
from oribi.core.prompt import Prompt
from oribi.models.arguments import never_run, parse_arguments
from oribi.models.inputs import all_in_words
from oribi.models.jsontext import as_object, as_text, clean, dumps, loads
from oribi.models.replies import Shown
from oribi.models.schemas import parameters_schema
from oribi.ports import Delta, Listen, TextDelta

KEPT: Final = frozenset(
    {
        "$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "definitions", "enum", "items", "maxItems",
        "maxLength", "maximum", "minItems", "minLength", "minimum", "oneOf", "prefixItems", "properties", "required",
        "type",
    }
)  # fmt: skip
"""What llama.cpp's grammars know of JSON Schema. The rest is checked when the call is judged."""

ANSWER: Final[JsonObject] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}

ANSWER_START: Final = re.compile(r'\s*\{\s*"answer"\s*:\s*"')
TOOL_START: Final = re.compile(r'\s*\{\s*"tool"\s*:\s*"((?:[^"\\]|\\.)*)"')
STRING_PART: Final = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
"""The longest beginning of a JSON string's inside that holds no half escape."""


def action_schema(tools: Sequence[ToolSpec]) -> JsonObject:
    """The schema of one action over `tools`: a call of one of them, or the answer."""
    variants: list[Json] = []
    definitions: JsonObject = {}
    for place, tool in enumerate(tools):
        home = f"tool_{place}"
        schema: JsonObject = as_object(_fit(parameters_schema(tool.parameters), home))
        if "$ref" in dumps(schema).decode():  # its references are relative to its own root, so it gets a place
            definitions[home] = schema
            schema = {"$ref": f"#/$defs/{home}"}
        variants.append(
            {
                "type": "object",
                "properties": {"tool": {"const": clean(tool.name)}, "arguments": schema},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            }
        )
    action: JsonObject = {"anyOf": [*variants, ANSWER]}
    if definitions:
        action["$defs"] = definitions
    return action


def as_actions(prompt: Prompt) -> Prompt:
    """`prompt` for a model that knows only text: tools told and demanded, calls and results as plain messages.

    Messages of one role in a row become one, since many templates refuse them otherwise.
    """
    messages: list[Message] = []
    for message in prompt.messages:
        plain = _plain(message)
        last = messages[-1] if messages else None
        match last, plain:
            case UserMessage(text=before), UserMessage(text=text):
                messages[-1] = UserMessage(text=f"{before}\n\n{text}")
            case Reply(text=before), Reply(text=text):
                messages[-1] = replace(last, text=f"{before}\n{text}")
            case _:
                messages.append(plain)
    if not prompt.tools:
        return replace(prompt, messages=messages)
    response_format: JsonObject = {
        "type": "json_schema",
        "json_schema": {"name": "action", "strict": True, "schema": action_schema(prompt.tools)},
    }
    model = replace(prompt.model, parameters={**prompt.model.parameters, "response_format": response_format})
    system = "\n\n".join(part for part in (prompt.system, _told_tools(prompt.tools)) if part)
    return replace(prompt, model=model, system=system, messages=messages, tools=())


def action_reply(reply: Reply, call_id: CallId) -> Reply:
    """`reply`, whose text is an action, with the call or the answer that it means; other text stays as it is."""
    try:
        action = as_object(loads(reply.text))
    except ValueError:
        return _cut_reply(reply, call_id)
    if isinstance(answer := action.get("answer"), str):
        return replace(reply, text=clean(answer))
    if not as_text(action.get("tool")):
        return reply
    return _called(reply, call_id, as_text(action["tool"]), parse_arguments(action.get("arguments")))


class ActionListener:
    """Shows the answer within an action while it is written; calls are not shown. `shown` is what was."""

    __slots__ = ("_listen", "_open", "_pending", "_text")

    def __init__(self, listen: Listen) -> None:
        self._listen = listen
        self._pending = ""
        self._open = False
        self._text = Shown()

    @property
    def shown(self) -> str:
        """The text that went out as deltas so far."""
        return self._text.text

    def hear(self, delta: Delta) -> None:
        """Take in a fragment of the action's JSON."""
        if not isinstance(delta, TextDelta):
            self._listen(delta)
            return
        self._pending += delta.text
        if not self._open:
            start = ANSWER_START.match(self._pending)
            if start is None:
                return
            self._open = True
            self._pending = self._pending[start.end() :]
        whole = _string_part(self._pending)
        self._pending = self._pending[len(whole) :]
        if whole and (text := self._text.add(json.loads(f'"{whole}"', strict=False))):
            self._listen(TextDelta(text=text))


def _string_part(text: str) -> str:
    found = STRING_PART.match(text)
    return found[0] if found else ""


def _called(reply: Reply, call_id: CallId, name: str, arguments: JsonObject | Malformed) -> Reply:
    call = ToolCall(id=call_id, name=clean(name), arguments=never_run(arguments, reply.stop))
    return replace(reply, text="", calls=(call,), stop="tool_calls" if reply.stop == "stop" else reply.stop)


def _cut_reply(reply: Reply, call_id: CallId) -> Reply:
    """What a broken-off action meant: so much of its answer, or a call that does not run (O-34)."""
    if start := ANSWER_START.match(reply.text):
        part = _string_part(reply.text[start.end() :])
        return replace(reply, text=clean(json.loads(f'"{part}"', strict=False)))
    if start := TOOL_START.match(reply.text):
        broken = Malformed(text=reply.text, problem="the action was not whole JSON; send one complete JSON object")
        return _called(reply, call_id, as_text(json.loads(f'"{start[1]}"', strict=False)), broken)
    return reply


def _plain(message: Message) -> UserMessage | Reply:
    match message:
        case UserMessage():
            return UserMessage(text=all_in_words(message))
        case ToolMessage(name=name, result=result):
            return UserMessage(text=f"Result of {name}:\n{told(result)}")
        case Reply():
            lines = [message.text] if message.text.strip() else []
            for call in message.calls:
                given: Json = {} if isinstance(call.arguments, Malformed) else call.arguments
                lines.append(dumps({"tool": call.name, "arguments": given}).decode())
            return replace(message, text="\n".join(lines), calls=(), raw=None, reasoning="")
        case _:
            assert_never(message)


def _told_tools(tools: Sequence[ToolSpec]) -> str:
    """The tools in words, since the template has no place for them."""
    lines = [
        "Reply with one JSON object and nothing else: a tool call, whose result comes in the next message, as",
        '{"tool": NAME, "arguments": {...}}, or, once you know the answer, {"answer": TEXT}. The tools:',
    ]
    for tool in tools:
        schema = dumps(parameters_schema(tool.parameters)).decode()
        lines.append(f"- {tool.name}: {tool.description} Arguments: {schema}")
    return "\n".join(lines)


def _fit(schema: Json, home: str) -> Json:
    """A schema with what a grammar can hold, and its references pointed to where it will stand.

    An object without properties of its own is left open, as JSON Schema has it.
    """
    if not isinstance(schema, dict):
        return schema
    fit: JsonObject = {}
    for keyword, value in schema.items():
        match keyword, value:
            case "properties" | "$defs" | "definitions", dict():
                fit[keyword] = {name: _fit(inner, home) for name, inner in value.items()}
            case "anyOf" | "oneOf" | "allOf" | "prefixItems", list():
                fit[keyword] = [_fit(inner, home) for inner in value]
            case "items" | "additionalProperties", _:
                fit[keyword] = _fit(value, home)
            case "$ref", str():
                fit[keyword] = f"#/$defs/{home}{value[1:]}"
            case _ if keyword in KEPT:
                fit[keyword] = value
            case _:
                pass
    return fit
