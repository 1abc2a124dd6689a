"""HTTP fixture servers: what an HTTP tool may meet, and counters of who came."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

HELLO = b"hello"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645"
    "400000000049454e44ae426082"
)
PIECE = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One request that came in; header names are in lower case."""

    fixture: str
    path: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class HttpFixtures:
    """Two origins on loopback (`ports`), and a listener (fixture `loop`) that counts whatever comes."""

    hits: list[Hit] = field(default_factory=list[Hit])
    sent_bytes: dict[str, int] = field(default_factory=dict[str, int])
    ports: list[int] = field(default_factory=list[int])
    _servers: list[asyncio.Server] = field(default_factory=list[asyncio.Server])
    _tasks: set[asyncio.Task[object]] = field(default_factory=set["asyncio.Task[object]"])

    async def start(self, loop_ports: list[int]) -> None:
        """Serve two origins, and count on `loop_ports`."""
        for _ in range(2):
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            self._servers.append(server)
            self.ports.append(server.sockets[0].getsockname()[1])
        for port in loop_ports:
            for host, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
                with contextlib.suppress(OSError):  # a machine without IPv6
                    self._servers.append(await asyncio.start_server(self._count, host, port, family=family))

    async def close(self) -> None:
        """Stop serving."""
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def hits_of(self, fixture: str) -> list[Hit]:
        """The requests that a fixture got."""
        return [hit for hit in self.hits if hit.fixture == fixture.lstrip("/")]

    async def _count(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._answer(reader, writer, "loop")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._answer(reader, writer, None)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fixture: str | None) -> None:
        task = asyncio.current_task()
        assert task is not None, "asyncio runs this in a task"
        self._tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.rstrip("\r\n").split("\r\n")
            headers = {name.strip().lower(): value.strip() for name, _, value in (ln.partition(":") for ln in lines)}
            parts = urlsplit(first.split(" ")[1])
            name = fixture or parts.path.strip("/").partition("/")[0]
            self.hits.append(Hit(fixture=name, path=first.split(" ")[1], headers=headers))
            await self._send(writer, name, parse_qs(parts.query), parts.query)
        self._tasks.discard(task)
        writer.close()

    async def _send(self, writer: asyncio.StreamWriter, name: str, query: dict[str, list[str]], text: str) -> None:
        """Answer in one piece, or without end."""
        if name == "gzip-bomb":
            size = int(query.get("mb", ["200"])[0]) * 2**20
            body = await asyncio.to_thread(gzip.compress, bytes(size), 9)
            head = _head("200 OK", content_encoding="gzip", content_length=str(len(body)))
            await self._write(writer, name, head + body)
        elif name in _ENDLESS:
            head, piece, seconds = _ENDLESS[name]
            await self._write(writer, name, head)
            while True:
                await self._write(writer, name, piece)
                await asyncio.sleep(seconds)
        else:
            await self._write(writer, name, _whole_answer(name, query, text))

    async def _write(self, writer: asyncio.StreamWriter, name: str, data: bytes) -> None:
        writer.write(data)
        await writer.drain()
        self.sent_bytes[name] = self.sent_bytes.get(name, 0) + len(data)


def _whole_answer(name: str, query: dict[str, list[str]], text: str) -> bytes:
    match name:
        case "redir":
            code = query.get("code", ["302"])[0]
            return _head(f"{code} Moved", location=unquote(text.partition("to=")[2]), content_length="0")
        case "redir-self":
            return _head("302 Found", location="/redir-self", content_length="0")
        case "png":
            return _whole(PNG, "image/png")
        case "bad-charset":
            return _whole("café menu".encode("latin-1"), "text/plain; charset=utf-8")
        case "hello":
            return _whole(HELLO, "text/plain")
        case _:
            return _whole(b"counted", "text/plain")


def _head(status: str, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1")


def _whole(body: bytes, kind: str) -> bytes:
    return _head("200 OK", content_type=kind, content_length=str(len(body))) + body


_ENDLESS: dict[str, tuple[bytes, bytes, float]] = {
    "endless": (_head("200 OK", transfer_encoding="chunked"), b"%x\r\n%b\r\n" % (PIECE, b"x" * PIECE), 0.0),
    "lying-length": (_head("200 OK", content_length=str(2 * 10**9)), b"x" * PIECE, 0.0),
    "drip": (_head("200 OK", content_type="text/plain"), b"x", 0.2),
    "header-flood": (b"HTTP/1.1 200 OK\r\n", b"x-flood: %b\r\n" % (b"x" * 1000), 0.0),
}
"""Answers that never end: how they begin, what is sent again and again, and how often in seconds."""
