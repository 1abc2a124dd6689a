"""What was said in a session, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from oribi.cli.timeline import parent_text
from oribi.cli.wording import arguments_text, cut, one_line, safe
from oribi.core.calls import Json, JsonObject, Malformed, told
from oribi.core.ends import facts
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oribi.cli.paint import Paint
    from oribi.core.messages import InputPart
    from oribi.core.turn import Turn


def messages_of(turn: Turn) -> list[tuple[str, Message]]:
    """Every message of the session with the id of its turn, in order."""
    earlier = [(exchange.turn_id, message) for exchange in turn.history for message in exchange.messages]
    last = turn.started.turn_id if turn.started else ""
    return [*earlier, *((last, message) for message in turn.messages)]


def conversation(turn: Turn, paint: Paint, columns: int) -> str:
    """The conversation for a person to read: inputs and answers whole, calls and results on a line each."""
    opened = turn.opened
    head = f"session {turn.session_id}" + (f"  agent {opened.agent}  channel {opened.channel}" if opened else "")
    lines = [paint.bold(safe(head))]
    if opened is not None and opened.parent is not None:
        lines.append(parent_text(opened.parent))
    for _, message in messages_of(turn):
        lines += _lines(message, paint, columns)
    if turn.is_open:
        lines.append(paint.yellow("(the turn is open; `oribi resume` continues it)"))
    elif turn.end is not None and facts(turn.end).exit_code:
        lines.append(paint.yellow(f"(ended: {facts(turn.end).label})"))
    return "\n".join(lines) + "\n"


def conversation_json(turn: Turn) -> list[JsonObject]:
    """The conversation for a program."""
    return [{"turn_id": turn_id} | _as_json(message) for turn_id, message in messages_of(turn)]


def _lines(message: Message, paint: Paint, columns: int) -> Iterator[str]:
    match message:
        case UserMessage(text=text, parts=parts):
            yield ""
            first, *rest = safe(text).rstrip("\n").split("\n")
            yield paint.bold(f"> {first}")
            yield from (paint.bold(f"  {line}") for line in rest)
            yield from (paint.dim(f"  [attached] {one_line(part.name, max(10, columns - 13))}") for part in parts)
        case Reply(text=text, calls=calls, problem=problem):
            if problem:
                yield paint.yellow(one_line(f"[cannot be used] {problem}", columns))
            elif text:
                yield safe(text).rstrip("\n")
            for call in calls:
                head = f"[call] {safe(call.name)} "
                yield paint.dim(head + cut(safe(arguments_text(call.arguments)), max(10, columns - len(head))))
        case ToolMessage(name=name, result=result):
            head = f"[{type(result).__name__.lower()}] {safe(name)}: "
            yield paint.dim(head + one_line(told(result), max(10, columns - len(head))))
        case _:
            assert_never(message)


def _as_json(message: Message) -> JsonObject:
    match message:
        case UserMessage(text=text, parts=parts):
            return {"role": "user", "text": text, **_attached(parts)}
        case Reply(text=text, calls=calls, stop=stop, model=model, problem=problem):
            made: list[Json] = []
            for call in calls:
                malformed = isinstance(call.arguments, Malformed)
                arguments: Json = call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments
                made.append({"id": call.id, "name": call.name, "arguments": arguments, "malformed": malformed})
            said: JsonObject = {"role": "assistant", "text": text, "calls": made, "stop": stop, "model": model}
            return said | ({"problem": problem} if problem else {})
        case ToolMessage(call_id=call_id, name=name, result=result):
            outcome = type(result).__name__.lower()
            return {"role": "tool", "call_id": call_id, "name": name, "outcome": outcome, "text": told(result)}
        case _:
            assert_never(message)


def _attached(parts: tuple[InputPart, ...]) -> JsonObject:
    """The names of what came with an input; nothing when nothing did."""
    return {"attached": [part.name for part in parts]} if parts else {}
