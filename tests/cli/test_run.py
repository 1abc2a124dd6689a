"""`oribi run`, `resume` and `trace` as a person or a script meets them: the real program in a real workspace."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from inline_snapshot import snapshot

from oribi.testing import FakeModelServer
from tests.cli.program import Finished, Program, steady, wait_until

pytestmark = pytest.mark.slow

LOG_JOB = r"""
rules:
  - when: {step: 1, input: error log}
    reply:
      text: Let me look.
      calls: [{name: grep, arguments: {pattern: ' 502 ', path: error.log}}]
  - when: {tool: grep, result: 'error\.log:\d+:.*502'}
    reply:
      calls: [{name: notify, arguments: {channel: team, message: 'nginx answers 502'}}]
  - when: {tool: notify}
    reply: {text: 'There are 502s; the team knows.'}
  - when: {tool: grep}
    reply: {text: All quiet.}
replies_tail: {text: 'You said: {input}'}
"""
TEAM = '[notify.team]\nfile = "team.log"\n'


@pytest.fixture
def ops(program: Program) -> Program:
    """A workspace with an error log and an agent that knows what to do with it."""
    program.set_up(LOG_JOB, settings=TEAM)
    (program.root / "error.log").write_text("GET / 200 ok\nGET /a 502 bad gateway\n", encoding="utf-8")
    return program


def test_a_whole_run_reads_decides_notifies_and_answers(ops: Program) -> None:
    """O-3, Y-8, Y-11: a message arrives through the CLI, and three steps later the team knows."""
    done = ops.run("run", "Check the recent nginx error log")
    assert done.code == 0
    assert done.out == "Let me look.\nThere are 502s; the team knows.\n"
    assert steady(done.err) == snapshot("""\
[1] grep pattern=" 502 ", path="error.log"
    ok, SPAN: error.log:2:GET /a 502 bad gateway (+1 line)
[2] notify channel="team", message="nginx answers 502"
    ok, SPAN: sent to 'team' (written to 'team.log')
3 steps, 2 tools, 2,493 in / 33 out tokens, SPAN, session SESSION: completed
""")
    assert json.loads((ops.root / "team.log").read_text())["text"] == "nginx answers 502"
    assert ops.query("SELECT agent, channel, turns, last_end FROM sessions") == [("ops", "cli", 1, "Completed")]


def test_the_answer_follows_from_what_is_in_the_log(ops: Program) -> None:
    (ops.root / "error.log").write_text("GET / 200 ok\n", encoding="utf-8")
    assert ops.run("run", "--quiet", "Check the error log").out == "All quiet.\n"
    assert not (ops.root / "team.log").exists()


def test_the_whole_trace_of_that_run(ops: Program) -> None:
    """Y-12: every model call and every tool call is in the journal, and in the trace."""
    ops.run("run", "Check the recent nginx error log")
    done = ops.run("trace")
    assert (done.code, done.err) == (0, "")
    assert steady(re.sub(r"sent .*", "sent ...", done.out)) == snapshot("""\
session SESSION  agent ops  channel cli  by local
opened TIME, 1 turn

turn t1  TIME  completed
  3 steps, 2 tools, 2,493 in / 33 out tokens, SPAN
  model scripted:demo.yaml, tools: grep, read_file, list_dir, notify, write_file
  in Check the recent nginx error log
  step 1  SPAN, 767 in / 13 out tokens
    sent ...
    says Let me look.
    grep  pattern=" 502 ", path="error.log"
      succeeded, 67 characters  (allow by files; SPAN)
      | error.log:2:GET /a 502 bad gateway
      | [1 matching line in 1 of 1 file]
  step 2  SPAN, 833 in / 13 out tokens
    sent ...
    notify  channel="team", message="nginx answers 502"
      succeeded, 38 characters  (allow by catalogue; SPAN)
      | sent ...
  step 3  SPAN, 893 in / 7 out tokens
    sent ...
    says There are 502s; the team knows.
  end completed
""")
    assert ops.query("SELECT step, success FROM llm_calls ORDER BY step") == [(1, 1), (2, 1), (3, 1)]
    assert ops.query("SELECT step, tool_name, status FROM tool_invocations ORDER BY step") == [
        (1, "grep", "Succeeded"),
        (2, "notify", "Succeeded"),
    ]


def test_json_is_one_object_and_all_of_stdout(ops: Program) -> None:
    done = ops.run("run", "--json", "Check the error log")
    outcome = done.json
    assert (outcome["end"], outcome["exit_code"], outcome["text"]) == (
        "completed",
        0,
        "There are 502s; the team knows.",
    )
    assert (outcome["steps"], outcome["tool_calls"]) == (3, 2)
    assert [call["name"] for call in outcome["calls"]] == ["grep", "notify"]
    assert "grep" in done.err
    trace = ops.run("trace", outcome["session_id"][:5], "--json").json
    assert trace["turns"][0]["input_tokens"] == outcome["input_tokens"]


PERSON = '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}'
SAYS_WHO = r"""
replies:
  - text: Ada wrote it.
  - text: "```json\n{\n \"name\": \"Ada\\u001b[31m é\"\n}\n```"
"""


def test_an_answer_that_has_to_fit_a_schema_is_one_line_of_json(program: Program) -> None:
    """Repaired on the way, without the fence, and without anything that would steer a terminal."""
    program.set_up(SAYS_WHO)
    (program.root / "person.json").write_text(PERSON, encoding="utf-8")
    done = program.run("run", "--schema", "person.json", "Who wrote this?")
    assert (done.code, done.out) == (0, '{"name":"Ada\\u001b[31m é"}\n')
    assert done.json == {"name": "Ada\x1b[31m é"}
    assert "Your answer cannot be used" in done.err
    outcome = program.run("run", "--json", "--schema", "person.json", "Who wrote this?").json
    assert (outcome["end"], outcome["value"]) == ("completed", {"name": "Ada\x1b[31m é"})


def test_an_answer_that_never_fits_puts_nothing_on_stdout(program: Program) -> None:
    program.set_up("replies_tail: {text: Ada wrote it.}")
    (program.root / "person.json").write_text(PERSON, encoding="utf-8")
    done = program.run("run", "--quiet", "--schema", "person.json", "Who wrote this?")
    assert (done.code, done.out) == (15, "")
    assert "does not fit the output schema: it is not JSON" in done.err


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, "error: --schema: 'person.json' cannot be read (No such file or directory); name a JSON Schema file\n"),
        ("{", "error: --schema: 'person.json' does not hold JSON ("),
        ("[]", 'error: --schema: \'person.json\' must hold a JSON object, such as {"type": "object"}\n'),
        ('{"type": "nope"}', 'error: output_schema is not a JSON Schema: type: "nope" is not valid'),
    ],
)
def test_a_schema_that_is_none_is_said_before_anything_happens(
    program: Program, content: str | None, error: str
) -> None:
    program.set_up(SAYS_WHO)
    if content is not None:
        (program.root / "person.json").write_text(content, encoding="utf-8")
    done = program.run("run", "--schema", "person.json", "Who wrote this?")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(error)
    assert program.query("SELECT count(*) FROM events") in ([], [(0,)])


async def _see(program: Program, *files: str) -> tuple[Finished, bytes]:
    """What came of a run with attachments, and the request it made of a strict provider."""
    async with FakeModelServer(["A cat."]) as server:
        settings = f'[providers.fake]\nbase_url = "{server.base_url}/v1"\n'
        program.set_up("", settings=settings, model="fake:m")
        options = [part for file in files for part in ("--attach", file)]
        done = await anyio.to_thread.run_sync(lambda: program.run("run", *options, "What is it?"))
        [request] = server.requests
    assert request.broken == ()
    return done, request.body


@pytest.mark.anyio
async def test_files_go_to_the_model_with_the_input(program: Program) -> None:
    (program.root / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n cat")
    (program.root / "note.md").write_text("# It purrs", encoding="utf-8")
    done, body = await _see(program, "cat.png", "note.md")
    assert (done.code, done.out) == (0, "A cat.\n")
    [_, asked] = json.loads(body)["messages"]
    assert asked["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgogY2F0"}},
        {"type": "text", "text": "File 'note.md':\n# It purrs"},
        {"type": "text", "text": "What is it?"},
    ]
    [session] = [session for (session,) in program.query("SELECT DISTINCT session_id FROM events")]
    shown = program.run("sessions", "show", session)
    assert "> What is it?\n  [attached] cat.png\n  [attached] note.md\nA cat.\n" in shown.out
    first, *_ = program.run("sessions", "show", session, "--json").json
    assert (first["text"], first["attached"]) == ("What is it?", ["cat.png", "note.md"])
    assert "  in What is it?\n  attached cat.png\n  attached note.md\n" in program.run("trace").out
    assert program.run("trace", "--json").json["turns"][0]["attached"] == ["cat.png", "note.md"]


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("gone.png", "error: attachment 'gone.png' cannot be read (No such file or directory); name a file\n"),
        ("data.bin", "error: attachment 'data.bin' is neither text in UTF-8 nor a file of a known kind: .flac, .gif"),
        ("big.pdf", "error: attachment 'big.pdf' is larger than 20 MB; send a part of it\n"),
        ("sound.mp3", "error: 'sound.mp3' (audio/mpeg) cannot be sent to 'openai:m', which takes text files, image/"),
    ],
)
def test_a_file_that_cannot_be_sent_is_said_before_anything_happens(program: Program, file: str, error: str) -> None:
    program.set_up("", model="openai:m")
    (program.root / "data.bin").write_bytes(b"\0\1")
    (program.root / "big.pdf").write_bytes(b"%PDF-" + bytes(20_000_000))
    (program.root / "sound.mp3").write_bytes(b"ID3")
    done = program.run("run", "--attach", file, "What is it?")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(error)
    assert program.query("SELECT count(*) FROM events") in ([], [(0,)])


def test_quiet_is_the_answer_and_nothing_else(ops: Program) -> None:
    done = ops.run("run", "--quiet", "Check the error log")
    assert (done.code, done.out, done.err) == (0, "There are 502s; the team knows.\n", "")


def test_the_input_may_come_from_stdin(ops: Program) -> None:
    assert ops.run("run", "--quiet", given="piped\n").out == "You said: piped\n"
    assert ops.run("run", "--quiet", "-", given="dashed").out == "You said: dashed\n"
    assert ops.run("run", "--quiet", given=b"half \xe2\x82").out == "You said: half \N{REPLACEMENT CHARACTER}\n"


def test_a_session_goes_on_under_its_name_and_by_the_beginning_of_its_id(ops: Program) -> None:
    ops.run("run", "--session", "nightly", "one")
    ops.run("run", "--session", "nightly", "two")
    made_up = ops.run("run", "--json", "three").json["session_id"]
    ops.run("run", "--session", made_up[:6], "four")
    ops.run("run", "--session", "night", "five")
    assert sorted(ops.query("SELECT id, turns FROM sessions")) == sorted([("nightly", 2), (made_up, 2), ("night", 1)])


def test_a_session_belongs_to_its_agent(ops: Program) -> None:
    ops.write("agents/other/AGENT.md", "---\nmodel: scripted:demo.yaml\ntools: []\n---\nYou are other.\n")
    ops.run("run", "--agent", "other", "--session", "s1", "one")
    assert ops.run("run", "--quiet", "--session", "s1", "two").out == "You said: two\n"
    done = ops.run("run", "--agent", "ops", "--session", "s1", "three")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: session 's1' belongs to the agent 'other', not to 'ops'; leave out --agent, or begin another session\n"
    )


def test_nothing_the_model_or_a_tool_says_steers_the_terminal(ops: Program) -> None:
    ops.set_up(
        '["\\e[31mred\\e[0m \\u202e and \\a", {text: "\\e]0;x\\a", calls: [{name: "no\\e[2J", arguments: {}}]}, ok]'
    )
    first = ops.run("run", "--session", "s1", "hi")
    assert first.out == "\\x1b[31mred\\x1b[0m \\u202e and \\x07\n"
    second = ops.run("run", "--session", "s1", "hi \x1b[5m")
    shown = second.out + second.err + ops.run("trace").out + ops.run("sessions", "show").out
    shown += ops.run("trace", "--json").out
    assert not [character for character in shown if ord(character) < 32 and character not in "\n\t"]
    assert ops.run("sessions", "show", "--json").json[1]["text"] == "\x1b[31mred\x1b[0m \u202e and \a"


def test_verbose_logs_what_each_prompt_holds(ops: Program) -> None:
    """O-31: the lengths that were injected are logged, so that no cut is silent."""
    ops.write("memory/MEMORY.md", "- " + "x" * 6000 + "\n")
    quiet = ops.run("run", "hi")
    assert "oribi.turn" not in quiet.err
    done = ops.run("run", "hi", "--verbose")
    logged = re.search(r"info: oribi\.turn: .*memory (\d+) characters.*history 0 turns", done.err)
    assert logged is not None
    assert 4000 <= int(logged[1]) < 4300
    assert re.search(r"files: .*; memory 4,\d+ of 6,003 characters", ops.run("trace").out)


def test_tokens_that_were_not_reported_are_unknown(ops: Program) -> None:
    ops.set_up("replies_tail: {text: Hi., usage: {}}")
    assert "unknown tokens" in ops.run("run", "hi").err
    assert ops.run("run", "hi", "--json").json["input_tokens"] is None


def test_it_streams_from_a_real_socket(ops: Program) -> None:
    """The first words are on stdout while the provider still speaks."""
    with FakeModelServer({"replies_tail": {"text": "word " * 40}}) as server:
        settings = f'[providers.fake]\nbase_url = "{server.base_url}/v1"\n'
        ops.set_up("[]", settings=settings, model="fake:any")
        done = ops.run("run", "--json", "go")
    assert done.code == 0
    assert done.json["text"] == "word " * 40
    assert [request.streamed for request in server.requests] == [True]


def test_a_slow_reader_does_not_hold_up_the_turn(ops: Program) -> None:
    long = {"text": "x" * 400_000, "calls": [{"name": "list_dir", "arguments": {"path": "."}}]}
    ops.set_up(json.dumps([long, {"text": "Done.", "delay_seconds": 0.3}]))
    process = ops.start("run", "go")
    try:
        wait_until(lambda: "TurnEnded" in ops.events())
        out, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert out == b"x" * 400_000 + b"\nDone.\n"
    assert process.returncode == 0


def test_a_reader_that_leaves_stops_the_turn_and_leaves_the_session_sound(ops: Program) -> None:
    """O41: no trace on the terminal, and the session takes the next input."""
    script = {"replies": [{"text": "x" * 200_000}], "replies_tail": "Hello again."}
    ops.set_up(json.dumps(script))
    command = f"{sys.executable} -m oribi run --session s1 go | head -c 10"
    done = subprocess.run(
        ["bash", "-c", command + '; echo " ${PIPESTATUS[0]}"'],
        cwd=ops.root,
        env=ops.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "xxxxxxxxxx 141\n"
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert ops.run("run", "--quiet", "--session", "s1", "still there?").out == "Hello again.\n"


def test_a_full_disk_under_stdout_loses_no_answer(ops: Program) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "oribi", "run", "hi"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=ops.root,
            env=ops.environment,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 74
    assert "error: stdout could not be written: No space left on device\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert ops.run("sessions", "show").out.endswith("You said: hi\n")


def test_the_exit_code_says_how_the_turn_ended(ops: Program) -> None:
    looks = {"text": "Still looking.", "calls": [{"name": "list_dir", "arguments": {"path": "."}}]}
    ops.set_up(json.dumps({"replies_tail": looks}))
    ops.write(
        "agents/ops/AGENT.md",
        "---\nmodel: scripted:demo.yaml\ntools: [list_dir]\nsettings: {max_iterations: 2}\n---\nx\n",
    )
    done = ops.run("run", "go")
    assert done.code == 10
    assert "stopped after all its 2 steps, without a final answer" in done.err
    fails = {"kind": "context_length", "message": "too long"}
    ops.write("demo.yaml", json.dumps({"replies_tail": {"fails": fails}}))
    done = ops.run("run", "go")
    assert done.code == 13
    assert "error: The conversation no longer fits the model's context window: too long\n" in done.err
    ends = ops.run("status", "--json").json["ends"]
    assert ends == {"max_steps": 1, "context_exhausted": 1}


def test_a_narrow_terminal_gets_short_lines(ops: Program) -> None:
    import pty

    ours, theirs = pty.openpty()
    ops.environment["COLUMNS"] = "40"
    process = subprocess.Popen(
        [sys.executable, "-m", "oribi", "run", "Check the error log"],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=ops.root,
        env=ops.environment,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:
        pass  # the program has closed the terminal
    os.close(ours)
    assert process.wait(30) == 0
    plain = re.sub(r"\x1b\[\d+m", "", shown.decode())
    work = [line for line in plain.splitlines() if line.startswith(("[", "    "))]
    assert len(work) == 4
    assert [line for line in work if len(line) > 44] == []
    assert "\x1b[32mok\x1b[0m" in shown.decode()
