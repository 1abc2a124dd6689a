"""`oribi audit` and `oribi sessions erase`, from the command line."""

import subprocess
import sys

import pytest

from tests.cli.program import Program
from tests.elsewhere import elsewhere

pytestmark = pytest.mark.slow


@pytest.fixture
def ops(program: Program) -> Program:
    program.set_up("replies_tail: Hello.")
    program.run("run", "--session", "s1", "my number is 12345678")
    return program


def test_a_journal_is_verified_anchored_exported_and_checked_without_us(ops: Program) -> None:
    """G6: what an auditor is given says the same as the program does."""
    clean = ops.run("audit", "verify")
    assert (clean.code, clean.err) == (0, "")
    assert clean.out.endswith("rows: all verify\n")
    assert ops.run("audit", "anchor", "--to", "anchors").code == 0
    (ops.root / "verify.py").write_text(ops.run("audit", "script").out)
    (ops.root / "all.jsonl").write_text(ops.run("audit", "export").out)
    for file in (str(ops.home / "oribi.db"), "all.jsonl"):
        command = [sys.executable, "-I", "-S", "verify.py", file, "--anchor", "anchors"]
        alone = subprocess.run(command, check=False, cwd=ops.root, capture_output=True, text=True)
        assert (alone.returncode, alone.stdout) == (0, clean.out)
    elsewhere(ops.home / "oribi.db", "UPDATE events SET at = at + 1 WHERE seq = 3")
    found = ops.run("audit", "verify", "--anchor", "anchors")
    assert found.code == 1
    assert found.out.startswith("session s1, row 3: edited: its content and its hash do not belong together\n")
    assert ops.run("audit", "verify", "--json").json["findings"][0]["seq"] == 3
    assert "record 3 was edited or is missing" in ops.run("run", "--session", "s1", "go on").err


def test_a_message_and_a_session_are_erased_and_the_rest_verifies(ops: Program) -> None:
    listed = ops.run("sessions", "erase", "s1", "--message", "1", "--yes")
    assert listed.code == 3
    assert "its messages are in the records 2 (input)" in listed.err
    assert ops.run("sessions", "erase", "s1", "--message", "2", given="n\n").code != 0
    assert "12345678" in ops.run("sessions", "show", "s1").out
    assert ops.run("sessions", "erase", "s1", "--message", "2", "--reason", "asked for", "--yes").code == 0
    assert "12345678" not in ops.run("sessions", "show", "s1").out
    assert "content was erased by" in ops.run("trace", "s1").out
    assert b"12345678" not in b"".join(file.read_bytes() for file in ops.home.glob("oribi.db*"))
    assert ops.run("run", "--quiet", "--session", "s1", "still there?").out == "Hello.\n"
    assert ops.run("fork", "s1", "--at", "1", "--session", "f1").code == 0
    erased = ops.run("sessions", "erase", "s1", "--yes")
    assert erased.code == 0
    assert "forks and nested sessions hold copies of their own, which may need it, too: f1" in erased.err
    assert "was erased on" in ops.run("trace", "s1").err
    assert ops.run("audit", "verify").code == 0
