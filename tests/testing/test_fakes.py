"""The small fakes: a clock turned by hand, a journal in memory, tools made of functions, and what importing costs."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from oribi.core.calls import Allow, CallId, Deny, Failed, JsonObject, Malformed, SessionId, Succeeded, ToolCall, TurnId
from oribi.core.errors import JournalError, LeaseLost
from oribi.core.events import InterruptAsked, Recorded
from oribi.core.policy import LoopPolicy
from oribi.ports import Clock, Invocation, Journal, Tools
from oribi.testing import FakeTools, ManualClock, MemoryJournal

SESSION = SessionId("s1")


def record(seq: int, session: SessionId = SESSION) -> Recorded:
    return Recorded(session_id=session, seq=seq, turn_id=None, at=seq, event=InterruptAsked(by=f"person {seq}"))


def test_a_manual_clock_moves_only_when_told() -> None:
    clock: Clock = ManualClock(datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
    start = clock.now()
    assert clock.now() == start == 1_772_366_400_000_000
    assert isinstance(clock, ManualClock)
    clock.advance(61.5)
    assert clock.now() - start == 61_500_000
    assert clock.local_line() == "Current date and time: Sunday, 2026-03-01 12:01 (UTC)"


def test_a_manual_clock_shows_the_zone_it_was_given() -> None:
    clock = ManualClock(datetime(2026, 7, 1, 22, 30, tzinfo=UTC), zone="Europe/Berlin")
    assert clock.local_line() == "Current date and time: Thursday, 2026-07-02 00:30 (Europe/Berlin)"


def test_a_manual_clock_refuses_to_go_back_or_to_start_nowhere() -> None:
    with pytest.raises(ValueError, match="time does not go back"):
        ManualClock().advance(-1)
    with pytest.raises(ValueError, match="no time zone"):
        ManualClock(datetime(2026, 1, 1))  # noqa: DTZ001 - that it has no zone is the point


@pytest.mark.anyio
async def test_a_memory_journal_keeps_records_for_the_next_opening() -> None:
    journal: Journal = MemoryJournal()
    assert journal.read(SESSION) == []
    first = await journal.open_session(SESSION)
    await journal.append(SESSION, first, [record(1), record(2)])
    second = await journal.open_session(SESSION)
    await journal.append(SESSION, second, [record(3)])
    assert (first, second) == (1, 2)
    assert journal.read(SESSION) == [record(1), record(2), record(3)]
    assert journal.read(SESSION, after=2) == [record(3)]


@pytest.mark.anyio
async def test_of_two_writers_of_a_memory_journal_the_older_loses() -> None:
    journal = MemoryJournal()
    old = await journal.open_session(SESSION)
    new = await journal.open_session(SESSION)
    with pytest.raises(LeaseLost, match="epoch 2, not 1"):
        await journal.append(SESSION, old, [record(1)])
    await journal.append(SESSION, new, [record(1)])
    with pytest.raises(LeaseLost, match="already has record 1"):
        await journal.append(SESSION, new, [record(1), record(2)])
    assert journal.read(SESSION) == [record(1)]
    assert journal.commits == 1


@pytest.mark.anyio
@pytest.mark.parametrize("batch", [[record(2)], [record(1), record(3)], [record(1), record(2, SessionId("s2"))]])
async def test_a_memory_journal_takes_all_records_or_none(batch: list[Recorded]) -> None:
    journal = MemoryJournal()
    epoch = await journal.open_session(SESSION)
    with pytest.raises(JournalError, match="nothing was written"):
        await journal.append(SESSION, epoch, batch)
    assert journal.read(SESSION) == []


@pytest.mark.anyio
async def test_a_session_that_was_never_opened_cannot_be_written() -> None:
    with pytest.raises(LeaseLost):
        await MemoryJournal().append(SESSION, 1, [record(1)])


@pytest.mark.anyio
async def test_fake_tools_run_functions_and_note_each_run() -> None:
    def divide(arguments: JsonObject) -> str:
        return str(6 // int(str(arguments["by"])))

    fakes = FakeTools({"divide": divide})
    tools: Tools = fakes
    catalogue = {spec.name: spec for spec in fakes.specs()}
    invocation = Invocation(
        session_id=SESSION, turn_id=TurnId("t1"), step=1, call_id=CallId("c1"), agent="a", policy=LoopPolicy()
    )

    def call(name: str, by: int) -> ToolCall:
        return ToolCall(id=CallId("c1"), name=name, arguments={"by": by})

    malformed = ToolCall(id=CallId("c2"), name="divide", arguments=Malformed(text="{", problem="not JSON"))
    assert tools.judge(catalogue, call("divide", 2), "a") == Allow(rule="catalogue")
    unknown = tools.judge(catalogue, call("grep", 2), "a")
    assert unknown == Deny(rule="catalogue", reason="unknown tool 'grep'; this agent has: divide")
    assert tools.judge(catalogue, malformed, "a") == Deny(rule="arguments", reason="not JSON")
    assert await tools.run(call("divide", 2), catalogue["divide"], invocation) == Succeeded(text="3")
    failed = await tools.run(call("divide", 0), catalogue["divide"], invocation)
    assert isinstance(failed, Failed)
    assert failed.text.startswith("ZeroDivisionError")
    assert fakes.runs == [("divide", {"by": 2}), ("divide", {"by": 0})]


def test_a_scripted_model_does_not_pay_for_the_server() -> None:
    heavy = "[name for name in ('aiohttp', 'asyncio', 'yaml') if name in sys.modules]"
    program = f"import sys; from oribi.testing import ScriptedModel; print({heavy})"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout == "[]\n"


def test_an_unknown_name_of_the_package_is_an_error_that_lists_the_known_ones() -> None:
    import oribi.testing

    with pytest.raises(AttributeError, match="no name 'MockModel'; it has: FakeModelServer"):
        _ = getattr(oribi.testing, "MockModel")  # noqa: B009 - the name does not exist, so it cannot be written out
    assert all(getattr(oribi.testing, name) is not None for name in oribi.testing.__all__)
