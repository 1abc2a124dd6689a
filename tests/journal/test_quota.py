"""The daily quota: counted from the journal itself, over sessions and processes, and exact for the last call (M-16)."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from oribi.core.budget import Spent
from oribi.core.calls import Failed, SessionId, Succeeded, TurnId
from oribi.core.ends import BudgetSpent, Completed
from oribi.core.errors import QuotaSpent
from oribi.core.events import (
    CallCharged,
    Event,
    ModelAsked,
    ModelReplied,
    ParentCall,
    QuotaReached,
    Recorded,
    SessionOpened,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
    TurnEnded,
)
from oribi.core.messages import Reply, Usage
from oribi.journal.quota import DailyLimits, Quota
from oribi.journal.sqlite import SqliteJournal
from tests.elsewhere import elsewhere
from tests.samples import CALL, REFERENCE, STARTED

pytestmark = pytest.mark.anyio

NOON = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()) * 1_000_000
HOUR = 3_600_000_000
OPENING = SessionOpened(agent="ops", principal="ann", channel="cli")
ASKED = ModelAsked(step=1, attempt=1, request=REFERENCE)
REPLIED = ModelReplied(
    step=1, attempt=1, reply=Reply(text="", calls=(CALL,), usage=Usage(input_tokens=90, output_tokens=10))
)
STARTED_CALL = ToolStarted(step=1, call_id=CALL.id)
SETTLED = ToolSettled(step=1, call_id=CALL.id, result=Succeeded(text="x"))
FAULTED = ToolFaulted(step=1, call_id=CALL.id, result=Failed(text="x"))
ENDED = TurnEnded(end=Completed(text="x"))
EVERYBODY = Quota(everybody=DailyLimits(model_calls=3, tool_calls=2, total_tokens=300))


class Sessions:
    """Appends to sessions of one journal, each event at `now`."""

    def __init__(self, journal: SqliteJournal, now: int = NOON) -> None:
        self.journal = journal
        self.now = now
        self._places: dict[str, tuple[int, int]] = {}

    async def add(self, name: str, *events: Event) -> None:
        session_id = SessionId(name)
        if name not in self._places:
            self._places[name] = await self.journal.open_session(session_id), len(self.journal.read(session_id))
        epoch, seq = self._places[name]
        records = [
            Recorded(session_id=session_id, seq=seq + n, turn_id=TurnId("t1"), at=self.now, event=event)
            for n, event in enumerate(events, start=1)
        ]
        await self.journal.append(session_id, epoch, records)
        self._places[name] = epoch, seq + len(events)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "oribi.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(path, quota=EVERYBODY)
    yield journal
    journal.close()


def spent(journal: SqliteJournal, principal: str = "ann", now: int = NOON) -> Sequence[int]:
    return journal.quota.spent_since_midnight(principal, now)


async def test_all_sessions_of_a_principal_count_ended_or_not_and_the_nested_ones_once(journal: SqliteJournal) -> None:
    """M-16, M-11: a tool's calls and those of what is nested in it share one count; a charge is no second one."""
    sessions = Sessions(journal)
    await sessions.add("b", replace(OPENING, principal="bob"), STARTED, ASKED, REPLIED)
    await sessions.add("a", OPENING, STARTED, ASKED, REPLIED, STARTED_CALL)
    parent = ParentCall(session_id=SessionId("a"), turn_id=TurnId("t1"), step=1, call_id=CALL.id)
    await sessions.add("a/c1", replace(OPENING, parent=parent), STARTED, ASKED, REPLIED, STARTED_CALL, SETTLED, ENDED)
    charged = CallCharged(step=1, call_id=CALL.id, spent=Spent(model_calls=1, tool_calls=1), child=SessionId("a/c1"))
    await sessions.add("a", charged)
    await sessions.add("b", ASKED)
    assert spent(journal) == (2, 2, 200)
    assert spent(journal, "bob") == (2, 0, 100)
    assert journal.quota.spent("ann", NOON) is None
    assert journal.quota.tool_calls_left("ann", NOON) == 0
    assert journal.quota.tool_calls_left("bob", NOON) == 2
    assert journal.children(SessionId("a")) == [("a/c1", parent)]


async def test_a_call_tried_again_counts_again_and_one_that_was_cut_off_does_not(journal: SqliteJournal) -> None:
    sessions = Sessions(journal)
    await sessions.add("a", OPENING, STARTED, ASKED, REPLIED, STARTED_CALL)
    assert spent(journal) == (1, 1, 100)
    await sessions.add("a", STARTED_CALL)  # it was cut off, and begins again
    assert spent(journal) == (1, 1, 100)
    await sessions.add("a", FAULTED, STARTED_CALL)
    assert spent(journal) == (1, 2, 100)
    with pytest.raises(QuotaSpent, match="'ann' has no daily tool_calls left: the quota of a day is 2"):
        await sessions.add("a", FAULTED, STARTED_CALL)


async def test_what_a_process_counted_as_it_came_is_what_another_counts_at_once(path: Path) -> None:
    """M-16: the running count is only a count of the rows that are there."""
    first = SqliteJournal(path)
    sessions = Sessions(first, NOON - 13 * HOUR)  # yesterday, in a turn that goes on today
    await sessions.add("old", OPENING, STARTED, ASKED, REPLIED, ENDED)
    await sessions.add("a", OPENING, STARTED, ASKED, REPLIED, STARTED_CALL, SETTLED)
    sessions.now = NOON
    await sessions.add("b", replace(OPENING, principal="bob"), STARTED, ASKED)
    assert spent(first) == (0, 0, 0)
    for number in range(3):
        await sessions.add("b", ASKED)
        spent(first)
        await sessions.add("a", ASKED, REPLIED)
        await sessions.add(
            f"s{number}", replace(OPENING, forked_from=SessionId("a"), forked_seq=4), STARTED, ASKED, REPLIED
        )
        await sessions.add(f"s{number}", ASKED)
    running = spent(first), spent(first, "bob")
    first.close()
    second = SqliteJournal(path)
    assert running == ((6, 0, 300), (4, 0, 0))  # what a fork repeats was spent before
    assert running == (spent(second), spent(second, "bob"))
    second.close()


async def test_a_refused_call_is_not_written_and_the_session_goes_on(journal: SqliteJournal) -> None:
    """M-16: the quota is enforced before the act, within the write that would spend."""
    sessions = Sessions(journal)
    await sessions.add("a", OPENING, STARTED, ASKED, REPLIED, ASKED)
    with pytest.raises(QuotaSpent) as caught:
        await sessions.add("b", OPENING, STARTED, ASKED, ASKED)
    assert caught.value.limit == "daily model_calls"
    assert journal.read(SessionId("b")) == []
    assert spent(journal) == (2, 0, 100)
    end = TurnEnded(end=BudgetSpent(limit="daily model_calls", text=""))
    await sessions.add("b", OPENING, STARTED, QuotaReached(limit="daily model_calls"), end)
    await sessions.add("a", ASKED)
    assert journal.quota.spent("ann", NOON) == "daily model_calls"


async def test_tokens_that_are_spent_leave_no_room_for_another_model_call(journal: SqliteJournal) -> None:
    sessions = Sessions(journal)
    many = replace(REPLIED, reply=replace(REPLIED.reply, usage=Usage(input_tokens=299)))
    await sessions.add("a", OPENING, STARTED, ASKED, many, ASKED)
    assert journal.quota.spent("ann", NOON) is None
    await sessions.add("a", REPLIED)
    assert journal.quota.spent("ann", NOON) == "daily total_tokens"
    with pytest.raises(QuotaSpent, match="daily total_tokens"):
        await sessions.add("a", ASKED)


@pytest.mark.parametrize("together", [False, True])
async def test_of_many_turns_that_want_the_last_calls_only_so_many_get_them(
    journal: SqliteJournal, *, together: bool
) -> None:
    """M-16: exact in one process, whether the turns share a commit or not."""
    sessions = Sessions(journal)
    refused: list[str] = []

    async def turn(name: str) -> None:
        try:
            await sessions.add(name, ASKED)
        except QuotaSpent:
            refused.append(name)

    for number in range(10):
        await sessions.add(f"s{number}", OPENING, STARTED)
        assert journal.quota.spent("ann", NOON) is None

    with journal.driving(), journal.driving() if together else nullcontext():
        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(turn, f"s{number}")
    assert len(refused) == 7
    assert spent(journal) == (3, 0, 0)


async def test_a_day_begins_at_midnight_of_the_zone(path: Path) -> None:
    """The clocks of Berlin went back on 25 October 2026: that day had 25 hours."""
    journal = SqliteJournal(path, quota=EVERYBODY, zone="Europe/Berlin")
    midnight = int(datetime(2026, 10, 24, 22, tzinfo=UTC).timestamp()) * 1_000_000
    sessions = Sessions(journal)
    await sessions.add("a", OPENING, STARTED)
    counts: list[int] = []
    for hours in (-0.5, 0.5, 24.5, 25.5):
        sessions.now = midnight + int(hours * HOUR)
        await sessions.add("a", ASKED)
        counts.append(spent(journal, now=sessions.now)[0])
    journal.close()
    assert counts == [1, 1, 2, 1]


async def test_one_principal_may_have_limits_of_its_own(path: Path) -> None:
    quota = replace(EVERYBODY, principals={"ann": DailyLimits(model_calls=1), "free": DailyLimits()})
    journal = SqliteJournal(path, quota=quota)
    sessions = Sessions(journal)
    for name in ("ann", "bob", "free"):
        await sessions.add(name, replace(OPENING, principal=name), STARTED, ASKED)
    assert [journal.quota.spent(name, NOON) for name in ("ann", "bob", "free")] == ["daily model_calls", None, None]
    assert [journal.quota.tool_calls_left(name, NOON) for name in ("ann", "bob", "free")] == [None, 2, None]
    journal.close()


SPENDER = """
import sys, anyio
from pathlib import Path
from oribi.core.errors import QuotaSpent
from oribi.journal.sqlite import SqliteJournal
from oribi.journal.quota import DailyLimits, Quota
from tests.journal.test_quota import ASKED, OPENING, STARTED, Sessions

async def main(path, name):
    journal = SqliteJournal(Path(path), quota=Quota(everybody=DailyLimits(model_calls=25)))
    sessions = Sessions(journal)
    await sessions.add(name, OPENING, STARTED)
    print("ready", flush=True)
    sys.stdin.readline()
    got = 0
    for _ in range(25):
        try:
            await sessions.add(name, ASKED)
        except QuotaSpent:
            break
        got += 1
    print(got, flush=True)
    journal.close()

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.slow
def test_processes_that_spend_at_once_spend_no_more_than_the_quota(path: Path) -> None:
    """M-16: the count that decides is made within the transaction that spends."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SPENDER, str(path), f"p{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for number in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    got = [int(process.communicate("go\n", timeout=60)[0]) for process in processes]
    assert sum(got) == 25
    assert elsewhere(path, "SELECT count(*) FROM events WHERE type = 'ModelAsked'") == [(25,)]
