"""What each event does to a turn, and which events cannot stand where."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest

from oribi.core.budget import Counters, Spent
from oribi.core.calls import Allow, CallId, Denied, Deny, SessionId, Succeeded, TurnId, Unknown
from oribi.core.ends import Completed, Interrupted
from oribi.core.errors import JournalError
from oribi.core.events import CallCharged, Event, InterruptAsked, RevokeAsked, TurnEnded
from oribi.core.messages import Message, Usage, UserMessage
from oribi.core.results import TurnResult, result_of
from oribi.core.turn import CallProgress, Exchange, Turn, apply
from tests.core.story import (
    NUMBER,
    OPENED,
    SECOND,
    SESSION,
    SPARE,
    TOOLS,
    At,
    Told,
    acting,
    allowed,
    answer,
    asked,
    began,
    call,
    checked,
    cut,
    denied,
    faulted,
    files,
    noticed,
    ran,
    recorded,
    replied,
    said,
    settled,
    turn_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

DONE = TurnEnded(end=Completed(text="done"))
TWO = said("", call("a"), call("b", "send"))


# --- what each event does ---------------------------------------------------------------------------------------------


def test_a_session_opens() -> None:
    assert turn_of() == Turn(session_id=SESSION, opened=OPENED, seq=1)


def test_a_turn_starts_with_the_input_as_its_first_message() -> None:
    """O-3, O-4, T-3: an input begins a turn and is the first message in its history."""
    started = began("hi")
    assert turn_of(At(at=7, event=started)) == Turn(
        session_id=SESSION,
        opened=OPENED,
        seq=2,
        started=started,
        started_at=7,
        tools={tool.name: tool for tool in TOOLS},
        messages=[UserMessage(text="hi")],
    )


def test_files_read_replace_what_the_turn_knew() -> None:
    before = turn_of(began())
    assert turn_of(began(), files(memory="m")) == replace(before, seq=3, files=files(memory="m"))


def test_a_step_is_charged_when_it_begins() -> None:
    before = turn_of(began())
    assert turn_of(began(), asked()) == replace(
        before, seq=3, step=1, attempt=1, asked=True, asks_of_choice=1, counters=Counters(steps=1, model_calls=1)
    )


def test_another_attempt_is_a_model_call_but_not_a_step() -> None:
    before = turn_of(began(), asked())
    assert turn_of(began(), asked(), asked(1, 2)) == replace(
        before, seq=4, attempt=2, asks_of_choice=2, counters=Counters(steps=1, model_calls=2)
    )


def test_the_asks_of_a_fallback_are_counted_from_one() -> None:
    before = turn_of(began(fallbacks=(SPARE,)), asked(), asked(1, 2))
    after = turn_of(began(fallbacks=(SPARE,)), asked(), asked(1, 2), asked(1, 3, choice=1))
    assert after == replace(
        before, seq=5, attempt=3, choice=1, asks_of_choice=1, counters=Counters(steps=1, model_calls=3)
    )


def test_the_asks_of_a_step_are_counted_from_one() -> None:
    turn = turn_of(began(), asked(), asked(1, 2), replied(said("", call("a")), attempt=2), *ran("a"), asked(2))
    assert turn.asks_of_choice == 1


def test_a_reply_becomes_a_message_with_its_calls_open() -> None:
    """Y-4: every reply goes into the session's history, and its tokens are counted."""
    reply = said("", call("a"), call("b", "send"), usage=Usage(input_tokens=5, output_tokens=2))
    before = turn_of(began(), asked())
    assert turn_of(began(), asked(), replied(reply)) == replace(
        before,
        seq=4,
        asked=False,
        reply=reply,
        messages=[UserMessage(text="hi"), reply],
        calls={
            CallId("a"): CallProgress(call=call("a")),
            CallId("b"): CallProgress(call=call("b", "send")),
        },
        unsettled=2,
        counters=Counters(steps=1, model_calls=1, input_tokens=5, output_tokens=2),
    )


def test_tokens_that_were_not_reported_are_not_counted() -> None:
    usage = Usage(output_tokens=3)
    turn = turn_of(
        began(), asked(), replied(said("", call("a"), usage=usage)), *ran("a"), asked(2), replied(said("x"), step=2)
    )
    assert turn.counters == Counters(steps=2, model_calls=2, tool_calls=1, output_tokens=3)


def test_a_fault_leaves_the_step_without_a_reply() -> None:
    before = turn_of(began(), asked())
    assert turn_of(began(), asked(), At(at=9, event=faulted())) == replace(
        before, seq=4, asked=False, fault=faulted(), fault_at=9
    )


def test_a_fault_is_forgotten_when_the_model_is_asked_again() -> None:
    assert turn_of(began(), asked(), faulted(), asked(1, 2)).fault is None


def test_an_allowed_call_waits_to_run() -> None:
    before = turn_of(began(), asked(), replied(TWO))
    progress = CallProgress(call=call("a"), verdict=Allow(rule="catalogue"))
    assert turn_of(began(), asked(), replied(TWO), allowed("a")) == replace(
        before, seq=5, calls={**before.calls, CallId("a"): progress}
    )


def test_a_denied_call_is_settled_by_its_verdict() -> None:
    before = turn_of(began(), asked(), replied(TWO))
    progress = CallProgress(
        call=call("a"),
        verdict=Deny(rule="no-send", reason="not today"),
        result=Denied(rule="no-send", reason="not today"),
    )
    assert turn_of(began(), asked(), replied(TWO), denied("a")) == replace(
        before, seq=5, unsettled=1, calls={**before.calls, CallId("a"): progress}
    )


def test_every_start_of_a_call_is_kept_and_the_call_is_counted_once() -> None:
    before = turn_of(began(), asked(), replied(TWO), allowed("a"))
    progress = CallProgress(call=call("a"), verdict=Allow(rule="catalogue"), starts=2)
    assert turn_of(began(), asked(), replied(TWO), allowed("a"), acting("a"), acting("a")) == replace(
        before,
        seq=7,
        calls={**before.calls, CallId("a"): progress},
        counters=Counters(steps=1, model_calls=1, tool_calls=1),
        used={"look"},
    )


def test_a_result_is_kept_back_until_every_call_of_its_reply_has_one() -> None:
    turn = turn_of(began(), asked(), replied(TWO), allowed("a"), allowed("b"), acting("b"), settled("b"))
    assert (turn.unsettled, turn.messages) == (1, [UserMessage(text="hi"), TWO])


def test_results_become_messages_in_the_order_of_the_requests() -> None:
    """O-24, Y-13, C-2: each result carries its call's id; the order is the reply's, not that of the results."""
    calls = (call("c"), call("a"), call("d"), call("b"))
    lost = Unknown(reason="cut off")
    turn = turn_of(
        began(),
        asked(),
        replied(said("", *calls)),
        denied("b"),
        *ran("a"),
        allowed("d"),
        acting("d"),
        settled("d", lost),
        *ran("c"),
    )
    assert turn.messages == [
        UserMessage(text="hi"),
        said("", *calls),
        answer("c"),
        answer("a"),
        answer("d", "look", lost),
        answer("b", "look", Denied(rule="no-send", reason="not today")),
    ]


def test_a_notice_is_told_in_the_place_of_a_person() -> None:
    before = turn_of(began(), asked(), replied(said("")))
    assert turn_of(began(), asked(), replied(said("")), noticed("say something")) == replace(
        before, seq=5, notices=1, messages=[*before.messages, UserMessage(text="say something")]
    )


def test_notices_are_counted_until_the_model_asks_for_a_tool() -> None:
    twice = (asked(), replied(said("")), noticed("1"), asked(2), replied(said(""), step=2), noticed("2", step=2))
    acts, talks = said("", call("a")), said("no call")
    assert (
        turn_of(began(), *twice).notices,
        turn_of(began(), *twice, asked(3), replied(talks, step=3)).notices,
        turn_of(began(), *twice, asked(3), replied(acts, step=3)).notices,
    ) == (2, 2, 0)


def test_an_answer_is_known_to_fit_or_not() -> None:
    before = turn_of(began(output_schema=NUMBER), asked(), replied(said("{}")))
    after = turn_of(began(output_schema=NUMBER), asked(), replied(said("{}")), checked(problem="no n"))
    assert after == replace(before, seq=5, checked=checked(problem="no n"))


def test_a_cut_changes_what_is_sent_and_says_that_it_did() -> None:
    before = turn_of(began(), asked(), faulted("context_length"))
    assert turn_of(began(), asked(), faulted("context_length"), cut(0, 500)) == replace(
        before, seq=5, cut=cut(0, 500), revision=1
    )


def test_the_next_turn_forgets_cuts_fallbacks_notices_and_checks() -> None:
    again = began("more", turn="t2")
    cuts = (asked(), faulted("context_length"), cut(0, 500), asked(1, 2, choice=1), replied(said("x"), attempt=2))
    turn = turn_of(began(fallbacks=(SPARE,)), *cuts, checked(problem="no n"), noticed("again"), DONE, again)
    assert turn == Turn(
        session_id=SESSION,
        opened=OPENED,
        seq=11,
        started=again,
        tools=turn.tools,
        history=turn.history,
        first=3,
        messages=[UserMessage(text="more")],
        revision=2,
    )


def test_a_request_to_stop_is_noted() -> None:
    before = turn_of(began())
    stop, revoke = InterruptAsked(by="ada"), RevokeAsked(what="send")
    assert turn_of(began(), stop, revoke) == replace(before, seq=4, interrupted=stop, revoked=revoke)


def test_an_end_closes_the_turn() -> None:
    before = turn_of(began(), asked(), replied(said("done")))
    after = turn_of(began(), asked(), replied(said("done")), At(at=3, event=DONE))
    assert (after, after.is_open) == (replace(before, seq=5, end=DONE.end, ended_at=3), False)


def test_an_end_forgets_the_model_call_that_was_cut_off() -> None:
    stopped = TurnEnded(end=Interrupted(by="ada"))
    assert turn_of(began(), asked(), InterruptAsked(by="ada"), stopped).asked is False


def test_the_next_turn_starts_afresh_with_the_last_one_as_history() -> None:
    """O-13, T-18: history accumulates across turns; counters, calls and requests to stop do not."""
    reply, last = said("", call("a")), said("done")
    again = began("more", turn="t2")
    events = (
        began(),
        asked(),
        faulted(),
        asked(1, 2),
        replied(reply, attempt=2),
        *ran("a"),
        asked(2),
        replied(last, step=2),
        InterruptAsked(by="ada"),
        RevokeAsked(what="send"),
        DONE,
    )
    turn = turn_of(*events, again)
    assert turn == Turn(
        session_id=SESSION,
        opened=OPENED,
        seq=15,
        started=again,
        tools=turn.tools,
        history=[Exchange(turn_id=TurnId("t1"), first=0, messages=[UserMessage(text="hi"), reply, answer("a"), last])],
        first=4,
        messages=[UserMessage(text="more")],
        step=0,
    )


@pytest.mark.parametrize(
    ("events", "wants"),
    [
        ((), False),
        ((began(),), True),
        ((began(), asked()), False),
        ((began(), asked(), faulted()), True),
        ((began(), asked(), replied(said("done"))), False),
        ((began(), asked(), replied(said("")), noticed("say something")), True),
        ((began(output_schema=NUMBER), asked(), replied(said("x")), checked(problem="no")), False),
        ((began(output_schema=NUMBER), asked(), replied(said("x")), checked(problem="no"), noticed("again")), True),
        ((began(), asked(), faulted("context_length"), cut(0, 500)), True),
        ((began(), asked(), replied(TWO)), False),
        ((began(), asked(), replied(TWO), *ran("a"), denied("b")), True),
        ((began(), DONE), False),
    ],
)
def test_files_are_read_when_a_model_call_is_next(events: tuple[Event, ...], wants: bool) -> None:  # noqa: FBT001 - a table
    """O-16."""
    assert turn_of(*events).wants_model is wants


# --- what cannot be ---------------------------------------------------------------------------------------------------


def charge(model_calls: int) -> CallCharged:
    """What the turn nested in call `a` has spent."""
    spent = Spent(model_calls=model_calls)
    return CallCharged(step=1, call_id=CallId("a"), spent=spent, child=SessionId("s2"))


IMPOSSIBLE: list[tuple[str, tuple[Event, ...], Event, str]] = [
    ("a_second_opening", (), OPENED, "the session is open already"),
    ("a_turn_in_a_turn", (began(),), began(turn="t2"), "a turn is open"),
    ("anything_after_the_end", (began(), DONE), asked(), "no turn is open"),
    ("an_end_after_the_end", (began(), DONE), DONE, "no turn is open"),
    ("files_without_a_turn", (), files(), "no turn is open"),
    ("a_stop_without_a_turn", (), InterruptAsked(by="ada"), "no turn is open"),
    ("a_revocation_without_a_turn", (), RevokeAsked(what="x"), "no turn is open"),
    ("a_skipped_step", (began(),), asked(2), "step 0, attempt 0 came before"),
    ("a_step_zero", (began(),), asked(0), "step 0, attempt 0 came before"),
    ("a_first_attempt_that_is_the_second", (began(),), asked(1, 2), "step 0, attempt 0 came before"),
    ("an_attempt_zero", (began(),), asked(1, 0), "step 0, attempt 0 came before"),
    ("a_repeated_attempt", (began(), asked()), asked(), "step 1, attempt 1 came before"),
    ("a_skipped_attempt", (began(), asked()), asked(1, 3), "step 1, attempt 1 came before"),
    ("the_next_step_while_one_is_asked", (began(), asked()), asked(2), "step 1, attempt 1 came before"),
    ("the_next_step_after_a_fault", (began(), asked(), faulted()), asked(2), "step 1, attempt 1 came before"),
    (
        "another_attempt_after_a_reply",
        (began(), asked(), replied(said("", call("a"))), *ran("a")),
        asked(1, 2),
        "step 1, attempt 1 came before",
    ),
    ("a_model_call_with_open_calls", (began(), asked(), replied(TWO), *ran("a")), asked(2), "calls are unanswered"),
    ("an_end_with_open_calls", (began(), asked(), replied(TWO), *ran("a")), DONE, "calls are unanswered"),
    ("a_reply_nobody_asked_for", (began(),), replied(said("x")), "nobody asked"),
    ("a_reply_to_another_step", (began(), asked()), replied(said("x"), step=2), "nobody asked"),
    ("a_reply_to_an_earlier_attempt", (began(), asked(), asked(1, 2)), replied(said("x")), "nobody asked"),
    ("a_second_reply", (began(), asked(), replied(said("x"))), replied(said("x")), "nobody asked"),
    ("a_fault_nobody_asked_for", (began(),), faulted(), "nobody asked"),
    ("a_fault_after_the_reply", (began(), asked(), replied(said("x"))), faulted(), "nobody asked"),
    ("a_fault_of_an_earlier_attempt", (began(), asked(), asked(1, 2)), faulted(), "nobody asked"),
    ("two_calls_with_one_id", (began(), asked()), replied(said("", call("a"), call("a"))), "share an id"),
    ("a_verdict_on_no_call", (began(), asked()), allowed("a"), "no such unanswered call"),
    ("a_verdict_on_a_call_of_another_step", (began(), asked(), replied(TWO)), allowed("a", step=2), "no such"),
    ("a_second_verdict", (began(), asked(), replied(TWO), allowed("a")), denied("a"), "has a verdict already"),
    ("a_verdict_after_the_result", (began(), asked(), replied(TWO), *ran("a")), allowed("a"), "no such unanswered"),
    ("a_start_without_a_verdict", (began(), asked(), replied(TWO)), acting("a"), "was not allowed"),
    ("a_start_of_a_denied_call", (began(), asked(), replied(TWO), denied("a")), acting("a"), "no such unanswered"),
    ("a_start_after_the_result", (began(), asked(), replied(TWO), *ran("a")), acting("a"), "no such unanswered"),
    ("a_result_of_no_call", (began(), asked(), replied(TWO)), settled("z"), "no such unanswered call"),
    ("a_second_result", (began(), asked(), replied(TWO), *ran("a")), settled("a"), "no such unanswered call"),
    (
        "a_success_of_a_call_that_never_started",
        (began(), asked(), replied(TWO), allowed("a")),
        settled("a", Succeeded(text="")),
        "the call never started",
    ),
    ("a_model_the_turn_does_not_have", (began(),), asked(choice=1), "the turn has no model number 1"),
    (
        "a_fallback_beyond_the_last",
        (began(fallbacks=(SPARE,)), asked(), faulted()),
        asked(1, 2, choice=2),
        "no model number 2",
    ),
    ("a_model_before_the_first", (began(),), asked(choice=-1), "the turn has no model number -1"),
    ("a_cut_of_a_prompt_nobody_sent", (began(),), cut(0, 500), "the last prompt was not too long"),
    ("a_cut_after_another_fault", (began(), asked(), faulted("rate")), cut(0, 500), "the last prompt was not too long"),
    (
        "a_cut_for_another_attempt",
        (began(), asked(), faulted("context_length")),
        cut(0, 500, attempt=2),
        "the last prompt was not too long",
    ),
    (
        "a_second_cut_of_one_prompt",
        (began(), asked(), faulted("context_length"), cut(1, 2_000)),
        cut(0, 500),
        "was cut already",
    ),
    (
        "a_charge_that_takes_back",
        (began(), asked(), replied(TWO), allowed("a"), acting("a"), charge(2)),
        charge(1),
        "it takes back what was spent",
    ),
    ("a_charge_of_a_call_that_never_began", (began(), asked(), replied(TWO)), charge(1), "the call never started"),
    ("a_check_of_no_answer", (began(),), checked(), "there is no unchecked answer"),
    ("a_check_of_an_empty_answer", (began(), asked(), replied(said(" "))), checked(), "there is no unchecked answer"),
    ("a_check_of_calls", (began(), asked(), replied(TWO)), checked(), "there is no unchecked answer"),
    (
        "a_second_check",
        (began(output_schema=NUMBER), asked(), replied(said("x")), checked()),
        checked(problem="no"),
        "there is no unchecked answer",
    ),
    ("a_notice_before_any_reply", (began(),), noticed("x"), "is not an answer of the model"),
    ("a_notice_with_open_calls", (began(), asked(), replied(TWO)), noticed("x"), "is not an answer of the model"),
    (
        "a_second_notice_after_results",
        (began(), asked(), replied(TWO), *ran("a"), denied("b"), noticed("x")),
        noticed("x"),
        "is not an answer of the model",
    ),
    (
        "a_second_notice_on_one_answer",
        (began(), asked(), replied(said("")), noticed("x")),
        noticed("x"),
        "is not an answer of the model",
    ),
    (
        "a_notice_while_the_model_is_asked",
        (began(), asked(), replied(said("")), asked(2)),
        noticed("x", step=2),
        "is not an answer of the model",
    ),
    (
        "an_unknown_outcome_of_a_call_that_never_started",
        (began(), asked(), replied(TWO), allowed("a")),
        settled("a", Unknown(reason="")),
        "the call never started",
    ),
]


@pytest.mark.parametrize(
    ("before", "event", "why"), [row[1:] for row in IMPOSSIBLE], ids=[row[0] for row in IMPOSSIBLE]
)
def test_an_event_that_cannot_stand_there_is_a_journal_error(before: tuple[Event, ...], event: Event, why: str) -> None:
    turn, record = turn_of(*before), recorded(OPENED, *before, event)[-1]
    untouched = deepcopy(turn)
    with pytest.raises(JournalError, match=rf"^session 's1': event {record.seq} \({type(event).__name__}\) .*{why}"):
        apply(turn, record)
    assert turn == untouched


@pytest.mark.parametrize("seq", [0, 1, 2, 4])
def test_a_record_out_of_its_place_is_a_journal_error(seq: int) -> None:
    with pytest.raises(JournalError, match="expected seq 3"):
        apply(turn_of(began()), replace(recorded(OPENED, began(), asked())[-1], seq=seq))


def test_a_turn_does_not_start_in_a_session_that_was_not_opened() -> None:
    with pytest.raises(JournalError, match="a turn is open, or the session is not"):
        apply(Turn(session_id=SESSION), recorded(began())[0])


def test_a_record_of_another_session_is_a_journal_error() -> None:
    with pytest.raises(JournalError, match="it belongs to session 's2'"):
        apply(turn_of(began()), replace(recorded(OPENED, began(), asked())[-1], session_id=SessionId("s2")))


@pytest.mark.parametrize("of", [None, TurnId("t2")])
def test_a_record_of_another_turn_is_a_journal_error(of: TurnId | None) -> None:
    with pytest.raises(JournalError, match=f"it belongs to turn {of!r}"):
        apply(turn_of(began()), replace(recorded(OPENED, began(), asked())[-1], turn_id=of))


# --- what it costs ----------------------------------------------------------------------------------------------------


class OnlyGrows(list[Message]):
    """A list that can be appended to, and complains when it is read, copied or joined."""

    def __iter__(self) -> Iterator[Message]:
        self._complain()

    def __getitem__(self, index: object) -> NoReturn:
        self._complain()

    def __add__(self, other: object) -> NoReturn:
        self._complain()

    def __contains__(self, item: object) -> NoReturn:
        self._complain()

    def copy(self) -> NoReturn:
        self._complain()

    def _complain(self) -> NoReturn:
        raise AssertionError("apply read the whole history")


def test_an_event_costs_the_same_however_long_the_history_is() -> None:
    turn = turn_of(began())
    grown = turn.messages = OnlyGrows(turn.messages)
    reply = said("", call("a"))
    told: list[Told] = [OPENED, began()]
    for step in range(1, 21):
        told += [files(memory=str(step)), asked(step), replied(reply, step=step), *ran("a", step=step)]
    told += [InterruptAsked(by="ada"), DONE, began("more", turn="t2")]
    for record in recorded(*told)[2:]:
        apply(turn, record)
    assert (turn.history[0].messages is grown, len(grown), turn.first) == (True, 41, 41)


def test_a_turn_owns_its_lists_and_appends_to_them() -> None:
    turn = turn_of(began())
    messages, history, counters = turn.messages, turn.history, turn.counters
    for record in recorded(OPENED, began(), asked(), replied(said("", call("a"))), *ran("a"), asked(2))[2:]:
        apply(turn, record)
    assert (turn.messages is messages, turn.history is history, turn.counters is counters) == (True, True, True)


# --- how it came out --------------------------------------------------------------------------------------------------


def test_a_result_tells_the_end_the_evidence_and_what_was_spent() -> None:
    """C-26, T-12: whatever the end, the answer so far, the gathered results and the counters come with it."""
    reply = said("looking", call("a"), usage=Usage(input_tokens=5, output_tokens=2))
    end = TurnEnded(end=Interrupted(by="ada"))
    turn = turn_of(At(at=SECOND, event=began()), asked(), replied(reply), *ran("a"), At(at=4 * SECOND, event=end))
    result = result_of(turn)
    assert result.evidence == (answer("a"),)
    assert result == TurnResult(
        session_id=SESSION,
        turn_id=TurnId("t1"),
        end=Interrupted(by="ada"),
        messages=(UserMessage(text="hi"), reply, answer("a")),
        reply=reply,
        counters=Counters(steps=1, model_calls=1, tool_calls=1, input_tokens=5, output_tokens=2),
        seconds=3.0,
    )


def test_a_result_does_not_change_when_the_session_goes_on() -> None:
    turn = turn_of(began(), asked(), replied(said("done")), DONE)
    result = result_of(turn)
    expected = deepcopy(result)
    for record in recorded(OPENED, began(), asked(), replied(said("done")), DONE, began("more", turn="t2"), asked())[
        5:
    ]:
        apply(turn, record)
    assert result == expected


@pytest.mark.parametrize("turn", [turn_of(), turn_of(began())])
def test_an_open_turn_has_no_result_yet(turn: Turn) -> None:
    with pytest.raises(ValueError, match="session s1 has no ended turn"):
        result_of(turn)
