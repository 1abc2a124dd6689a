"""The transport: one HTTP client session for all models of a process; it sends bytes as they are and never twice."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Final

import anyio

from oribi.core.errors import ConfigError, ModelError
from oribi.core.messages import ModelChoice, Reply
from oribi.core.prompt import Prompt
from oribi.models.endpoints import Endpoint
from oribi.models.faults import LONGEST_WORDS, not_understood, refusal
from oribi.models.request import EncodedRequest
from oribi.models.stream import StreamReading
from oribi.models.wires import WIRES
from oribi.ports import Listen, Request

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from yarl import URL

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""A plain answer that is longer is no reply."""

MAX_REFUSAL_BYTES: Final = 64 * 1024
MAX_LENT_BYTES: Final = 1024 * 1024
"""aiohttp takes longer bodies only as a file object; this one is in memory and shares the bytes."""

LINGER_SECONDS: Final = 0.1
"""How long a server may take to end its answer after the closing event, for the connection to be used again."""

SLACK: Final = 1.05
"""Silence may last this much longer than agreed: moving a deadline costs more than reading a part of a stream."""

CLOSING_SECONDS: Final = 5.0
"""How long a server may be silent between the stop reason and the closing event."""


class Connections:
    """The process's HTTP client session, made when it is first needed.

    `connect_seconds` bounds name look-up, connection and TLS together. `idle_seconds` bounds the silence while a
    request goes out and an answer is awaited or read; any byte, a keep-alive comment too, counts as life. We keep that
    time ourselves: aiohttp forgets its own when a server breaks the framing in the middle of a body.
    """

    def __init__(self, *, connect_seconds: float = 10.0, idle_seconds: float = 120.0) -> None:
        self._connect_seconds = connect_seconds
        self.idle_seconds = idle_seconds
        self._session: ClientSession | None = None

    def session(self) -> ClientSession:
        """The session. Needs a running event loop."""
        if self._session is None or self._session.closed:
            import aiohttp

            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=self._connect_seconds, ceil_threshold=float("inf")),
                trust_env=False,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections. Harmless when there are none."""
        if self._session is not None:
            await self._session.close()


class HttpModel:
    """The models of one endpoint, as the `Model` port.

    Raises:
        ConfigError: The key, or a header of the endpoint, cannot be sent.

    """

    def __init__(self, endpoint: Endpoint, key: str | None, connections: Connections) -> None:
        from yarl import URL

        self._endpoint = endpoint
        self._wire = WIRES[endpoint.wire]
        self._connections = connections
        self._idle_seconds = endpoint.idle_seconds or connections.idle_seconds
        self._key = (key or "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigError(f"the key in {endpoint.key_env} holds characters that no key has; set it anew")
        for name, value in endpoint.headers.items():
            if not (name.isascii() and name.isprintable() and value.isprintable()):
                raise ConfigError(f"provider {endpoint.provider!r}: header {name!r} holds a line break or the like")
        self._base_url = URL(endpoint.base_url)
        self._urls: dict[str, URL] = {}
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "oribi",
            **self._wire.headers,
            **(self._wire.auth_headers(self._key) if self._key else {}),
            **endpoint.headers,
        }

    def build_request(self, prompt: Prompt, previous: Request | None) -> EncodedRequest:
        return self._wire.build_request(prompt, self._endpoint, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        if not isinstance(request, EncodedRequest):
            raise TypeError(f"this model sends requests that it has built itself, not {type(request).__name__}")
        import aiohttp
        from aiohttp.http import HttpProcessingError

        reading = StreamReading(self._wire.assembler(request))
        try:
            with anyio.move_on_after(self._idle_seconds) as silence:
                async with self._connections.session().post(
                    self._url(request.choice),
                    data=request.body if len(request.body) <= MAX_LENT_BYTES else io.BytesIO(request.body),
                    headers=self._headers,
                    allow_redirects=False,
                ) as response:
                    return await self._read(_Body(response, silence, self._idle_seconds), request, reading, listen)
        except ModelError as error:
            error.partial = reading.shown
            raise
        except (aiohttp.ClientError, HttpProcessingError) as error:  # the latter: its parser without extensions
            if not reading.is_complete:
                raise self._lost(error, reading.shown) from error
        if not reading.is_complete:
            raise ModelError("timeout", f"{self._place} fell silent", partial=reading.shown)
        return reading.finish()

    async def _read(self, body: _Body, request: EncodedRequest, reading: StreamReading, listen: Listen) -> Reply:
        response = body.response
        if not 200 <= response.status < 300:  # noqa: PLR2004 - HTTP: success
            words = await body.whole(MAX_REFUSAL_BYTES)
            raise self._without_key(refusal(self._endpoint, response.status, response.headers, words, time.time()))
        if response.content_type == "text/event-stream":
            return await _read_stream(body, reading, listen)
        answer = await body.whole(MAX_ANSWER_BYTES)
        match answer.lstrip()[:1]:
            case b"{":
                return self._wire.parse_response(answer, request)
            case b"d" | b"e" | b":" | b"i" | b"r" if b"data:" in answer:  # a stream under another name
                for delta in reading.feed(answer) + reading.end():
                    listen(delta)
                return reading.finish()
            case _:
                kind = response.headers.get("Content-Type", "no content type")
                raise not_understood(self._endpoint, f"the answer ({kind}) is neither JSON nor a stream", answer)

    def _url(self, choice: ModelChoice) -> URL:
        url = self._urls.get(choice.name)
        if url is None:
            from yarl import URL

            path = self._wire.path(choice, stream=self._endpoint.dialect.stream)
            url = self._urls[choice.name] = URL(self._endpoint.base_url.rstrip("/") + path)
        return url

    @property
    def _place(self) -> str:
        return f"{self._endpoint.provider} at {self._base_url.origin()}"

    def _lost(self, error: Exception, shown: str) -> ModelError:
        """The error for a call that the network, not the provider, ended."""
        import aiohttp

        match error:
            case aiohttp.ServerTimeoutError():
                return ModelError("timeout", f"{self._place} could not be reached in time", partial=shown)
            case aiohttp.ClientConnectorError():
                return ModelError("network", f"{self._place} cannot be reached: {error.os_error}", partial=shown)
            case aiohttp.ClientResponseError():
                return ModelError("protocol", f"{self._place} sent what is not HTTP: {error.message}", partial=shown)
            case _:
                words = str(error)[:LONGEST_WORDS] or type(error).__name__
                return ModelError("network", f"{self._place}: the connection was lost: {words}", partial=shown)

    def _without_key(self, error: ModelError) -> ModelError:
        """`error`, without the key if the provider quotes it."""
        if self._key and self._key in str(error):
            error.args = (str(error).replace(self._key, "***"),)
        return error


async def _read_stream(body: _Body, reading: StreamReading, listen: Listen) -> Reply:
    while chunk := await body.part(closing=reading.is_complete):
        for delta in reading.feed(chunk):
            listen(delta)
        if reading.is_done:
            await body.linger()
            return reading.finish()
    for delta in reading.end():
        listen(delta)
    return reading.finish()


class _Body:
    """The body of an answer, read part by part; each part that comes moves the deadline of `silence`."""

    __slots__ = ("_idle_seconds", "_silence", "response")

    def __init__(self, response: ClientResponse, silence: anyio.CancelScope, idle_seconds: float) -> None:
        self.response = response
        self._silence = silence
        self._idle_seconds = idle_seconds

    async def part(self, *, closing: bool = False) -> bytes:
        """What has arrived, once something has; nothing at the end. `closing`: only the end is still to come."""
        seconds = self._idle_seconds
        self._silence.deadline = anyio.current_time() + (min(seconds, CLOSING_SECONDS) if closing else seconds)
        return await self.response.content.readany()

    async def whole(self, limit: int) -> bytes:
        """The body, cut at `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        while size < limit and (part := await self.part()):
            parts.append(part)
            size += len(part)
        return b"".join(parts)[:limit]

    async def linger(self) -> None:
        """Wait a moment for the end, so that the connection can be used again."""
        if not self.response.content.at_eof():
            with anyio.move_on_after(LINGER_SECONDS):
                await self.response.content.readany()
