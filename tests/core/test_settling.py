"""What becomes of calls that were cut off: the world is asked, a person may say. And inputs that join a turn."""

import pytest

from oribi.core.actions import CallModel, End, Probe, RunTools, WriteOff
from oribi.core.budget import Limits
from oribi.core.calls import CallId, Failed, Succeeded, ToolResult, TurnId, Unknown
from oribi.core.decide import decide
from oribi.core.ends import BudgetSpent, Completed, ModelFailed
from oribi.core.errors import JournalError
from oribi.core.events import CallProbed, CallResolved, Event, InputAdded, InterruptAsked, ModelChosen, TurnEnded
from oribi.core.messages import ToolMessage, UserMessage
from oribi.core.policy import LoopPolicy
from tests.core.story import (
    SPARE,
    acting,
    allowed,
    asked,
    began,
    call,
    faulted,
    prompt_of,
    replied,
    said,
    settled,
    turn_of,
)

BOOKING = (began(), asked(), replied(said("", call("a", "book"))), allowed("a"), acting("a"))
UNKNOWN = Unknown(reason="book was cut off")


def probed(found: ToolResult | None) -> CallProbed:
    return CallProbed(step=1, call_id=CallId("a"), found=found)


def resolved(result: ToolResult, *, turn: str = "t1", step: int = 1, call_id: str = "a") -> CallResolved:
    return CallResolved(call_turn=TurnId(turn), step=step, call_id=CallId(call_id), result=result, by="ada")


# --- probes (G1) ------------------------------------------------------------------------------------------------------


def test_a_reconcilable_call_that_was_cut_off_is_asked_about() -> None:
    assert decide(turn_of(*BOOKING), 0) == Probe(call=call("a", "book"))


@pytest.mark.parametrize("found", [Succeeded(text="room 4"), UNKNOWN, Failed(text="sold out")])
def test_what_the_world_says_is_the_result(found: ToolResult) -> None:
    assert decide(turn_of(*BOOKING, probed(found)), 0) == WriteOff(settled=((CallId("a"), found),))


def test_what_did_not_happen_starts_again_and_is_asked_about_again() -> None:
    assert decide(turn_of(*BOOKING, probed(None)), 0) == RunTools(calls=(call("a", "book"),))
    assert decide(turn_of(*BOOKING, probed(None), acting("a")), 0) == Probe(call=call("a", "book"))


def test_what_never_gets_to_happen_is_given_up_and_the_model_is_told_so() -> None:
    policy = LoopPolicy(max_starts=1)
    told = Failed(text="cut off each time before it happened; it has not happened", retryable=True)
    state = turn_of(began(policy=policy), *BOOKING[1:], probed(None))
    assert decide(state, 0) == WriteOff(settled=((CallId("a"), told),))


def test_a_stopped_turn_asks_nobody_what_came_of_a_call() -> None:
    state = turn_of(*BOOKING, InterruptAsked(by="ada"))
    reason = "book was cut off before its result arrived; it may or may not have happened"
    assert decide(state, 0) == WriteOff(settled=((CallId("a"), Unknown(reason=reason)),))


def test_a_call_that_never_started_cannot_be_probed() -> None:
    with pytest.raises(JournalError, match="was not cut off"):
        turn_of(*BOOKING[:-1], probed(None))


# --- a person's word --------------------------------------------------------------------------------------------------


def test_the_model_reads_a_persons_word_in_the_place_of_an_unknown() -> None:
    happened = Succeeded(text="it was booked")
    state = turn_of(*BOOKING, settled("a", UNKNOWN), resolved(happened))
    told = ToolMessage(call_id=CallId("a"), name="book", result=happened)
    prompt = prompt_of(UserMessage(text="hi"), said("", call("a", "book")), told, revision=1)
    assert decide(state, 0) == CallModel(prompt=prompt, step=2, attempt=1)


def test_a_persons_word_counts_for_a_call_of_an_earlier_turn() -> None:
    done = TurnEnded(end=Completed(text="done"))
    first = (*BOOKING, settled("a", UNKNOWN), asked(2), replied(said("done"), step=2), done)
    happened = Succeeded(text="it was booked")
    for state in (turn_of(*first, resolved(happened)), turn_of(*first, began(turn="t2"), resolved(happened))):
        messages = [message for exchange in state.history for message in exchange.messages] or state.messages
        assert messages[2] == ToolMessage(call_id=CallId("a"), name="book", result=happened)


def test_a_persons_word_counts_while_the_calls_beside_it_are_open() -> None:
    reply = said("", call("a", "book"), call("b"))
    state = turn_of(
        began(), asked(), replied(reply), allowed("a"), allowed("b"), acting("a"), settled("a", UNKNOWN),
        resolved(Succeeded(text="booked")), acting("b"), settled("b", Succeeded(text="seen")),
    )  # fmt: skip
    assert [m.result for m in state.messages if isinstance(m, ToolMessage)] == [
        Succeeded(text="booked"),
        Succeeded(text="seen"),
    ]


@pytest.mark.parametrize(
    "wrong", [resolved(UNKNOWN, turn="t9"), resolved(UNKNOWN, step=2), resolved(UNKNOWN, call_id="z")]
)
def test_only_a_call_whose_result_is_unknown_can_be_settled(wrong: CallResolved) -> None:
    events = (*BOOKING, settled("a", UNKNOWN))
    before = turn_of(*events)
    with pytest.raises(JournalError, match="no such call has an unknown result"):
        turn_of(*events, wrong)
    with pytest.raises(JournalError, match="no such call has an unknown result"):
        turn_of(*events, resolved(Succeeded(text="yes")), resolved(Succeeded(text="no")))
    assert turn_of(*events) == before


# --- inputs that join -------------------------------------------------------------------------------------------------


def added(text: str) -> InputAdded:
    return InputAdded(input=UserMessage(text=text))


def test_an_input_that_joins_waits_until_no_call_is_unanswered() -> None:
    """O-24: no message stands between a call and its result."""
    result = Succeeded(text="seen")
    state = turn_of(
        began(), asked(), replied(said("", call("a"))), added("hurry"), allowed("a"), acting("a"), settled("a", result)
    )
    told = ToolMessage(call_id=CallId("a"), name="look", result=result)
    assert state.messages == [UserMessage(text="hi"), said("", call("a")), told, UserMessage(text="hurry")]


def test_an_input_that_joins_after_the_answer_is_answered_too() -> None:
    answer = said("done")
    state = turn_of(began(), asked(), replied(answer), added("and then?"))
    prompt = prompt_of(UserMessage(text="hi"), answer, UserMessage(text="and then?"))
    assert decide(state, 0) == CallModel(prompt=prompt, step=2, attempt=1)
    assert decide(turn_of(began(), asked(), replied(answer)), 0) == End(end=Completed(text="done"))


def test_another_model_can_take_an_open_turn_over() -> None:
    state = turn_of(began(fallbacks=(SPARE,)), ModelChosen(model=SPARE))
    action = decide(state, 0)
    assert isinstance(action, CallModel)
    assert (action.prompt.model, action.choice) == (SPARE, 0)
    assert state.started is not None
    assert state.started.fallbacks == ()


# --- paid calls -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [(), (faulted("rate"),), (faulted("overloaded", retry_after_seconds=0.0),)])
def test_no_paid_call_is_repeated_on_its_own_where_the_policy_says_so(after: tuple[Event, ...]) -> None:
    """M-37: not after a fault, and not after a crash that cut the call off."""
    action = decide(turn_of(began(policy=LoopPolicy(max_asks=1)), asked(), *after), 0)
    assert isinstance(action, End)
    assert isinstance(action.end, ModelFailed)
    assert isinstance(decide(turn_of(began(policy=LoopPolicy(max_asks=2)), asked(), *after), 0), CallModel)


def test_a_repeated_model_call_is_paid_for_from_the_same_budget() -> None:
    """M-37: no budget is raised for compensation: what a cut-off call may have cost stays spent."""
    policy = LoopPolicy(limits=Limits(model_calls=2))
    assert isinstance(decide(turn_of(began(policy=policy), asked()), 0), CallModel)
    twice = decide(turn_of(began(policy=policy), asked(), asked(attempt=2)), 0)
    assert twice == End(end=BudgetSpent(limit="model_calls", text=""))
