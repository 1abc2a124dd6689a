r"""Reading a script from YAML, JSON or Python values; a mistake is a `ConfigError` that names its place.

```yaml
rules:                                    # the first that fits answers
  - when: {step: 1}                       # last, input, tool, result, step, position, earlier
    reply:
      text: Let me look.
      calls: [{name: grep, arguments: {pattern: " 502 ", path: error.log}}]
  - when: {tool: grep, result: '(?P<count>[1-9]\d*) matches'}
    reply: {text: "{count} requests failed."}   # named groups; also {input} {last} {tool} {result} {step} {position}
replies:                                  # by position in the history, counted from the first reply of the session
  - Hello.                                # text alone
  - {text: Done., usage: {input_tokens: 12, output_tokens: 3}, delay_seconds: 0.2}
  - {fails: {kind: overloaded, times: 2}, text: Third time lucky.}
replies_tail: {text: Nothing to add.}     # for any other prompt
```

A reply has `text`, `calls` (`name`, `arguments`, `id`), `reasoning`, `stop`, `usage`, `delay_seconds`, `fails` (`kind`,
`message`, `times`, `retry_after_seconds`). `{name:int}` as a whole argument gives a number, `{{name}}` a literal
`{name}`. `earlier: {grep: REGEX}` looks at the latest result of another tool in this turn.

For a fake server a reply may instead be exact: `json` (with `as_is`), `raw_json`, `body`, or `sse` (a list of texts,
`{sleep_ms: N}`, `{text: T, split_bytes: N}`, `{text: T, times: N}`) with `close: clean | abort | hang`; `status`,
`headers`, `sleep_ms`; `close: abort | hang | refuse` alone (`for_ms` with `refuse`); `when: {body_bytes_lt: N}` with
`otherwise`. A script with such a reply hands its `replies` out one per request (`order: requests`), and
`replies_cycle: true` starts again from the first. `replies_match: [{match: TEXT, reply: ...}]` is short for rules with
a plain text to find in the last message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast, get_args

from oribi.core.calls import Json, JsonObject
from oribi.core.errors import ConfigError, FaultKind
from oribi.core.messages import Reply, StopReason, Usage
from oribi.testing.checking import count_at, list_at, mapping_at, number_at, text_at
from oribi.testing.script import (
    FIELDS,
    Fails,
    ReplyForm,
    Rule,
    Script,
    ScriptedCall,
    ScriptedReply,
    When,
    placeholders,
)
from oribi.testing.wire_reader import EXACT_KEYS, WIRE_KEYS, read_wire_reply
from oribi.testing.wire_reply import Refuse, WireReply

ScriptSource: TypeAlias = Script | Mapping[str, object] | Sequence["ReplyForm | Mapping[str, object] | str"]
"""A script, its mapping form, or just its replies."""

_SCRIPT = ("replies", "rules", "replies_match", "replies_tail", "replies_cycle", "order")
_REPLY = ("text", "calls", "reasoning", "stop", "usage", "delay_seconds", "fails")
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
_WHEN = ("last", "input", "tool", "result", "step", "position", "earlier")


def load_script(path: Path) -> Script:
    """The script in the file `path`: JSON if it is named so, else YAML.

    Raises:
        ConfigError: It cannot be read or is not a script.

    """
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        value: object = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read the script {str(path)!r}: {error}") from error
    if not isinstance(value, dict | list):
        raise ConfigError(f"{path}: a script is a mapping or a list of replies, not {value!r}")
    return read_script(cast("ScriptSource", value), name=str(path))


def read_script(source: ScriptSource, *, name: str = "script") -> Script:
    """The script that `source` says; `name` stands in front of the places in errors.

    Raises:
        ConfigError: It is not a script.

    """
    if isinstance(source, Script):
        return source
    given = mapping_at(source if isinstance(source, Mapping) else {"replies": source}, name, _SCRIPT)
    replies = tuple(
        _reply(item, f"{name}: replies[{index}]", ())
        for index, item in enumerate(list_at(given.get("replies", []), f"{name}: replies"))
    )
    rules = [
        _rule(item, f"{name}: rules[{index}]")
        for index, item in enumerate(list_at(given.get("rules", []), f"{name}: rules"))
    ]
    rules += [
        _match(item, f"{name}: replies_match[{index}]")
        for index, item in enumerate(list_at(given.get("replies_match", []), f"{name}: replies_match"))
    ]
    tail = _reply(given["replies_tail"], f"{name}: replies_tail", ()) if "replies_tail" in given else None
    by_request = any(isinstance(reply, WireReply) for reply in replies) or _refuses(tail)
    order = given.get("order", "requests" if by_request else "history")
    if order not in ("history", "requests"):
        raise ConfigError(f"{name}: order is {order!r}; it is history or requests")
    if order == "history" and any(_refuses(reply) for reply in (*replies, tail)):
        raise ConfigError(f"{name}: `close: refuse` needs order: requests, where the next reply is known beforehand")
    if any(_refuses(rule.reply) for rule in rules):
        raise ConfigError(f"{name}: a rule cannot refuse a connection, it has read the request already; use `abort`")
    cycle = given.get("replies_cycle", False)
    if not isinstance(cycle, bool):
        raise ConfigError(f"{name}: replies_cycle is {cycle!r}; it is true or false")
    return Script(
        replies=replies,
        rules=tuple(rules),
        tail=tail,
        cycle=cycle,
        order="history" if order == "history" else "requests",
    )


def read_reply(value: object, *, name: str = "reply") -> ReplyForm:
    """One reply in any of its forms.

    Raises:
        ConfigError: It is not a reply.

    """
    return _reply(value, name, ())


def _refuses(reply: ReplyForm | None) -> bool:
    return isinstance(reply, WireReply) and isinstance(reply.content, Refuse)


def _rule(value: object, place: str) -> Rule:
    given = mapping_at(value, place, ("when", "reply"))
    if "reply" not in given:
        raise ConfigError(f"{place} has no `reply`")
    when = _when(given.get("when", {}), f"{place}.when")
    groups = [name for pattern in when.patterns() for name in pattern.groupindex]
    return Rule(when=when, reply=_reply(given["reply"], f"{place}.reply", groups))


def _match(value: object, place: str) -> Rule:
    given = mapping_at(value, place, ("match", "reply"))
    text = text_at(given.get("match"), f"{place}.match")
    return Rule(when=When(last=re.compile(re.escape(text))), reply=_reply(given.get("reply"), f"{place}.reply", ()))


def _when(value: object, place: str) -> When:
    given = mapping_at(value, place, _WHEN)
    earlier = mapping_at(given.get("earlier", {}), f"{place}.earlier", None)
    return When(
        last=_pattern(given, "last", place),
        input=_pattern(given, "input", place),
        result=_pattern(given, "result", place),
        tool=text_at(given["tool"], f"{place}.tool") if "tool" in given else None,
        step=count_at(given["step"], f"{place}.step") if "step" in given else None,
        position=count_at(given["position"], f"{place}.position") if "position" in given else None,
        earlier={tool: _compiled(pattern, f"{place}.earlier.{tool}") for tool, pattern in earlier.items()},
    )


def _reply(value: object, place: str, groups: Sequence[str]) -> ReplyForm:
    match value:
        case Reply() | ScriptedReply() | WireReply():
            return value
        case str():
            given = {"text": value}
        case _:
            given = mapping_at(value, place, (*_REPLY, *WIRE_KEYS))
    if any(key in given for key in EXACT_KEYS):
        return read_wire_reply(given, place)
    return _scripted_reply(mapping_at(given, place, _REPLY), place, groups)


def _scripted_reply(given: Mapping[str, object], place: str, groups: Sequence[str]) -> ScriptedReply:
    calls = list_at(given.get("calls", []), f"{place}.calls")
    stop = given.get("stop")
    if stop is not None and stop not in get_args(StopReason):
        raise ConfigError(f"{place}.stop is {stop!r}; it is one of {', '.join(get_args(StopReason))}")
    reply = ScriptedReply(
        text=text_at(given.get("text", ""), f"{place}.text"),
        reasoning=text_at(given.get("reasoning", ""), f"{place}.reasoning"),
        calls=tuple(_call(call, f"{place}.calls[{index}]") for index, call in enumerate(calls)),
        stop=cast("StopReason | None", stop),  # checked just above
        usage=_usage(given["usage"], f"{place}.usage") if "usage" in given else None,
        delay_seconds=number_at(given.get("delay_seconds", 0.0), f"{place}.delay_seconds"),
        fails=_fails(given["fails"], f"{place}.fails") if "fails" in given else None,
    )
    if not (reply.text or reply.calls or reply.fails or reply.reasoning or "text" in given):
        raise ConfigError(f"{place} says nothing; give it `text`, `calls`, or `text: ''` if that is meant")
    texts: list[Json] = [reply.text, reply.reasoning]
    texts += [template for call in reply.calls for template in (call.name, call.arguments)]
    known = [*groups, *FIELDS]
    if unknown := sorted(placeholders(texts) - set(known)):
        raise ConfigError(
            f"{place} uses {{{unknown[0]}}}, which nothing captures; it may use: {', '.join(known)}. "
            f"Write {{{{{unknown[0]}}}}} for the text itself"
        )
    return reply


def _call(value: object, place: str) -> ScriptedCall:
    given = mapping_at(value, place, ("name", "arguments", "id"))
    arguments = given.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = _json_object(arguments, f"{place}.arguments")
    return ScriptedCall(
        name=text_at(given.get("name"), f"{place}.name"),
        arguments=arguments,
        id=text_at(given["id"], f"{place}.id") if "id" in given else None,
    )


def _fails(value: object, place: str) -> Fails:
    given = mapping_at(value, place, ("kind", "message", "times", "retry_after_seconds"))
    kind = given.get("kind")
    if kind not in get_args(FaultKind):
        raise ConfigError(f"{place}.kind is {kind!r}; it is one of {', '.join(get_args(FaultKind))}")
    wait = given.get("retry_after_seconds")
    return Fails(
        kind=cast("FaultKind", kind),  # checked just above
        message=text_at(given.get("message", f"scripted: {kind}"), f"{place}.message"),
        times=count_at(given["times"], f"{place}.times") if "times" in given else None,
        retry_after_seconds=None if wait is None else number_at(wait, f"{place}.retry_after_seconds"),
    )


def _usage(value: object, place: str) -> Usage:
    """Tokens as given; `null` for a provider that does not say."""
    if value is None:
        return Usage()
    given = {key: count_at(count, f"{place}.{key}") for key, count in mapping_at(value, place, _USAGE).items()}
    return Usage(
        input_tokens=given.get("input_tokens"),
        output_tokens=given.get("output_tokens"),
        cached_tokens=given.get("cached_tokens"),
        cache_write_tokens=given.get("cache_write_tokens"),
        reasoning_tokens=given.get("reasoning_tokens"),
    )


def _json_object(value: object, place: str) -> JsonObject:
    try:
        parsed: Json = json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{place} is {value!r}, which JSON cannot hold: {error}") from error
    if not isinstance(parsed, dict):
        raise ConfigError(f"{place} is {value!r}; it should be a mapping, or text for malformed arguments")
    return parsed


def _pattern(given: Mapping[str, object], key: str, place: str) -> re.Pattern[str] | None:
    return _compiled(given[key], f"{place}.{key}") if key in given else None


def _compiled(value: object, place: str) -> re.Pattern[str]:
    text = text_at(value, place)
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(f"{place} is {text!r}, not a regular expression: {error}") from error
