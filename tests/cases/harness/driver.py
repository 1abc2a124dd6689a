"""The product in a process of its own: opens the workspace through the public library and does what stdin says.

`driver.py WORKSPACE FILE`. Commands are JSON lines on stdin (`id`, `op` and what the op needs); each is answered by one
JSON line on the file of that number. When stdin ends, turns under way are cut off, the workspace is closed and the
process exits.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from importlib import import_module
from typing import Any

import oribi
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
    Unfinished,
)


async def main() -> None:
    """Open, serve until stdin ends, close."""
    workspace, answers = sys.argv[1], int(sys.argv[2])
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    under_way: set[asyncio.Task[None]] = set()
    try:
        app = oribi.open(workspace)
    except oribi.OribiError as error:
        answer(answers, 0, status="error", text=str(error))
        return
    logging.getLogger().setLevel(app.config.log_level.upper())
    async with app:
        answer(answers, 0, status="ok", text="")
        while line := await reader.readline():
            task = asyncio.create_task(serve(app, json.loads(line), answers))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def serve(app: oribi.App, command: dict[str, Any], answers: int) -> None:
    """One command, answered whatever becomes of it."""
    try:
        outcome = await do(app, command)
    except oribi.OribiError as error:
        outcome = {"status": "error", "end": type(error).__name__, "text": str(error)}
    except asyncio.CancelledError:
        answer(answers, command["id"], status="died", text="the runtime was stopped")
        raise
    except Exception as error:  # what the product lets out is what the case wants to see
        logging.getLogger("driver").exception("the product raised")
        outcome = {"status": "crashed", "end": type(error).__name__, "text": str(error)}
    answer(answers, command["id"], **outcome)


async def do(app: oribi.App, command: dict[str, Any]) -> dict[str, object]:
    """What came of a command."""
    match command["op"]:
        case "send":
            result = await app.run(command["agent"], command["text"], session_id=command["session"])
            end = type(result.end).__name__
            return {"status": status_of(result.end), "end": end, "text": result.text, "turn_id": result.turn_id}
        case "cancel":
            return {"status": "ok", "stopped": app.interrupt(command["session"])}
        case "agents":
            return {"status": "ok", "agents": [loaded(app, name) for name in command["names"]]}
        case other:
            raise ValueError(f"no op {other!r}")


def status_of(end: oribi.TurnEnd) -> str:
    """The outcome in the words of the case format."""
    match end:
        case Completed():
            return "ok"
        case MaxSteps() | BudgetSpent() | DeadlinePassed() | Unfinished():
            return "stopped"
        case Interrupted() | Revoked():
            return "cancelled"
        case ContextExhausted() | ModelFailed() | ToolFailed():
            return "error"


def loaded(app: oribi.App, name: str) -> dict[str, object]:
    """An agent as the product loads it, or why it does not."""
    try:
        agent = app.agents.load(name)
    except oribi.OribiError as error:
        return {"name": name, "error": str(error)}
    tools = [tool.name for tool in agent.tools]
    steps = agent.policy.max_steps
    return {"name": name, "description": agent.description, "tools": tools, "max_iterations": steps}


def answer(answers: int, number: int, **outcome: object) -> None:
    """Write one answer, whole."""
    data = (json.dumps({"id": number, **outcome}) + "\n").encode()
    while data:
        data = data[os.write(answers, data) :]


for library in ("aiohttp", "jsonschema_rs"):
    import_module(library)  # now, so that the first message is as quick as every other
logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
asyncio.run(main())
