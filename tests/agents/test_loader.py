"""Agents from a real workspace: loading, editing, breaking, listing, and what of their files enters a prompt."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from oribi.agents.loader import AgentFiles, AgentListing
from oribi.agents.workspace import Workspace
from oribi.core.calls import JsonObject, ToolSpec
from oribi.core.errors import ConfigError
from oribi.core.events import FilesRead
from oribi.core.messages import ModelChoice
from oribi.core.policy import LoopPolicy
from oribi.ports import Agents, AgentSnapshot

GREP = ToolSpec(name="grep", description="Search", parameters={"type": "object"})
READ = ToolSpec(name="read_file", description="Read", parameters={"type": "object"})
TOOLS = {tool.name: tool for tool in (GREP, READ)}


class Desk:
    """A workspace on disk, its agents, and what they reported."""

    def __init__(self, root: Path, name: str = ".oribi") -> None:
        self.home = root / name
        self.reports: list[str] = []
        (self.home / "agents").mkdir(parents=True)
        self.agents = AgentFiles(
            Workspace(root=root, home=self.home),
            environment={"WHO": "Olga"},
            specs=specs,
            choose=choose,
            report=self.reports.append,
        )

    def write(self, path: str, text: str | bytes) -> Path:
        """Put a file into the workspace, new or replaced by rename as editors do."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(".draft")
        draft.write_bytes(text.encode() if isinstance(text, str) else text)
        draft.replace(file)
        return file

    def agent(self, settings: str, body: str = "Be brief.", name: str = "ops") -> Path:
        return self.write(f"agents/{name}/AGENT.md", f"---\n{settings}\n---\n{body}\n")

    def read(self, policy: LoopPolicy | None = None, *, principal: str = "ann", name: str = "ops") -> FilesRead:
        """The prompt's files under `policy`; default: the agent's own, or the standard one if it cannot be loaded."""
        if policy is None:
            try:
                policy = self.agents.load(name).policy
            except ConfigError:
                policy = LoopPolicy()
        return self.agents.read_files(name, policy, principal)


def specs(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    for name in names:
        if name not in TOOLS:
            raise ConfigError(f"no tool named {name!r}; there are: {', '.join(TOOLS)}")
    return tuple(TOOLS[name] for name in names)


def choose(ref: str | None, parameters: JsonObject) -> ModelChoice:
    provider, _, name = (ref or "scripted:demo").partition(":")
    if provider == "nobody":
        raise ConfigError("no provider named 'nobody'; there are: scripted")
    return ModelChoice(provider=provider, name=name, wire="scripted", parameters=parameters)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def error(agents: AgentFiles, name: str = "ops") -> str:
    with pytest.raises(ConfigError) as caught:
        agents.load(name)
    return str(caught.value)


def test_an_agent_is_loaded_as_a_turn_sees_it(desk: Desk) -> None:
    """O-11, O-14, O-26: the body is the system text, the tools are those listed, the settings the policy."""
    port: Agents = desk.agents
    desk.agent(
        "description: Logs\nidentity: {prompt: 'You are ${WHO}.'}\ntools: [grep]\nsettings: {max_iterations: 4}",
        "Use ${WHO}.",
    )
    assert replace(port.load("ops"), lock=None) == AgentSnapshot(
        name="ops",
        description="Logs",
        model=ModelChoice(provider="scripted", name="demo", wire="scripted"),
        policy=LoopPolicy(max_steps=4),
        tools=(GREP,),
        instructions="You are Olga.\n\nUse ${WHO}.",
    )


def test_an_oryxos_workspace_runs_as_it_is(tmp_path: Path) -> None:
    """O-11, O-12: the documents' layout under its own name."""
    desk = Desk(tmp_path, ".oryxos")
    desk.agent(
        "name: ops\nprovider: {name: ollama, model: qwen3}\nsettings: { max_iterations: 10, max_history_turns: 20 }"
    )
    desk.write("SOUL.md", "Be kind.")
    desk.write("memory/MEMORY.md", "- shared\n")
    assert desk.agents.load("ops").model.ref == "ollama:qwen3"
    assert desk.read() == FilesRead(
        bootstrap="# SOUL.md\n\nBe kind.",
        skills="",
        memory="# MEMORY.md\n\n- shared",
        memory_read=9,
        sources=(".oryxos/SOUL.md", ".oryxos/memory/MEMORY.md"),
    )


def test_an_edit_counts_from_the_next_load_and_a_snapshot_stays(desk: Desk) -> None:
    """C-23, M-18: what a turn began with does not change under it (O39)."""
    desk.agent("tools: [grep]", "PROMPT-1")
    first = desk.agents.load("ops")
    desk.agent("tools: []", "PROMPT-2")
    second = desk.agents.load("ops")
    assert (first.instructions, first.tools) == ("PROMPT-1", (GREP,))
    assert (second.instructions, second.tools) == ("PROMPT-2", ())


def test_a_broken_edit_keeps_the_last_good_version_and_is_reported_once(desk: Desk) -> None:
    """O39, broken file and half-written file."""
    desk.agent("tools: [grep]", "PROMPT-1")
    good = desk.agents.load("ops")
    desk.write("agents/ops/AGENT.md", "---\nname: [\n---\n")
    assert [desk.agents.load("ops") for _ in range(3)] == [good] * 3
    assert desk.reports == snapshot(
        [
            """\
agents/ops/AGENT.md:3: the frontmatter is not YAML: did not find expected node content
agent 'ops' goes on with its last good version until the file is mended\
"""
        ]
    )
    desk.write("agents/ops/AGENT.md", "---\ntools: [read")
    assert desk.agents.load("ops") == good
    assert len(desk.reports) == 2
    desk.agent("tools: []", "PROMPT-2")
    assert desk.agents.load("ops").instructions == "PROMPT-2"
    assert len(desk.reports) == 2


@pytest.mark.parametrize("settings", ["tools: [raed]", "tools: [grep]\nmodel: nobody:x"])
def test_an_edit_that_names_what_does_not_exist_is_a_broken_edit(desk: Desk, settings: str) -> None:
    desk.agent("tools: [grep]")
    good = desk.agents.load("ops")
    desk.agent(settings)
    assert desk.agents.load("ops") == good
    assert len(desk.reports) == 1


def test_an_agent_does_not_disappear_while_an_editor_saves(desk: Desk) -> None:
    """O39: the file is away between an editor's two renames."""
    file = desk.agent("", "PROMPT-1")
    good = desk.agents.load("ops")
    file.unlink()
    assert desk.agents.load("ops") == good
    assert desk.reports == snapshot(
        [
            """\
agents/ops/AGENT.md: cannot be read: No such file or directory
agent 'ops' goes on with its last good version until the file is mended\
"""
        ]
    )
    desk.agent("", "PROMPT-2")
    assert desk.agents.load("ops").instructions == "PROMPT-2"


def test_an_agent_whose_folder_is_gone_is_gone_but_its_open_turn_still_has_its_files(desk: Desk) -> None:
    """O39, deleted during the turn."""
    file = desk.agent("bootstrap: [SOUL.md]", name="ops")
    desk.agent("", name="other")
    desk.write("SOUL.md", "Be kind.")
    desk.write("USER.md", "Ann")
    desk.agents.load("ops")
    file.unlink()
    file.parent.rmdir()
    assert desk.read().bootstrap == "# SOUL.md\n\nBe kind."
    assert error(desk.agents) == "no agent named 'ops'; this workspace has: other"


def test_an_edit_that_keeps_size_and_time_is_seen(desk: Desk) -> None:
    file = desk.agent("", "PROMPT-1")
    desk.agents.load("ops")
    before = file.stat()
    desk.agent("", "PROMPT-2")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert desk.agents.load("ops").instructions == "PROMPT-2"


def test_an_unknown_name_is_met_with_those_that_exist_and_never_becomes_a_path(desk: Desk) -> None:
    assert error(desk.agents) == snapshot(
        "no agent named 'ops'; this workspace has none yet: 'oribi agents new NAME' makes one"
    )
    desk.agent("", name="ops")
    desk.agent("", name="writer")
    assert error(desk.agents, "opps") == snapshot(
        "no agent named 'opps'; did you mean 'ops'? this workspace has: ops, writer"
    )
    desk.write("AGENT.md", "---\n---\nnot an agent")
    for name in ("..", "../agents/ops", "/etc", "ops/../ops", "", "a\0b"):
        assert error(desk.agents, name).startswith(f"no agent named {name!r}; ")


def test_an_agents_fallbacks_and_output_schema_reach_the_turn(desk: Desk) -> None:
    """C-7: they are models like the first, with the same parameters."""
    desk.agent(
        "model: ollama:a\nfallbacks: ['scripted:b', 'ollama:c:8b']\nparameters: {seed: 7}\noutput_schema: {type: array}"
    )
    snapshot_of_turn = desk.agents.load("ops")
    models = (snapshot_of_turn.model, *snapshot_of_turn.fallbacks)
    assert [(model.ref, model.parameters) for model in models] == [
        ("ollama:a", {"seed": 7}),
        ("scripted:b", {"seed": 7}),
        ("ollama:c:8b", {"seed": 7}),
    ]
    assert snapshot_of_turn.output_schema == {"type": "array"}


def test_a_fallback_that_does_not_exist_is_named_by_line_before_it_is_needed(desk: Desk) -> None:
    desk.agent("tools: []\nfallbacks: ['nobody:x']")
    assert error(desk.agents) == "agents/ops/AGENT.md:3: fallbacks: no provider named 'nobody'; there are: scripted"


def test_what_an_agent_names_and_what_does_not_exist_is_named_by_line(desk: Desk) -> None:
    desk.agent("model: nobody:x\ntools:\n  - grep\n  - raed\n  - reda")
    assert error(desk.agents) == snapshot(
        "agents/ops/AGENT.md:2: model: no provider named 'nobody'; there are: scripted"
    )
    desk.agent("tools:\n  - grep\n  - raed\n  - reda")
    assert error(desk.agents) == snapshot("""\
agents/ops/AGENT.md:4: tools: no tool named 'raed'; there are: grep, read_file
agents/ops/AGENT.md:5: tools: no tool named 'reda'; there are: grep, read_file\
""")


def test_one_broken_agent_hides_no_other(desk: Desk) -> None:
    """O38: a slip is named, the other agents load; nothing is skipped in silence."""
    good = desk.agent("description: Finds things\ntools: [grep]", name="scout")
    broken = desk.write("agents/latin/AGENT.md", b"---\nname: latin\ndescription: caf\xe9\n---\nBody\n")
    (desk.home / "agents" / "empty").mkdir()
    flat = desk.write("agents/flat.md", "---\n---\n")
    assert desk.agents.list() == (
        AgentListing(
            name="empty",
            description="",
            model=None,
            tools=(),
            file=desk.home / "agents" / "empty" / "AGENT.md",
            problem="agents/empty/AGENT.md: cannot be read: No such file or directory",
        ),
        AgentListing(
            name="flat.md",
            description="",
            model=None,
            tools=(),
            file=flat / "AGENT.md",
            problem="agents/flat.md: an agent is a folder; move it to agents/flat/AGENT.md",
        ),
        AgentListing(
            name="latin",
            description="",
            model=None,
            tools=(),
            file=broken,
            problem="agents/latin/AGENT.md:3: is not UTF-8 (byte 0xe9); save the file as UTF-8",
        ),
        AgentListing(name="scout", description="Finds things", model=None, tools=("grep",), file=good, problem=None),
    )
    assert desk.agents.load("scout").tools == (GREP,)


def test_validation_says_everything_at_once(desk: Desk) -> None:
    desk.agent("bootstrap: [RULES.md]\nskills: [nginx]\nschedules: []")
    desk.write("agents/ops/skills/bad/SKILL.md", "---\nname: [\n---\n")
    validation = desk.agents.validate("ops")
    assert validation.problems == snapshot(
        ("agents/ops/skills/bad/SKILL.md:3: the frontmatter is not YAML: did not find expected node content",)
    )
    assert validation.notes == snapshot(
        (
            "agents/ops/AGENT.md: tools is absent, so the agent has none; list the tools it may use",
            "agents/ops/AGENT.md:4: schedules is not served yet by this version; it has no effect",
            "agents/ops/AGENT.md: bootstrap names 'RULES.md', which is not there",
            "agents/ops/AGENT.md: skills names 'nginx', which does not exist; there is: bad",
        )
    )
    desk.agent("tols: []\nmodel: x")
    assert desk.agents.validate("ops").problems == snapshot(
        (
            "agents/ops/AGENT.md:2: unknown key 'tols'; did you mean 'tools'?",
            "agents/ops/AGENT.md:3: model must be 'provider:name', such as 'anthropic:claude-sonnet-4-5', not 'x'",
            "agents/ops/skills/bad/SKILL.md:3: the frontmatter is not YAML: did not find expected node content",
        )
    )
    desk.agent("tools: [raed]\nmodel: nobody:x")
    assert len(desk.agents.validate("ops").problems) == 3, "model, tools and a skill"
    desk.agent("tools: [grep]", name="fine")
    assert desk.agents.validate("fine") == replace(validation, problems=(), notes=())


def test_bootstrap_files_stand_in_order_under_their_names(desk: Desk) -> None:
    """O-5, O-11, Y-3: AGENTS.md, SOUL.md, USER.md, each if it is there."""
    desk.agent("")
    desk.write("USER.md", "Ann")
    desk.write("AGENTS.md", b"\xef\xbb\xbfTests: just test\r\n")
    desk.write("SOUL.md", "  \n")
    assert desk.read().bootstrap == "# AGENTS.md\n\nTests: just test\n\n# USER.md\n\nAnn"
    assert desk.read().sources == (".oribi/AGENTS.md", ".oribi/SOUL.md", ".oribi/USER.md")


@pytest.mark.parametrize(("bootstrap", "text"), [("false", ""), ("[]", ""), ("[RULES.md]", "# RULES.md\n\nrule")])
def test_an_agent_chooses_its_bootstrap_files(desk: Desk, bootstrap: str, text: str) -> None:
    desk.agent(f"bootstrap: {bootstrap}")
    desk.write("USER.md", "Ann")
    desk.write("RULES.md", "rule")
    assert desk.read().bootstrap == text


def test_a_bootstrap_file_is_capped_and_says_where_the_rest_is(desk: Desk) -> None:
    desk.agent("bootstrap: [SOUL.md]")
    desk.write("SOUL.md", "é" * 20_001)
    assert desk.read().bootstrap == (
        "# SOUL.md\n\n" + "é" * 20_000 + "\n[cut here after 20,000 of 20,001 characters; the rest is in .oribi/SOUL.md]"
    )


def test_an_agents_own_memory_goes_before_the_shared_one(desk: Desk) -> None:
    """O-12, C-12: agents/<name>/MEMORY.md, else memory/MEMORY.md."""
    desk.agent("")
    assert desk.read().memory == ""
    desk.write("memory/MEMORY.md", "- shared")
    assert (desk.read().memory, desk.read().sources) == ("# MEMORY.md\n\n- shared", (".oribi/memory/MEMORY.md",))
    desk.write("agents/ops/MEMORY.md", "- own")
    assert (desk.read().memory, desk.read().sources) == ("# MEMORY.md\n\n- own", (".oribi/agents/ops/MEMORY.md",))


def test_memory_is_cut_to_its_newest_entries_by_the_agents_policy_and_its_whole_length_is_known(desk: Desk) -> None:
    """O-12, O-29, O-31, C-11: the cut keeps the newest; what was read and what is sent can both be logged."""
    desk.agent("policy: {memory_characters: 12}")
    desk.write("agents/ops/MEMORY.md", "- first\n- second\n- third\n")
    read = desk.read()
    assert read.memory_read == 25
    assert "- third" in read.memory
    assert "- second" not in read.memory
    assert "- first" in desk.read(LoopPolicy()).memory, "a turn's frozen policy decides"


def test_the_default_memory_cap_is_4000_characters(desk: Desk) -> None:
    """O-12, O-29."""
    desk.agent("")
    desk.write("agents/ops/MEMORY.md", "".join(f"- entry {number:04}\n" for number in range(1000)))
    entries = [line for line in desk.read().memory.split("\n") if line.startswith("- ")]
    assert entries[-1] == "- entry 0999"
    assert 4_000 - 13 < sum(len(entry) + 1 for entry in entries) <= 4_000


def test_skills_are_pointed_to_and_never_injected(desk: Desk) -> None:
    """O-15, C-13: name, description and path; bodies and scripts stay outside the prompt."""
    desk.agent("")
    desk.write("agents/ops/skills/plain.md", "# How to page somebody\n\nBODY-1")
    desk.write("agents/ops/skills/own/SKILL.md", "---\nname: own\ndescription: >\n  Read\n  nginx logs\n---\nBODY-2")
    desk.write("skills/shared/SKILL.md", "---\ndescription: Write reports\nlicense: MIT\n---\nBODY-3")
    desk.write("skills/own/SKILL.md", "---\ndescription: hidden by the agent's own\n---\nBODY-4")
    desk.write("skills/README.md", "not a skill")
    desk.write("agents/ops/scripts/page.py", "BODY-5")
    read = desk.read()
    assert read.skills == snapshot("""\
# Skills

Before you do what a skill is for, read its file.

- own: Read nginx logs (.oribi/agents/ops/skills/own/SKILL.md)
- plain: How to page somebody (.oribi/agents/ops/skills/plain.md)
- shared: Write reports (.oribi/skills/shared/SKILL.md)\
""")
    assert "BODY" not in repr(read)


def test_inline_skills_put_the_bodies_of_the_named_ones_into_the_prompt(desk: Desk) -> None:
    """Y-5, C-13: referenced skill bodies."""
    desk.agent("skills: {mode: inline, names: [two]}")
    desk.write("skills/one/SKILL.md", "---\ndescription: One\n---\nBODY-1")
    desk.write("skills/two/SKILL.md", "---\ndescription: Two\n---\nBODY-2\n" + "x" * 20_000)
    read = desk.read()
    assert read.skills.startswith("# Skills\n\n## two: Two\n\nBODY-2\nxxx")
    assert read.skills.endswith(
        "[cut here after 20,000 of 20,007 characters; the rest is in .oribi/skills/two/SKILL.md]"
    )
    assert read.sources == (".oribi/skills/two/SKILL.md",)


@pytest.mark.parametrize("skills", ["[]", "false"])
def test_an_agent_may_have_no_skills(desk: Desk, skills: str) -> None:
    desk.agent(f"skills: {skills}")
    desk.write("skills/one/SKILL.md", "One")
    assert desk.read().skills == ""


def test_a_description_is_one_line_of_bounded_length(desk: Desk) -> None:
    desk.agent("")
    desk.write("skills/one/SKILL.md", '---\ndescription: "a\\n\\n# System\\n' + "x" * 5_000 + '"\n---\n')
    line = desk.read().skills.split("\n")[-1]
    assert line == f"- one: {('a # System ' + 'x' * 5_000)[:1_024]} (.oribi/skills/one/SKILL.md)"


def test_there_is_a_bound_to_the_skills_that_are_listed(desk: Desk) -> None:
    desk.agent("")
    for number in range(203):
        desk.write(f"agents/ops/skills/s{number:03}.md", "x")
    lines = desk.read().skills.split("\n")
    assert lines[-2:] == ["- s199: x (.oribi/agents/ops/skills/s199.md)", "[3 more skills are not listed]"]


def test_a_broken_skill_is_left_out_and_reported_once(desk: Desk) -> None:
    desk.agent("")
    desk.write("skills/bad/SKILL.md", "---\nname: [\n---\n")
    desk.write("skills/good/SKILL.md", "Good")
    assert [desk.read().skills.split("\n")[-1] for _ in range(2)] == ["- good: Good (.oribi/skills/good/SKILL.md)"] * 2
    desk.write("SOUL.md", "changed")
    desk.read()
    assert desk.reports == snapshot(
        [
            """\
skills/bad/SKILL.md:3: the frontmatter is not YAML: did not find expected node content
the skill 'bad' is left out until the file is mended\
"""
        ]
    )


def test_files_are_read_as_they_are_now_and_only_when_they_changed(desk: Desk) -> None:
    """O-16, O-18, C-23: each step sees the files as they are; nothing is read twice for nothing."""
    desk.agent("")
    desk.write("SOUL.md", "one")
    desk.write("skills/a/SKILL.md", "A")
    first = desk.read()
    assert desk.read() is first
    desk.write("SOUL.md", "two")
    assert desk.read() == replace(first, bootstrap="# SOUL.md\n\ntwo")
    desk.write("agents/ops/MEMORY.md", "- new")
    assert desk.read().memory == "# MEMORY.md\n\n- new"
    desk.write("skills/a/SKILL.md", "B")
    assert "- a: B (" in desk.read().skills
    desk.write("skills/b/SKILL.md", "C")
    assert "- b: C (" in desk.read().skills
    (desk.home / "SOUL.md").unlink()
    assert desk.read().bootstrap == ""


def test_a_session_resumed_in_a_new_process_has_its_agents_files_also_without_its_model(desk: Desk) -> None:
    desk.agent("bootstrap: [SOUL.md]\nmodel: nobody:x\npolicy: {memory_characters: 3}")
    desk.write("SOUL.md", "Be kind.")
    desk.write("USER.md", "Ann")
    assert desk.read().bootstrap == "# SOUL.md\n\nBe kind."


def test_files_that_are_no_text_files_stop_nobody(desk: Desk) -> None:
    desk.agent("")
    (desk.home / "AGENTS.md").mkdir()
    os.mkfifo(desk.home / "SOUL.md")
    desk.write("USER.md", b"caf\xe9")
    os.mkfifo(desk.home / "agents" / "ops" / "MEMORY.md")
    assert desk.read() == FilesRead(
        bootstrap="# USER.md\n\ncaf\ufffd", skills="", memory="", memory_read=0, sources=(".oribi/USER.md",)
    )


def test_memory_is_saved_where_it_is_read(desk: Desk) -> None:
    """O-12, C-12: the agent's own file, unless the shared one is in force."""
    desk.agent("")
    shared = desk.write("memory/MEMORY.md", "- shared")
    assert desk.agents.memory_path("ops") == shared
    desk.write("agents/ops/MEMORY.md", "")
    assert desk.agents.memory_path("ops") == desk.home / "agents" / "ops" / "MEMORY.md"
    desk.agent("", name="new")
    shared.unlink()
    assert desk.agents.memory_path("new") == desk.home / "agents" / "new" / "MEMORY.md"
    with pytest.raises(ConfigError, match=r"no agent named '\.\./ops'"):
        desk.agents.memory_path("../ops")
