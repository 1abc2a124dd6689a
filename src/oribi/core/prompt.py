"""The prompt: everything sent to the model, built purely from the turn, in a fixed order, byte-stable.

Order (O-11 to O-14): the agent's instructions, bootstrap files, skills, memory, the date line; then the history; the
tools are the turn's frozen catalogue. Every part has a cap: files and memory are cut where they are read, results
where they are settled, history by whole turns here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oribi.core.calls import Failed, Succeeded
from oribi.core.messages import ToolMessage

if TYPE_CHECKING:
    from oribi.core.calls import JsonObject, ToolSpec
    from oribi.core.events import ContextCut, TurnStarted
    from oribi.core.messages import Message, ModelChoice
    from oribi.core.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What one model call is told.

    `first` is the index within the session of `messages[0]`, so that a wire can keep what it encoded before:
    messages of one session never change, they are only appended to, and dropped from the front by whole turns. When
    they do change, because the context was cut, so does `revision`. The answer has to fit `output_schema`, if there is
    one; the system text says so too.
    """

    model: ModelChoice
    system: str
    messages: list[Message]
    tools: tuple[ToolSpec, ...]
    first: int
    history_turns: int
    turns_left_out: int
    memory_characters: int
    revision: int = 0
    output_schema: JsonObject | None = None


def build_prompt(turn: Turn, started: TurnStarted, *, choice: int = 0, cut: ContextCut | None = None) -> Prompt:
    """The prompt for the next model call of `turn`, which `started` began, to its model number `choice`.

    `cut` is how much of it may be sent; default: what the turn's last cut left.
    """
    cut = cut or turn.cut
    limit = (
        started.policy.max_history_turns if cut is None else min(started.policy.max_history_turns, cut.history_turns)
    )
    sent = turn.history[-limit:] if limit > 0 else []
    messages: list[Message] = []
    for exchange in sent:
        messages += exchange.messages
    messages += turn.messages
    if cut is not None:
        messages = [_shortened(message, cut.result_characters) for message in messages]
    return Prompt(
        model=(started.model, *started.fallbacks)[choice],
        system=system_text(turn, started),
        messages=messages,
        tools=started.tools,
        first=sent[0].first if sent else turn.first,
        history_turns=len(sent),
        turns_left_out=len(turn.history) - len(sent),
        memory_characters=len(turn.files.memory),
        revision=turn.revision,
        output_schema=started.output_schema,
    )


def system_text(turn: Turn, started: TurnStarted) -> str:
    """The system part: instructions, bootstrap files, skills, memory, date line, each only if it has text."""
    files = turn.files
    schema = "" if started.output_schema is None else _schema_line(started.output_schema)
    parts = (started.instructions, files.bootstrap, files.skills, files.memory, schema, started.datetime_line)
    return "\n\n".join(part for part in parts if part)


def _schema_line(schema: JsonObject) -> str:
    return (
        f"Give your final answer as one JSON value, and nothing else, that fits this JSON Schema: {json.dumps(schema)}"
    )


def _shortened(message: Message, characters: int) -> Message:
    """`message` with its tool result cut to `characters`, which the text then says."""
    if not isinstance(message, ToolMessage) or not isinstance(message.result, Succeeded | Failed):
        return message
    text = message.result.text
    if len(text) <= characters:
        return message
    marker = f"\n[{len(text) - characters} characters left out: the conversation did not fit the model's context]"
    return replace(message, result=replace(message.result, text=text[:characters] + marker))
