"""Modes, routing, commands and delegates as an AGENT.md says them: what is read, what is refused, what a turn gets."""

from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from oribi.agents.agent import AgentFile, parse_agent
from oribi.agents.modes import CHAT_COMMANDS
from oribi.core.budget import Limits
from oribi.core.calls import CallId, JsonObject, ToolCall, ToolSpec
from oribi.core.errors import ConfigError
from oribi.core.modes import Command, Mode, command_call, mode_of
from oribi.core.policy import PRESETS, LoopPolicy
from tests.agents.test_loader import GREP, READ, TOOLS, Desk


def agent(settings: str) -> AgentFile:
    source = f"---\n{settings}\n---\nBe brief.\n".encode()
    return parse_agent(source, folder="ops", file="agents/ops/AGENT.md", environment={})


def error(settings: str) -> str:
    with pytest.raises(ConfigError) as caught:
        agent(settings)
    return str(caught.value)


def policy_in(mode: str, settings: str) -> LoopPolicy:
    return agent(settings).in_mode(mode).policy


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


SETTINGS = """\
tools: [grep, read_file]
settings: {max_iterations: 4}
modes:
  reason:
    description: Combines several look-ups
    aliases: [分析, analyse]
    policy: reasoning
    budget: {tool_calls: 5}
    tools: [grep]
    instructions: |
      Look first.
  plain: {steps: 0}
route: auto
commands:
  look up: {tool: grep, arguments: {path: .}, rest: pattern}
  Status: {tool: read_file, arguments: {path: status.txt}}"""
REASON = Mode(name="reason", description="Combines several look-ups", aliases=("分析", "analyse"))
COMMANDS = (
    Command(phrase="look up", tool="grep", arguments={"path": "."}, rest="pattern"),
    Command(phrase="Status", tool="read_file", arguments={"path": "status.txt"}),
)


def test_a_mode_is_the_agent_with_a_policy_tools_and_instructions_of_its_own(desk: Desk) -> None:
    """M-4, M-5: `routes` are the modes that say what they are for, and only where no mode was chosen."""
    desk.agent(SETTINGS)
    plain = replace(desk.agents.load("ops"), lock=None)
    assert (plain.mode, plain.policy, plain.tools, plain.instructions, plain.routes, plain.commands) == (
        "",
        LoopPolicy(max_steps=4),
        (GREP, READ),
        "Be brief.",
        (REASON,),
        COMMANDS,
    )
    preset = PRESETS["reasoning"]
    in_reason = desk.agents.load("ops", "reason")
    assert replace(in_reason, lock=None) == replace(
        plain,
        mode="reason",
        policy=replace(preset, limits=replace(preset.limits, tool_calls=5)),
        tools=(),
        instructions="Be brief.\n\nLook first.",
        routes=(),
    ), "grep does not say what it is for in reasoning"
    assert replace(desk.agents.load("ops", "plain"), lock=None) == replace(
        plain, mode="plain", policy=LoopPolicy(max_steps=0), routes=()
    ), "M-12, M-43: steps: 0 is one plain answer"
    assert desk.agents.modes("ops") == (REASON, Mode(name="plain"))


def test_g13_the_lock_of_each_mode_is_its_own_and_made_once(desk: Desk) -> None:
    desk.agent(SETTINGS)
    locks = [desk.agents.load("ops", mode).lock for mode in ("", "reason", "plain")]
    assert [lock and lock["mode"] for lock in locks] == [None, "reason", "plain"]
    again = [desk.agents.load("ops", mode).lock for mode in ("", "reason", "plain")]
    assert all(one is other for one, other in zip(locks, again, strict=True))


def test_an_unknown_mode_is_met_with_those_there_are_and_is_no_broken_agent(desk: Desk) -> None:
    desk.agent(SETTINGS)
    with pytest.raises(ConfigError, match=r"^agent 'ops' has no mode 'reson'; it has: reason, plain$"):
        desk.agents.load("ops", "reson")
    desk.agent("tools: []")
    with pytest.raises(ConfigError, match=r"^agent 'ops' has no mode 'reason'; it has none$"):
        desk.agents.load("ops", "reason")
    assert desk.reports == []
    assert desk.agents.modes("ops") == ()


def test_a_broken_edit_leaves_every_mode_of_the_last_good_version_in_force(desk: Desk) -> None:
    desk.agent(SETTINGS)
    before = desk.agents.load("ops", "plain")
    desk.agent(SETTINGS.replace("steps: 0", "steps: none"))
    assert replace(desk.agents.load("ops", "plain"), lock=None) == replace(before, lock=None)
    assert desk.reports[0].startswith("agents/ops/AGENT.md:13: modes.plain.steps must be a whole number from 0 to 1000")


def test_m6_a_mode_is_entered_by_its_name_or_by_an_alias_also_in_chinese(desk: Desk) -> None:
    desk.agent(SETTINGS)
    modes = desk.agents.modes("ops")
    for text in ("/reason why is it slow", "analyse why is it slow", "分析 why is it slow", "分析why is it slow"):
        assert mode_of(modes, text) == ("reason", "why is it slow")
    assert mode_of(modes, "please analyse it") == ("", "please analyse it")


def test_a_mode_begins_with_the_agents_policy_or_with_a_preset_of_its_own() -> None:
    """C-25."""
    own = "policy: {preset: compact, repeat: block}\nmodes:\n  m: "
    compact = replace(PRESETS["compact"], repeat="block")
    assert policy_in("m", own + "{}") == compact
    assert policy_in("m", own + "{policy: {max_depth: 1}}") == replace(compact, max_depth=1)
    assert policy_in("m", own + "{policy: {preset: question, max_depth: 1}}") == replace(
        PRESETS["question"], max_depth=1
    )
    assert policy_in("m", own + "{policy: free, steps: 2}") == replace(PRESETS["free"], max_steps=2)


def test_m12_a_step_count_that_is_none_becomes_3_in_a_mode_of_a_game_preset_too() -> None:
    for settings in ("modes:\n  m: {policy: free, steps: x}", "policy: free\nmodes:\n  m: {policy: {max_steps: x}}"):
        read = agent(f"tools: []\n{settings}")
        assert read.in_mode("m").policy == replace(PRESETS["free"], max_steps=3)
        assert len(read.warnings) == 1
    assert error("modes:\n  m: {steps: x}") == (
        "agents/ops/AGENT.md:3: modes.m.steps must be a whole number from 0 to 1000, not 'x'"
    )


def test_m13_a_mode_can_be_strict_too() -> None:
    assert error("modes:\n  m:\n    steps: 3\n    policy: {strict: true}\n    budget: {model_calls: 1}") == snapshot(
        "agents/ops/AGENT.md:5: modes.m.policy.strict asks for all; missing: modes.m.policy.model_timeout_seconds, \
modes.m.budget.tool_calls, modes.m.budget.total_steps, modes.m.budget.write_calls, modes.m.budget.input_bytes, \
modes.m.budget.output_tokens, modes.m.budget.total_tokens, modes.m.budget.deadline_seconds"
    )


def test_m15_what_the_agents_budget_names_bounds_every_mode() -> None:
    read = agent("budget: {tool_calls: 6, total_tokens: 900}\nmodes:\n  m: {policy: free, budget: {tool_calls: 99}}")
    in_mode = read.in_mode("m")
    assert in_mode.policy.limits == replace(PRESETS["free"].limits, tool_calls=6, total_tokens=900)
    assert (in_mode.origins["limits.tool_calls"], in_mode.origins["limits.total_tokens"]) == ("AGENT.md:2",) * 2
    assert in_mode.origins["limits.model_calls"] == "preset free"
    assert policy_in("m", "budget: {tool_calls: 6}\nmodes:\n  m: {budget: {tool_calls: 2}}").limits == Limits(
        tool_calls=2
    )


def test_an_agent_that_confirms_writes_confirms_them_in_every_mode() -> None:
    assert policy_in("m", "policy: free\nmodes:\n  m: {policy: standard}") == LoopPolicy(confirm_writes=True)
    assert error("policy: free\nmodes:\n  m: {policy: {confirm_writes: false}}") == (
        "agents/ops/AGENT.md:4: modes.m.policy.confirm_writes must be true, as for the agent, not false"
    )


def test_c13_what_the_skills_block_says_holds_in_every_mode_that_does_not_say_otherwise() -> None:
    modes = "modes:\n  a: {policy: persistent}\n  b: {policy: {preset: standard, skills_mode: inline}}"
    read = agent(f"skills: {{mode: pointer}}\n{modes}")
    assert [read.in_mode(name).policy.skills_mode for name in "ab"] == ["pointer", "inline"]
    assert agent(modes).in_mode("a").policy.skills_mode == "inline"


def test_what_is_wrong_with_a_mode_is_named_with_file_line_and_key() -> None:
    assert error(
        """\
tools: [grep]
modes:
  New: {}
  a b: {}
  reason: quick
  one:
    tools: [grep, write_file]
    aliases: [/go, two words, ok, ok]
    polcy: standard
    steps: 1
    policy: {max_steps: 2, preset: quick}
    budget: {tool_calls: -1}
    instructions: [Do it]
  two: {aliases: [ok]}
route: always"""
    ) == snapshot("""\
agents/ops/AGENT.md:4: modes: /new is a command of the chat already; rename the mode
agents/ops/AGENT.md:5: modes: 'a b' cannot name a mode (letters, digits, '_' and '-', at most 64); rename it
agents/ops/AGENT.md:6: modes.reason must be a table of keys, not 'quick'
agents/ops/AGENT.md:8: modes.one.tools names 'write_file', which the agent does not list; it has: grep
agents/ops/AGENT.md:9: modes.one.aliases names 'ok' twice
agents/ops/AGENT.md:9: modes.one.aliases must be words without blanks that do not begin with '/', not '/go'
agents/ops/AGENT.md:9: modes.one.aliases must be words without blanks that do not begin with '/', not 'two words'
agents/ops/AGENT.md:10: unknown key 'modes.one.polcy'; did you mean 'modes.one.policy'?
agents/ops/AGENT.md:11: modes.one.steps and modes.one.policy.max_steps are one setting; keep one of them
agents/ops/AGENT.md:12: modes.one.policy.preset must be 'standard', 'persistent', 'compact', 'reasoning', 'question' \
or 'free', not 'quick'
agents/ops/AGENT.md:13: modes.one.budget.tool_calls must be a whole number from 0 to 1000000000, not -1
agents/ops/AGENT.md:14: modes.one.instructions must be a text, not a list
agents/ops/AGENT.md:15: modes.two.aliases has 'ok', which is an alias of the mode 'one'; keep one
agents/ops/AGENT.md:16: route must be 'auto', not 'always'\
""")


@pytest.mark.parametrize("name", CHAT_COMMANDS)
def test_no_mode_takes_the_name_of_a_chat_command(name: str) -> None:
    assert f"/{name} is a command of the chat already" in error(f"modes:\n  {name}: {{}}")


def test_m5_routing_needs_a_mode_that_says_what_it_is_for() -> None:
    assert error("modes:\n  m: {}\nroute: auto") == snapshot(
        "agents/ops/AGENT.md:4: route: auto needs a mode that says what it is for; give one under modes, with a \
description"
    )
    assert agent("modes:\n  m: {description: x}").routes == ()


def test_m25_in_a_mode_for_reasoning_the_tools_left_out_are_noted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLS, "grep", replace(GREP, effect="pure", for_reasoning="Look for words."))
    desk.agent("tools: [grep, read_file]\nmodes:\n  m: {policy: reasoning}\n  n: {policy: question, tools: [grep]}")
    assert [tool.description for tool in desk.agents.load("ops", "m").tools] == ["Look for words."]
    assert len(desk.agents.load("ops").tools) == 2
    assert desk.agents.validate("ops").notes == snapshot(
        (
            "agents/ops/AGENT.md:2: mode 'm' does without read_file: with policy.catalogue 'for_reasoning' it has only \
tools that say what they are for there",
        )
    )


def test_m3_a_command_is_a_phrase_and_the_call_it_makes(desk: Desk) -> None:
    desk.agent(SETTINGS)
    commands = desk.agents.load("ops", "plain").commands
    call = ToolCall(id=CallId("c1"), name="grep", arguments={"path": ".", "pattern": "error 42"})
    assert command_call(commands, "Look up  error 42", CallId("c1")) == call
    assert command_call(commands, "status now", CallId("c1")) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            "commands:\n  a: {tool: find, arguments: {pfad: x}}",
            r":4: commands\.a gives 'find' 'pfad', .*: path",
        ),
        ("commands:\n  a: {tool: find}", r":4: commands\.a does not give 'find' 'path', which it needs"),
        ("policy: reasoning\ncommands:\n  a: {tool: find, rest: path}", r":5: commands\.a runs 'find', .* leaves out"),
        (
            "modes:\n  m: {aliases: [go]}\ncommands:\n  Go on: {tool: find, rest: path}",
            r"begins with 'go', what",
        ),
        (
            "modes:\n  m: {steps: 0}\ncommands:\n  /m: {tool: find, rest: path}",
            r"begins with '/m', what chooses",
        ),
        ("commands:\n  /new x: {tool: find, rest: path}", r"begins with '/new', a command of the chat"),
    ],
)
def test_a_command_that_could_never_run_is_an_error_at_load(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, settings: str, message: str
) -> None:
    """M-3: what its tool does not take or has to have, a tool left out, a phrase that means something else already."""
    parameters: JsonObject = {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    }
    monkeypatch.setitem(TOOLS, "find", replace(GREP, name="find", parameters=parameters))
    desk.agent(f"tools: [find]\n{settings}")
    with pytest.raises(ConfigError, match=message):
        desk.agents.load("ops")


def test_what_is_wrong_with_a_command_is_named_with_file_line_and_key(desk: Desk) -> None:
    assert error(
        """\
tools: [grep]
commands:
  a: {arguments: {x: 1}}
  b: grep
  c: {tool: grep, arguments: [1], rset: x}
  A: {tool: grep, rest: 1}
  " ": {tool: grep}"""
    ) == snapshot("""\
agents/ops/AGENT.md:4: commands.a.tool is missing; name the tool that the phrase runs
agents/ops/AGENT.md:5: commands.b must be a table of keys, not 'grep'
agents/ops/AGENT.md:6: unknown key 'commands.c.rset'; did you mean 'commands.c.rest'?
agents/ops/AGENT.md:6: commands.c.arguments must be a table of keys, not a list
agents/ops/AGENT.md:7: commands: 'A' is the same phrase as 'a'; keep one
agents/ops/AGENT.md:7: commands.A.rest must be a text (put it in "quotes"), not 1
agents/ops/AGENT.md:8: commands: a phrase must not be blank\
""")
    desk.agent("tools: [grep]\ncommands:\n  a: {tool: grep}\n  b: {tool: read_file}")
    with pytest.raises(ConfigError) as caught:
        desk.agents.load("ops")
    wrong = (
        "agents/ops/AGENT.md:5: commands.b runs 'read_file', which the agent does not list, or its policy leaves out; "
        "it has: grep"
    )
    assert str(caught.value) == wrong
    assert desk.agents.validate("ops").problems == (wrong,)


DELEGATE = ToolSpec(
    name="delegate",
    description="Give another agent an input.",
    parameters={
        "type": "object",
        "properties": {"agent": {"type": "string"}, "input": {"type": "string"}},
        "required": ["agent", "input"],
    },
)


def test_delegates_are_the_only_agents_that_the_tool_may_be_given_to(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOOLS, "delegate", DELEGATE)
    desk.agent("description: Finds\n  things", name="scout")
    desk.agent("tols: []", name="broken")
    desk.agent("tools: [delegate]\ndelegates: [scout, broken, nobody]\nmodes:\n  m: {tools: [delegate]}")
    properties = {"agent": {"type": "string", "enum": ["scout", "broken", "nobody"]}, "input": {"type": "string"}}
    narrowed = replace(
        DELEGATE,
        description="Give another agent an input.\n\nAgents:\n- scout: Finds things\n- broken\n- nobody",
        parameters={**DELEGATE.parameters, "properties": properties},
    )
    assert desk.agents.load("ops").tools == desk.agents.load("ops", "m").tools == (narrowed,)
    assert "enum" not in str(DELEGATE.parameters), "the tool itself is as it was"
    assert desk.agents.validate("ops").notes == (
        "agents/ops/AGENT.md: delegates names 'nobody', which is no agent of this workspace",
    )
    desk.agent("description: Seeks", name="scout")
    assert "- scout: Seeks\n" in desk.agents.load("ops").tools[0].description


def test_delegates_and_the_tool_belong_together() -> None:
    assert error("tools: [delegate]") == snapshot(
        "agents/ops/AGENT.md:2: tools lists 'delegate', so delegates must name the agents that it may be given to"
    )
    assert error("tools: [delegate]\ndelegates: []") == snapshot(
        "agents/ops/AGENT.md:3: tools lists 'delegate', so delegates must name the agents that it may be given to"
    )
    assert error("tools: [grep]\ndelegates: [scout]") == snapshot(
        "agents/ops/AGENT.md:3: delegates is of use only to the tool 'delegate', which tools does not list"
    )


def test_an_edit_whose_mode_cannot_be_used_leaves_the_last_good_version_in_force(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M-18, O39: an agent is taken with all its modes, or not at all."""
    monkeypatch.setitem(TOOLS, "answer", replace(GREP, name="answer"))
    desk.agent("tools: [answer]", "Version one.")
    assert desk.agents.load("ops").instructions == "Version one."
    desk.agent("tools: [answer]\nroute: auto\nmodes:\n  small: {policy: compact, description: Small.}", "Version two.")
    assert desk.agents.load("ops").instructions == "Version one."
    assert "a JSON action named 'answer' is an answer" in desk.reports[-1]
    [listed] = desk.agents.list()
    assert "a JSON action named 'answer' is an answer" in str(listed.problem)


def test_a_command_is_not_hidden_by_an_alias_that_may_stand_right_before_a_request(desk: Desk) -> None:
    """M-3, M-6: in a script without blanks, an alias takes whatever begins with it."""
    desk.agent("tools: [grep]\nmodes:\n  m: {aliases: [\u5206]}\ncommands:\n  \u5206\u6790: {tool: grep}")
    with pytest.raises(ConfigError, match="begins with '\u5206', what chooses the mode 'm'"):
        desk.agents.load("ops")
