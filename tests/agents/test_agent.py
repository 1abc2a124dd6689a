"""AGENT.md as a value: what is read, what is refused and how it is said, and that nothing else can happen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from oribi.agents.agent import BOOTSTRAP, AgentFile, Identity, parse_agent
from oribi.core.budget import Limits
from oribi.core.errors import ConfigError
from oribi.core.policy import LoopPolicy

ENVIRONMENT = {"MODEL": "ollama:qwen3:8b", "STEPS": "7", "KEY": "sk-secret", "LATIN": "caf\udce9"}


def agent(settings: str, body: str = "Be brief.") -> AgentFile:
    source = f"---\n{settings}\n---\n{body}\n".encode()
    return parse_agent(source, folder="ops", file="agents/ops/AGENT.md", environment=ENVIRONMENT)


def error(settings: str) -> str:
    with pytest.raises(ConfigError) as caught:
        agent(settings)
    return str(caught.value)


def test_everything_an_agent_may_say_is_read() -> None:
    """O-26, O-28: `settings` of the frontmatter reaches the loop policy."""
    read = agent(
        """\
name: ops
description: Watches the logs
identity: {agent_name: Olga, prompt: You are Olga.}
model: anthropic:claude-sonnet-4-5
fallbacks: [ollama:qwen3:8b, openai:gpt-5-mini]
parameters: {temperature: 0.2, stop: [END]}
output_schema: {type: object, properties: {n: {type: number}}, required: [n]}
tools: [grep, read_file]
budget: {model_calls: 8, tool_calls: 0, total_tokens: 50000, deadline_seconds: 90}
policy: {preset: standard, max_asks: 2, datetime_line: false}
settings: {max_iterations: 5, max_history_turns: 0}
bootstrap: [SOUL.md, notes/RULES.md]
skills: {mode: inline, names: [nginx]}"""
    )
    assert read == AgentFile(
        name="ops",
        description="Watches the logs",
        identity=Identity(agent_name="Olga", prompt="You are Olga."),
        model="anthropic:claude-sonnet-4-5",
        parameters={"temperature": 0.2, "stop": ["END"]},
        tools=("grep", "read_file"),
        policy=LoopPolicy(
            max_steps=5,
            max_history_turns=0,
            max_asks=2,
            datetime_line=False,
            skills_mode="inline",
            limits=Limits(model_calls=8, tool_calls=0, total_tokens=50_000, deadline_seconds=90),
        ),
        bootstrap=("SOUL.md", "notes/RULES.md"),
        skills=("nginx",),
        body="Be brief.",
        fallbacks=("ollama:qwen3:8b", "openai:gpt-5-mini"),
        output_schema={"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
    )


def test_an_empty_output_schema_is_one_and_an_absent_one_is_none() -> None:
    """`{}` asks for JSON of any kind."""
    assert (agent("output_schema: {}").output_schema, agent("").output_schema) == ({}, None)


def test_fallbacks_are_models_and_each_stands_once() -> None:
    assert error("fallbacks: [gpt-5, ':x', 'a:b', 'a:b']") == snapshot("""\
agents/ops/AGENT.md:2: fallbacks names 'a:b' twice
agents/ops/AGENT.md:2: fallbacks: 'gpt-5' is not a model; write it as 'provider:name'
agents/ops/AGENT.md:2: fallbacks: ':x' is not a model; write it as 'provider:name'\
""")
    assert error("fallbacks: openai:gpt-5\noutput_schema: number") == snapshot("""\
agents/ops/AGENT.md:2: fallbacks must be a list such as [one, two], or [] for none, not 'openai:gpt-5'
agents/ops/AGENT.md:3: output_schema must be a table of keys, not 'number'\
""")


def test_an_empty_frontmatter_gives_the_documented_defaults_and_no_tools() -> None:
    """O-26: 10 iterations. O-28: 20 history turns. C-25: a partial block is completed by defaults."""
    assert agent("") == AgentFile(
        name="ops",
        description="",
        identity=Identity(),
        model=None,
        parameters={},
        tools=(),
        policy=LoopPolicy(max_steps=10, max_history_turns=20),
        bootstrap=BOOTSTRAP,
        skills=None,
        body="Be brief.",
        notes=("agents/ops/AGENT.md: tools is absent, so the agent has none; list the tools it may use",),
    )
    assert agent("settings: {max_iterations: 3}").policy == LoopPolicy(max_steps=3)


def test_an_explicit_empty_list_means_no_tools_and_needs_no_note() -> None:
    assert (agent("tools: []").tools, agent("tools: []").notes) == ((), ())


@pytest.mark.parametrize(
    "tools", ["read_file", "read_file, grep", "", "true", "{read_file: true}", "[1]", "[[a]]", "['']"]
)
def test_a_tool_list_that_cannot_be_read_never_widens_rights(tools: str) -> None:
    assert error(f"tools: {tools}").startswith("agents/ops/AGENT.md:2: tools must ")


def test_identity_comes_before_the_body() -> None:
    """C-14: identity, then body."""
    assert agent("identity: {prompt: You are Olga.}").instructions == "You are Olga.\n\nBe brief."
    assert agent("identity: {agent_name: Olga}").instructions == "You are Olga.\n\nBe brief."
    assert agent("").instructions == "Be brief."


def test_a_provider_block_says_the_same_as_model_and_parameters() -> None:
    block = agent("provider: {name: ollama, model: 'qwen3:8b', temperature: 0, max_tokens: 200}\ntools: []")
    plain = agent("model: ollama:qwen3:8b\nparameters: {temperature: 0.0, max_tokens: 200}\ntools: []")
    assert block == plain


def test_variables_are_replaced_in_values_and_never_in_the_body() -> None:
    read = agent(
        "model: ${MODEL}\ndescription: $${KEY} ${NONE:-or else} ${5}\nsettings: {max_iterations: '${STEPS}'}", "${KEY}"
    )
    assert (read.model, read.description, read.policy.max_steps, read.body) == (
        "ollama:qwen3:8b",
        "${KEY} or else ${5}",
        7,
        "${KEY}",
    )


def test_a_missing_variable_is_named_and_the_value_of_another_is_never_shown() -> None:
    assert error("description: ok\nmodel: ${OPS_MODEL}\nidentity: {prompt: '${LATIN}'}") == snapshot("""\
agents/ops/AGENT.md:3: model needs the environment variable OPS_MODEL, which is not set; set it, or write \
${OPS_MODEL:-value} to give a default
agents/ops/AGENT.md:4: identity.prompt needs the environment variable LATIN, which does not hold UTF-8 text\
""")
    shown = error("name: ${KEY}\nmodel: ${KEY}\ntools: ['${KEY}', '${KEY}']\nsettings: {max_iterations: '${KEY}'}")
    assert "sk-secret" not in shown
    assert shown.splitlines()[-1] == snapshot(
        "agents/ops/AGENT.md:5: settings.max_iterations must be a whole number from 1 to 1000, not '${KEY}'"
    )


def test_every_mistake_is_named_with_file_line_and_key() -> None:
    assert error(
        """\
name: opz
tols: [grep]
settings:
  max_iterations: ten
  max_histroy_turns: 3
description: yes
model: gpt-5
budget: {model_calls: 0, deadline_seconds: .inf}
policy: quick
bootstrap: [../../etc/passwd, /etc/passwd]
skills: {mode: body}
parameters: {tools: [], big: 99999999999999999999, bad: .nan}"""
    ) == snapshot("""\
agents/ops/AGENT.md:2: name must be the name of its folder, 'ops', or be left out, not 'opz'
agents/ops/AGENT.md:3: unknown key 'tols'; did you mean 'tools'?
agents/ops/AGENT.md:5: settings.max_iterations must be a whole number from 1 to 1000, not 'ten'
agents/ops/AGENT.md:6: unknown key 'settings.max_histroy_turns'; did you mean 'settings.max_history_turns'?
agents/ops/AGENT.md:8: model must be 'provider:name', such as 'anthropic:claude-sonnet-4-5', not 'gpt-5'
agents/ops/AGENT.md:9: budget.model_calls must be a whole number from 1 to 1000000000, not 0
agents/ops/AGENT.md:9: budget.deadline_seconds must be a number from 0.001 to 31536000, not inf
agents/ops/AGENT.md:10: policy must be 'standard', 'persistent', 'compact', 'reasoning', 'question' or 'free', \
not 'quick'
agents/ops/AGENT.md:11: bootstrap must name files in the workspace's own folder, not '../../etc/passwd'
agents/ops/AGENT.md:11: bootstrap must name files in the workspace's own folder, not '/etc/passwd'
agents/ops/AGENT.md:12: skills.mode must be 'pointer' or 'inline', not 'body'
agents/ops/AGENT.md:13: parameters.big must be a number that JSON can hold, not a huge number
agents/ops/AGENT.md:13: parameters.bad must be a number that JSON can hold, not nan
agents/ops/AGENT.md:13: parameters.tools is set by Oribi itself; remove it\
""")


def test_what_says_one_thing_twice_is_refused() -> None:
    assert error(
        """\
model: a:b
provider: {name: a, model: b, top_p: 1}
parameters: {top_p: 1}
policy: {max_steps: 3}
settings: {max_iterations: 4}
tools: [grep, grep]"""
    ) == snapshot("""\
agents/ops/AGENT.md:3: provider and model say the same thing; keep one of them
agents/ops/AGENT.md:3: provider.top_p and parameters.top_p are one setting; keep one
agents/ops/AGENT.md:6: settings.max_iterations and policy.max_steps are one setting; keep one of them
agents/ops/AGENT.md:7: tools names 'grep' twice\
""")


def test_wrong_shapes_are_named() -> None:
    assert error(
        """\
settings:
identity: Olga
provider: {name: ollama}
description: 7
bootstrap: AGENTS.md
skills: nginx
policy: {datetime_line: no, retry_seconds: -1}
schedules: {cron: x}
modes: [quick]
mcp_servers: github"""
    ) == snapshot("""\
agents/ops/AGENT.md:2: settings must be a table of keys, not empty
agents/ops/AGENT.md:3: identity must be a table of keys, not 'Olga'
agents/ops/AGENT.md:4: provider.model is missing; provider needs name and model
agents/ops/AGENT.md:5: description must be a text (put it in "quotes"), not 7
agents/ops/AGENT.md:6: bootstrap must be a list of files, or false for none, not 'AGENTS.md'
agents/ops/AGENT.md:7: skills must be a list of names, false for none, or a table with mode and names, not 'nginx'
agents/ops/AGENT.md:8: policy.retry_seconds must be a number from 0 to 600, not -1
agents/ops/AGENT.md:8: policy.datetime_line must be true or false, not 'no'
agents/ops/AGENT.md:9: schedules must be a list, not a table of keys
agents/ops/AGENT.md:10: modes must be a table of keys, not a list
agents/ops/AGENT.md:11: mcp_servers must be a list such as [one, two], or [] for none, not 'github'\
""")


def test_a_file_without_frontmatter_is_not_taken_for_an_agent_without_settings() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_agent(b"# Settings\n---\nname: ops\n---\nHi", folder="ops", file="agents/ops/AGENT.md", environment={})
    assert str(caught.value) == snapshot(
        "agents/ops/AGENT.md:1: the file must begin with a line '---', then the settings if any, then a line '---'"
    )


def test_what_is_not_served_yet_is_noted() -> None:
    assert agent(
        """\
tools: []
mcp_servers: [github]
schedules: [{key: daily, cron: "0 9 * * *", message: Report}]
sandbox: {shell: {allowed_commands: [ls]}, files: {read: [.], write: [.]}}"""
    ).notes == snapshot(
        (
            "agents/ops/AGENT.md:3: mcp_servers is not served yet by this version; it has no effect",
            "agents/ops/AGENT.md:4: schedules is not served yet by this version; it has no effect",
            "agents/ops/AGENT.md:5: sandbox is not served yet by this version; file tools stay in the workspace",
        )
    )


@pytest.mark.parametrize(
    "sandbox",
    [
        "files: {read: [.], write: []}",
        "files: {read: [.]}",
        "files: {read: [.], write: [.], deny: ['**/.env']}",
        "file: {allowed_paths: [./data]}",
        "files: []",
        "ask: [files.write]",
    ],
)
def test_a_sandbox_that_this_version_cannot_enforce_is_refused_rather_than_passed_over(sandbox: str) -> None:
    key = sandbox.split(":", maxsplit=1)[0]
    assert error(f"tools: [write_file]\nsandbox:\n  {sandbox}") == (
        f"agents/ops/AGENT.md:4: sandbox.{key} is not enforced yet by this version, and the agent would have more "
        "rights than it says; remove it and list only tools that may use the whole workspace folder"
    )


def test_instructions_that_cannot_fit_a_prompt_are_refused() -> None:
    with pytest.raises(ConfigError, match="the instructions have 200,001 characters; at most 200,000"):
        agent("", "x" * 200_001)


@pytest.mark.parametrize("folder", ["..", "a/b", "-x", "a b", "x" * 65, "é", ""])
def test_a_folder_that_cannot_name_an_agent_is_refused(folder: str) -> None:
    with pytest.raises(ConfigError, match="cannot name an agent"):
        parse_agent(b"---\n---\n", folder=folder, file="agents/x/AGENT.md", environment={})


KEYS = st.sampled_from(
    [
        "name",
        "description",
        "identity",
        "model",
        "provider",
        "fallbacks",
        "parameters",
        "output_schema",
        "tools",
        "mcp_servers",
        "sandbox",
        "budget",
        "policy",
        "settings",
        "bootstrap",
        "skills",
        "schedules",
        "modes",
        "route",
        "commands",
        "delegates",
        "preset",
        "strict",
        "max_steps",
        "failures",
        "prompt_order",
        "token_budget",
        "aliases",
        "steps",
        "tool",
        "max_iterations",
        "temperature",
        "files",
        "read",
        "x",
    ]
)
SCALARS = st.sampled_from(
    [
        "1",
        "-1",
        "0",
        "1e999",
        ".nan",
        "true",
        "no",
        "~",
        "''",
        "ops",
        "a:b",
        ".",
        "${KEY}",
        "${NONE}",
        "99999999999999999999",
        "reasoning",
        "delegate",
        '"\\ud83d"',
    ]
)
FLOW = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(KEYS, inner, max_size=3).map(
            lambda entries: "{" + ", ".join(f"{key}: {value}" for key, value in entries.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@given(
    st.one_of(
        st.text(), st.lists(st.tuples(KEYS, FLOW), max_size=5).map(lambda lines: "\n".join(map(": ".join, lines)))
    )
)
def test_any_frontmatter_gives_an_agent_or_a_config_error_that_names_the_file(settings: str) -> None:
    source = f"---\n{settings}\n---\nbody".encode("utf-8", "surrogatepass")
    try:
        read = parse_agent(source, folder="ops", file="agents/ops/AGENT.md", environment=ENVIRONMENT)
    except ConfigError as problem:
        assert all(line.startswith("agents/ops/AGENT.md") for line in str(problem).split("\n"))  # noqa: PT017 - either is right
    else:
        assert 0 <= read.policy.max_steps <= 1000
        assert set(read.tools).issuperset(tool for mode in read.modes for tool in mode.tools)
        assert not read.tools or "tools:" in settings
