"""What holds of every session, whatever the model, the tools, the people and the power supply do."""

from collections.abc import Sequence
from copy import deepcopy
from itertools import groupby, pairwise
from typing import get_args

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from oribi.core.calls import CallId, Denied, Unknown
from oribi.core.compaction import LEVELS, characters
from oribi.core.decide import QUESTIONS, Action, CallModel, End, Record, Rest, RunTools, WriteOff, decide
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    TurnEnd,
)
from oribi.core.errors import JournalError
from oribi.core.events import (
    AnswerChecked,
    CallResolved,
    ContextCut,
    Event,
    InputAdded,
    ModelChosen,
    ModelReplied,
    NoticeGiven,
    ToolStarted,
    TurnEnded,
)
from oribi.core.messages import Message, Reply, ToolMessage
from oribi.core.turn import Turn, apply, fold
from tests.core.story import OPENED, SESSION, Decision, Play, recorded
from tests.core.strategies import any_records, most_asks, sessions

FAR = 10**18
"""A time after every deadline."""

quick = settings(max_examples=max(1, settings().max_examples // 4))
"""A session is dozens of events, so a quarter of the usual number of examples will do; a deeper profile goes deeper."""


def problem_with(messages: Sequence[Message]) -> str | None:
    """What a provider would refuse: a call without a result, or a result without a call, in the order of the calls."""
    due: list[CallId] = []
    for place, message in enumerate(messages):
        match message:
            case ToolMessage(call_id=call_id):
                if not due or due.pop(0) != call_id:
                    return f"message {place}: orphan result {call_id!r}"
            case Reply(calls=calls):
                if due:
                    return f"message {place}: unanswered {due!r}"
                due = [each.id for each in calls]
            case _:
                if due:
                    return f"message {place}: unanswered {due!r}"
    return f"at the end: unanswered {due!r}" if due else None


# --- one fold ---------------------------------------------------------------------------------------------------------


@quick
@given(sessions)
def test_folding_any_prefix_gives_the_state_that_was_reached_step_by_step(play: Play) -> None:
    """Resume is a fold: there is no other way to come by a state."""
    grown = Turn(session_id=SESSION)
    for count, record in enumerate(play.records, start=1):
        apply(grown, record)
        assert fold(SESSION, play.records[:count]) == grown
    assert grown == play.turn


@quick
@given(sessions)
def test_the_same_records_lead_to_the_same_decision_wherever_they_are_read(play: Play) -> None:
    """G2, recovery determinism: what was decided live is decided again from the records alone, however often."""
    for decision in play.decisions:
        reopened = fold(SESSION, play.records[: decision.seq])
        assert [decide(reopened, decision.now) for _ in range(2)] == [decision.action] * 2


@quick
@given(sessions, st.data())
def test_a_session_cut_off_anywhere_can_be_decided_on(play: Play, data: st.DataObject) -> None:
    """Every prefix of a journal is a state of its own: what a crash left."""
    records = play.records[: data.draw(st.integers(0, len(play.records)))]
    turn = fold(SESSION, records)
    for now in (-1, 0, play.records[-1].at, FAR):
        action = decide(turn, now)
        assert isinstance(action, Rest) is not turn.is_open


@quick
@given(sessions)
def test_deciding_changes_nothing(play: Play) -> None:
    for count in range(len(play.records) + 1):
        turn = fold(SESSION, play.records[:count])
        before = deepcopy(turn)
        for now in (0, FAR):
            decide(turn, now)
        assert turn == before


# --- any order --------------------------------------------------------------------------------------------------------


@quick
@given(st.data())
def test_events_in_any_order_give_a_state_or_a_journal_error(data: st.DataObject) -> None:
    """And a record that is refused leaves no trace; and a state that is reached can be decided on and is sound."""
    turn = fold(SESSION, recorded(OPENED) if data.draw(st.integers(0, 9)) else [])
    for _ in range(data.draw(st.integers(0, 40))):
        record = data.draw(any_records(turn))
        before = deepcopy(turn)
        try:
            apply(turn, record)
        except JournalError:
            assert turn == before
            continue
        assert turn.seq == before.seq + 1
        assert turn.unsettled == sum(progress.result is None for progress in turn.calls.values())
        decide(turn, data.draw(st.sampled_from([0, record.at, FAR])))
        if turn.unsettled == 0:
            assert problem_with([message for past in turn.history for message in past.messages]) is None
            assert problem_with(turn.messages) is None


@quick
@given(sessions, st.data())
def test_a_journal_that_was_tampered_with_gives_a_state_or_a_journal_error(play: Play, data: st.DataObject) -> None:
    """Records lost, doubled or swapped, with their numbers put right again."""
    records = list(play.records)
    places = st.integers(0, len(records) - 1)
    match data.draw(st.sampled_from(["lose", "double", "swap"])):
        case "lose":
            del records[data.draw(places)]
        case "double":
            place = data.draw(places)
            records.insert(place, records[place])
        case _:
            one, other = data.draw(places), data.draw(places)
            records[one], records[other] = records[other], records[one]
    turn = Turn(session_id=SESSION)
    try:
        for record in recorded(*(record.event for record in records)):
            apply(turn, record)
    except JournalError:
        return
    assert problem_with(turn.messages) is None or turn.unsettled > 0
    decide(turn, 0)


# --- it ends ----------------------------------------------------------------------------------------------------------


@quick
@given(sessions)
def test_every_turn_ends(play: Play) -> None:
    """T-12, T-22, T-24: and `sessions` itself fails when a turn takes more decisions than its policy allows."""
    ends = [action.end for action in play.actions if isinstance(action, End)]
    rests = [action.end for action in play.actions if isinstance(action, Rest)]
    noted = [record.event.end for record in play.records if isinstance(record.event, TurnEnded)]
    assert (rests, noted) == (ends, ends)


@quick
@given(sessions)
def test_the_model_is_asked_at_most_steps_times_attempts(play: Play) -> None:
    """O-26, T-6: steps count from 1 to the cap, attempts from 1 to theirs: so many of each model, and one a cut."""
    for decisions in by_turn(play):
        turn = fold(SESSION, play.records[: decisions[0].seq])
        assert turn.started is not None
        started = turn.started
        records = [decision.action.event for decision in decisions if isinstance(decision.action, Record)]
        cuts = [event for event in records if isinstance(event, ContextCut)]
        asks = [decision.action for decision in decisions if isinstance(decision.action, CallModel)]
        assert sorted({ask.step for ask in asks}) == list(range(1, len({ask.step for ask in asks}) + 1))
        assert all(ask.step <= started.policy.max_steps for ask in asks)
        assert all(ask.attempt <= most_asks(started) + len(cuts) for ask in asks)
        assert len({(ask.step, ask.attempt) for ask in asks}) == len(asks)


@quick
@given(sessions)
def test_no_counter_passes_its_limit(play: Play) -> None:
    """Tokens alone may, by the reply that spent them: what a reply costs is known when it is there."""
    turn = Turn(session_id=SESSION)
    for record in play.records:
        before = turn.counters.input_tokens + turn.counters.output_tokens
        apply(turn, record)
        if turn.started is None:
            continue
        policy, counters = turn.started.policy, turn.counters
        limits = policy.limits
        assert counters.steps <= policy.max_steps
        assert limits.model_calls is None or counters.model_calls <= limits.model_calls
        assert limits.tool_calls is None or counters.tool_calls <= limits.tool_calls
        if limits.total_tokens is not None and isinstance(record.event, ModelReplied):
            assert before < limits.total_tokens


@quick
@given(sessions)
def test_an_end_by_a_limit_or_a_stop_is_told_truly(play: Play) -> None:  # noqa: C901 - one match over all ends
    turn = Turn(session_id=SESSION)
    for record in play.records:
        apply(turn, record)
        if not isinstance(record.event, TurnEnded) or turn.started is None:
            continue
        policy, counters = turn.started.policy, turn.counters
        match record.event.end:
            case Completed(text=text, value=value):
                assert turn.reply is not None
                assert (turn.reply.text, turn.reply.calls, text.strip() != "") == (text, (), True)
                if turn.started.output_schema is None:
                    assert value is None
                else:
                    assert turn.checked is not None
                    assert (turn.checked.problem, turn.checked.value) == (None, value)
            case MaxSteps(limit=limit):
                assert counters.steps == limit == policy.max_steps
            case BudgetSpent(limit="model_calls"):
                assert counters.model_calls == policy.limits.model_calls
            case BudgetSpent(limit=limit):
                spent = counters.input_tokens + counters.output_tokens
                assert (limit, policy.limits.total_tokens is not None) == ("total_tokens", True)
                assert spent >= (policy.limits.total_tokens or 0)
            case DeadlinePassed():
                assert policy.limits.deadline_seconds is not None
            case Interrupted(by=by):
                assert turn.interrupted is not None
                assert turn.interrupted.by == by
            case Revoked(what=what):
                assert turn.revoked is not None
                assert turn.revoked.what == what
            case ModelFailed(kind="empty" | "schema" as kind):
                assert turn.reply is not None
                assert (turn.reply.calls, turn.notices) == ((), policy.max_notices)
                assert (kind == "empty") is (turn.reply.text.strip() == "")
                assert (kind == "schema") is (turn.checked is not None and turn.checked.problem is not None)
            case ModelFailed(kind=kind):
                assert (turn.fault.kind if turn.fault else "cut_off") == kind
                assert turn.choice == len(turn.started.fallbacks) or policy.limits.deadline_seconds is not None
            case other:
                assert turn.fault is not None, other
                assert turn.fault.kind == "context_length"


# --- what the model is told -------------------------------------------------------------------------------------------


@quick
@given(sessions)
def test_no_prompt_holds_an_unanswered_call_or_an_orphan_result(play: Play) -> None:
    """G7, O-17, O-24."""
    assert [problem_with(prompt.messages) for prompt in play.prompts] == [None] * len(play.prompts)


@quick
@given(sessions)
def test_within_a_turn_every_prompt_begins_with_the_one_before(play: Play) -> None:
    for decisions in by_turn(play):
        prompts = [decision.action.prompt for decision in decisions if isinstance(decision.action, CallModel)]
        for earlier, later in pairwise(prompts):
            assert later.tools == earlier.tools
            if later.revision == earlier.revision:
                assert later.messages[: len(earlier.messages)] == earlier.messages
                assert later.first == earlier.first


@quick
@given(sessions)
def test_a_turn_goes_down_its_models_one_by_one_and_never_back(play: Play) -> None:
    """And the next turn begins with the agent's own model again."""
    for decisions in by_turn(play):
        started = fold(SESSION, play.records[: decisions[0].seq]).started
        assert started is not None
        asks = [decision.action for decision in decisions if isinstance(decision.action, CallModel)]
        choices = [ask.choice for ask in asks]
        assert choices[:1] in ([], [0])
        assert all(later - earlier in {0, 1} for earlier, later in pairwise(choices))
        models = (started.model, *started.fallbacks)
        assert [ask.prompt.model for ask in asks] == [models[choice] for choice in choices]


@quick
@given(sessions)
def test_a_prompt_that_was_too_long_is_never_sent_again(play: Play) -> None:
    """G7: each cut makes it smaller, goes further than the one before, and says truly how large it was and is."""
    for decisions in by_turn(play):
        cuts: list[ContextCut] = []
        size = sent = cut_at = 0
        for decision in decisions:
            fault = fold(SESSION, play.records[: decision.seq]).fault
            match decision.action:
                case Record(event=ContextCut() as cut):
                    grown = growth(play, sent, decision.seq)
                    assert fault is not None
                    assert fault.kind == "context_length"
                    assert grown is None or cut.characters_before == size + grown
                    cuts.append(cut)
                    cut_at = decision.seq
                case CallModel(prompt=prompt):
                    if fault is not None and fault.kind == "context_length":
                        grown, grown_since_cut = growth(play, sent, decision.seq), growth(play, cut_at, decision.seq)
                        assert grown is None or size + grown > characters(prompt)
                        assert (
                            grown_since_cut is None or characters(prompt) == cuts[-1].characters_after + grown_since_cut
                        )
                    size, sent = characters(prompt), decision.seq
                case _:
                    pass
        levels = [cut.result_characters for cut in cuts]
        assert levels == sorted(set(levels), reverse=True)
        assert len(levels) <= len(LEVELS)


@quick
@given(sessions)
def test_a_cut_keeps_the_open_turn_whole(play: Play) -> None:
    """G7: the input and every call and result of the open turn stay, however little fits; what is cut says so."""
    for decision in play.decisions:
        if isinstance(decision.action, CallModel):
            turn = fold(SESSION, play.records[: decision.seq])
            sent = decision.action.prompt.messages[-len(turn.messages) :]
            assert [skeleton(message) for message in sent] == [skeleton(message) for message in turn.messages]
            changed = [one for one, whole in zip(sent, turn.messages, strict=True) if one != whole]
            assert all("characters left out" in str(one) for one in changed)


@quick
@given(sessions)
def test_a_notice_answers_a_reply_that_cannot_be_used_and_there_are_few_in_a_row(play: Play) -> None:
    """O19: an answer that says nothing is not an answer, and the model is not asked for ever."""
    turn, row = Turn(session_id=SESSION), 0
    for record in play.records:
        if isinstance(record.event, NoticeGiven):
            assert turn.reply is not None
            assert turn.started is not None
            assert (turn.reply.calls, turn.messages[-1]) == ((), turn.reply)
            assert not turn.reply.text.strip() or (turn.checked is not None and turn.checked.problem is not None)
            row += 1
            assert row <= turn.started.policy.max_notices
        apply(turn, record)
        if turn.reply is None or turn.reply.calls:
            row = 0


@quick
@given(sessions)
def test_a_prompt_names_the_place_of_its_first_message_in_the_session(play: Play) -> None:
    """What a wire encoded once it may keep: `first` and onwards are the session's messages, in its own numbers."""
    said = [message for past in play.turn.history for message in past.messages] + play.turn.messages
    for prompt in play.prompts:
        meant = said[prompt.first : prompt.first + len(prompt.messages)]
        assert [skeleton(message) for message in meant] == [skeleton(message) for message in prompt.messages]
        if prompt.revision == play.turn.revision == 0:
            assert meant == prompt.messages


# --- what is done -----------------------------------------------------------------------------------------------------


@quick
@given(sessions)
def test_a_call_that_may_not_be_repeated_starts_at_most_once(play: Play) -> None:
    """G1: at most once, or an explicit Unknown; the others no more often than the policy says."""
    turn = Turn(session_id=SESSION)
    for record in play.records:
        before = turn.calls.get(record.event.call_id) if isinstance(record.event, ToolStarted) else None
        did_not_happen = before is not None and before.probe is not None and before.probe.found is None
        apply(turn, record)
        if isinstance(record.event, ToolStarted) and turn.started is not None:
            progress = turn.calls[record.event.call_id]
            tool = turn.tools.get(progress.call.name)
            repeatable = did_not_happen or (tool is not None and tool.effect in {"pure", "idempotent"})
            assert progress.starts <= (turn.started.policy.max_starts if repeatable else 1)


@quick
@given(sessions)
def test_only_allowed_calls_without_a_result_run_in_the_order_of_the_reply(play: Play) -> None:
    """Y-13, C-22."""
    for decision in play.decisions:
        turn = fold(SESSION, play.records[: decision.seq])
        if isinstance(decision.action, RunTools):
            waiting = [progress.call for progress in turn.calls.values() if progress.result is None]
            assert list(decision.action.calls) == waiting[: len(decision.action.calls)] != []
        if isinstance(decision.action, WriteOff):
            assert all(turn.calls[call_id].result is None for call_id, _ in decision.action.settled)


@quick
@given(sessions)
def test_open_calls_an_unusable_answer_and_a_lost_model_call_never_meet(play: Play) -> None:
    """The adjacent questions whose order cannot matter; test_decide.py pins the others."""
    for decision in play.decisions:
        turn = fold(SESSION, play.records[: decision.seq])
        if turn.started is not None and turn.is_open:
            answers = [question(turn, turn.started, decision.now) for question in QUESTIONS[6:9]]
            assert answers.count(None) >= 2


# --- the generator is worth its name ----------------------------------------------------------------------------------


def test_generated_sessions_reach_every_end_and_every_cut() -> None:
    """A property of what never happens proves nothing. The same sessions every time, so this is no matter of luck."""
    seen: set[object] = set()

    @settings(max_examples=400, derandomize=True, database=None, phases=[Phase.generate])
    @given(sessions)
    def look(play: Play) -> None:
        seen.update(type(action.end) if isinstance(action, End) else type(action) for action in play.actions)
        seen.update(type(record.event) for record in play.records)
        for action in play.actions:
            if isinstance(action, WriteOff):
                seen.update(type(result) for _, result in action.settled if isinstance(result, Unknown | Denied))
        if any(len(list(same)) > 1 for _, same in groupby(play.starts)):
            seen.add("a call started again")
        if any(prompt.turns_left_out for prompt in play.prompts):
            seen.add("turns left out")
        seen.update(record.event.result_characters for record in play.records if isinstance(record.event, ContextCut))
        seen.update(action.choice for action in play.actions if isinstance(action, CallModel))
        ends = [action.end for action in play.actions if isinstance(action, End)]
        seen.update({end.kind for end in ends if isinstance(end, ModelFailed)} & {"empty", "schema", "cut_off"})
        checks = [record.event for record in play.records if isinstance(record.event, AnswerChecked)]
        seen.update("fits" if check.problem is None else "does not fit" for check in checks)

    look()
    actions = set(get_args(Action)) - {End}
    events = set(get_args(Event)) - {ModelChosen}  # only a fork has it
    assert seen == {
        *get_args(TurnEnd),
        *events,
        *actions,
        Unknown,
        Denied,
        "a call started again",
        "turns left out",
        *(level[1] for level in LEVELS),
        *range(3),
        *("empty", "schema", "cut_off"),
        *("fits", "does not fit"),
    }


def skeleton(message: Message) -> Message | tuple[CallId, str]:
    """A message without what a cut may shorten, or a person's word replace."""
    if isinstance(message, ToolMessage):
        return message.call_id, message.name
    return message


def growth(play: Play, after: int, until: int) -> int | None:
    """By how many characters what joined the turn between two records made the prompt longer; None if not to be told.

    A person's word in the place of an unknown result may be cut as any result is.
    """
    between = [record.event for record in play.records[after:until]]
    if any(isinstance(event, CallResolved) for event in between):
        return None
    return sum(len(event.input.text) for event in between if isinstance(event, InputAdded))


def by_turn(play: Play) -> list[list[Decision]]:
    """The decisions of each turn."""
    past = {decision.seq: len(fold(SESSION, play.records[: decision.seq]).history) for decision in play.decisions}
    return [list(group) for _, group in groupby(play.decisions, key=lambda decision: past[decision.seq])]
