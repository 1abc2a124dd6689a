"""What people may spend in a day and how many model calls a process makes at once, through whole turns (M-16)."""

import itertools
import json
from pathlib import Path

import anyio
import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.calls import Denied, Json
from oribi.core.ends import BudgetSpent, Completed
from oribi.core.events import ModelAsked, ModelReplied, ToolStarted
from oribi.core.results import TurnResult

pytestmark = pytest.mark.anyio

CALL: Json = {"calls": [{"name": "look", "arguments": {}}]}
TWO_CALLS: Json = {"calls": [{"name": "look", "arguments": {}}, {"name": "look", "arguments": {}}]}


def look() -> str:
    """Look."""
    return "seen"


def make(root: Path, settings: str, first: Json, *, delay_seconds: float = 0.0) -> None:
    init_workspace(root)
    (root / ".oribi" / "oribi.toml").write_text(settings)
    folder = root / ".oribi" / "agents" / "ops"
    folder.mkdir()
    (folder / "AGENT.md").write_text("---\nmodel: scripted:ops.json\ntools: []\n---\nYou are ops.\n")
    answer: Json = {"text": "done", "delay_seconds": delay_seconds}
    rules: list[Json] = [{"when": {"step": 1}, "reply": first}, {"when": {}, "reply": answer}]
    (root / ".oribi" / "ops.json").write_text(json.dumps({"rules": rules}))


def count(app: oribi.App, kind: type[object]) -> int:
    return sum(isinstance(r.event, kind) for row in app.sessions() for r in app.records(row.session_id))


async def at_once(app: oribi.App, *principals: str) -> list[TurnResult]:
    results: list[TurnResult] = []

    async def run(principal: str) -> None:
        results.append(await app.run("ops", "go", principal=principal))

    async with anyio.create_task_group() as group:
        for principal in principals:
            group.start_soon(run, principal)
    return results


async def test_the_daily_quota_of_a_person_holds_for_all_turns_at_once(tmp_path: Path) -> None:
    """M-16: three calls a day; two turns that need two each at the same time get three, and the other person theirs."""
    make(tmp_path, "[quota]\nmodel_calls = 3\n", CALL)
    async with oribi.open(tmp_path, tools=[look]) as app:
        results = await at_once(app, "ada", "ada", "bob")
        ends = sorted(type(result.end).__name__ for result in results)
        assert ends == ["BudgetSpent", "Completed", "Completed"]
        assert BudgetSpent(limit="daily model_calls", text="") in [result.end for result in results]
        assert count(app, ModelAsked) == 3 + 2
        again = await app.run("ops", "more", principal="ada")
        assert again.end == BudgetSpent(limit="daily model_calls", text="")
        assert again.counters.model_calls == 0
        replayed = [await app.replay(row.session_id) for row in app.sessions()]
    assert [each.divergence for each in replayed] == [None] * 4


async def test_the_daily_quota_of_tool_calls_ends_the_turn_before_the_call(tmp_path: Path) -> None:
    """M-16: what there is no room for is denied, so that the history has no unanswered call."""
    make(tmp_path, "[quota.principals.ada]\ntool_calls = 1\n", TWO_CALLS)
    async with oribi.open(tmp_path, tools=[look]) as app:
        result = await app.run("ops", "go", principal="ada", session_id="s1")
        assert result.end == BudgetSpent(limit="daily tool_calls", text="")
        assert count(app, ToolStarted) == 1
        assert [type(each.result) for each in result.evidence][1:] == [Denied]
        assert (await app.replay("s1")).divergence is None
        other = await app.run("ops", "go", principal="bob")
    assert other.end == Completed(text="done")


async def test_a_process_makes_so_many_model_calls_at_once(tmp_path: Path) -> None:
    """M-16: one at a time over all sessions: the second reply is there a whole call after the first."""
    make(tmp_path, "[models]\nmax_concurrent_calls = 1\n", {"text": "done", "delay_seconds": 0.2})
    async with oribi.open(tmp_path, tools=[look]) as app:
        await at_once(app, "ada", "bob", "eve")
        times = sorted(
            record.at
            for row in app.sessions()
            for record in app.records(row.session_id)
            if isinstance(record.event, ModelReplied)
        )
    assert [later - earlier >= 190_000 for earlier, later in itertools.pairwise(times)] == [True, True]
