"""A model provider as bytes on a real socket: it answers what the test says, to the byte, and notes what it got."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Answer:
    """What to do with one request: `writes` are sent one by one; `after` is what comes then.

    `after`: keep the connection, close it, reset it, or hang (until the client leaves or the server stops).
    """

    writes: tuple[bytes, ...] = ()
    after: Literal["keep", "close", "reset", "hang"] = "close"


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WireServer:
    """The server's side of a test. `left` counts connections that the client closed while we hung."""

    answers: list[Answer]
    port: int = 0
    requests: list[Received] = field(default_factory=list[Received])
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *rest = head.rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (item.partition(":") for item in rest)}
        body = await reader.readexactly(int(headers["content-length"]))
        self.requests.append(Received(line=line, headers=headers, body=body))
        self.asked.set()
        answer = self.answers.pop(0)
        for part in answer.writes:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.001)
        match answer.after:
            case "keep":
                return True
            case "close":
                return False
            case "reset":
                writer.transport.abort()
                return False
            case "hang":
                await reader.read()
                self.left.set()
                return False


@asynccontextmanager
async def wire_server(*answers: Answer) -> AsyncGenerator[WireServer]:
    state = WireServer(answers=list(answers))
    server = await asyncio.start_server(state.serve, "127.0.0.1", 0)
    state.port = server.sockets[0].getsockname()[1]
    async with server:
        yield state


def http(body: bytes, *, status: str = "200 OK", kind: str = "application/json", **headers: str) -> bytes:
    """A whole answer with its length."""
    return head(status, kind, content_length=str(len(body)), **headers) + body


def head(status: str = "200 OK", kind: str = "text/event-stream", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}"] if kind else [f"HTTP/1.1 {status}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def chunked(*parts: bytes) -> tuple[bytes, ...]:
    """A stream in HTTP chunks, each its own write; end it with `b""`."""
    return (head(transfer_encoding="chunked"), *(b"%x\r\n%s\r\n" % (len(part), part) for part in parts))


def event(data: Any) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"data: {text}\n\n".encode()
