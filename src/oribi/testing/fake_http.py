"""Just enough HTTP/1.1 for a fake server that must decide over each write, and over how a connection ends."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class ClientLeftError(Exception):
    """The client closed the connection before the answer was complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """One client connection. `reusable` is whether another request may follow; `idle`, whether none is open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._leaving: asyncio.Task[bytes] | None = None
        self.reusable = True
        self.idle = True

    async def receive(self) -> HttpRequest | None:
        """The next request, or None when the client has closed."""
        try:
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.rstrip("\r\n").split("\r\n")
            headers = {name.strip().lower(): value.strip() for name, _, value in (ln.partition(":") for ln in lines)}
            self.idle = False
            method, path, _ = first.split(" ", 2)
            body = await self._body(headers)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        self.reusable = headers.get("connection", "").lower() != "close"
        return HttpRequest(method=method, path=path, headers=headers, body=body)

    async def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self._reader.readexactly(int(headers.get("content-length", "0")))
        body = b""
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readuntil(b"\r\n")
        return body

    async def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """A whole answer in one write."""
        await self._write(self._head(status, {**headers, "content-length": str(len(body))}) + body)

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of an answer whose body follows by `write`."""
        await self._write(self._head(status, {**headers, "transfer-encoding": "chunked"}))

    async def write(self, data: bytes) -> None:
        """One piece of the body, handed to the kernel before anything else happens. Nothing for no bytes."""
        if data:
            await self._write(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        """The proper end of a body."""
        await self._write(b"0\r\n\r\n")

    async def pause(self, seconds: float | None) -> None:
        """Let `seconds` pass (None: until the client leaves).

        Raises:
            ClientLeftError: It left before.

        """
        if self._leaving is None:
            self._leaving = asyncio.ensure_future(self._reader.read(1))
        done, _ = await asyncio.wait({self._leaving}, timeout=seconds)
        if done:
            if self._leaving.exception() is not None or self._leaving.result() == b"":
                raise ClientLeftError
            # The byte of a next request is lost, so this connection cannot serve it.
            self.reusable = False
            await asyncio.sleep(seconds or 0)

    def reset(self) -> None:
        """End the connection with a TCP reset, at once."""
        raw: socket.socket | None = self._writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()
        self.reusable = False

    async def rest(self) -> None:
        """After an answer: ready for the next request."""
        if self._leaving is not None:
            self._leaving.cancel()
            await asyncio.gather(self._leaving, return_exceptions=True)
            self._leaving = None
        self.idle = True

    def close(self) -> None:
        """Close properly once what was written is sent."""
        if self._leaving is not None:
            self._leaving.cancel()
        self._writer.close()
        self.reusable = False

    def drop(self) -> None:
        """Close now, whether or not what was written is sent."""
        self._writer.transport.abort()

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        phrase = _PHRASES.get(status, "Scripted")
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        if not self.reusable:
            lines.append("connection: close")
        return "\r\n".join([*lines, "", ""]).encode("utf-8")

    async def _write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise ClientLeftError from error
        await asyncio.sleep(0)  # lets loops that gather writes send this one by itself
