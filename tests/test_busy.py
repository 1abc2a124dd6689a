"""Several processes on one workspace: what comes for a busy session waits, joins, ends the turn, or is refused.

Two `App`s stand for two processes here: each has its own connections, its own worker and its own locks.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeGuard

import anyio
import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.calls import Json
from oribi.core.ends import Completed, Interrupted
from oribi.core.errors import JournalError, LeaseLost, SessionBusy
from oribi.core.events import InputAdded, InterruptAsked, ModelAsked, Recorded, SessionOpened, TurnEnded, TurnStarted
from oribi.core.mail import Input, Interrupt, Steer
from oribi.core.messages import UserMessage
from oribi.core.policy import Busy
from oribi.core.results import TurnResult
from oribi.journal.sqlite import SqliteJournal
from oribi.journal.workers import LIMIT_SECONDS, Worker
from oribi.journal.writer import Job, Writer
from oribi.turn.listen import News
from tests.elsewhere import elsewhere
from tests.samples import SESSION, STARTED, recorded

pytestmark = pytest.mark.anyio

OPENING = SessionOpened(agent="ops", principal="me", channel="test")
AGENT = "---\nname: ops\nmodel: scripted:ops.json\n{more}---\nYou are ops.\n"
SLOW_CALL: Json = {"calls": [{"name": "wait_for_it", "arguments": {}}]}
SCRIPT: Json = {
    "rules": [
        {"when": {"input": "slow", "step": 1}, "reply": SLOW_CALL},
        {"when": {"tool": "wait_for_it"}, "reply": {"text": "slow is done"}},
        {"when": {"input": "(?P<n>.*)"}, "reply": {"text": "to {n}"}},
    ]
}


class Scene:
    """A workspace with one slow tool that runs until it is let go."""

    def __init__(self, root: Path, more: str = "") -> None:
        init_workspace(root)
        folder = root / ".oribi" / "agents" / "ops"
        folder.mkdir()
        (folder / "AGENT.md").write_text(AGENT.format(more=more))
        (root / ".oribi" / "ops.json").write_text(json.dumps(SCRIPT))
        self.root = root
        self.has_begun = anyio.Event()
        self.may_end = anyio.Event()

    def open(self) -> oribi.App:
        async def wait_for_it() -> str:
            """Wait."""
            self.has_begun.set()
            await self.may_end.wait()
            return "it came"

        return oribi.open(self.root, tools=[wait_for_it])

    def query(self, sql: str) -> list[tuple[object, ...]]:
        return elsewhere(self.root / ".oribi" / "oribi.db", sql)

    def inputs(self, app: oribi.App) -> list[str]:
        return [r.event.input.text for r in app.records("s1") if isinstance(r.event, TurnStarted)]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def is_all_durable(seen: list[News]) -> TypeGuard[list[Recorded]]:
    return all(isinstance(news, Recorded) for news in seen)


async def until(is_so: Callable[[], object], seconds: float = 10.0) -> None:
    with anyio.fail_after(seconds):
        while not is_so():  # noqa: ASYNC110 - the state is in another process, as far as this test knows
            await anyio.sleep(0.01)


def waiting(app: oribi.App) -> int:
    database = app.workspace.database
    return len(elsewhere(database, "SELECT id FROM inbox WHERE session_id = 's1' AND taken_seq IS NULL"))


async def test_inputs_for_a_busy_session_get_their_turns_in_the_order_they_came(scene: Scene) -> None:
    """Case O32: across processes, nothing lost, nothing twice, no message between a call and its result."""
    results: dict[str, TurnResult] = {}
    async with scene.open() as one, scene.open() as two, anyio.create_task_group() as group:

        async def send(app: oribi.App, text: str) -> None:
            results[text] = await app.run("ops", text, session_id="s1")

        group.start_soon(send, one, "slow")
        await scene.has_begun.wait()
        for number, (app, text) in enumerate([(two, "b"), (one, "c"), (two, "d")], start=1):
            group.start_soon(send, app, text)
            await until(lambda number=number: waiting(two) == number)
        scene.may_end.set()
        await until(lambda: len(results) == 4)
        assert scene.inputs(one) == ["slow", "b", "c", "d"]
        assert {text: result.text for text, result in results.items()} == {
            "slow": "slow is done",
            "b": "to b",
            "c": "to c",
            "d": "to d",
        }
    assert scene.query("SELECT count(*), count(taken_seq) FROM inbox") == [(3, 3)]


async def test_a_busy_session_refuses_what_is_not_to_wait_and_other_sessions_do_not_mind(scene: Scene) -> None:
    async with scene.open() as one, scene.open() as two, anyio.create_task_group() as group:
        group.start_soon(lambda: one.run("ops", "slow", session_id="s1"))
        await scene.has_begun.wait()
        for app in (one, two):
            with pytest.raises(SessionBusy, match="is in use"):
                await app.run("ops", "now", session_id="s1", busy="refuse")
        assert (await two.run("ops", "else", session_id="s2")).text == "to else"
        scene.may_end.set()
    assert scene.query("SELECT count(*) FROM inbox") == [(0,)]


async def test_a_steering_input_joins_the_open_turn_of_another_process(scene: Scene) -> None:
    async with scene.open() as one, scene.open() as two, anyio.create_task_group() as group:
        results: list[TurnResult] = []

        async def steer() -> None:
            results.append(await two.run("ops", "and hurry", session_id="s1", busy="steer"))

        group.start_soon(lambda: one.run("ops", "slow", session_id="s1"))
        await scene.has_begun.wait()
        group.start_soon(steer)
        await until(lambda: waiting(one) == 1)
        scene.may_end.set()
        await until(lambda: results)
        [added] = [r.event for r in one.records("s1") if isinstance(r.event, InputAdded)]
        assert added == InputAdded(input=UserMessage(text="and hurry"), mail=1)
        assert results[0].turn_id == "t1"
        assert scene.inputs(one) == ["slow"]


async def test_an_interrupting_input_ends_the_open_turn_and_then_has_its_own(scene: Scene) -> None:
    async with scene.open() as one, scene.open() as two, anyio.create_task_group() as group:
        ends: list[object] = []

        async def slow() -> None:
            ends.append((await one.run("ops", "slow", session_id="s1")).end)

        group.start_soon(slow)
        await scene.has_begun.wait()
        with anyio.fail_after(10):
            assert (await two.run("ops", "stop that", session_id="s1", busy="interrupt")).text == "to stop that"
        await until(lambda: ends)
        assert ends == [Interrupted(by="a new input")]


async def test_the_agents_policy_says_what_becomes_of_an_input(tmp_path: Path) -> None:
    scene = Scene(tmp_path, "policy: {busy: refuse}\n")
    async with scene.open() as one, anyio.create_task_group() as group:
        group.start_soon(lambda: one.run("ops", "slow", session_id="s1"))
        await scene.has_begun.wait()
        with pytest.raises(SessionBusy):
            await one.run("ops", "now", session_id="s1")
        scene.may_end.set()


async def test_an_input_that_is_not_waited_for_any_longer_is_taken_back(scene: Scene) -> None:
    async with scene.open() as one, scene.open() as two, anyio.create_task_group() as group:
        group.start_soon(lambda: one.run("ops", "slow", session_id="s1"))
        await scene.has_begun.wait()
        with anyio.move_on_after(0.2):
            await two.run("ops", "never", session_id="s1")
        with pytest.raises(SessionBusy, match="taken back before its turn began"):  # noqa: PT012 - raised at the end
            async with two.stream("ops", "nor this", session_id="s1") as stream:
                await until(lambda: waiting(one) == 1)
                stream.stop("me")
        scene.may_end.set()
    async with scene.open() as app:
        assert scene.inputs(app) == ["slow"]


async def test_whoever_waits_sees_the_turn_that_another_process_drives(scene: Scene) -> None:
    """What is durable is seen, from the beginning of the turn that took the input on; live fragments are not."""
    async with scene.open() as one, scene.open() as two, anyio.create_task_group() as group:
        group.start_soon(lambda: one.run("ops", "slow", session_id="s1"))
        await scene.has_begun.wait()
        async with two.stream("ops", "and hurry", session_id="s1", busy="steer") as stream:
            await until(lambda: waiting(one) == 1)
            scene.may_end.set()
            seen = [news async for news in stream]
        last = [record for record in one.records("s1") if record.seq >= seen[0].seq] if is_all_durable(seen) else []
        assert seen == last
        assert isinstance(last[0].event, TurnStarted)
        assert any(isinstance(record.event, InputAdded) for record in last)
        assert stream.result is not None
        assert stream.result.turn_id == "t1"


async def test_an_input_in_a_mode_waits_for_a_turn_of_its_own(scene: Scene) -> None:
    """M-6, M-18: what it asked for would be lost in the turn that it joined."""
    file = scene.root / ".oribi" / "agents" / "ops" / "AGENT.md"
    file.write_text(AGENT.format(more="modes:\n  plain: {steps: 0}\n"))
    results: list[TurnResult] = []
    async with scene.open() as app, anyio.create_task_group() as group:
        group.start_soon(lambda: app.run("ops", "slow", session_id="s1"))
        await scene.has_begun.wait()

        async def plainly() -> None:
            results.append(await app.run("ops", "say", session_id="s1", mode="plain", busy="steer"))

        group.start_soon(plainly)
        await until(lambda: waiting(app) == 1)
        scene.may_end.set()
    assert [result.text for result in results] == ["to say"]


async def test_what_was_posted_comes_before_what_is_given_later(scene: Scene) -> None:
    async with scene.open() as one, scene.open() as two:
        await one.run("ops", "first", session_id="s1")
        await one.post("s1", Input(text="posted"))
        assert (await two.run("ops", "given", session_id="s1")).text == "to given"
        assert scene.inputs(two) == ["first", "posted", "given"]


async def test_the_same_client_key_is_the_same_input(scene: Scene) -> None:
    async with scene.open() as app:
        await app.run("ops", "hi", session_id="s1")
        for _ in range(3):
            await app.post("s1", Input(text="once"), client_key="k1")
        with anyio.fail_after(10):
            assert await app.work(anyio.Event(), leave_when_done=True) == 1
        assert scene.inputs(app) == ["hi", "once"]


async def test_a_worker_drives_what_waits_and_continues_what_was_cut_off(scene: Scene) -> None:
    """G2. What a living process drives is left alone; a stop that came too late for its turn is dropped."""
    async with scene.open() as one, scene.open() as two, anyio.create_task_group() as group:
        group.start_soon(lambda: one.run("ops", "slow", session_id="s1"))
        await scene.has_begun.wait()
        await one.post("s1", Input(text="later"))
        assert await two.work(anyio.Event(), leave_when_done=True) == 0
        group.cancel_scope.cancel()
    async with scene.open() as app:
        scene.may_end.set()
        assert app.unfinished() == ["s1"]
        await app.post("s1", Interrupt(by="nobody in time"))
        with anyio.fail_after(10):
            assert await app.work(anyio.Event(), leave_when_done=True) == 2
        ends = [r.event.end for r in app.records("s1") if isinstance(r.event, TurnEnded)]
        assert ends == [Interrupted(by="nobody in time"), Completed(text="to later")]


async def test_a_worker_that_is_told_to_leave_lets_the_effect_finish_and_the_turn_open(scene: Scene) -> None:
    is_over = anyio.Event()
    async with scene.open() as app, anyio.create_task_group() as group:
        await app.run("ops", "hi", session_id="s1")
        await app.post("s1", Input(text="slow"))
        group.start_soon(lambda: app.work(is_over))
        await scene.has_begun.wait()
        is_over.set()
        await anyio.sleep(0.05)
        scene.may_end.set()
    async with scene.open() as app:
        names = [type(record.event).__name__ for record in app.records("s1")]
        assert names[-1] == "ToolSettled", "what had begun was not lost"
        assert app.unfinished() == ["s1"]
        assert (await app.resume("s1")).text == "slow is done"


async def test_a_worker_does_not_wait_longer_than_its_grace(scene: Scene) -> None:
    is_over = anyio.Event()
    async with scene.open() as app:
        await app.run("ops", "hi", session_id="s1")
        await app.post("s1", Input(text="slow"))
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: app.work(is_over, grace_seconds=0.1))
                await scene.has_begun.wait()
                is_over.set()
        assert app.unfinished() == ["s1"]


async def test_a_letter_that_cannot_start_stops_nobody(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    async with scene.open() as app:
        await app.run("ops", "hi", session_id="s1")
        await app.post("s1", Input(text="impossible", output_schema={"type": "nope"}))
        assert (await app.run("ops", "next", session_id="s1")).text == "to next"
        assert "a waiting input of session s1 cannot start" in caplog.text


@pytest.mark.parametrize("busy", ["queue", "refuse", "steer", "interrupt"])
async def test_a_session_that_nobody_drives_is_never_busy(scene: Scene, busy: Busy) -> None:
    async with scene.open() as one, scene.open() as two:
        for number, app in enumerate((one, two, one, two)):
            assert (await app.run("ops", str(number), session_id="s1", busy=busy)).text == f"to {number}"
        assert scene.inputs(one) == ["0", "1", "2", "3"]
    assert scene.query("SELECT count(*), max(owner) FROM session_heads") == [(1, None)]


# --- leases (scale.md's traps) ----------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "oribi.db"


def asked_first() -> list[Recorded]:
    return recorded(OPENING, STARTED)


async def test_a_living_worker_keeps_its_session_and_a_dead_ones_is_taken_at_once(database: Path) -> None:
    """A turn killed a moment ago is continued at once: the kernel knows that its process is gone."""
    one, two = SqliteJournal(database), SqliteJournal(database)
    epoch = await one.open_session(SESSION)
    await one.append(SESSION, epoch, asked_first())
    with pytest.raises(SessionBusy, match=f"worker {one.worker.id} drives a turn of it"):
        await two.open_session(SESSION)
    assert two.unfinished() == []
    one.close()  # as the kernel does it for one that was killed: its locks are free, its rows are as they were
    assert two.unfinished() == [SESSION]
    assert await two.open_session(SESSION) == epoch + 1
    two.close()


async def test_a_worker_that_hangs_is_fenced_and_writes_nothing_when_it_comes_back(database: Path) -> None:
    """Its lock is still held, as by a stopped process, but it does not beat: by the database's clock it is dead."""
    one, two = SqliteJournal(database), SqliteJournal(database)
    epoch = await one.open_session(SESSION)
    await one.append(SESSION, epoch, asked_first())
    elsewhere(database, "UPDATE workers SET beat_at = beat_at - ?", int(LIMIT_SECONDS * 1e6) + 1)
    later = await two.open_session(SESSION)
    with pytest.raises(LeaseLost, match="taken over"):
        await one.append(SESSION, epoch, recorded(TurnEnded(end=Completed(text="late")), first=3))
    assert not one.is_current(SESSION)
    await two.append(SESSION, later, recorded(InterruptAsked(by="two"), first=3))
    assert two.read(SESSION) == recorded(OPENING, STARTED, InterruptAsked(by="two"))
    one.close()
    two.close()


async def test_a_beat_that_finds_no_row_fences_the_whole_worker(database: Path) -> None:
    """A failed beat ends the work; a fenced worker never tries again."""
    journal = SqliteJournal(database)
    epoch = await journal.open_session(SESSION)
    elsewhere(database, "DELETE FROM workers")
    await until(lambda: journal.worker.is_fenced)
    with pytest.raises(LeaseLost):
        await journal.append(SESSION, epoch, asked_first())
    assert journal.read(SESSION) == []
    journal.close()


async def test_a_turn_that_ends_lets_go_in_the_same_write(database: Path) -> None:
    """No wake-up is lost: whoever waits finds the session free as soon as it can read the end."""
    one, two = SqliteJournal(database), SqliteJournal(database)
    epoch = await one.open_session(SESSION)
    await one.append(SESSION, epoch, recorded(OPENING, STARTED, TurnEnded(end=Completed(text="done"))))
    assert two.is_free(SESSION)
    assert await two.open_session(SESSION) == epoch + 1
    one.close()
    two.close()


async def test_of_many_who_claim_at_once_one_has_the_session(database: Path) -> None:
    """Consume-once for leases."""
    journals = [SqliteJournal(database) for _ in range(8)]
    won: list[SqliteJournal] = []

    async def claim(journal: SqliteJournal) -> None:
        try:
            epoch = await journal.open_session(SESSION)
            await journal.append(SESSION, epoch, asked_first())
            won.append(journal)
        except (SessionBusy, LeaseLost):
            pass

    async with anyio.create_task_group() as group:
        for journal in journals:
            group.start_soon(claim, journal)
    assert len(won) == 1
    assert journals[0].read(SESSION) == asked_first()
    for journal in journals:
        journal.close()


async def test_of_two_who_saw_a_session_free_the_second_finds_it_taken(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim counts only if the session is still as it was seen: the other process came in between."""
    one, two = SqliteJournal(database), SqliteJournal(database)
    epoch = await one.open_session(SESSION)
    await one.append(SESSION, epoch, recorded(OPENING, STARTED, TurnEnded(end=Completed(text="done"))))
    look = two.is_free
    seen: list[bool] = []

    def be_overtaken(writer: Writer, job: Job) -> bool:
        monkeypatch.undo()
        seen.append(look(SESSION))
        elsewhere(database, "UPDATE session_heads SET epoch = epoch + 1, owner = ?", one.worker.id)
        return False

    monkeypatch.setattr(Writer, "write_now", be_overtaken)
    with pytest.raises(SessionBusy, match=one.worker.id):
        await two.open_session(SESSION)
    assert seen == [True]
    one.close()
    two.close()


async def test_a_letter_is_used_once_or_taken_back(database: Path) -> None:
    journal = SqliteJournal(database)
    epoch = await journal.open_session(SESSION)
    await journal.append(SESSION, epoch, asked_first())
    first = await journal.post(SESSION, Steer(text="x"), OPENING)
    second = await journal.post(SESSION, Steer(text="y"), OPENING)
    added = InputAdded(input=UserMessage(text="x"), mail=first)
    await journal.append(SESSION, epoch, recorded(added, first=3))
    assert not await journal.withdraw(first)
    with pytest.raises(LeaseLost, match=f"letter {first} .* was withdrawn or used already"):
        await journal.append(SESSION, epoch, recorded(added, first=4))
    assert await journal.withdraw(second)
    with pytest.raises(LeaseLost, match=f"letter {second}"):
        await journal.append(SESSION, epoch, recorded(InputAdded(input=UserMessage(text="y"), mail=second), first=4))
    await journal.append(SESSION, epoch, recorded(InterruptAsked(by="me"), first=4))
    assert [record.seq for record in journal.read(SESSION)] == [1, 2, 3, 4]
    assert journal.letters(SESSION) == []
    journal.close()


async def test_what_waits_has_no_time_of_its_own(database: Path) -> None:
    """A future turn must not stand in a session's order: the inbox knows an order and no due time."""
    journal = SqliteJournal(database)
    columns = [row[1] for row in elsewhere(database, "PRAGMA table_info(inbox)")]
    assert columns == ["id", "session_id", "kind", "payload", "client_key", "created_at", "taken_seq"]
    journal.close()


def test_a_worker_that_left_leaves_no_file(tmp_path: Path) -> None:
    worker = Worker(tmp_path / "oribi.db")
    worker.show()
    assert [entry.name for entry in (tmp_path / "oribi.workers").iterdir()] == [worker.id]
    worker.stop()
    assert list((tmp_path / "oribi.workers").iterdir()) == []


async def test_resolving_an_unknown_call_is_refused_while_its_session_is_driven(scene: Scene) -> None:
    async with scene.open() as app:
        with anyio.move_on_after(0.5):
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: app.run("ops", "slow", session_id="s1"))
                await scene.has_begun.wait()
                group.cancel_scope.cancel()
        await app.post("s1", Interrupt(by="me"))
        await app.work(anyio.Event(), leave_when_done=True)
        [unknown] = app.unknown_calls("s1")
        assert (unknown.turn_id, unknown.step, unknown.call.name) == ("t1", 1, "wait_for_it")
        await app.resolve("s1", unknown, oribi.Succeeded(text="it did"), by="ada")
        assert app.unknown_calls("s1") == []
        assert scene.query("SELECT status, result, resolved_by FROM tool_invocations") == [
            ("Succeeded", "it did", "ada")
        ]
        with pytest.raises(JournalError, match="no such call has an unknown result"):
            await app.resolve("s1", unknown, oribi.Succeeded(text="again"))
        asked = [r.event for r in app.records("s1") if isinstance(r.event, ModelAsked)]
        assert (await app.run("ops", "go on", session_id="s1")).text == "to go on"
        assert len(asked) == 1
