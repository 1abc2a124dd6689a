"""`/reason` in a fresh workspace: a few look-ups that change nothing, and then the answer."""

import json
from pathlib import Path

import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.calls import Denied, Json, Succeeded
from oribi.core.ends import Completed
from oribi.core.modes import mode_of

pytestmark = pytest.mark.anyio


def action(name: str, **given: Json) -> Json:
    return {"text": json.dumps({"type": name, "input": given})}


def answer(text: str) -> Json:
    return {"text": json.dumps({"type": "answer", "text": text})}


def workspace(root: Path, *replies: Json) -> Path:
    init_workspace(root)
    (root / "tasks.txt").write_text("fetch water: needs a bucket\n")
    (root / ".oribi" / "oribi.toml").write_text('default_model = "scripted:plan.json"\n')
    (root / ".oribi" / "plan.json").write_text(json.dumps({"replies": [*replies]}))
    return root


async def test_several_look_ups_are_combined_into_one_answer(tmp_path: Path) -> None:
    """M-1, M-4, M-6, M-9, M-25: list, read, answer, in three steps; nothing that writes is even offered."""
    root = workspace(
        tmp_path, action("list_dir", path="."), action("read_file", path="tasks.txt"), answer("You need a bucket.")
    )
    async with oribi.open(root) as app:
        mode, request = mode_of(app.agents.modes("default"), "分析 what does my task need?")
        result = await app.run("default", request, mode=mode, session_id="s1")
        started = app.turn("s1").started
        assert (await app.replay("s1")).divergence is None
    assert (mode, request) == ("reason", "what does my task need?")
    assert result.end == Completed(text="You need a bucket.")
    assert (result.counters.steps, result.counters.tool_calls) == (3, 2)
    assert [type(each.result) for each in result.evidence] == [Succeeded, Succeeded]
    assert started is not None
    offered = {tool.name for tool in started.tools}
    assert offered == {"read_file", "list_dir", "glob", "grep", "current_time", "recall_memory"}


async def test_a_write_is_refused_and_the_turn_still_ends_in_words(tmp_path: Path) -> None:
    """M-25, M-26, C-22: a tool that changes something cannot be had by naming it."""
    root = workspace(tmp_path, action("write_file", path="x.txt", content="x"), answer("I may not write."))
    async with oribi.open(root) as app:
        result = await app.run("default", "write it", mode="reason")
    assert result.end == Completed(text="I may not write.")
    assert [type(each.result) for each in result.evidence] == [Denied]
    assert not (root / "x.txt").exists()
