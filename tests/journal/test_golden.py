"""Golden journals: what earlier code wrote is read by today's to the same ends, messages and hashes (G6, G11)."""

import hashlib
import json
from pathlib import Path
from typing import cast

import apsw
import pytest

from oribi.core.calls import CallId, SessionId, Unknown
from oribi.core.errors import JournalError
from oribi.core.events import Recorded, ToolSettled
from oribi.core.turn import fold
from oribi.journal.codec import EVENT_TYPES
from oribi.journal.database import execute
from oribi.journal.queries import migrations
from oribi.journal.sqlite import SqliteJournal
from tests.journal.golden import FOLDER, SUMS, build, dump, reading, write_journal

pytestmark = pytest.mark.anyio

GOLDEN = sorted(FOLDER.glob("*.sql"))
CUT_OFF = SessionId("cut-off")


@pytest.fixture(params=GOLDEN, ids=lambda file: file.stem)
def golden(request: pytest.FixtureRequest) -> Path:
    file: Path = request.param
    return file


def built(golden: Path, folder: Path) -> Path:
    path = folder / "oribi.db"
    build(golden.read_text(encoding="utf-8"), path)
    return path


def expected(golden: Path) -> dict[str, object]:
    read: dict[str, object] = json.loads(golden.with_suffix(".json").read_text(encoding="utf-8"))
    return read


def known_then(read: object, then: object) -> object:
    """What is read today, of what was known when `then` was written: objects have got more fields since."""
    match read, then:
        case dict(), dict():
            known = cast("dict[str, object]", then)
            return {
                name: known_then(part, known[name])
                for name, part in cast("dict[str, object]", read).items()
                if name in known
            }
        case list(), list() if len(cast("list[object]", read)) == len(cast("list[object]", then)):
            pairs = zip(cast("list[object]", read), cast("list[object]", then), strict=True)
            return [known_then(part, known) for part, known in pairs]
        case _:
            return read


async def test_it_is_migrated_and_read_to_the_same_ends_messages_and_hashes(golden: Path, tmp_path: Path) -> None:
    path = built(golden, tmp_path)
    SqliteJournal(path).close()
    connection = apsw.Connection(str(path))
    assert execute(connection, "PRAGMA user_version") == [(migrations()[-1][0],)]
    connection.close()
    then = expected(golden)
    assert known_then(reading(path), then) == then


async def test_the_turn_it_was_left_in_can_be_continued(golden: Path, tmp_path: Path) -> None:
    journal = SqliteJournal(built(golden, tmp_path))
    assert CUT_OFF in journal.unfinished()  # whoever drove it is gone
    epoch = await journal.open_session(CUT_OFF)
    turn = fold(CUT_OFF, journal.read(CUT_OFF))
    assert turn.started is not None
    settled = ToolSettled(step=1, call_id=CallId("c1"), result=Unknown(reason="it was cut off"))
    record = Recorded(
        session_id=CUT_OFF, seq=turn.seq + 1, turn_id=turn.started.turn_id, at=1_800_000_000_000_000, event=settled
    )
    await journal.append(CUT_OFF, epoch, [record])
    records = journal.read(CUT_OFF)
    journal.close()
    assert records[-1] == record
    assert fold(CUT_OFF, records).wants_model


def test_golden_files_are_never_edited() -> None:
    """A file that differs from its line was edited: bring it back, and teach today's code to read what it read."""
    sums = {line[66:]: line[:64] for line in SUMS.read_text(encoding="utf-8").splitlines()}
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in FOLDER.iterdir() if file != SUMS}
    assert files == sums
    assert {Path(name).suffix for name in files} == {".sql", ".json"}


async def test_what_the_script_would_write_today_is_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "oribi.db"
    await write_journal(path)
    again = tmp_path / "again"
    again.mkdir()
    build(dump(path), again / "oribi.db")
    assert reading(again / "oribi.db") == reading(path)
    connection = apsw.Connection(str(path))
    written = {name for (name,) in execute(connection, "SELECT DISTINCT type FROM events")}
    connection.close()
    # add a new event to `write_journal`, so that the next golden journal holds it
    assert set(EVENT_TYPES) - written == {"Erased"}


def test_an_older_journal_opened_to_read_only_says_what_to_do(tmp_path: Path) -> None:
    path = built(FOLDER / "0001-spine.sql", tmp_path)
    with pytest.raises(JournalError, match=r"is of an older version .schema 1.*`oribi db migrate`"):
        SqliteJournal(path, read_only=True)
    SqliteJournal(path).close()
    SqliteJournal(path, read_only=True).close()
