"""Golden journals: what one holds, how it is written as SQL text and built again, and what must be read from it."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import apsw

from oribi.cli.conversation import conversation_json
from oribi.core.budget import Spent
from oribi.core.calls import (
    Allow,
    CallId,
    Deny,
    Failed,
    JsonObject,
    SessionId,
    Succeeded,
    ToolCall,
    ToolSpec,
    TurnId,
    Unknown,
)
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    TurnEnd,
    Unfinished,
)
from oribi.core.events import (
    AnswerChecked,
    CallCharged,
    CallJudged,
    CallProbed,
    CallResolved,
    ContextCut,
    ContextTrimmed,
    Event,
    FilesRead,
    InputAdded,
    InterruptAsked,
    ModeChosen,
    ModelAsked,
    ModelChosen,
    ModelFaulted,
    ModelReplied,
    NoticeGiven,
    ParentCall,
    QuotaReached,
    Recorded,
    RequestRef,
    RevokeAsked,
    SessionOpened,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.mail import Input, Steer
from oribi.core.messages import ImagePart, ModelChoice, Reply, TextPart, Usage, UserMessage
from oribi.core.modes import Mode
from oribi.core.policy import PRESETS, LoopPolicy
from oribi.core.turn import fold
from oribi.journal.database import execute
from oribi.journal.sqlite import SqliteJournal

FOLDER = Path(__file__).parent.parent / "golden"
SUMS = FOLDER / "SHA256SUMS"

OPENING = SessionOpened(agent="ops", principal="me", channel="cli")
DEMO = ModelChoice(provider="scripted", name="demo", wire="scripted", parameters={"temperature": 0.5})
OTHER = ModelChoice(provider="scripted", name="other", wire="scripted")
SEND = ToolSpec(name="send", description="Sends it.", parameters={"type": "object", "$defs": {}}, effect="once")
LOOK = ToolSpec(name="look", description="Looks.", parameters={"type": "object"}, effect="pure", timeout_seconds=5.0)
SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
PARENT = ParentCall(session_id=SessionId("policies"), turn_id=TurnId("t1"), step=1, call_id=CallId("c1"))
LONG = "Ein längerer Text, größer als ein Satz. \U0001f98c\n" * 25
REQUEST = RequestRef(
    sha256="0" * 64,
    bytes=321,
    system_characters=90,
    memory_characters=4,
    history_turns=1,
    turns_left_out=0,
    messages=2,
    tools=2,
)


async def write_journal(path: Path) -> None:
    """A journal with several sessions at `path`, as a process leaves it that was killed in the middle of a turn."""
    journal = SqliteJournal(path)
    await _write(journal, "full", [OPENING, *_full_turn("t1")])
    await _write(journal, "ends", [OPENING, *_ends()])
    await _write(journal, "cut-off", [OPENING, *_settled_as_unknown("t1"), *_cut_off("t2")])
    await _write_later_events(journal)
    await _write(journal, "policies", [OPENING, *_routed("t1"), *_commanded("t2"), *_other_ends()])
    await _write(journal, "child", [replace(OPENING, parent=PARENT), *_answered("t1")])
    journal.close()


def dump(path: Path) -> str:
    """The database as SQL statements for a person to review, one row a statement."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        [(version,)] = execute(connection, "PRAGMA user_version")
        lines = [f"PRAGMA user_version = {version};"]
        parts = execute(
            connection,
            "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
            "ORDER BY type != 'table', type != 'view', rowid",
        )
        lines += [re.sub(r"\s*\n +", "\n", f"{sql};") for _, _, sql in parts]  # indentation is a tenth of the file
        for table in [name for kind, name, _ in parts if kind == "table"]:
            columns = [row[1] for row in execute(connection, f"PRAGMA table_info({table})")]
            values = " || ', ' || ".join(f"quote({column})" for column in columns)
            rows = execute(connection, f"SELECT {values} FROM {table} ORDER BY 1")  # noqa: S608 - names of ours
            lines += [f"INSERT INTO {table} VALUES ({row});" for (row,) in rows]  # noqa: S608
        return "\n".join(lines) + "\n"
    finally:
        connection.close()


def build(text: str, path: Path) -> None:
    """The database that `text` describes, at `path`."""
    connection = apsw.Connection(str(path))
    try:
        execute(connection, "PRAGMA journal_mode = WAL")
        execute(connection, f"BEGIN;\n{text}COMMIT;")
    finally:
        connection.close()


def reading(path: Path) -> dict[str, object]:
    """What today's code reads from the journal at `path`, as JSON: how turns ended, what was said, the last hashes."""
    journal = SqliteJournal(path, read_only=True)
    try:
        sessions: dict[str, object] = {}
        for row in sorted(journal.sessions(), key=lambda row: row.session_id):
            records = journal.read(row.session_id)
            turn = fold(row.session_id, records)
            ends = [record.event.end for record in records if isinstance(record.event, TurnEnded)]
            sessions[row.session_id] = {
                "events": [type(record.event).__name__ for record in records],
                "last_hash": _last_hash(path, row.session_id),
                "is_open": turn.is_open,
                "turns": row.turns,
                "ends": [{"end": type(end).__name__, **asdict(end)} for end in ends],
                "counters": asdict(turn.counters),
                "messages": conversation_json(turn),
            }
        read: dict[str, object] = json.loads(json.dumps(sessions))
        return read
    finally:
        journal.close()


def _last_hash(path: Path, session_id: str) -> str:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        sql = "SELECT lower(hex(hash)) FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
        return str(execute(connection, sql, (session_id,))[0][0])
    finally:
        connection.close()


async def _write(journal: SqliteJournal, name: str, events: Sequence[Event]) -> None:
    """Append `events`, each in the turn that began last, a second apart."""
    session_id = SessionId(name)
    turn_id: TurnId | None = None
    epoch = await journal.open_session(session_id)
    for seq, event in enumerate(events, start=1):
        if isinstance(event, TurnStarted):
            turn_id = event.turn_id
        at = 1_790_000_000_000_000 + seq * 1_000_000
        record = Recorded(session_id=session_id, seq=seq, turn_id=turn_id, at=at, event=event)
        await journal.append(session_id, epoch, [record])


def _start(turn_id: str, text: str, *, schema: JsonObject | None = None) -> TurnStarted:
    return TurnStarted(
        turn_id=TurnId(turn_id),
        input=UserMessage(text=text),
        agent="ops",
        model=DEMO,
        policy=LoopPolicy(),
        tools=(SEND, LOOK),
        instructions="You are ops.",
        datetime_line="It is Monday.",
        fallbacks=(OTHER,),
        output_schema=schema,
    )


def _ask(step: int, attempt: int = 1, choice: int = 0) -> ModelAsked:
    model = OTHER.ref if choice else ""
    return ModelAsked(step=step, attempt=attempt, request=REQUEST, choice=choice, model=model)


def _call(number: int, name: str = "send", **arguments: str) -> ToolCall:
    return ToolCall(id=CallId(f"c{number}"), name=name, arguments={**arguments})


def _replied(step: int, text: str, *calls: ToolCall, attempt: int = 1, reasoning: str = "") -> ModelReplied:
    usage = Usage(input_tokens=120, output_tokens=14, cached_tokens=100)
    stop = "tool_calls" if calls else "stop"
    raw: JsonObject | None = {"type": "thinking", "signature": "abc"} if reasoning else None
    reply = Reply(text=text, calls=calls, stop=stop, usage=usage, model="demo", reasoning=reasoning, raw=raw)
    return ModelReplied(step=step, attempt=attempt, reply=reply)


def _started(step: int, number: int) -> list[Event]:
    call_id = CallId(f"c{number}")
    return [
        CallJudged(step=step, call_id=call_id, verdict=Allow(rule="catalogue")),
        ToolStarted(step=step, call_id=call_id),
    ]


def _full_turn(turn_id: str) -> Iterator[Event]:
    """Faults, a fallback, a cut, calls of every outcome, private reasoning, an answer that fits at the second try."""
    parts = (
        TextPart(name="notes.txt", text="All is well.\n"),
        ImagePart(name="a.png", media_type="image/png", data="iVBO"),
    )
    start = _start(turn_id, "Schick es, bitte: äöü", schema=SCHEMA)
    yield replace(start, input=replace(start.input, parts=parts))
    yield FilesRead(bootstrap=LONG, skills="", memory="- likes tea", memory_read=11, sources=("USER.md", "MEMORY.md"))
    yield _ask(1)
    yield ModelFaulted(step=1, attempt=1, kind="rate", message="slow down", retry_after_seconds=1.5, partial="Let me")
    yield _ask(1, attempt=2, choice=1)
    yield ModelFaulted(step=1, attempt=2, kind="context_length", message="too long")
    yield ContextCut(
        step=1, attempt=2, history_turns=0, result_characters=500, characters_before=9000, characters_after=900
    )
    yield _ask(1, attempt=3, choice=1)
    calls = (_call(1, "look", path="a"), _call(2, to="ann"), _call(3, to="bob"), _call(4, "look", path=LONG))
    yield _replied(1, "I will.", *calls, attempt=3, reasoning="I think so.")
    yield from _started(1, 1)
    yield ToolSettled(step=1, call_id=CallId("c1"), result=Succeeded(text=LONG))
    yield from _started(1, 2)
    yield ToolSettled(step=1, call_id=CallId("c2"), result=Failed(text="no route", retryable=True))
    yield CallJudged(step=1, call_id=CallId("c3"), verdict=Deny(rule="people", reason="not to Bob"))
    yield from _started(1, 4)
    yield ToolSettled(step=1, call_id=CallId("c4"), result=Succeeded(text=""))
    yield _ask(2)
    yield _replied(2, '{"n": "x"}', reasoning="Is that it?")
    yield AnswerChecked(step=2, problem="n: 'x' is not of type \"integer\"")
    yield NoticeGiven(step=2, text="Your answer cannot be used.")
    yield _ask(3)
    yield _replied(3, '{"n": 1}')
    yield AnswerChecked(step=3, value={"n": 1})
    yield TurnEnded(end=Completed(text='{"n": 1}', value={"n": 1}))


def _ends() -> Iterator[Event]:
    """A turn for each other way to end, and a plain answer."""
    ends: tuple[TurnEnd, ...] = (
        Completed(text="Done."),
        MaxSteps(limit=1, text="Done."),
        BudgetSpent(limit="tool_calls", text="Done."),
        DeadlinePassed(text="Done."),
        ContextExhausted(message="too long"),
        Interrupted(by="me"),
        Revoked(what="tool send"),
        ModelFailed(kind="auth", message="bad key"),
    )
    for number, end in enumerate(ends, start=1):
        yield replace(_start(f"t{number}", f"input {number}"), tools=())
        yield _ask(1)
        match end:
            case Interrupted(by=by):
                yield InterruptAsked(by=by)
            case Revoked(what=what):
                yield RevokeAsked(what=what)
            case ModelFailed(kind=kind, message=message):
                yield ModelFaulted(step=1, attempt=1, kind=kind, message=message)
            case ContextExhausted(message=message):
                yield ModelFaulted(step=1, attempt=1, kind="context_length", message=message)
            case _:
                yield _replied(1, "Done.")
        yield TurnEnded(end=end)


def _settled_as_unknown(turn_id: str) -> Iterator[Event]:
    yield _start(turn_id, "Send it.")
    yield _ask(1)
    yield _replied(1, "", _call(1, to="ann"))
    yield from _started(1, 1)
    yield ToolSettled(step=1, call_id=CallId("c1"), result=Unknown(reason="it was cut off while it ran"))
    yield _ask(2)
    yield _replied(2, "I do not know.")
    yield TurnEnded(end=Completed(text="I do not know."))


def _cut_off(turn_id: str) -> Iterator[Event]:
    """A turn whose process was killed while two calls ran, of which one had settled."""
    yield _start(turn_id, "Send it again.")
    yield _ask(1)
    yield _replied(1, "", _call(1, to="ann"), _call(2, "look", path="b"))
    yield from _started(1, 1)
    yield from _started(1, 2)
    yield ToolSettled(step=1, call_id=CallId("c2"), result=Succeeded(text="seen"))


def _routed(turn_id: str) -> Iterator[Event]:
    """A mode that the model chose; a call that was tried again, and charged for what was nested in it; a wrap-up."""
    call_id = CallId("c1")
    yield replace(
        _start(turn_id, "Look into it."), routes=(Mode(name="deep", description="With care.", aliases=("深",)),)
    )
    yield _ask(0)
    yield _replied(0, "deep")
    yield ModeChosen(mode="deep", policy=PRESETS["question"], tools=(LOOK,), instructions="You look with care.")
    yield ContextTrimmed(history_turns=0, steps_left_out=0, removed=3, tokens_before=1200, tokens_after=700)
    yield _ask(1)
    yield _replied(1, "", _call(1, "look", path="a"))
    yield CallJudged(step=1, call_id=call_id, verdict=Allow(rule="catalogue", key="look a"))
    yield ToolStarted(step=1, call_id=call_id)
    spent = Spent(model_calls=1, tool_calls=1, input_tokens=120)
    yield CallCharged(step=1, call_id=call_id, spent=spent, child=SessionId("child"))
    yield ToolFaulted(step=1, call_id=call_id, result=Failed(text="try again", retryable=True))
    yield ToolStarted(step=1, call_id=call_id)
    yield ToolSettled(step=1, call_id=call_id, result=Failed(text="no luck", kind="recoverable"))
    yield WrapUpBegan(reason="look failed")
    yield _ask(2)
    yield _replied(2, "Not much.")
    yield TurnEnded(end=Completed(text="Not much."))


def _commanded(turn_id: str) -> Iterator[Event]:
    """An input that meant a call, with no model."""
    call = ToolCall(id=CallId("command"), name="look", arguments={"path": LONG})
    yield replace(_start(turn_id, "look it up"), command=call)
    yield CallJudged(step=1, call_id=call.id, verdict=Allow(rule="catalogue"))
    yield ToolStarted(step=1, call_id=call.id)
    yield ToolSettled(step=1, call_id=call.id, result=Succeeded(text="seen"))
    yield TurnEnded(end=Completed(text="seen"))


def _other_ends() -> Iterator[Event]:
    yield _start("t3", "Once more.")
    yield QuotaReached(limit="daily model_calls")
    yield TurnEnded(end=BudgetSpent(limit="daily model_calls", text=""))
    ends: tuple[TurnEnd, ...] = (ToolFailed(tool="send", message="no right to"), Unfinished(reason="look failed"))
    for number, end in enumerate(ends, start=4):
        yield _start(f"t{number}", "And now?")
        yield _ask(1)
        yield _replied(1, "", _call(1, to="ann"))
        yield from _started(1, 1)
        yield ToolSettled(step=1, call_id=CallId("c1"), result=Failed(text="no right to", kind="terminal"))
        yield TurnEnded(end=end)


def _answered(turn_id: str) -> Iterator[Event]:
    yield _start(turn_id, "Look for me.")
    yield _ask(1)
    yield _replied(1, "Seen.")
    yield TurnEnded(end=Completed(text="Seen."))


async def _write_later_events(journal: SqliteJournal) -> None:
    """What came with several processes: letters, a resolved call, a probe, a fork that tries another model."""
    used = await journal.post(SessionId("letters"), Steer(text="and hurry"), OPENING)
    await _write(
        journal,
        "letters",
        [
            replace(OPENING, forked_from=SessionId("ends"), forked_seq=1, forked_hash="0" * 64),
            replace(_start("t1", "Send it."), lock={"agent": "0" * 64}),
            ModelChosen(model=OTHER),
            _ask(1),
            _replied(1, "", _call(1, to="ann"), _call(2, to="bob")),
            *_started(1, 1),
            CallProbed(step=1, call_id=CallId("c1"), found=Unknown(reason="nobody can tell")),
            ToolSettled(step=1, call_id=CallId("c1"), result=Unknown(reason="nobody can tell")),
            InputAdded(input=UserMessage(text="and hurry"), mail=used),
            *_started(1, 2),
            CallProbed(step=1, call_id=CallId("c2")),
            ToolStarted(step=1, call_id=CallId("c2")),
            ToolSettled(step=1, call_id=CallId("c2"), result=Succeeded(text="sent")),
            _ask(2),
            _replied(2, "Sent."),
            TurnEnded(end=Completed(text="Sent.")),
            CallResolved(
                call_turn=TurnId("t1"), step=1, call_id=CallId("c1"), result=Succeeded(text="it arrived"), by="me"
            ),
        ],
    )
    await journal.post(SessionId("letters"), Input(text="and then?"), OPENING)
