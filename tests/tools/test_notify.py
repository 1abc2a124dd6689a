"""`notify`: messages to a file and to a web server, and what is said when they do not arrive."""

import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from oribi.core.calls import Denied, Failed, Succeeded
from oribi.tools.channels import LogChannel, WebhookChannel
from tests.tools.bench import Bench

pytestmark = pytest.mark.anyio


@dataclass
class Receiver:
    """A web server that keeps what it is sent."""

    url: str = ""
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None
    requests: list[tuple[dict[str, str], object]] = field(default_factory=list[tuple[dict[str, str], object]])

    async def receive(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((dict(request.headers), await request.json()))
        return await self.answer(request) if self.answer else web.Response(text="ok")


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/hook", receiver.receive)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield receiver
    await runner.cleanup()


def bench_for(root: Path, url: str, **secrets: str) -> Bench:
    webhook = WebhookChannel(name="team", url=url, headers_env=(("Authorization", "TEAM_TOKEN"),))
    return Bench(root, channels=[webhook], secrets=secrets)


async def test_a_log_channel_appends_one_json_line(tmp_path: Path) -> None:
    """Y-11: the message goes where the operator said, here a file in the workspace."""
    bench = Bench(tmp_path, channels=[LogChannel(name="team", file=".oribi/logs/notify.jsonl")])
    assert await bench.text("notify", channel="team", message="502s\nsince 9") == (
        "sent to 'team' (written to '.oribi/logs/notify.jsonl')"
    )
    await bench.text("notify", channel="team", message="over")
    lines = (tmp_path / ".oribi/logs/notify.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["502s\nsince 9", "over"]
    assert json.loads(lines[0]) == {
        "key": "s1/t1/1/c1",
        "text": "502s\nsince 9",
        "channel": "team",
        "agent": "ops",
        "session_id": "s1",
        "turn_id": "t1",
        "at": "2026-01-05T09:00:00+00:00",
    }


async def test_a_webhook_gets_the_message_and_the_key_of_the_call(receiver: Receiver, tmp_path: Path) -> None:
    bench = bench_for(tmp_path, receiver.url, TEAM_TOKEN="Bearer abc")
    assert await bench.text("notify", channel="team", message="502s ü") == "sent to 'team' (HTTP 200)"
    [(headers, body)] = receiver.requests
    assert headers["Idempotency-Key"] == "s1/t1/1/c1"
    assert headers["Authorization"] == "Bearer abc"
    assert headers["Content-Type"] == "application/json"
    assert body == {
        "text": "502s ü",
        "channel": "team",
        "agent": "ops",
        "session_id": "s1",
        "turn_id": "t1",
        "at": "2026-01-05T09:00:00+00:00",
    }


async def test_a_notification_is_never_repeated_after_a_crash(tmp_path: Path) -> None:
    """A remote may ignore the key, so a call that was cut off becomes Unknown."""
    assert Bench(tmp_path).catalogue["notify"].effect == "once"


@pytest.mark.parametrize(("status", "retryable"), [(400, False), (404, False), (429, True), (500, True), (503, True)])
async def test_an_answer_that_is_no_success_is_a_failure(
    status: int, receiver: Receiver, tmp_path: Path, *, retryable: bool
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, text="no\nsuch hook \0")

    receiver.answer = answer
    bench = bench_for(tmp_path, receiver.url, TEAM_TOKEN="x")
    assert await bench.call("notify", channel="team", message="m") == Failed(
        text=f"'team' answered HTTP {status}: no such hook \N{REPLACEMENT CHARACTER}", retryable=retryable
    )


async def test_a_redirect_is_not_followed(receiver: Receiver, tmp_path: Path) -> None:
    """It would take the token to another place."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": receiver.url})

    receiver.answer = answer
    result = await bench_for(tmp_path, receiver.url, TEAM_TOKEN="x").call("notify", channel="team", message="m")
    assert result == Failed(text="'team' answered HTTP 307: ")
    assert len(receiver.requests) == 1


async def test_a_server_that_is_not_there_is_a_failure_that_may_pass(tmp_path: Path) -> None:
    with socket.socket() as bound:  # bound but not listening: the port is ours, and refuses
        bound.bind(("127.0.0.1", 0))
        bench = bench_for(tmp_path, f"http://127.0.0.1:{bound.getsockname()[1]}/", TEAM_TOKEN="x")
        result = await bench.call("notify", channel="team", message="m")
    assert isinstance(result, Failed)
    assert result.retryable
    assert result.text.startswith("'team' cannot be reached: ")


async def test_a_server_that_hangs_up_is_a_failure(receiver: Receiver, tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    receiver.answer = answer
    result = await bench_for(tmp_path, receiver.url, TEAM_TOKEN="x").call("notify", channel="team", message="m")
    assert isinstance(result, Failed)
    assert result.retryable


async def test_a_huge_answer_is_not_read(receiver: Receiver, tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="x" * 5_000_000)

    receiver.answer = answer
    result = await bench_for(tmp_path, receiver.url, TEAM_TOKEN="x").call("notify", channel="team", message="m")
    assert result == Succeeded(text="sent to 'team' (HTTP 200)")


async def test_a_missing_token_is_named_and_nothing_is_sent(receiver: Receiver, tmp_path: Path) -> None:
    result = await bench_for(tmp_path, receiver.url).call("notify", channel="team", message="m")
    assert result == Failed(text="channel 'team' needs the environment variable 'TEAM_TOKEN', which is not set")
    assert receiver.requests == []


async def test_an_unknown_channel_is_denied_with_those_there_are(tmp_path: Path) -> None:
    bench = Bench(tmp_path, channels=[LogChannel(name="team", file="a"), LogChannel(name="log", file="b")])
    assert await bench.call("notify", channel="teem", message="m") == Denied(
        rule="schema", reason='channel: "teem" is not one of "team" or "log"'
    )
    assert bench.catalogue["notify"].description.endswith("The channels are: team, log.")
    (tmp_path / "other").mkdir()
    assert "there is: none" in await Bench(tmp_path / "other").failure("notify", channel="team", message="m")
