"""What a turn costs on the disk: bytes that grow with the turns and not faster, and two commits for each step."""

from pathlib import Path

import apsw
import pytest

from oribi.core.calls import JsonObject
from oribi.core.ends import Completed
from oribi.core.mail import Input
from oribi.core.messages import Reply, ToolMessage
from oribi.core.prompt import Prompt
from oribi.journal.database import execute
from oribi.journal.sqlite import SqliteJournal
from oribi.testing import ScriptedModel
from oribi.testing.script import ScriptedCall, ScriptedReply, render, situation_of
from oribi.turn.loop import run_turn
from oribi.turn.session import Session
from tests.turn.stage import Stage

pytestmark = pytest.mark.anyio

INSTRUCTIONS = "You are ops. " + "Look before you answer, and say which files you used. " * 40
STEPS_OF_A_TURN = 2


def look(arguments: JsonObject) -> str:
    """A result of 256 characters that is different for every call, so that storing content once does not hide it."""
    return f"{arguments['place']}: ".ljust(256, ".")


def looks_then_answers(calls: int) -> ScriptedModel:
    """A model that calls a tool in each of `calls` steps of a turn and then answers."""

    def reply(prompt: Prompt) -> Reply:
        situation = situation_of(prompt)
        place = f"place {situation.input} {situation.step}"
        if situation.step > calls:
            made = ScriptedReply(text=f"I have looked at {place}, and all is well there.")
        else:
            made = ScriptedReply(
                calls=(ScriptedCall(name="look", arguments={"place": place}, id=f"c{situation.step}"),)
            )
        return render(made, situation, {}, prompt_bytes=0)

    return ScriptedModel(reply)


def at_stage(path: Path, *, calls: int = 1) -> Stage:
    stage = Stage(looks_then_answers(calls), {"look": look}, journal=SqliteJournal(path))
    stage.agents.instructions = INSTRUCTIONS
    return stage


async def run_turns(stage: Stage, session: Session, turns: int) -> None:
    for _ in range(turns):
        session.send(Input(text=f"Look around, for the {session.turn.seq}th time."))
        assert isinstance(await run_turn(session, stage.ports), Completed)


def bytes_on_disk(path: Path) -> int:
    """The size of the database once everything in the write-ahead log has moved into it."""
    # By apsw, as the journal: Python's own sqlite3 is another copy of SQLite, which knows nothing of its locks.
    connection = apsw.Connection(str(path))
    [(is_busy, _, _)] = execute(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert not is_busy, "somebody else is still writing"
    return sum(file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")))


async def test_two_hundred_turns_take_at_most_2_1_times_the_disk_of_one_hundred(tmp_path: Path) -> None:
    path = tmp_path / "oribi.db"
    stage = at_stage(path)
    session = await stage.open()
    await run_turns(stage, session, 100)
    after_100 = bytes_on_disk(path)
    await run_turns(stage, session, 100)
    after_200 = bytes_on_disk(path)
    assert len(session.turn.history) == 199, "all turns are one conversation, whose prompts grow to their limit"
    assert after_200 <= 2.1 * after_100
    assert after_200 >= 1.8 * after_100, "the journal keeps every turn"
    assert (after_200 - after_100) / (100 * STEPS_OF_A_TURN) <= 2_200, "bytes for each step"


async def test_a_step_with_one_tool_costs_two_commits(tmp_path: Path) -> None:
    """O-2, Y-12: one before the model is asked, one before the tool acts; what came of them goes with the next."""
    commits: dict[int, int] = {}
    for calls in (0, 1, 5):
        stage = at_stage(tmp_path / f"{calls}.db", calls=calls)
        journal = stage.journal
        assert isinstance(journal, SqliteJournal)
        session = await stage.open()
        before = journal.commits
        await run_turns(stage, session, 1)
        commits[calls] = journal.commits - before
        assert sum(isinstance(message, ToolMessage) for message in session.turn.messages) == calls
        journal.close()
    assert commits == {0: 2, 1: 4, 5: 12}
