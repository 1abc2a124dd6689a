"""What the four dialects of the loop add to what a person sees: live, in the trace, and in `oribi why`."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from oribi.cli.commands.why import action_text
from oribi.cli.live import LiveTurn, Manner
from oribi.cli.paint import PLAIN
from oribi.cli.timeline import Form, timeline
from oribi.cli.tracing import trace_of
from oribi.core.budget import NOTHING, Spent
from oribi.core.calls import Allow, CallId, Failed, JsonObject, SessionId, Succeeded, ToolCall, TurnId
from oribi.core.decide import explain
from oribi.core.ends import Completed, ToolFailed
from oribi.core.events import (
    CallCharged,
    CallJudged,
    Event,
    ModeChosen,
    ModelAsked,
    ModelReplied,
    ParentCall,
    QuotaReached,
    Recorded,
    RevokeAsked,
    SessionOpened,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.mail import Input
from oribi.core.messages import Reply, UserMessage
from oribi.core.modes import Mode
from oribi.core.policy import LoopPolicy
from oribi.core.results import result_of
from oribi.core.turn import fold
from oribi.testing import ScriptedModel
from oribi.testing.fake_tools import Function
from oribi.turn.loop import run_turn
from tests.cli.test_live import REQUEST, Kept
from tests.turn.stage import DEMO, OPENING, SESSION, Stage

CALL = ToolCall(id=CallId("c1"), name="fetch", arguments={"url": "a"})
STARTED = TurnStarted(
    turn_id=TurnId("t1"),
    input=UserMessage(text="go"),
    agent="ops",
    model=DEMO,
    policy=LoopPolicy(tool_attempts=3),
    tools=(),
    instructions="",
)
ALLOWED = CallJudged(step=1, call_id=CALL.id, verdict=Allow(rule="r"))
BEGAN = ToolStarted(step=1, call_id=CALL.id)


def recorded(*events: Event) -> list[Recorded]:
    """The records of one turn with these events, a millisecond apart."""
    return [
        Recorded(
            session_id=SESSION,
            seq=seq,
            turn_id=None if isinstance(event, SessionOpened) else TurnId("t1"),
            at=seq * 1000,
            event=event,
        )
        for seq, event in enumerate(events, 1)
    ]


def seen(records: list[Recorded]) -> tuple[str, str, str]:
    """Stdout, stderr and the timeline of a turn."""
    output = Kept()
    live = LiveTurn(output, Manner(paint=PLAIN, columns=100))
    for record in records:
        live.show(record)
    turn = fold(SESSION, records)
    live.result = None if turn.is_open else result_of(turn)
    live.close()
    return output.text("out"), output.text("err"), timeline(trace_of(SESSION, records), Form(columns=100))


async def played(model: ScriptedModel, policy: LoopPolicy, functions: Mapping[str, Function]) -> list[Recorded]:
    """The records of one turn with the input `go`; every function is pure."""
    stage = Stage(model, functions, policy=policy)
    stage.tools.effects = dict.fromkeys(functions, "pure")
    session = await stage.open()
    session.send(Input(text="go"))
    await run_turn(session, stage.ports)
    return list(stage.journal.read(SESSION))


@pytest.mark.anyio
async def test_trimmed_context_is_a_line_with_what_went_and_the_estimates_before_and_after() -> None:
    """T-18, T-19: removed 6, estimated tokens 2225 -> 940, in the trace and while it happens."""
    earlier = [("one", 1711), ("two", 1710), ("three", 1708), ("four", 1796), ("five", 1895)]
    script = {"rules": [{"when": {"input": f"^{name}$"}, "reply": "x" * size} for name, size in earlier]}
    stage = Stage(ScriptedModel({**script, "replies_tail": "Done."}), policy=LoopPolicy())
    session = await stage.open()
    for name, _ in earlier:
        session.send(Input(text=name))
        await run_turn(session, stage.ports)
    stage.agents.policy = LoopPolicy(token_budget=1_000, estimator="chars4")
    session.send(Input(text="?" * 61))
    await run_turn(session, stage.ports)
    records = list(stage.journal.read(SESSION))
    line = "context trimmed: removed 6, estimated tokens 2225 -> 940\n"
    _, err, text = seen(records)
    assert line in err
    assert f"  {line}  step 1  " in text
    assert text.count("trimmed") == 1
    assert records[-1].event == TurnEnded(end=Completed(text="Done."))


def test_the_routers_call_is_no_step_and_what_it_says_is_no_answer() -> None:
    """M-5, M-10: one step, two model calls."""
    routed = replace(STARTED, routes=(Mode(name="reason", description="Several look-ups."),))
    chosen = ModeChosen(mode="reason", policy=LoopPolicy(max_steps=3), tools=(), instructions="")
    records = recorded(
        OPENING,
        routed,
        ModelAsked(step=0, attempt=1, request=REQUEST),
        ModelReplied(step=0, attempt=1, reply=Reply(text="reason")),
        chosen,
        ModelAsked(step=1, attempt=1, request=REQUEST),
        ModelReplied(step=1, attempt=1, reply=Reply(text="Because.")),
        TurnEnded(end=Completed(text="Because.")),
    )
    out, err, text = seen(records)
    assert (out, err.splitlines()[0]) == ("Because.\n", "[route] mode reason")
    assert err.splitlines()[1].startswith("1 step, 0 tools")
    assert "  mode reason, model scripted:demo" in text
    assert text.index("  route  1 ms") < text.index("    chooses reason") < text.index("  step 1  1 ms")
    turn = trace_of(SESSION, records).turns[0]
    assert ([step.step for step in turn.steps], turn.model_calls, turn.mode, turn.max_steps) == ([1], 2, "reason", 3)
    none = recorded(*(record.event for record in records[:4]), replace(chosen, mode=""))
    assert seen(none)[1] == "[route] none of the modes\n"
    asked = action_text(explain(fold(SESSION, records[:2]), 0)[1])
    assert asked == ("CallModel", "ask scripted:demo for the mode of the turn, with 1 message")


def test_a_command_shows_its_call_without_a_model() -> None:
    """M-3: its result is the answer."""
    told = Succeeded(text="all\nwell\n")
    start = (OPENING, replace(STARTED, command=CALL), ALLOWED, BEGAN)
    settled = ToolSettled(step=1, call_id=CALL.id, result=told)
    out, err, text = seen(recorded(*start, settled, TurnEnded(end=Completed(text=told.text))))
    assert out == "all\nwell\n"
    assert err.splitlines() == [
        '[command] fetch url="a"',
        "    ok, 1 ms: all (+1 line)",
        "no model, 1 tool, 4 ms, session s1: completed",
    ]
    assert '  command  no model was asked\n    fetch  url="a"\n      succeeded, 9 characters' in text
    failed = ToolSettled(step=1, call_id=CALL.id, result=Failed(text="no route"))
    end = TurnEnded(end=ToolFailed(tool="fetch", message="no route"))
    out, err, text = seen(recorded(*start, failed, end))
    assert out == ""
    assert "error: Stopped: fetch failed: no route\n" in err
    assert "end tool_failed: Stopped: fetch failed: no route" in text


@pytest.mark.anyio
async def test_each_attempt_of_a_call_is_shown() -> None:
    """C-5, Y-7: the third attempt of three works."""
    tries: list[int] = []

    def fetch(_: JsonObject) -> str | Failed:
        tries.append(1)
        return "found" if len(tries) == 3 else Failed(text=f"timeout {len(tries)}", retryable=True)

    script = ScriptedModel([{"calls": [{"name": "fetch", "arguments": {"url": "a"}}]}, "Done."])
    policy = LoopPolicy(tool_attempts=3, tool_retry_seconds=0.0)
    records = await played(script, policy, {"fetch": fetch})
    _, err, text = seen(records)
    assert err.splitlines()[:6] == [
        '[1] fetch url="a"',
        "    failed, attempt 1 of 3: timeout 1",
        '[1] fetch (attempt 2 of 3) url="a"',
        "    failed, attempt 2 of 3: timeout 2",
        '[1] fetch (attempt 3 of 3) url="a"',
        "    ok, 0 ms: found",
    ]
    assert "      attempt 1 failed: timeout 1\n      attempt 2 failed: timeout 2\n      succeeded, 5 char" in text
    assert "started" not in text
    assert text.count("fetch  url") == 1


@pytest.mark.anyio
async def test_a_wrap_up_that_brings_no_answer_gives_what_was_found() -> None:
    """M-36, M-38: the evidence is on stdout, and the turn says that it is unfinished."""
    look: dict[str, object] = {"calls": [{"name": "look", "arguments": {}}]}
    broken: dict[str, object] = {"fails": {"kind": "network", "message": "gone"}}
    script = ScriptedModel([look, broken, broken])
    records = await played(script, LoopPolicy(degrade="wrap_up", max_asks=1), {"look": lambda _: "gold: 3"})
    out, err, text = seen(records)
    reason = "the model could not answer (network): gone"
    assert out == f"Unfinished: {reason}, and no answer came of what was found.\nWhat was found:\n- look: gold: 3\n"
    assert f"wrapping up: {reason}\n" in err
    assert err.endswith(f"session s1: unfinished: {reason}\n")
    assert text.index(f"  wrapped up: {reason}\n") < text.index("  step 3, the wrap-up  ")
    assert "end unfinished:" in text
    at = next(place for place, record in enumerate(records) if isinstance(record.event, WrapUpBegan))
    name, detail = action_text(explain(fold(SESSION, records[:at]), records[at].at)[1])
    assert (name, detail) == ("Record", f"wrap up, with an answer from what was found: {reason}")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ('{"type": "look", "input": {"at": "sky"}}', '{"type": "answer", "text": "Blue."}'),
        ('{"thought": "t", "action": "look", "action_input": {"at": "sky"}}', '{"thought": "t", "final": "Blue."}'),
    ],
)
async def test_a_json_action_is_shown_as_a_call_and_its_answer_as_an_answer(call: str, answer: str) -> None:
    """M-31, M-38, M-40: no JSON is ever shown as the answer; what was wrong with it is."""
    form = "type" if "type" in answer else "action"
    policy = LoopPolicy(protocol="json_action", action_form=form, calls_per_step="one")
    script = ScriptedModel([call, '{"oops": 1}', answer])
    records = await played(script, policy, {"look": lambda _: "blue"})
    out, err, text = seen(records)
    assert out == "Blue.\n"
    assert '[1] look at="sky"\n    ok, 0 ms: blue\n' in err
    assert "[2] told the model: Your answer cannot be used:" in err
    assert '    look  at="sky"\n' in text
    assert '    wrote {"oops": 1}\n    cannot be used:\n    | the field "type" is missing' in text
    assert "    says Blue.\n" in text


def test_a_call_that_began_another_session_names_it_and_what_was_spent_there() -> None:
    """O-38, M-42: `oribi trace ID` shows the rest."""
    spent = Spent(model_calls=2, tool_calls=1, input_tokens=30, output_tokens=4)
    records = recorded(
        OPENING,
        STARTED,
        ModelAsked(step=1, attempt=1, request=REQUEST),
        ModelReplied(step=1, attempt=1, reply=Reply(text="", calls=(CALL,))),
        ALLOWED,
        BEGAN,
        CallCharged(step=1, call_id=CALL.id, spent=NOTHING, child=SessionId("kid")),
        CallCharged(step=1, call_id=CALL.id, spent=spent, child=SessionId("kid")),
        ToolSettled(step=1, call_id=CALL.id, result=Succeeded(text="done")),
    )
    _, err, text = seen(records)
    assert err.splitlines()[1:] == ["    in session kid (`oribi trace kid` shows it)", "    ok, 3 ms: done"]
    assert "      in session kid: 2 model calls, 1 tool, 30 in / 4 out tokens\n      succeeded, 4 char" in text
    parent = ParentCall(session_id=SESSION, turn_id=TurnId("t1"), step=1, call_id=CALL.id)
    child = timeline(trace_of(SessionId("kid"), recorded(replace(OPENING, parent=parent))), Form(columns=100))
    assert "nested in session s1, for its call t1/1/c1\n" in child


def test_withdrawals_and_quotas_are_shown() -> None:
    """M-16, M-21: what the turn cannot use any more, and why it has no room."""
    asked = RevokeAsked(what="the tool fetch (its key leaked)", tool="fetch")
    records = recorded(OPENING, STARTED, asked, QuotaReached(limit="daily model_calls"))
    _, err, text = seen(records)
    assert err == "revoked: the tool fetch (its key leaked)\nno room left in the daily model_calls\n"
    assert "  no room left in the daily model_calls\n  withdrawn: the tool fetch (its key leaked)\n" in text
    assert "asked to stop: revocation of all" in seen(recorded(OPENING, STARTED, RevokeAsked(what="all")))[2]


def test_a_fault_of_an_attempt_is_folded_as_it_is_traced() -> None:
    """An attempt that was cut off and began again is a start more, not an attempt more."""
    fault = ToolFaulted(step=1, call_id=CALL.id, result=Failed(text="timeout", retryable=True))
    asked = (
        OPENING,
        STARTED,
        ModelAsked(step=1, attempt=1, request=REQUEST),
        ModelReplied(step=1, attempt=1, reply=Reply(text="", calls=(CALL,))),
        ALLOWED,
    )
    text = seen(recorded(*asked, BEGAN, fault, BEGAN, BEGAN))[2]
    assert "attempt 1 failed: timeout" in text
    assert "started 2 times" in text
