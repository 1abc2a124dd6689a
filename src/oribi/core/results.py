"""What came of a turn, read off it when it has ended: its result, and the calls of which nobody knows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from oribi.core.budget import Counters
from oribi.core.calls import CallId, SessionId, Succeeded, ToolCall, TurnId, Unknown, told
from oribi.core.ends import Completed, TurnEnd, shown
from oribi.core.messages import Message, Reply, ToolMessage
from oribi.core.turn import Exchange, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn came out: its end, what was said in it, and what it spent (C-26).

    `messages` begin with the input; `reply` is the model's last one, if any. `counters` hold the tokens that the
    provider reported. `seconds` is the time from the start of the turn to its end. `wrap_up` is why the turn was
    wrapped up before it was done, None when it was not.
    """

    session_id: SessionId
    turn_id: TurnId
    end: TurnEnd
    messages: tuple[Message, ...]
    reply: Reply | None
    counters: Counters
    seconds: float
    wrap_up: str | None = None

    @property
    def evidence(self) -> tuple[ToolMessage, ...]:
        """The results gathered on the way."""
        return tuple(message for message in self.messages if isinstance(message, ToolMessage))

    @property
    def text(self) -> str:
        """The text to show: the answer; or why there is none, and what was found when the wrap-up failed (M-38)."""
        text = shown(self.end)
        found = [each for each in self.evidence if isinstance(each.result, Succeeded)]
        if isinstance(self.end, Completed) or self.wrap_up is None or not found:
            return text
        lines = (f"- {each.name}: {_beginning(told(each.result))}" for each in found)
        return "\n".join((text, "What was found:", *lines))


def result_of(turn: Turn) -> TurnResult:
    """The result of an ended turn.

    Raises:
        ValueError: The turn has not ended.

    """
    if turn.started is None or turn.end is None:
        raise ValueError(f"session {turn.session_id} has no ended turn")
    return TurnResult(
        session_id=turn.session_id,
        turn_id=turn.started.turn_id,
        end=turn.end,
        messages=tuple(turn.messages),
        reply=turn.reply,
        counters=replace(turn.counters),
        seconds=(turn.ended_at - turn.started_at) / 1e6,
        wrap_up=turn.wrap_up,
    )


def _beginning(text: str, most: int = 500) -> str:
    return text if len(text) <= most else f"{text[:most]} [{len(text) - most} characters more]"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCall:
    """A call of which nobody knows whether it happened, and where it stands."""

    turn_id: TurnId
    step: int
    call: ToolCall
    reason: str


def unknown_calls(turn: Turn) -> list[UnknownCall]:
    """The calls of a session whose results are Unknown, in order."""
    last = [Exchange(turn_id=turn.started.turn_id, first=turn.first, messages=turn.messages)] if turn.started else []
    found: list[UnknownCall] = []
    for exchange in [*turn.history, *last]:
        step = 0
        calls: dict[CallId, ToolCall] = {}
        for message in exchange.messages:
            match message:
                case Reply():
                    step += 1
                    calls = {call.id: call for call in message.calls}
                case ToolMessage(call_id=call_id, result=Unknown(reason=reason)):
                    found.append(UnknownCall(turn_id=exchange.turn_id, step=step, call=calls[call_id], reason=reason))
                case _:
                    pass
    return found
