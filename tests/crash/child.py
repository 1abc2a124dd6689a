"""The program that gets killed: a fork server, and the process it forks for each life, which drives one session.

The server reads one JSON list of lives a line, forks a process for each, all at once, and answers with one JSON list of
what each said and how it ended. It has imported everything and started no thread and no loop, so that a life costs
milliseconds and yet is a process of its own that dies of a real SIGKILL.

What happened is told by a file that the tools write, not by the journal: see `leave_mark`.
"""

import gc
import importlib
import json
import os
import selectors
import signal
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

import anyio

import oribi
from oribi.core.calls import SessionId, told
from oribi.core.errors import OribiError
from oribi.core.events import Recorded, ToolStarted
from oribi.core.messages import Reply, ToolMessage, UserMessage
from oribi.core.results import TurnResult
from oribi.journal.codec import encode_event
from oribi.journal.sqlite import SqliteJournal
from oribi.ports import Invocation, Listen, Request
from oribi.testing import ScriptedModel
from oribi.testing.scripted import ScriptedRequest
from oribi.tools.function import tool
from oribi.tools.tool import Tool

Mode: TypeAlias = Literal["run", "resume", "work"]


class Life(TypedDict):
    """What one process does, and where it dies.

    `mode`: `run` starts the session's turn, or goes on with it; `resume` only goes on; `work` is a worker that leaves
    when nothing is left to do. `place` and `number` say where it dies: at the number-th time that it comes to
    `before-append`, `after-append`, `before-effect`, `after-effect`; empty for nowhere. `seconds` is when its parent
    kills it, wherever it is; 0 for never. `lies` takes the write-ahead away.
    """

    workspace: str
    session: str
    agent: str
    mode: Mode
    place: str
    number: int
    seconds: float
    lies: bool


class Lived(TypedDict):
    """What one process said, line by line, and the signal it died of (0: it ended by itself)."""

    said: list[str]
    signal: int


def main() -> None:
    """Serve until there is no more to read."""
    gc.freeze()
    for line in sys.stdin:
        lives: list[Life] = json.loads(line)
        lived = live_all(lives)
        for known in lived:
            learn(known)
        print(json.dumps(lived), flush=True)


def live_all(lives: Sequence[Life]) -> list[Lived]:
    """Fork a process for each life, at once; read what they say to their ends, and kill those whose time has come."""
    began = time.monotonic()
    pids: list[int] = []
    said = [bytearray() for _ in lives]
    deadlines = {place: began + life["seconds"] for place, life in enumerate(lives) if life["seconds"]}
    with selectors.DefaultSelector() as selector:
        for place, life in enumerate(lives):
            pid, reads = forked(life)
            pids.append(pid)
            selector.register(reads, selectors.EVENT_READ, place)
        while selector.get_map():
            soonest = min(deadlines.values(), default=None)
            ready = selector.select(None if soonest is None else max(0.0, soonest - time.monotonic()))
            for place, deadline in list(deadlines.items()):
                if time.monotonic() >= deadline:
                    del deadlines[place]
                    os.kill(pids[place], signal.SIGKILL)
            for key, _ in ready:
                piece = os.read(key.fd, 65_536)
                said[key.data] += piece
                if not piece:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    deadlines.pop(key.data, None)
    statuses = [os.waitpid(pid, 0)[1] for pid in pids]
    return [
        {"said": text.decode().splitlines(), "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0}
        for text, status in zip(said, statuses, strict=True)
    ]


def forked(life: Life) -> tuple[int, int]:
    """A process that lives `life`, and where to read what it says."""
    reads, writes = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writes)
        return pid, reads
    try:
        os.close(reads)
        anyio.run(live, life, Mouth(writes))
    except BaseException as error:  # noqa: BLE001 - a forked process must not go on as its parent
        os.write(writes, f"broke {error!r}\n".encode())
    finally:
        os._exit(0)


def learn(lived: Lived) -> None:
    """Import what a process had to import, so that the next one need not."""
    for line in lived["said"]:
        if line.startswith("imported "):
            for name in line.split()[1:]:
                importlib.import_module(name)
            gc.freeze()
    lived["said"] = [line for line in lived["said"] if not line.startswith("imported ")]


class Mouth:
    """Where a process says a line; once said, it is heard whatever comes after."""

    def __init__(self, file: int) -> None:
        self._file = file

    def say(self, line: str) -> None:
        os.write(self._file, line.encode() + b"\n")


async def live(life: Life, mouth: Mouth) -> None:
    """Drive the session to the end of its turn, or die on the way."""
    known = set(sys.modules)
    come_to = death(life["place"], life["number"])
    watch_appends(mouth, come_to, lies=life["lies"])
    watch_model(Path(life["workspace"]) / "told")
    session = life["session"]
    try:
        async with oribi.open(life["workspace"], tools=tools(Path(life["workspace"]) / "witness", come_to)) as app:
            match life["mode"]:
                case "work":
                    mouth.say(f"worked {await app.work(anyio.Event(), leave_when_done=True)}")
                case "run" if not has_begun(app, session):
                    mouth.say(said_end(await app.run(life["agent"], session, session_id=session)))
                case _:
                    mouth.say(said_end(await app.resume(session)))
    except OribiError as error:
        mouth.say(f"refused {type(error).__name__} {error}")
    if new := [name for name in sys.modules if name not in known and not name.startswith("__")]:
        mouth.say(f"imported {' '.join(new)}")


def has_begun(app: oribi.App, session: str) -> bool:
    """Whether anything of the session is durable."""
    return any(row.session_id == session for row in app.sessions(limit=1_000_000))


def said_end(result: TurnResult) -> str:
    """How a turn ended, as a line."""
    return f"ended {type(result.end).__name__} {result.text}"


def death(place: str, number: int) -> Callable[[str], None]:
    """A function that is told each place come to, and kills the process at the `number`-th time at `place`."""
    times: Counter[str] = Counter()

    def come_to(here: str) -> None:
        times[here] += 1
        if here == place and times[here] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return come_to


def watch_appends(mouth: Mouth, come_to: Callable[[str], None], *, lies: bool) -> None:
    """Say each record once it is durable, and come to a place before and after each write.

    With `lies`, the start of a call is held back and written with what comes of it: the write-ahead is gone.
    """
    write = SqliteJournal.append
    held: list[Recorded] = []

    async def append(self: SqliteJournal, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        records = [*held, *records]
        held.clear()
        if lies and isinstance(records[-1].event, ToolStarted):
            held[:] = records
            return
        come_to("before-append")
        await write(self, session_id, epoch, records)
        for record in records:
            mouth.say(f"durable {session_id} {record.seq} {fingerprint(record)}")
        come_to("after-append")

    SqliteJournal.append = append


def fingerprint(record: Recorded) -> str:
    """What `record` says, in short: to see that it was not rewritten."""
    return f"{type(record.event).__name__}-{zlib.crc32(encode_event(record.event)[0]):08x}"


def watch_model(told_file: Path) -> None:
    """Note what the model reads about each call, each time it is asked."""
    answer = ScriptedModel.reply

    async def reply(self: ScriptedModel, request: Request, listen: Listen) -> Reply:
        assert isinstance(request, ScriptedRequest)
        messages = request.prompt.messages
        session = next(message.text for message in messages if isinstance(message, UserMessage))
        for message in messages:
            if isinstance(message, ToolMessage):
                leave_mark(told_file, f"{session} {message.call_id} {json.dumps(told(message.result))}")
        return await answer(self, request, listen)

    ScriptedModel.reply = reply


def leave_mark(file: Path, line: str) -> None:
    """Append a line that is on the disk when this returns; also from several processes at once."""
    mark = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(mark, line.encode() + b"\n")
        os.fsync(mark)
    finally:
        os.close(mark)


def marks(file: Path) -> list[str]:
    """The lines left so far."""
    return file.read_text().splitlines() if file.exists() else []


def tools(witness: Path, come_to: Callable[[str], None]) -> list[Tool]:
    """A tool of each effect class; each effect is a line in `witness`."""

    def act(key: str) -> str:
        come_to("before-effect")
        leave_mark(witness, key)
        come_to("after-effect")
        return f"did {key}"

    async def look(invocation: Invocation) -> str:
        """Look."""
        return act(invocation.key)

    async def put(invocation: Invocation) -> str:
        """Put: with the same key, it is the same effect."""
        return act(invocation.key)

    async def book(invocation: Invocation) -> str:
        """Book."""
        return act(invocation.key)

    async def was_booked(invocation: Invocation) -> str | None:
        return f"did {invocation.key}" if invocation.key in marks(witness) else None

    async def send(invocation: Invocation) -> str:
        """Send."""
        return act(invocation.key)

    return [
        tool(effect="pure")(look),
        tool(effect="idempotent")(put),
        tool(effect="reconcilable", probe=was_booked)(book),
        tool(effect="once")(send),
    ]


if __name__ == "__main__":
    main()
