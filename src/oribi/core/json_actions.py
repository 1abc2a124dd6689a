"""JSON actions: tool calls and answers that a model writes as one JSON object a step, in place of native calls (C-1).

Only the words are JSON. What is recorded is a call with an id, or an answer, as with native calls: a reply is read
once, before it is recorded, and the history is written out as actions again for each request.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Final, Never, assert_never

from oribi.core.calls import CallId, Json, JsonObject, Malformed, ToolCall, ToolSpec, told
from oribi.core.messages import Message, Reply, StopReason, ToolMessage, UserMessage
from oribi.core.policy import ActionForm
from oribi.core.text import kind_of, whole

SEND: Final = "send exactly one JSON object, a tool call or the final answer, and nothing else"
FINALS: Final = frozenset({"answer", "final", "final_answer"})
"""Values of `action` that mean the final answer, in any case and with blanks too."""

INPUTS: Final = ("input", "action_input")
NAMING: Final = ("type", "action", "final")
"""The fields that say what an object is."""

LEVELS: Final = 100
"""How deep an action may be nested."""

FENCE: Final = "```"
ONE_OBJECT: Final = "Each of your replies is exactly one JSON object and nothing else."
CALL_LINES: Final[dict[ActionForm, str]] = {
    "type": 'A tool call: {"type": NAME, "input": {...}}.',
    "action": 'A tool call: {"thought": "why", "action": NAME, "action_input": {...}}.',
}
ANSWER_LINES: Final[dict[ActionForm, str]] = {
    "type": 'The final answer: {"type": "answer", "text": "the whole answer"}.',
    "action": 'The final answer: {"thought": "why", "final": "the whole answer"}.',
}
RESULT_LINE: Final = 'The next message is then its result and begins with "Observation".'


def told_actions(tools: Sequence[ToolSpec], form: ActionForm, own: str = "") -> str:
    """The part of the system text that says how to write an action, with `tools` and their schemas.

    `own` is said in its place: `{tools}` in it is replaced by the list of tools, which is added at its end if it has no
    such place. Without tools and `own`, only the form of the answer is told.
    """
    listed = "\n".join(_told_tool(tool, form) for tool in tools) if tools else "(no tools: give the final answer)"
    if own:
        text = own.replace("{tools}", listed) if "{tools}" in own else f"{own.rstrip()}\n\n{listed}"
    else:
        called = [f"{CALL_LINES[form]} {RESULT_LINE}"] if tools else []
        text = "\n".join([ONE_OBJECT, *called, ANSWER_LINES[form], *(["The tools:", listed] if tools else [])])
    return whole(text)


def told_final(form: ActionForm | None, has_schema: bool) -> str:  # noqa: FBT001 - one line, one question
    """The closing line for a step in which no tool may run; `form` None means the native protocol, in plain words."""
    answer = "the JSON value that fits the schema" if has_schema else "the whole answer"
    match form:
        case None:
            shape = f": {answer}" if has_schema else ""
        case "type":
            shape = f', as {{"type": "answer", "text": ...}} with {answer} in "text"'
        case "action":
            shape = f', as {{"thought": "why", "final": ...}} with {answer} in "final"'
        case _:
            assert_never(form)
    return f"No tool can run any more. Give your final answer now, from what you have{shape}."


def as_text_messages(messages: list[Message], form: ActionForm) -> list[Message]:
    """`messages` with calls, answers and results as text, one for one and in their order (T-9).

    A call is written as the action that asks for it, several one to a line; a reply that was no action stays as the
    model wrote it.
    """
    written: list[Message] = []
    are_several = False
    for message in messages:
        match message:
            case UserMessage():
                written.append(message)
            case Reply():
                are_several = len(message.calls) > 1
                written.append(_written(message, form))
            case ToolMessage(name=name, result=result):
                label = f"Observation ({name})" if are_several else "Observation"
                written.append(UserMessage(text=f"{label}: {told(result)}"))
            case _:
                assert_never(message)
    return written


def read_action(
    reply: Reply, *, is_last: bool, has_schema: bool, call_id: CallId, answer_fields: Container[str] = ()
) -> Reply:
    """`reply`, whose text should be one action, as a call with the id `call_id`, as an answer, or with its `problem`.

    A reply that was read before is returned as it is. `is_last`: no tool may run after it, so an object that has only
    the answer's fields is an answer too (M-32). `has_schema`: the answer has to fit a schema, so its text is JSON: of
    all its fields, if it has more than its text, or its text is not JSON itself; `answer_fields` are the names that the
    schema gives them, which an action's own may be among. With a problem, which is worded to
    follow "Your answer cannot be used:", the text stays what the model wrote.
    """
    if reply.action:
        return reply
    stop: StopReason = "stop" if reply.stop == "tool_calls" else reply.stop
    words = replace(reply, text=whole(reply.text), calls=(), stop=stop, raw=None, action=True, problem="")
    if reply.calls:
        return replace(words, problem=f"it uses the provider's own tool calls, which do not count here; {SEND}")
    fields = _object_in(words.text)
    if isinstance(fields, _Problem):
        return replace(words, problem=_cut_off(reply.stop) or fields.text)
    thought = fields.get("thought")
    reasoning = words.reasoning or (thought if isinstance(thought, str) else "")
    bare = {key: value for key, value in fields.items() if key != "thought" and not _is_filled_in(key, value)}
    meaning = _meaning(bare, is_last=is_last, has_schema=has_schema, call_id=call_id)
    own = {key: value for key, value in fields.items() if key in bare or key in answer_fields}
    if isinstance(meaning, str) and own.keys() != bare.keys():  # the answer has a field that actions have, too
        meaning = _meaning(own, is_last=is_last, has_schema=has_schema, call_id=call_id)
    match meaning:
        case _Problem(text=problem):
            return replace(words, problem=f"{problem}; {SEND}")
        case ToolCall() as call:
            return replace(words, text="", calls=(call,), stop="tool_calls", reasoning=reasoning)
        case str(answer):
            return replace(words, text=answer, reasoning=reasoning)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """Why something is no action."""

    text: str


def _told_tool(tool: ToolSpec, form: ActionForm) -> str:
    described = f"- {tool.name}: {tool.description.strip()}" if tool.description.strip() else f"- {tool.name}"
    return f"{described}\n  {'input' if form == 'type' else 'action_input'}: {_json(tool.parameters)}"


def _written(reply: Reply, form: ActionForm) -> Reply:
    plain = replace(reply, calls=(), reasoning="", raw=None)
    if reply.problem or not (reply.calls or reply.action):
        return plain
    actions = [_written_call(call, form) for call in reply.calls] or [_written_answer(reply.text, form)]
    return replace(plain, text="\n".join(actions))


def _written_call(call: ToolCall, form: ActionForm) -> str:
    given: Json = {} if isinstance(call.arguments, Malformed) else call.arguments
    match form:
        case "type":
            return _json({"type": call.name, "input": given})
        case "action":
            return _json({"action": call.name, "action_input": given})
        case _:
            assert_never(form)


def _written_answer(text: str, form: ActionForm) -> str:
    match form:
        case "type":
            return _json({"type": "answer", "text": text})
        case "action":
            return _json({"final": text})
        case _:
            assert_never(form)


def _cut_off(stop: StopReason) -> str:
    """What a reply that is not whole is told of its end; nothing, if the model ended it itself."""
    match stop:
        case "length":
            return f"it was cut off at the output limit before the JSON was complete; write less, and {SEND}"
        case "content_filter":
            return f"it was cut off by the provider's content filter before the JSON was complete; {SEND}"
        case "stop" | "tool_calls" | "other":
            return ""


def _object_in(text: str) -> JsonObject | _Problem:
    """The one JSON object that `text` is, bare or in one code fence."""
    if not _bare(text):
        return _Problem(text="it is empty")
    try:
        value = _parse(text)
    except ValueError as error:
        return _Problem(text=f"it is not one JSON object ({error}); {SEND}")
    if not isinstance(value, dict):
        return _Problem(text=f"it is {kind_of(value)}, not a JSON object; {SEND}")
    return value


def _meaning(given: JsonObject, *, is_last: bool, has_schema: bool, call_id: CallId) -> ToolCall | str | _Problem:
    """The call that an object asks for, or the text of the answer that it gives."""
    fields = dict(given)
    if fields.get("type") == "answer":
        del fields["type"]
        return _answer(fields, "text", has_schema=has_schema)
    match [key for key in NAMING if fields.get(key) is not None]:
        case ["final"]:
            return _answer({"text": fields.pop("final"), **fields}, "text", has_schema=has_schema)
        case ["action"] if _is_final(fields["action"]):
            del fields["action"]
            said: JsonObject = {"text": fields.pop("action_input")} if "action_input" in fields else {}
            return _answer({**said, **fields}, "text", has_schema=has_schema)
        case ["type" | "action" as naming]:
            name = fields.pop(naming)
            if not isinstance(name, str) or not name.strip():
                return _Problem(text=f'"{naming}" has to be the name of a tool')
            return ToolCall(id=call_id, name=name, arguments=_arguments(fields))
        case []:
            key = "answer" if "answer" in fields and "text" not in fields else "text"
            if is_last and not fields.keys() & set(INPUTS) and (key in fields or (has_schema and fields)):
                return _answer(fields, key, has_schema=has_schema)
            return _Problem(
                text='the field "type" is missing (or "action", or "final"), which says whether it is a tool call or '
                "the final answer"
            )
        case several:
            names = " and ".join(f'"{key}"' for key in several)
            return _Problem(text=f"it has {names}, so it is not clear which of them is meant")


def _is_filled_in(key: str, value: Json) -> bool:
    """Whether a model has filled in a field for nothing, as some do with every field they know."""
    return value is None and key in (*NAMING, *INPUTS)


def _is_final(action: Json) -> bool:
    return isinstance(action, str) and action.strip().casefold().replace(" ", "_") in FINALS


def _answer(fields: JsonObject, key: str, *, has_schema: bool) -> str | _Problem:
    """The text of an answer, which is in the field `key`."""
    value = fields.get(key)
    if has_schema and fields:
        is_alone = fields.keys() == {key}
        if is_alone and isinstance(value, str):
            return value if _is_json(value) else _json(fields)
        return _json(value if is_alone else fields)
    if value is None or (isinstance(value, str) and not value.strip()):
        return _Problem(text="it is a final answer without a text")
    return value if isinstance(value, str) else _json(value)


def _arguments(fields: JsonObject) -> JsonObject | Malformed:
    """The arguments of a call: an object, or text that holds one; none at all means `{}`."""
    given = [key for key in INPUTS if key in fields]
    if not given and not fields:
        return {}
    if len(given) != 1:
        return Malformed(text=_json(fields), problem='the arguments are not in one field "input" or "action_input"')
    value = fields[given[0]]
    if isinstance(value, str):
        if not value.strip():
            return {}
        try:
            value = _parse(value)
        except ValueError as error:
            return Malformed(
                text=value, problem=f"the arguments are text that is not JSON ({error}); send one JSON object"
            )
    if isinstance(value, dict):
        return value
    return Malformed(
        text=_json(value), problem=f"the arguments are {kind_of(value)}, not a JSON object; send one JSON object"
    )


def _is_json(text: str) -> bool:
    try:
        _parse(text)
    except ValueError:
        return False
    return True


def _parse(text: str) -> Json:
    """The value of a whole JSON text, bare or in one code fence; line breaks within its texts are let pass.

    Raises:
        ValueError: It is not JSON, not one value, not clear, or nothing could carry it unchanged.

    """
    try:
        value: Json = json.loads(
            _unfenced(_bare(text)),
            strict=False,
            object_pairs_hook=_object,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_within_64_bits,
        )
        return _cleaned(value, LEVELS)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise ValueError(f"something follows the first value, from character {error.pos + 1} on") from error
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _bare(text: str) -> str:
    return text.strip().lstrip("\N{ZERO WIDTH NO-BREAK SPACE}").strip()


def _unfenced(text: str) -> str:
    """What stands in the one code fence of `text`; `text` itself if there is none, or JSON outside of it."""
    if text.startswith(("{", "[", '"')):
        return text
    first, last = text.find(FENCE), text.rfind(FENCE)
    around = text[:first] + text[last:]
    if first < 0 or last < first + len(FENCE) or "{" in around or "}" in around:
        return text
    inside = text[first:last].strip("`").strip()
    return inside[4:] if inside[:4].casefold() == "json" else inside


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    fields: JsonObject = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"the field {json.dumps(key[:40])} stands twice in one object")
        fields[key] = value
    return fields


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is beyond every number")
    return number


def _within_64_bits(digits: str) -> int:
    number = int(digits) if len(digits) <= len(str(-(2**63))) else 2**64
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"the integer {digits[:40]} does not fit 64 bits, send it as text")
    return number


def _cleaned(value: Json, levels: int) -> Json:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict | list) and levels == 0:
        raise ValueError(f"it is nested more than {LEVELS} levels deep")
    if isinstance(value, dict):
        return {whole(key): _cleaned(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item, levels - 1) for item in value]
    return value


def _json(value: Json) -> str:
    return whole(json.dumps(value, ensure_ascii=False))
