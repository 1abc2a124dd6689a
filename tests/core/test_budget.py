"""What a turn may spend: which limit is spent, and how many calls are left."""

import pytest

from oribi.core.budget import Counters, Limits, calls_left, spent_limit
from oribi.core.messages import Usage


@pytest.mark.parametrize(
    ("counters", "limits", "spent"),
    [
        (Counters(model_calls=10**9, input_tokens=10**12), Limits(), None),
        (Counters(model_calls=2), Limits(model_calls=3), None),
        (Counters(model_calls=3), Limits(model_calls=3), "model_calls"),
        (Counters(), Limits(model_calls=0), "model_calls"),
        (Counters(input_tokens=6, output_tokens=3), Limits(total_tokens=10), None),
        (Counters(input_tokens=6, output_tokens=4), Limits(total_tokens=10), "total_tokens"),
        (Counters(output_tokens=11), Limits(total_tokens=10), "total_tokens"),
        (Counters(model_calls=1, input_tokens=9), Limits(model_calls=1, total_tokens=9), "model_calls"),
        (Counters(tool_calls=9), Limits(tool_calls=9), None),
        (Counters(), Limits(deadline_seconds=0.0), None),
    ],
)
def test_a_limit_is_spent_when_it_leaves_no_room_for_another_model_call(
    counters: Counters, limits: Limits, spent: str | None
) -> None:
    assert spent_limit(counters, limits) == spent


@pytest.mark.parametrize(
    ("used", "limit", "left"), [(0, None, None), (5, None, None), (0, 0, 0), (0, 3, 3), (2, 3, 1), (3, 3, 0), (4, 3, 0)]
)
def test_calls_left_are_the_limit_less_those_that_began(used: int, limit: int | None, left: int | None) -> None:
    assert calls_left(Counters(tool_calls=used), Limits(tool_calls=limit)) == left


def test_usage_adds_up_and_what_was_not_reported_is_left_out() -> None:
    counters = Counters(steps=1)
    counters.add(Usage(input_tokens=5, output_tokens=2, cached_tokens=4, reasoning_tokens=1))
    counters.add(Usage(input_tokens=7))
    counters.add(Usage())
    assert counters == Counters(steps=1, input_tokens=12, output_tokens=2)
