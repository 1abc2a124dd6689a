"""`kill -9` in the middle of a turn, in real processes: the turn goes on, nothing happens twice, nothing is kept quiet.

The witness is a file that the tools write themselves; what the journal says is compared with it. The journal is asked
through Python's own sqlite3, so that nothing of ours vouches for itself.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from oribi.core.calls import Json
from oribi.testing import FakeModelServer, ModelRequest

pytestmark = pytest.mark.slow

CHILD = [sys.executable, str(Path(__file__).with_name("kill_child.py"))]
ORIBI = [sys.executable, "-m", "oribi"]
PATIENCE_SECONDS = 30.0

AGENT = """\
---
description: Charges people and looks at the till
policy: {retry_seconds: 0}
---
You work at the till.
"""
CHARGE: Json = {"calls": [{"name": "charge", "arguments": {"amount": 5}}]}
LOOK: Json = {"calls": [{"name": "look", "arguments": {"place": "the till"}}]}
NO_ANSWER: Json = {"close": "hang"}
DONE_TEXT = "Charged once, and the till is empty."
DONE: Json = {"text": DONE_TEXT}


def served(*replies: Json) -> FakeModelServer:
    """A provider on a real socket that hands out `replies`, one for each request."""
    return FakeModelServer({"order": "requests", "replies": list(replies)})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    agent = tmp_path / ".oribi" / "agents" / "till"
    agent.mkdir(parents=True)
    (agent / "AGENT.md").write_text(AGENT)
    (tmp_path / "witness").touch()
    return tmp_path


def use(workspace: Path, server: FakeModelServer) -> None:
    """Let the workspace's agents be answered by `server`."""
    (workspace / ".oribi" / "oribi.toml").write_text(
        f'default_model = "fake:demo"\n[providers.fake]\nbase_url = "{server.base_url}/v1"\nwire = "openai-chat"\n'
    )


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPATH", "HOME", "LANG"}}


@contextmanager
def at_work(argv: list[str]) -> Generator[subprocess.Popen[str]]:
    """The program at work; whatever happens in the block, it does not outlive it."""
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment()
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def kill_when(is_time: Callable[[], bool], *argv: str) -> None:
    """Run a program and kill it, with a signal it cannot see coming, as soon as `is_time`."""
    with at_work([*argv]) as process:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_time():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                pytest.fail(f"{argv} was to be killed and never got there: {process.communicate()}")
            time.sleep(0.01)
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL


def finish(*argv: str) -> str:
    """Run a program to its own end; what it says."""
    with at_work([*argv]) as process:
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors
    return output.strip()


def marks(workspace: Path) -> list[str]:
    """What really happened, in order."""
    return (workspace / "witness").read_text().split()


def rows(workspace: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"{(workspace / '.oribi' / 'oribi.db').as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def only_session(workspace: Path) -> str:
    [(session_id,)] = rows(workspace, "SELECT id FROM sessions")
    return session_id


def messages_of(request: ModelRequest) -> list[dict[str, Any]]:
    """The conversation as the provider reads it."""
    return cast("list[dict[str, Any]]", request.json["messages"])  # the server has checked it against the wire's rules


def told_of(request: ModelRequest, tool: str) -> str:
    """What the last result of `tool` says in the request."""
    messages = messages_of(request)
    names = {call["id"]: call["function"]["name"] for message in messages for call in message.get("tool_calls", ())}
    told = [m["content"] for m in messages if m["role"] == "tool" and names[m["tool_call_id"]] == tool]
    return told[-1]


def test_a_turn_killed_in_a_tool_and_in_a_model_call_goes_on_to_its_end(workspace: Path) -> None:
    """O-2, Y-2: a `once` tool ran once and is Unknown, a `pure` one ran again, the lost model call has its row."""
    with served(CHARGE, NO_ANSWER, LOOK, DONE) as server:
        use(workspace, server)
        (workspace / "hold-charge").touch()
        kill_when(lambda: marks(workspace) == ["charge"], *CHILD, str(workspace), "start")
        session_id = only_session(workspace)

        kill_when(lambda: len(server.requests) == 2, *CHILD, str(workspace), "resume", session_id)

        (workspace / "hold-look").touch()
        kill_when(lambda: marks(workspace) == ["charge", "look"], *CHILD, str(workspace), "resume", session_id)

        (workspace / "hold-look").unlink()
        said = finish(*CHILD, str(workspace), "resume", session_id)
        server.check_used()

    assert said == f"Completed {DONE_TEXT}"
    assert marks(workspace) == ["charge", "look", "look"], "what the world has seen"
    assert told_of(server.requests[2], "charge").startswith("Unknown: "), "the model is told the truth"
    assert told_of(server.requests[3], "look") == "the till is empty"
    assert rows(workspace, "SELECT tool_name, status, success FROM tool_invocations ORDER BY step") == [
        ("charge", "Unknown", 0),
        ("look", "Succeeded", 1),
    ]
    assert rows(workspace, "SELECT step, attempt, status FROM llm_calls ORDER BY step, attempt") == [
        (1, 1, "ok"),
        (2, 1, "cut_off"),
        (2, 2, "ok"),
        (3, 1, "ok"),
    ]
    assert rows(workspace, "SELECT turn_end, count(*) FROM turns GROUP BY turn_end") == [("Completed", 1)]


def test_without_the_kills_the_same_turn_has_nothing_unknown_and_nothing_cut_off(workspace: Path) -> None:
    """Shows that the test above sees the kills and not something else."""
    with served(CHARGE, LOOK, DONE) as server:
        use(workspace, server)
        assert finish(*CHILD, str(workspace), "start") == f"Completed {DONE_TEXT}"
        server.check_used()
    assert marks(workspace) == ["charge", "look"]
    assert rows(workspace, "SELECT status FROM tool_invocations") == [("Succeeded",), ("Succeeded",)]
    assert rows(workspace, "SELECT status FROM llm_calls") == [("ok",)] * 3


def test_a_turn_killed_before_its_model_answers_loses_no_input(workspace: Path) -> None:
    with served(NO_ANSWER, DONE) as server:
        use(workspace, server)
        kill_when(lambda: len(server.requests) == 1, *CHILD, str(workspace), "start")
        said = finish(*CHILD, str(workspace), "resume", only_session(workspace))
        assert said == f"Completed {DONE_TEXT}"
        first, second = (messages_of(request) for request in server.requests)
        assert first == second, "the model is asked the same again"
    assert rows(workspace, "SELECT content FROM messages WHERE role = 'user'") == [
        ("Charge 5, then look at the till.",)
    ]
    assert marks(workspace) == []


@contextmanager
def silent_team(posts: list[str]) -> Generator[str]:
    """A webhook that takes every message, notes it, and does not answer until the block is left; its URL."""
    is_over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posts.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            is_over.wait(PATIENCE_SECONDS)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            is_over.set()
            server.shutdown()
            thread.join()


def test_oribi_run_killed_while_it_notifies_is_continued_by_oribi_resume(workspace: Path) -> None:
    """O-23: people got the message once, and the row says that nobody knows."""
    agent = workspace / ".oribi" / "agents" / "till" / "AGENT.md"
    agent.write_text(AGENT.replace("policy:", "tools: [notify]\npolicy:"))
    notify: Json = {"calls": [{"name": "notify", "arguments": {"channel": "team", "message": "The till is open."}}]}
    posts: list[str] = []
    with silent_team(posts) as url, served(notify, DONE) as server:
        use(workspace, server)
        with (workspace / ".oribi" / "oribi.toml").open("a") as settings:
            settings.write(f'[notify.team]\nurl = "{url}"\n')
        where = ("--workspace", str(workspace))
        kill_when(lambda: len(posts) == 1, *ORIBI, "run", *where, "--agent", "till", "Tell the team.")
        assert finish(*ORIBI, "resume", *where, only_session(workspace)).endswith(DONE_TEXT)
        server.check_used()
        assert told_of(server.requests[1], "notify").startswith("Unknown: ")
    assert len(posts) == 1
    assert rows(workspace, "SELECT tool_name, status FROM tool_invocations") == [("notify", "Unknown")]
