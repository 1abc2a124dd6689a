"""The fake provider as a process of its own, the way the command `oribi fake-model` runs it."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.testing.raw_client import CHAT, MESSAGES, chat, messages

PROGRAM = """
import sys
from pathlib import Path
from oribi.testing.fake_server import serve
serve(int(sys.argv[1]), Path(sys.argv[2]))
"""

SCRIPT = """
rules:
  - when: {last: 'how many (?P<things>\\w+)'}
    reply: {text: "Seven {things}."}
replies_tail: Pardon?
"""


@contextmanager
def served(script: Path) -> Generator[tuple[subprocess.Popen[str], str, int]]:
    """The process, the host and port it printed; it is ended whatever happens."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, "0", str(script)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        host, port = process.stdout.readline().strip().removeprefix("http://").split(":")
        yield process, host, int(port)
    finally:
        process.kill()
        process.communicate(timeout=30)


def ask(host: str, port: int, path: str, body: object) -> object:
    client = HTTPConnection(host, port, timeout=10)
    client.request("POST", path, json.dumps(body))
    answer = json.load(client.getresponse())
    client.close()
    return answer["choices"][0]["message"]["content"] if path == CHAT else answer["content"][0]["text"]


@pytest.mark.slow
def test_the_process_prints_its_address_answers_both_wires_and_ends_on_a_signal(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    asked = {"role": "user", "content": "how many seas?"}
    with served(script) as (process, host, port):
        assert host == "127.0.0.1"
        assert ask(host, port, CHAT, chat(asked)) == "Seven seas."
        assert ask(host, port, MESSAGES, messages(asked)) == "Seven seas."
        assert ask(host, port, CHAT, chat()) == "Pardon?"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, port), timeout=5)


@pytest.mark.slow
def test_the_process_listens_on_loopback_only(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["hello"]), encoding="utf-8")
    with served(script) as (_, _, port):
        listening = Path("/proc/net/tcp").read_text(encoding="utf-8") + Path("/proc/net/tcp6").read_text(
            encoding="utf-8"
        )
        places = [line.split()[1] for line in listening.splitlines() if f":{port:04X} " in line and " 0A " in line]
    assert places == [f"0100007F:{port:04X}"]
