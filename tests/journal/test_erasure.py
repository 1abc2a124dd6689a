"""Erasure: what is erased is nowhere, what is left verifies and goes on, and no edit can pass for it."""

import hashlib
from pathlib import Path

import anyio
import apsw
import pytest

from oribi.core.calls import SessionId
from oribi.core.ends import Completed
from oribi.core.errors import JournalError
from oribi.core.events import ModelReplied, ToolSettled, TurnEnded, TurnStarted
from oribi.journal.audit import export_lines
from oribi.journal.database import execute
from oribi.journal.erasure import ERASED, erase_message, erase_session
from oribi.journal.sqlite import SqliteJournal
from oribi.journal.verify_journal import verify
from tests.journal.audited import copy_of, go_on, places, record, rows_of, tamper
from tests.samples import LONG
from tests.turn.stage import SESSION

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("erasure") / "oribi.db"
    anyio.run(record, path)
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    return copy_of(original, tmp_path)


def seq_of(path: Path, kind: type, number: int = 0) -> int:
    journal = SqliteJournal(path, read_only=True)
    found = [record.seq for record in journal.read(SESSION) if isinstance(record.event, kind)]
    journal.close()
    return found[number]


def traces(path: Path, text: str) -> list[str]:
    """The files beside the database, and the export, in which `text` still stands."""
    found = [file.name for file in path.parent.iterdir() if file.is_file() and text.encode() in file.read_bytes()]
    return found + (["export"] if text in "".join(export_lines(path, [])) else [])


def test_an_erased_session_leaves_tombstones_that_verify(path: Path) -> None:
    connection = apsw.Connection(str(path))
    execute(connection, "DELETE FROM session_heads WHERE id = 's2'")
    for table in ("events", "turns"):
        execute(connection, f"DELETE FROM {table} WHERE session_id = 's2'")  # noqa: S608
    execute(connection, "VACUUM")
    connection.close()
    before = rows_of(path)
    assert erase_session(path, SESSION, by="ada", reason="asked for") == before
    assert rows_of(path) == before + 1
    assert verify(path).findings == []
    assert traces(path, "CANARY") == []
    journal = SqliteJournal(path)
    with pytest.raises(JournalError, match=r"session 's1' was erased on \d{4}-\d\d-\d\d by ada"):
        journal.read(SESSION)
    journal.close()
    with pytest.raises(JournalError, match="was erased already"):
        erase_session(path, SESSION, by="ada")


def test_what_another_session_holds_too_stays_there(path: Path) -> None:
    erase_session(path, SESSION, by="ada")
    assert verify(path).findings == []
    journal = SqliteJournal(path, read_only=True)
    assert any(isinstance(r.event, TurnStarted) and LONG in r.event.input.text for r in journal.read(SessionId("s2")))
    journal.close()


async def test_an_erased_message_is_gone_and_the_session_goes_on(path: Path) -> None:
    for seq in (seq_of(path, TurnStarted, 1), seq_of(path, ModelReplied, 2)):
        erase_message(path, SESSION, seq, by="ada")
    assert verify(path).findings == []
    journal = SqliteJournal(path, read_only=True)
    events = [record.event for record in journal.read(SESSION)]
    journal.close()
    assert [e.input.text for e in events if isinstance(e, TurnStarted)][1] == ERASED
    assert [e.end for e in events if isinstance(e, TurnEnded)][1] == Completed(text=ERASED)
    told = await go_on(path)
    assert told[-3:] == [ERASED, ERASED, "more"]
    assert verify(path).findings == []


def test_a_tools_result_and_its_arguments_can_be_erased(path: Path) -> None:
    settled = seq_of(path, ToolSettled)
    assert erase_message(path, SESSION, settled, by="ada") == 1
    assert erase_message(path, SESSION, seq_of(path, ModelReplied), by="ada") == 1
    journal = SqliteJournal(path, read_only=True)
    [call] = next(r.event.reply.calls for r in journal.read(SESSION) if isinstance(r.event, ModelReplied))
    journal.close()
    assert call.arguments == {}
    assert verify(path).findings == []


def test_nobody_can_edit_a_row_and_call_it_erased(path: Path) -> None:
    connection = apsw.Connection(str(path))
    [(payload,)] = execute(connection, "SELECT payload FROM events WHERE session_id = 's1' AND seq = 4")
    connection.close()
    digest = hashlib.sha256(payload.encode()).digest()
    tamper(path, "UPDATE events SET payload = '{}', erased = ? WHERE session_id = 's1' AND seq = 4", digest)
    assert places(verify(path)) == [("s1", 4)]


def test_an_erased_row_cannot_be_edited_afterwards(path: Path) -> None:
    seq = seq_of(path, TurnStarted, 1)
    erase_message(path, SESSION, seq, by="ada")
    tamper(
        path,
        "UPDATE events SET payload = replace(payload, 'erased', 'edited') WHERE session_id = 's1' AND seq = ?",
        seq,
    )
    assert places(verify(path)) == [("s1", seq)]
    journal = SqliteJournal(path, read_only=True)
    with pytest.raises(JournalError, match=f"record {seq} was edited"):
        journal.read(SESSION)
    journal.close()


def test_what_holds_no_message_is_said(path: Path) -> None:
    with pytest.raises(JournalError, match="record 1 of session 's1' is a SessionOpened"):
        erase_message(path, SESSION, 1, by="ada")
    with pytest.raises(JournalError, match="has no record 999"):
        erase_message(path, SESSION, 999, by="ada")
    with pytest.raises(JournalError, match="no session 'nope'"):
        erase_session(path, SessionId("nope"), by="ada")
    assert verify(path).findings == []


def test_erasure_needs_the_journal_alone(path: Path) -> None:
    journal = SqliteJournal(path)
    with pytest.raises(JournalError, match="is in use by process"):
        erase_session(path, SESSION, by="ada")
    journal.close()
