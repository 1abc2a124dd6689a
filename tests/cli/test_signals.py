"""Ctrl-C, SIGTERM and worse at every stage: the turn ends or stays open, the session is sound, nobody sees a trace.

Case O41 of the field reports.
"""

import json
import signal
import socket
import time
from collections.abc import Iterator

import pytest

from tests.cli.program import Program, finish, wait_until

pytestmark = pytest.mark.slow

WAITS = {"rules": [{"when": {"input": "go"}, "reply": {"text": "late", "delay_seconds": 60}}], "replies_tail": "Hello."}


@pytest.fixture
def waiting(program: Program) -> Program:
    """A workspace whose model takes a minute to answer `go`."""
    program.set_up(json.dumps(WAITS))
    return program


@pytest.fixture
def hanging(program: Program) -> Iterator[Program]:
    """A workspace whose model calls a tool that does not come back: a webhook that takes the call and is silent."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        call = {"calls": [{"name": "notify", "arguments": {"channel": "pager", "message": "wake up"}}]}
        rules = [{"when": {"input": "go", "step": 1}, "reply": call}]
        program.set_up(
            json.dumps({"rules": rules, "replies_tail": "Hello."}),
            settings=f'[notify.pager]\nurl = "http://127.0.0.1:{port}/hook"\n',
        )
        yield program


@pytest.mark.parametrize(
    ("number", "code", "name"),
    [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM"), (signal.SIGHUP, 129, "SIGHUP")],
)
def test_the_first_signal_stops_a_model_wait_and_the_session_goes_on(
    waiting: Program, number: signal.Signals, code: int, name: str
) -> None:
    process = waiting.start("run", "--session", "s1", "go")
    wait_until(lambda: "ModelAsked" in waiting.events())
    process.send_signal(number)
    done = finish(process, timeout=6)
    assert done.code == code
    assert f"interrupted by {name}\n" in done.err
    assert "Traceback" not in done.err
    assert waiting.run("run", "--quiet", "--session", "s1", "next").out == "Hello.\n"
    assert waiting.query("SELECT turn_end FROM turns ORDER BY turn_id") == [("Interrupted",), ("Completed",)]


def test_the_first_signal_stops_a_tool_and_its_call_is_answered(hanging: Program) -> None:
    process = hanging.start("run", "--session", "s1", "go")
    wait_until(lambda: "ToolStarted" in hanging.events())
    process.send_signal(signal.SIGINT)
    done = finish(process, timeout=6)
    assert done.code == 130
    assert "cut off" in done.err
    assert hanging.query("SELECT status FROM tool_invocations") == [("Unknown",)]
    assert hanging.run("run", "--quiet", "--session", "s1", "still there?").out == "Hello.\n"


def test_a_retry_sleep_is_stopped(program: Program) -> None:
    fails = {"kind": "rate", "message": "slow down", "retry_after_seconds": 60}
    program.set_up(json.dumps({"replies_tail": {"fails": fails}}))
    process = program.start("run", "go")
    wait_until(lambda: "ModelFaulted" in program.events())
    process.send_signal(signal.SIGINT)
    assert finish(process, timeout=6).code == 130


def test_a_tool_that_cannot_be_stopped_is_left_behind(program: Program) -> None:
    set_up_stubborn_tool(program, "def")
    process = program.start("run", "--session", "s1", "go")
    wait_until((program.root / "runs").exists)
    process.send_signal(signal.SIGINT)
    done = finish(process, timeout=6)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert program.query("SELECT turn_end FROM turns") == [("Interrupted",)]


def test_a_second_signal_leaves_at_once_and_resume_continues_the_turn(program: Program) -> None:
    """A tool that blocks everything: the turn stays open, and its call is written off, not repeated."""
    set_up_stubborn_tool(program, "async def")
    process = program.start("run", "--session", "s1", "go")
    wait_until((program.root / "runs").exists)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)  # a wrapper signals a process and its group: that is one signal
    process.send_signal(signal.SIGINT)
    time.sleep(0.4)  # a person's two presses are not one
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    done = finish(process, timeout=4)
    assert done.code == 130
    assert "hint: `oribi resume` continues it" in done.err
    assert "Traceback" not in done.err
    assert program.query("SELECT turn_end FROM turns") == [(None,)]

    resumed = program.run("resume")
    assert (resumed.code, resumed.out) == (0, "Hello.\n")
    assert "cut off" in resumed.err
    assert program.query("SELECT status FROM tool_invocations") == [("Unknown",)]
    assert (program.root / "runs").read_text() == "x"


def test_kill_9_in_a_model_call_leaves_the_turn_open_and_the_next_run_says_so(waiting: Program) -> None:
    process = waiting.start("run", "--session", "s1", "go")
    wait_until(lambda: "ModelAsked" in waiting.events())
    process.kill()
    finish(process)
    other = waiting.run("run", "hi")
    assert other.out == "Hello.\n"
    assert other.err.startswith(
        "note: 1 turn is open, cut off before the end: s1\n"
        "hint: `oribi resume s1` continues it; `oribi worker` always does\n"
    )
    assert "open: `oribi resume` continues it" in waiting.run("trace", "s1").out
    assert waiting.run("why", "s1").out.splitlines()[1:] == [
        "  question  Was a model call cut off, or did it fail?",
        "  action    CallModel: ask scripted:demo.yaml for step 1, attempt 2, with 1 message",
    ]
    waiting.write("demo.yaml", "[Here I am.]")
    resumed = waiting.run("resume", "s1")
    assert (resumed.code, resumed.out) == (0, "Here I am.\n")
    assert waiting.run("resume").err == "no turn is open; there is nothing to resume\n"


def test_kill_9_in_a_tool_and_a_new_input_first_finishes_the_open_turn(hanging: Program) -> None:
    process = hanging.start("run", "--session", "s1", "go")
    wait_until(lambda: "ToolStarted" in hanging.events())
    process.kill()
    finish(process)
    done = hanging.run("run", "--session", "s1", "and now?")
    assert done.code == 0
    assert done.out == "Hello.\nHello.\n"
    assert "note: the last turn of session s1 is open; it is continued first\n" in done.err
    assert hanging.query("SELECT turn_end FROM turns ORDER BY turn_id") == [("Completed",), ("Completed",)]


def test_several_open_turns_are_named_or_all_continued(waiting: Program) -> None:
    for session in ("s1", "s2"):
        process = waiting.start("run", "--session", session, "go")
        wait_until(lambda count=int(session[1]): waiting.events().count("ModelAsked") == count)
        process.kill()
        finish(process)
    waiting.write("demo.yaml", "[Here I am.]")
    which = waiting.run("resume")
    assert which.code == 2
    assert which.err == "error: 2 turns are open: s1, s2; name one session, or continue all with --all\n"
    assert waiting.run("resume", "--all").out == "Here I am.\nHere I am.\n"


def test_ctrl_c_while_the_input_is_read_ends_without_a_word_of_python(waiting: Program) -> None:
    process = waiting.start("run", "-", given_later=True)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    done = finish(process, timeout=6)
    assert (done.code, done.out) == (130, "")
    assert "Traceback" not in done.err


def set_up_stubborn_tool(program: Program, kind: str) -> None:
    """Install a plug-in whose tool blocks its thread (`def`) or the whole loop (`async def`), and an agent for it."""
    plugins = program.root / "plugins"
    info = plugins / "stubborn-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stubborn\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[oribi.tools]\nstubborn = stubborn:stubborn\n")
    (plugins / "stubborn.py").write_text(
        "import time\n\n\n"
        f"{kind} stubborn() -> str:\n"
        '    """Do something that takes its time."""\n'
        "    with open('runs', 'a') as runs:\n"
        "        runs.write('x')\n"
        "    time.sleep(60)\n"
        "    return 'done'\n"
    )
    program.environment["PYTHONPATH"] = str(plugins)
    rules: list[object] = [
        {"when": {"input": "go", "step": 1}, "reply": {"calls": [{"name": "stubborn", "arguments": {}}]}}
    ]
    program.set_up(json.dumps({"rules": rules, "replies_tail": "Hello."}))
    program.write("agents/ops/AGENT.md", "---\nmodel: scripted:demo.yaml\ntools: [stubborn]\n---\nYou are ops.\n")
