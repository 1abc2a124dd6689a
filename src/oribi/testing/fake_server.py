"""A fake model provider on a real loopback socket: strict about requests, exact about answers, able to fail on purpose.

It speaks the wires of `oribi.testing.wire`, below any path prefix, and answers 400 to a request that breaks a rule of
`oribi.testing.rules`; such a request uses up no reply. A script that has no answer gives 500.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import signal
import socket
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Self

from oribi.core.calls import Json, JsonObject
from oribi.core.errors import ConfigError
from oribi.testing.fake_http import ClientLeftError, Connection, HttpRequest
from oribi.testing.model_request import ModelRequest
from oribi.testing.playback import Answer, Playback, error_reply
from oribi.testing.rules import Dialect, broken_rules
from oribi.testing.said import json_text
from oribi.testing.script_reader import ScriptSource, load_script
from oribi.testing.sending import send_reply
from oribi.testing.wire import WIRES, dialect_of

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from oribi.testing.script import Script

HOST = "127.0.0.1"


class FakeModelServer:
    """A provider that follows a script (see `oribi.testing.script_reader`) or a function of the request.

    `async with FakeModelServer(["Hello."]) as server` serves in the running loop; a plain `with` serves from a thread
    of its own. `base_url` has no path, so both `base_url + "/v1"` and `base_url` fit a client. `requests` notes
    every model call in order, also those refused with 400; `abandoned` the numbers (from 0) of those whose client left
    before the answer was complete. `port` 0 means any free one. A mistake in a reply that a function gives resets the
    connection and is raised when the server closes.

    Raises:
        ConfigError: The script has a mistake, or (on entering) the port is taken.

    """

    def __init__(self, script: ScriptSource | Answer, *, port: int = 0) -> None:
        self.port = port
        self.requests: list[ModelRequest] = []
        self.abandoned: list[int] = []
        self._playback = Playback(script)
        self._sent: dict[Dialect, deque[list[Json]]] = {dialect: deque(maxlen=1000) for dialect in WIRES}
        self._reservation: socket.socket | None = None
        self._listener: asyncio.Server | None = None
        self._down = False
        self._connections: dict[asyncio.Task[object], Connection] = {}
        self._return: asyncio.Task[None] | None = None
        self._arrived = asyncio.Event()
        self._failure: Exception | None = None
        self._thread = contextlib.ExitStack()

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT`, once it serves."""
        return f"http://{HOST}:{self.port}"

    async def wait_requests(self, count: int, *, timeout_seconds: float = 10.0) -> list[ModelRequest]:
        """The requests, as soon as there are `count`; for a server in the running loop.

        Raises:
            TimeoutError: They did not come in time.

        """
        async with asyncio.timeout(timeout_seconds):
            while len(self.requests) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return self.requests

    def unused(self) -> list[str]:
        """The replies of the list that no request has got, by number and beginning. Rules are not counted."""
        return self._playback.unused()

    def check_used(self) -> None:
        """Fail if a reply was never sent.

        Raises:
            AssertionError: Names those replies.

        """
        if unused := self.unused():
            raise AssertionError(f"the server never sent {len(unused)} of its replies: {', '.join(unused)}")

    async def __aenter__(self) -> Self:
        try:
            self._reservation = _bound(self.port)
            self.port = self._reservation.getsockname()[1]
            await self._listen()
        except OSError as error:
            if self._reservation is not None:
                self._reservation.close()
            raise ConfigError(f"port {self.port} on {HOST} is taken ({error.strerror}); choose another") from error
        outage = self._playback.next_outage()
        if outage is not None:
            self._go_down()
            self._return = asyncio.create_task(self._come_back(outage))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listener is not None:
            self._listener.close()
        tasks = [*self._connections, *([self._return] if self._return else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # One more round of the loop closes the sockets of the connections.
        await asyncio.sleep(0)
        if self._reservation is not None:
            self._reservation.close()
        if self._failure is not None and error is None:
            raise self._failure
        if self._failure is not None and error is not None:
            error.add_note(f"The fake server failed: {self._failure!r}")

    def __enter__(self) -> Self:
        from anyio.from_thread import start_blocking_portal

        with contextlib.ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal("asyncio"))
            stack.enter_context(portal.wrap_async_context_manager(self))
            self._thread = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.__exit__(kind, error, trace)

    async def _listen(self) -> None:
        listening = _bound(self.port)
        try:
            self._listener = await asyncio.start_server(self._serve, sock=listening)
        except OSError:
            listening.close()
            raise
        self._down = False

    def _go_down(self) -> None:
        """Stop listening; the reservation keeps the port, so that it refuses."""
        self._down = True
        if self._listener is not None:
            self._listener.close()
        for connection in self._connections.values():
            if connection.idle:
                connection.close()

    async def _come_back(self, seconds: float) -> None:
        if seconds < math.inf:
            await asyncio.sleep(seconds)
            await self._listen()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request by request."""
        connection = Connection(reader, writer)
        task = asyncio.current_task()
        assert task is not None, "asyncio runs this in a task"
        self._connections[task] = connection
        try:
            while (request := await connection.receive()) is not None:
                await self._answer(connection, request)
                await connection.rest()
                if not connection.reusable or self._down:
                    break
        except ClientLeftError:
            await connection.rest()
        except asyncio.CancelledError:
            connection.drop()
            raise
        except Exception as error:  # noqa: BLE001 - kept, and raised to the test when the server closes
            self._failure = self._failure or error
            connection.reset()
        finally:
            del self._connections[task]
            connection.close()

    async def _answer(self, connection: Connection, http: HttpRequest) -> None:
        dialect = dialect_of(http.path)
        if dialect is None or http.method != "POST":
            await _answer_other(connection, http)
            return
        broken = broken_rules(dialect, http.body, self._sent[dialect])
        number = len(self.requests)
        request = ModelRequest(
            dialect=dialect,
            path=http.path,
            headers=http.headers,
            body=http.body,
            at=time.monotonic(),
            broken=tuple(broken),
        )
        self.requests.append(request)
        self._arrived.set()
        if broken:
            reply, outage = error_reply(dialect, 400, "; ".join(broken)), None
        else:
            reply, outage = self._playback.answer(request), self._playback.next_outage()
        if outage is not None:
            # Before the answer is out, so that whatever the client does next is refused.
            connection.reusable = False
            self._go_down()
        try:
            if content := await send_reply(connection, request, reply):
                self._sent[dialect].append(content)
        except ClientLeftError:
            self.abandoned.append(number)
            raise
        finally:
            if outage is not None:
                self._return = asyncio.create_task(self._come_back(outage))


def serve(port: int, script: Path) -> None:
    """Serve the script in a YAML or JSON file on loopback until SIGINT or SIGTERM; print the base URL once it listens.

    `port` 0 means any free one.

    Raises:
        ConfigError: The script cannot be read, or the port is taken.

    """
    import anyio

    anyio.run(_serve_until_signal, load_script(script), port)


async def _serve_until_signal(script: Script, port: int) -> None:
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with FakeModelServer(script, port=port) as server:
            sys.stdout.write(f"{server.base_url}\n")
            sys.stdout.flush()
            async for _ in signals:
                break


def _bound(port: int) -> socket.socket:
    """A socket that holds the port. While one that does not listen is kept, the port stays ours and refuses."""
    # Only with its protocol named does asyncio turn Nagle's delay off for the connections, which holds back writes.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
    except OSError:
        found.close()
        raise
    return found


async def _answer_other(connection: Connection, http: HttpRequest) -> None:
    """What is no model call: the list of models, or 404."""
    if http.method == "GET" and http.path.partition("?")[0].endswith("/models"):
        found: JsonObject = {"object": "list", "data": [{"id": "fake", "object": "model", "owned_by": "fake"}]}
        await connection.send(200, {"content-type": "application/json"}, json_text(found).encode())
        return
    problem: JsonObject = {"error": {"message": f"nothing at {http.method} {http.path}", "type": "not_found_error"}}
    await connection.send(404, {"content-type": "application/json"}, json_text(problem).encode())
