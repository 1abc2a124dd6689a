"""The fake provider of one play: it follows the variant's script, under the names that the product advertises."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, cast

from oribi.testing.fake_server import FakeModelServer
from oribi.testing.playback import Playback, error_reply
from oribi.testing.script_reader import read_reply
from oribi.testing.wire_reply import Refuse, WireReply
from tests.cases.harness.case import objects
from tests.cases.harness.expand import LookUp, encode_arguments, expand
from tests.cases.harness.paths import text_of
from tests.cases.harness.results import last_calls, results_of

if TYPE_CHECKING:
    from oribi.testing.model_request import ModelRequest
    from tests.cases.harness.case import JsonDict, Play

_RAW = ("sse", "raw_json", "body")
_QUOTED = re.compile(r'(\\*")(@[^"\\\s]+)(\\*")')


@dataclass(slots=True, kw_only=True)
class Naming:
    """How the play's tools are called on the wire; `roles` maps `@shell` and the like to the product's own names."""

    roles: dict[str, str]
    arguments: Callable[[str, JsonDict], JsonDict]
    servers: set[str] = field(default_factory=set[str])
    advertised: list[JsonDict] = field(default_factory=list["JsonDict"])

    def name(self, original: str) -> str:
        """The advertised name of `@shell` or `@server.tool`; what is not advertised keeps the product's own name."""
        own = self.own(original)
        names = [tool["name"] for tool in self.advertised]
        if own in names:
            return own
        fitted = [name for name in names if _letters(name) in (_letters(own), _letters(original))]
        described = [
            tool["name"] for tool in self.advertised if own in str(tool.get("description", "")).partition("\n")[0]
        ]
        return (fitted or described or [own])[0]

    def own(self, original: str) -> str:
        """The name under which the product keeps the tool."""
        if original in self.roles:
            return self.roles[original]
        server, _, tool = original.removeprefix("@").partition(".")
        return f"{server}/{tool}" if server in self.servers else tool or server

    def is_name(self, text: str) -> bool:
        """Whether `text` names a tool of the set-up."""
        return text in self.roles or (text.startswith("@") and text[1:].partition(".")[0] in {*self.servers, "fx"})


class CaseScript(Playback):
    """The script of a play. Replies are expanded when they are sent, since names and numbers are known only then."""

    def __init__(self, play: Play, naming: Naming, look_up: LookUp) -> None:
        super().__init__([])
        self.naming = naming
        self.dialect = play.dialect
        self._look_up = look_up
        self._sent = 0
        self._plain: str | None = None
        self.counted: int | None = None
        """How many requests the checks are about; None: all."""
        self.begin(play.spec)
        self.before_first: list[Callable[[], None]] = []

    def begin(self, spec: JsonDict | list[JsonDict]) -> None:
        """Replace all of the script that is left."""
        given: JsonDict = {"replies": spec} if isinstance(spec, list) else spec
        self._replies: list[JsonDict] = given.get("replies", [])
        self._next = 0
        self._cycle: bool = given.get("replies_cycle", False)
        self._tail: JsonDict | None = given.get("replies_tail")
        self._match: list[JsonDict] = given.get("replies_match", [])

    def answer_plainly(self, text: str) -> None:
        """From now on answer everything with `text`."""
        self._plain = text

    def answer(self, request: ModelRequest) -> WireReply:
        body = request.json
        self.naming.advertised = advertised_tools(body, self.dialect)
        while self.before_first:
            self.before_first.pop()()
        if self._plain is not None:
            return self._wire(plain_body(self.dialect, self._plain), request)
        chosen, uses = self._choose(body)
        if chosen is None:
            return error_reply(request.dialect, 500, "the script of the case is used up")
        number = self._sent + 1
        reply = self._wire(self._expanded(chosen, body, number), request)
        if reply.below_bytes is not None and len(request.body) >= reply.below_bytes:
            assert reply.otherwise is not None, "`when` comes with `otherwise`"
            return reply.otherwise
        self._sent = number
        if uses:
            self._next += 1
        if (before := chosen.get("before")) is not None:
            do_before(expand(before, self._look_up))
        return reply

    def next_outage(self) -> float | None:
        seconds = 0.0
        while (reply := self._coming()) is not None and reply.get("close") == "refuse" and "sse" not in reply:
            if self._next + 1 >= len(self._replies) and not self._cycle:
                return float("inf")
            self._next += 1
            seconds += Refuse().seconds
        return seconds or None

    def _coming(self) -> JsonDict | None:
        if self._plain is not None or self._match:
            return None
        if self._replies and (self._next < len(self._replies) or self._cycle):
            return self._replies[self._next % len(self._replies)]
        return self._tail

    def _choose(self, body: JsonDict) -> tuple[JsonDict | None, bool]:
        """The reply and whether it is one of the list, which it uses up."""
        if self._match:
            last = last_content(body, self.dialect)
            return next((one["reply"] for one in self._match if one["match"] in last), self._tail), False
        if self._replies and (self._next < len(self._replies) or self._cycle):
            return self._replies[self._next % len(self._replies)], True
        return self._tail, False

    def _expanded(self, reply: JsonDict, body: JsonDict, number: int) -> JsonDict:
        def look_up(name: str, rest: str) -> Any:
            if name == "N":
                return number
            if name == "HTTPDATE":
                return formatdate(time() + float(rest.strip("+s")), usegmt=True)
            if name == "NAME":
                return advertised_name(self.naming, rest)
            return self._look_up(name, rest)

        given = expand({key: value for key, value in reply.items() if key != "before"}, look_up)
        if "copy_from_tool_result" in given:
            return copied_call(given["copy_from_tool_result"], body, self.dialect, self.naming, number)
        return with_names(given, self.naming)

    def _wire(self, reply: JsonDict, request: ModelRequest) -> WireReply:
        form = read_reply(reply, name="the case's reply")
        assert isinstance(form, WireReply), f"replies of a case are exact, not {reply!r}"
        return form


class CaseProvider(FakeModelServer):
    """A provider on a socket that plays a case's script."""

    def __init__(self, script: CaseScript) -> None:
        super().__init__([])
        self.script = script
        self._playback = script


def with_names(value: Any, naming: Naming, key: str = "") -> Any:
    """`value` with tools under their advertised names: where a name stands, and quoted within raw text."""
    match value:
        case str():
            if key in ("name", "into") and naming.is_name(value):
                return naming.name(value)
            return _QUOTED.sub(lambda found: _quoted(found, naming), value) if key in _RAW else value
        case list():
            return [with_names(item, naming, key) for item in cast("list[Any]", value)]
        case dict():
            given = cast("JsonDict", value)
            role = str(given.get("name", ""))
            named: JsonDict = {}
            for inner, item in given.items():
                if inner in ("arguments", "input", "args") and isinstance(item, dict) and "$json" in item:
                    named[inner] = encode_arguments(item, role, naming.arguments, as_text=inner == "arguments")
                else:
                    named[inner] = with_names(item, naming, key if key in _RAW else inner)
            return named
        case _:
            return value


def _quoted(found: re.Match[str], naming: Naming) -> str:
    name = naming.name(found[2]) if naming.is_name(found[2]) else found[2]
    return f"{found[1]}{name}{found[3]}"


def advertised_name(naming: Naming, rest: str) -> str:
    """The name that `${NAME:echo|upper}` stands for; `rest` is what follows NAME."""
    named, _, form = rest.lstrip(":").partition("|")
    original = next((role for role in naming.roles if role.lstrip("@") == named.lstrip("@")), named)
    name = naming.name(original if original in naming.roles else f"@{named.lstrip('@')}")
    return name.upper() if form == "upper" else name


def advertised_tools(body: JsonDict, dialect: str) -> list[JsonDict]:
    """The tools of a request: dicts with `name`, `description` and the rest."""
    tools: list[JsonDict] = body.get("tools") or []
    match dialect:
        case "openai":
            return [tool["function"] for tool in tools if "function" in tool]
        case "gemini":
            return [
                one for tool in tools for one in tool.get("functionDeclarations", tool.get("function_declarations", []))
            ]
        case _:
            return tools


def last_content(body: JsonDict, dialect: str) -> str:
    """The content of the request's last message, as text."""
    if dialect == "gemini":
        return json.dumps(body["contents"][-1]["parts"], ensure_ascii=False)
    content = body["messages"][-1].get("content")
    blocks = objects(content)
    if any("content" in block for block in blocks):
        return "\n".join(text_of(block.get("content", block.get("text", ""))) for block in blocks)
    return text_of(content)


def plain_body(dialect: str, text: str) -> JsonDict:
    """A reply that says `text`."""
    match dialect:
        case "openai":
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return {
                "json": {
                    "id": "chatcmpl-fx",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "fake-1",
                    "choices": [choice],
                }
            }
        case "gemini":
            content = {"role": "model", "parts": [{"text": text}]}
            return {"json": {"candidates": [{"finishReason": "STOP", "index": 0, "content": content}]}}
        case _:
            return {"json": _anthropic_message([{"type": "text", "text": text}], "end_turn")}


def copied_call(wanted: JsonDict, body: JsonDict, dialect: str, naming: Naming, number: int) -> JsonDict:
    """A call that writes what a tool result says, with `replace` done."""
    calls = last_calls(body, dialect)
    results = results_of(body, dialect, calls)
    text: str = results[int(wanted.get("call", 0))]
    if "replace" in wanted:
        before, after = cast("list[str]", wanted["replace"])
        text = text.replace(before, after)
    into: str = wanted.get("into", "@write")
    arguments = naming.arguments(into, {"path": wanted["path"], "content": text})
    name, identifier = naming.name(into), f"copy_{number}"
    match dialect:
        case "openai":
            function = {"name": name, "arguments": json.dumps(arguments)}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": identifier, "type": "function", "function": function}],
            }
            made = plain_body(dialect, "")
            made["json"]["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
            return made
        case "gemini":
            part = {"functionCall": {"name": name, "args": arguments}}
            content = {"role": "model", "parts": [part]}
            return {"json": {"candidates": [{"finishReason": "STOP", "index": 0, "content": content}]}}
        case _:
            block = {"type": "tool_use", "id": identifier, "name": name, "input": arguments}
            return {"json": _anthropic_message([block], "tool_use")}


def do_before(action: JsonDict) -> None:
    """What the harness does just before a reply is sent."""
    match action["do"]:
        case "swap_dir_for_symlink":
            path = Path(action["path"])
            if path.is_symlink() or path.is_file():
                path.unlink()
            elif path.is_dir():
                shutil.rmtree(path)
            path.symlink_to(action["to"])
        case other:
            raise ValueError(f"`before` cannot do {other!r}")


def _anthropic_message(content: list[JsonDict], stop: str) -> JsonDict:
    return {
        "id": "msg_fx",
        "type": "message",
        "role": "assistant",
        "model": "fake-1",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
