"""The main job as `make run` does it: read a log, decide, tell people, answer; and every call of it in SQL.

What the log holds is counted here, by other means than the agent's, and compared with what the agent said.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.logs import Log, bad_line, counted

DEMO = Path(__file__).parents[2] / "demo"


@dataclass(frozen=True, kw_only=True)
class Job:
    """The main job after it ran: what was printed, what arrived where, and what the database says."""

    output: str
    log: Log
    posts: list[dict[str, Any]]
    written: list[dict[str, Any]]
    database: Path

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()

    @property
    def answer(self) -> str:
        query = "SELECT content FROM messages WHERE role = 'assistant' ORDER BY seq DESC LIMIT 1"
        [(text,)] = self.rows(query)
        return text


def run_job(work: Path, *arguments: str) -> Job:
    """Run the demo as a person without any key would, in the folder `work`."""
    kept = {"PATH", "PYTHONPATH", "HOME", "LANG"}
    environment = {name: value for name, value in os.environ.items() if name in kept} | {"NO_COLOR": "1"}
    argv = [sys.executable, str(DEMO / "run.py"), "--model", "scripted", "--work", str(work), *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Job(
        output=done.stdout,
        log=counted((work / "nginx" / "error.log").read_text()),
        posts=lines_of(work / "received.jsonl"),
        written=lines_of(work / "logs" / "ops.log"),
        database=work / ".oribi" / "oribi.db",
    )


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [502, 7])
def test_a_burst_of_502s_is_found_told_once_to_each_channel_and_answered(tmp_path: Path, seed: int) -> None:
    """Y-2, Y-11, O-2, O-15: the numbers told are those of the log, whatever they are."""
    job = run_job(tmp_path / "work", "--seed", str(seed))
    count, first, time = len(job.log.bad_gateway), job.log.bad_gateway[0], job.log.first_time
    assert count >= 60

    [post], [written] = job.posts, job.written
    assert post["channel"] == "team"
    assert written["channel"] == "log"
    assert post["text"] == written["text"]
    for text in (post["text"], job.answer):
        assert f"{count} lines of nginx/error.log" in text
        assert time in text
        assert f"line {first}" in text
    assert post["idempotency_key"] == f"{post['session_id']}/t1/5/call_5_2", (
        "a repeated post could be told from a new one"
    )

    [(thought,)] = job.rows("SELECT response FROM llm_calls WHERE step = 3")
    assert f"errors by their level: {job.log.errors:,}." in thought
    assert job.answer in job.output
    assert all(line in job.output for line in post["text"].splitlines()), "the demo prints what the webhook received"
    skill = ".oribi/agents/ops/skills/nginx-errors/SKILL.md"
    [read, around] = job.rows("SELECT input, result FROM tool_invocations WHERE tool_name = 'read_file' ORDER BY step")
    assert json.loads(read[0]) == {"path": skill}, "a skill is read when it is needed, not before"
    assert json.loads(around[0])["offset"] == first
    assert around[1].splitlines()[0] == (tmp_path / "work/nginx/error.log").read_text().splitlines()[first - 1]


@pytest.mark.slow
def test_every_call_of_the_job_is_a_row_with_tokens_and_durations(tmp_path: Path) -> None:
    """Y-11, Y-12, O-6, O-23: each model call in llm_calls, each tool call in tool_invocations, and printed."""
    job = run_job(tmp_path / "work")
    calls = job.rows("SELECT step, status, prompt_tokens, completion_tokens, duration_ms FROM llm_calls ORDER BY step")
    assert [(step, status) for step, status, *_ in calls] == [(step, "ok") for step in range(1, 7)]
    prompts = [prompt_tokens for _, _, prompt_tokens, _, _ in calls]
    assert prompts == sorted(set(prompts)), "each step sends all that came before"
    assert all(completion > 0 and duration > 0 for *_, completion, duration in calls)

    tools = job.rows(
        "SELECT step, tool_name, status, duration_ms, rule FROM tool_invocations ORDER BY step, created_at"
    )
    assert [(step, name, status) for step, name, status, _, _ in tools] == [
        (1, "read_file", "Succeeded"),
        (1, "list_dir", "Succeeded"),
        (2, "grep", "Succeeded"),
        (3, "grep", "Succeeded"),
        (4, "read_file", "Succeeded"),
        (5, "notify", "Succeeded"),
        (5, "notify", "Succeeded"),
    ]
    assert all(duration > 0 and rule for *_, duration, rule in tools), "each was judged, and took its time"
    assert job.rows("SELECT turn_end, count(*) FROM turn_ends") == [("Completed", 1)]

    llm_calls, tool_invocations = job.output.split("FROM llm_calls")[1].split("FROM tool_invocations")
    assert all(re.search(rf"^{step} .*\b{tokens}\b", llm_calls, re.MULTILINE) for step, _, tokens, *_ in calls)
    assert [line.split()[:3] for line in tool_invocations.splitlines() if line[:1].isdigit()] == [
        [str(step), name, status] for step, name, status, *_ in tools
    ]


@pytest.mark.slow
def test_a_log_without_502s_tells_nobody_and_a_changed_log_changes_the_answer(tmp_path: Path) -> None:
    work = tmp_path / "work"
    job = run_job(work, "--no-burst")
    assert job.log.bad_gateway == []
    assert (job.posts, job.written) == ([], [])
    assert job.answer.startswith("Nothing is wrong. No line of nginx/error.log means a 502.")
    assert f"Upstream timeouts (504): {job.log.timeouts}," in job.answer
    assert job.rows("SELECT count(*) FROM tool_invocations WHERE tool_name = 'notify'") == [(0,)]
    assert "received 0 messages" in job.output

    log = work / "nginx" / "error.log"
    log.write_text(log.read_text() + f"{bad_line('15:00:00')}\n" * 9)
    again = run_job(work, "--keep")
    assert "9 lines of nginx/error.log" in again.answer
    assert f"line {len(log.read_text().splitlines()) - 8}" in again.answer
    assert [post["text"].count("15:00:00") for post in again.posts] == [2], "since when, and until when"
    assert again.rows("SELECT count(*) FROM sessions") == [(2,)]


def test_a_folder_that_the_demo_did_not_make_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    argv = [sys.executable, str(DEMO / "run.py"), "--model", "scripted", "--work", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "holds something that this demo did not make" in done.stderr
    assert (tmp_path / "thesis.tex").exists()
