"""The journal on SQLite: what is acknowledged is there, what conflicts is refused, what is edited shows."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from oribi.core.calls import CallId, SessionId, Succeeded, TurnId
from oribi.core.ends import Completed
from oribi.core.errors import JournalError, LeaseLost
from oribi.core.events import ModelAsked, SessionOpened, ToolSettled, TurnEnded, TurnStarted
from oribi.core.mail import Input
from oribi.journal.lock import WriterInUseError, WriterLock
from oribi.journal.sqlite import SqliteJournal
from tests.elsewhere import elsewhere
from tests.samples import LONG, REFERENCE, SAMPLES, SESSION, STARTED, recorded

pytestmark = pytest.mark.anyio

OPENING = SAMPLES[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "oribi.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(path)
    yield journal
    journal.close()


async def test_every_event_is_read_back_in_order_after_reopening(path: Path) -> None:
    """O-4: what was said is in SQLite, whole, after the process is gone."""
    first = SqliteJournal(path)
    epoch = await first.open_session(SESSION)
    for _ in range(7):  # the samples that came by letter
        await first.post(SESSION, Input(text="hi"), SessionOpened(agent="ops", principal="me", channel="cli"))
    events = [event for event in SAMPLES if event is not STARTED]
    records = recorded(
        *[
            replace(event, turn_id=TurnId(f"t{number}")) if isinstance(event, TurnStarted) else event
            for number, event in enumerate(events)
        ],
        turn_id=None,
    )
    for record in records:
        await first.append(SESSION, epoch, [record])
    first.close()
    again = SqliteJournal(path, read_only=True)
    assert again.read(SESSION) == records
    assert again.read(SESSION, after=5) == records[5:]
    again.close()


async def test_a_session_reopened_has_a_higher_epoch(journal: SqliteJournal) -> None:
    assert [await journal.open_session(SESSION) for _ in range(3)] == [1, 2, 3]


async def test_a_writer_whose_session_was_taken_over_writes_nothing(journal: SqliteJournal) -> None:
    old = await journal.open_session(SESSION)
    new = await journal.open_session(SESSION)
    with pytest.raises(LeaseLost, match="taken over"):
        await journal.append(SESSION, old, recorded(OPENING))
    await journal.append(SESSION, new, recorded(OPENING))
    assert journal.read(SESSION) == recorded(OPENING)


async def test_the_epoch_is_checked_in_the_database_not_only_in_memory(journal: SqliteJournal, path: Path) -> None:
    epoch = await journal.open_session(SESSION)
    elsewhere(path, "UPDATE session_heads SET epoch = epoch + 1")
    with pytest.raises(LeaseLost):
        await journal.append(SESSION, epoch, recorded(OPENING))
    assert journal.read(SESSION) == []


async def test_a_gap_in_seq_is_refused(journal: SqliteJournal) -> None:
    epoch = await journal.open_session(SESSION)
    with pytest.raises(LeaseLost):
        await journal.append(SESSION, epoch, recorded(OPENING, first=2))


async def test_a_conflict_fails_its_own_job_not_the_batch(journal: SqliteJournal, path: Path) -> None:
    sessions = [SessionId(f"s{n}") for n in range(20)]
    epochs = {session: await journal.open_session(session) for session in sessions}
    elsewhere(path, "UPDATE session_heads SET epoch = 99 WHERE id = 's7'")
    lost: list[SessionId] = []

    async def write(session: SessionId) -> None:
        try:
            await journal.append(session, epochs[session], recorded(OPENING, session_id=session))
        except LeaseLost:
            lost.append(session)

    with journal.driving(), journal.driving():
        async with anyio.create_task_group() as group:
            for session in sessions:
                group.start_soon(write, session)
    assert lost == ["s7"]
    assert [len(journal.read(session)) for session in sessions] == [0 if s == "s7" else 1 for s in sessions]


async def test_sessions_of_one_process_share_commits(journal: SqliteJournal) -> None:
    sessions = [SessionId(f"s{n}") for n in range(50)]
    epochs = {session: await journal.open_session(session) for session in sessions}
    before = journal.commits
    with journal.driving(), journal.driving():
        assert not journal.is_inline
        async with anyio.create_task_group() as group:
            for session in sessions:
                group.start_soon(journal.append, session, epochs[session], recorded(OPENING, session_id=session))
    assert journal.commits - before <= 2


async def test_a_writer_that_is_cancelled_while_it_writes_has_written_and_goes_on(journal: SqliteJournal) -> None:
    epoch = await journal.open_session(SESSION)
    with journal.driving(), journal.driving():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await journal.append(SESSION, epoch, recorded(OPENING))
        assert scope.cancelled_caught
        await journal.append(SESSION, epoch, recorded(STARTED, first=2))
    assert journal.read(SESSION) == recorded(OPENING, STARTED)


async def test_one_driver_alone_starts_no_thread_but_the_one_that_beats(journal: SqliteJournal) -> None:
    before = set(threading.enumerate())
    with journal.driving():
        epoch = await journal.open_session(SESSION)
        await journal.append(SESSION, epoch, recorded(OPENING))
        assert journal.is_inline
    assert [thread.name for thread in threading.enumerate() if thread not in before] == ["oribi-worker"]


async def test_maintenance_has_the_file_alone_and_a_reader_does_not_mind(journal: SqliteJournal, path: Path) -> None:
    epoch = await journal.open_session(SESSION)
    await journal.append(SESSION, epoch, recorded(OPENING))
    with pytest.raises(WriterInUseError, match=r"in use by process \d+; wait for it or stop it"):
        WriterLock(path.with_suffix(".lock"), exclusive=True)
    reader = SqliteJournal(path, read_only=True)
    assert reader.read(SESSION) == recorded(OPENING)
    with pytest.raises(JournalError, match="read only"):
        await reader.open_session(SESSION)
    reader.close()


@pytest.mark.parametrize(
    ("damage", "seq"),
    [
        ("UPDATE events SET payload = replace(payload, 'ops', 'opz') WHERE seq = 1", 1),
        ("UPDATE events SET at = at + 1 WHERE seq = 2", 2),
        ("DELETE FROM events WHERE seq = 2", 2),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 3", 3),
        ("UPDATE events SET type = 'InterruptAsked' WHERE seq = 3", 3),
    ],
)
async def test_an_edited_or_missing_record_is_named(path: Path, damage: str, seq: int) -> None:
    journal = SqliteJournal(path)
    epoch = await journal.open_session(SESSION)
    await journal.append(SESSION, epoch, recorded(OPENING, STARTED, ModelAsked(step=1, attempt=1, request=REFERENCE)))
    journal.close()
    elsewhere(path, damage)
    journal = SqliteJournal(path)
    with pytest.raises(JournalError, match=f"record {seq} was edited or is missing"):
        journal.read(SESSION)
    journal.close()


async def test_edited_content_is_found_when_it_is_read(journal: SqliteJournal, path: Path) -> None:
    epoch = await journal.open_session(SESSION)
    await journal.append(
        SESSION, epoch, recorded(OPENING, ToolSettled(step=1, call_id=CallId("c"), result=Succeeded(text=LONG)))
    )
    elsewhere(path, "UPDATE blobs SET body = 'another text'")
    with pytest.raises(JournalError, match="was edited"):
        journal.read(SESSION)


async def test_a_statement_that_fails_is_told_to_every_job_of_the_batch_and_the_next_goes_on(
    journal: SqliteJournal, path: Path
) -> None:
    """A writer that stays busy after an error would hold every session for ever."""
    epoch = await journal.open_session(SESSION)
    elsewhere(path, "CREATE TRIGGER refuse BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'no'); END")
    with journal.driving(), journal.driving():
        with pytest.raises(JournalError, match="could not be written"):
            await journal.append(SESSION, epoch, recorded(OPENING))
        elsewhere(path, "DROP TRIGGER refuse")
        await journal.append(SESSION, epoch, recorded(OPENING))
    assert journal.read(SESSION) == recorded(OPENING)


async def test_content_is_stored_once(journal: SqliteJournal, path: Path) -> None:
    epoch = await journal.open_session(SESSION)
    settled = ToolSettled(step=1, call_id=CallId("c"), result=Succeeded(text=LONG))
    await journal.append(SESSION, epoch, recorded(OPENING, settled, settled, settled))
    assert elsewhere(path, "SELECT body FROM blobs") == [(LONG,)]


def test_a_database_from_a_newer_version_is_left_alone(path: Path) -> None:
    SqliteJournal(path).close()
    elsewhere(path, "PRAGMA user_version = 99")
    for read_only in (False, True):
        with pytest.raises(JournalError, match=r"newer Oribi \(schema 99; .*: upgrade Oribi to use it"):
            SqliteJournal(path, read_only=read_only)
    assert elsewhere(path, "PRAGMA user_version") == [(99,)]


def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    path.write_text("dear diary, " * 100)
    with pytest.raises(JournalError, match=r"is not an Oribi journal .*move it away"):
        SqliteJournal(path)
    assert path.read_text() == "dear diary, " * 100


def test_reading_without_a_journal_says_how_to_make_one(path: Path) -> None:
    with pytest.raises(JournalError, match=r"there is no journal at .*oribi run"):
        SqliteJournal(path, read_only=True)


async def test_a_turn_is_listed_while_open_and_its_end_after(journal: SqliteJournal) -> None:
    epoch = await journal.open_session(SESSION)
    await journal.append(SESSION, epoch, recorded(OPENING, STARTED))
    assert journal.open_turns() == [SESSION]
    assert [(row.agent, row.turns, row.is_open, row.last_end) for row in journal.sessions()] == [("ops", 1, True, None)]
    await journal.append(SESSION, epoch, recorded(TurnEnded(end=Completed(text="x")), first=3))
    assert journal.open_turns() == []
    assert [(row.is_open, row.last_end) for row in journal.sessions()] == [(False, "Completed")]


@pytest.mark.parametrize("then_read_only", [False, True])
def test_a_full_or_read_only_disk_loses_nothing_acknowledged(tmp_path: Path, *, then_read_only: bool) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    script = str(Path(__file__).parent / "small_disk.py")
    command = ["unshare", "--map-root-user", "--mount", sys.executable, script, str(folder)]
    command += ["ro"] if then_read_only else []
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "unshare:" in run.stderr:
        pytest.skip(f"this machine allows no mount namespace: {run.stderr.strip()}")
    *said, counts = run.stdout.splitlines()
    assert said[0].startswith("the disk is full: "), run.stdout + run.stderr
    if then_read_only:
        assert "make the folder writable" in said[1] or "is read-only" in said[1]
    acknowledged, found = map(int, counts.split())
    assert acknowledged == found > 5
