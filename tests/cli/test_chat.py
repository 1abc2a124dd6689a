"""`oribi chat` on a real terminal and on a pipe."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from inline_snapshot import snapshot

from tests.cli.program import Program, finish, steady, wait_until

pytestmark = pytest.mark.slow

SCRIPT = {
    "rules": [
        {"when": {"input": "look", "step": 1}, "reply": {"calls": [{"name": "list_dir", "arguments": {"path": "."}}]}},
        {"when": {"input": "wait"}, "reply": {"text": "late", "delay_seconds": 60}},
    ],
    "replies_tail": "You said: {input}",
}


@pytest.fixture
def ops(program: Program) -> Program:
    program.set_up(json.dumps(SCRIPT))
    return program


_LEADING = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, '-m', 'oribi', *sys.argv[1:]])"
)


class Terminal:
    """The program on a terminal of its own, as a person sits before it."""

    def __init__(self, process: "subprocess.Popen[bytes]", ours: int) -> None:
        self.process = process
        self._ours = ours
        self._unread = ""
        self.shown = ""

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed by itself, as a shell needs it."""
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def wait_for(self, words: str, seconds: float = 30.0) -> None:
        """Read what is shown until `words` appear after what was waited for before."""
        end = time.monotonic() + seconds
        while words not in self._unread:
            assert time.monotonic() < end, f"{words!r} did not come: {self.shown!r}"
            ready, _, _ = select.select([self._ours], [], [], 0.1)
            if ready:
                try:
                    piece = os.read(self._ours, 65_536).decode(errors="replace")
                except OSError:  # the program has closed the terminal
                    piece = ""
                assert piece, f"the program ended before {words!r} came: {self.shown!r}"
                self.shown += piece
                self._unread += re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", piece)
        self._unread = self._unread.partition(words)[2]


@contextmanager
def on_terminal(program: Program, *arguments: str) -> Generator[Terminal]:
    """The program as the leader of a session on a new terminal, so that Ctrl-C reaches it as a signal."""
    ours, theirs = pty.openpty()
    program.environment |= {"TERM": "xterm", "COLUMNS": "80", "PROMPT_TOOLKIT_NO_CPR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", _LEADING, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=program.root,
        env=program.environment,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_conversation_through_a_pipe(ops: Program) -> None:
    """O-3: each line is an input; the commands answer, the last session goes on."""
    first = ops.run("chat", given="hello\nlook here\n/bogus\n")
    assert first.code == 0
    assert first.out == "You said: hello\nYou said: look here\n"
    assert steady(first.err) == snapshot("""\
agent ops on scripted:demo.yaml, a new session; /help lists commands, Ctrl-D leaves
1 step, 0 tools, 752 in / 3 out tokens, SPAN, session SESSION: completed
[1] list_dir path="."
    ok, SPAN: .oribi/
2 steps, 1 tool, 1,593 in / 9 out tokens, SPAN, session SESSION: completed
error: no command '/bogus', and no such mode of this agent (none); /help lists them
""")
    again = ops.run("chat", given="/tools\n/context\n/help\nand you?\n/new\nfresh\n/quit\nnever\n")
    assert again.code == 0
    assert re.sub(r"[\d,]+ (characters|tokens|bytes)", r"N \1", again.out) == snapshot("""\
grep        Search files for a regular expression, line by line
read_file   Read a text file
list_dir    List a folder: folders end in '/', files show their size in bytes
notify      Send a message to people
write_file  Write a whole text file, replacing what was there
instructions  N characters
bootstrap     N characters
skills        N characters
memory        N characters
history       2 turns
tools         5
last prompt   N tokens, system text N bytes
/new      begin a new session
/tools    the tools of this agent
/context  what the next prompt holds
/reload   read the agent's files again
/help     this list
/quit     leave (so do /exit, Ctrl-D, and Ctrl-C twice)
You said: and you?
You said: fresh
""")
    assert ops.query("SELECT turns FROM sessions ORDER BY turns") == [(1,), (3,)]


def test_the_agents_last_session_goes_on_unless_a_new_one_is_wanted(ops: Program) -> None:
    ops.run("run", "--session", "s1", "one")
    ops.run("chat", given="two\n")
    ops.run("chat", "--new", given="three\n")
    ops.run("chat", "--session", "s1", given="four\n")
    assert sorted(ops.query("SELECT turns FROM sessions")) == [(1,), (3,)]
    assert "agent 'ops', not to 'default'" in ops.run("chat", "--session", "s1", "--agent", "default").err


def test_a_turn_that_cannot_run_is_an_error_and_the_chat_goes_on(ops: Program) -> None:
    ops.write("agents/ops/AGENT.md", "---\nmodel: openai:gpt-5\ntools: []\n---\nYou are ops.\n")
    done = ops.run("chat", given="hello\nhello\n")
    assert done.code == 0
    assert done.err.count("error: model 'openai:gpt-5' needs a key: set the environment variable OPENAI_API_KEY") == 2


def test_ctrl_c_stops_the_turn_and_the_prompt_survives(ops: Program) -> None:
    """O41: interactive prompt survives."""
    with on_terminal(ops, "chat") as terminal:
        terminal.wait_for(">")
        terminal.type("wait for it\r")
        wait_until(lambda: "ModelAsked" in ops.events())
        terminal.type("\x03")
        terminal.wait_for("interrupted by Ctrl-C")
        terminal.wait_for(">")
        terminal.type("still there?\r")
        terminal.wait_for("You said: still there?")
        terminal.wait_for(">")
        terminal.type("\x04")
        assert terminal.process.wait(10) == 0
    assert ops.query("SELECT turn_end FROM turns ORDER BY turn_id") == [("Interrupted",), ("Completed",)]


def test_ctrl_c_empties_the_line_and_twice_on_an_empty_line_leaves(ops: Program) -> None:
    with on_terminal(ops, "chat") as terminal:
        terminal.wait_for(">")
        terminal.type("half a thou")
        terminal.wait_for("thou")
        terminal.type("\x03hello\r")
        terminal.wait_for("You said: hello")
        terminal.wait_for(">")
        terminal.type("\x03")
        terminal.wait_for("Ctrl-C again, or Ctrl-D, leaves")
        terminal.wait_for(">")
        terminal.type("\x03")
        assert terminal.process.wait(10) == 0
    assert ops.query("SELECT content FROM messages WHERE role = 'user'") == [("hello",)]


def test_ctrl_c_twice_in_a_turn_leaves_at_once(program: Program) -> None:
    from tests.cli.test_signals import set_up_stubborn_tool

    set_up_stubborn_tool(program, "async def")
    with on_terminal(program, "chat") as terminal:
        terminal.wait_for(">")
        terminal.type("go\r")
        wait_until((program.root / "runs").exists)
        terminal.type("\x03")
        time.sleep(0.4)  # a person's two presses are not one
        terminal.type("\x03")
        terminal.wait_for("hint: `oribi resume` continues it")
        assert terminal.process.wait(10) == 130
    assert program.query("SELECT turn_end FROM turns") == [(None,)]


def test_sigterm_at_the_prompt_leaves_the_terminal_as_it_was(ops: Program) -> None:
    with on_terminal(ops, "chat") as terminal:
        terminal.wait_for(">")
        assert not terminal.echoes
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.process.wait(10) == 143
        assert terminal.echoes


def test_a_signal_between_the_lines_of_a_pipe_ends_the_chat(ops: Program) -> None:
    process = ops.start("chat", given_later=True)
    assert process.stdin is not None
    process.stdin.write(b"hello\n")
    process.stdin.flush()
    wait_until(lambda: "TurnEnded" in ops.events())
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    done = finish(process)
    assert (done.code, done.out) == (143, "You said: hello\n")
    assert "Traceback" not in done.err


def test_an_open_turn_is_finished_before_the_next_input(ops: Program) -> None:
    process = ops.start("run", "--session", "s1", "wait")
    wait_until(lambda: "ModelAsked" in ops.events())
    process.kill()
    finish(process)
    ops.write("demo.yaml", '["Here I am.", "And on."]')
    done = ops.run("chat", given="next\n")
    assert done.out == "Here I am.\nAnd on.\n"
    assert "note: the last turn was cut off; it goes on\n" in done.err
