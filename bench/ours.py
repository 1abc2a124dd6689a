"""Oribi, everything on, through its public library. Usage: ours.py NAME PORT STEPS [SESSIONS]."""

import asyncio
import gc
import json
import sys
import tempfile
import time
from pathlib import Path

import oribi
from oribi.core.calls import Json, JsonObject, Succeeded, ToolResult, ToolSpec
from oribi.ports import Invocation
from oribi.tools.tool import Tool

RESULT = "x" * 256
PARAMETERS: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}

SETTINGS = """
[providers.bench]
base_url = "http://127.0.0.1:{port}/v1"
wire = "openai-chat"
dialect = {{ stream = false }}
"""
AGENT = """---
name: {name}
model: bench:{model}
settings:
  max_iterations: {steps}
  max_history_turns: 1000
---
You are a benchmark. Call the tool.
"""


def workspace(folder: str, port: int, *, model: str, steps: int) -> Path:
    """A workspace for the bench server: the agent that is measured, and one that only warms up."""
    root = Path(folder)
    home = root / ".oribi"
    for name, count in (("bench", steps), ("warm", 3)):
        (home / "agents" / name).mkdir(parents=True)
        (home / "agents" / name / "AGENT.md").write_text(AGENT.format(name=name, model=model, steps=count))
    (home / "oribi.toml").write_text(SETTINGS.format(port=port))
    return root


def noop(marks: list[float]) -> Tool:
    """A tool that returns 256 bytes and notes the time."""

    async def run(arguments: JsonObject, invocation: Invocation) -> ToolResult:
        del arguments, invocation
        marks.append(time.process_time())
        return Succeeded(text=RESULT)

    return Tool(spec=ToolSpec(name="noop", description="Does nothing.", parameters=PARAMETERS), run=run)


def database_bytes(root: Path) -> int:
    """The size of the database, checkpointed."""
    import sqlite3

    with sqlite3.connect(root / ".oribi" / "oribi.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (root / ".oribi" / "oribi.db").stat().st_size


async def turns(port: int, steps: int, sessions: int) -> dict[str, Json]:
    """`sessions` turns of `steps` steps each, at once."""
    with tempfile.TemporaryDirectory() as folder:
        root = workspace(folder, port, model="call", steps=steps)
        marks: list[float] = []
        async with oribi.open(root, tools=[noop(marks)]) as app:
            await app.run("warm", "go")  # loads what is loaded once in a process
            marks.clear()
            gc.freeze()
            before = app.commits
            started = time.process_time()
            await asyncio.gather(*(app.run("bench", "go") for _ in range(sessions)))
            cpu = time.process_time() - started
            commits = app.commits - before
        return {
            "cpu": cpu,
            "marks": [mark - started for mark in marks],
            "commits": commits,
            "session_commits": sessions * (2 * steps + 1),
            "bytes": database_bytes(root),
        }


async def resume(port: int, turn_count: int, _: int) -> dict[str, Json]:
    """Open a session of `turn_count` turns with one tool each: read, verified, folded."""
    from oribi.core.calls import SessionId
    from oribi.core.turn import fold
    from oribi.journal.sqlite import SqliteJournal

    with tempfile.TemporaryDirectory() as folder:
        root = workspace(folder, port, model="once", steps=10)
        async with oribi.open(root, tools=[noop([])]) as app:
            for _ in range(turn_count):
                await app.run("bench", "go", session_id="long")
        journal = SqliteJournal(root / ".oribi" / "oribi.db", read_only=True)
        started, wall = time.process_time(), time.perf_counter()
        records = journal.read(SessionId("long"))
        fold(SessionId("long"), records)
        return {
            "cpu": time.process_time() - started,
            "wall": time.perf_counter() - wall,
            "records": len(records),
            "bytes": database_bytes(root),
        }


def main(name: str, port: int, steps: int, sessions: int) -> None:
    """Run one scenario and print what it cost."""
    scenario = resume if name == "resume" else turns
    if name == "turns-uvloop":
        import uvloop

        result = uvloop.run(scenario(port, steps, sessions))
    else:
        result = asyncio.run(scenario(port, steps, sessions))
    print(json.dumps(result))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1)
