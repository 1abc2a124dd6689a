"""`oribi revoke` against turns in other processes: under way, and cut off."""

import json
import socket
from collections.abc import Iterator

import pytest

from tests.cli.program import Program, finish, wait_until

pytestmark = pytest.mark.slow

CALL = {"calls": [{"name": "notify", "arguments": {"channel": "pager", "message": "wake up"}}]}
SLOW = {"text": "late", "delay_seconds": 60}


@pytest.fixture
def hanging(program: Program) -> Iterator[Program]:
    """A workspace whose model calls a tool that does not come back, or takes a minute itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        rules = [{"when": {"input": "go", "step": 1}, "reply": CALL}, {"when": {"input": "slow"}, "reply": SLOW}]
        program.set_up(
            json.dumps({"rules": rules, "replies_tail": "Hello."}),
            settings=f'[notify.pager]\nurl = "http://127.0.0.1:{port}/hook"\n',
        )
        yield program


def cut_off(program: Program, session: str) -> None:
    """Leave an open turn behind, in its first model call."""
    process = program.start("run", "--session", session, "slow")
    wait_until(lambda: (session,) in program.query("SELECT session_id FROM llm_calls"))
    process.kill()
    finish(process)


def test_a_turn_that_has_used_a_revoked_tool_ends_in_its_own_process(hanging: Program) -> None:
    """M-20, M-21: the call under way is cut off, and no model is asked for an answer or a wrap-up."""
    process = hanging.start("run", "--session", "s1", "go")
    wait_until(lambda: "ToolStarted" in hanging.events())
    revoked = hanging.run("revoke", "--tool", "notify", "--reason", "its key leaked")
    assert (revoked.code, revoked.out) == (0, "s1\n")
    assert revoked.err == "told 1 session: the tool notify (its key leaked) is revoked\n"
    done = finish(process, timeout=10)
    assert (done.code, done.out) == (14, "")
    assert "revoked: the tool notify (its key leaked)\n" in done.err
    assert "error: Stopped: the tool notify (its key leaked) was revoked.\n" in done.err
    assert hanging.events().count("ModelAsked") == 1
    assert hanging.query("SELECT status FROM tool_invocations") == [("Unknown",)]
    assert hanging.run("run", "--quiet", "--session", "s1", "and now?").out == "Hello.\n"
    nothing = hanging.run("revoke", "--tool", "notify")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no turn is open; there is nothing to revoke\n")


def test_a_turn_that_has_not_used_it_goes_on_without_it(hanging: Program) -> None:
    """M-20: checked before use; told to a turn that nobody drives, it counts when the turn goes on."""
    cut_off(hanging, "s1")
    hanging.write(
        "demo.yaml", json.dumps({"rules": [{"when": {"step": 1}, "reply": CALL}], "replies_tail": "Then not."})
    )
    assert hanging.run("revoke", "--tool", "notify", "--session", "s1").out == "s1\n"
    done = hanging.run("resume")
    assert (done.code, done.out) == (0, "Then not.\n")
    assert "not run (revoked): notify was withdrawn while the turn ran\n" in done.err
    assert "  withdrawn: the tool notify\n" in hanging.run("trace", "s1").out


def test_a_person_or_a_session_can_be_withdrawn_and_nobody_else_is(hanging: Program) -> None:
    """M-21: the turn ends without another model call."""
    cut_off(hanging, "s1")
    cut_off(hanging, "s2")
    nobody = hanging.run("revoke", "--principal", "nobody")
    assert (nobody.code, nobody.out) == (0, "")
    assert nobody.err == "no turn of nobody is open; there is nothing to revoke\n"
    typo = hanging.run("revoke", "--tool", "notfy", "--session", "s1")
    assert "hint: no tool of these turns is notfy\n" in typo.err
    assert hanging.run("revoke", "--session", "s2").out == "s2\n"
    ended = hanging.run("resume", "s2")
    assert (ended.code, ended.out) == (14, "")
    assert "stopped, the turn was revoked\n" in ended.err
    assert "no turn is open in session s2" in hanging.run("revoke", "--session", "s2").err
    assert hanging.run("revoke", "--principal", "local").out == "s1\n"
    assert hanging.run("resume", "s1").code == 14
    assert hanging.events().count("ModelAsked") == 2


def test_what_to_revoke_has_to_be_said(program: Program) -> None:
    done = program.run("revoke", "--reason", "why not")
    assert done.code == 2
    assert "say what to withdraw: --tool, --plugin, --principal or --session" in done.err
