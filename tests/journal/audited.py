"""A recorded journal to audit and to tamper with, behind the runtime's back."""

import shutil
from pathlib import Path
from typing import Any

from oribi.core.calls import SessionId
from oribi.core.ends import Completed
from oribi.core.events import Event
from oribi.core.mail import Input
from oribi.core.messages import Reply, UserMessage
from oribi.journal.sqlite import SqliteJournal
from oribi.journal.verify_journal import Report
from oribi.testing import ScriptedModel
from oribi.turn.loop import run_turn
from oribi.turn.session import open_session
from tests.elsewhere import elsewhere
from tests.samples import LONG, recorded
from tests.turn.stage import OPENING, Stage

SCRIPT = {
    "replies": [{"calls": [{"name": "look", "arguments": {"at": LONG}}]}, {"text": f"It says {LONG}"}],
    "replies_tail": {"text": "CANARY-answer"},
}
SESSIONS = ("s1", "s2")


async def record(path: Path) -> None:
    """Two sessions of two turns, with content of their own and shared content."""
    journal = SqliteJournal(path)
    for name in SESSIONS:
        stage = Stage(ScriptedModel(SCRIPT), {"look": lambda _: "CANARY-result " + LONG}, journal=journal)
        session = await open_session(stage.ports, SessionId(name), OPENING)
        for text in (f"CANARY-input {LONG}", "CANARY-short"):
            session.send(Input(text=text))
            await run_turn(session, stage.ports)
    journal.close()


def copy_of(original: Path, folder: Path) -> Path:
    target = folder / "oribi.db"
    for leftover in folder.glob("oribi.db*"):
        leftover.unlink()
    shutil.copy(original, target)
    return target


def tamper(path: Path, sql: str, *values: Any) -> None:
    """Change the file behind the runtime's back."""
    elsewhere(path, sql, *values)
    elsewhere(path, "PRAGMA wal_checkpoint(TRUNCATE)")


def rows_of(path: Path, session_id: str = "s1") -> int:
    [(count,)] = elsewhere(path, "SELECT count(*) FROM events WHERE session_id = ?", session_id)
    return count


def places(report: Report) -> list[tuple[str, int]]:
    return [(finding.session_id, finding.seq) for finding in report.findings]


async def go_on(path: Path) -> list[str]:
    """One more turn of the first session; what the model was told in it."""
    journal = SqliteJournal(path)
    model = ScriptedModel(SCRIPT)
    stage = Stage(model, {"look": lambda _: "x"}, journal=journal)
    session = await stage.open()
    session.send(Input(text="more"))
    end = await run_turn(session, stage.ports)
    assert isinstance(end, Completed)
    journal.close()
    return [message.text for message in model.prompts[-1].messages if isinstance(message, UserMessage | Reply)]


async def append(path: Path, session_id: str, *events: Event) -> None:
    """A session that consists of these events."""
    journal = SqliteJournal(path)
    name = SessionId(session_id)
    await journal.append(name, await journal.open_session(name), recorded(*events, session_id=name))
    journal.close()


def leave_last_turn_open(path: Path) -> int:
    """Take the last row of `s1`, the end of its turn, away, as if it had never been written; where it was."""
    last = rows_of(path)
    tamper(path, "DELETE FROM events WHERE session_id = 's1' AND seq = ?", last)
    head = "SELECT hash FROM events WHERE session_id = 's1' AND seq = session_heads.seq - 1"
    tamper(path, f"UPDATE session_heads SET head = ({head}), seq = seq - 1 WHERE id = 's1'")  # noqa: S608
    tamper(path, "UPDATE turns SET turn_end = NULL, ended_at = NULL WHERE session_id = 's1' AND turn_id = 't2'")
    return last
