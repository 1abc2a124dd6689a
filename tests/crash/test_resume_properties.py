"""What every resume keeps (G2), each a test: with the process cut off at any write, before and after it is durable."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import settings as run_with

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.actions import Action, CallModel
from oribi.core.calls import CallId, Json, JsonObject, SessionId, Succeeded, ToolCall, ToolResult, Unknown
from oribi.core.decide import decide
from oribi.core.ends import Completed, Interrupted, TurnEnd
from oribi.core.errors import JournalError, SessionBusy
from oribi.core.events import InterruptAsked, ModelReplied, Recorded, ToolSettled, ToolStarted, TurnEnded
from oribi.core.mail import Input, Interrupt
from oribi.core.messages import Reply
from oribi.core.results import TurnResult
from oribi.core.turn import fold
from oribi.journal.codec import decode_event, encode_event
from oribi.testing import MemoryJournal, ScriptedModel
from oribi.turn.loop import run_turn
from tests.core.story import SECOND, Play
from tests.core.strategies import sessions
from tests.turn.stage import DEMO, SESSION, Stage

pytestmark = pytest.mark.anyio

ASKED = (("look",), ("send", "put"), ("book", "send"))
ANSWER = "All of it is done."
REPLIES = [
    *(
        Reply(
            text="",
            calls=tuple(ToolCall(id=CallId(f"c{step}{n}"), name=name, arguments={}) for n, name in enumerate(names)),
            stop="tool_calls",
        )
        for step, names in enumerate(ASKED, start=1)
    ),
    Reply(text=ANSWER),
]
RACERS = 5


class Died(Exception):  # noqa: N818 - it is no error, it is the end
    """The process is gone."""


class DyingJournal(MemoryJournal):
    """A journal whose process dies at the `number`-th append: before it is durable, or `after`; 0 for never."""

    def __init__(self, number: int = 0, *, after: bool = False) -> None:
        super().__init__()
        self.number = number
        self.after = after
        self.marks: list[int] = []

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        dies = len(self.marks) + 1 == self.number
        if dies and not self.after:
            raise Died
        await super().append(session_id, epoch, records)
        self.marks.append(records[-1].seq)
        if dies:
            raise Died


@dataclass
class World:
    """What happened outside, whoever it was told: the effects in order, each with the session's call."""

    effects: list[str] = field(default_factory=list[str])

    def stage(self, journal: MemoryJournal) -> Stage:
        """A process on `journal`, with a tool of each effect class that acts in this world."""

        def act(name: str) -> str:
            self.effects.append(name)
            return f"{name} is done"

        def was_booked(_: JsonObject) -> ToolResult | None:
            return Succeeded(text="book is done") if "book" in self.effects else None

        names = ("look", "put", "book", "send")
        stage = Stage(
            ScriptedModel({"replies": list(REPLIES)}),
            {name: lambda _, name=name: act(name) for name in names},
            journal=journal,
        )
        stage.tools.effects = {"look": "pure", "put": "idempotent", "book": "reconcilable", "send": "once"}
        stage.tools.probes = {"book": was_booked}
        return stage


async def start(stage: Stage) -> TurnEnd | None:
    session = await stage.open()
    session.send(Input(text="go"))
    return await run_turn(session, stage.ports)


async def resume(stage: Stage) -> TurnEnd | None:
    return await run_turn(await stage.open(), stage.ports)


async def whole() -> tuple[list[Recorded], list[int]]:
    """The records of the uninterrupted turn, and the last `seq` of each append."""
    journal = DyingJournal()
    assert await start(World().stage(journal)) == Completed(text=ANSWER)
    return journal.read(SESSION), journal.marks


async def journal_of(records: Sequence[Recorded]) -> MemoryJournal:
    journal = MemoryJournal()
    await journal.append(SESSION, await journal.open_session(SESSION), records)
    return journal


async def cut_off() -> list[tuple[World, list[Recorded]]]:
    """What each death of the turn leaves: the world, and the journal. Those with no open turn are not among them."""
    left: list[tuple[World, list[Recorded]]] = []
    for number in range(1, len((await whole())[1]) + 1):
        for after in (False, True):
            world, journal = World(), DyingJournal(number, after=after)
            with pytest.raises(Died):
                await start(world.stage(journal))
            records = list(journal.read(SESSION))
            if records and not isinstance(records[-1].event, TurnEnded):
                left.append((world, records))
    assert len(left) > 10
    return left


async def test_the_recorded_prefix_is_continued_and_never_rewritten_or_run_again() -> None:
    """Prefix continuation (G2): replies that are durable are not asked for again, records stand as they were."""
    for world, records in await cut_off():
        journal = await journal_of(records)
        stage = world.stage(journal)
        assert await resume(stage) == Completed(text=ANSWER)
        assert journal.read(SESSION)[: len(records)] == records
        answered = sum(isinstance(record.event, ModelReplied) for record in records)
        model = stage.ports.models.get(DEMO)
        assert isinstance(model, ScriptedModel)
        known = [sum(isinstance(message, Reply) for message in prompt.messages) for prompt in model.prompts]
        assert known == list(range(answered, len(REPLIES)))


async def test_an_effect_that_is_recorded_as_done_is_not_done_again() -> None:
    """Effect exactly-once (G1): what is settled does not run; what may not be repeated runs at most once in all."""
    reported = 0
    for world, records in await cut_off():
        settled = {record.event.call_id for record in records if isinstance(record.event, ToolSettled)}
        journal = await journal_of(records)
        assert await resume(world.stage(journal)) == Completed(text=ANSWER)
        events = [record.event for record in journal.read(SESSION)]
        started = {event.call_id for event in events[len(records) :] if isinstance(event, ToolStarted)}
        assert not settled & started
        results = {event.call_id: event.result for event in events if isinstance(event, ToolSettled)}
        unknown = [call_id for call_id, result in results.items() if isinstance(result, Unknown)]
        assert set(unknown) <= {"c20", "c31"}, "only a call of a once tool is ever unknown"
        reported += len(unknown)
        assert world.effects.count("book") == 1
        assert 2 - len(unknown) <= world.effects.count("send") <= 2
        assert len(results) == sum(map(len, ASKED)), "every call has a result"
    assert reported == 4, "each of the two calls, cut off after its start or before its result was durable"


async def test_every_state_that_is_durable_can_be_resumed_to_an_end() -> None:
    """Checkpoint validity (G2): after every append, and even after every single record."""
    records, marks = await whole()
    assert records[-1].seq == marks[-1]
    for length in range(2, len(records)):
        journal = await journal_of(records[:length])
        assert await resume(World().stage(journal)) == Completed(text=ANSWER), records[length - 1]
        turn = fold(SESSION, journal.read(SESSION))
        assert not turn.is_open
        assert not turn.unsettled


async def test_the_same_stored_state_leads_to_the_same_next_action() -> None:
    """Recovery determinism (G2): whenever it is asked, and however often, also by a process that reads it anew."""
    records, _ = await whole()
    for length in range(2, len(records) + 1):
        known = [stored(record) for record in records[:length]]
        actions = [next_action(known, at) for at in (0, SECOND, 10**9 * SECOND) for _ in range(2)]
        assert all(action == actions[0] for action in actions)
        if length < len(records):
            lives = [await journal_of(known) for _ in range(3)]
            for journal in lives:
                await resume(World().stage(journal))
            stories = [[record.event for record in journal.read(SESSION)] for journal in lives]
            assert stories[1:] == stories[:-1]


def next_action(records: Sequence[Recorded], now: int) -> Action:
    """What comes next; that a model may be asked from now on is no part of it."""
    action = decide(fold(SESSION, records), now)
    return replace(action, not_before=0) if isinstance(action, CallModel) else action


@run_with(max_examples=40)
@given(play=sessions)
def test_any_stored_state_leads_to_the_same_next_action(play: Play) -> None:
    """Recovery determinism (G2), in any session: the state in memory never knows more than the journal."""
    now = play.records[-1].at
    for length in range(1, len(play.records) + 1):
        kept, read = play.records[:length], [stored(record) for record in play.records[:length]]
        assert decide(fold(SESSION, kept), now) == decide(fold(SESSION, read), now)


def stored(record: Recorded) -> Recorded:
    """`record` as it comes back from the disk."""
    payload, blobs = encode_event(record.event)
    event = decode_event(type(record.event).__name__, payload, blobs.__getitem__)
    return Recorded(session_id=record.session_id, seq=record.seq, turn_id=record.turn_id, at=record.at, event=event)


# --- consume-once: several processes, one workspace ------------------------------------------------------------------

CALLS: list[Json] = [{"calls": [{"name": name, "arguments": {}}]} for name in ("wait_for_it", "send", "send")]


class Scene:
    """A workspace with a turn that was cut off in its first call; `effects` is what `send` did."""

    def __init__(self, root: Path) -> None:
        init_workspace(root)
        folder = root / ".oribi" / "agents" / "ops"
        folder.mkdir()
        (folder / "AGENT.md").write_text("---\nname: ops\nmodel: scripted:ops.json\n---\nYou are ops.\n")
        (root / ".oribi" / "ops.json").write_text(json.dumps({"replies": [*CALLS, {"text": ANSWER}, {"text": "next"}]}))
        self.root = root
        self.has_begun = anyio.Event()
        self.effects: list[str] = []

    def open(self) -> oribi.App:
        async def wait_for_it() -> None:
            """Wait."""
            self.has_begun.set()
            await anyio.sleep_forever()

        async def send() -> str:
            """Send."""
            self.effects.append("sent")
            await anyio.sleep(0.01)
            return "sent"

        return oribi.open(self.root, tools=[wait_for_it, send])

    async def cut_off(self) -> None:
        """Leave the turn of session s1 open."""
        async with self.open() as app, anyio.create_task_group() as group:
            group.start_soon(lambda: app.run("ops", "go", session_id="s1"))
            await self.has_begun.wait()
            group.cancel_scope.cancel()

    async def race(self) -> list[TurnResult | JournalError | SessionBusy]:
        """What each of several processes got that resumed the session at the same moment."""
        got: list[TurnResult | JournalError | SessionBusy] = []

        async def resume_in(app: oribi.App) -> None:
            try:
                got.append(await app.resume("s1"))
            except (JournalError, SessionBusy) as error:
                got.append(error)

        async with anyio.create_task_group() as group:
            apps = [await closing.__aenter__() for closing in (self.open() for _ in range(RACERS))]
            async with anyio.create_task_group() as racers:
                for app in apps:
                    racers.start_soon(resume_in, app)
            for app in apps:
                group.start_soon(app.close)
        return got


async def test_of_many_who_resume_a_turn_one_drives_it(tmp_path: Path) -> None:
    """Consume-once (G2): the others are refused, and every effect happens once."""
    scene = Scene(tmp_path)
    await scene.cut_off()
    got = await scene.race()
    assert [each.text for each in got if isinstance(each, TurnResult)] == [ANSWER]
    assert len(got) == RACERS
    assert scene.effects == ["sent", "sent"]


async def test_an_interrupt_is_used_by_one_resume_however_many_race_for_it(tmp_path: Path) -> None:
    """Consume-once (G2): it ends the turn that it was meant for, once, and no later one."""
    scene = Scene(tmp_path)
    await scene.cut_off()
    async with scene.open() as app:
        await app.post("s1", Interrupt(by="me"))
    got = await scene.race()
    assert [each.end for each in got if isinstance(each, TurnResult)] == [Interrupted(by="me")]
    assert scene.effects == []
    async with scene.open() as app:
        assert (await app.run("ops", "again", session_id="s1")).end != Interrupted(by="me")
        assert sum(isinstance(record.event, InterruptAsked) for record in app.records("s1")) == 1
