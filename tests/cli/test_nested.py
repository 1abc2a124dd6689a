"""A turn nested in a call of another: how it is found, and how both go on after `kill -9`."""

import json

import pytest

from tests.cli.program import Program, finish, wait_until

pytestmark = pytest.mark.slow

SCOUT = "---\ndescription: Scouts.\nmodel: scripted:scout.yaml\ntools: []\n---\nYou scout.\n"
OPS = "---\nmodel: scripted:demo.yaml\ntools: [delegate]\ndelegates: [scout]\n---\nYou are ops.\n"
ASKS = [{"calls": [{"name": "delegate", "arguments": {"agent": "scout", "input": "look"}}]}, "Done."]


def test_a_nested_turn_is_named_and_resumed_with_the_one_it_is_part_of(program: Program) -> None:
    """O-38, M-42: `oribi resume` finds one turn to continue, though two are open."""
    program.set_up(json.dumps(ASKS))
    program.write("agents/ops/AGENT.md", OPS)
    program.write("agents/scout/AGENT.md", SCOUT)
    program.write("scout.yaml", json.dumps({"replies_tail": {"text": "late", "delay_seconds": 60}}))
    process = program.start("run", "--session", "s1", "go")
    wait_until(lambda: program.events().count("ModelAsked") == 2)
    process.kill()
    finish(process)
    program.write("scout.yaml", "[Seen.]")
    done = program.run("resume", "--all")
    assert (done.code, done.out) == (0, "Done.\n")
    rows = {row["channel"]: row["session_id"] for row in program.run("sessions", "list", "--json").json}
    child = rows["nested"]
    assert program.query("SELECT turn_end FROM turns") == [("Completed",)] * 2
    assert f"      in session {child}: 2 model calls, 0 tools, " in program.run("trace", "s1").out
    for arguments in (["trace", child], ["sessions", "show", child[:6]]):
        assert "nested in session s1, for its call t1/1/" in program.run(*arguments).out
