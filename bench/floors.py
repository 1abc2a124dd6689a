"""The floors: the least that the same work can cost on this machine. Usage: floors.py NAME PORT STEPS [SESSIONS]."""

import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import orjson

SYSTEM = {"role": "system", "content": "You are a benchmark. Call the tool."}
INPUT = {"role": "user", "content": "go"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "noop",
            "description": "Does nothing.",
            "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    }
]
RESULT = "x" * 256


class Socket:
    """A keep-alive connection over asyncio streams: bytes out, one JSON answer in."""

    async def open(self, port: int) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)

    async def post(self, body: bytes) -> bytes:
        self.writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body))
        self.writer.write(body)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        return await self.reader.readexactly(length)

    def close(self) -> None:
        self.writer.close()


class Database:
    """A SQLite file with FULL commits: five rows a step in two transactions."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "floor.db"
        self.connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        self.connection.execute("CREATE TABLE events (session TEXT, seq INTEGER, type TEXT, payload TEXT, hash BLOB)")

    def write(self, rows: list[tuple[str, int, str, str, bytes]]) -> None:
        self.connection.execute("BEGIN")
        self.connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
        self.connection.execute("COMMIT")


async def raw(port: int, steps: int, marks: list[float], database: Database | None = None) -> None:
    """A raw socket; the history is encoded once and appended to. With a database: the durable floor."""
    line = Socket()
    await line.open(port)
    body = bytearray(
        b'{"model":"call","tools":%b,"messages":[%b,%b'
        % (orjson.dumps(TOOLS), orjson.dumps(SYSTEM), orjson.dumps(INPUT))
    )
    seq = 0
    for _ in range(steps):
        if database is not None:
            database.write([("s", seq, "asked", "{}" * 20, bytes(32))])
            seq += 1
        reply = await line.post(bytes(body) + b"]}")
        message = orjson.loads(reply)["choices"][0]["message"]
        call = message["tool_calls"][0]
        orjson.loads(call["function"]["arguments"])
        if database is not None:
            text = reply.decode()
            database.write([("s", seq + n, "event", text[:200], bytes(32)) for n in range(4)])
            seq += 4
        body += b"," + orjson.dumps(message)
        body += b"," + orjson.dumps({"role": "tool", "tool_call_id": call["id"], "content": RESULT})
        marks.append(time.process_time())
    line.close()


async def bare_aiohttp(port: int, steps: int, marks: list[float]) -> None:
    """Bare aiohttp and the standard json module; the whole history is encoded anew for each step."""
    import aiohttp

    messages: list[object] = [SYSTEM, INPUT]
    async with aiohttp.ClientSession() as client:
        for _ in range(steps):
            payload = {"model": "call", "tools": TOOLS, "messages": messages}
            url = f"http://127.0.0.1:{port}/v1/chat/completions"
            async with client.post(url, data=json.dumps(payload).encode()) as response:
                message = json.loads(await response.read())["choices"][0]["message"]
            call = message["tool_calls"][0]
            json.loads(call["function"]["arguments"])
            messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": RESULT}]
            marks.append(time.process_time())


async def main(name: str, port: int, steps: int, sessions: int) -> None:
    """Run one floor and print what it cost."""
    marks: list[list[float]] = [[] for _ in range(sessions)]
    started = time.process_time()
    if name == "raw":
        await asyncio.gather(*(raw(port, steps, marks[n]) for n in range(sessions)))
    elif name == "aiohttp":
        await asyncio.gather(*(bare_aiohttp(port, steps, marks[n]) for n in range(sessions)))
    else:
        await raw(port, steps, marks[0], Database())
    print(json.dumps({"cpu": time.process_time() - started, "marks": [mark - started for mark in marks[0]]}))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1))
