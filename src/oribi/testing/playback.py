"""A script as a server plays it: which answer each request gets, and when the next connection is refused."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, assert_never

from oribi.core.messages import Reply
from oribi.testing.said import situation_after
from oribi.testing.script import Fails, ReplyForm, Script, ScriptedReply, Situation, render
from oribi.testing.script_reader import ScriptSource, read_reply, read_script
from oribi.testing.wire import WIRES
from oribi.testing.wire_reply import Cut, JsonBody, Refuse, Silence, TextBody, WireReply

if TYPE_CHECKING:
    from oribi.core.errors import FaultKind
    from oribi.testing.model_request import ModelRequest
    from oribi.testing.rules import Dialect

Answer: TypeAlias = "Callable[[ModelRequest], ReplyForm | Mapping[str, object] | str]"
"""A function that gives the reply to each request, in any form that a script's reply may have."""

_STATUSES: dict[FaultKind, int] = {
    "auth": 401,
    "rate": 429,
    "overloaded": 503,
    "context_length": 400,
    "bad_request": 400,
}


class Playback:
    """How far a server has come in its script, or the function it asks instead."""

    def __init__(self, source: ScriptSource | Answer) -> None:
        self._function = source if callable(source) else None
        self._script = Script() if callable(source) else read_script(source)
        self._served = 0
        self._used: set[int] = set()
        self._asks: Counter[str] = Counter()

    def answer(self, request: ModelRequest) -> WireReply:
        """The answer to a well-formed request; it is used up by that."""
        situation = situation_after(WIRES[request.dialect].said(request.json))
        if self._function is not None:
            given = read_reply(self._function(request))
            return self._fault(given, request) or self._for_wire(given, request, situation, {})
        by_request = self._script.order == "requests"
        chosen = self._script.choose(situation, self._served if by_request else None)
        if chosen is None:
            return error_reply(request.dialect, 500, self._script.why_none(situation))
        reply = chosen.reply
        if isinstance(reply, WireReply) and reply.below_bytes is not None and len(request.body) >= reply.below_bytes:
            assert reply.otherwise is not None, "the reader asks for both"
            return reply.otherwise
        fault = self._fault(reply, request)
        if chosen.index is not None and not (fault and isinstance(reply, ScriptedReply) and _will_reply(reply)):
            self._used.add(chosen.index)
            self._served += 1
        return fault or self._for_wire(reply, request, situation, chosen.groups)

    def next_outage(self) -> float | None:
        """For how many seconds nothing should listen from now on (infinite: for good), or None; that uses it up."""
        replies = self._script.replies
        if self._script.cycle and replies and all(_refuses(reply) for reply in replies):
            return math.inf
        seconds = 0.0
        while (refusal := self._upcoming_refusal()) is not None:
            if self._served >= len(replies) and not self._script.cycle:
                return math.inf
            seconds += refusal.seconds
            self._used.add(self._served % len(replies))
            self._served += 1
            if self._upcoming() is None:
                return math.inf
        return seconds or None

    def unused(self) -> list[str]:
        """The replies of the list that no request has got."""
        return self._script.unused(self._used)

    def _upcoming(self) -> ReplyForm | None:
        replies = self._script.replies
        if self._script.cycle and replies:
            return replies[self._served % len(replies)]
        return replies[self._served] if self._served < len(replies) else self._script.tail

    def _upcoming_refusal(self) -> Refuse | None:
        form = self._upcoming() if self._script.order == "requests" else None
        return form.content if isinstance(form, WireReply) and isinstance(form.content, Refuse) else None

    def _fault(self, form: ReplyForm, request: ModelRequest) -> WireReply | None:
        """The scripted fault, as long as it lasts for this request."""
        if not isinstance(form, ScriptedReply) or form.fails is None:
            return None
        key = hashlib.sha256(request.body).hexdigest()
        self._asks[key] += 1
        lasts = form.fails.times is None or self._asks[key] <= form.fails.times
        return _fault_reply(request.dialect, form.fails) if lasts else None

    def _for_wire(
        self, form: ReplyForm, request: ModelRequest, situation: Situation, groups: Mapping[str, str]
    ) -> WireReply:
        delay_seconds = 0.0
        match form:
            case WireReply():
                return form
            case ScriptedReply():
                delay_seconds = form.delay_seconds
                reply = render(form, situation, groups, prompt_bytes=len(request.body))
            case Reply():
                reply = form
            case _:
                assert_never(form)
        body = WIRES[request.dialect].body(reply, request.json)
        return WireReply(content=JsonBody(value=body), delay_seconds=delay_seconds)


def error_reply(dialect: Dialect, status: int, message: str) -> WireReply:
    """An error that the server itself has to report, in the provider's shape."""
    return WireReply(content=JsonBody(value=WIRES[dialect].error(status, message)), status=status)


def _refuses(form: ReplyForm) -> bool:
    return isinstance(form, WireReply) and isinstance(form.content, Refuse)


def _will_reply(form: ScriptedReply) -> bool:
    """Whether a reply that fails now comes when it is asked for again."""
    return form.fails is not None and form.fails.times is not None


def _fault_reply(dialect: Dialect, fails: Fails) -> WireReply:
    """The scripted fault as this wire shows it."""
    headers: dict[str, str] = {}
    if fails.retry_after_seconds is not None:
        headers["retry-after"] = f"{fails.retry_after_seconds:g}"
    match fails.kind:
        case "network" | "cut_off":
            return WireReply(content=Cut())
        case "timeout":
            return WireReply(content=Silence())
        case "protocol":
            return WireReply(content=TextBody(text=fails.message), headers=headers)
        case kind:
            status = 529 if (kind, dialect) == ("overloaded", "anthropic") else _STATUSES[kind]
            body = WIRES[dialect].error(status, fails.message, kind)
            return WireReply(content=JsonBody(value=body), status=status, headers=headers)
