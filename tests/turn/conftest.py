"""Whatever these tests record is replayed: the same loop over the record leads to the same events and requests (G5)."""

from collections.abc import Iterator

import anyio
import pytest

from oribi.core.events import Recorded
from oribi.journal.sqlite import SqliteJournal
from oribi.replay.exact import replay
from tests.turn import stage as stages


@pytest.fixture(autouse=True)
def every_session_replays(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test, the session on each of its stages is replayed, with sockets closed."""
    stages.MADE.clear()
    path = request.getfixturevalue("path") if "sqlite" in request.fixturenames else None
    yield
    for stage in stages.MADE:
        if isinstance(stage.journal, SqliteJournal) and path is not None:
            again = SqliteJournal(path, read_only=True)  # its own fixture has closed it
            records = again.read(stages.SESSION)
            again.close()
        else:
            records = stage.journal.read(stages.SESSION)
        if records:
            anyio.run(_replays, records, stage)


async def _replays(records: list[Recorded], stage: stages.Stage) -> None:
    replayed = await replay(stages.SESSION, records, stage.ports.models)
    assert replayed.divergence is None, replayed.divergence
    assert replayed.events == len(records)
