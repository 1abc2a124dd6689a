"""The commands that look: sessions, agents, tools, models, why, status, and those that make: init, agents new."""

import signal
import subprocess
import sys

import pytest
from inline_snapshot import snapshot

from oribi.testing import FakeModelServer
from tests.cli.program import Program, finish, steady

pytestmark = pytest.mark.slow


@pytest.fixture
def ops(program: Program) -> Program:
    program.set_up("replies_tail: 'You said: {input}'")
    return program


def test_a_new_workspace_answers_at_once_and_is_completed_not_changed(program: Program) -> None:
    made = program.run("init")
    assert made.code == 0
    assert steady(made.out, {str(program.root): "ROOT"}) == snapshot("""\
workspace ROOT/.oribi
  made oribi.toml
  made AGENTS.md
  made SOUL.md
  made USER.md
  made .gitignore
  made agents/default/AGENT.md
""")
    program.write("USER.md", "mine")
    assert program.run("init").out == f"{program.home} is complete already\n"
    program.write("demo.yaml", "[Hello.]")
    program.environment["ORIBI_DEFAULT_MODEL"] = "scripted:demo.yaml"
    assert program.run("run", "--quiet", "hi").out == "Hello.\n"
    assert (program.home / "USER.md").read_text() == "mine"


def test_what_a_new_workspace_shows_before_its_first_turn(program: Program) -> None:
    program.run("init")
    for arguments in (["sessions", "list"], ["status"], ["agents", "list"], ["tools", "list"], ["models", "list"]):
        assert program.run(*arguments).code == 0, arguments
    assert not (program.home / "oribi.db").exists()
    assert program.run("sessions", "list", "--json").json == []


def test_the_workspace_may_be_named_before_and_behind_the_command(ops: Program) -> None:
    here = str(ops.home)
    ops.root = ops.root.parent
    assert ops.run("--workspace", here, "status", "--json").json["home"] == here
    assert ops.run("status", "--workspace", here, "--json").json["home"] == here
    ops.environment["ORIBI_HOME"] = here
    assert ops.run("status", "--json").json["home"] == here


def test_sessions_are_listed_and_shown(ops: Program) -> None:
    ops.run("run", "--session", "s1", "one\nand a half")
    ops.run("run", "--session", "s2", "two")
    listed = ops.run("sessions", "list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out == snapshot("""\
SESSION  AGENT  TURNS  LAST END   USED      CHANNEL
s2       ops    1      completed  just now  cli
s1       ops    1      completed  just now  cli
""")
    rows = ops.run("sessions", "list", "--json", "--limit", "1").json
    assert [(row["session_id"], row["last_end"], row["is_open"]) for row in rows] == [("s2", "completed", False)]
    assert ops.run("sessions", "show", "s1").out == snapshot("""\
session s1  agent ops  channel cli

> one
  and a half
You said: one
and a half
""")
    assert [message["role"] for message in ops.run("sessions", "show", "s1", "--json").json] == ["user", "assistant"]


def test_agents_are_listed_shown_and_made(ops: Program) -> None:
    made = ops.run("agents", "new", "helper", "--description", 'says "hi": always', "--tool", "grep")
    assert made.code == 0
    assert made.out == f"made {ops.home}/agents/helper/AGENT.md\n"
    assert "note: agents/helper/AGENT.md: model: no model is chosen" in made.err
    again = ops.run("agents", "new", "helper")
    assert (again.code, again.out) == (2, "")
    assert "there is an agent 'helper' already" in again.err
    assert "no tool named 'nope'" in ops.run("agents", "new", "other", "--tool", "nope").err
    assert "cannot name an agent" in ops.run("agents", "new", "../x").err
    ops.environment["ORIBI_DEFAULT_MODEL"] = "scripted:demo.yaml"
    assert ops.run("agents", "list").out == snapshot("""\
AGENT          MODEL               TOOLS  ABOUT
helper         scripted:demo.yaml  1      says "hi": always
ops (default)  scripted:demo.yaml  5      Looks after the web server
""")
    shown = ops.run("agents", "show", "helper", "--json").json
    assert (shown["description"], [tool["name"] for tool in shown["tools"]]) == ('says "hi": always', ["grep"])
    assert "tools\n    grep  (pure)  Search files" in ops.run("agents", "show", "helper").out
    assert ops.run("agents", "validate").out == "helper: ok\nops: ok\n"
    assert ops.run("agents", "validate", "ops", "--json").json == [{"name": "ops", "problems": [], "notes": []}]


def test_tools_are_listed_for_all_and_for_one_agent(ops: Program) -> None:
    everything = [tool["name"] for tool in ops.run("tools", "list", "--json").json]
    assert {"read_file", "grep", "notify", "save_memory"} <= set(everything)
    listed = ops.run("tools", "list", "--agent", "ops")
    assert [line.split()[0] for line in listed.out.splitlines()] == [
        "TOOL",
        "grep",
        "read_file",
        "list_dir",
        "notify",
        "write_file",
    ]


def test_providers_are_listed_and_their_keys_are_not(ops: Program) -> None:
    ops.environment |= {"OPENAI_API_KEY": "sk-very-secret", "TOKEN": "very-secret"}
    ops.write("oribi.toml", '[providers.own]\nbase_url = "https://me:${TOKEN}@host:8443/v1?key=${TOKEN}"\n')
    for arguments in (["models", "list"], ["models", "list", "--json"], ["models", "list", "--verbose"]):
        done = ops.run(*arguments)
        assert done.code == 0
        assert "very-secret" not in done.out + done.err
    rows = {row["provider"]: row for row in ops.run("models", "list", "--json").json["providers"]}
    assert (rows["openai"]["key_env"], rows["openai"]["key_set"]) == ("OPENAI_API_KEY", True)
    assert rows["anthropic"]["key_set"] is False
    assert rows["ollama"]["key_set"] is None
    assert rows["own"]["base_url"] == "https://host:8443/v1"


@pytest.mark.parametrize(("wire", "path"), [("openai-chat", "/v1"), ("anthropic", "/v1")])
def test_a_model_is_tried_with_a_tool_and_what_the_endpoint_supports_is_said(
    ops: Program, wire: str, path: str
) -> None:
    reply = {
        "calls": [{"name": "report", "arguments": {"status": "ready"}}],
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    with FakeModelServer({"replies_tail": reply}) as server:
        ops.write("oribi.toml", f'[providers.fake]\nwire = "{wire}"\nbase_url = "{server.base_url}{path}"\n')
        done = ops.run("models", "test", "fake:small")
        outcome = ops.run("models", "test", "fake:small", "--json").json
    assert done.code == 0
    first, *features = done.out.splitlines()
    assert first.startswith("fake:small answered in ")
    assert "9 in / 1 out tokens" in first
    assert first.endswith(": called report")
    assert features == [
        "  tool calls: yes",
        "  streaming: not seen in this reply",
        "  usage: yes",
        "  reasoning: not seen in this reply",
    ]
    assert outcome["supports"] == {"tool_calls": True, "streaming": False, "usage": True, "reasoning": False}
    assert len(server.requests) == 2
    assert not (ops.home / "oribi.db").exists()


def test_a_model_that_only_talks_is_said_to_make_no_tool_calls(ops: Program) -> None:
    with FakeModelServer({"replies_tail": {"text": "I am ready, thank you for asking."}}) as server:
        ops.write("oribi.toml", f'[providers.fake]\nbase_url = "{server.base_url}/v1"\n')
        outcome = ops.run("models", "test", "fake:small", "--json").json
    assert outcome["supports"] == {"tool_calls": False, "streaming": True, "usage": True, "reasoning": False}


def test_prices_of_the_models_in_use_are_shown_where_they_are_known(ops: Program) -> None:
    ops.environment["ORIBI_DEFAULT_MODEL"] = "anthropic:claude-sonnet-4-5"
    listed = {row["model"]: row["usd_per_million_tokens"] for row in ops.run("models", "list", "--json").json["models"]}
    assert listed["anthropic:claude-sonnet-4-5"] == {"input": 3.0, "output": 15.0, "cached_input": 0.3}
    assert [price for ref, price in listed.items() if ref.startswith("scripted:")] == [None]
    assert "input 3, output 15, cached input 0.3" in ops.run("models", "list").out


def test_why_says_which_question_decides(ops: Program) -> None:
    ops.run("run", "--session", "s1", "hi")
    assert ops.run("why", "--json").json == {
        "session_id": "s1",
        "question": "Is there an open turn? No.",
        "action": "Rest",
        "detail": "the last turn ended (completed); the next input begins one",
    }


def test_status_shows_how_turns_end(ops: Program) -> None:
    """T-14: the distribution of ends; a high share of max_steps means a model that goes round in circles."""
    for _ in range(3):
        ops.run("run", "hi")
    ops.write("demo.yaml", "replies_tail: {calls: [{name: list_dir, arguments: {path: .}}]}")
    ops.run("run", "hi")
    ops.write("demo.yaml", "replies_tail: {fails: {kind: auth, message: bad key}}")
    ops.run("run", "hi")
    assert ops.run("status", "--json").json["ends"] == {"completed": 3, "max_steps": 1, "model_failed": 1}
    shown = ops.run("status")
    assert (shown.code, shown.err) == (0, "")
    assert "turns      completed 3 (60%), max_steps 1 (20%), model_failed 1 (20%)\n" in shown.out
    assert f"workspace  {ops.home}\n" in shown.out


def test_the_fake_model_serves_the_program_and_ctrl_c_ends_it(ops: Program) -> None:
    script = ops.write("served.yaml", "replies_tail: 'Served: {input}'")
    process = ops.start("fake-model", "--script", str(script))
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        ops.set_up("[]", settings=f'[providers.fake]\nbase_url = "{address}/v1"\n', model="fake:any")
        assert ops.run("run", "--quiet", "hi").out == "Served: hi\n"
    finally:
        process.send_signal(signal.SIGINT)
        done = finish(process)
    assert done.code == 0
    assert done.err == ""


def test_a_reader_that_leaves_a_list_gets_no_traceback(ops: Program) -> None:
    command = f"{sys.executable} -m oribi tools list --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ops.root, env=ops.environment, capture_output=True, text=True, check=False
    )
    assert done.stdout in {"0\n", "141\n"}
    assert done.stderr == ""
