"""A corpus of real sessions, on every wire and past every trouble: each replays exactly, sockets closed (G5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.app import App
from oribi.core.ends import Completed, DeadlinePassed, Interrupted, ModelFailed
from oribi.core.events import (
    AnswerChecked,
    ContextCut,
    InputAdded,
    ModelFaulted,
    NoticeGiven,
)
from oribi.core.mail import Interrupt, Steer
from oribi.testing import FakeModelServer

pytestmark = pytest.mark.anyio

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(32)
SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
LOOK: Any = {"name": "list_dir", "arguments": {"path": "."}}
STRANGE: Any = {"name": "no_such_tool", "arguments": {"deep": {"list": [1, 2.5, None, "ü"]}}}

SETTINGS = """
[providers.fake]
base_url = "{base}/v1"
wire = "{wire}"
dialect = {{ {dialect} }}

[providers.spare]
base_url = "{base}/v1"
wire = "openai-chat"
"""
AGENT = """---
name: ops
model: fake:fake-1
tools: [list_dir, save_memory]
policy: {{store_reasoning: {keep}, retry_seconds: 0}}
{more}
---
You are ops.
"""


def workspace(
    root: Path, server: FakeModelServer, wire: str, *, dialect: str = "", keep: str = "turn", more: str = ""
) -> Path:
    init_workspace(root)
    agent = root / ".oribi" / "agents" / "ops" / "AGENT.md"
    agent.parent.mkdir()
    agent.write_text(AGENT.format(keep=keep, more=more))
    settings = root / ".oribi" / "oribi.toml"
    settings.write_text(SETTINGS.format(base=server.base_url, wire=wire, dialect=dialect))
    return root


async def assert_replays(app: App, session_id: str = "s1") -> None:
    records = app.records(session_id)
    replayed = await app.replay(session_id)
    assert replayed.divergence is None, replayed.divergence
    assert replayed.events == len(records)


def names(app: App) -> list[str]:
    return [type(record.event).__name__ for record in app.records("s1")]


@pytest.mark.parametrize(
    ("wire", "keep"), [*((wire, keep) for wire in WIRES for keep in ("turn", "history")), ("gemini", "never")]
)
async def test_reasoning_tools_attachments_and_notices_replay_on_every_wire(
    wire: str, keep: str, tmp_path: Path
) -> None:
    replies: list[Any] = [
        {"text": "I look.", "reasoning": "Where?", "calls": [LOOK, STRANGE]},
        {"text": "", "reasoning": "Nothing to say?"},
        {"text": "Not JSON.", "reasoning": "Is it?"},
        {"fails": {"kind": "overloaded", "message": "busy"}},
        {"text": '{"n": 3}', "reasoning": "Three."},
        {"text": "Again.", "reasoning": "Once more?"},
    ]
    async with FakeModelServer({"replies": replies, "order": "requests"}) as server:
        root = workspace(tmp_path, server, wire, keep=keep)
        async with oribi.open(root) as app:
            picture = tmp_path / "a.png"
            picture.write_bytes(PICTURE)
            end = await app.run("ops", "Count.", session_id="s1", output_schema=SCHEMA, attachments=[picture])
            assert isinstance(end.end, Completed), end.end
            assert isinstance((await app.run("ops", "And now?", session_id="s1")).end, Completed)
            kinds = {type(record.event) for record in app.records("s1")}
            assert kinds >= {ModelFaulted, NoticeGiven, AnswerChecked}
            await assert_replays(app)
        server.check_used()


@pytest.mark.parametrize("keep", ["turn", "history"])
async def test_reasoning_that_goes_back_as_text_replays(keep: str, tmp_path: Path) -> None:
    """A dialect that wants the reasoning back with its call: the text was part of a request, so it has to stay."""
    replies: list[Any] = [
        {"text": "I look.", "reasoning": "Where is it?", "calls": [LOOK]},
        {"text": "Here.", "reasoning": "Found it."},
        {"text": "There."},
    ]
    async with FakeModelServer({"replies": replies, "order": "requests"}) as server:
        root = workspace(tmp_path, server, "openai-chat", dialect='reasoning_back = "reasoning_content"', keep=keep)
        async with oribi.open(root) as app:
            for text in ("Go.", "And now?"):
                await app.run("ops", text, session_id="s1")
            assert "Where is it?" in server.requests[1].body.decode()
            await assert_replays(app)


async def test_fallbacks_cuts_and_giving_up_replay(tmp_path: Path) -> None:
    long = {"name": "list_dir", "arguments": {"path": "many"}}
    replies: list[Any] = [
        {"calls": [long]},
        {"fails": {"kind": "context_length", "message": "too long"}},
        {"fails": {"kind": "rate", "message": "slow down", "retry_after_seconds": 0.01}},
        {"fails": {"kind": "auth", "message": "no"}},
        {"text": "Many."},
        {"fails": {"kind": "bad_request", "message": "no"}},
        {"fails": {"kind": "auth", "message": "no"}},
    ]
    many = tmp_path / "many"
    many.mkdir()
    for number in range(600):
        (many / f"a-file-with-a-long-name-{number}").touch()
    async with FakeModelServer({"replies": replies, "order": "requests"}) as server:
        root = workspace(tmp_path, server, "anthropic", more="fallbacks: [spare:m]")
        async with oribi.open(root) as app:
            assert isinstance((await app.run("ops", "Go.", session_id="s1")).end, Completed)
            assert isinstance((await app.run("ops", "Go.", session_id="s1")).end, ModelFailed)
            assert ContextCut in {type(record.event) for record in app.records("s1")}
            await assert_replays(app)


async def test_interrupts_steering_and_deadlines_replay(tmp_path: Path) -> None:
    replies: list[Any] = [
        {"text": "Slow.", "delay_seconds": 1.5},
        {"calls": [LOOK], "delay_seconds": 0.3},
        {"text": "Both."},
        {"text": "Too late.", "delay_seconds": 1.5},
    ]
    async with FakeModelServer({"replies": replies, "order": "requests"}) as server:
        root = workspace(tmp_path, server, "openai-responses")
        async with oribi.open(root) as app:
            async with app.stream("ops", "Go.", session_id="s1") as stream:
                async for news in stream:
                    if type(getattr(news, "event", None)).__name__ == "ModelAsked":
                        app.send("s1", Interrupt(by="me"))
            assert stream.result is not None
            assert isinstance(stream.result.end, Interrupted)
            async with app.stream("ops", "Again.", session_id="s1") as stream:
                async for news in stream:
                    if type(getattr(news, "event", None)).__name__ == "ModelAsked" and InputAdded.__name__ not in names(
                        app
                    ):
                        app.send("s1", Steer(text="and hurry"))
            assert stream.result is not None
            assert isinstance(stream.result.end, Completed)
            assert "InputAdded" in names(app)
            agent = root / ".oribi" / "agents" / "ops" / "AGENT.md"
            agent.write_text(agent.read_text().replace("\n---\nYou", "\nbudget: {deadline_seconds: 0.5}\n---\nYou"))
            assert isinstance((await app.run("ops", "Quick.", session_id="s1")).end, DeadlinePassed)
            await assert_replays(app)
