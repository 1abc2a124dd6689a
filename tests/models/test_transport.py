"""The transport against real sockets: one request per call, typed faults, no hang, nothing left behind."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute

from oribi.core.errors import ConfigError, FaultKind, ModelError
from oribi.core.messages import ModelChoice, Reply, UserMessage
from oribi.models import transport
from oribi.models.endpoints import Endpoint, Wire
from oribi.models.registry import HttpModels
from oribi.models.transport import Connections, HttpModel
from oribi.ports import Delta, Listen, Model, Request, TextDelta
from tests.models.samples import choice, prompt
from tests.models.wire_server import Answer, WireServer, chunked, event, head, http, wire_server

pytestmark = pytest.mark.anyio

KEY = "sk-test-1234567890abcdef"
DELTA = {"choices": [{"index": 0, "delta": {"content": "Hel"}, "finish_reason": None}]}
LAST = {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]}
PLAIN = json.dumps({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}).encode()
STREAM = (event(DELTA), event(LAST), event("[DONE]"))
FINISHED = Answer((*chunked(*STREAM), b"0\r\n\r\n"), after="keep")


@asynccontextmanager
async def models(
    server: WireServer, *, wire: Wire = "openai-chat", idle_seconds: float = 60.0
) -> AsyncGenerator[HttpModels]:
    endpoint = Endpoint(provider="fake", wire=wire, base_url=server.base_url, key_env="FAKE_KEY")
    registry = HttpModels({"fake": endpoint}, {"FAKE_KEY": KEY}.get, idle_seconds=idle_seconds)
    try:
        yield registry
    finally:
        await registry.close()


def no_key(name: str) -> None:
    return None


async def ask(registry: HttpModels, listen: Listen | None = None) -> Reply:
    model = registry.get(choice())
    return await model.reply(model.build_request(prompt(UserMessage(text="hi")), None), listen or (lambda _: None))


async def fault(registry: HttpModels) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(registry)
    assert KEY not in str(caught.value)
    return caught.value


async def test_a_streamed_reply_arrives_in_deltas_and_whole() -> None:
    """O-6, O-34: the bytes sent are the bytes hashed; the reply is handed on unchanged."""
    async with wire_server(FINISHED) as server, models(server) as registry:
        deltas: list[Delta] = []
        model = registry.get(choice())
        request = model.build_request(prompt(UserMessage(text="hi")), None)
        reply = await model.reply(request, deltas.append)
        assert (reply.text, reply.stop) == ("Hello", "stop")
        assert deltas == [TextDelta(text="Hel"), TextDelta(text="lo")]
        (received,) = server.requests
        assert received.body == request.body
        assert received.line == "POST /v1/chat/completions HTTP/1.1"
        assert received.headers["authorization"] == f"Bearer {KEY}"
        assert received.headers["content-type"] == "application/json"
        assert "cookie" not in received.headers


async def test_the_anthropic_wire_has_its_own_path_and_headers() -> None:
    """Y-9."""
    body = json.dumps({"type": "message", "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"})
    async with wire_server(Answer((http(body.encode()),))) as server, models(server, wire="anthropic") as registry:
        assert (await ask(registry)).text == "Hello"
        (received,) = server.requests
        assert received.line == "POST /v1/messages HTTP/1.1"
        assert received.headers["x-api-key"] == KEY
        assert received.headers["anthropic-version"] == "2023-06-01"
        assert "authorization" not in received.headers


async def test_one_connection_serves_call_after_call() -> None:
    async with wire_server(FINISHED, FINISHED, Answer((http(PLAIN),), "keep"), FINISHED) as server:
        async with models(server) as registry:
            for _ in range(4):
                assert (await ask(registry)).text == "Hello"
        assert (len(server.requests), server.connections) == (4, 1)


@pytest.mark.parametrize(
    "writes",
    [
        pytest.param((http(PLAIN),), id="plain JSON although a stream was asked for"),
        pytest.param((http(PLAIN, kind="text/plain"),), id="JSON as text/plain"),
        pytest.param((http(b"".join(STREAM), kind=""),), id="a stream without a content type"),
        pytest.param((head(), b"".join(STREAM)), id="a stream until the connection closes"),
        pytest.param((head(), *STREAM[:2]), id="no [DONE]"),
        pytest.param((head(), *STREAM[:1], STREAM[1].rstrip()), id="no final blank line"),
        pytest.param(chunked(*STREAM), id="[DONE], and no end of the body"),
        pytest.param(tuple(bytes([byte]) for byte in b"".join((*chunked(*STREAM), b"0\r\n\r\n"))), id="byte by byte"),
    ],
)
async def test_the_reply_is_understood_in_whatever_form_it_comes(writes: tuple[bytes, ...]) -> None:
    async with wire_server(Answer(writes)) as server, models(server) as registry:
        assert (await ask(registry)).text == "Hello"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("401 Unauthorized", "auth"),
        ("403 Forbidden", "auth"),
        ("404 Not Found", "bad_request"),
        ("422 Unprocessable", "bad_request"),
        ("429 Too Many Requests", "rate"),
        ("500 Oops", "overloaded"),
        ("503 Busy", "overloaded"),
        ("529 Overloaded", "overloaded"),
        ("301 Moved", "bad_request"),
    ],
)
async def test_a_refusal_is_typed_quoted_and_never_asked_twice(status: str, kind: FaultKind) -> None:
    """O-33, Y-10: repeating a call is the loop's decision, so a fault makes one request and no more."""
    body = json.dumps({"error": {"message": f"the key {KEY} was refused"}}).encode()
    refused = http(body, status=status, retry_after="7", location="/elsewhere")
    async with wire_server(Answer((refused,), "keep"), FINISHED) as server, models(server) as registry:
        error = await fault(registry)
        assert (error.kind, error.retry_after_seconds) == (kind, 7.0)
        assert "the key *** was refused" in str(error)
        assert len(server.requests) == 1
        assert (await ask(registry)).text == "Hello"


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(after="close"), "network", "connection was lost"),
        (Answer(after="reset"), "network", "connection was lost"),
        (Answer((b"SSH-2.0-OpenSSH\r\n\r\n",)), "protocol", "not HTTP"),
        (Answer((http(b"<html>gateway</html>", kind="text/html"),)), "protocol", "<html>gateway"),
        (Answer((http(b""),)), "protocol", "neither JSON nor a stream"),
        (Answer((http(b'{"error":{"code":502,"message":"upstream busy"}}'),)), "overloaded", "upstream busy"),
        (Answer((http(PLAIN)[:-5],)), "network", "connection was lost"),
    ],
)
async def test_an_answer_that_is_none_is_a_typed_fault(answer: Answer, kind: FaultKind, words: str) -> None:
    async with wire_server(answer) as server, models(server) as registry:
        error = await fault(registry)
        assert error.kind == kind
        assert words in str(error)
        assert error.partial == ""


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer((head(), event(DELTA))), "network"),
        (Answer(chunked(event(DELTA))), "network"),
        (Answer(chunked(event(DELTA)), "reset"), "network"),
        (Answer((*chunked(event(DELTA)), b"0\r\n\r\n")), "network"),
        (Answer(chunked(event(DELTA), event({"error": {"message": "busy", "type": "server_error"}}))), "overloaded"),
        (Answer(chunked(event(DELTA), event("{cut"))), "protocol"),
    ],
)
async def test_a_stream_that_breaks_off_is_a_fault_with_what_was_shown(answer: Answer, kind: FaultKind) -> None:
    """O-34: half an answer is never a reply."""
    async with wire_server(answer) as server, models(server) as registry:
        error = await fault(registry)
        assert (error.kind, error.partial) == (kind, "Hel")


async def test_a_reply_that_is_complete_survives_a_reset_behind_it() -> None:
    async with wire_server(Answer(chunked(*STREAM[:2]), "reset")) as server, models(server) as registry:
        assert (await ask(registry)).text == "Hello"


async def test_a_complete_reply_does_not_wait_for_a_server_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CLOSING_SECONDS", 0.1)
    async with wire_server(Answer(chunked(*STREAM[:2]), "hang")) as server, models(server) as registry:
        with anyio.fail_after(5):
            assert (await ask(registry)).text == "Hello"
            await server.left.wait()


@pytest.mark.parametrize(
    ("writes", "partial"),
    [
        ((), ""),
        (chunked(event(DELTA)), "Hel"),
        ((b"HTTP/1.1 200 OK\r\n",), ""),
        ((http(PLAIN)[:-5],), ""),
    ],
)
async def test_a_silent_provider_is_given_up_after_the_idle_time(writes: tuple[bytes, ...], partial: str) -> None:
    async with wire_server(Answer(writes, "hang")) as server, models(server, idle_seconds=0.1) as registry:
        with anyio.fail_after(5):
            error = await fault(registry)
            assert (error.kind, error.partial) == ("timeout", partial)
            assert "fell silent" in str(error)
            await server.left.wait()


async def test_the_idle_time_of_an_endpoint_comes_before_that_of_the_process() -> None:
    async with wire_server(Answer(chunked(event(DELTA)), "hang")) as server:
        endpoint = Endpoint(provider="fake", wire="openai-chat", base_url=server.base_url, idle_seconds=0.1)
        registry = HttpModels({"fake": endpoint}, no_key, idle_seconds=60)
        with anyio.fail_after(5):
            assert (await fault(registry)).kind == "timeout"
        await registry.close()


@pytest.mark.parametrize("junk", [b"zz\r\n", b"5\r\nabcdeXX", b"-1\r\n"])
async def test_framing_that_breaks_in_the_middle_never_hangs(junk: bytes) -> None:
    """aiohttp's own idle time is lost here, and the connection ends without an error for the reader."""
    broken = Answer((*chunked(event(DELTA)), junk))
    async with wire_server(broken) as server, models(server, idle_seconds=0.1) as registry:
        with anyio.fail_after(5):
            error = await fault(registry)
        assert error.kind in {"timeout", "network"}
        assert error.partial == "Hel"


async def test_a_provider_that_does_not_take_the_request_is_given_up_too() -> None:
    """The idle time holds while the request goes out: nobody reads it here, and it is larger than any buffer."""
    with anyio.fail_after(20):
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - this is no Django
            endpoint = Endpoint(provider="fake", wire="openai-chat", base_url=f"http://127.0.0.1:{port}")
            registry = HttpModels({"fake": endpoint}, no_key, idle_seconds=0.2)
            model = registry.get(choice())
            request = model.build_request(prompt(UserMessage(text="x" * 30_000_000)), None)
            with pytest.raises(ModelError) as caught:
                await model.reply(request, lambda _: None)
            assert caught.value.kind == "timeout"
            await registry.close()


async def test_keep_alive_comments_count_as_life() -> None:
    beats = chunked(event(DELTA), *[b": ka\n\n"] * 300, *STREAM[1:])
    async with wire_server(Answer(beats)) as server, models(server, idle_seconds=0.25) as registry:
        assert (await ask(registry)).text == "Hello"  # 300 beats take longer than the idle time


async def test_a_body_over_a_mebibyte_is_sent_whole() -> None:
    async with wire_server(FINISHED) as server, models(server) as registry:
        model = registry.get(choice())
        request = model.build_request(prompt(UserMessage(text="x" * 3_000_000)), None)
        assert (await model.reply(request, lambda _: None)).text == "Hello"
        assert server.requests[0].body == request.body


async def test_nobody_listening_is_a_network_fault_that_names_the_place() -> None:
    async with wire_server() as server:
        pass
    async with models(server) as registry:
        error = await fault(registry)
        assert error.kind == "network"
        assert f"fake at http://127.0.0.1:{server.port} cannot be reached" in str(error)


async def test_a_cancelled_call_closes_its_connection_and_the_next_one_works() -> None:
    async with wire_server(Answer(chunked(event(DELTA)), "hang"), FINISHED) as server, models(server) as registry:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:

                def stop(delta: Delta) -> None:
                    group.cancel_scope.cancel()

                group.start_soon(ask, registry, stop)
            await server.left.wait()
            assert (await ask(registry)).text == "Hello"
        assert server.connections == 2


async def test_an_error_of_the_listener_is_not_taken_for_the_network() -> None:
    def broken(delta: Delta) -> None:
        raise BrokenPipeError("the terminal is gone")

    async with wire_server(FINISHED, FINISHED) as server, models(server) as registry:
        with pytest.raises(BrokenPipeError, match="terminal"):
            await ask(registry, broken)
        assert (await ask(registry)).text == "Hello"


async def test_only_requests_built_by_the_model_are_sent() -> None:
    class Foreign:
        body = b"{}"
        sha256 = ""

    async with wire_server() as server, models(server) as registry:
        foreign: Request = Foreign()
        with pytest.raises(TypeError, match="Foreign"):
            await registry.get(choice()).reply(foreign, lambda _: None)
        assert server.requests == []


# --- the registry -----------------------------------------------------------------------------------------------------


class Echo:
    """A model that is not reached over HTTP."""

    def __init__(self, choice: ModelChoice) -> None:
        self.choice = choice

    def build_request(self, prompt: Any, previous: Request | None) -> Request:
        raise NotImplementedError

    async def reply(self, request: Request, listen: Listen) -> Reply:
        return Reply(text=self.choice.name)


async def test_a_model_is_found_by_its_provider_and_kept() -> None:
    endpoint = Endpoint(provider="fake", wire="openai-chat", base_url="http://127.0.0.1:1")
    keys: dict[str, str] = {}
    made: list[Model] = []

    def echo(choice: ModelChoice) -> Model:
        made.append(Echo(choice))
        return made[-1]

    keyed = Endpoint(provider="keyed", wire="anthropic", base_url="http://127.0.0.1:1", key_env="FAKE_KEY")
    registry = HttpModels({"fake": endpoint, "keyed": keyed}, keys.get, {"echo": echo})
    assert registry.get(choice()) is registry.get(choice(temperature=1))
    assert registry.get(ModelChoice(provider="echo", name="x", wire="")) is made[0]
    with pytest.raises(ConfigError, match="no provider named 'nobody'; there are: echo, fake, keyed"):
        registry.get(ModelChoice(provider="nobody", name="x", wire=""))
    with pytest.raises(ConfigError, match="parameter 'stream' is set by Oribi itself"):
        registry.get(choice(stream=False))
    with pytest.raises(ConfigError, match="model 'keyed:x' needs a key: set the environment variable FAKE_KEY"):
        registry.get(ModelChoice(provider="keyed", name="x", wire=""))
    keys["FAKE_KEY"] = "one"
    first = registry.get(ModelChoice(provider="keyed", name="x", wire=""))
    keys["FAKE_KEY"] = "two"
    assert registry.get(ModelChoice(provider="keyed", name="x", wire="")) is not first
    await registry.close()


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-é"])
async def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    endpoint = Endpoint(provider="fake", wire="openai-chat", base_url="http://127.0.0.1:1", key_env="FAKE_KEY")
    with pytest.raises(ConfigError, match="the key in FAKE_KEY") as caught:
        HttpModel(endpoint, key, Connections())
    assert "sk-" not in str(caught.value)


async def test_a_header_with_a_line_break_is_refused() -> None:
    endpoint = Endpoint(provider="fake", wire="openai-chat", base_url="http://127.0.0.1:1", headers={"X": "a\r\nb"})
    with pytest.raises(ConfigError, match="header 'X'"):
        HttpModel(endpoint, None, Connections())
