"""Real processes that are killed, stopped and in each other's way: turns go on, in order, without anybody's help."""

import json
import signal

import pytest

from tests.cli.program import Program, finish, wait_until

pytestmark = pytest.mark.slow

SLOW = {
    "rules": [{"when": {"input": "slow"}, "reply": {"text": "late", "delay_seconds": 60}}],
    "replies_tail": "Hello.",
}
QUICK = {"replies_tail": "Hello."}


def test_a_worker_continues_what_kill_9_left_and_leaves_on_sigterm(program: Program) -> None:
    """G2: an interrupted turn continues by itself."""
    program.set_up(json.dumps(SLOW))
    process = program.start("run", "--session", "s1", "slow")
    wait_until(lambda: "ModelAsked" in program.events())
    process.kill()
    finish(process)
    program.write("demo.yaml", json.dumps(QUICK))
    worker = program.start("worker")
    wait_until(lambda: "TurnEnded" in program.events())
    worker.send_signal(signal.SIGTERM)
    done = finish(worker)
    assert done.code == 0
    assert "1 turn brought to an end" in done.err
    assert program.query("SELECT status FROM llm_calls ORDER BY attempt") == [("cut_off",), ("ok",)]
    assert program.run("run", "--quiet", "--session", "s1", "hi").out == "Hello.\n"


def test_a_worker_that_is_stopped_leaves_its_turn_open_and_once_finishes_it(program: Program) -> None:
    program.set_up(json.dumps(SLOW))
    process = program.start("run", "--session", "s1", "slow")
    wait_until(lambda: "ModelAsked" in program.events())
    process.kill()
    finish(process)
    worker = program.start("worker", "--grace", "0.2")
    wait_until(lambda: program.events().count("ModelAsked") == 2)
    worker.send_signal(signal.SIGINT)
    assert finish(worker, timeout=10).code == 0
    assert "TurnEnded" not in program.events()
    program.write("demo.yaml", json.dumps(QUICK))
    assert program.run("worker", "--once").code == 0
    assert program.events()[-1] == "TurnEnded"


def test_two_processes_on_one_session_take_their_turns(program: Program) -> None:
    """Case O32: queued in order, across processes; nothing lost, nothing twice."""
    program.set_up(json.dumps(SLOW))
    first = program.start("run", "--session", "s1", "slow")
    wait_until(lambda: "ModelAsked" in program.events())
    second = program.start("run", "--quiet", "--session", "s1", "second")
    wait_until(lambda: program.query("SELECT count(*) FROM inbox") == [(1,)])
    third = program.run("run", "--quiet", "--session", "s1", "--busy", "interrupt", "third")
    assert finish(first).code == 130
    assert (finish(second).out, third.out) == ("Hello.\n", "Hello.\n")
    assert program.query("SELECT content FROM messages WHERE role = 'user' ORDER BY seq") == [
        ("slow",),
        ("second",),
        ("third",),
    ]


def test_an_unknown_call_is_listed_and_settled(program: Program) -> None:
    call = {"calls": [{"name": "notify", "arguments": {"channel": "pager", "message": "wake up"}}]}
    rules = [{"when": {"input": "go", "step": 1}, "reply": call}]
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/hook"
        program.set_up(
            json.dumps({"rules": rules, "replies_tail": "Hello."}), settings=f'[notify.pager]\nurl = "{url}"\n'
        )
        process = program.start("run", "--session", "s1", "go")
        wait_until(lambda: "ToolStarted" in program.events())
        process.kill()
        finish(process)
        assert program.run("resume").code == 0
    listed = program.run("resolve", "s1").out
    assert listed.startswith("t1/1/")
    assert "notify" in listed
    name = listed.split()[0]
    assert program.run("resolve", "s1", name).code == 2
    assert program.run("resolve", "s1", "nope", "--happened").code == 2
    assert program.run("resolve", "s1", name, "--result", "the pager rang").code == 0
    assert program.query("SELECT status, result FROM tool_invocations") == [("Succeeded", "the pager rang")]
    assert program.run("resolve", "s1").out == ""
    assert "settled by" in program.run("trace", "s1").out
