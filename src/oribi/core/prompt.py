"""The prompt: everything sent to the model, built purely from the turn, in a fixed order, byte-stable.

Order (O-11 to O-14): the agent's instructions, bootstrap files, skills, memory, the date line; then the history; the
tools are the turn's frozen catalogue. Every part has a cap: files and memory are cut where they are read, results
where they are settled, history by whole turns here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oribi.core.calls import ToolSpec
    from oribi.core.events import TurnStarted
    from oribi.core.messages import Message, ModelChoice
    from oribi.core.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What one model call is told.

    `first` is the index within the session of `messages[0]`, so that a wire can keep what it encoded before:
    messages of one session never change, they are only appended to, and dropped from the front by whole turns.
    """

    model: ModelChoice
    system: str
    messages: list[Message]
    tools: tuple[ToolSpec, ...]
    first: int
    history_turns: int
    turns_left_out: int
    memory_characters: int


def build_prompt(turn: Turn, started: TurnStarted) -> Prompt:
    """The prompt for the next model call of `turn`, which `started` began."""
    limit = started.policy.max_history_turns
    sent = turn.history[-limit:] if limit > 0 else []
    messages: list[Message] = []
    for exchange in sent:
        messages += exchange.messages
    messages += turn.messages
    return Prompt(
        model=started.model,
        system=system_text(turn, started),
        messages=messages,
        tools=started.tools,
        first=sent[0].first if sent else turn.first,
        history_turns=len(sent),
        turns_left_out=len(turn.history) - len(sent),
        memory_characters=len(turn.files.memory),
    )


def system_text(turn: Turn, started: TurnStarted) -> str:
    """The system part: instructions, bootstrap files, skills, memory, date line, each only if it has text."""
    files = turn.files
    parts = (started.instructions, files.bootstrap, files.skills, files.memory, started.datetime_line)
    return "\n\n".join(part for part in parts if part)
