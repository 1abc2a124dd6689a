"""`oribi agents lock` and `oribi agents diff` (G13)."""

import json

import pytest

from tests.cli.program import Program

pytestmark = pytest.mark.slow


def test_g13_an_agent_is_locked_checked_and_compared_with_a_recorded_turn(program: Program) -> None:
    program.set_up("replies_tail: 'You said: {input}'")
    program.write("AGENTS.md", "First line.\n")
    program.run("run", "--session", "s1", "hi")
    assert program.run("agents", "lock", "ops", "--check").code == 2
    assert program.run("agents", "lock", "ops").code == 0
    file = program.home / "agents" / "ops" / "AGENT.lock"
    locked = json.loads(file.read_text())
    same = program.run("agents", "lock", "ops", "--check")
    assert (same.code, same.out) == (0, "ops: as locked\n")
    assert program.run("agents", "diff", "s1:t1", str(file)).out == ""

    program.write("AGENTS.md", "Second line.\n")
    found = program.run("agents", "lock", "ops", "--check")
    assert (found.code, found.out) == (1, "changed  bootstrap AGENTS.md\nchanged  prompt bootstrap\n")
    assert program.run("agents", "diff", "ops").out == found.out
    against = program.run("agents", "diff", "s1:1", "ops")
    assert against.code == 0
    assert "  -First line.\n  +Second line.\n" in against.out
    listed = program.run("agents", "diff", "s1:t1", "ops", "--json").json
    assert [(one["change"], one["item"]) for one in listed] == [
        ("changed", ["bootstrap", "AGENTS.md"]),
        ("changed", ["prompt", "bootstrap"]),
    ]

    for wrong in ("s1:t9", "s9:t1", "nobody"):
        assert program.run("agents", "diff", wrong, "ops").code == 2, wrong
    file.write_text(json.dumps(locked | {"hash": "0" * 64}))
    edited = program.run("agents", "lock", "ops", "--check")
    assert edited.code == 2
    assert "edited" in edited.err
