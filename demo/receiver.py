"""The other end of the webhook channel: a real HTTP server on a free port of this machine that notes what it gets."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message as it came: what it says, and the key that is the same for every attempt to send it."""

    text: str
    idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """A receiver at work: where to post, and the file with one JSON line for each post."""

    url: str
    file: Path

    def received(self) -> list[Post]:
        """Everything posted so far, in order."""
        if not self.file.exists():
            return []
        posts = [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]
        return [Post(text=post["text"], idempotency_key=post["idempotency_key"]) for post in posts]


@contextmanager
def receiving(file: Path) -> Generator[Receiver]:
    """Receive posts on 127.0.0.1 while the block runs; each is written to `file` before it is answered with 204."""
    one_writer = Lock()  # protects the file: each request has its own thread

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            text = self.rfile.read(size).decode(errors="replace")
            post = {"text": "", **_parsed(text), "idempotency_key": self.headers.get("Idempotency-Key", "")}
            with one_writer, file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(post) + "\n")
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            """Say nothing: the terminal belongs to the agent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="receiver", daemon=True)
    thread.start()
    try:
        yield Receiver(url=f"http://127.0.0.1:{server.server_address[1]}/team", file=file)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _parsed(text: str) -> dict[str, Any]:
    """The message that was posted; anything but a JSON object is kept as its text."""
    try:
        body: object = json.loads(text)
    except ValueError:
        body = None
    return cast("dict[str, Any]", body) if isinstance(body, dict) else {"text": text}
