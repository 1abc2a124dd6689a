"""What holds of every session, whatever the model, the tools, the people and the power supply do."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import groupby, pairwise
from typing import get_args

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from oribi.core.actions import Action, CallModel, End, Record, Rest, RunTools, WriteOff
from oribi.core.budget import Counters
from oribi.core.calls import Allow, CallId, Denied, Failed, Succeeded, ToolResult, Unknown, told
from oribi.core.compaction import LEVELS, characters
from oribi.core.decide import QUESTIONS, decide
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    TurnEnd,
    Unfinished,
)
from oribi.core.errors import JournalError
from oribi.core.events import (
    AnswerChecked,
    CallCharged,
    CallResolved,
    ContextCut,
    ContextTrimmed,
    Event,
    InputAdded,
    InterruptAsked,
    ModeChosen,
    ModelAsked,
    ModelChosen,
    ModelReplied,
    NoticeGiven,
    QuotaReached,
    Recorded,
    RevokeAsked,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.json_actions import as_text_messages
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage
from oribi.core.prompt import build_prompt, is_last_step, most_steps, speaks_actions, tokens_left, without_steps
from oribi.core.repeats import key_of
from oribi.core.turn import CallProgress, Turn, apply, fold
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
    """O-26, T-6, M-8: steps count from 1 to the cap, attempts to theirs: so many of each model, and one a cut."""
    for decisions in by_turn(play):
        records = [decision.action.event for decision in decisions if isinstance(decision.action, Record)]
        cuts = [event for event in records if isinstance(event, ContextCut)]
        asks: set[tuple[int, int]] = set()
        for decision in decisions:
            started = fold(SESSION, play.records[: decision.seq]).started
            if isinstance(ask := decision.action, CallModel) and started is not None:
                assert (ask.step, ask.attempt) not in asks
                asks.add((ask.step, ask.attempt))
                assert ask.step <= most_steps(started.policy)
                assert ask.attempt <= most_asks(started) + len(cuts)
        steps = {step for step, _ in asks} - {0}
        assert sorted(steps) == list(range(1, len(steps) + 1))


@quick
@given(sessions)
def test_no_counter_passes_its_limit(play: Play) -> None:
    """M-11, M-14, M-15: tokens alone may, by the reply that spent them: its cost is known when it is there."""
    for before, record, turn in moments(play):
        if turn.started is None or isinstance(record.event, TurnStarted):
            continue
        policy, now = turn.started.policy, turn.counters
        limits = policy.limits
        for name in ("model_calls", "tool_calls", "total_steps", "write_calls"):
            limit: int | None = getattr(limits, name)
            if limit is not None and getattr(now, name) > getattr(before.counters, name):
                assert getattr(now, name) <= limit
        assert now.steps <= most_steps(policy)
        if limits.total_tokens is not None and isinstance(record.event, ModelReplied):
            assert before.counters.total_tokens < limits.total_tokens


@quick
@given(sessions)
def test_what_a_nested_turn_spent_is_spent_of_its_parents_budget(play: Play) -> None:
    """M-17, M-42: the counters are what the events say was spent, the turn's own and the nested ones', once each."""
    spent = Counters()
    for before, record, turn in moments(play):
        match record.event:
            case TurnStarted():
                spent = Counters()
            case ModelAsked(step=step, attempt=attempt):
                spent.model_calls += 1
                spent.steps += step > 0 and attempt == 1
            case ModelReplied(reply=reply):
                spent.add(reply.usage)
            case ToolStarted(call_id=call_id) if not before.calls[call_id].started:
                spec = turn.tools.get(turn.calls[call_id].call.name)
                spent.tool_calls += 1
                spent.write_calls += spec is None or spec.writes
            case CallCharged(call_id=call_id, child=child, spent=nested):
                known = before.calls[call_id].charged
                spent.charge(nested, *([known[child]] if child in known else []))
            case _:
                pass
        assert turn.counters == spent


@quick
@given(sessions)
def test_an_end_by_a_limit_or_a_stop_is_told_truly(play: Play) -> None:  # noqa: C901, PLR0912, PLR0915 - one match over all ends
    turn = Turn(session_id=SESSION)
    for record in play.records:
        apply(turn, record)
        if not isinstance(record.event, TurnEnded) or turn.started is None:
            continue
        started, counters = turn.started, turn.counters
        policy, limits = started.policy, started.policy.limits
        match record.event.end:
            case Completed(text=text, value=value) if started.command is not None:
                assert (text, value) == (told(result_of_command(turn)), None)
            case Completed(text=text, value=value):
                assert turn.reply is not None
                assert (turn.reply.text, turn.reply.calls, text.strip() != "") == (text, (), True)
                if started.output_schema is None:
                    assert value is None
                else:
                    assert turn.checked is not None
                    assert (turn.checked.problem, turn.checked.value) == (None, value)
            case MaxSteps(limit=limit, text=text):
                assert counters.steps == limit == most_steps(policy)
                assert text == "" or policy.cap_outcome != "fixed_text"
            case BudgetSpent(limit="model_calls" | "total_steps" as limit):
                assert getattr(counters, limit) >= getattr(limits, limit)
            case BudgetSpent(limit="total_tokens"):
                left = tokens_left(turn, started, build_prompt(turn, started, step=turn.step + 1))
                assert left is not None
                assert left <= 0
            case BudgetSpent(limit="input_bytes"):
                assert limits.input_bytes is not None
            case BudgetSpent(limit=limit):
                assert limit == turn.quota
            case DeadlinePassed():
                assert limits.deadline_seconds is not None
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
                is_unusable = turn.fault is None and turn.reply is not None and turn.reply.problem != ""
                assert (turn.fault.kind if turn.fault else "protocol" if is_unusable else "cut_off") == kind
                is_last = turn.choice == len(started.fallbacks) or turn.is_unrouted
                assert is_last or is_unusable or limits.deadline_seconds is not None
            case ToolFailed(tool=tool):
                assert tool in {progress.call.name for progress in turn.calls.values()}
                assert started.command is not None or any(
                    isinstance(progress.result, Failed) for progress in turn.calls.values()
                )
            case Unfinished(reason=reason):
                assert (turn.wrap_up, policy.repeat == "finalize" or policy.degrade == "wrap_up") == (reason, True)
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
    """And has the same tools, but for a step that is for the answer, which has none (M-9)."""
    for decisions in by_turn(play):
        asks = [decision.action for decision in decisions if isinstance(decision.action, CallModel)]
        for earlier, later in pairwise(ask.prompt for ask in asks if ask.step > 0):
            assert later.tools in (earlier.tools, ())
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
        assert [ask.prompt.model.ref for ask in asks] == [models[choice].ref for choice in choices]


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
    for _, turn, ask in asks_of(play):
        meant = worded(turn, without_steps(turn.messages, 0 if turn.trim is None else turn.trim.steps_left_out))
        sent = ask.prompt.messages[-len(meant) :]
        changed = [pair for pair in zip(sent, meant, strict=True) if pair[0] != pair[1]]
        for one, whole in changed:
            is_summed_up = isinstance(one, UserMessage) and one.text.startswith("[Earlier in this conversation")
            assert is_summed_up or (type(one), "characters left out" in str(one)) == (type(whole), True)


@quick
@given(sessions)
def test_what_is_trimmed_are_whole_steps_and_never_what_a_person_said_in_the_open_turn(play: Play) -> None:
    """T-16, T-17, Y-16: trimmed before it is sent, as little as will do, down to the messages that are kept."""
    for before, record, turn in moments(play):
        if isinstance(trim := record.event, ContextTrimmed) and turn.started is not None:
            was = build_prompt(before, turn.started, step=before.step + 1)
            now = build_prompt(turn, turn.started, step=turn.step + 1)
            assert trim.removed == len(was.messages) - len(now.messages) > 0
            assert len(now.messages) >= turn.started.policy.keep_messages
            kept = without_steps(turn.messages, trim.steps_left_out)
            spoken = [message for message in turn.messages if isinstance(message, UserMessage)]
            assert [message for message in kept if isinstance(message, UserMessage)] == spoken


@quick
@given(sessions)
def test_a_notice_answers_a_reply_that_cannot_be_used_and_there_are_few_in_a_row(play: Play) -> None:
    """O19: an answer that says nothing is not an answer, and the model is not asked for ever."""
    row = 0
    for before, record, turn in moments(play):
        reply = before.reply
        if isinstance(record.event, NoticeGiven) and isinstance(before.messages[-1], ToolMessage):
            assert before.started is not None
            assert before.started.policy.repeat == "remind"
        elif isinstance(record.event, NoticeGiven):
            assert reply is not None
            assert before.started is not None
            assert (reply.calls, before.messages[-1]) == ((), reply)
            is_unfit = before.checked is not None and before.checked.problem is not None
            assert not reply.text.strip() or reply.problem or is_unfit
            row += 1
            assert row <= before.started.policy.max_notices
        if turn.reply is None or turn.reply.calls or isinstance(record.event, InputAdded):
            row = 0


@quick
@given(sessions)
def test_a_prompt_names_the_place_of_its_first_message_in_the_session(play: Play) -> None:
    """What a wire encoded once it may keep: `first` and onwards are the session's messages, in its own numbers."""
    said = [message for past in play.turn.history for message in past.messages] + play.turn.messages
    for _, turn, ask in asks_of(play):
        if turn.trim is not None and turn.trim.steps_left_out:
            continue
        prompt = ask.prompt
        meant = worded(turn, said[prompt.first : prompt.first + len(prompt.messages)])
        assert [type(message) for message in meant] == [type(message) for message in prompt.messages]
        if prompt.revision == play.turn.revision == 0:
            assert meant == prompt.messages


# --- what is done -----------------------------------------------------------------------------------------------------


@quick
@given(sessions)
def test_a_call_that_may_not_be_repeated_starts_at_most_once(play: Play) -> None:
    """G1, Y-7: at most once, or an explicit Unknown; the others, cut off or failed, as often as policy says."""
    turn = Turn(session_id=SESSION)
    for record in play.records:
        before = turn.calls.get(record.event.call_id) if isinstance(record.event, ToolStarted) else None
        did_not_happen = before is not None and before.probe is not None and before.probe.found is None
        apply(turn, record)
        if isinstance(record.event, ToolStarted) and turn.started is not None:
            progress = turn.calls[record.event.call_id]
            policy, tool = turn.started.policy, turn.tools.get(progress.call.name)
            repeatable = did_not_happen or (tool is not None and tool.effect in {"pure", "idempotent"})
            assert progress.starts <= (policy.max_starts if repeatable else 1)
            assert progress.attempts < (policy.tool_attempts if repeatable else 1)


@quick
@given(sessions)
def test_only_allowed_calls_without_a_result_run_in_the_order_of_the_reply(play: Play) -> None:
    """Y-13, C-22."""
    for decision in play.decisions:
        turn = fold(SESSION, play.records[: decision.seq])
        if isinstance(decision.action, RunTools):
            waiting = [progress for progress in turn.calls.values() if progress.result is None]
            assert all(isinstance(progress.verdict, Allow) for progress in waiting)
            run = decision.action.calls
            assert run == tuple(progress.call for progress in waiting if progress.call in run) != ()
        if isinstance(decision.action, WriteOff):
            assert all(turn.calls[call_id].result is None for call_id, _ in decision.action.settled)


@quick
@given(sessions)
def test_no_tool_starts_in_a_step_that_is_for_the_answer(play: Play) -> None:
    """M-9, M-36: neither in the last step of `final_only`, nor in one without steps, nor once a wrap-up has begun."""
    for progress, turn in beginnings(play):
        if turn.started is not None and turn.started.command is None:
            assert not is_last_step(turn, turn.started, turn.step), progress


@quick
@given(sessions)
def test_in_a_policy_of_one_call_a_step_at_most_one_starts(play: Play) -> None:
    """M-1."""
    started: list[CallId] = []
    for before, record, turn in moments(play):
        if isinstance(record.event, ModelReplied | TurnStarted):
            started = []
        if isinstance(record.event, ToolStarted) and not before.calls[record.event.call_id].starts:
            started.append(record.event.call_id)
        assert turn.started is None or turn.started.policy.calls_per_step == "many" or len(set(started)) <= 1


@quick
@given(sessions)
def test_a_call_that_was_made_before_does_not_start_again_where_policy_says_so(play: Play) -> None:
    """M-35, M-23: unless the first failed in a way that may pass, or its tool says that it may be repeated."""
    made: list[str] = []
    for before, record, turn in moments(play):
        if isinstance(record.event, TurnStarted):
            made = []
        if not isinstance(record.event, ToolStarted | ToolSettled) or turn.started is None:
            continue
        progress = before.calls[record.event.call_id]
        if not isinstance(progress.verdict, Allow):
            continue
        key, spec = key_of(progress.call, progress.verdict), turn.tools.get(progress.call.name)
        if isinstance(record.event, ToolStarted) and progress.is_new:
            may_repeat = turn.started.policy.repeat in {"allow", "remind"} or (spec is not None and spec.may_repeat)
            assert may_repeat or key not in made
            made.append(key)
        elif isinstance(record.event, ToolSettled) and is_retryable(record.event.result) and key in made:
            made.remove(key)


@quick
@given(sessions)
def test_a_tool_that_was_withdrawn_never_starts_again(play: Play) -> None:
    """M-20, M-21: and the turn that has used it ends, without another word of the model."""
    withdrawn = set[str]()
    is_over = False
    for before, record, turn in moments(play):
        match record.event:
            case TurnStarted():
                withdrawn, is_over = set[str](), False
            case RevokeAsked(tool=tool, owner=owner):
                named = {each.name for each in turn.tools.values() if each.name == tool or each.owner == owner != ""}
                is_over = is_over or not (tool or owner) or bool(named & before.used)
                withdrawn |= named
            case ToolStarted(call_id=call_id):
                assert turn.calls[call_id].call.name not in withdrawn
            case ModelAsked():
                assert not is_over
            case TurnEnded(end=end):
                assert not is_over or isinstance(end, Revoked)
            case _:
                pass


@quick
@given(sessions)
def test_a_turn_is_wrapped_up_at_most_once_and_never_after_a_stop(play: Play) -> None:
    """M-21, M-36, M-37: within what is left of its steps and calls, and one step is all it has for it."""
    wrap_ups, steps = 0, 0
    for before, record, turn in moments(play):
        match record.event:
            case TurnStarted():
                wrap_ups = 0
            case WrapUpBegan():
                assert before.started is not None
                wrap_ups, steps = wrap_ups + 1, before.counters.steps
                stops = (before.interrupted, before.revoked, before.quota)
                assert (wrap_ups, *stops) == (1, None, None, None)
                assert steps < most_steps(before.started.policy)
            case ModelAsked() if wrap_ups:
                assert turn.counters.steps == steps + 1
            case _:
                pass


@quick
@given(sessions)
def test_after_a_stop_nothing_begins(play: Play) -> None:
    """M-16, M-21: an interrupt or a used-up quota: no model call, and no call of a tool that had not begun."""
    is_stopped = is_spent = False
    for before, record, _ in moments(play):
        match record.event:
            case TurnStarted():
                is_stopped = is_spent = False
            case InterruptAsked():
                is_stopped = True
            case QuotaReached():
                is_spent = True
            case ModelAsked() | WrapUpBegan():
                assert (is_stopped, is_spent) == (False, False)
            case ToolStarted(call_id=call_id):
                assert not is_stopped
                assert not is_spent or before.calls[call_id].started
            case _:
                pass


@quick
@given(sessions)
def test_open_calls_an_unusable_answer_and_a_lost_model_call_never_meet(play: Play) -> None:
    """The adjacent questions whose order cannot matter; test_decide.py pins the others."""
    for decision in play.decisions:
        turn = fold(SESSION, play.records[: decision.seq])
        if turn.started is not None and turn.is_open:
            answers = [question(turn, turn.started, decision.now) for question in (*QUESTIONS[10:12], QUESTIONS[14])]
            assert answers.count(None) >= 2


# --- the generator is worth its name ----------------------------------------------------------------------------------


def test_generated_sessions_reach_every_end_and_every_cut() -> None:
    """A property of what never happens proves nothing. The same sessions every time, so this is no matter of luck."""
    seen: set[object] = set()

    @settings(max_examples=900, derandomize=True, database=None, phases=[Phase.generate])
    @given(sessions)
    def look(play: Play) -> None:
        seen.update(type(action.end) if isinstance(action, End) else type(action) for action in play.actions)
        seen.update(type(record.event) for record in play.records)
        for action in play.actions:
            if isinstance(action, WriteOff):
                seen.update(type(result) for _, result in action.settled if isinstance(result, Unknown | Denied))
                seen.update(result.rule for _, result in action.settled if isinstance(result, Denied))
        if any(len(list(same)) > 1 for _, same in groupby(play.starts)):
            seen.add("a call started again")
        if any(prompt.turns_left_out for prompt in play.prompts):
            seen.add("turns left out")
        seen.update(record.event.result_characters for record in play.records if isinstance(record.event, ContextCut))
        if any(len(group) > 1 for group in side_by_side(play)):
            seen.add("side by side")
        seen.update(action.choice for action in play.actions if isinstance(action, CallModel))
        ends = [action.end for action in play.actions if isinstance(action, End)]
        seen.update({end.kind for end in ends if isinstance(end, ModelFailed)} & {"empty", "schema", "cut_off"})
        seen.update({end.limit for end in ends if isinstance(end, BudgetSpent)})
        checks = [record.event for record in play.records if isinstance(record.event, AnswerChecked)]
        seen.update("fits" if check.problem is None else "does not fit" for check in checks)

    look()
    seen.discard("in the tool")  # what a probe found, and no rule of the runtime
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
        "side by side",
        *(level[1] for level in LEVELS),
        *range(3),
        *("empty", "schema", "cut_off"),
        *("fits", "does not fit"),
        *("model_calls", "total_steps", "total_tokens", "input_bytes", "daily model_calls", "daily tool_calls"),
        *("turn-stopped", "budget", "final-only", "one-call", "revoked", "confirmation", "repeat"),
    }


def side_by_side(play: Play) -> Iterator[list[Recorded]]:
    """Starts of calls that follow each other with nothing between them."""
    for is_start, group in groupby(play.records, key=lambda record: isinstance(record.event, ToolStarted)):
        if is_start:
            yield list(group)


def moments(play: Play) -> Iterator[tuple[Turn, Recorded, Turn]]:
    """Each record with the state before it, a copy, and the state after it."""
    turn = Turn(session_id=SESSION)
    for record in play.records:
        before = fold(SESSION, play.records[: record.seq - 1])
        apply(turn, record)
        yield before, record, turn


def asks_of(play: Play) -> Iterator[tuple[Decision, Turn, CallModel]]:
    """Each question to the model, but not to the router, with the state it was asked in."""
    for decision in play.decisions:
        if isinstance(ask := decision.action, CallModel) and ask.step > 0:
            yield decision, fold(SESSION, play.records[: decision.seq]), ask


def beginnings(play: Play) -> Iterator[tuple[CallProgress, Turn]]:
    """Each attempt of a call that begins, and does not go on after a cut, with the state it begins in."""
    for before, record, _ in moments(play):
        if isinstance(record.event, ToolStarted) and not before.calls[record.event.call_id].started:
            yield before.calls[record.event.call_id], before


def worded(turn: Turn, messages: list[Message]) -> list[Message]:
    """`messages` as a turn with this policy sends them."""
    policy = turn.started.policy if turn.started else None
    if policy is None or not speaks_actions(policy):
        return messages
    return as_text_messages(messages, policy.action_form)


def is_retryable(result: ToolResult) -> bool:
    """Whether the call may work later."""
    return isinstance(result, Failed) and result.retryable


def result_of_command(turn: Turn) -> Succeeded:
    """What came of the one call of a turn that was a command and completed."""
    (progress,) = turn.calls.values()
    assert isinstance(progress.result, Succeeded)
    return progress.result


def growth(play: Play, after: int, until: int) -> int | None:
    """By how many characters what joined the turn between two records made the prompt longer; None if not to be told.

    A person's word in the place of an unknown result may be cut as any result is.
    """
    between = [record.event for record in play.records[after:until]]
    if any(isinstance(event, CallResolved | ContextTrimmed | ModeChosen) for event in between):
        return None
    return sum(len(event.input.text) for event in between if isinstance(event, InputAdded))


def by_turn(play: Play) -> list[list[Decision]]:
    """The decisions of each turn."""
    past = {decision.seq: len(fold(SESSION, play.records[: decision.seq]).history) for decision in play.decisions}
    return [list(group) for _, group in groupby(play.decisions, key=lambda decision: past[decision.seq])]
