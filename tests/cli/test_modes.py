"""Modes, commands and routing from the command line and in a chat, and what `/reload` puts in force."""

import json

import pytest
from inline_snapshot import snapshot

from oribi.agents.modes import CHAT_COMMANDS
from oribi.cli.chatting import COMMANDS
from tests.cli.program import Program, wait_until
from tests.cli.test_chat import on_terminal

pytestmark = pytest.mark.slow

AGENT = """\
---
model: scripted:demo.yaml
tools: [grep, read_file]
modes:
  reason: {description: Combines several look-ups. Slowly., aliases: [analyse, 分析], tools: [grep]}
  plain: {steps: 0}
commands:
  status: {tool: read_file, arguments: {path: status.txt}}
  look for: {tool: grep, arguments: {path: status.txt}, rest: pattern}
ROUTE---
You are ops.
"""


@pytest.fixture
def ops(program: Program) -> Program:
    program.set_up("replies_tail: 'You said: {input}'")
    program.write("agents/ops/AGENT.md", AGENT.replace("ROUTE", ""))
    (program.root / "status.txt").write_text("all well\n", encoding="utf-8")
    return program


def test_a_mode_is_entered_by_its_name_or_an_alias_in_a_chat(ops: Program) -> None:
    """M-3, M-6, M-12, M-43: `/reason REQUEST`, or an alias before it; a command's phrase asks no model."""
    done = ops.run(
        "chat", given="/reason why\nanalyse why\n分析\uff1a为什么\n/plain hi\nStatus\n/bogus x\n/reason\nhi\n"
    )
    assert done.code == 0
    assert done.out.splitlines() == [
        "You said: why",
        "You said: why",
        "You said: 为什么",
        "You said: hi",
        "all well",
        "You said: hi",
    ]
    assert "error: no command '/bogus', and no such mode of this agent (/reason, /plain); /help lists them" in done.err
    assert "error: '/reason' is a mode of this agent; say what to do in it: /reason ..." in done.err
    turns = ops.run("trace", "--json").json["turns"]
    assert [turn["mode"] for turn in turns] == ["reason", "reason", "reason", "plain", "", ""]
    assert [turn["tools"] for turn in turns[:2]] == [["grep"], ["grep"]]
    assert [turn["model_calls"] for turn in turns] == [1, 1, 1, 1, 0, 1]
    assert turns[4]["command"]["name"] == "read_file"


def test_help_lists_the_modes_and_phrases_of_the_agent(ops: Program) -> None:
    """M-6: registered with the agent, nowhere else."""
    assert ops.run("chat", given="/help\n").out == snapshot("""\
/new          begin a new session
/tools        the tools of this agent
/context      what the next prompt holds
/reload       read the agent's files again
/help         this list
/quit         leave (so do /exit, Ctrl-D, and Ctrl-C twice)
/reason ...   Combines several look-ups (also: analyse, 分析)
/plain ...    a mode of this agent
status        runs read_file, without a model
look for ...  runs grep, without a model
""")


def test_no_mode_can_have_the_name_of_a_chat_command() -> None:
    assert {f"/{name}" for name in CHAT_COMMANDS} >= {*COMMANDS, "/exit"}


def test_tab_completes_commands_and_modes(ops: Program) -> None:
    """M-6."""
    with on_terminal(ops, "chat") as terminal:
        terminal.wait_for(">")
        terminal.type("/rea\t")
        terminal.wait_for("/reason")
        terminal.type(" why\r")
        terminal.wait_for("You said: why")
    assert ops.run("trace", "--json").json["turns"][0]["mode"] == "reason"


def test_run_has_a_mode_and_the_shell_completes_it(ops: Program) -> None:
    """M-6."""
    outcome = ops.run("run", "--json", "--mode", "reason", "why").json
    assert (outcome["text"], outcome["mode"], outcome["wrap_up"]) == ("You said: why", "reason", None)
    wrong = ops.run("run", "--mode", "nope", "why")
    assert (wrong.code, wrong.out) == (2, "")
    assert "nope" in wrong.err
    assert "reason, plain" in wrong.err
    ops.environment |= {"_ORIBI_COMPLETE": "bash_complete", "COMP_WORDS": "oribi run --mode ", "COMP_CWORD": "3"}
    assert ops.run().out == "plain,reason\nplain,plain\n"
    ops.environment |= {"COMP_WORDS": "oribi run --agent nobody --mode ", "COMP_CWORD": "5"}
    assert ops.run().out.strip() == ""


def test_a_command_runs_its_tool_without_a_model(ops: Program) -> None:
    """M-3: also when the model cannot be reached; what failed is exit code 16."""
    ops.write("demo.yaml", "replies_tail: {fails: {kind: auth, message: bad key}}")
    done = ops.run("run", "Look for  well")
    assert (done.code, done.out.splitlines()[0]) == (0, "status.txt:1:all well")
    assert done.err.startswith('[command] grep path="status.txt", pattern="well"\n')
    assert "no model, 1 tool, " in done.err
    assert "ModelAsked" not in ops.events()
    assert ops.run("run", "--quiet", "status").out == "all well\n"
    (ops.root / "status.txt").unlink()
    failed = ops.run("run", "status")
    assert (failed.code, failed.out) == (16, "")
    assert "error: Stopped: read_file failed: " in failed.err


def test_a_router_chooses_the_mode_first(ops: Program) -> None:
    """M-5, M-10: its call is no step, its word no answer."""
    ops.write("agents/ops/AGENT.md", AGENT.replace("ROUTE", "route: auto\n"))
    ops.write("demo.yaml", "replies_tail: reason")
    done = ops.run("run", "why")
    assert (done.code, done.out) == (0, "reason\n")
    assert done.err.startswith("[route] mode reason\n1 step, 0 tools, ")
    outcome = ops.run("run", "--json", "why").json
    assert (outcome["mode"], outcome["steps"], outcome["model_calls"]) == ("reason", 1, 2)


def test_reload_says_what_is_in_force_or_what_is_wrong(ops: Program) -> None:
    """M-39: prompts are files; what `/reload` cannot use leaves the last good version in force."""
    process = ops.start("chat", given_later=True)
    assert process.stdin is not None

    def say(line: str, answers: int) -> None:
        assert process.stdin is not None
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        wait_until(lambda: ops.events().count("TurnEnded") == answers)

    say("hi", 1)
    ops.write(
        "agents/ops/AGENT.md",
        AGENT.replace("[grep, read_file]", "[grep, read_file, list_dir]").replace("ROUTE", "policy: persistent\n"),
    )
    ops.write("AGENTS.md", "Be kind.")
    say("/reload\nagain", 2)
    ops.write("agents/ops/AGENT.md", "---\ntools: oops\n---\n")
    say("/reload\nstill there?", 3)
    out, err = (each.decode() for each in process.communicate(timeout=20))
    assert process.returncode == 0
    assert out.splitlines() == ["You said: hi", "You said: again", "You said: still there?"]
    assert (
        """\
in force from the next turn on:
  model   scripted:demo.yaml
  policy  preset persistent
  modes   reason, plain
  tools   grep, read_file, list_dir
  files   .oribi/AGENTS.md
"""
        in err
    )
    assert err.count("error: agents/ops/AGENT.md:") + err.count("error: .oribi/agents/ops/AGENT.md:") == 1
    assert "hint: the last good version stays in force; mend it, /reload again\n" in err
    tools = [turn["tools"] for turn in ops.run("trace", "--json").json["turns"]]
    assert tools == [["grep", "read_file"], *[["grep", "read_file", "list_dir"]] * 2]


def test_a_json_action_is_never_shown_as_the_answer(ops: Program) -> None:
    """M-38, M-39, Y-3: the call, its result, the answer; nothing of the JSON on stdout."""
    ops.write("agents/ops/AGENT.md", AGENT.replace("ROUTE", "policy: {protocol: json_action}\n"))
    ops.write("prompts/json_action.md", "Write one action: {form}")
    call = json.dumps({"type": "read_file", "input": {"path": "status.txt"}})
    ops.write("demo.yaml", json.dumps([call, "Well.", json.dumps({"type": "answer", "text": "All is well."})]))
    done = ops.run("run", "--session", "s1", "how is it?")
    assert (done.code, done.out) == (0, "All is well.\n")
    assert '[1] read_file path="status.txt"\n' in done.err
    assert "files: .oribi/prompts/json_action.md" in ops.run("trace", "s1").out
    said = ops.run("sessions", "show", "s1").out
    assert "All is well.\n" in said
    assert "[cannot be used] it is not one JSON object" in said
    assert "\nWell.\n" not in said
    assert ops.run("sessions", "show", "s1", "--json").json[3]["problem"].startswith("it is not one JSON object")
