"""Sending less: `plan_trim` before a prompt goes over its bounds, `plan_cut` after a provider refused it (C-9, G7).

Whole turns are left out, never a part of one; the open turn's messages all stay, its long results shortened. Each cut
is an event with the sizes before and after, and must make the prompt smaller, or it is not made. A turn goes through
the levels in order and through each at most once: so it ends, and the last thing tried is the least that can be sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oribi.core.calls import told
from oribi.core.estimate import message_tokens, prompt_bytes
from oribi.core.events import ContextCut, ContextTrimmed
from oribi.core.messages import Reply, ToolMessage, UserMessage
from oribi.core.prompt import Prompt, build_prompt

if TYPE_CHECKING:
    from oribi.core.events import ModelFaulted, TurnStarted
    from oribi.core.turn import Turn

LEVELS = ((2, 8_000), (None, 2_000), (None, 500))
"""What each level sends: earlier turns divided by the first number (None: none), and so many characters a result."""


def plan_cut(turn: Turn, started: TurnStarted, fault: ModelFaulted) -> ContextCut | None:
    """The next cut that makes the prompt of `turn` smaller, or None when nothing is left to leave out."""
    now = build_prompt(turn, started, step=fault.step)
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
        after = characters(build_prompt(turn, started, step=fault.step, cut=cut))
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


def plan_trim(turn: Turn, started: TurnStarted, step: int) -> ContextTrimmed | None:
    """What to leave out so that the messages are within the token budget and the bound on bytes; None: nothing.

    The oldest go first, in whole groups: earlier turns, then the replies of the open turn with their results. What a
    person said in the open turn stays, its last reply too, and at least `keep_messages` messages (T-16).
    """
    policy = started.policy
    if policy.token_budget is None and policy.limits.input_bytes is None:
        return None
    now = build_prompt(turn, started, step=step)
    if not _is_over(now, started):
        return None
    before = message_tokens(now.messages, policy.estimator)
    trim: ContextTrimmed | None = None
    history, left_out = now.history_turns, 0 if turn.trim is None else turn.trim.steps_left_out
    replies = sum(isinstance(message, Reply) for message in turn.messages)
    while history > 0 or left_out < replies - 1:
        history, left_out = (history - 1, left_out) if history > 0 else (0, left_out + 1)
        more = ContextTrimmed(
            history_turns=history, steps_left_out=left_out, removed=0, tokens_before=before, tokens_after=before
        )
        after = build_prompt(turn, started, step=step, trim=more)
        if len(after.messages) < policy.keep_messages:
            break
        removed = len(now.messages) - len(after.messages)
        trim = replace(more, removed=removed, tokens_after=message_tokens(after.messages, policy.estimator))
        if not _is_over(after, started):
            break
    return trim


def _is_over(prompt: Prompt, started: TurnStarted) -> bool:
    policy = started.policy
    tokens, most_bytes = policy.token_budget, policy.limits.input_bytes
    is_over = tokens is not None and message_tokens(prompt.messages, policy.estimator) > tokens
    return is_over or (most_bytes is not None and prompt_bytes(prompt) > most_bytes)


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
