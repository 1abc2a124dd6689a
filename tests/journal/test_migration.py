"""A schema is changed while nobody else has the journal open to write, whichever version of Oribi that is (G11)."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from oribi.journal import maintenance
from oribi.journal.database import execute
from oribi.journal.lock import WriterInUseError
from oribi.journal.queries import migrations
from oribi.journal.sqlite import SqliteJournal
from tests.elsewhere import elsewhere
from tests.journal.golden import FOLDER, build

pytestmark = pytest.mark.slow

OLDER = """
import fcntl, os, sqlite3, sys
lock = os.open(sys.argv[1][:-3] + ".lock", os.O_RDWR | os.O_CREAT)
fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
os.pwrite(lock, f"process {os.getpid()}".encode(), 0)
connection = sqlite3.connect(sys.argv[1])
connection.execute("UPDATE session_heads SET updated_at = updated_at")
connection.commit()
print("open", flush=True)
sys.stdin.readline()
"""
"""A process of the version before, which has the journal open: every version takes this lock before it opens it."""

OPENER = """
import sys
from pathlib import Path
from oribi.journal.sqlite import SqliteJournal
print("ready", flush=True)
sys.stdin.readline()
SqliteJournal(Path(sys.argv[1])).close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "oribi.db"
    build((FOLDER / "0002-several-processes.sql").read_text(encoding="utf-8"), path)
    return path


@contextmanager
def process(script: str, path: Path, says: str) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == f"{says}\n"
        try:
            yield started
        finally:
            started.kill()


def open_at_once(path: Path) -> None:
    """Two processes of this version open the journal at the same moment, and neither fails."""
    with process(OPENER, path, "ready") as one, process(OPENER, path, "ready") as two:
        for each in (one, two):
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        assert [each.wait(timeout=30) for each in (one, two)] == [0, 0]


def schema(path: Path) -> object:
    connection = apsw.Connection(str(path))
    try:
        return execute(connection, "PRAGMA user_version")[0][0]
    finally:
        connection.close()


def test_an_older_process_that_has_the_journal_open_meets_no_changed_schema(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "PATIENCE_SECONDS", 0.2)
    with process(OLDER, path, "open") as older:
        with pytest.raises(WriterInUseError, match=rf"in use by process {older.pid}.*stop what has it open"):
            SqliteJournal(path)
        assert schema(path) == 2
        assert not (path.parent / "backups").exists()
        older.kill()
        older.wait()
        SqliteJournal(path).close()
    assert schema(path) == migrations()[-1][0]
    assert len(os.listdir(path.parent / "backups")) == 1  # noqa: PTH208 - only names


def test_processes_that_start_at_once_on_an_older_journal_migrate_it_once_and_all_open_it(path: Path) -> None:
    open_at_once(path)
    assert schema(path) == migrations()[-1][0]
    assert len(os.listdir(path.parent / "backups")) == 1  # noqa: PTH208 - only names


def test_a_new_journal_can_be_made_while_others_make_it_too(tmp_path: Path) -> None:
    path = tmp_path / "oribi.db"
    open_at_once(path)
    assert elsewhere(path, "SELECT count(*) FROM events") == [(0,)]
