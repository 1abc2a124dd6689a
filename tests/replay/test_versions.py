"""A recorded session against changed agents, its forks, and as a test file of a user's own CI (G5)."""

import json
from pathlib import Path

import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.actions import CallModel
from oribi.core.calls import Json, SessionId
from oribi.core.decide import explain
from oribi.core.errors import ConfigError, JournalError
from oribi.core.events import FilesRead, ModelAsked, Recorded, SessionOpened, TurnStarted
from oribi.core.turn import fold
from oribi.replay.cassette import read_cassette, write_cassette
from oribi.replay.fork import fork_records
from tests.cli.program import Program

pytestmark = pytest.mark.anyio

AGENT = """---
name: ops
model: scripted:ops.json
tools: [list_dir]
settings: {max_iterations: 5}
---
You are ops.
Be kind.
"""
SCRIPT: Json = {
    "replies": [{"calls": [{"name": "list_dir", "arguments": {"path": "."}}]}, {"text": "I see files."}],
    "replies_tail": {"text": "Still here."},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    init_workspace(tmp_path)
    folder = tmp_path / ".oribi" / "agents" / "ops"
    folder.mkdir()
    (folder / "AGENT.md").write_text(AGENT)
    (tmp_path / ".oribi" / "ops.json").write_text(json.dumps(SCRIPT))
    return tmp_path


async def record(app: oribi.App) -> list[Recorded]:
    for text in ("What is here?", "And now?"):
        await app.run("ops", text, session_id="s1")
    return app.records("s1")


async def test_one_byte_changed_in_agent_md_is_located_at_its_step(root: Path) -> None:
    async with oribi.open(root) as app:
        records = await record(app)
        assert app.compare(records, "ops").changes == ()
        file = root / ".oribi" / "agents" / "ops" / "AGENT.md"
        file.write_text(AGENT.replace("Be kind.", "Be kink."))
        compared = app.compare(records, "ops")
        assert [(each.turn_id, each.step, each.parts) for each in compared.changes] == [
            ("t1", 1, ("system prompt",)),
            ("t1", 2, ("system prompt",)),
            ("t2", 1, ("system prompt",)),
        ]
        assert "-Be kind.\n+Be kink." in compared.changes[0].diff
        assert compared.unlike_the_record == ()


@pytest.mark.parametrize(
    ("was", "now", "parts"),
    [
        ("tools: [list_dir]", "tools: [list_dir, grep]", ("tool grep",)),
        ("tools: [list_dir]", "tools: []", ("tool list_dir",)),
        ("model: scripted:ops.json", "provider: {name: scripted, model: ops.json, temperature: 0.5}", ("parameters",)),
        ("settings: {max_iterations: 5}", "settings: {max_iterations: 4}", None),
    ],
)
async def test_what_changed_in_the_agent_is_what_changes_in_the_requests(
    root: Path, was: str, now: str, parts: tuple[str, ...] | None
) -> None:
    async with oribi.open(root) as app:
        records = await record(app)
    other = root / "other" / "ops"
    other.mkdir(parents=True)
    (other / "AGENT.md").write_text(AGENT.replace(was, now))
    async with oribi.open(root, read_only=True) as app:
        changes = app.compare(records, other).changes
        assert {each.parts for each in changes} == (set() if parts is None else {parts})
        with pytest.raises(ConfigError, match=r"it has no AGENT\.md"):
            app.compare(records, root / "other")


async def test_a_schema_that_came_with_the_input_stays_and_one_of_the_agent_changes(root: Path) -> None:
    """`oribi run --schema` is no part of the agent; `output_schema` in AGENT.md is."""
    file = root / ".oribi" / "agents" / "ops" / "AGENT.md"
    own = "output_schema: {type: string}\n"
    (root / ".oribi" / "ops.json").write_text(json.dumps({"replies_tail": {"text": '"yes"'}}))
    async with oribi.open(root) as app:
        await app.run("ops", "go", session_id="given", output_schema={"type": "string", "minLength": 1})
        assert app.compare(app.records("given"), "ops").changes == ()
        file.write_text(AGENT.replace("settings:", own + "settings:"))
        await app.run("ops", "go", session_id="own")
        assert app.compare(app.records("own"), "ops").changes == ()
        file.write_text(AGENT)
        (change,) = app.compare(app.records("own"), "ops").changes
        assert "output schema" in change.parts


async def test_a_file_that_is_new_in_the_prompt_changes_it(root: Path) -> None:
    """Also where the recorded turn had read no file at all."""
    for name in ("AGENTS.md", "SOUL.md", "USER.md"):
        (root / ".oribi" / name).unlink()
    async with oribi.open(root) as app:
        records = await record(app)
        assert not any(isinstance(each.event, FilesRead) for each in records)
        (root / ".oribi" / "AGENTS.md").write_text("Never say no.")
        changes = app.compare(records, "ops").changes
    assert {each.parts for each in changes} == {("system prompt",)}
    assert "+Never say no." in changes[0].diff


async def test_a_date_line_that_is_switched_off_changes_the_prompt_and_memory_does_not(root: Path) -> None:
    """What an agent learned is no part of its version: a test in a CI does not fail because of it."""
    file = root / ".oribi" / "agents" / "ops" / "AGENT.md"
    async with oribi.open(root) as app:
        records = await record(app)
        (file.parent / "MEMORY.md").write_text("The disk is small.")
        assert app.compare(records, "ops").changes == ()
        file.write_text(AGENT.replace("settings:", "policy: {datetime_line: false}\nsettings:"))
        assert {each.parts for each in app.compare(records, "ops").changes} == {("system prompt",)}


async def test_a_test_file_holds_the_whole_session(root: Path) -> None:
    async with oribi.open(root) as app:
        records = await record(app)
        file = root / "s1.json"
        file.write_bytes(write_cassette(records))
        assert read_cassette(file) == ("ops", "s1", records)
        assert app.compare(read_cassette(file)[2], "ops").changes == ()


@pytest.mark.parametrize("content", ["", "{}", '{"format": "other/1"}', '{"format": "oribi-test/1", "version": 1}'])
def test_a_file_that_is_no_test_is_said_to_be_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ConfigError, match=r"x\.json"):
        read_cassette(tmp_path / "x.json")


# --- forks ------------------------------------------------------------------------------------------------------------


def requests(records: list[Recorded]) -> list[str]:
    return [record.event.request.sha256 for record in records if isinstance(record.event, ModelAsked)]


async def test_forks_of_one_point_see_the_same_and_do_not_touch_each_other(root: Path) -> None:
    """Fork determinism: one of the six properties of every resume (G2)."""
    async with oribi.open(root) as app:
        before = await record(app)
        names = [await app.fork("s1", "1.2") for _ in range(2)]
        ends = [await app.resume(name) for name in names]
        assert [end.text for end in ends] == ["I see files."] * 2
        one, two = (app.records(name) for name in names)
        assert requests(one) == requests(two) == requests(before)[:2]
        assert app.records("s1") == before
        await app.run("ops", "only here", session_id=names[0])
        assert app.records(names[1]) == two
        assert (await app.replay(names[0])).divergence is None


async def test_a_fork_says_where_it_came_from_and_verifies(root: Path) -> None:
    async with oribi.open(root) as app:
        await record(app)
        forked = await app.fork("s1", "1", new_id="trial")
        opened = app.records(forked)[0].event
        assert isinstance(opened, SessionOpened)
        assert (opened.forked_from, len(opened.forked_hash)) == ("s1", 64)
        assert opened.forked_seq == len(app.records(forked))
        assert app.unfinished() == ["trial"]
        with pytest.raises(JournalError, match="there is a session 'trial' already"):
            await app.fork("s1", "1", new_id="trial")


async def test_a_fork_with_another_model_changes_nothing_else(root: Path) -> None:
    (root / ".oribi" / "other.json").write_text(json.dumps({"replies_tail": {"text": "The other one."}}))
    async with oribi.open(root) as app:
        await record(app)
        forked = await app.fork("s1", "1.2", model="scripted:other.json")
        assert (await app.resume(forked)).text == "The other one."
        turn = app.turn(forked)
        assert turn.started is not None
        assert turn.started.model.ref == "scripted:other.json"
        assert turn.started.instructions == "You are ops.\nBe kind."
        assert (await app.run("ops", "next", session_id=forked)).text != "The other one."


async def test_a_fork_has_as_much_time_left_as_its_turn_had_there(root: Path) -> None:
    file = root / ".oribi" / "agents" / "ops" / "AGENT.md"
    file.write_text(AGENT.replace("settings:", "budget: {deadline_seconds: 60}\nsettings:"))
    async with oribi.open(root) as app:
        records = await record(app)
    now = records[-1].at + 3_600_000_000
    forked = fork_records(records, "2.1", SessionId("late"), model=None, now=now)
    start = next(i for i, each in enumerate(forked) if isinstance(each.event, TurnStarted) and each.turn_id == "t2")
    assert [each.at for each in forked[:start]] == [each.at for each in records[:start]]
    assert forked[-1].at == now
    assert now - forked[start].at == records[len(forked) - 1].at - records[start].at
    assert isinstance(explain(fold(SessionId("late"), forked), now)[1], CallModel)


@pytest.mark.parametrize(
    ("place", "said"), [("9", "no step 9; it has 1"), ("7.1", "no turn 7; it has 2"), ("x", "write STEP or TURN.STEP")]
)
async def test_a_place_that_is_not_there_is_said(root: Path, place: str, said: str) -> None:
    async with oribi.open(root) as app:
        await record(app)
        with pytest.raises(JournalError, match=said):
            await app.fork("s1", place)


# --- the program ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_replay_fork_record_and_test_from_the_command_line(program: Program) -> None:
    program.set_up("replies_tail: Hello.")
    program.run("run", "--session", "s1", "hi")
    equal = program.run("replay", "s1")
    assert (equal.code, equal.err) == (0, "")
    assert "1 turn, 1 model call, " in equal.out
    assert program.run("replay", "s1", "--json").json["equal"] is True
    recorded = program.run("record", "s1")
    assert recorded.code == 0
    assert program.run("record", "s1").code == 2
    assert program.run("test").out.endswith("1 tested, 0 changed\n")
    forked = program.run("fork", "s1", "--at", "1")
    assert program.run("resume", "--quiet", forked.out.strip()).code == 0
    assert program.run("sessions", "show", forked.out.strip()).out.endswith("Hello.\n")
    agent = program.home / "agents" / "ops" / "AGENT.md"
    agent.write_text(agent.read_text() + "\nOne more line.\n")
    tested = program.run("test")
    assert tested.code == 1
    assert "turn t1 step 1: system prompt" in tested.out
    assert "+One more line." in tested.out
    assert program.run("replay", "s1", "--agent", "ops").code == 1
    assert program.run("replay", "s1").code == 0, "what was recorded does not depend on what the files say now"
