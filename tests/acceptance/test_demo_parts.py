"""The parts of the demo: what its script answers on other logs, the logs it makes, the model it chooses."""

import re
import shutil
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import oribi
from demo.make_log import make_log
from demo.model_choice import SCRIPTED, choose_model
from demo.receiver import Post, receiving
from oribi.core.ends import shown
from oribi.testing import FakeModelServer
from oribi.testing.script_reader import load_script
from tests.acceptance.logs import bad_line, counted

DEMO = Path(__file__).parents[2] / "demo"
QUESTION = "Check the recent nginx error log; if something is wrong, tell the team channel."
NOW = datetime(2026, 11, 30, 14, 5, 12, tzinfo=UTC)


async def ask(work: Path, log: str | None, *, url: str | None = None, provider: str = "") -> tuple[str, list[Post]]:
    """The answer of the demo's agent about `log` (None: there is no such file), and what people got.

    The script answers, or the model `demo` of the provider that the settings `provider` describe.
    """
    (work / "nginx").mkdir()
    if log is not None:
        (work / "nginx" / "error.log").write_text(log)
    shutil.copytree(DEMO / "workspace", work / ".oribi")
    shutil.copy(DEMO / "script.yaml", work / ".oribi")
    settings = work / ".oribi" / "oribi.toml"
    with receiving(work / "received.jsonl") as receiver:
        text = settings.read_text().replace("${DEMO_MODEL}", "wire:demo" if provider else SCRIPTED)
        settings.write_text(text.replace("${DEMO_TEAM_URL}", url or receiver.url) + provider)
        async with oribi.open(work) as app:
            result = await app.run("ops", QUESTION)
    return shown(result.end), receiver.received()


@pytest.mark.anyio
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
async def test_the_job_is_the_same_over_a_real_wire(tmp_path: Path, wire: str) -> None:
    """Y-2, Y-9, O-15: a provider gets the skill's name and path at first, and its text only once it was read."""
    log = make_log(seed=4, lines=900, ends_at=NOW)
    count = len(counted(log).bad_gateway)
    async with FakeModelServer(load_script(DEMO / "script.yaml")) as server:
        provider = f'[providers.wire]\nbase_url = "{server.base_url}/v1"\nwire = "{wire}"\n'
        answer, [post] = await ask(tmp_path, log, provider=provider)
    assert answer.startswith(f"Something is wrong: {count} lines of nginx/error.log mean a 502.")
    assert post.text.startswith(f"nginx answers 502: {count} lines of nginx/error.log since 2026/11/30 ")
    first, second, *others = server.requests
    assert b"skills/nginx-errors/SKILL.md" in first.body
    assert b"nothing listens there" not in first.body
    assert b"nothing listens there" in second.body
    assert len(others) == 4
    assert all(request.broken == () and request.streamed for request in server.requests)


@pytest.mark.anyio
async def test_a_few_502s_are_mentioned_and_wake_nobody(tmp_path: Path) -> None:
    log = make_log(seed=3, lines=300, burst=False, ends_at=NOW) + f"{bad_line('14:06:00')}\n{bad_line('14:06:01')}\n"
    answer, posts = await ask(tmp_path, log)
    assert answer.startswith("Nothing to act on. Lines of nginx/error.log that mean a 502: 2, the first at 14:06:00")
    assert posts == []


@pytest.mark.anyio
@pytest.mark.parametrize("log", ["", None])
async def test_a_log_that_is_empty_or_missing_wakes_nobody(tmp_path: Path, log: str | None) -> None:
    answer, posts = await ask(tmp_path, log)
    expected = "Nothing is wrong." if log == "" else "There is no nginx/error.log to check"
    assert answer.startswith(expected)
    assert posts == []


@pytest.mark.anyio
async def test_a_team_that_cannot_be_reached_is_not_said_to_have_been_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    answer, posts = await ask(tmp_path, f"{bad_line('14:00:00')}\n" * 1_200, url=f"http://127.0.0.1:{port}/team")
    assert answer.startswith("Something is wrong: 1,200 lines of nginx/error.log mean a 502, since 14:00:00 (line 1).")
    assert "I could not tell the team: Error: 'team' cannot be reached" in answer
    assert posts == []


@pytest.mark.parametrize("burst", [True, False])
def test_the_same_seed_writes_the_same_log_and_another_one_another(burst: bool) -> None:  # noqa: FBT001 - a parameter
    log = make_log(seed=1, burst=burst, ends_at=NOW)
    assert log == make_log(seed=1, burst=burst, ends_at=NOW)
    assert log != make_log(seed=2, burst=burst, ends_at=NOW)
    assert (len(counted(log).bad_gateway) > 0) == burst


@pytest.mark.parametrize("lines", [0, 1, 20, 2_000])
def test_a_log_has_the_lines_asked_for_in_the_form_and_order_of_nginx(lines: int) -> None:
    form = re.compile(
        r"(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) \[(info|notice|warn|error|crit)\] (\d+)#(\d+): (?:\*(\d+) )?(\S.*)"
    )
    written = [form.fullmatch(line) for line in make_log(seed=5, lines=lines, ends_at=NOW).splitlines()]
    found = [match for match in written if match is not None]
    assert len(found) == len(written) == lines
    times = [match[1] for match in found]
    assert times == sorted(times)
    assert all("2026/11/30 08:05:12" <= time <= "2026/11/30 14:05:12" for time in times)
    connections = [int(match[5]) for match in found if match[5]]
    assert connections == sorted(set(connections))


@contextmanager
def answering(body: str) -> Generator[tuple[str, int]]:
    """A local server that answers every GET with `body`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield ("127.0.0.1", int(server.server_address[1]))
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("given", "ref"),
    [
        (["DEEPSEEK_API_KEY", "OPENAI_API_KEY"], "openai:gpt-5-mini"),
        (["OPENAI_API_KEY", "ANTHROPIC_API_KEY"], "anthropic:claude-sonnet-4-5"),
        (["ANTHROPIC_API_KEY", "ORIBI_MODEL"], "key"),
        (["ANTHROPIC_API_KEY", "ORIBI_DEFAULT_MODEL"], "key"),
    ],
)
def test_the_first_key_chooses_the_model_unless_one_is_named(given: Sequence[str], ref: str) -> None:
    environment = dict.fromkeys(given, "key")
    assert choose_model(environment).ref == ref
    assert choose_model(environment, "ollama:tiny").ref == "ollama:tiny"
    assert choose_model(environment, "scripted").ref == SCRIPTED


def test_a_local_server_is_used_if_it_speaks_like_one_else_the_script() -> None:
    with (
        answering('{"models": [{"name": "qwen3:8b"}]}') as ollama,
        answering('{"data": [{"id": "gemma.gguf"}]}') as llama_cpp,
        answering("<h1>It works!</h1>") as web,
    ):
        assert choose_model({}, ollama=ollama, llama_cpp=llama_cpp).ref == "ollama:qwen3:8b"
        local = choose_model({}, ollama=web, llama_cpp=llama_cpp)
        assert local.ref == "llama-cpp:gemma.gguf"
        assert f'base_url = "http://127.0.0.1:{llama_cpp[1]}/v1"' in local.settings
        neither = choose_model({"OPENAI_API_KEY": ""}, ollama=web, llama_cpp=web)
    assert neither.ref == SCRIPTED
    assert choose_model({}, ollama=ollama, llama_cpp=llama_cpp) == neither, "both are gone"
