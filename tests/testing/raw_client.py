"""An HTTP client that shows every read, and how a connection ended."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oribi.testing import FakeModelServer

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
GEMINI = "/v1beta/models/fake:generateContent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    status: int
    headers: dict[str, str]
    chunks: list[bytes]
    ended: bool

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> list[Any]:
        """The JSON of the data lines."""
        lines = [line.removeprefix("data: ") for line in self.body.decode().splitlines() if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]


async def connect(server: FakeModelServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", server.port)


def encoded(path: str, body: bytes) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def post(server: FakeModelServer, body: object, path: str = CHAT) -> Answered:
    """One request on a connection of its own; a reset is a `ConnectionResetError`."""
    reader, writer = await connect(server)
    try:
        writer.write(encoded(path, body if isinstance(body, bytes) else json.dumps(body).encode()))
        return await read_answer(reader)
    finally:
        writer.close()


async def read_answer(reader: asyncio.StreamReader, *, chunks: int | None = None) -> Answered:
    """An answer up to its end, or its first `chunks` chunks."""
    status, headers = await read_head(reader)
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
        return Answered(status=status, headers=headers, chunks=[body], ended=True)
    found: list[bytes] = []
    while chunks is None or len(found) < chunks:
        chunk = await read_chunk(reader)
        if not chunk:
            return Answered(status=status, headers=headers, chunks=found, ended=True)
        found.append(chunk)
    return Answered(status=status, headers=headers, chunks=found, ended=False)


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError as error:
        raise EOFError(f"closed before the head was complete: {error.partial!r}") from error
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(first.split()[1]), headers


async def read_chunk(reader: asyncio.StreamReader) -> bytes:
    size = int(await reader.readuntil(b"\r\n"), 16)
    return (await reader.readexactly(size + 2))[:-2]


def chat(*messages: dict[str, Any], stream: bool = False, tools: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A well-formed OpenAI request; without messages, a person says hello."""
    body: dict[str, Any] = {"model": "fake", "messages": list(messages) or [{"role": "user", "content": "hello"}]}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if tools:
        body["tools"] = list(tools)
    return body


def messages(*said: dict[str, Any], stream: bool = False) -> dict[str, Any]:
    """A well-formed Anthropic request; without messages, a person says hello."""
    return {
        "model": "fake",
        "max_tokens": 100,
        "messages": list(said) or [{"role": "user", "content": "hello"}],
        "stream": stream,
    }


def text_events(*texts: str) -> list[str]:
    """A well-formed OpenAI stream of these pieces, as `sse` writes."""
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in texts
    ]
    end: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, end]] + ["data: [DONE]\n\n"]
