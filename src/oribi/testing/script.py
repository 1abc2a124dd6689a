"""A model's script: what to answer to which prompt, as values. `script_reader.py` reads it from YAML.

A script has replies by position and replies by rule; the first of these that has an answer gives it:

1. `rules`, in order: the first whose conditions all hold;
2. `replies`: the one at the prompt's position (from the start again when `replies_cycle`);
3. `replies_tail`.

The *position* of a prompt is the number of model replies it holds, from 0. It depends on nothing but the prompt, so a
conversation goes on at the same place after a restart, and each session has its own. It is known as long as the prompt
holds the whole session: once `max_history_turns` leaves turns out, only rules and `replies_tail` can answer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

from oribi.core.calls import CallId, Json, JsonObject, Malformed, ToolCall, told
from oribi.core.errors import FaultKind
from oribi.core.messages import Reply, StopReason, ToolMessage, Usage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oribi.core.prompt import Prompt
    from oribi.testing.wire_reply import WireReply

FIELDS = ("input", "last", "tool", "result", "step", "position")
"""The placeholders every reply may use, beside the named groups of its rule."""

_PLACEHOLDER = re.compile(r"\{\{(?P<literal>[a-zA-Z_]\w*)\}\}|\{(?P<name>[a-zA-Z_]\w*)(?P<int>:int)?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a script sees of a prompt.

    `position` counts the replies in the prompt, `step` the model calls of the open turn from 1. `input` is the last
    user message, `last` the text of the last message whatever it is; `tool` names the tool whose result is last (None:
    the last message is not a result). `results` has the latest result of each tool in this turn. `left_out` counts
    the turns that the prompt lacks.
    """

    position: int
    step: int
    input: str
    last: str
    tool: str | None = None
    results: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: int = 0

    def fields(self) -> dict[str, str]:
        """The values of `FIELDS`."""
        return {
            "input": self.input,
            "last": self.last,
            "tool": self.tool or "",
            "result": self.last if self.tool is not None else "",
            "step": str(self.step),
            "position": str(self.position),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails:
    """The model call gives no reply but a `ModelError`; after `times` asks of one request it replies (None: never)."""

    kind: FaultKind
    message: str
    times: int | None = None
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call to make. `arguments` given as text that is not a JSON object makes a malformed call."""

    name: str
    arguments: JsonObject | str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """A reply to make, its texts with placeholders.

    `stop` None means what fits the calls; `usage` None means estimated at four characters a token;
    `delay_seconds` passes before the first word.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    stop: StopReason | None = None
    usage: Usage | None = None
    delay_seconds: float = 0.0
    fails: Fails | None = None


ReplyForm: TypeAlias = "ScriptedReply | Reply | WireReply"
"""One entry of a script: a reply to make, a finished reply taken as it is, or exact bytes for a wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The conditions of a rule, all of which must hold; None and empty ask for nothing.

    `last`, `input` and `result` are searched for in the texts of those names; `tool` is the exact name of the tool
    whose result is last; `earlier` maps tools to a pattern for their latest result in this turn. The named
    groups of all patterns become placeholders of the reply.
    """

    last: re.Pattern[str] | None = None
    input: re.Pattern[str] | None = None
    tool: str | None = None
    result: re.Pattern[str] | None = None
    step: int | None = None
    position: int | None = None
    earlier: Mapping[str, re.Pattern[str]] = field(default_factory=dict[str, "re.Pattern[str]"])

    def patterns(self) -> list[re.Pattern[str]]:
        """All patterns, in the order in which their groups override each other."""
        own = (self.last, self.input, self.result)
        return [pattern for pattern in own if pattern is not None] + list(self.earlier.values())

    def captured(self, situation: Situation) -> dict[str, str] | None:
        """The named groups if every condition holds, else None."""
        if self.tool not in (None, situation.tool):
            return None
        if self.step not in (None, situation.step) or self.position not in (None, situation.position):
            return None
        if self.result is not None and situation.tool is None:
            return None
        searches: list[tuple[re.Pattern[str] | None, str | None]] = [
            (self.last, situation.last),
            (self.input, situation.input),
            (self.result, situation.last),
            *((pattern, situation.results.get(tool)) for tool, pattern in self.earlier.items()),
        ]
        groups: dict[str, str] = {}
        for pattern, text in searches:
            if pattern is None:
                continue
            if text is None or (match := pattern.search(text)) is None:
                return None
            groups |= match.groupdict(default="")
        return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A reply for every prompt that fits `when`."""

    when: When
    reply: ReplyForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The answer to one prompt: `name` says where it stands in the script, `index` which of `replies` it is."""

    name: str
    reply: ReplyForm
    index: int | None = None
    groups: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What to answer to which prompt; see the module for the order in which its parts are asked.

    `order`: `history` takes `replies` by the prompt's position; `requests` hands them out one per request, whatever
    it says, which is for a fake server only.
    """

    replies: tuple[ReplyForm, ...] = ()
    rules: tuple[Rule, ...] = ()
    tail: ReplyForm | None = None
    cycle: bool = False
    order: Literal["history", "requests"] = "history"

    def choose(self, situation: Situation, index: int | None = None) -> Chosen | None:
        """The answer to `situation`, or None if the script has none; `index` replaces its position in `replies`."""
        for number, rule in enumerate(self.rules, start=1):
            if (groups := rule.when.captured(situation)) is not None:
                return Chosen(name=f"rule {number}", reply=rule.reply, groups=groups)
        if index is None and situation.left_out == 0:
            index = situation.position
        if index is not None and self.replies:
            place = index % len(self.replies) if self.cycle else index
            if place < len(self.replies):
                return Chosen(name=f"reply {place + 1}", reply=self.replies[place], index=place)
        return None if self.tail is None else Chosen(name="replies_tail", reply=self.tail)

    def why_none(self, situation: Situation) -> str:
        """Why `choose` has no answer to `situation`, in words for the author of the script."""
        place = f"position {situation.position} (step {situation.step} of its turn)"
        message = f"the result of {situation.tool!r}" if situation.tool is not None else "a user message"
        has = f"{len(self.replies)} replies and {len(self.rules)} rules"
        hint = "add a reply, a rule that fits, or replies_tail"
        if situation.left_out and self.replies:
            hint = f"{situation.left_out} earlier turns are left out of it, so positions are unknown: use rules"
        return (
            f"the script ({has}) has no answer to the prompt at {place}, "
            f"whose last message is {message}: {situation.last[:200]!r}; {hint}"
        )

    def unused(self, used: set[int]) -> list[str]:
        """The replies whose index is not in `used`, each with its beginning."""
        return [
            f"reply {index + 1} ({_beginning(reply)})" for index, reply in enumerate(self.replies) if index not in used
        ]


def situation_of(prompt: Prompt) -> Situation:
    """What a script sees of `prompt`."""
    position = sum(isinstance(message, Reply) for message in prompt.messages)
    step, typed, results = 1, "", dict[str, str]()
    for message in reversed(prompt.messages):
        match message:
            case UserMessage(text=text):
                typed = text
                break
            case Reply():
                step += 1
            case ToolMessage():
                results.setdefault(message.name, told(message.result))
    last = prompt.messages[-1]
    return Situation(
        position=position,
        step=step,
        input=typed,
        last=told(last.result) if isinstance(last, ToolMessage) else last.text,
        tool=last.name if isinstance(last, ToolMessage) else None,
        results=results,
        left_out=prompt.turns_left_out,
    )


def render(reply: ScriptedReply, situation: Situation, groups: Mapping[str, str], *, prompt_bytes: int) -> Reply:
    """The finished reply: placeholders filled in, calls numbered, usage estimated from `prompt_bytes` if not given.

    A call without an id of its own gets `call_<position>_<number>`, unique within the session.
    """
    values = situation.fields() | dict(groups)
    calls = tuple(
        ToolCall(
            id=CallId(call.id or f"call_{situation.position + 1}_{number}"),
            name=fill_text(call.name, values),
            arguments=_arguments(call.arguments, values),
        )
        for number, call in enumerate(reply.calls, start=1)
    )
    text, reasoning = fill_text(reply.text, values), fill_text(reply.reasoning, values)
    written = len(text) + len(reasoning) + sum(len(call.name) + len(argument_text(call)) for call in calls)
    return Reply(
        text=text,
        calls=calls,
        stop=reply.stop or ("tool_calls" if calls else "stop"),
        usage=reply.usage or Usage(input_tokens=max(1, prompt_bytes // 4), output_tokens=max(1, written // 4)),
        reasoning=reasoning,
    )


def argument_text(call: ToolCall) -> str:
    """The call's arguments as the text that a model would have written."""
    if isinstance(call.arguments, Malformed):
        return call.arguments.text
    return json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))


def placeholders(template: Json) -> set[str]:
    """The names that `template` asks for, in all its texts."""
    match template:
        case str():
            return {match["name"] for match in _PLACEHOLDER.finditer(template) if match["name"] is not None}
        case list():
            return {name for item in template for name in placeholders(item)}
        case dict():
            return {name for item in template.values() for name in placeholders(item)}
        case None | bool() | int() | float():
            return set()
        case _:
            assert_never(template)


def fill_text(template: str, values: Mapping[str, str]) -> str:
    """`template` with each `{name}` replaced; `{{name}}` becomes `{name}`, other braces stay."""

    def fill_one(match: re.Match[str]) -> str:
        return f"{{{match['literal']}}}" if match["name"] is None else values[match["name"]]

    return _PLACEHOLDER.sub(fill_one, template)


def _fill(template: Json, values: Mapping[str, str]) -> Json:
    match template:
        case str():
            whole = _PLACEHOLDER.fullmatch(template)
            if whole is not None and whole["int"] and values[whole["name"]].strip().isdecimal():
                return int(values[whole["name"]])
            return fill_text(template, values)
        case list():
            return [_fill(item, values) for item in template]
        case dict():
            return {key: _fill(item, values) for key, item in template.items()}
        case None | bool() | int() | float():
            return template
        case _:
            assert_never(template)


def _arguments(template: JsonObject | str, values: Mapping[str, str]) -> JsonObject | Malformed:
    if isinstance(template, dict):
        return {key: _fill(item, values) for key, item in template.items()}
    text = fill_text(template, values)
    try:
        parsed: Json = json.loads(text)
    except ValueError as error:
        return Malformed(text=text, problem=f"the arguments are not JSON: {error}")
    if not isinstance(parsed, dict):
        return Malformed(text=text, problem="the arguments are not a JSON object")
    return parsed


def _beginning(reply: ReplyForm) -> str:
    match reply:
        case Reply() | ScriptedReply():
            return repr(reply.text[:40]) if reply.text else f"calls {', '.join(call.name for call in reply.calls)}"
        case _:
            return reply.describe()
