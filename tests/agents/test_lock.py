"""G13: every turn is pinned to what shaped it, and what shaped it can be got back."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

import oribi
from oribi.agents.lock import recorded_lock
from oribi.agents.workspace import init_workspace
from oribi.core.calls import JsonObject, TurnId
from oribi.core.events import TurnStarted
from oribi.core.lock import Change, changes, lock_hash, text_hash
from oribi.journal.database import execute
from tests.agents.test_loader import Desk

SETTINGS = "model: scripted:demo\ntools: [grep]\nparameters: {temperature: 0.5}"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.agent(SETTINGS)
    made.write("AGENTS.md", "The project.")
    made.write("skills/review/SKILL.md", "---\ndescription: Reviews\n---\nLook twice.")
    made.write("agents/ops/skills/own.md", "Own.")
    made.write("agents/ops/MEMORY.md", "Learned.")
    return made


def lock(desk: Desk) -> JsonObject:
    found = desk.agents.load("ops").lock
    assert found is not None
    return found


def items(document: JsonObject, key: str) -> list[str]:
    found = document[key]
    assert isinstance(found, dict)
    return list(found)


def changed(before: JsonObject, after: JsonObject) -> set[str]:
    return {" ".join(change.item) for change in changes(before, after)}


def test_g13_the_hash_is_that_of_the_canonical_form() -> None:
    assert lock_hash({"b": "é", "a": [1, None]}) == text_hash('{"a":[1,null],"b":"é"}')
    assert lock_hash({"a": 1, "b": 2}) == lock_hash({"b": 2, "a": 1}) != lock_hash({"a": 1, "b": 3})


def test_g13_changes_are_named_item_by_item() -> None:
    before: JsonObject = {"tools": {"a": "1", "b": "2"}, "x": 1, "same": None}
    after: JsonObject = {"tools": {"b": "3", "c": "4"}, "x": True}
    assert changes(before, after) == (
        Change(item=("tools", "a"), before="1", after=None),
        Change(item=("tools", "b"), before="2", after="3"),
        Change(item=("tools", "c"), before=None, after="4"),
        Change(item=("x",), before=1, after=True),
    )


def test_g13_each_file_and_setting_changes_its_own_item(desk: Desk) -> None:
    first = lock(desk)
    assert [*items(first, "bootstrap"), *items(first, "tools")] == ["AGENTS.md", "grep"]
    assert items(first, "skills") == ["agents/ops/skills/own.md", "skills/review/SKILL.md"]
    desk.write("AGENTS.md", "Another project.")
    second = lock(desk)
    assert changed(first, second) == {"bootstrap AGENTS.md", "prompt bootstrap"}
    desk.write("skills/review/SKILL.md", "---\ndescription: Reviews\n---\nLook thrice.")
    third = lock(desk)
    assert changed(second, third) == {"skills skills/review/SKILL.md"}
    desk.agent(SETTINGS.replace("[grep]", "[grep, read_file]").replace("0.5", "0.6"))
    assert changed(third, lock(desk)) == {"agent_file", "tools read_file", "model parameters temperature"}


def test_g13_what_an_agent_learned_is_no_part_of_its_lock_and_an_unchanged_lock_is_not_made_again(desk: Desk) -> None:
    first = lock(desk)
    assert lock(desk) is first
    desk.write("agents/ops/MEMORY.md", "Learned more.")
    assert lock(desk) == first


def test_g13_a_broken_edit_keeps_the_lock_of_the_version_in_force(desk: Desk) -> None:
    first = lock(desk)
    desk.agent("model: [")
    assert lock(desk) == first


def test_g13_no_value_of_a_variable_stands_in_the_lock(desk: Desk) -> None:
    desk.agent("model: scripted:${WHO}\nparameters: {user: '${WHO}'}\nidentity: {prompt: 'I am ${WHO}.'}")
    assert "Olga" in desk.agents.load("ops").instructions
    assert "Olga" not in str(lock(desk))


@pytest.mark.anyio
async def test_g13_a_recorded_turn_gives_back_the_texts_that_its_lock_names(tmp_path: Path) -> None:
    init_workspace(tmp_path)
    home = tmp_path / ".oribi"
    (home / "demo.yaml").write_text("[One., Two.]")
    agent = home / "agents" / "default" / "AGENT.md"
    agent.write_text("---\nmodel: scripted:demo.yaml\nskills: {mode: inline}\n---\n" + "Be brief. " * 300)
    (home / "skills" / "review").mkdir()
    (home / "skills" / "review" / "SKILL.md").write_text("Look twice. " * 300)
    (home / "AGENTS.md").write_text("First project.")
    async with oribi.open(tmp_path) as app:
        await app.run("default", "hi", session_id="s1")
        (home / "AGENTS.md").write_text("Second project.")
        agent.write_text(agent.read_text().replace("brief", "long"))
        await app.run("default", "hi", session_id="s1")
    (home / "AGENTS.md").unlink()
    async with oribi.open(tmp_path) as app:
        records = app.records("s1")
    locks = [record.event.lock for record in records if isinstance(record.event, TurnStarted)]
    for number, project, way in ((1, "First", "brief"), (2, "Second", "long")):
        found = recorded_lock(records, TurnId(f"t{number}"))
        assert found.lock == locks[number - 1]
        assert {key: text_hash(text) for key, text in found.texts.items()} == found.lock["prompt"]
        assert f"{project} project." in found.texts["bootstrap"]
        assert ("Be " + way) in found.texts["instructions"]
        assert "Look twice. Look twice." in found.texts["skills"]
    with closing(apsw.Connection(str(home / "oribi.db"))) as database:
        rows = list(execute(database, "SELECT lock_hash FROM turns ORDER BY started_seq", ()))
    assert [row[0] for row in rows] == [lock_hash(one) for one in locks if one is not None]
