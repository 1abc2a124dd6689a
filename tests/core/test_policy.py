"""The loop policy: its defaults are the documented ones, and it cannot change under a turn."""

from dataclasses import FrozenInstanceError

import pytest

from oribi.core.budget import Limits
from oribi.core.policy import PRESETS, LoopPolicy
from tests.core.story import began, play, said


def test_the_standard_policy_is_the_documented_one() -> None:
    """O-26, O-28, O-12, O-29, Y-3, C-7: ten steps, twenty turns, 4,000 characters of memory, three retries."""
    assert PRESETS["standard"] == LoopPolicy(
        max_steps=10,
        max_history_turns=20,
        max_asks=4,
        retry_seconds=1.0,
        longest_wait_seconds=60.0,
        max_notices=2,
        max_starts=3,
        memory_characters=4_000,
        result_characters=30_000,
        model_timeout_seconds=600.0,
        datetime_line=True,
        limits=Limits(model_calls=None, tool_calls=None, total_tokens=None, deadline_seconds=None),
    )


def test_a_policy_cannot_be_changed_under_a_running_turn() -> None:
    """M-18: what a turn started with is what it keeps."""
    turn = play(began(), [said("done")]).turn
    assert turn.started is not None
    with pytest.raises(FrozenInstanceError):
        turn.started.policy.max_steps = 99  # pyright: ignore[reportAttributeAccessIssue] # what must not work
    with pytest.raises(FrozenInstanceError):
        turn.started.policy.limits.tool_calls = 99  # pyright: ignore[reportAttributeAccessIssue] # what must not work
