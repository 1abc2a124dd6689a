"""The adapter's second half: the processes of Oribi that a case starts, speaks to, signals and stops.

The runtime is a process of its own (`driver.py`), started when something is first sent. A message `via: cli` is a
one-shot process; since one process at a time may write a workspace, an idle runtime is stopped for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import resource
import signal
import struct
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cases.harness.outcome import Outcome, Sent
from tests.cases.harness.settings import AGENT, HERE, home_of, place_for

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict, Play
    from tests.cases.harness.world import World

STOP_SECONDS = 15.0
_EXITS = {
    0: "ok",
    4: "rejected",
    2: "error",
    3: "error",
    10: "stopped",
    11: "stopped",
    12: "stopped",
    13: "error",
    14: "cancelled",
    15: "error",
    129: "cancelled",
    130: "cancelled",
    141: "cancelled",
    143: "cancelled",
}


@dataclass(slots=True, kw_only=True)
class Exited:
    """A process of the product that is over."""

    label: str | None
    code: int
    started_at: float
    ended_at: float


@dataclass(slots=True)
class Runtime:
    """The driver's process and what was asked of it."""

    process: asyncio.subprocess.Process
    answers: asyncio.Task[None]
    waiting: dict[int, asyncio.Future[JsonDict]]
    started_at: float
    resident_kb: int = 0
    terminal: int | None = None
    """The master side, if it was started under a terminal."""


@dataclass(slots=True, kw_only=True)
class Product:
    """One installation of Oribi: a workspace, and the processes that work in it."""

    world: World
    play: Play
    environment: dict[str, str] = field(default_factory=dict[str, str])
    exits: list[Exited] = field(default_factory=list[Exited])
    one_shots: dict[str, asyncio.subprocess.Process] = field(default_factory=dict[str, asyncio.subprocess.Process])
    signalled_at: float | None = None
    _runtime: Runtime | None = None
    _next: int = 0
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _renamed: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def home(self) -> Path:
        """Where Oribi keeps everything."""
        return home_of(self.world)

    @property
    def log_file(self) -> Path:
        """What the runtime says on stderr."""
        return self.world.root / "runtime.log"

    def write(self, path: Path, content: bytes) -> None:
        """Put a file where Oribi looks for it."""
        place, content = place_for(self.world, path, content)
        if place != path:
            self._renamed[f"agents/{place.parent.name}/AGENT.md"] = path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    # --- the runtime --------------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether the runtime's process is there."""
        return self._runtime is not None and self._runtime.process.returncode is None

    @property
    def main_process(self) -> asyncio.subprocess.Process | None:
        """The process to signal: a one-shot under way, else the runtime."""
        running = [process for process in self.one_shots.values() if process.returncode is None]
        if running:
            return running[-1]
        return self._runtime.process if self._runtime is not None else None

    async def start(self) -> JsonDict:
        """Start the runtime, if it is not running, and wait until it has opened the workspace; its answer."""
        async with self._opening:
            if self.is_running:
                return {"status": "ok"}
            runtime = await self._spawn()
            self._runtime = runtime
            opened = await runtime.waiting[0]
            runtime.resident_kb = _status_kb(runtime.process.pid, "VmRSS")
            return opened

    async def stop(self, sig: signal.Signals | None = None) -> None:
        """Stop the runtime: close its stdin, or send `sig`; what does not go within 15 seconds is killed."""
        runtime = self._runtime
        if runtime is None:
            return
        if sig is not None and runtime.process.returncode is None:
            runtime.process.send_signal(sig)
        if runtime.process.stdin is not None:
            runtime.process.stdin.close()
        try:
            await asyncio.wait_for(runtime.process.wait(), STOP_SECONDS)
        except TimeoutError:
            runtime.process.kill()
            await runtime.process.wait()
        await runtime.answers
        self._runtime = None

    async def close(self) -> None:
        """Leave no process behind."""
        await self.stop()
        for process in self.one_shots.values():
            if process.returncode is None:
                process.kill()
                await process.wait()

    def signal(self, sig: signal.Signals) -> None:
        """Send `sig` to the product's main process."""
        process = self.main_process
        if process is not None and process.returncode is None:
            self.signalled_at = time.monotonic()
            process.send_signal(sig)

    async def ask(self, **command: Any) -> JsonDict:
        """One command for the runtime, and its answer; a runtime that goes away meanwhile gives `died`."""
        opened = await self.start()
        if opened["status"] != "ok":
            return opened
        runtime = self._runtime
        assert runtime is not None, "it has just been started"
        self._next += 1
        number = self._next
        runtime.waiting[number] = asyncio.get_running_loop().create_future()
        assert runtime.process.stdin is not None, "it is a pipe"
        try:
            runtime.process.stdin.write((json.dumps({"id": number, **command}) + "\n").encode())
            await runtime.process.stdin.drain()
        except ConnectionError:
            return {"status": "died", "text": "the runtime is gone"}
        return await runtime.waiting[number]

    def limit_writes(self, kind: str | None) -> None:
        """Make the disk seem full (`max_page_count`) or read-only for the runtime; None: as it was.

        Files can grow no further than the database is now, or not at all; the limit is the kernel's, on that process.
        """
        assert self._runtime is not None, "the runtime is not running"
        sizes = [path.stat().st_size for path in self.home.glob("oribi.db*")]
        soft = resource.RLIM_INFINITY if kind is None else 0 if kind == "readonly" else max(sizes)
        resource.prlimit(self._runtime.process.pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))

    def memory_growth_mb(self) -> float:
        """How much more memory the runtime has held at its peak than when it had opened the workspace."""
        assert self._runtime is not None, "the runtime is not running"
        return (_status_kb(self._runtime.process.pid, "VmHWM") - self._runtime.resident_kb) / 1024

    # --- messages -----------------------------------------------------------------------------------------------------

    async def send(self, sent: Sent, stdin: str | None = None) -> None:
        """Send a message and wait for its outcome."""
        try:
            if sent.via == "cli":
                sent.outcome = await self._one_shot(sent, stdin)
            else:
                answer = await self.ask(op="send", agent=sent.agent, session=sent.session, text=sent.text)
                sent.outcome = _outcome(answer)
        finally:
            sent.ended_at = time.monotonic()
            sent.done.set()

    async def cancel(self, sent: Sent) -> bool:
        """Cancel the message's turn by Oribi's own means: Ctrl-C on the command line, `interrupt` in the library.

        False when there is nothing to cancel.
        """
        if sent.via == "cli":
            self.one_shots[sent.label or ""].send_signal(signal.SIGINT)
            return True
        answer = await self.ask(op="cancel", session=sent.session)
        return bool(answer.get("stopped"))

    async def pipe_and_close(self, text: str, session: str, after_bytes: int) -> Outcome:
        """A one-shot whose reader goes away after some bytes of its output."""
        read_end, write_end = os.pipe()
        try:
            process = await self._run_cli("run", "--session", session, "--agent", AGENT, "--", text, stdout=write_end)
        finally:
            os.close(write_end)
        started = time.monotonic()
        await asyncio.to_thread(os.read, read_end, after_bytes)
        os.close(read_end)
        _, stderr = await process.communicate()
        code = process.returncode
        assert code is not None, "communicate waits for the end"
        self._note_exit(None, code, started)
        return Outcome(status=_EXITS.get(code, "crashed"), exit_code=code, stderr=stderr.decode(errors="replace"))

    def agents_in(self, names: list[str]) -> list[str]:
        """The names of agents to look at: those given, else all folders."""
        folder = self.home / "agents"
        return names or sorted(path.name for path in folder.iterdir() if (path / "AGENT.md").exists())

    async def loaded_agents(self, names: list[str]) -> list[JsonDict]:
        """Agents as the runtime loads them now, with the case's own file names in errors."""
        answer = await self.ask(op="agents", names=self.agents_in(names))
        agents: list[JsonDict] = answer.get("agents", [])
        for agent in agents:
            for ours, theirs in self._renamed.items():
                if ours in agent.get("error", ""):
                    agent["error"] = agent["error"].replace(ours, f"{ours} (written as {theirs})")
        return agents

    async def _one_shot(self, sent: Sent, stdin: str | None) -> Outcome:
        arguments = ["run", "--agent", sent.agent, "--session", sent.session, "--", sent.text]
        started = time.monotonic()
        process = await self._run_cli(*arguments, has_input=stdin is not None)
        self.one_shots[sent.label or f"{len(self.one_shots)}"] = process
        out, err = await process.communicate(None if stdin is None else stdin.encode())
        code = process.returncode
        assert code is not None, "communicate waits for the end"
        self._note_exit(sent.label, code, started)
        stdout, stderr = out.decode(errors="replace"), err.decode(errors="replace")
        status = _EXITS.get(code, "crashed")
        return Outcome(
            status=status, text=stdout.strip() or stderr.strip(), exit_code=code, stdout=stdout, stderr=stderr
        )

    async def _run_cli(
        self, *arguments: str, has_input: bool = False, stdout: int = asyncio.subprocess.PIPE
    ) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "oribi",
            "--workspace",
            str(self.world.workspace),
            *arguments,
            stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
            stdout=stdout,
            stderr=asyncio.subprocess.PIPE,
            env=self.environment,
            cwd=self.world.workspace,
            limit=2**26,
        )

    def _note_exit(self, label: str | None, code: int, started_at: float) -> None:
        self.exits.append(Exited(label=label, code=code, started_at=started_at, ended_at=time.monotonic()))

    async def _spawn(self) -> Runtime:
        read_end, write_end = os.pipe()
        master, slave = pty.openpty() if self.play.spec.get("pty") else (None, None)
        try:
            with self.log_file.open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    str(HERE / "driver.py"),
                    str(self.world.workspace),
                    str(write_end),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=log if slave is None else slave,
                    stderr=log,
                    env=self.environment,
                    cwd=self.world.workspace,
                    pass_fds=(write_end,),
                    start_new_session=slave is not None,
                    preexec_fn=None if slave is None else lambda: self.take_terminal(slave),
                )
        finally:
            os.close(write_end)
            if slave is not None:
                os.close(slave)
        waiting = {0: asyncio.get_running_loop().create_future()}
        answers = asyncio.create_task(self._read_answers(process, read_end, waiting))
        return Runtime(process=process, answers=answers, waiting=waiting, started_at=time.monotonic(), terminal=master)

    @staticmethod
    def take_terminal(slave: int) -> None:
        """Make the terminal this process's own, wide enough for whole lines. Called in the child."""
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))

    async def _read_answers(
        self, process: asyncio.subprocess.Process, read_end: int, waiting: dict[int, asyncio.Future[JsonDict]]
    ) -> None:
        loop = asyncio.get_running_loop()
        started = time.monotonic()
        reader = asyncio.StreamReader(limit=2**26)
        with os.fdopen(read_end, "rb") as pipe:
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
            while line := await reader.readline():
                answer: JsonDict = json.loads(line)
                waiting[answer["id"]].set_result(answer)
            transport.close()
        code = await process.wait()
        self._note_exit(None, code, started)
        for future in waiting.values():
            if not future.done():
                future.set_result({"status": "died", "text": f"the runtime exited with {code}"})


def _outcome(answer: JsonDict) -> Outcome:
    status = answer["status"]
    return Outcome(
        status=status, text=answer.get("text", ""), end=answer.get("end", ""), turn_id=answer.get("turn_id", "")
    )


def _status_kb(pid: int, key: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1])
    return 0
