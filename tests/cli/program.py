"""The real program in a real workspace: run it, start it and signal it, and read what it put where."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.warm import WarmStart

AGENT = """\
---
description: Looks after the web server
model: {model}
tools: [grep, read_file, list_dir, notify, write_file]
---
You are ops.
"""

_LISTENING = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('oribi', run_name='__main__', alter_sys=True)"
)
"""Starts the program. A shell that runs tests in the background makes their children ignore SIGINT; people do not."""

_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "COVERAGE_PROCESS_START")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What came of one run of the program."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Program:
    """The program `oribi` in one project folder, with a clean environment."""

    def __init__(self, root: Path, warm: WarmStart) -> None:
        self.root = root
        self._warm = warm
        self._started: list[subprocess.Popen[bytes]] = []
        self.home = root / ".oribi"
        self.environment: dict[str, str] = {
            **{name: os.environ[name] for name in _VARIABLES if name in os.environ},
            "TZ": "UTC",
            "NO_PROXY": "*",
        }

    def write(self, name: str, text: str) -> Path:
        """Write a file of the workspace's own folder."""
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def set_up(self, script: str, *, settings: str = "", model: str = "scripted:demo.yaml") -> None:
        """A workspace with the agent `ops`, which is the default, and the script of its model."""
        self.write("demo.yaml", script)
        self.write("agents/ops/AGENT.md", AGENT.format(model=model))
        self.write("oribi.toml", f'default_agent = "ops"\n{settings}')

    def run(self, *arguments: str, given: str | bytes | None = None, timeout: float = 60.0) -> Finished:
        """Run the program to its end. Without `given`, stdin is empty."""
        content = given.encode() if isinstance(given, str) else given or b""
        if "PYTHONPATH" in self.environment:  # what it imports is to differ
            done = subprocess.run(
                [sys.executable, "-m", "oribi", *arguments],
                input=content,
                capture_output=True,
                cwd=self.root,
                env=self.environment,
                timeout=timeout,
                check=False,
            )
            code, out, err = done.returncode, done.stdout, done.stderr
        else:
            code, out, err = self._warm.run(
                list(arguments), given=content, folder=self.root, environment=self.environment, timeout=timeout
            )
        return Finished(code=code, out=out.decode(), err=err.decode())

    def start(self, *arguments: str, given_later: bool = False) -> "subprocess.Popen[bytes]":
        """Start the program; whatever is left of it ends with the test. With `given_later`, stdin stays open."""
        process = subprocess.Popen(
            [sys.executable, "-c", _LISTENING, *arguments],
            stdin=subprocess.PIPE if given_later else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.root,
            env=self.environment,
        )
        self._started.append(process)
        return process

    def end_started(self) -> None:
        """Kill what a test left running."""
        for process in self._started:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None and not pipe.closed:
                    pipe.close()

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the journal; nothing when there is none yet."""
        file = self.home / "oribi.db"
        if not file.exists():
            return []
        connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # the file is there, its tables are not yet
                return []
            raise
        finally:
            connection.close()

    def events(self) -> list[str]:
        """The names of all events, session by session."""
        return [name for (name,) in self.query("SELECT type FROM events ORDER BY session_id, seq")]


def wait_until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for a state, and fail if it does not come."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "the state did not come"
        time.sleep(0.02)


def finish(process: "subprocess.Popen[bytes]", timeout: float = 30.0) -> Finished:
    """Read what a started program puts out until it has ended."""
    out, err = process.communicate(timeout=timeout)
    return Finished(code=process.returncode, out=out.decode(), err=err.decode())


def steady(text: str, replacements: Mapping[str, str] | None = None) -> str:
    """`text` with what changes from run to run replaced: ids, times, durations, folders."""
    for found, shown in (replacements or {}).items():
        text = text.replace(found, shown)
    text = re.sub(r"\b(?!scripted)[a-z2-7]{8}\b(?=:|\s+agent|\s+ops|$)", "SESSION", text, flags=re.MULTILINE)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    return re.sub(r"\b\d+(\.\d)? m?s\b", "SPAN", text)
