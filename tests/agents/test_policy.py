"""The loop policy as an AGENT.md says it: presets, changes, limits, strictness, and where each value came from."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from oribi.agents.agent import AgentFile, parse_agent
from oribi.agents.workspace import Workspace
from oribi.core.budget import Limits
from oribi.core.errors import ConfigError
from oribi.core.policy import PRESETS, LoopPolicy
from oribi.ports import AgentSnapshot
from tests.agents.test_loader import TOOLS, Desk


def agent(settings: str) -> AgentFile:
    source = f"---\n{settings}\n---\nBe brief.\n".encode()
    return parse_agent(source, folder="ops", file="agents/ops/AGENT.md", environment={})


def policy(settings: str) -> LoopPolicy:
    return agent(settings).policy


def error(settings: str) -> str:
    with pytest.raises(ConfigError) as caught:
        agent(settings)
    return str(caught.value)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("preset", "rounds", "model_calls", "tool_calls", "total_steps", "deadline", "timeout"),
    [("reasoning", 3, 4, 8, 14, 60, 12), ("question", 6, 6, 9, 20, 90, 20), ("free", 6, 6, 16, 32, 90, 30)],
)
def test_m7_the_18_numbers_reach_a_turn_through_agent_md(
    desk: Desk,
    preset: str,
    rounds: int,
    model_calls: int,
    tool_calls: int,
    total_steps: int,
    deadline: float,
    timeout: float,
) -> None:
    desk.agent(f"policy: {preset}")
    found = desk.agents.load("ops").policy
    assert (
        found.max_steps,
        found.limits.model_calls,
        found.limits.tool_calls,
        found.limits.total_steps,
        found.limits.deadline_seconds,
        found.model_timeout_seconds,
    ) == (rounds, model_calls, tool_calls, total_steps, deadline, timeout)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_taken_whole_by_its_name_or_in_a_table(preset: str) -> None:
    assert policy(f"policy: {preset}") == policy(f"policy: {{preset: {preset}}}") == PRESETS[preset]


EVERY_FIELD: dict[str, Any] = {
    "protocol": "json_action",
    "action_form": "action",
    "calls_per_step": "one",
    "parallel_calls": 4,
    "max_steps": 7,
    "cap_outcome": "final_only",
    "degrade": "wrap_up",
    "max_asks": 9,
    "retry_seconds": 0.5,
    "longest_wait_seconds": 45.0,
    "max_notices": 5,
    "max_starts": 6,
    "tool_attempts": 2,
    "tool_retry_seconds": 0.25,
    "failures": {"grep": "terminal", "read_file": "recoverable"},
    "repeat": "remind",
    "remind_after": 4,
    "catalogue": "for_reasoning",
    "confirm_writes": True,
    "max_depth": 0,
    "max_history_turns": 8,
    "token_budget": 1234,
    "keep_messages": 6,
    "estimator": "chars4",
    "summary": "extractive",
    "memory_characters": 900,
    "memory_scope": "principal",
    "result_characters": 901,
    "skills_mode": "inline",
    "prompt_order": ("bootstrap", "skills", "instructions"),
    "datetime_line": False,
    "prompt_snapshot": True,
    "store_reasoning": "never",
    "model_timeout_seconds": 30.0,
    "busy": "steer",
}
EVERY_LIMIT: dict[str, Any] = {
    "model_calls": 4,
    "tool_calls": 8,
    "total_steps": 14,
    "write_calls": 0,
    "input_bytes": 65_536,
    "output_tokens": 1_536,
    "total_tokens": 262_144,
    "deadline_seconds": 60.0,
}


def test_c25_every_field_of_the_policy_and_every_limit_can_be_set_and_none_is_forgotten() -> None:
    """M-14, M-15, O-26, O-28: all that the documents bound is a field of the file; C-14: the prompt's order too."""
    lines = [f"  {key}: {json.dumps(value)}" for key, value in EVERY_FIELD.items()]
    budget = [f"  {key}: {value}" for key, value in EVERY_LIMIT.items()]
    read = agent("\n".join(["policy:", *lines, "budget:", *budget]))
    assert {*EVERY_FIELD, "limits"} == {field.name for field in fields(LoopPolicy)}
    assert set(EVERY_LIMIT) == {field.name for field in fields(Limits)}
    assert read.policy == LoopPolicy(**EVERY_FIELD, limits=Limits(**EVERY_LIMIT))
    assert not [name for name, origin in read.origins.items() if not origin.startswith("AGENT.md:")]


def test_c25_a_partial_block_keeps_what_it_does_not_name() -> None:
    """O-28: a partial block is completed; the limits of `budget` go over those of the preset, key by key."""
    read = policy("policy: {preset: reasoning, repeat: block}\nbudget: {tool_calls: 5, write_calls: 2}")
    preset = PRESETS["reasoning"]
    limits = replace(preset.limits, tool_calls=5, write_calls=2)
    assert read == replace(preset, repeat="block", limits=limits)
    assert policy("settings: { max_iterations: 4 }") == LoopPolicy(max_steps=4), "O-26"
    assert policy("settings: { max_history_turns: 3 }") == LoopPolicy(max_history_turns=3), "O-28"
    assert policy("policy: compact\nsettings: { max_iterations: 4 }") == replace(PRESETS["compact"], max_steps=4)


def test_c9_a_token_budget_can_be_taken_away() -> None:
    assert PRESETS["compact"].token_budget == 1_000
    assert policy("policy: {preset: compact, token_budget: none}").token_budget is None


def test_what_is_wrong_with_a_policy_is_named_with_file_line_and_key() -> None:
    assert error(
        """\
policy:
  preset: slow
  protocol: xml
  parallel_calls: 0
  max_steps: 1001
  tool_attempts: yes
  failures: {grep: fatal, read_file: terminal}
  remind_after: 1
  catalogue: all
  max_depth: 11
  token_budget:
  keep_messages: few
  prompt_order: [skills, bootstrap]
  max_step: 3
  strict: maybe
budget: {write_calls: -1, money: 3, input_bytes: 1.5}"""
    ) == snapshot("""\
agents/ops/AGENT.md:3: policy.preset must be 'standard', 'persistent', 'compact', 'reasoning', 'question' or 'free', \
not 'slow'
agents/ops/AGENT.md:4: policy.protocol must be 'native' or 'json_action', not 'xml'
agents/ops/AGENT.md:5: policy.parallel_calls must be a whole number from 1 to 100, not 0
agents/ops/AGENT.md:6: policy.max_steps must be a whole number from 0 to 1000, not 1001
agents/ops/AGENT.md:7: policy.tool_attempts must be a whole number from 1 to 20, not 'yes'
agents/ops/AGENT.md:8: policy.failures.grep must be 'model_visible', 'recoverable' or 'terminal', not 'fatal'
agents/ops/AGENT.md:9: policy.remind_after must be a whole number from 2 to 100, not 1
agents/ops/AGENT.md:10: policy.catalogue must be 'listed' or 'for_reasoning', not 'all'
agents/ops/AGENT.md:11: policy.max_depth must be a whole number from 0 to 10, not 11
agents/ops/AGENT.md:12: policy.token_budget must be a whole number from 1 to 1000000000, or none, not empty
agents/ops/AGENT.md:13: policy.keep_messages must be a whole number from 1 to 1000, not 'few'
agents/ops/AGENT.md:14: policy.prompt_order must name each of instructions, bootstrap, skills once, not \
[skills, bootstrap]
agents/ops/AGENT.md:15: unknown key 'policy.max_step'; did you mean 'policy.max_steps'?
agents/ops/AGENT.md:16: policy.strict must be true or false, not 'maybe'
agents/ops/AGENT.md:17: unknown key 'budget.money'; known keys: model_calls, tool_calls, total_steps, write_calls, \
input_bytes, output_tokens, total_tokens, deadline_seconds
agents/ops/AGENT.md:17: budget.write_calls must be a whole number from 0 to 1000000000, not -1
agents/ops/AGENT.md:17: budget.input_bytes must be a whole number from 1 to 1000000000, not 1.5\
""")


@pytest.mark.parametrize("preset", ["reasoning", "question", "free"])
@pytest.mark.parametrize("steps", ["many", "-1", "", "2.5", "true", "'4'", "1001"])
def test_m12_an_invalid_step_count_becomes_3_with_a_warning_in_the_game_presets(
    desk: Desk, preset: str, steps: str
) -> None:
    """C-25."""
    desk.agent(f"tools: []\npolicy:\n  preset: {preset}\n  max_steps: {steps}")
    assert desk.agents.load("ops").policy == replace(PRESETS[preset], max_steps=3)
    desk.agents.load("ops")
    (warning,) = desk.reports
    assert warning.startswith("agents/ops/AGENT.md:5: policy.max_steps must be a whole number from 0 to 1000, not ")
    assert warning.endswith("; it counts as 3")
    assert desk.agents.validate("ops").problems == ()
    assert desk.agents.validate("ops").notes[0] == warning


@pytest.mark.parametrize("preset", ["standard", "persistent", "compact"])
def test_m12_elsewhere_an_invalid_step_count_is_an_error(preset: str) -> None:
    assert error(f"policy:\n  preset: {preset}\n  max_steps: many") == (
        "agents/ops/AGENT.md:4: policy.max_steps must be a whole number from 0 to 1000, not 'many'"
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_m12_no_steps_at_all_are_allowed_and_without_a_number_the_presets_counts(preset: str) -> None:
    assert policy(f"policy: {{preset: {preset}, max_steps: 0}}") == replace(PRESETS[preset], max_steps=0)
    assert policy(f"policy: {{preset: {preset}, datetime_line: true}}").max_steps == PRESETS[preset].max_steps


COMPLETE = "policy: {preset: reasoning, strict: true, max_steps: 3, model_timeout_seconds: 12}\nbudget: " + (
    "{" + ", ".join(f"{key}: {value}" for key, value in EVERY_LIMIT.items()) + "}"
)


def test_m13_a_strict_policy_is_a_complete_object() -> None:
    """M-13, M-14: with the document's own example values, which are those of its preset."""
    assert policy(COMPLETE) == PRESETS["reasoning"]
    assert error("policy: {preset: reasoning, strict: true, max_steps: 4}\nbudget: {tool_calls: 3}") == snapshot(
        "agents/ops/AGENT.md:2: policy.strict asks for all; missing: policy.model_timeout_seconds, budget.model_calls, \
budget.total_steps, budget.write_calls, budget.input_bytes, budget.output_tokens, budget.total_tokens, \
budget.deadline_seconds"
    )
    assert policy("policy: {preset: reasoning, strict: false, max_steps: 4}").max_steps == 4


@pytest.mark.parametrize("name", [*EVERY_LIMIT, "max_steps", "model_timeout_seconds"])
def test_m13_m14_each_of_the_ten_is_missed(name: str) -> None:
    where = "budget" if name in EVERY_LIMIT else "policy"
    value = EVERY_LIMIT.get(name, {"max_steps": 3}.get(name, 12))
    text = COMPLETE.replace(f", {name}: {value}", "").replace(f"{name}: {value}, ", "")
    assert text != COMPLETE
    assert error(text) == f"agents/ops/AGENT.md:2: policy.strict asks for all; missing: {where}.{name}"


def test_one_setting_under_two_names_is_refused() -> None:
    assert error(
        "policy: {skills_mode: inline, max_history_turns: 1}\nskills: {mode: pointer}\nsettings: {max_history_turns: 1}"
    ) == snapshot("""\
agents/ops/AGENT.md:3: skills.mode and policy.skills_mode are one setting; keep one of them
agents/ops/AGENT.md:4: settings.max_history_turns and policy.max_history_turns are one setting; keep one of them\
""")


def test_where_each_value_comes_from_is_known() -> None:
    origins = agent(
        """\
settings: {max_iterations: 4}
policy:
  preset: question
  repeat: block
skills:
  mode: inline
budget:
  tool_calls: 5"""
    ).origins
    assert {name: origins[name] for name in origins if origins[name] != "preset question"} == {
        "max_steps": "settings, AGENT.md:2",
        "repeat": "AGENT.md:5",
        "skills_mode": "skills, AGENT.md:7",
        "limits.tool_calls": "AGENT.md:9",
    }
    assert origins.keys() == {*EVERY_FIELD, *(f"limits.{name}" for name in EVERY_LIMIT)}
    assert set(agent("").origins.values()) == {"preset standard"}


def test_c13_skills_mode_decides_and_the_skills_block_wins_over_a_preset(desk: Desk) -> None:
    """O-15, Y-5: the preset `persistent` writes bodies out, unless the agent says otherwise."""
    desk.write("skills/one/SKILL.md", "---\ndescription: One\n---\nBODY")
    for settings, has_body in (
        ("", False),
        ("policy: persistent", True),
        ("policy: persistent\nskills: {mode: pointer}", False),
        ("skills: {mode: inline}", True),
        ("policy: {skills_mode: inline}", True),
        ("policy: persistent\nskills: [one]", True),
    ):
        desk.agent(settings)
        assert ("BODY" in desk.read().skills) == has_body, settings
        assert "one: One" in desk.read().skills, settings


def test_a_tool_whose_name_is_an_answer_cannot_be_had_as_a_json_action(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-1, T-8: {"action": "final"} ends the turn; natively the name is as good as any."""
    monkeypatch.setitem(TOOLS, "final", replace(TOOLS["grep"], name="final"))
    desk.agent("tools: [final]\npolicy: {protocol: json_action}")
    with pytest.raises(
        ConfigError,
        match=r"AGENT\.md:2: tools: a JSON action named 'final' is an answer",
    ):
        desk.agents.load("ops")
    desk.agent("tools: [final]")
    assert [tool.name for tool in desk.agents.load("ops").tools] == ["final"]


def test_m25_in_reasoning_only_tools_that_declare_themselves_are_there_under_what_they_say(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M-26, M-34, C-22: an undeclared tool, a search for example, is never there; nor is a declared one not listed."""
    declared = replace(TOOLS["grep"], effect="pure", for_reasoning="Look for words in the files.")
    lying = replace(TOOLS["grep"], name="rm", effect="once", for_reasoning="Remove")
    unlisted = replace(declared, name="look")
    for spec in (declared, lying, unlisted):
        monkeypatch.setitem(TOOLS, spec.name, spec)
    monkeypatch.setitem(TOOLS, "web_search", replace(TOOLS["read_file"], name="web_search", effect="pure"))
    desk.agent("tools:\n  - web_search\n  - grep\n  - rm\npolicy: reasoning")
    assert desk.agents.load("ops").tools == (replace(declared, description="Look for words in the files."),)
    assert desk.agents.validate("ops").notes == snapshot(
        (
            "agents/ops/AGENT.md:3: the agent does without web_search, rm: with policy.catalogue 'for_reasoning' it \
has only tools that say what they are for there",
        )
    )
    desk.agent("tools: [grep, web_search]\npolicy: {preset: reasoning, catalogue: listed}")
    assert [tool.name for tool in desk.agents.load("ops").tools] == ["grep", "web_search"]
    assert desk.agents.load("ops").tools[0].description == "Search"


def test_m39_the_workspace_says_how_a_json_action_is_written_and_an_edit_counts_at_once(desk: Desk) -> None:
    desk.agent("policy: compact")
    assert desk.read().actions == ""
    desk.write("prompts/json_action.md", "\nOne object a step.\n")
    read = desk.read()
    assert (read.actions, read.sources) == ("One object a step.", (".oribi/prompts/json_action.md",))
    assert desk.read(LoopPolicy()).actions == "", "only where the protocol is JSON actions"
    desk.write("prompts/json_action.md", "x" * 20_001)
    assert desk.read().actions == (
        "x" * 20_000 + "\n[cut here after 20,000 of 20,001 characters; the rest is in .oribi/prompts/json_action.md]"
    )


def test_g13_the_prompt_of_json_actions_is_part_of_the_lock(desk: Desk) -> None:
    desk.agent("policy: compact")
    locks = [desk.agents.load("ops").lock]
    for text in ("One.", "Two."):
        desk.write("prompts/json_action.md", text)
        locks.append(desk.agents.load("ops").lock)
    prompts = [lock["prompt"] for lock in locks if lock]
    assert ["actions" in prompt for prompt in prompts if isinstance(prompt, dict)] == [False, True, True]
    assert locks[1] != locks[2]
    assert json.loads(json.dumps(locks)) == locks, "a lock read from its file is the one that was written"


@pytest.mark.parametrize(
    ("scope", "there", "text"),
    [
        ("agent", {"own", "global", "ann"}, "own"),
        ("agent", {"global", "ann"}, "global"),
        ("agent", {"ann"}, ""),
        ("global", {"own", "global", "ann"}, "global"),
        ("global", {"own", "ann"}, ""),
        ("principal", {"own", "global", "ann"}, "ann"),
        ("principal", {"own", "global"}, ""),
    ],
)
def test_c12_whose_memory_a_prompt_holds_is_the_policys_choice(
    desk: Desk, scope: str, there: set[str], text: str
) -> None:
    files = {"own": "agents/ops/MEMORY.md", "global": "memory/MEMORY.md", "ann": "memory/principals/ann/MEMORY.md"}
    desk.agent(f"policy: {{memory_scope: {scope}}}")
    for name in there:
        desk.write(files[name], f"- {name}")
    read = desk.read()
    assert read.memory == (f"# MEMORY.md\n\n- {text}" if text else "")
    assert read.sources == ((f".oribi/{files[text]}",) if text else ())
    lock = desk.agents.load("ops").lock or {}
    assert lock["bootstrap"] == {}, "what was learned is no part of the lock"


def test_c12_no_persons_memory_is_anothers_and_no_name_leads_elsewhere(desk: Desk) -> None:
    desk.agent("policy: {memory_scope: principal}")
    names = ["ann", "Ann", "a/nn", "a%2fnn", ".", "..", "../../agents/ops", "é", "e\u0301", "x" * 300, "x" * 301, " "]
    names += ["\0", "telegram:7", "%61nn", "\udc80"]
    paths = {name: Workspace(root=desk.home.parent, home=desk.home).memory_of(name) for name in names}
    folders = {path.parent.name.casefold() for path in paths.values()}
    assert len(folders) == len(names)
    assert {path.parent.parent for path in paths.values()} == {desk.home / "memory" / "principals"}
    assert not [folder for folder in folders if folder.startswith(".") or len(folder) > 255]
    for number, path in enumerate(paths.values()):
        path.parent.mkdir(parents=True)
        path.write_text(f"- {number}")
    for number, name in enumerate(names):
        assert desk.read(principal=name).memory == f"# MEMORY.md\n\n- {number}"
    assert desk.read(principal="").memory == ""


def test_two_policies_and_two_people_of_one_agent_do_not_read_again_what_the_other_has_read(desk: Desk) -> None:
    desk.agent("")
    desk.write("SOUL.md", "Be kind.")
    ways: list[tuple[LoopPolicy, str]] = [
        (LoopPolicy(), "ann"),
        (PRESETS["compact"], "ann"),
        (LoopPolicy(skills_mode="inline"), "ann"),
        (LoopPolicy(memory_characters=5), "ann"),
        (LoopPolicy(memory_scope="principal"), "ann"),
        (LoopPolicy(memory_scope="principal"), "bob"),
    ]
    first = [desk.read(policy, principal=who) for policy, who in ways]
    assert all(desk.read(policy, principal=who) is read for (policy, who), read in zip(ways, first, strict=True))
    desk.write("SOUL.md", "Be brief.")
    assert {desk.read(policy, principal=who).bootstrap for policy, who in ways} == {"# SOUL.md\n\nBe brief."}


def test_the_files_kept_for_people_have_a_bound(desk: Desk) -> None:
    desk.agent("")
    policy = LoopPolicy(memory_scope="principal")
    first = desk.read(policy, principal="ann")
    for number in range(300):
        desk.read(policy, principal=str(number))
    assert desk.read(policy, principal="299") is desk.read(policy, principal="299")
    assert desk.read(policy, principal="ann") is not first


def test_a_reload_says_what_is_wrong_and_the_last_good_version_goes_on(desk: Desk) -> None:
    desk.agent("tools: []", "GOOD")
    desk.agents.load("ops")
    desk.agent("tols: []", "BAD")
    with pytest.raises(ConfigError, match=r"^agents/ops/AGENT\.md:2: unknown key 'tols'; did you mean 'tools'\?$"):
        desk.agents.reload("ops")
    assert desk.agents.load("ops").instructions == "GOOD"
    assert desk.reports == [], "who asked was told"
    desk.agent("tools: []", "BETTER")
    found: AgentSnapshot = desk.agents.reload("ops")
    assert found.instructions == "BETTER"


def test_a_reload_reads_an_agents_files_again_also_those_that_look_unchanged(desk: Desk) -> None:
    desk.agent("")
    desk.write("SOUL.md", "Be kind.")
    desk.write("skills/bad/SKILL.md", "---\nname: [\n---\n")
    first = desk.read()
    desk.agents.reload("ops")
    assert desk.read() is not first
    assert len(desk.reports) == 2, "the broken skill is named again"


def test_the_values_that_prove_a_field_is_read_are_none_of_the_defaults() -> None:
    assert [name for name, value in EVERY_FIELD.items() if getattr(LoopPolicy(), name) == value] == []
