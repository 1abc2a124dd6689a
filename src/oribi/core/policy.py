"""The loop policy: everything the founding documents do differently, as one frozen value per turn (M-18)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from oribi.core.budget import Limits

Busy: TypeAlias = Literal["queue", "refuse", "steer", "interrupt"]
"""What becomes of an input for a session whose turn is under way: it waits, is refused, joins the turn, or ends it."""

StoreReasoning: TypeAlias = Literal["never", "turn", "history"]
"""How long a model's private reasoning is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPolicy:
    """How a turn loops.

    `max_steps`: model decisions per turn (O-26, default 10). `max_history_turns`: earlier turns sent (O-28, default
    20). `max_asks`: times one step may ask the model when calls fail in a transient way or are cut off (C-7, default
    4: the call and three more). `retry_seconds`: the first wait before asking again, doubled each time, with up to a
    quarter more; a provider's Retry-After comes first, up to `longest_wait_seconds` (default 60): if it asks for more,
    the turn ends and says so. `max_notices`: times in a row the model is told that its answer is empty or does not fit
    the output schema (default 2).
    `max_starts`: times one call of a repeatable tool may be started when it is cut off again and again (G1, default 3).
    `memory_characters`: cap of the archive part of MEMORY.md (O-12). `result_characters`: cap of one tool result.
    `model_timeout_seconds`: the longest one model call may take (default 600). `datetime_line`: end the system text
    with the date and time at which the turn started (Y-5). `store_reasoning`: what is kept of a model's private
    reasoning and of the exact blocks it came in (C-19). `never`: nothing. `turn` (default): all as long as the turn is
    open, then only what was sent back within it: the blocks of replies that something followed, and with calls, on
    openai-chat, their readable reasoning, which that wire wants back. `history`: all, for good. `busy`: what becomes of
    an input that comes while a turn of the session is under way: `queue` (default) lets it wait, `refuse` says so,
    `steer` adds it to that turn, `interrupt` ends that turn first.
    """

    max_steps: int = 10
    max_history_turns: int = 20
    max_asks: int = 4
    retry_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    max_notices: int = 2
    max_starts: int = 3
    memory_characters: int = 4_000
    result_characters: int = 30_000
    model_timeout_seconds: float = 600.0
    datetime_line: bool = True
    store_reasoning: StoreReasoning = "turn"
    busy: Busy = "queue"
    limits: Limits = field(default_factory=Limits)


PRESETS: dict[str, LoopPolicy] = {"standard": LoopPolicy()}
"""Named policies. `standard`: native tool calls, 10 steps, last reply at the cap, skills by pointer, 20 turns."""
