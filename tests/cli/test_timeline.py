"""The trace of a session as text and as values, from the records of real turns over fakes."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict

import pytest
from inline_snapshot import snapshot

from oribi.cli.timeline import Form, spent_text, timeline
from oribi.cli.tracing import trace_of
from oribi.cli.wording import columns_of
from oribi.core.calls import Failed, JsonObject, ToolResult
from oribi.core.events import FilesRead
from oribi.core.mail import Input
from oribi.core.policy import LoopPolicy
from oribi.testing import ScriptedModel
from oribi.turn.loop import run_turn
from tests.turn.stage import SESSION, Stage

pytestmark = pytest.mark.anyio

Functions = Mapping[str, Callable[[JsonObject], str | ToolResult]]
BUSY: list[dict[str, object]] = [
    {
        "text": "Let me look.",
        "usage": {"input_tokens": 1200, "output_tokens": 30},
        "calls": [{"name": "grep", "arguments": {"pattern": " 502 ", "path": "error.log"}}],
    },
    {
        "usage": {"input_tokens": 1500, "output_tokens": 20},
        "calls": [
            {"name": "notify", "arguments": {"channel": "team"}},
            {"name": "shell", "arguments": {"command": "reboot"}},
            {"name": "grep", "arguments": "{oops"},
        ],
    },
    {"fails": {"kind": "overloaded", "message": "try later", "times": 1}, "text": "Two requests failed."},
]
TOOLS: Functions = {
    "grep": lambda _: "line 1: 502\nline 2: 502",
    "notify": lambda _: Failed(text="the channel is down"),
}


async def played(stage: Stage, *inputs: str) -> Stage:
    session = await stage.open()
    for text in inputs:
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
    return stage


def shown(stage: Stage, form: Form | None = None) -> str:
    return timeline(trace_of(SESSION, stage.journal.read(SESSION)), form or Form(columns=100))


async def test_the_whole_timeline_of_a_busy_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """O-31: the lengths that were sent stand in it; each call has its arguments, verdict, rule, result and time."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    stage = Stage(ScriptedModel(BUSY), TOOLS)
    stage.agents.files = FilesRead(
        bootstrap="b" * 100, skills="", memory="m" * 40, memory_read=90, sources=("AGENTS.md", "memory/MEMORY.md")
    )
    assert shown(await played(stage, "Check the log.")) == snapshot("""\
session s1  agent ops  channel test  by me
opened 2026-01-05 09:00:00, 1 turn

turn t1  2026-01-05 09:00:00  completed
  3 steps, 2 tools, 3,044 in / 55 out tokens, 0 ms
  model scripted:demo, tools: grep, notify
  files: AGENTS.md, memory/MEMORY.md; memory 40 of 90 characters
  in Check the log.
  step 1  0 ms, 1,200 in / 30 out tokens
    sent 1 message, 525 bytes: system 211 and memory 40 characters, 0 earlier turns, 2 tools
    says Let me look.
    grep  pattern=" 502 ", path="error.log"
      succeeded, 23 characters  (allow by catalogue; 0 ms)
      | line 1: 502
      | line 2: 502
  step 2  0 ms, 1,500 in / 20 out tokens
    sent 3 messages, 746 bytes: system 211 and memory 40 characters, 0 earlier turns, 2 tools
    notify  channel="team"
      failed, 19 characters  (allow by catalogue; 0 ms)
      | the channel is down
    shell  command="reboot"
      denied  (deny by catalogue)
      | unknown tool 'shell'; this agent has: grep, notify
    grep  "{oops" (not a JSON object)
      denied  (deny by arguments)
      | the arguments are not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)
  step 3  0 ms
    sent 7 messages, 1.4 kB: system 211 and memory 40 characters, 0 earlier turns, 2 tools
    failed (overloaded): try later
  step 3, attempt 2  0 ms, 344 in / 5 out tokens
    sent 7 messages, 1.4 kB: system 211 and memory 40 characters, 0 earlier turns, 2 tools
    says Two requests failed.
  end completed
""")


async def test_a_timeline_is_readable_in_a_narrow_terminal() -> None:
    stage = await played(Stage(ScriptedModel(BUSY), TOOLS), "Check the log.")
    call_lines = [line for line in shown(stage, Form(columns=50)).splitlines() if "grep  pattern" in line]
    assert [columns_of(line) <= 52 for line in call_lines] == [True]


async def test_long_texts_are_cut_with_a_marker_unless_all_is_wanted() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 101))
    stage = await played(Stage(ScriptedModel([text])), "go")
    cut = shown(stage)
    assert "| line 6\n" in cut
    assert "line 7\n" not in cut
    assert "more characters (--full shows all)" in cut
    whole = shown(stage, Form(columns=100, full=True))
    assert "| line 100\n" in whole
    assert "--full" not in whole


async def test_nothing_a_model_or_tool_says_steers_the_terminal() -> None:
    call: dict[str, object] = {"name": "evil\x1b[2J", "arguments": {"a\x1b[0m": "\x1b]0;x\x07"}}
    script: list[dict[str, object] | str] = [
        {"text": "\x1b[31mred", "calls": [call, {"name": "grep", "arguments": {}}]},
        "\x9b2Jdone\r.",
    ]
    stage = await played(Stage(ScriptedModel(script), {"grep": lambda _: "\x1b[1A\x1b[2K"}), "hi \x1b[5m")
    for form in (Form(columns=80), Form(columns=80, full=True)):
        text = shown(stage, form)
        assert not [character for character in text if ord(character) < 32 and character != "\n"]
        assert "\x9b" not in text
        assert "\\x1b[31mred" in text


async def test_an_open_turn_says_how_it_goes_on() -> None:
    def crash(_: JsonObject) -> str:
        raise KeyboardInterrupt

    script: list[dict[str, object] | str] = [{"calls": [{"name": "once", "arguments": {}}]}, "Done."]
    stage = Stage(ScriptedModel(script), {"once": crash})
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(KeyboardInterrupt):
        await run_turn(session, stage.ports)
    text = shown(stage)
    assert "open: `oribi resume` continues it" in text
    assert "started, no result" in text

    again = await stage.open()
    await run_turn(again, stage.ports)
    text = shown(stage)
    assert "unknown  (allow by catalogue; 0 ms)" in text
    assert "may or may not have happened" in text


async def test_spent_tokens_that_nobody_reported_are_unknown() -> None:
    silent: dict[str, object] = {"text": "Hm.", "usage": {}, "calls": [{"name": "grep", "arguments": {}}]}
    said: dict[str, object] = {"text": "Done.", "usage": {"input_tokens": 7, "output_tokens": 1}}
    answer: dict[str, object] = {"text": "Hi.", "usage": {}}
    stage = await played(Stage(ScriptedModel([silent, said, answer]), TOOLS), "go", "again")
    first, second = trace_of(SESSION, stage.journal.read(SESSION)).turns
    assert spent_text(first) == "2 steps, 1 tool, at least 7 in / 1 out tokens, 0 ms"
    assert spent_text(second) == "1 step, 0 tools, unknown tokens, 0 ms"
    assert (second.input_tokens, second.output_tokens) == (None, None)


async def test_a_turn_that_used_all_steps_shows_its_end_and_last_words() -> None:
    script: list[dict[str, object]] = [{"text": "Still at it.", "calls": [{"name": "grep", "arguments": {}}]}]
    stage = Stage(ScriptedModel(script), TOOLS, policy=LoopPolicy(max_steps=1))
    text = shown(await played(stage, "go"))
    assert "end max_steps: Still at it." in text


async def test_the_trace_as_json_has_every_call_with_its_verdict_and_result() -> None:
    """Y-12: the turn can be traced call by call."""
    trace = trace_of(SESSION, (await played(Stage(ScriptedModel(BUSY), TOOLS), "Check.")).journal.read(SESSION))
    turn = json.loads(json.dumps(asdict(trace)))["turns"][0]
    calls = [call for step in turn["steps"] for call in step["calls"]]
    assert [(call["name"], call["verdict"], call["outcome"], call["result"]) for call in calls] == [
        ("grep", "allow", "succeeded", "line 1: 502\nline 2: 502"),
        ("notify", "allow", "failed", "the channel is down"),
        ("shell", "deny", "denied", None),
        ("grep", "deny", "denied", None),
    ]
    assert calls[3]["arguments"] == "{oops"
    assert [len(step["asks"]) for step in turn["steps"]] == [1, 1, 2]
    assert turn["steps"][2]["asks"][0]["error_kind"] == "overloaded"
    assert (turn["end"], turn["exit_code"], turn["text"]) == ("completed", 0, "Two requests failed.")
