"""Care of the database: what is checked and when, backups while others write, what is pruned and what stays (G11)."""

import logging
import os
import stat
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import apsw
import pytest

from oribi.core.calls import CallId, SessionId, Succeeded
from oribi.core.ends import Completed
from oribi.core.errors import JournalError
from oribi.core.events import Event, Recorded, SessionOpened, ToolSettled, TurnEnded
from oribi.core.mail import Input
from oribi.journal.backup import back_up
from oribi.journal.care import check, check_at_start, migrate, vacuum
from oribi.journal.database import connect, execute
from oribi.journal.lock import WriterInUseError
from oribi.journal.prune import prune, would_prune
from oribi.journal.sqlite import SqliteJournal
from tests.journal.golden import FOLDER, build
from tests.samples import LONG, SAMPLES, STARTED, recorded

pytestmark = pytest.mark.anyio

OPENING = SessionOpened(agent="ops", principal="me", channel="cli")
ENDED = TurnEnded(end=Completed(text="x"))
FAR = 10**18
"""Later than any record of these tests."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "oribi.db"


def sql(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return execute(connection, statement)
    finally:
        connection.close()


def read_all(path: Path) -> dict[str, list[Recorded]]:
    journal = SqliteJournal(path, read_only=True)
    try:
        return {row.session_id: journal.read(row.session_id) for row in journal.sessions()}
    finally:
        journal.close()


def settled(text: str) -> ToolSettled:
    return ToolSettled(step=1, call_id=CallId("c"), result=Succeeded(text=text))


async def fill(path: Path, sessions: dict[str, Sequence[Event]]) -> None:
    journal = SqliteJournal(path)
    for name, events in sessions.items():
        session_id = SessionId(name)
        epoch = await journal.open_session(session_id)
        await journal.append(session_id, epoch, recorded(OPENING, STARTED, *events, session_id=session_id))
    journal.close()


async def test_a_backup_made_while_a_turn_writes_is_whole_and_private(path: Path) -> None:
    journal = SqliteJournal(path)
    session_id = SessionId("s1")
    epoch = await journal.open_session(session_id)
    await journal.append(session_id, epoch, recorded(*SAMPLES[:2]))

    async def write() -> None:
        for number in range(3, 40):
            await journal.append(session_id, epoch, recorded(settled(f"{number}{LONG}"), first=number))
            await anyio.lowlevel.checkpoint()

    files: list[Path] = []
    async with anyio.create_task_group() as group:
        group.start_soon(write)
        files = [(await anyio.to_thread.run_sync(back_up, path)).file for _ in range(5)]
    journal.close()
    counts: list[int] = []
    for file in files:
        copy = SqliteJournal(file, read_only=True)
        counts.append(len(copy.read(session_id)))  # which verifies the chain
        copy.close()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert counts == sorted(counts)
    assert len(set(files)) == len(files)
    assert {file.name for file in files} == set(os.listdir(path.parent / "backups"))  # noqa: PTH208 - nothing else


async def test_a_backup_never_overwrites(path: Path) -> None:
    await fill(path, {"a": [ENDED]})
    there = path.with_name("there.db")
    there.write_text("mine")
    with pytest.raises(JournalError, match="is there already; nothing was overwritten"):
        back_up(path, there)
    assert there.read_text() == "mine"
    with pytest.raises(JournalError, match="cannot write the backup"):
        back_up(path, path.parent / "no" / "folder.db")


async def test_no_backup_is_made_of_a_damaged_database(path: Path) -> None:
    await fill(path, {"a": [settled(f"{number}{LONG}") for number in range(40)]})
    sql(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek(-4096 * 3, os.SEEK_END)
        file.write(b"\xff" * 4096 * 2)
    with pytest.raises(JournalError, match="damaged"):
        back_up(path)
    assert list((path.parent / "backups").iterdir()) == []
    assert check(path).problems


async def test_an_older_database_is_backed_up_before_it_is_migrated(path: Path) -> None:
    """Opening it to write migrates it; what was there before stays in `backups`."""
    build((FOLDER / "0001-spine.sql").read_text(), path)
    before = sql(path, "SELECT session_id, seq, payload, hash FROM events ORDER BY session_id, seq")
    SqliteJournal(path).close()
    [backup] = (path.parent / "backups").iterdir()
    assert "schema1" in backup.name
    assert sql(backup, "PRAGMA user_version") == [(1,)]
    assert sql(backup, "SELECT session_id, seq, payload, hash FROM events ORDER BY session_id, seq") == before
    SqliteJournal(path).close()
    assert [backup] == list((path.parent / "backups").iterdir())


async def test_a_database_whose_backup_fails_is_not_migrated(path: Path) -> None:
    build((FOLDER / "0001-spine.sql").read_text(), path)
    (path.parent / "backups").write_text("in the way")
    with pytest.raises(JournalError, match="cannot write the backup"):
        SqliteJournal(path)
    assert sql(path, "PRAGMA user_version") == [(1,)]


async def test_migrate_says_what_it_did(path: Path) -> None:
    build((FOLDER / "0001-spine.sql").read_text(), path)
    first, second = migrate(path), migrate(path)
    assert (first.before, first.after) == (1, second.after)
    assert first.backup is not None
    assert second.backup is None
    assert first.backup.file == next((path.parent / "backups").iterdir())
    assert check(path).problems == ()


async def test_maintenance_does_not_meet_a_writer(path: Path) -> None:
    await fill(path, {"a": [ENDED]})
    writer = SqliteJournal(path)
    for maintain in (vacuum, migrate, partial(prune, before=FAR)):
        with pytest.raises(WriterInUseError, match="in use"):
            maintain(path)
    writer.close()


async def test_prune_deletes_old_sessions_whole_and_nothing_of_others(path: Path) -> None:
    shared, own = settled(f"shared {LONG}"), settled(f"own {LONG}")
    await fill(path, {"old": [shared, own, ENDED], "open": [shared], "waits": [ENDED], "new": [ENDED]})
    journal = SqliteJournal(path)
    await journal.post(SessionId("waits"), Input(text="hi"), OPENING)
    journal.close()
    sql(path, "UPDATE session_heads SET updated_at = 2 * updated_at + 1000000000000000000 WHERE id = 'new'")
    kept = {name: read for name, read in read_all(path).items() if name != "old"}
    planned = would_prune(path, before=FAR)
    assert len(read_all(path)) == 4
    done = prune(path, before=FAR)
    assert done == planned
    assert [one.session_id for one in done.sessions] == ["old"]
    assert read_all(path) == kept
    assert sql(path, "SELECT count(*) FROM blobs WHERE body LIKE 'own %'") == [(0,)]
    assert sql(path, "SELECT count(*) FROM blobs WHERE body LIKE 'shared %'") == [(1,)]
    for table, column in (("events", "session_id"), ("turns", "session_id"), ("session_heads", "id")):
        assert sql(path, f"SELECT count(*) FROM {table} WHERE {column} = 'old'") == [(0,)]  # noqa: S608
    assert '"session_id": "old"' in (path.parent / "pruned.jsonl").read_text()
    assert check(path).problems == ()
    assert prune(path, before=FAR).sessions == ()


async def test_vacuum_gives_the_space_back(path: Path) -> None:
    await fill(path, {"old": [*(settled(f"{number}{LONG}") for number in range(200)), ENDED]})
    prune(path, before=FAR)
    done = vacuum(path)
    assert done.after < done.before / 2


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE events SET payload = replace(payload, 'hello', 'hallo') WHERE seq = 2", "record 2 was edited"),
        ("DELETE FROM events WHERE seq = 2", "record 2 was edited or is missing"),
        ("DELETE FROM events WHERE seq = 3", "head says 3 records, there are 2"),
        ("UPDATE blobs SET body = body || 'x'", "was edited"),
        ("DELETE FROM blobs", "is missing"),
        ("DELETE FROM turns", "is not listed"),
        ("UPDATE turns SET ended_at = 1, turn_end = 'Completed'", "listed as Completed"),
    ],
)
async def test_a_full_check_names_the_damage(path: Path, damage: str, said: str) -> None:
    await fill(path, {"a": [settled(LONG)]})
    assert check(path).problems == ()
    sql(path, damage)
    assert said in "\n".join(check(path).problems)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET payload = replace(payload, 'short', 'shirt') WHERE session_id = 'bad' AND seq = 3",
        "DELETE FROM events WHERE session_id = 'bad' AND seq = 3",
        "UPDATE session_heads SET seq = 2 WHERE id = 'bad'",
    ],
)
async def test_the_start_tells_a_damaged_open_turn_and_lets_the_others_go_on(
    path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """G11: the fast check names session and record; only that session is refused."""
    await fill(path, {"good": [settled("short")], "bad": [settled("short")]})
    sql(path, damage)
    with caplog.at_level(logging.WARNING, "oribi.journal"):
        journal = SqliteJournal(path)
    [said] = caplog.messages
    assert "session bad: its last record" in said
    assert "oribi audit verify" in said
    good, bad = SessionId("good"), SessionId("bad")
    epoch = await journal.open_session(good)
    await journal.append(good, epoch, recorded(ENDED, first=4, session_id=good))
    if "head" not in damage:
        with pytest.raises(JournalError, match="restore it from a backup"):
            journal.read(bad)
    journal.close()


async def test_the_check_at_start_is_quick(path: Path) -> None:
    await fill(path, {f"s{number}": [settled(f"{number}{LONG}")] for number in range(60)})
    connection = connect(path)
    spans: list[float] = []
    for _ in range(20):
        begun = time.process_time()
        check_at_start(connection, path)
        spans.append(time.process_time() - begun)
    connection.close()
    assert min(spans) < 0.002
