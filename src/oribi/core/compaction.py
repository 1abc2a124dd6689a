"""Sending less when a prompt does not fit the model's context: fewer earlier turns, shorter tool results (G7).

Whole turns are left out, never a part of one; the open turn's messages all stay, its long results shortened. Each cut
is an event with the sizes before and after, and must make the prompt smaller, or it is not made. A turn goes through
the levels in order and through each at most once: so it ends, and the last thing tried is the least that can be sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oribi.core.calls import told
from oribi.core.events import ContextCut
from oribi.core.messages import Reply, ToolMessage, UserMessage
from oribi.core.prompt import Prompt, build_prompt

if TYPE_CHECKING:
    from oribi.core.events import ModelFaulted, TurnStarted
    from oribi.core.turn import Turn

LEVELS = ((2, 8_000), (None, 2_000), (None, 500))
"""What each level sends: earlier turns divided by the first number (None: none), and so many characters a result."""


def plan_cut(turn: Turn, started: TurnStarted, fault: ModelFaulted) -> ContextCut | None:
    """The next cut that makes the prompt of `turn` smaller, or None when nothing is left to leave out."""
    now = build_prompt(turn, started)
    before = characters(now)
    for divisor, result_characters in LEVELS:
        if turn.cut is not None and result_characters >= turn.cut.result_characters:
            continue  # this level was used
        cut = ContextCut(
            step=fault.step,
            attempt=fault.attempt,
            history_turns=0 if divisor is None else now.history_turns // divisor,
            result_characters=result_characters,
            characters_before=before,
            characters_after=0,
        )
        after = characters(build_prompt(turn, started, cut=cut))
        if after < before:
            return ContextCut(
                step=cut.step,
                attempt=cut.attempt,
                history_turns=cut.history_turns,
                result_characters=cut.result_characters,
                characters_before=before,
                characters_after=after,
            )
    return None


def characters(prompt: Prompt) -> int:
    """The size of the prompt's messages in characters."""
    size = 0
    for message in prompt.messages:
        match message:
            case UserMessage(text=text) | Reply(text=text):
                size += len(text)
            case ToolMessage(result=result):
                size += len(told(result))
    return size
