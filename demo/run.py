"""The main job from end to end: an agent reads a log, decides, tells people, answers; then its every call, from SQL.

It makes a workspace in demo/work as a person would, starts a receiver for the team's webhook, and runs the command line
program on it. Nothing but the model is ever made up.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from make_log import make_log
from model_choice import SCRIPTED, Choice, choose_model
from receiver import Receiver, receiving

DEMO = Path(__file__).resolve().parent
QUESTION = "Check the recent nginx error log; if something is wrong, tell the team channel."
MARK = ".made-by-the-oribi-demo"
"""A folder that holds this file may be cleared."""

LLM_CALLS = """\
SELECT step, provider || ':' || model AS model, status, prompt_tokens, completion_tokens,
       printf('%.1f', duration_ms) AS ms, stop_reason, tool_calls
FROM llm_calls WHERE session_id = '{session}' ORDER BY step, attempt"""
TOOL_INVOCATIONS = """\
SELECT step, tool_name, status, printf('%.1f', duration_ms) AS ms, rule, length(result) AS characters, input
FROM tool_invocations WHERE session_id = '{session}' ORDER BY step, created_at"""


def main() -> int:
    """Run the demo; the exit code is the agent's."""
    given = _arguments()
    work: Path = given.work.resolve()
    model = choose_model(os.environ, given.model)
    log = _prepare(work, given)
    _say(f"workspace  {_short(work)}   agent {_short(work / '.oribi/agents/ops/AGENT.md')}")
    lines = log.read_bytes().count(b"\n")
    _say(f"log        {_short(log)}   {lines:,} lines")
    _say(f"model      {model.ref}   {_why(model)}")
    with receiving(work / "received.jsonl") as receiver:
        posts, sessions = len(receiver.received()), _sessions(work)
        _configure(work, model, receiver)
        code = _oribi(work, "run", QUESTION)
        _show_received(receiver, posts)
    for session in _sessions(work) - sessions:
        _oribi(work, "trace", session)
        for query in (LLM_CALLS, TOOL_INVOCATIONS):
            _show_rows(work, query.format(session=session))
    if code and model.ref != SCRIPTED:
        print("hint: `demo/run.py --model scripted` does the same job without a real model", file=sys.stderr)
    return code


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run Oribi's main job on an nginx error log made for it.")
    parser.add_argument("--seed", type=int, default=502, help="another seed makes another log (default 502)")
    parser.add_argument("--lines", type=int, default=2_000, help="lines of the log (default 2000)")
    parser.add_argument("--no-burst", action="store_true", help="a log without any 502: nobody is told")
    parser.add_argument("--log", type=Path, metavar="FILE", help="take this log instead of making one")
    parser.add_argument("--model", metavar="PROVIDER:NAME", help="the model; 'scripted' for the embedded script")
    parser.add_argument("--keep", action="store_true", help="go on in the workspace of the last run, with its log")
    parser.add_argument("--work", type=Path, default=DEMO / "work", help="where the workspace is made (demo/work)")
    return parser.parse_args()


def _prepare(work: Path, given: argparse.Namespace) -> Path:
    """Make the workspace, or keep the one there; returns the log."""
    log = work / "nginx" / "error.log"
    is_kept = given.keep and log.exists()
    if not is_kept:
        if work.exists() and any(work.iterdir()) and not (work / MARK).exists():
            sys.exit(f"{work} holds something that this demo did not make; give another folder with --work")
        shutil.rmtree(work, ignore_errors=True)
        log.parent.mkdir(parents=True)
        (work / MARK).touch()
    shutil.copytree(DEMO / "workspace", work / ".oribi", dirs_exist_ok=True)
    shutil.copy(DEMO / "script.yaml", work / ".oribi" / SCRIPTED.removeprefix("scripted:"))
    if given.log is not None:
        shutil.copy(given.log, log)
    elif not is_kept:
        text = make_log(seed=given.seed, lines=given.lines, burst=not given.no_burst, ends_at=datetime.now(UTC))
        log.write_text(text, encoding="utf-8")
    return log


def _configure(work: Path, model: Choice, receiver: Receiver) -> None:
    """Fill in oribi.toml, so that the workspace can be used by hand afterwards."""
    file = work / ".oribi" / "oribi.toml"
    text = file.read_text(encoding="utf-8")
    text = text.replace("${DEMO_MODEL}", model.ref).replace("${DEMO_TEAM_URL}", receiver.url)
    file.write_text(text + model.settings, encoding="utf-8")


def _why(model: Choice) -> str:
    return f"({model.why}; it follows demo/script.yaml)" if model.ref == SCRIPTED else f"({model.why})"


def _oribi(work: Path, command: str, *arguments: str) -> int:
    """Run the command line program as a person would, in the same terminal."""
    shown = shlex.join(["oribi", command, "--workspace", _short(work), *arguments])
    _say(f"\n$ {shown}")
    argv = [sys.executable, "-m", "oribi", command, "--workspace", str(work), *arguments]
    return subprocess.run(argv, check=False, env={**os.environ, "ORIBI_DEFAULT_MODEL": ""}).returncode


def _show_received(receiver: Receiver, before: int) -> None:
    received = receiver.received()[before:]
    _say(f"\nThe team's webhook received {len(received)} message{'' if len(received) == 1 else 's'}:")
    for post in received:
        _say(textwrap.indent(post.text, "  | "))
        _say(f"  (Idempotency-Key: {post.idempotency_key}; the whole of it is in {_short(receiver.file)})")


def _sessions(work: Path) -> set[str]:
    """The sessions in the workspace's database."""
    database = work / ".oribi" / "oribi.db"
    if not database.exists():
        return set()
    with closing(_read(database)) as connection:
        return {str(row[0]) for row in connection.execute("SELECT id FROM sessions")}


def _show_rows(work: Path, query: str) -> None:
    """Run a query as the program `sqlite3` would, and show its rows."""
    database = work / ".oribi" / "oribi.db"
    _say(f'\n$ sqlite3 -header -column {_short(database)} "\n{query}"')
    with closing(_read(database)) as connection:
        cursor = connection.execute(query)
        header = tuple(column[0] for column in cursor.description)
        rows = [tuple(_cell(value) for value in row) for row in cursor]
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, tuple("-" * width for width in widths), *rows):
        _say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= 72 else f"{text[:71]}…"


def _read(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)


def _short(path: Path) -> str:
    """`path` as a person in this folder would write it."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
