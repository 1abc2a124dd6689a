"""What a turn may spend: which limit is spent, how many calls are left, and what of it a nested turn gets."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.core.budget import SHARED, Counters, Limits, Spent, calls_left, share_of, spent_limit, tightened, without
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


# --- nested turns -----------------------------------------------------------------------------------------------------


bounds = st.none() | st.integers(0, 20)
any_limits = st.builds(
    Limits, **{each.name: bounds for each in fields(Limits) if each.name != "deadline_seconds"}, deadline_seconds=bounds
)
counts = st.integers(0, 20)
any_counters = st.builds(Counters, **{each.name: counts for each in fields(Counters)})


def used_up(counters: Counters, share: Limits, among: int) -> Counters:
    """The counters once `among` nested turns have each spent all that is countable of their `share`."""
    model = min((each for each in (share.model_calls, share.total_steps) if each is not None), default=0)
    rest = None if share.total_steps is None else share.total_steps - model
    tools = min((each for each in (share.tool_calls, rest) if each is not None), default=0)
    writes = min((each for each in (share.write_calls, tools) if each is not None), default=0)
    after = replace(counters)
    for _ in range(among):
        after.charge(
            Spent(model_calls=model, tool_calls=tools, write_calls=writes, input_tokens=share.total_tokens or 0)
        )
    return after


@given(any_counters, any_limits, st.integers(1, 5))
def test_the_parts_of_nested_turns_that_run_at_once_are_never_more_than_what_is_left(
    counters: Counters, limits: Limits, among: int
) -> None:
    """M-17: a new loop refills nothing, whichever of them spends all that it may."""
    share = share_of(counters, limits, among=among)
    after = used_up(counters, share, among)
    for name in SHARED:
        limit, part, before = getattr(limits, name), getattr(share, name), getattr(counters, name)
        assert (limit is None) is (part is None)
        if limit is not None:
            assert 0 <= part * among <= max(0, limit - before)
            assert getattr(after, name) <= max(limit, before)
    assert (share.input_bytes, share.output_tokens) == (limits.input_bytes, limits.output_tokens)


@given(any_limits, any_limits)
def test_a_nested_turn_may_in_no_bound_more_than_either(one: Limits, other: Limits) -> None:
    """M-42: tightening takes the stricter of both, bound for bound, and no bound is lost."""
    both = tightened(one, other)
    for each in fields(Limits):
        pair = {getattr(one, each.name), getattr(other, each.name)}
        assert getattr(both, each.name) in pair
        assert all(bound is None or getattr(both, each.name) <= bound for bound in pair)
        assert getattr(both, each.name) is not None or pair == {None}
    assert tightened(other, one) == both


@given(any_limits, st.integers(0, 9), st.integers(0, 9))
def test_of_its_part_a_nested_turn_that_goes_on_has_what_it_has_not_spent(
    share: Limits, before: int, more: int
) -> None:
    """M-17: after a crash, or for the next turn within the same call."""
    earlier = Spent(model_calls=before, tool_calls=before)
    now = Spent(model_calls=before + more, tool_calls=before + more)
    left = without(share, now, earlier)
    for name, spent in (("model_calls", more), ("tool_calls", more), ("total_steps", 2 * more), ("write_calls", 0)):
        bound = getattr(share, name)
        assert getattr(left, name) == (None if bound is None else max(0, bound - spent))
    assert left.deadline_seconds == share.deadline_seconds


@pytest.mark.parametrize(
    ("counters", "limits", "spent"),
    [
        (Counters(model_calls=2, tool_calls=3), Limits(total_steps=5), "total_steps"),
        (Counters(model_calls=2, tool_calls=2), Limits(total_steps=5), None),
        (Counters(model_calls=4), Limits(model_calls=4, total_steps=4), "model_calls"),
    ],
)
def test_model_calls_and_tool_calls_share_one_budget_of_steps(
    counters: Counters, limits: Limits, spent: str | None
) -> None:
    """M-11."""
    assert spent_limit(counters, limits) == spent


@pytest.mark.parametrize(
    ("limits", "left", "writes_left"),
    [
        (Limits(tool_calls=5), 3, 3),
        (Limits(tool_calls=5, write_calls=2), 3, 1),
        (Limits(total_steps=6, write_calls=9), 1, 1),
        (Limits(write_calls=0), None, 0),
    ],
)
def test_calls_that_change_something_have_a_bound_of_their_own(
    limits: Limits, left: int | None, writes_left: int | None
) -> None:
    """M-11, M-14: `writeSteps`, within the calls that are left."""
    counters = Counters(model_calls=3, tool_calls=2, write_calls=1)
    assert (calls_left(counters, limits), calls_left(counters, limits, writes=True)) == (left, writes_left)
