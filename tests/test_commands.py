"""Commands through whole turns: a tool and no model, in the history of the conversation like any call (M-3)."""

import json
from pathlib import Path

import anyio
import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.calls import Json
from oribi.core.ends import BudgetSpent, Completed
from oribi.core.mail import Revoke
from oribi.core.messages import Reply

pytestmark = pytest.mark.anyio


@oribi.tool(effect="pure")
def status(of: str = "all") -> str:
    """Tell the status."""
    return f"{of} is well"


def make(root: Path, replies: list[Json], *, more: str = "", settings: str = "") -> None:
    init_workspace(root)
    (root / ".oribi" / "oribi.toml").write_text(settings)
    folder = root / ".oribi" / "agents" / "ops"
    folder.mkdir()
    commands = "commands:\n  status: {tool: status, rest: of}\n"
    (folder / "AGENT.md").write_text(
        f"---\nmodel: scripted:ops.json\ntools: [status]\n{commands}{more}---\nYou are ops.\n"
    )
    (root / ".oribi" / "ops.json").write_text(json.dumps({"replies": replies}))


async def test_commands_stand_in_the_history_each_under_an_id_of_its_own(tmp_path: Path) -> None:
    """M-3, O-24: providers refuse a history in which two calls share an id."""
    make(tmp_path, [{"text": "hello"}, {"text": "hello"}, {"text": "hello"}])
    async with oribi.open(tmp_path, tools=[status]) as app:
        for text in ("status", "Status the disk", "hi"):
            result = await app.run("ops", text, session_id="s1")
        turn = app.turn("s1")
        assert (await app.replay("s1")).divergence is None
    said = [message for exchange in turn.history for message in exchange.messages]
    calls = [call for message in said if isinstance(message, Reply) for call in message.calls]
    assert [(call.id, call.arguments) for call in calls] == [("t1_command", {}), ("t2_command", {"of": "the disk"})]
    assert result.end == Completed(text="hello")


async def test_a_command_without_room_in_the_day_ends_as_spent(tmp_path: Path) -> None:
    """M-3, M-16: not as a failure of its tool."""
    make(tmp_path, [], settings="[quota]\ntool_calls = 1\n")
    async with oribi.open(tmp_path, tools=[status]) as app:
        assert (await app.run("ops", "status")).end == Completed(text="all is well")
        assert (await app.run("ops", "status")).end == BudgetSpent(limit="daily tool_calls", text="")


async def test_a_router_chooses_among_the_modes_as_they_were_when_the_turn_started(tmp_path: Path) -> None:
    """M-5, M-18, M-22: a mode that is taken out of the file, or a file that is gone, does not stop a turn under way."""
    modes = "route: auto\nmodes:\n  deep: {description: Looks deep., steps: 0, instructions: Think.}\n"
    make(tmp_path, [{"text": "the answer"}], more=modes)
    file = tmp_path / ".oribi" / "agents" / "ops" / "AGENT.md"
    async with oribi.open(tmp_path, tools=[status]) as app:
        source = file.read_text()

        def edit(path: Path) -> None:
            path.write_text(source.replace(modes, "").replace("You are ops.", "You are another."))

        script = {"rules": [{"when": {"input": "go", "position": 0}, "reply": {"text": "deep"}}]}
        (tmp_path / ".oribi" / "ops.json").write_text(json.dumps(script))
        async with app.stream("ops", "go", session_id="s1") as stream:
            async for news in stream:
                if type(getattr(news, "event", None)).__name__ == "ModelAsked":
                    edit(file)
        started = app.turn("s1").started
        assert (await app.replay("s1")).divergence is None
    assert started is not None
    assert (started.mode, started.policy.max_steps) == ("deep", 0)
    assert started.instructions == "You are ops.\n\nThink."


async def test_a_person_who_joins_in_while_a_command_runs_is_answered(tmp_path: Path) -> None:
    """M-3, M-20: the message is in the turn, so the turn goes on with the model."""
    may_end = anyio.Event()

    @oribi.tool(effect="pure", name="status")
    async def slow_status(of: str = "all") -> str:
        """Tell the status."""
        assert app.send("s1", oribi.Steer(text="What is 2+2?"))
        may_end.set()
        return f"{of} is well"

    make(tmp_path, [{"text": "no"}, {"text": "It is 4."}])
    async with oribi.open(tmp_path, tools=[slow_status]) as app:
        result = await app.run("ops", "status", session_id="s1")
        assert (await app.replay("s1")).divergence is None
    assert may_end.is_set()
    assert result.end == Completed(text="It is 4.")


async def test_a_withdrawal_behind_a_waiting_input_is_taken_in(tmp_path: Path) -> None:
    """M-20: wherever it stands among what waits; the input has its turn after."""

    @oribi.tool(effect="pure", name="status")
    async def looking(of: str = "all") -> str:
        """Tell the status."""
        assert app.send("s1", oribi.Input(text="and then?"))
        assert app.send("s1", Revoke(what="the tool danger", tool="danger"))
        return f"{of} is well"

    @oribi.tool
    def danger() -> str:
        """Do it."""
        return "done"

    calls: list[Json] = [{"name": "status", "arguments": {}}, {"name": "danger", "arguments": {}}]
    make(tmp_path, [{"calls": calls}, {"text": "fine"}, {"text": "later"}], more="")
    async with oribi.open(tmp_path, tools=[looking, danger]) as app:
        result = await app.run("ops", "go", session_id="s1")
        assert (await app.replay("s1")).divergence is None
    assert result.end == Completed(text="fine")
    assert [type(each.result).__name__ for each in result.evidence] == ["Succeeded", "Denied"]


async def test_a_changed_command_or_router_is_a_change_of_the_recorded_session(tmp_path: Path) -> None:
    """G13, M-3, M-5: the input would go another way, though no request that was made would be another."""
    modes = "route: auto\nmodes:\n  deep: {description: Looks deep., steps: 0}\n"
    make(tmp_path, [{"text": "none"}], more=modes)
    script = {"rules": [{"when": {"position": 0, "input": "hi"}, "reply": {"text": "none"}}]}
    (tmp_path / ".oribi" / "ops.json").write_text(json.dumps(script))
    file = tmp_path / ".oribi" / "agents" / "ops" / "AGENT.md"
    source = file.read_text()
    async with oribi.open(tmp_path, tools=[status]) as app:
        await app.run("ops", "status", session_id="s1")
        await app.run("ops", "hi", session_id="s2")
        assert app.compare(app.records("s1"), "ops").changes == ()
        assert app.compare(app.records("s2"), "ops").changes == ()
        file.write_text(source.replace("rest: of", "arguments: {of: disk}").replace("route: auto\n", ""))
        [command, *_] = app.compare(app.records("s1"), "ops").changes
        [route, *_] = app.compare(app.records("s2"), "ops").changes
    assert (command.parts, route.parts) == (("the command",), ("the modes to choose from",))
    assert "{'of': 'disk'}" in command.diff


async def test_a_fork_of_a_routed_turn_has_the_time_that_its_mode_gives(tmp_path: Path) -> None:
    """M-10, M-15: the mode's deadline counts, and a fork begins with the time that was left."""
    deep = "{description: Looks deep., policy: {max_steps: 2}, budget: {deadline_seconds: 9}}"
    modes = f"route: auto\nmodes:\n  deep: {deep}\n"
    make(tmp_path, [], more=modes)
    rules: list[Json] = [
        {"when": {"input": "go", "position": 0, "step": 1}, "reply": {"text": "deep"}},
        {"when": {}, "reply": {"text": "done"}},
    ]
    (tmp_path / ".oribi" / "ops.json").write_text(json.dumps({"rules": rules}))
    async with oribi.open(tmp_path, tools=[status]) as app:
        await app.run("ops", "go", session_id="s1")
        started = app.turn("s1").started
        assert started is not None
        assert started.policy.limits.deadline_seconds == 9
        forked = await app.fork("s1", "1.1")
        earlier, later = app.turn("s1").started_at, app.turn(forked).started_at
    assert later > earlier
