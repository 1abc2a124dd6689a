"""What the fields of the loop policy make of a turn: the dialects of the founding documents, by their own numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oribi.core.actions import CallModel, End, Judge, Record, RunTools, WriteOff
from oribi.core.budget import Limits, Spent
from oribi.core.calls import CallId, Denied, Failed, FailureClass, Succeeded, ToolCall, ToolResult
from oribi.core.decide import decide
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    TurnEnd,
    Unfinished,
)
from oribi.core.errors import FaultKind
from oribi.core.estimate import message_tokens, prompt_bytes
from oribi.core.events import ContextTrimmed, InterruptAsked, QuotaReached, RevokeAsked, TurnEnded, WrapUpBegan
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage
from oribi.core.modes import Mode
from oribi.core.policy import PRESETS, CapOutcome, LoopPolicy
from oribi.core.prompt import build_prompt
from oribi.core.results import result_of
from tests.core.story import (
    LOOK,
    SECOND,
    SEND,
    SET,
    SPARE,
    At,
    Play,
    Told,
    acting,
    allowed,
    answer,
    asked,
    began,
    call,
    chose,
    faulted,
    noticed,
    play,
    prompt_of,
    ran,
    replied,
    said,
    settled,
    tool_faulted,
    trimmed,
    turn_of,
    wrapping_up,
)

HI = UserMessage(text="hi")
FINAL_ONLY = Denied(rule="final-only", reason="this step was for the answer; no tool may run in it")
ONE_CALL = Denied(rule="one-call", reason="only one call runs in a step; ask for this one in the next")
REPEATED = Denied(rule="repeat", reason="this call was made before in this turn; use its result above")
AGAIN = "look was asked for again, with the same input"
BUSY = Failed(text="busy", retryable=True)
BROKEN = Failed(text="no such account")


def act(text: str, *calls: ToolCall, problem: str = "") -> Reply:
    """What the model said, as it was read as a JSON action."""
    return replace(said(text, *calls), action=True, problem=problem)


def ends(played: Play) -> tuple[object, int, list[str]]:
    """How a turn ended, how often the model was asked, and what ran."""
    return played.turn.end, len(played.prompts), list(played.starts)


def refusals(played: Play) -> dict[str, str]:
    """The calls that did not run, with the rule that forbade each."""
    messages = (message for message in played.turn.messages if isinstance(message, ToolMessage))
    return {each.call_id: each.result.rule for each in messages if isinstance(each.result, Denied)}


# --- one call a step (C-2) --------------------------------------------------------------------------------------------


def test_in_a_policy_of_one_call_a_step_the_others_are_refused_before_anybody_judges_them() -> None:
    """M-1: model decision, one tool, observation, next decision."""
    state = turn_of(
        began(policy=LoopPolicy(calls_per_step="one")), asked(), replied(said("", call("a"), call("b"), call("c")))
    )
    assert decide(state, 0) == WriteOff(settled=((CallId("b"), ONE_CALL), (CallId("c"), ONE_CALL)))
    after = turn_of(
        began(policy=LoopPolicy(calls_per_step="one")),
        asked(),
        replied(said("", call("a"), call("b"))),
        settled("b", ONE_CALL),
    )
    assert decide(after, 0) == Judge(calls=(call("a"),))


def test_a_refused_call_may_be_made_in_the_next_step() -> None:
    """M-1, O-24: each is answered under its own id, so that no call is without a result."""
    replies = [said("", call("a"), call("b", "set")), said("", call("c", "set")), said("done")]
    played = play(began(policy=LoopPolicy(calls_per_step="one")), replies)
    assert (ends(played), refusals(played)) == ((Completed(text="done"), 3, ["a", "c"]), {"b": "one-call"})


def test_calls_side_by_side_are_run_at_once_as_far_as_policy_says_and_told_in_the_order_of_the_reply() -> None:
    """O-35, T-31: `at_once` is how many; the results come back in request order, whatever order they finished in."""
    beside = replace(LOOK, parallel=True)
    events = (
        began(policy=LoopPolicy(parallel_calls=3), tools=(beside,)),
        asked(),
        replied(said("", call("a"), call("b"), call("c"))),
        *(allowed(each) for each in "abc"),
    )
    assert decide(turn_of(*events), 0) == RunTools(calls=(call("a"), call("b"), call("c")), at_once=3)
    finished = (acting("a"), acting("b"), acting("c"), settled("c"), settled("a"), settled("b"))
    assert turn_of(*events, *finished).messages[2:] == [answer("a"), answer("b"), answer("c")]


def test_of_calls_that_ran_at_once_only_the_one_that_was_cut_off_runs_again() -> None:
    """O-35: a sibling that is cut off loses nobody's result."""
    state = turn_of(
        began(policy=LoopPolicy(parallel_calls=2), tools=(replace(LOOK, parallel=True),)),
        asked(),
        replied(said("", call("a"), call("b"))),
        *(allowed("a"), allowed("b"), acting("a"), acting("b"), settled("b")),
    )
    assert decide(state, 0) == RunTools(calls=(call("a"),), at_once=2)


# --- the last step, and none (C-3, C-4) -------------------------------------------------------------------------------


FINAL = LoopPolicy(max_steps=3, cap_outcome="final_only", calls_per_step="one")


def test_three_rounds_give_two_tools_and_then_the_answer() -> None:
    """M-9: in the last step no tool is offered, and it is said so."""
    played = play(began(policy=FINAL), [said("", call("a")), said("", call("b")), said("So it is.")])
    assert ends(played) == (Completed(text="So it is."), 3, ["a", "b"])
    assert [len(prompt.tools) for prompt in played.prompts] == [4, 4, 0]
    assert ["No tool can run any more" in prompt.system for prompt in played.prompts] == [False, False, True]


def test_a_tool_that_is_called_in_the_last_step_is_refused_and_the_model_is_not_asked_again() -> None:
    """M-9, T-24, M-38: the end is the cap, with the words that came with the call."""
    replies = [said("", call("a")), said("", call("b")), said("one more", call("c"))]
    played = play(began(policy=FINAL), replies)
    assert (ends(played), refusals(played)) == (
        (MaxSteps(limit=3, text="one more"), 3, ["a", "b"]),
        {"c": "final-only"},
    )


@pytest.mark.parametrize(
    ("outcome", "text"), [("last_response", "I look again"), ("fixed_text", ""), ("final_only", "I look again")]
)
def test_what_the_cap_gives_back_is_policy(outcome: CapOutcome, text: str) -> None:
    """O-27: the last response. Y-3: a fixed text, which is not the model's. M-9: the words of the last step."""
    policy = LoopPolicy(max_steps=2, cap_outcome=outcome)
    played = play(began(policy=policy), [said("I look", call("a")), said("I look again", call("b"))])
    assert played.turn.end == MaxSteps(limit=2, text=text)
    assert result_of(played.turn).text == (text or "Stopped after 2 steps without a final answer.")


def test_a_dead_loop_ends_after_six_steps_and_the_model_is_not_called_again() -> None:
    """T-22, T-23, T-24, T-27: `echo("loop")` at steps 1 to 6 under the compact preset gives MaxSteps(6)."""
    replies = [act("", call("echo", "look", {"text": "loop"})) for _ in range(6)]
    played = play(began(policy=PRESETS["compact"]), replies)
    assert ends(played) == (MaxSteps(limit=6, text=""), 6, ["echo"] * 6)


def test_without_steps_the_model_answers_once_and_has_no_tools() -> None:
    """M-12, M-43: `0` disables the loop for that workflow."""
    policy = replace(PRESETS["question"], max_steps=0)
    played = play(began(policy=policy), [said("It is a kind of wheat.")])
    assert ends(played) == (Completed(text="It is a kind of wheat."), 1, [])
    (prompt,) = played.prompts
    assert (prompt.tools, prompt.system, prompt.messages) == ((), "Be brief.", [HI])


def test_without_steps_a_call_is_refused_and_nothing_is_asked_again() -> None:
    """M-43."""
    played = play(began(policy=LoopPolicy(max_steps=0)), [said("let me see", call("a"))])
    assert (ends(played), refusals(played)) == ((MaxSteps(limit=1, text="let me see"), 1, []), {"a": "final-only"})


def test_an_invalid_output_and_a_repeat_are_steps_as_an_answer_is_one() -> None:
    """M-8: a final answer, an invalid output and a repeated action each count as a round."""
    policy = replace(PRESETS["reasoning"], repeat="block", max_steps=4)
    problem = "it is not one JSON object"
    replies = [
        act("I think I should look", problem=problem),
        act("", call("a", "look", {"n": 1})),
        act("", call("b", "look", {"n": 1})),
        act("done"),
    ]
    played = play(began(policy=policy), replies)
    assert (ends(played), played.turn.counters.steps) == ((Completed(text="done"), 4, ["a"]), 4)
    assert refusals(played) == {"b": "repeat"}


def test_what_was_to_be_an_action_and_is_none_is_told_so_and_never_shown_as_the_answer() -> None:
    """M-38, C-1: neither while the turn goes on nor when it ends there."""
    words = '{"type": "look", "type": "send"}'
    reply = act(words, problem="it has two names; send exactly one JSON object")
    policy = LoopPolicy(protocol="json_action", max_notices=1)
    text = "Your answer cannot be used: it has two names; send exactly one JSON object"
    events = (began(policy=policy), asked(), replied(reply))
    again = (noticed(text), asked(2), replied(reply, step=2))
    assert (decide(turn_of(*events), 0), decide(turn_of(*events, *again), 0)) == (
        Record(event=noticed(text)),
        End(
            end=ModelFailed(
                kind="protocol",
                message="the model's answer cannot be used: it has two names; send exactly one JSON object",
            )
        ),
    )
    capped = turn_of(began(policy=replace(policy, max_steps=1)), asked(), replied(reply), noticed(text))
    assert decide(capped, 0) == End(end=MaxSteps(limit=1, text=""))


# --- routes and modes (M-5, M-10) -------------------------------------------------------------------------------------


MODES = (Mode(name="question", description="Look something up."), Mode(name="free", description="Change something."))
ROUTED = replace(began("what is durum?"), routes=MODES)


def test_the_router_is_asked_first_with_the_request_and_the_modes_alone() -> None:
    """M-5: no history, no tools; step 0, so that it is no round (M-10)."""
    action = decide(turn_of(ROUTED), 0)
    assert isinstance(action, CallModel)
    assert (action.step, action.attempt, action.prompt.tools) == (0, 1, ())
    assert action.prompt.messages == [UserMessage(text="what is durum?")]
    assert "- question: Look something up." in action.prompt.system
    assert "- none: anything else" in action.prompt.system


def test_after_the_router_five_model_calls_are_left_of_the_questions_six() -> None:
    """M-10: natural-language search after one routing call, with a round cap that is still 6."""
    looks = [act("", call("c", "look", {"n": n})) for n in range(5)]
    mode = chose("question", PRESETS["question"])
    played = play(ROUTED, [said("question"), *looks], modes={"question": mode})
    asks = [(action.step, action.attempt) for action in played.actions if isinstance(action, CallModel)]
    assert asks == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]
    assert (mode.policy.max_steps, played.turn.counters.steps, played.turn.counters.model_calls) == (6, 5, 6)
    assert played.turn.end == BudgetSpent(limit="model_calls", text="")


def test_after_the_router_the_turn_still_has_all_its_rounds() -> None:
    """M-10, M-11: the router's call counts of the calls and of the total steps, and not of the rounds."""
    played = play(
        ROUTED, [said("question"), act("Durum is wheat.")], modes={"question": chose("question", PRESETS["question"])}
    )
    counters = played.turn.counters
    assert (played.turn.end, counters.steps, counters.model_calls, counters.total_steps) == (
        Completed(text="Durum is wheat."),
        1,
        2,
        2,
    )
    assert played.turn.messages == [UserMessage(text="what is durum?"), act("Durum is wheat.")]


@pytest.mark.parametrize("spoken", ["none", "I would say: question", ""])
def test_a_router_that_names_no_mode_leaves_the_agents_ordinary_turn(spoken: str) -> None:
    """M-5: single operations and plain questions keep their own route."""
    played = play(ROUTED, [said(spoken), said("It is wheat.")])
    assert played.turn.end == Completed(text="It is wheat.")
    assert played.prompts[1] == prompt_of(UserMessage(text="what is durum?"))


def test_a_router_that_fails_leaves_the_agents_ordinary_turn() -> None:
    assert play(ROUTED, [faulted("auth", step=0), said("It is wheat.")]).turn.end == Completed(text="It is wheat.")


def test_a_router_that_is_cut_off_is_asked_again_and_not_for_ever() -> None:
    once, often = turn_of(ROUTED, asked(0)), turn_of(ROUTED, *(asked(0, attempt) for attempt in (1, 2, 3, 4)))
    again = decide(once, 0)
    assert isinstance(again, CallModel)
    assert (again.step, again.attempt) == (0, 2)
    assert decide(often, 0) == End(
        end=ModelFailed(kind="cut_off", message="the call that chooses the turn's mode was cut off")
    )


def test_a_mode_brings_its_policy_its_tools_and_its_words_and_what_was_spent_stays_spent() -> None:
    """M-18: frozen from there on."""
    mode = chose("question", LoopPolicy(max_steps=2), tools=(LOOK,), instructions="Only look.")
    state = turn_of(ROUTED, asked(0), replied(said("question"), step=0), mode)
    action = decide(state, 0)
    assert isinstance(action, CallModel)
    assert (action.step, action.prompt.system, action.prompt.tools) == (1, "Only look.", (LOOK,))
    assert (state.counters.model_calls, state.counters.steps) == (1, 0)


# --- commands (M-3) ---------------------------------------------------------------------------------------------------


COMMAND = replace(began("tasks"), command=call("command", "set"))


def test_a_command_is_judged_and_run_and_its_result_is_the_answer() -> None:
    """M-3: deterministic workflows run directly and never enter the loop."""
    played = play(COMMAND, [], results={"command": Succeeded(text="two tasks are open")})
    assert [type(action).__name__ for action in played.actions] == ["Judge", "RunTools", "End", "Rest"]
    assert (played.turn.end, played.turn.counters.model_calls) == (Completed(text="two tasks are open"), 0)
    assert played.turn.messages == [
        UserMessage(text="tasks"),
        said("", call("command", "set")),
        answer("command", "set", Succeeded(text="two tasks are open")),
    ]


@pytest.mark.parametrize(
    ("result", "message"), [(BROKEN, "Error: no such account"), (Denied(rule="x", reason="no"), "Not run (x): no")]
)
def test_a_command_that_does_not_do_it_ends_its_turn_with_what_its_tool_said(result: ToolResult, message: str) -> None:
    assert play(COMMAND, [], results={"command": result}).turn.end == ToolFailed(tool="set", message=message)


def test_a_command_runs_whatever_the_policy_says_of_steps() -> None:
    """M-3, M-12: with the loop disabled, too."""
    off = replace(COMMAND, policy=LoopPolicy(max_steps=0, calls_per_step="one", repeat="finalize"))
    assert play(off, []).turn.end == Completed(text="command done")


# --- repeats (C-8) ----------------------------------------------------------------------------------------------------


BLOCK = LoopPolicy(repeat="block")
FINALIZE = LoopPolicy(repeat="finalize")


def looked_once(policy: LoopPolicy, *, first: ToolResult | None = None) -> list[Told]:
    """A turn whose model has looked at 1, and looks again at 1, which policy has allowed."""
    look = call("a", "look", {"n": 1})
    return [
        began(policy=policy),
        asked(),
        replied(said("", look)),
        *ran("a", first),
        asked(2),
        replied(said("", replace(look, id=CallId("b"))), step=2),
        allowed("b", step=2),
    ]


def test_a_repeat_is_refused_and_the_model_goes_on() -> None:
    assert decide(turn_of(*looked_once(BLOCK)), 0) == WriteOff(settled=((CallId("b"), REPEATED),))


def test_a_repeat_goes_to_the_wrap_up_and_does_not_run() -> None:
    """M-35."""
    events = looked_once(FINALIZE)
    assert decide(turn_of(*events), 0) == Record(event=wrapping_up(AGAIN))
    wrapped = [*events, wrapping_up(AGAIN)]
    assert decide(turn_of(*wrapped), 0) == WriteOff(settled=((CallId("b"), FINAL_ONLY),))
    action = decide(turn_of(*wrapped, settled("b", FINAL_ONLY, step=2)), 0)
    assert isinstance(action, CallModel)
    assert (action.step, action.prompt.tools, "No tool can run any more" in action.prompt.system) == (3, (), True)


def test_a_wrap_up_that_answers_completes_the_turn_and_says_that_it_was_one() -> None:
    """M-35."""
    look = [said("", call(each, "look", {"n": 1})) for each in "ab"]
    played = play(began(policy=FINALIZE), [*look, said("From what I saw: yes.")])
    assert (ends(played), result_of(played.turn).wrap_up) == (
        (Completed(text="From what I saw: yes."), 3, ["a"]),
        AGAIN,
    )


def test_where_there_is_no_room_for_a_wrap_up_a_repeat_is_only_refused() -> None:
    """M-37: nothing is raised for it: no step, no call."""
    for policy in (replace(FINALIZE, max_steps=2), replace(FINALIZE, limits=Limits(model_calls=2))):
        assert decide(turn_of(*looked_once(policy)), 0) == WriteOff(settled=((CallId("b"), REPEATED),))


@pytest.mark.parametrize(
    ("first", "runs"), [(Failed(text="busy", retryable=True), True), (Failed(text="no"), False), (BROKEN, False)]
)
def test_what_failed_in_a_way_that_may_pass_is_no_repeat_when_it_is_tried_again(first: Failed, *, runs: bool) -> None:
    """O-25: the model may try again what may work later."""
    action = decide(turn_of(*looked_once(BLOCK, first=first)), 0)
    again = RunTools(calls=(call("b", "look", {"n": 1}),))
    assert action == (again if runs else WriteOff(settled=((CallId("b"), REPEATED),)))


def test_the_same_call_twice_in_one_reply_runs_once() -> None:
    """M-35: also when the arguments are written in another order."""
    one, other = call("a", "look", {"n": 1, "m": 2}), call("b", "look", {"m": 2, "n": 1})
    state = turn_of(began(policy=BLOCK), asked(), replied(said("", one, other)), allowed("a"), allowed("b"))
    assert decide(state, 0) == WriteOff(settled=((CallId("b"), REPEATED),))


def test_a_tools_own_key_says_what_is_the_same() -> None:
    """M-23: the dedupe key, in place of the arguments."""
    calls = said(
        "", call("a", "look", {"q": "Durum"}), call("b", "look", {"q": "durum "}), call("c", "look", {"q": "rye"})
    )
    keys = (allowed("a", key="durum"), allowed("b", key="durum"), allowed("c", key="rye"))
    state = turn_of(began(policy=BLOCK), asked(), replied(calls), *keys)
    assert decide(state, 0) == WriteOff(settled=((CallId("b"), REPEATED),))


def test_a_tool_whose_result_changes_may_be_called_again_under_every_policy() -> None:
    """C-8: `dedupe: off`."""
    poll = replace(LOOK, may_repeat=True)
    replies = [said("", call("a")), said("", call("b")), said("done")]
    for policy in (BLOCK, FINALIZE, LoopPolicy(repeat="remind", remind_after=1)):
        played = play(began(policy=policy, tools=(poll,)), replies)
        assert ends(played) == (Completed(text="done"), 3, ["a", "b"])


def test_a_repeat_is_one_within_its_turn_only() -> None:
    """C-8: per run."""
    earlier = (*looked_once(BLOCK)[:6], asked(2), replied(said("one"), step=2), TurnEnded(end=Completed(text="one")))
    look = call("b", "look", {"n": 1})
    state = turn_of(*earlier, began("more", turn="t2", policy=BLOCK), asked(), replied(said("", look)), allowed("b"))
    assert decide(state, 0) == RunTools(calls=(look,))


def test_a_model_that_repeats_itself_is_reminded_from_the_policys_number_on() -> None:
    """C-8: `remind(n)`; the calls run, and each reminder says how often it was."""
    policy = LoopPolicy(repeat="remind", remind_after=2)
    replies = [*(said("", call(each, "look", {"n": 1})) for each in "abc"), said("done")]
    played = play(began(policy=policy), replies)
    said_of_it = [message.text for message in played.turn.messages[1:] if isinstance(message, UserMessage)]
    assert (ends(played), said_of_it) == (
        (Completed(text="done"), 4, ["a", "b", "c"]),
        [
            f"You have called look with the same input {times} times in this turn. "
            "Use what it gave, try another way, or answer."
            for times in (2, 3)
        ],
    )


# --- failures of tools (C-5, C-6) -------------------------------------------------------------------------------------


RETRIES = LoopPolicy(tool_attempts=3, tool_retry_seconds=0.5)


def failed_at(second: int, *, attempts: int = 1, policy: LoopPolicy = RETRIES, tool: str = "look") -> list[Told]:
    """A call that has failed so many times in a way that may pass, the last time at `second`."""
    tries = [event for _ in range(attempts) for event in (acting("a"), At(at=second * SECOND, event=tool_faulted("a")))]
    return [began(policy=policy), asked(), replied(said("", call("a", tool))), allowed("a"), *tries]


def test_a_call_that_may_work_later_is_tried_three_times_and_waits_twice_as_long_each_time() -> None:
    """Y-7: three attempts, exponential backoff, up to a quarter more; the last failure goes to the model (O-25)."""
    waited: list[float] = []
    for attempts in (1, 2):
        action = decide(turn_of(*failed_at(7, attempts=attempts)), 7 * SECOND)
        assert isinstance(action, RunTools)
        assert action.calls == (call("a"),)
        waited.append(action.not_before / SECOND - 7)
    assert 0.5 <= waited[0] <= 0.625
    assert 1.0 <= waited[1] <= 1.25
    played = play(began(policy=RETRIES), [said("", call("a")), said("It is busy.")], results={"a": [BUSY] * 3})
    assert (ends(played), played.turn.counters.tool_calls) == ((Completed(text="It is busy."), 2, ["a"] * 3), 3)
    assert played.prompts[1].messages[-1] == answer("a", "look", BUSY)


def test_a_call_that_works_the_second_time_has_succeeded() -> None:
    """Y-7."""
    results = {"a": [BUSY, Succeeded(text="there")]}
    played = play(began(policy=RETRIES), [said("", call("a")), said("done")], results=results)
    assert (ends(played), played.turn.messages[2]) == (
        (Completed(text="done"), 2, ["a", "a"]),
        answer("a", "look", Succeeded(text="there")),
    )


@pytest.mark.parametrize(
    ("tool", "result", "starts"),
    [("look", BUSY, 3), ("set", BUSY, 3), ("book", BUSY, 1), ("send", BUSY, 1), ("look", BROKEN, 1)],
)
def test_only_what_may_be_repeated_and_may_pass_is_tried_again(tool: str, result: Failed, starts: int) -> None:
    """C-5, M-37: never a call that may have happened or cost something."""
    results = {"a": [result] * starts}
    played = play(began(policy=RETRIES), [said("", call("a", tool)), said("done")], results=results)
    assert ends(played) == (Completed(text="done"), 2, ["a"] * starts)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_presets_try_as_often_as_their_documents_say(preset: str) -> None:
    """O-25, O-37, M-37: once. Y-7: three times."""
    attempts = 3 if preset == "persistent" else 1
    policy = replace(PRESETS[preset], max_steps=2)
    played = play(began(policy=policy), [said("", call("a")), said("done")], results={"a": [BUSY] * attempts})
    assert list(played.starts) == ["a"] * attempts


@pytest.mark.parametrize(
    ("limits", "now"),
    [(Limits(tool_calls=1), 7), (Limits(total_steps=2), 7), (Limits(deadline_seconds=7.5), 7)],
    ids=["tool_calls", "total_steps", "deadline"],
)
def test_a_retry_needs_room_in_the_budget_and_in_the_time(limits: Limits, now: int) -> None:
    """C-5, M-37: budget and deadline first; the failure is the result then."""
    state = turn_of(*failed_at(7, policy=replace(RETRIES, limits=limits)))
    assert decide(state, now * SECOND) == WriteOff(settled=((CallId("a"), BUSY),))


def test_each_attempt_that_changes_something_is_counted_as_a_write() -> None:
    """M-11: a retry is a call that begins; one that was cut off and begins again is the same attempt."""
    state = turn_of(*failed_at(7, attempts=2, tool="set"), acting("a"), acting("a"))
    assert (state.counters.tool_calls, state.counters.write_calls) == (3, 3)


def test_a_call_that_waits_for_its_retry_is_not_tried_again_once_its_tool_is_withdrawn() -> None:
    """M-20: a tool that was used ends the turn; what it had failed with is its result."""
    state = turn_of(*failed_at(7), RevokeAsked(what="tool look", tool="look"))
    assert decide(state, 7 * SECOND) == WriteOff(settled=((CallId("a"), BUSY),))


def test_a_retry_does_not_run_once_a_wrap_up_has_begun() -> None:
    """M-9, M-36: what runs beside it failed, and the turn is being wrapped up."""
    policy = replace(RETRIES, parallel_calls=2, degrade="wrap_up")
    tools = (replace(LOOK, parallel=True), replace(SET, parallel=True, failure="recoverable"))
    events = (
        *(began(policy=policy, tools=tools), asked(), replied(said("", call("z"))), *ran("z"), asked(2)),
        *(replied(said("", call("a"), call("b", "set")), step=2), allowed("a", step=2), allowed("b", step=2)),
        *(acting("a", step=2), acting("b", step=2), tool_faulted("a", step=2), settled("b", BROKEN, step=2)),
    )
    assert decide(turn_of(*events), 0) == Record(event=wrapping_up(REASON))
    assert decide(turn_of(*events, wrapping_up(REASON)), 0) == WriteOff(settled=((CallId("a"), BUSY),))


def broken(policy: LoopPolicy, *, kind: FailureClass | None = None, found: bool = True) -> list[Told]:
    """A turn that has found something, or not, and whose next call failed for good."""
    first = Succeeded(text="found") if found else Failed(text="nothing there")
    failed = Failed(text="no such account", kind=kind)
    looked = (asked(), replied(said("", call("a"))), *ran("a", first))
    return [
        began(policy=policy),
        *looked,
        asked(2),
        replied(said("", call("b", "set")), step=2),
        *ran("b", failed, step=2),
    ]


WRAPS = LoopPolicy(degrade="wrap_up")
REASON = "set failed: no such account"


def test_a_failure_is_told_to_the_model_unless_somebody_says_otherwise() -> None:
    """O-25, C-6: the default, for what may pass and what does not."""
    action = decide(turn_of(*broken(WRAPS)), 0)
    assert isinstance(action, CallModel)
    assert action.prompt.messages[-1] == answer("b", "set", BROKEN)


def test_a_terminal_failure_ends_the_turn_and_the_model_is_not_asked_again() -> None:
    """C-6, M-29."""
    assert decide(turn_of(*broken(WRAPS, kind="terminal")), 0) == End(
        end=ToolFailed(tool="set", message="no such account")
    )


def test_a_recoverable_failure_wraps_up_a_turn_that_has_found_something() -> None:
    """M-29, M-36."""
    assert decide(turn_of(*broken(WRAPS, kind="recoverable")), 0) == Record(event=WrapUpBegan(reason=REASON))


@pytest.mark.parametrize(
    ("policy", "found"), [(LoopPolicy(), True), (WRAPS, False), (replace(WRAPS, max_steps=2), True)]
)
def test_a_recoverable_failure_is_told_to_the_model_where_nothing_can_be_wrapped_up(
    policy: LoopPolicy, *, found: bool
) -> None:
    """M-36, M-37: without evidence, without a step left, or without that policy."""
    action = decide(turn_of(*broken(policy, kind="recoverable", found=found)), 0)
    assert not isinstance(action, Record)


@pytest.mark.parametrize(
    ("failures", "spec", "kind", "expected"),
    [
        ({"set": "terminal"}, "model_visible", "recoverable", ToolFailed),
        ({}, "terminal", None, ToolFailed),
        ({}, "terminal", "model_visible", CallModel),
        ({"set": "model_visible"}, "terminal", "terminal", CallModel),
        ({"look": "terminal"}, "model_visible", None, CallModel),
    ],
)
def test_the_class_of_a_failure_is_the_agents_word_then_the_failures_own_then_the_tools(
    failures: dict[str, FailureClass], spec: FailureClass, kind: FailureClass | None, expected: type
) -> None:
    """C-6, M-29: a mapping configurable for each tool."""
    policy = replace(WRAPS, failures=failures)
    tools = (LOOK, replace(SET, failure=spec))
    first, *rest = broken(policy, kind=kind)
    assert first == began(policy=policy)
    action = decide(turn_of(began(policy=policy, tools=tools), *rest), 0)
    assert isinstance(action.end if isinstance(action, End) else action, expected)


# --- a model that cannot go on (C-7) ----------------------------------------------------------------------------------


ONCE = LoopPolicy(degrade="wrap_up", max_asks=1)


def lost(policy: LoopPolicy, kind: FaultKind = "overloaded", *, found: bool = True) -> list[Told]:
    """A turn that has found something, or not, and whose model then fails."""
    looked = (asked(), replied(said("", call("a"))), *ran("a")) if found else ()
    return [began(policy=policy), *looked, asked(2 if found else 1), faulted(kind, step=2 if found else 1)]


OVERLOADED = "the model could not answer (overloaded): it was overloaded"


def test_with_something_found_a_model_that_cannot_answer_is_asked_once_more_for_an_answer() -> None:
    """M-36: at most once, in a step of its own, without tools."""
    assert decide(turn_of(*lost(ONCE)), 0) == Record(event=WrapUpBegan(reason=OVERLOADED))
    action = decide(turn_of(*lost(ONCE), wrapping_up(OVERLOADED)), 0)
    assert isinstance(action, CallModel)
    assert (action.step, action.attempt, action.prompt.tools) == (3, 1, ())


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        (lost(ONCE, "auth"), "auth"),
        (lost(ONCE, "bad_request"), "bad_request"),
        (lost(ONCE, found=False), "overloaded"),
        (lost(replace(ONCE, degrade="none")), "overloaded"),
        (lost(replace(ONCE, max_steps=2)), "overloaded"),
        (lost(replace(ONCE, limits=Limits(model_calls=2))), "overloaded"),
        (lost(replace(ONCE, limits=Limits(total_steps=3))), "overloaded"),
        ([*lost(ONCE), QuotaReached(limit="daily model_calls")], "overloaded"),
    ],
    ids=[
        "auth",
        "bad_request",
        "nothing found",
        "policy",
        "no step left",
        "no call left",
        "no total step left",
        "quota",
    ],
)
def test_there_is_no_wrap_up_without_authority_evidence_or_room(events: list[Told], kind: FaultKind) -> None:
    """M-36, M-37: errors of authorisation terminate directly; no budget is raised for compensation."""
    assert decide(turn_of(*events), 0) == End(end=ModelFailed(kind=kind, message=f"it was {kind}"))


def test_a_wrap_up_that_fails_keeps_what_was_found_and_says_that_the_turn_is_unfinished() -> None:
    """M-38, M-36: and there is no second one."""
    replies = [said("", call("a")), faulted("overloaded", step=2), faulted("network", step=3)]
    played = play(began(policy=ONCE), replies)
    assert ends(played) == (Unfinished(reason=OVERLOADED), 3, ["a"])
    assert result_of(played.turn).text == (
        f"Unfinished: {OVERLOADED}, and no answer came of what was found.\nWhat was found:\n- look: a done"
    )
    assert result_of(played.turn).evidence == (answer("a"),)


@pytest.mark.parametrize("reply", [said("", call("b")), said(" ")], ids=["a call", "nothing"])
def test_a_wrap_up_without_an_answer_is_unfinished(reply: Reply) -> None:
    """M-36, M-38: a tool that is asked for in it does not run."""
    played = play(began(policy=ONCE), [said("", call("a")), faulted("rate", step=2), reply])
    assert (type(played.turn.end), played.starts) == (Unfinished, ["a"])


@pytest.mark.parametrize(
    ("stop", "end"),
    [
        (InterruptAsked(by="ada"), Interrupted(by="ada")),
        (RevokeAsked(what="tool look", tool="look"), Revoked(what="tool look")),
        (RevokeAsked(what="the person"), Revoked(what="the person")),
    ],
    ids=["interrupt", "used tool", "all"],
)
@pytest.mark.parametrize("wraps", [False, True], ids=["before the wrap-up", "within it"])
def test_after_a_stop_there_is_no_wrap_up(stop: Told, end: TurnEnd, *, wraps: bool) -> None:
    """M-21, M-36: revoked, forgotten, cancelled never enters the compensating wrap-up, nor goes on with one."""
    begun = (wrapping_up(OVERLOADED),) if wraps else ()
    assert decide(turn_of(*lost(ONCE), *begun, stop), 0) == End(end=end)


def test_a_stop_between_the_last_result_and_the_answer_leaves_no_answer() -> None:
    """M-20, M-21: checked before use, after return, and before the final output."""
    used = RevokeAsked(what="tool look", tool="look")
    events = (began(policy=ONCE), asked(), replied(said("", call("a"))), *ran("a"))
    answered = (asked(2), replied(said("done"), step=2))
    assert (decide(turn_of(*events, used), 0), decide(turn_of(*events, *answered, used), 0)) == (
        End(end=Revoked(what="tool look")),
        End(end=Revoked(what="tool look")),
    )


def test_a_tool_that_was_withdrawn_before_it_was_used_is_refused_and_the_turn_goes_on() -> None:
    """M-20: by its name, or with its plug-in."""
    tools = (LOOK, replace(SEND, owner="mail"))
    for revoked in (RevokeAsked(what="send", tool="send"), RevokeAsked(what="mail", owner="mail")):
        events = (began(tools=tools), asked(), replied(said("", call("a"), call("b", "send"))), revoked)
        assert decide(turn_of(*events), 0) == WriteOff(
            settled=((CallId("b"), Denied(rule="revoked", reason="send was withdrawn while the turn ran")),)
        )


def test_a_call_that_changes_something_needs_a_person_where_policy_says_so() -> None:
    """M-7, M-42: free mode writes with confirmation only; looking needs none."""
    policy = LoopPolicy(confirm_writes=True)
    state = turn_of(began(policy=policy), asked(), replied(said("", call("a"), call("b", "set"))))
    reason = "set needs a person's confirmation, and nobody can be asked"
    assert decide(state, 0) == WriteOff(settled=((CallId("b"), Denied(rule="confirmation", reason=reason)),))


# --- the envelope (M-11, M-15 to M-17) --------------------------------------------------------------------------------


def test_model_calls_and_tool_calls_are_steps_of_one_budget() -> None:
    """M-11: two model calls and two tool calls, and then neither."""
    policy = LoopPolicy(limits=Limits(total_steps=4))
    played = play(began(policy=policy), [said("", call("a")), said("so far", call("b"))])
    assert ends(played) == (BudgetSpent(limit="total_steps", text="so far"), 2, ["a", "b"])


def test_writes_are_refused_when_they_are_used_up_and_looking_goes_on() -> None:
    """M-14: `writeSteps`; read-only workflows have none (M-7)."""
    policy = LoopPolicy(limits=Limits(write_calls=1))
    reply = said("", call("a", "set"), call("b", "send"), call("c"))
    events = (began(policy=policy), asked(), replied(reply), *(allowed(each) for each in "abc"))
    assert decide(turn_of(*events), 0) == RunTools(calls=(call("a", "set"), call("c")))
    done = (acting("a"), settled("a"), acting("c"), settled("c"))
    reason = "this turn may not change anything more; look, or answer with what you have"
    assert decide(turn_of(*events, *done), 0) == WriteOff(
        settled=((CallId("b"), Denied(rule="budget", reason=reason)),)
    )


@pytest.mark.parametrize(("own", "asked_for"), [({}, 100), ({"max_tokens": 40}, 40), ({"max_tokens": 4_000}, 100)])
def test_a_reply_is_asked_for_with_at_most_the_output_tokens_of_the_policy(own: dict[str, int], asked_for: int) -> None:
    """M-14, M-15: `outputTokens`."""
    started = began(policy=LoopPolicy(limits=Limits(output_tokens=100)))
    started = replace(started, model=replace(started.model, parameters=dict(own)))
    action = decide(turn_of(started), 0)
    assert isinstance(action, CallModel)
    assert action.prompt.model.parameters == {"max_tokens": asked_for}


def test_what_is_left_of_all_tokens_bounds_the_reply_and_a_prompt_without_room_is_not_sent() -> None:
    """M-15: by estimate, before the act."""
    started = began("x" * 400, policy=LoopPolicy(limits=Limits(output_tokens=1_000, total_tokens=300)), instructions="")
    action = decide(turn_of(replace(started, tools=())), 0)
    assert isinstance(action, CallModel)
    assert action.prompt.model.parameters == {"max_tokens": 200}
    spent = replace(started, tools=(), policy=LoopPolicy(limits=Limits(total_tokens=100)))
    assert decide(turn_of(spent), 0) == End(end=BudgetSpent(limit="total_tokens", text=""))


def test_a_prompt_is_trimmed_to_its_bytes_and_not_sent_when_that_does_not_do() -> None:
    """M-15: UTF-8 bytes, counted before it is sent."""
    policy = LoopPolicy(limits=Limits(input_bytes=500), keep_messages=1)
    earlier = (asked(), replied(said("ü" * 100)), TurnEnded(end=Completed(text="ü")))
    started = replace(began("now", turn="t2", policy=policy, instructions=""), tools=())
    two = (replace(started, turn_id=began(turn=f"t{n}").turn_id, input=UserMessage(text="ä" * 80)) for n in (0, 1))
    events = [event for each in two for event in (each, *earlier)]
    action = decide(turn_of(*events, started), 0)
    assert isinstance(action, Record)
    assert isinstance(action.event, ContextTrimmed)
    assert (action.event.history_turns, action.event.removed) == (1, 2)
    state = turn_of(*events, started, action.event)
    assert isinstance(decide(state, 0), CallModel)
    assert prompt_bytes(build_prompt(state, started, step=1)) == 2 * 180 + 3
    long = turn_of(replace(started, input=UserMessage(text="ß" * 251)))
    assert decide(long, 0) == End(end=BudgetSpent(limit="input_bytes", text=""))


def test_a_nested_turn_spends_of_the_same_budget_and_a_second_one_refills_nothing() -> None:
    """M-17, M-42: after the first has used the model calls, the turn has none left either."""
    policy = LoopPolicy(limits=Limits(model_calls=4))
    spends = {"a": [Spent(model_calls=1), Spent(model_calls=3, tool_calls=2)]}
    played = play(began(policy=policy), [said("so far", call("a", "set"))], spends=spends)
    assert (played.turn.end, played.turn.counters.model_calls, played.turn.counters.tool_calls) == (
        BudgetSpent(limit="model_calls", text="so far"),
        4,
        3,
    )


@pytest.mark.parametrize("limit", ["daily model_calls", "daily tool_calls"])
def test_a_quota_that_is_used_up_ends_the_turn_before_the_next_model_call_with_its_last_words(limit: str) -> None:
    """M-16."""
    state = turn_of(began(), asked(), replied(said("so far", call("a"))), *ran("a"), QuotaReached(limit=limit))
    assert decide(state, 0) == End(end=BudgetSpent(limit=limit, text="so far"))


def test_a_quota_that_is_used_up_refuses_the_calls_that_have_not_begun() -> None:
    """M-16: and lets the one that was cut off come to its end: it was counted when it began."""
    reply = said("", call("a"), call("b"))
    events = (began(), asked(), replied(reply), allowed("a"), allowed("b"), acting("a"))
    state = turn_of(*events, QuotaReached(limit="daily tool_calls"))
    assert decide(state, 0) == RunTools(calls=(call("a"),))
    reason = "all calls of this turn are used; answer with what you have"
    assert decide(turn_of(*events, settled("a"), QuotaReached(limit="daily tool_calls")), 0) == WriteOff(
        settled=((CallId("b"), Denied(rule="budget", reason=reason)),)
    )


@pytest.mark.parametrize(
    "before",
    [(asked(),), (asked(), faulted("network")), (asked(), faulted("auth"))],
    ids=["cut off", "may pass", "fallback"],
)
def test_a_quota_that_is_used_up_ends_a_turn_whose_model_was_to_be_asked_again(before: tuple[Told, ...]) -> None:
    """M-16."""
    state = turn_of(began(fallbacks=(SPARE,)), *before, QuotaReached(limit="daily model_calls"))
    assert decide(state, 0) == End(end=BudgetSpent(limit="daily model_calls", text=""))


# --- trimming (C-9, C-10) ---------------------------------------------------------------------------------------------


def conversation(sizes: list[int], *, policy: LoopPolicy) -> list[Told]:
    """Earlier turns, each an input and an answer whose characters are two of `sizes`."""
    events: list[Told] = []
    for number, (asks, answers) in enumerate(zip(sizes[::2], sizes[1::2], strict=True), start=1):
        events += [began("q" * asks, turn=f"t{number}", policy=policy), asked(), replied(said("a" * answers))]
        events.append(TurnEnded(end=Completed(text="a" * answers)))
    return events


COMPACT = replace(PRESETS["compact"], protocol="native")
"""The compact preset in native words, so that a message has as many characters as it says."""


def test_before_the_twelfth_turn_2225_tokens_are_trimmed_to_940_by_six_messages() -> None:
    """T-15 to T-19, T-26: 8,900 characters are 2,225 estimated tokens, over a budget of 1,000; the oldest six go."""
    sizes = [900, 1_000, 800, 900, 740, 800, *(200, 160) * 7, 400, 400]
    sizes[-2:] = []
    events = conversation([*sizes, 500, 440], policy=COMPACT)
    last = began("z" * 300, turn="t12", policy=COMPACT)
    state = turn_of(*events, last)
    assert len(state.history) == 11
    before = build_prompt(state, last, step=1).messages
    assert (sum(len(message_text(each)) for each in before), message_tokens(before, "chars4")) == (8_900, 2_225)
    trim = trimmed(history_turns=8, removed=6, tokens=(2_225, 940))
    assert decide(state, 0) == Record(event=trim)
    action = decide(turn_of(*events, last, trim), 0)
    assert isinstance(action, CallModel)
    assert len(action.prompt.messages) == len(before) - 6
    assert message_tokens(action.prompt.messages, "chars4") == 940


def message_text(message: Message) -> str:
    assert isinstance(message, UserMessage | Reply)
    return message.text


def test_the_latest_four_messages_are_kept_however_long_they_are() -> None:
    """T-16: `KEEP_MIN` = 4; trimming stops at the floor, and the prompt is sent as it is then."""
    events = conversation([3_000, 3_000, 3_000, 3_000], policy=COMPACT)
    last = began("now", turn="t3", policy=COMPACT)
    turns = (UserMessage(text="q" * 3_000), said("a" * 3_000)) * 2
    prompt = prompt_of(*turns, UserMessage(text="now"), history_turns=2)
    assert decide(turn_of(*events, last), 0) == CallModel(prompt=prompt, step=1, attempt=1)


def test_trimming_goes_by_whole_turns_and_keeps_the_system_prompt_and_the_latest() -> None:
    """Y-16, T-16, O-30: what is over the budget goes from the front, and the tools and the system text stay."""
    events = conversation([2_000, 2_000, 100, 100, 100, 100], policy=COMPACT)
    last = began("now!", turn="t4", policy=COMPACT)
    trim = trimmed(history_turns=2, removed=2, tokens=(1_101, 101))
    assert decide(turn_of(*events, last), 0) == Record(event=trim)
    action = decide(turn_of(*events, last, trim), 0)
    assert isinstance(action, CallModel)
    assert (action.prompt.system, len(action.prompt.tools), action.prompt.history_turns) == ("Be brief.", 4, 2)


def test_within_a_long_turn_the_oldest_steps_go_and_what_the_person_said_stays() -> None:
    """T-17, T-18: decided after the observation is fed back and before the model is asked."""
    policy = replace(COMPACT, keep_messages=2)
    long = Succeeded(text="x" * 3_000)
    events = (began(policy=policy), asked(), replied(said("", call("a"))), *ran("a", long))
    more = (asked(2), replied(said("", call("b")), step=2), *ran("b", Succeeded(text="y" * 2_000), step=2))
    action = decide(turn_of(*events, *more), 0)
    assert isinstance(action, Record)
    assert isinstance(action.event, ContextTrimmed)
    assert (action.event.steps_left_out, action.event.removed) == (1, 2)
    sent = decide(turn_of(*events, *more, action.event), 0)
    assert isinstance(sent, CallModel)
    assert sent.prompt.messages == [HI, said("", call("b")), answer("b", "look", Succeeded(text="y" * 2_000))]


def test_what_was_trimmed_leaves_its_first_words_behind_where_policy_says_so() -> None:
    """C-9: `extractive`, without a model; the way T-20 sketches."""
    policy = replace(COMPACT, summary="extractive", keep_messages=1)
    events = conversation([4_000, 4_000], policy=policy)
    last = began("now", turn="t2", policy=policy)
    action = decide(turn_of(*events, last), 0)
    assert isinstance(action, Record)
    sent = decide(turn_of(*events, last, action.event), 0)
    assert isinstance(sent, CallModel)
    first = sent.prompt.messages[0]
    assert isinstance(first, UserMessage)
    assert first.text.startswith("[Earlier in this conversation, in short:\n- qqq")
    assert first.text.endswith("]\n\nnow")


def test_a_trim_holds_for_its_turn_and_the_journal_keeps_everything() -> None:
    """T-18, T-19: the trimmed turns are in the history still, and the next turn decides for itself."""
    policy = replace(COMPACT, keep_messages=1)
    events = conversation([2_000, 2_000, 2_000, 2_000], policy=policy)
    last = began("now", turn="t3", policy=policy)
    trim = decide(turn_of(*events, last), 0)
    assert isinstance(trim, Record)
    ended = (asked(), replied(said("done")), TurnEnded(end=Completed(text="done")))
    state = turn_of(*events, last, trim.event, *ended, began("more", turn="t4"))
    assert (len(state.history), state.trim) == (3, None)
