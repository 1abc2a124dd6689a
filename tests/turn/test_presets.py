"""One conversation under every preset, event by event; and the cap, exactly, under every preset.

The streams stand in `presets/NAME.txt`. To write them anew after a change that is meant, set ORIBI_WRITE_STREAMS, and
read the difference.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from oribi.core.calls import CallId, Failed, Json, JsonObject, ToolCall, ToolResult
from oribi.core.ends import Completed, MaxSteps, TurnEnd, Unfinished
from oribi.core.events import Event, ModelAsked, ToolStarted, TurnStarted, WrapUpBegan
from oribi.core.mail import Input
from oribi.core.messages import Reply, Usage
from oribi.core.policy import PRESETS, ActionForm, LoopPolicy
from oribi.core.prompt import Prompt
from oribi.testing import ScriptedModel
from oribi.turn.loop import run_turn
from tests.turn.stage import SESSION, Stage

pytestmark = pytest.mark.anyio

STREAMS = Path(__file__).parent / "presets"
USAGE = Usage(input_tokens=40, output_tokens=8)
FIRST = (("look", 1), ("look", 1), ("broken", 0), "not an action", "the first answer")
SECOND = (("look", 2), "the second answer")
"""What the model says in the two turns: calls of a tool with a number, a slip, and answers."""


def said(what: tuple[str, int] | str, number: int, form: ActionForm | None) -> Reply:
    """A reply, natively or as a JSON action. A slip is an empty answer natively, and prose as an action."""
    if isinstance(what, tuple):
        name, n = what
        if form is None:
            call = ToolCall(id=CallId(f"c{number}"), name=name, arguments={"n": n})
            return Reply(text="", calls=(call,), stop="tool_calls", usage=USAGE)
        action: Json = {"type": name, "input": {"n": n}}
        thought: Json = {"thought": "I look.", "action": name, "action_input": {"n": n}}
        return Reply(text=json.dumps(action if form == "type" else thought), usage=USAGE)
    if what == "not an action":
        return Reply(text="" if form is None else "Let me think.", usage=USAGE)
    answer: Json = {"type": "answer", "text": what} if form == "type" else {"thought": "Done.", "final": what}
    return Reply(text=what if form is None else json.dumps(answer), usage=USAGE)


def form_of(policy: LoopPolicy) -> ActionForm | None:
    return policy.action_form if policy.protocol == "json_action" else None


class Speaker:
    """A model that says the replies of a turn one after the other."""

    def __init__(self, replies: Iterator[Reply]) -> None:
        self.replies = replies

    def __call__(self, prompt: Prompt) -> Reply:
        return next(self.replies)


def look(arguments: JsonObject) -> ToolResult | str:
    return f"seen {arguments.get('n')}"


def broken(arguments: JsonObject) -> ToolResult:
    return Failed(text="out of order", retryable=True)


def a_stage(policy: LoopPolicy, speaker: Callable[[Prompt], Reply]) -> Stage:
    policy = replace(policy, retry_seconds=0.0, tool_retry_seconds=0.0)
    stage = Stage(ScriptedModel(speaker), {"look": look, "broken": broken}, policy=policy)
    stage.tools.effects |= {"look": "pure", "broken": "pure"}
    return stage


def shown(value: object) -> str:
    """A value on one line, without what is empty and what a policy or a provider makes of its own."""
    if isinstance(value, tuple):
        parts = cast("tuple[object, ...]", value)
        return f"[{', '.join(shown(each) for each in parts)}]"
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    hidden = {"policy", "tools", "instructions", "usage", "sha256", "bytes", "wire", "raw", "system_characters"}
    pairs = [(each.name, getattr(value, each.name)) for each in fields(value) if each.name not in hidden]
    told = [f"{name}={shown(part)}" for name, part in pairs if part not in (None, "", (), 0, False)]
    return f"{type(value).__name__}({', '.join(told)})"


async def conversation(stage: Stage, speaker: Speaker, form: ActionForm | None) -> list[TurnEnd | None]:
    session = await stage.open()
    ends: list[TurnEnd | None] = []
    for text, turn in (("go", FIRST), ("and now?", SECOND)):
        speaker.replies = iter([said(what, number, form) for number, what in enumerate(turn)])
        session.send(Input(text=text))
        ends.append(await run_turn(session, stage.ports))
    return ends


@pytest.mark.parametrize("name", PRESETS)
async def test_one_conversation_under_every_preset(name: str) -> None:
    """C-1 to C-9: the same words, another dialect: the whole stream of events, which also replays exactly."""
    speaker = Speaker(iter(()))
    stage = a_stage(PRESETS[name], speaker)
    await conversation(stage, speaker, form_of(PRESETS[name]))
    stream = "".join(f"{shown(event)}\n" for event in stage.events())
    file = STREAMS / f"{name}.txt"
    if os.environ.get("ORIBI_WRITE_STREAMS"):
        file.write_text(stream)
    assert stream == file.read_text()


async def test_the_conversation_ends_as_each_dialect_says() -> None:
    """M-2, M-8, M-35, T-8, O-8: answers where the loop goes on, and a wrap-up that failed where a repeat ends it."""
    ends: dict[str, list[TurnEnd | None]] = {}
    for name, policy in PRESETS.items():
        speaker = Speaker(iter(()))
        ends[name] = await conversation(a_stage(policy, speaker), speaker, form_of(policy))
    answered = [Completed(text="the first answer"), Completed(text="the second answer")]
    repeat = Unfinished(reason="look was asked for again, with the same input")
    assert ends == {
        "standard": answered,
        "persistent": answered,
        "compact": answered,
        "reasoning": [repeat, answered[1]],
        "question": [repeat, answered[1]],
        "free": [repeat, answered[1]],
    }


def counted(events: list[Event], kind: type[object]) -> int:
    return sum(isinstance(event, kind) for event in events)


@pytest.mark.parametrize("cap", [1, 3, 6, 10])
@pytest.mark.parametrize("name", PRESETS)
async def test_a_model_that_always_calls_a_tool_is_asked_exactly_so_often(name: str, cap: int) -> None:
    """O-2, O-26, T-6, T-10, T-22, Y-3, M-8, M-9: N decisions, N tools; one less if the last is final-only."""
    policy = PRESETS[name]
    limits = replace(policy.limits, model_calls=None, tool_calls=None, total_steps=None, total_tokens=None)
    policy = replace(policy, max_steps=cap, limits=limits)
    replies = (said(("look", number), number, form_of(policy)) for number in range(100))
    stage = a_stage(policy, Speaker(replies))
    session = await stage.open()
    session.send(Input(text="go"))
    end = await run_turn(session, stage.ports)
    tools = cap - 1 if policy.cap_outcome == "final_only" else cap
    assert end == MaxSteps(limit=cap, text="")
    assert (counted(stage.events(), ModelAsked), counted(stage.events(), ToolStarted)) == (cap, tools)


@pytest.mark.parametrize("cap", [1, 3, 6, 10])
@pytest.mark.parametrize("name", PRESETS)
async def test_a_dead_loop_comes_to_its_end(name: str, cap: int) -> None:
    """T-23, T-24, T-27, M-35: the same call for ever: MaxSteps(6) in the compact dialect; where repeats finalise, one
    tool, the repeat, and one last decision."""
    policy = replace(PRESETS[name], max_steps=cap)
    limits = replace(policy.limits, model_calls=None, tool_calls=None, total_steps=None, total_tokens=None)
    policy = replace(policy, limits=limits)
    stage = a_stage(policy, Speaker(said(("look", 1), number, form_of(policy)) for number in range(100)))
    session = await stage.open()
    session.send(Input(text="loop"))
    end = await run_turn(session, stage.ports)
    asks, tools = counted(stage.events(), ModelAsked), counted(stage.events(), ToolStarted)
    if policy.repeat == "allow":
        assert (end, asks, tools) == (MaxSteps(limit=cap, text=""), cap, cap)
    elif cap == 1:
        assert (end, asks, tools) == (MaxSteps(limit=1, text=""), 1, 0)
    else:
        assert isinstance(end, Unfinished)
        assert (asks, tools, counted(stage.events(), WrapUpBegan)) == (3, 1, 1)


async def test_two_tools_and_then_the_answer_in_three_steps() -> None:
    """M-4, M-9: three rounds are two tools and the answer; the last prompt has no tools to offer."""
    speaker = Speaker(said(what, number, "type") for number, what in enumerate((("look", 1), ("look", 2), "done")))
    stage = a_stage(PRESETS["reasoning"], speaker)
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == Completed(text="done")
    assert (counted(stage.events(), ModelAsked), counted(stage.events(), ToolStarted)) == (3, 2)
    model = stage.ports.models.get(session.started.model)
    assert isinstance(model, ScriptedModel)
    offers = ["look: The tool look." in prompt.system for prompt in model.prompts]
    assert offers == [True, True, False]


async def test_the_last_model_call_of_the_budget_is_for_the_answer() -> None:
    """M-9, M-10: a routed turn has a call less than its steps, and is still to end in an answer."""
    policy = replace(PRESETS["question"], limits=replace(PRESETS["question"].limits, model_calls=2))
    speaker = Speaker(said(what, number, "type") for number, what in enumerate((("look", 1), "done")))
    stage = a_stage(policy, speaker)
    session = await stage.open()
    session.send(Input(text="go"))
    assert await run_turn(session, stage.ports) == Completed(text="done")
    model = stage.ports.models.get(session.started.model)
    assert isinstance(model, ScriptedModel)
    assert ["No tool can run any more." in prompt.system for prompt in model.prompts] == [False, True]


async def test_every_knob_is_kept_with_its_turn() -> None:
    """M-18, M-22: what a turn started with is in its first record; a change counts for the next."""
    speaker = Speaker(iter([said("one", 0, None), said("two", 1, None)]))
    stage = a_stage(PRESETS["standard"], speaker)
    session = await stage.open()
    session.send(Input(text="a"))
    await run_turn(session, stage.ports)
    stage.agents.policy = replace(stage.agents.policy, max_steps=2)
    session.send(Input(text="b"))
    await run_turn(session, stage.ports)
    policies = [event.policy.max_steps for event in stage.events() if isinstance(event, TurnStarted)]
    assert policies == [10, 2]
    assert stage.journal.read(SESSION)[0].session_id == SESSION
