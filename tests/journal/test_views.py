"""The documents' tables answer plain SQL, from any SQLite, and cannot disagree with the events they are made of."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from oribi.core.calls import CallId, JsonObject, Malformed, SessionId, ToolCall
from oribi.core.mail import Input, Interrupt
from oribi.core.messages import Message, Reply, ToolMessage, Usage, UserMessage
from oribi.core.prompt import Prompt
from oribi.core.turn import fold
from oribi.journal.queries import queries
from oribi.journal.sqlite import SqliteJournal
from oribi.testing import ScriptedModel
from oribi.turn.loop import run_turn
from tests.journal import golden
from tests.journal.golden import write_journal
from tests.samples import LONG
from tests.turn.stage import SESSION, Stage

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "oribi.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    journal = SqliteJournal(path)
    yield journal
    journal.close()


READ = """
import json, sqlite3, sys
connection = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
connection.row_factory = sqlite3.Row
print(json.dumps([dict(row) for row in connection.execute(sys.argv[2])]))
"""


def rows(path: Path, sql: str) -> list[dict[str, object]]:
    """What the standard library's SQLite says, reading beside the writer: in another process, as two SQLite libraries
    in one process would drop each other's locks."""
    run = subprocess.run([sys.executable, "-c", READ, str(path), sql], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def call(name: str, call_id: str, arguments: JsonObject | Malformed) -> ToolCall:
    return ToolCall(id=CallId(call_id), name=name, arguments=arguments)


FIRST = Reply(
    text="Let me look.",
    calls=(
        call("echo", "a", {"text": "hi"}),
        call("nope", "b", {"$json": "x"}),
        call("echo", "c", Malformed(text='{"text', problem="it ends too early")),
    ),
    stop="tool_calls",
    usage=Usage(input_tokens=10, output_tokens=5, cached_tokens=4),
)
ANSWER = Reply(text=LONG, usage=Usage(input_tokens=20, output_tokens=4))


def echo(arguments: JsonObject) -> str:
    return str(arguments["text"]) + "!"


async def drive(journal: SqliteJournal, *replies: Reply, texts: tuple[str, ...] = ("go",)) -> Stage:
    stage = Stage(ScriptedModel({"replies": list(replies)}), {"echo": echo}, journal=journal)
    session = await stage.open()
    for text in texts:
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
    return stage


async def test_every_model_call_is_a_row(journal: SqliteJournal, path: Path) -> None:
    """O-6, Y-12: who was asked, with which bytes, what came back, what it cost in tokens and time."""
    await drive(journal, FIRST, ANSWER)
    found = rows(
        path,
        """SELECT step, attempt, agent, provider, model, status, success, prompt_tokens, completion_tokens,
                  total_tokens, cached_tokens, stop_reason, response, tool_calls, error,
                  length(request_sha256) AS hashed
           FROM llm_calls ORDER BY step""",
    )
    assert found[0] == snapshot(
        {
            "step": 1,
            "attempt": 1,
            "agent": "ops",
            "provider": "scripted",
            "model": "demo",
            "status": "ok",
            "success": 1,
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "cached_tokens": 4,
            "stop_reason": "tool_calls",
            "response": "Let me look.",
            "tool_calls": 3,
            "error": None,
            "hashed": 64,
        }
    )
    assert (found[1]["response"], found[1]["tool_calls"]) == (LONG, None)
    assert rows(path, "SELECT count(*) AS n FROM llm_calls WHERE duration_ms >= 0 AND finished_at >= created_at") == [
        {"n": 2}
    ]


async def test_every_tool_call_is_a_row_whatever_came_of_it(journal: SqliteJournal, path: Path) -> None:
    """O-23, Y-6, Y-12: success or not, duration, input, result."""
    await drive(journal, FIRST, ANSWER)
    found = rows(
        path,
        "SELECT call_id, tool_name, input, result, status, success, rule, duration_ms IS NULL AS never_ran "
        "FROM tool_invocations ORDER BY call_id",
    )
    assert found == snapshot(
        [
            {
                "call_id": "a",
                "tool_name": "echo",
                "input": '{"text":"hi"}',
                "result": "hi!",
                "status": "Succeeded",
                "success": 1,
                "rule": "catalogue",
                "never_ran": 0,
            },
            {
                "call_id": "b",
                "tool_name": "nope",
                "input": '{"$json":"x"}',
                "result": "unknown tool 'nope'; this agent has: echo",
                "status": "Denied",
                "success": 0,
                "rule": "catalogue",
                "never_ran": 1,
            },
            {
                "call_id": "c",
                "tool_name": "echo",
                "input": '{"$type":"Malformed","text":"{\\"text","problem":"it ends too early"}',
                "result": "it ends too early",
                "status": "Denied",
                "success": 0,
                "rule": "arguments",
                "never_ran": 1,
            },
        ]
    )


async def test_large_arguments_and_long_reasons_are_shown_whole(journal: SqliteJournal, path: Path) -> None:
    big = Reply(text="", calls=(call("echo", "a", {"text": LONG}), call("nope" * 400, "b", {})), stop="tool_calls")
    await drive(journal, big, ANSWER)
    assert rows(path, "SELECT tool_calls FROM llm_calls WHERE step = 1") == [{"tool_calls": 2}]
    first, second = rows(path, "SELECT result, finished_at FROM tool_invocations ORDER BY call_id")
    assert first["result"] == LONG + "!"
    assert str(second["result"]).startswith("unknown tool 'nopenope")
    assert second["finished_at"] is not None


async def test_the_conversation_is_in_messages_and_in_messages_json(journal: SqliteJournal, path: Path) -> None:
    """O-4, O-13, O-24: structured messages in order, results with their call ids."""
    stage = await drive(journal, FIRST, ANSWER, ANSWER, texts=("go", LONG))
    found = rows(path, "SELECT role, content, tool_call_id FROM messages ORDER BY seq, position")
    assert [(row["role"], row["tool_call_id"]) for row in found] == [
        ("user", None),
        ("assistant", None),
        ("tool", "a"),
        ("tool", "b"),
        ("tool", "c"),
        ("assistant", None),
        ("user", None),
        ("assistant", None),
    ]
    assert found[6]["content"] == LONG
    [session] = rows(path, "SELECT id, agent, turns, last_end, open_turns, messages_json FROM sessions")
    told = json.loads(str(session.pop("messages_json")))
    assert session == {"id": SESSION, "agent": "ops", "turns": 2, "last_end": "Completed", "open_turns": 0}
    assert [message["role"] for message in told] == [row["role"] for row in found]
    assert [message["content"] for message in told] == [row["content"] for row in found]
    assert [call["id"] for call in told[1]["tool_calls"]] == ["a", "b", "c"]
    assert len(stage.journal.read(SESSION)) > 0


async def test_a_history_longer_than_any_prompt_is_whole_in_the_database(journal: SqliteJournal, path: Path) -> None:
    """O-30 is about what is sent: nothing is ever cut from the database."""
    texts = tuple(f"turn {n}" for n in range(25))
    stage = Stage(ScriptedModel(lambda _: Reply(text="ok")), journal=journal)
    session = await stage.open()
    for text in texts:
        session.send(Input(text=text))
        await run_turn(session, stage.ports)
    assert rows(path, "SELECT count(*) AS n FROM messages WHERE role = 'user'") == [{"n": 25}]


async def test_a_call_cut_off_by_a_crash_is_a_row_too(journal: SqliteJournal, path: Path) -> None:
    class CrashError(BaseException):
        pass

    def dies(prompt: Prompt) -> Reply:
        raise CrashError

    stage = Stage(ScriptedModel(dies), journal=journal)
    session = await stage.open()
    session.send(Input(text="go"))
    with pytest.raises(CrashError):
        await run_turn(session, stage.ports)
    assert rows(path, "SELECT status, success, duration_ms FROM llm_calls") == [
        {"status": "cut_off", "success": 0, "duration_ms": None}
    ]
    assert rows(path, "SELECT open_turns, last_end FROM sessions") == [{"open_turns": 1, "last_end": None}]


async def test_the_distribution_of_ends_is_a_view(journal: SqliteJournal, path: Path) -> None:
    """T-14: a high share of MaxSteps means the model is spinning."""
    stage = Stage(ScriptedModel(lambda _: Reply(text="ok")), journal=journal)
    session = await stage.open()
    session.send(Input(text="one"))
    await run_turn(session, stage.ports)
    session.send(Input(text="two"))
    session.take_in()
    session.send(Interrupt(by="me"))
    await run_turn(session, stage.ports)
    assert rows(path, "SELECT turn_end, turns FROM turn_ends ORDER BY turn_end") == [
        {"turn_end": "Completed", "turns": 1},
        {"turn_end": "Interrupted", "turns": 1},
    ]


async def test_commands_routers_and_attempts_stand_in_the_views_as_in_the_fold(path: Path) -> None:
    """M-3, M-5, Y-7: a command's call is a tool call with no model call; a router's is a model call and no message."""
    await write_journal(path)
    messages = rows(path, "SELECT * FROM messages ORDER BY session_id, seq, position")
    reader = SqliteJournal(path, read_only=True)
    for session in reader.sessions():
        turn = fold(session.session_id, reader.read(session.session_id))
        if not turn.is_open:  # a result is a message of the fold once all calls of its reply have one
            said = [message for exchange in turn.history for message in exchange.messages] + turn.messages
            there = [shown(row) for row in messages if row["session_id"] == session.session_id]
            assert there == [told(message) for message in said]
    reader.close()
    sql = "SELECT turn_id, step, call_id, status, starts, input FROM tool_invocations WHERE session_id = 'policies' "
    found = rows(path, sql + "AND turn_id <= 't2' ORDER BY asked_seq")
    assert [tuple(row.values()) for row in found] == [
        ("t1", 1, "c1", "Failed", 2, '{"path":"a"}'),
        (
            "t2",
            1,
            "command",
            "Succeeded",
            1,
            json.dumps({"path": golden.LONG}, ensure_ascii=False, separators=(",", ":")),
        ),
    ]
    sql = "SELECT turn_id, step, status FROM llm_calls WHERE session_id = 'policies' AND turn_id <= 't2' ORDER BY id"
    assert sorted(tuple(row.values()) for row in rows(path, sql)) == [("t1", 0, "ok"), ("t1", 1, "ok"), ("t1", 2, "ok")]


def shown(row: dict[str, object]) -> tuple[object, ...]:
    """A row of `messages`: who, what (the fold words results otherwise), the calls asked for, the one answered."""
    calls = [call["id"] for call in json.loads(str(row["tool_calls"] or "[]"))]
    return row["role"], None if row["role"] == "tool" else row["content"], calls, row["tool_call_id"]


def told(message: Message) -> tuple[object, ...]:
    match message:
        case UserMessage(text=text):
            return "user", text, [], None
        case Reply(text=text, calls=calls):
            return "assistant", text, [call.id for call in calls], None
        case ToolMessage(call_id=call_id):
            return "tool", None, [], call_id


async def test_a_nested_session_is_found_by_the_call_it_answers(path: Path) -> None:
    """M-42: in the view, and by an index."""
    await write_journal(path)
    columns = "id, parent_session, parent_turn, parent_step, parent_call"
    sql = f"SELECT {columns} FROM sessions WHERE parent_session IS NOT NULL"  # noqa: S608 - names of ours
    assert [tuple(row.values()) for row in rows(path, sql)] == [("child", "policies", "t1", 1, "c1")]
    reader = SqliteJournal(path, read_only=True)
    assert reader.children(SessionId("policies")) == [("child", golden.PARENT)]
    assert reader.children(SessionId("child")) == []
    reader.close()
    [plan] = rows(path, "EXPLAIN QUERY PLAN " + queries()["child_sessions"].replace("?", "'policies'"))
    assert "USING INDEX child_sessions" in str(plan["detail"])
