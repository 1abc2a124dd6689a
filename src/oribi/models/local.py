"""Local models: a GGUF file run by llama.cpp inside this process, spoken to over loopback on the OpenAI chat wire.

Needs the extra `local` (xllamacpp). The server of a file starts with the first call and runs on threads of its own; it
listens on 127.0.0.1, on a free port, and answers only requests with a key that is made for it and kept in memory.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

import anyio

from oribi.core.calls import CallId
from oribi.core.errors import ConfigError, ModelError
from oribi.core.messages import ModelChoice, Reply
from oribi.core.prompt import Prompt
from oribi.models import openai_chat
from oribi.models.actions import ActionListener, action_reply, as_actions
from oribi.models.endpoints import Dialect, Endpoint
from oribi.models.gguf import GgufFile, read_gguf
from oribi.models.request import EncodedRequest
from oribi.models.transport import Connections, HttpModel
from oribi.ports import Listen, Request

PROVIDER: Final = "local"
DIALECT: Final = Dialect(reasoning_back="reasoning_content", media=False)
"""llama.cpp hands reasoning to the templates that want to see it again; the others ignore it."""

PLACE: Final = Endpoint(provider=PROVIDER, wire="openai-chat", base_url="http://127.0.0.1/v1", dialect=DIALECT)
"""Stands for the server in requests, which are built before it has a port."""

HEADERS: Final = {"Connection": "close"}
"""The server closes a kept connection after five seconds, just when the next call may be on its way."""

BATCH_TOKENS: Final = 256
"""Tokens of a prompt that are read at once: a call that is given up holds the model no longer than one batch."""

PING_SECONDS: Final = 10
"""How often the server shows that it lives while it reads a long prompt; well below the transport's idle time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """How llama.cpp runs a file.

    `threads`: computing threads; None: as many as llama.cpp thinks fit. `context_tokens`: the longest conversation; 0:
    what the model was trained for. A long context takes memory when the server starts.
    """

    threads: int | None = None
    context_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRequest:
    """A request to a model that writes actions. `call_id` is for the call that it may ask for."""

    encoded: EncodedRequest = field(repr=False)
    call_id: CallId

    @property
    def body(self) -> bytes:
        """The exact bytes to send."""
        return self.encoded.body

    @property
    def sha256(self) -> str:
        """SHA-256 of `body`, hex."""
        return self.encoded.sha256


class Server(Protocol):
    """What of xllamacpp's server we use; the package brings no types. It stops when the object is gone."""

    @property
    def listening_address(self) -> str:
        """`http://127.0.0.1:PORT`."""
        ...


class LocalModels:
    """The local models of one application: one server per file, however it is named. Close it when done.

    `idle_seconds` bounds the silence within a call. Waiting for another call of the same model does not count.
    """

    def __init__(self, folder: Path, options: LocalOptions | None = None, *, idle_seconds: float = 120.0) -> None:
        self._folder = folder
        self._options = options or LocalOptions()
        self._connections = Connections(idle_seconds=idle_seconds)
        self._models: dict[Path, tuple[int, LocalModel]] = {}

    def get(self, choice: ModelChoice) -> LocalModel:
        """The model in the file that `choice` names, relative to the folder given or absolute.

        Raises:
            ConfigError: xllamacpp is not installed, or the file is missing or no GGUF file.

        """
        path = self._folder.joinpath(Path(choice.name).expanduser()).resolve()
        changed = path.stat().st_mtime_ns if path.is_file() else 0
        known = self._models.get(path)
        if known is None or known[0] != changed:
            _check_installed(choice)
            server = LocalServer(read_gguf(path), self._options, self._connections)
            known = self._models[path] = changed, LocalModel(server)
        return known[1]

    async def close(self) -> None:
        """Stop the servers. A call that is under way fails."""
        models, self._models = list(self._models.values()), {}
        await self._connections.close()
        for _, model in models:
            model.server.close()


class LocalModel:
    """One GGUF file, as the `Model` port.

    A model whose template has a form for tool calls makes its own. Any other is held to actions while it has tools.
    """

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self._turnstile = anyio.Lock()
        """Lets one call in at a time. The server would too, but a call that waits there looks like one that hangs."""

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        if self.server.file.makes_tool_calls:
            return openai_chat.build_request(prompt, PLACE, previous)
        encoded = openai_chat.build_request(as_actions(prompt), PLACE, None)
        if not prompt.tools:
            return encoded
        return LocalRequest(encoded=encoded, call_id=CallId(f"call_{prompt.reply_index}_0"))

    async def reply(self, request: Request, listen: Listen) -> Reply:
        async with self._turnstile:
            model = self.server.model()
            if not isinstance(request, LocalRequest):
                return await model.reply(request, listen)
            listener = ActionListener(listen)
            try:
                reply = await model.reply(request.encoded, listener.hear)
            except ModelError as error:
                error.partial = listener.shown
                raise
            return action_reply(reply, request.call_id)


class LocalServer:
    """llama.cpp's server for one file; started by the first call, and again after `close`.

    `address` is `http://127.0.0.1:PORT`, empty before the first start. Whoever asks has to send `key`.
    """

    def __init__(self, file: GgufFile, options: LocalOptions, connections: Connections) -> None:
        self.file = file
        self._options = options
        self._connections = connections
        self.key = secrets.token_urlsafe(24)
        self.address = ""
        self._running: tuple[Server, HttpModel] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the weights are loaded."""
        return self._running is not None

    def model(self) -> HttpModel:
        """The model behind the server, which is started when it does not run.

        xllamacpp holds the interpreter's lock while it loads the weights, so nothing else of this process goes on
        until it has, and a thread would not help; a small file takes a second or two.

        Raises:
            ModelError: llama.cpp cannot load the file.

        """
        if self._running is None:
            server = _started(self.file.path, self._options, self.key)
            self.address = server.listening_address
            endpoint = Endpoint(
                provider=PROVIDER,
                wire="openai-chat",
                base_url=f"{self.address}/v1",
                headers=HEADERS,
                dialect=DIALECT,
            )
            self._running = server, HttpModel(endpoint, self.key, self._connections)
        return self._running[1]

    def close(self) -> None:
        """Stop the server and give its memory back. Harmless when it does not run."""
        self._running = None  # the last reference: xllamacpp stops the server with its object


def _check_installed(choice: ModelChoice) -> None:
    if find_spec("xllamacpp") is None:
        raise ConfigError(f"model {choice.ref!r} needs llama.cpp, which is not installed: pip install 'oribi[local]'")


def _started(path: Path, options: LocalOptions, key: str) -> Server:
    """A server for the file, with its weights loaded. Any stops here: see `Server`."""
    llama: Any = import_module("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = options.context_tokens
    parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
    parameters.n_parallel = 1
    if options.threads is not None:
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = options.threads
    parameters.api_keys = [key]
    parameters.hostnames = ["127.0.0.1"]
    parameters.n_threads_http = 4
    parameters.sse_ping_interval = PING_SECONDS
    parameters.ui = False
    parameters.offline = True
    parameters.warmup = False  # the first call warms up as well
    parameters.verbosity = -1  # it writes to our stderr; what a person must know comes back as an error
    try:
        server: Server = llama.Server(parameters)
    except RuntimeError as error:
        raise ModelError(
            "bad_request",
            f"llama.cpp cannot load {str(path)!r} ({error}); the file may be cut off, too large for the memory, or of "
            "an architecture that this version of xllamacpp does not know",
        ) from error
    _wait_until_it_runs(server, key)
    return server


def _wait_until_it_runs(server: Server, key: str) -> None:
    """Ask the server something that its inner loop answers; stopping one whose loop has not begun waits for ever."""
    from http.client import HTTPConnection

    connection = HTTPConnection(server.listening_address.removeprefix("http://"), timeout=30)
    try:
        connection.request("GET", "/slots", headers={"Authorization": f"Bearer {key}", **HEADERS})
        connection.getresponse().read()
    finally:
        connection.close()
