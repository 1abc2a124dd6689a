"""Erasure: what is erased is nowhere, what is left verifies and goes on, and no edit can pass for it."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import anyio
import apsw
import pytest

from oribi.core.calls import Allow, CallId, Deny, Failed, SessionId, Succeeded, ToolCall, TurnId, Unknown
from oribi.core.ends import Completed, Interrupted, Unfinished
from oribi.core.errors import JournalError
from oribi.core.events import (
    AnswerChecked,
    CallJudged,
    CallProbed,
    CallResolved,
    Event,
    ModelAsked,
    ModelReplied,
    NoticeGiven,
    ParentCall,
    SessionOpened,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    WrapUpBegan,
)
from oribi.core.messages import Reply, UserMessage
from oribi.journal.audit import export_lines
from oribi.journal.codec import encode_event
from oribi.journal.database import execute
from oribi.journal.erasure import ERASED, copies_of, erase_message, erase_session, without_words
from oribi.journal.sqlite import SqliteJournal
from oribi.journal.verify_journal import WORDS, Database, has_words, row_hash, verify
from tests.journal.audited import append, copy_of, go_on, leave_last_turn_open, places, record, rows_of, tamper
from tests.samples import LONG, REFERENCE, SAMPLES, STARTED
from tests.turn.stage import SESSION

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("erasure") / "oribi.db"
    anyio.run(record, path)
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    return copy_of(original, tmp_path)


def seq_of(path: Path, kind: type, number: int = 0) -> int:
    journal = SqliteJournal(path, read_only=True)
    found = [record.seq for record in journal.read(SESSION) if isinstance(record.event, kind)]
    journal.close()
    return found[number]


def traces(path: Path, text: str) -> list[str]:
    """The files beside the database, and the export, in which `text` still stands."""
    found = [file.name for file in path.parent.iterdir() if file.is_file() and text.encode() in file.read_bytes()]
    return found + (["export"] if text in "".join(export_lines(path, [])) else [])


def test_an_erased_session_leaves_tombstones_that_verify(path: Path) -> None:
    connection = apsw.Connection(str(path))
    execute(connection, "DELETE FROM session_heads WHERE id = 's2'")
    for table in ("events", "turns"):
        execute(connection, f"DELETE FROM {table} WHERE session_id = 's2'")  # noqa: S608
    execute(connection, "VACUUM")
    connection.close()
    before = rows_of(path)
    assert erase_session(path, SESSION, by="ada", reason="asked for") == before
    assert rows_of(path) == before + 1
    assert verify(path).findings == []
    assert traces(path, "CANARY") == []
    journal = SqliteJournal(path)
    with pytest.raises(JournalError, match=r"session 's1' was erased on \d{4}-\d\d-\d\d by ada"):
        journal.read(SESSION)
    journal.close()
    with pytest.raises(JournalError, match="was erased already"):
        erase_session(path, SESSION, by="ada")


def test_what_another_session_holds_too_stays_there(path: Path) -> None:
    erase_session(path, SESSION, by="ada")
    assert verify(path).findings == []
    journal = SqliteJournal(path, read_only=True)
    assert any(isinstance(r.event, TurnStarted) and LONG in r.event.input.text for r in journal.read(SessionId("s2")))
    journal.close()


async def test_an_erased_message_is_gone_and_the_session_goes_on(path: Path) -> None:
    for seq in (seq_of(path, TurnStarted, 1), seq_of(path, ModelReplied, 2)):
        erase_message(path, SESSION, seq, by="ada")
    assert verify(path).findings == []
    journal = SqliteJournal(path, read_only=True)
    events = [record.event for record in journal.read(SESSION)]
    journal.close()
    assert [e.input.text for e in events if isinstance(e, TurnStarted)][1] == ERASED
    assert [e.end for e in events if isinstance(e, TurnEnded)][1] == Completed(text=ERASED)
    told = await go_on(path)
    assert told[-3:] == [ERASED, ERASED, "more"]
    assert verify(path).findings == []


def test_a_tools_result_and_its_arguments_can_be_erased(path: Path) -> None:
    settled = seq_of(path, ToolSettled)
    assert erase_message(path, SESSION, settled, by="ada") == 1
    assert erase_message(path, SESSION, seq_of(path, ModelReplied), by="ada") == 1
    journal = SqliteJournal(path, read_only=True)
    [call] = next(r.event.reply.calls for r in journal.read(SESSION) if isinstance(r.event, ModelReplied))
    journal.close()
    assert call.arguments == {}
    assert verify(path).findings == []


def test_nobody_can_edit_a_row_and_call_it_erased(path: Path) -> None:
    connection = apsw.Connection(str(path))
    [(payload,)] = execute(connection, "SELECT payload FROM events WHERE session_id = 's1' AND seq = 4")
    connection.close()
    digest = hashlib.sha256(payload.encode()).digest()
    tamper(path, "UPDATE events SET payload = '{}', erased = ? WHERE session_id = 's1' AND seq = 4", digest)
    assert places(verify(path)) == [("s1", 4)]


def test_an_erased_row_cannot_be_edited_afterwards(path: Path) -> None:
    seq = seq_of(path, TurnStarted, 1)
    erase_message(path, SESSION, seq, by="ada")
    tamper(
        path,
        "UPDATE events SET payload = replace(payload, 'erased', 'edited') WHERE session_id = 's1' AND seq = ?",
        seq,
    )
    assert places(verify(path)) == [("s1", seq)]
    journal = SqliteJournal(path, read_only=True)
    with pytest.raises(JournalError, match=f"record {seq} was edited"):
        journal.read(SESSION)
    journal.close()


def test_what_holds_no_message_is_said(path: Path) -> None:
    with pytest.raises(JournalError, match="record 1 of session 's1' is a SessionOpened"):
        erase_message(path, SESSION, 1, by="ada")
    with pytest.raises(JournalError, match="has no record 999"):
        erase_message(path, SESSION, 999, by="ada")
    with pytest.raises(JournalError, match="no session 'nope'"):
        erase_session(path, SessionId("nope"), by="ada")
    assert verify(path).findings == []


def test_erasure_needs_the_journal_alone(path: Path) -> None:
    journal = SqliteJournal(path)
    with pytest.raises(JournalError, match="is in use by process"):
        erase_session(path, SESSION, by="ada")
    journal.close()


def test_a_message_of_an_open_turn_stays_and_the_whole_session_ends_it(path: Path) -> None:
    """What is left of a call must never be made in its place; and nobody resumes what was erased."""
    leave_last_turn_open(path)
    with pytest.raises(JournalError, match="turn t2 of session 's1' has not ended"):
        erase_message(path, SESSION, seq_of(path, TurnStarted, 1), by="ada")
    journal = SqliteJournal(path, read_only=True)
    assert journal.unfinished() == [SESSION]
    journal.close()
    erase_session(path, SESSION, by="ada")
    assert verify(path).findings == []
    journal = SqliteJournal(path)
    assert journal.unfinished() == journal.open_turns() == []
    assert {row.session_id: row.last_end for row in journal.sessions()}[SESSION] == "Interrupted"
    journal.close()


async def test_what_repeats_an_erased_message_is_erased_with_it(path: Path) -> None:
    call = ToolCall(id=CallId("c1"), name="x", arguments={"to": "SECRET"})
    asked = ModelAsked(step=1, attempt=1, request=REFERENCE)
    denied = Deny(rule="files", reason="SECRET is outside")
    await append(
        path,
        "s3",
        *SAMPLES[:2],
        asked,
        ModelReplied(step=1, attempt=1, reply=Reply(text="SECRET", calls=(call,))),
        CallJudged(step=1, call_id=call.id, verdict=denied),
        asked,
        ModelReplied(step=2, attempt=1, reply=Reply(text="SECRET")),
        AnswerChecked(step=2, problem="SECRET is no number"),
        NoticeGiven(step=2, text="SECRET is no number"),
        asked,
        ModelReplied(step=3, attempt=1, reply=Reply(text="SECRET")),
        AnswerChecked(step=3, value={"n": "SECRET"}),
        TurnEnded(end=Completed(text="SECRET", value={"n": "SECRET"})),
    )
    counts = [erase_message(path, SessionId("s3"), seq, by="ada") for seq in (4, 7, 11)]
    assert counts == [2, 3, 3]
    assert traces(path, "SECRET") == []
    assert verify(path).findings == []


async def test_all_that_says_how_a_call_came_out_is_erased_with_it(path: Path) -> None:
    secret = Succeeded(text="SECRET")
    settled = ToolSettled(step=1, call_id=CallId("c1"), result=Unknown(reason="SECRET"))
    other = ToolSettled(step=1, call_id=CallId("c2"), result=Succeeded(text="PUBLIC"))
    await append(
        path,
        "s3",
        *SAMPLES[:2],
        CallProbed(step=1, call_id=CallId("c1"), found=secret),
        settled,
        other,
        TurnEnded(end=Interrupted(by="me")),
        CallResolved(call_turn=TurnId("t1"), step=1, call_id=CallId("c1"), result=secret, by="me"),
    )
    assert erase_message(path, SessionId("s3"), 4, by="ada") == 3
    assert traces(path, "SECRET") == []
    assert "oribi.db" in traces(path, "PUBLIC")
    assert verify(path).findings == []


async def test_a_command_its_result_and_the_end_that_repeats_it_can_be_erased(path: Path) -> None:
    """What an input means without a model is erased with it, and what a failed call said with the call."""
    call = ToolCall(id=CallId("command"), name="x", arguments={"to": "SECRET"})
    failed = Failed(text="no SECRET here", retryable=True)
    await append(
        path,
        "s3",
        SAMPLES[0],
        replace(STARTED, input=UserMessage(text="x SECRET"), command=call),
        CallJudged(step=1, call_id=call.id, verdict=Allow(rule="catalogue", key="SECRET")),
        ToolStarted(step=1, call_id=call.id),
        ToolFaulted(step=1, call_id=call.id, result=failed),
        ToolSettled(step=1, call_id=call.id, result=failed),
        WrapUpBegan(reason="x failed: no SECRET here"),
        TurnEnded(end=Unfinished(reason="x failed: no SECRET here")),
    )
    assert [erase_message(path, SessionId("s3"), seq, by="ada") for seq in (2, 6)] == [2, 4]
    assert traces(path, "SECRET") == []
    assert verify(path).findings == []


async def test_a_reply_whose_reasoning_is_gone_already_can_be_erased(path: Path) -> None:
    replied = ModelReplied(step=1, attempt=1, reply=Reply(text="SECRET", reasoning="forgotten when the turn ends"))
    asked = ModelAsked(step=1, attempt=1, request=REFERENCE)
    await append(path, "s3", *SAMPLES[:2], asked, replied, TurnEnded(end=Completed(text="SECRET")))
    assert erase_message(path, SessionId("s3"), 4, by="ada") == 2
    assert traces(path, "SECRET") == []
    assert verify(path).findings == []


def test_a_letter_keeps_its_key_and_loses_its_content(path: Path) -> None:
    """Sent once more under its key, it must not begin a second turn."""
    seq = seq_of(path, TurnStarted, 1)
    columns = "session_id, kind, payload, client_key, created_at, taken_seq"
    letter = f"INSERT INTO inbox ({columns}) VALUES (?, ?, ?, ?, 1, ?)"  # noqa: S608
    tamper(path, letter, "s1", "Input", '{"mail":{"text":"SECRET"}}', "mine", seq)
    tamper(path, letter, "s1", "Input", '{"mail":{"text":"waits: SECRET"}}', "other", None)
    erase_message(path, SESSION, seq, by="ada")
    connection = apsw.Connection(str(path))
    letters = execute(connection, "SELECT client_key, payload FROM inbox ORDER BY id")
    connection.close()
    assert letters == [("mine", "{}"), ("other", '{"mail":{"text":"waits: SECRET"}}')]
    erase_session(path, SESSION, by="ada")
    assert traces(path, "SECRET") == []
    assert verify(path).findings == [], "a row erased twice keeps the hash of what stood there first"


def test_a_reader_that_keeps_the_old_pages_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oribi.journal.database.BUSY_MILLISECONDS", 50)
    reader = apsw.Connection(str(path))
    execute(reader, "BEGIN")
    execute(reader, "SELECT count(*) FROM events")
    with pytest.raises(JournalError, match=r"its log still holds it while .*oribi db vacuum"):
        erase_session(path, SESSION, by="ada")
    reader.close()
    assert verify(path).findings == []
    with pytest.raises(JournalError, match="was erased already"):
        erase_session(path, SESSION, by="ada")


async def test_forks_of_any_generation_are_named_as_copies(path: Path) -> None:
    for name, origin in (("f1", "s1"), ("f2", "f1"), ("g1", "s2")):
        opened = SessionOpened(agent="ops", principal="me", channel="cli", forked_from=SessionId(origin))
        await append(path, name, opened)
    assert copies_of(path, SESSION) == ["f1", "f2"]
    assert copies_of(path, SessionId("f2")) == ["f1", "s1"]
    erase_session(path, SESSION, by="ada")
    assert copies_of(path, SessionId("f2")) == ["f1"]


async def test_the_nested_sessions_of_one_are_named_as_they_hold_its_words(path: Path) -> None:
    parent = ParentCall(session_id=SESSION, turn_id=TurnId("t1"), step=1, call_id=CallId("c1"))
    await append(path, "child", replace(SessionOpened(agent="ops", principal="me", channel="cli"), parent=parent))
    assert copies_of(path, SESSION) == ["child"]


def test_an_erasure_puts_no_words_in_anybodys_mouth(path: Path) -> None:
    """Whoever can write the file can record an erasure, but what it leaves must say nothing."""
    source = Database(path)
    *_, ended = next(source.sessions()).rows
    source.close()
    words = '{"end":{"$type":"Completed","text":"I confess"}}'
    named = [{"seq": ended.seq, "sha256": hashlib.sha256(words.encode()).hexdigest()}]
    payload = json.dumps({"rows": named, "by": "ada"}, separators=(",", ":"))
    forged = replace(ended, seq=ended.seq + 1, type="Erased", payload=payload, prev_hash=ended.hash)
    place = (forged.seq, forged.turn_id, forged.type, forged.at, forged.payload, forged.prev_hash, row_hash(forged))
    before = hashlib.sha256(ended.payload.encode()).digest()
    change = "UPDATE events SET payload = ?, erased = ? WHERE session_id = 's1' AND seq = ?"
    tamper(path, change, words, before, ended.seq)
    tamper(
        path,
        "INSERT INTO events (session_id, seq, turn_id, type, version, at, payload, prev_hash, hash) "
        "VALUES ('s1', ?, ?, ?, 1, ?, ?, ?, ?)",
        *place,
    )
    tamper(path, "UPDATE session_heads SET seq = ?, head = ? WHERE id = 's1'", forged.seq, row_hash(forged))
    assert places(verify(path)) == [("s1", ended.seq)]


def test_the_verifier_knows_where_the_words_of_every_erasable_event_stand() -> None:
    """Each sample, before and after its erasure: a new place for words must be told to the verifier."""

    def speaks(event: Event) -> bool:
        payload, blobs = encode_event(event)
        return has_words(type(event).__name__, json.loads(payload), lambda key: blobs[key].decode())

    pairs = [(event, rest) for event in SAMPLES if (rest := without_words(event)) is not None]
    assert {type(event).__name__ for event, _ in pairs} == set(WORDS)
    for event, rest in pairs:
        assert not speaks(rest)
        assert speaks(event) or event == AnswerChecked(step=1)
