"""G1, G2: a process killed at any write of a delegating turn leaves two open turns, which end as one and only once.

Real processes and real SIGKILLs: the process counts its commits and kills itself at one of them.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.calls import Json
from oribi.core.ends import Completed
from oribi.core.events import CallCharged
from tests.test_nested import BOSS, boss_script, write_agent

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

CHILD = textwrap.dedent("""
    import os, signal, sys
    import oribi
    from oribi.journal.sqlite import SqliteJournal
    root, most = sys.argv[1], int(sys.argv[2])
    append, count = SqliteJournal.append, 0

    async def append_and_die(self, *given):
        global count
        await append(self, *given)
        count += 1
        if count == most:
            os.kill(os.getpid(), signal.SIGKILL)

    SqliteJournal.append = append_and_die

    @oribi.tool(effect="idempotent")
    def put(key: str) -> str:
        '''Put.'''
        with open(root + "/puts", "a") as file:
            file.write(key + "\\n")
        return "put"

    print(oribi.run("boss", "x", workspace=root, tools=[put], session_id="s1").text)
""")
HELPER: Json = {
    "rules": [
        {"when": {"step": 1}, "reply": {"calls": [{"name": "put", "arguments": {"key": "a"}}]}},
        {"when": {}, "reply": {"text": "helper: {last}"}},
    ]
}
WRITES = 9
"""One more than there are, so that the last is not killed: model call and call of the boss, then of the helper, the
model call and the end of the helper, and of the boss."""


@oribi.tool(effect="idempotent")
def put(key: str) -> str:
    """Put."""
    return f"put {key}"


@pytest.mark.parametrize("write", range(1, WRITES + 1))
async def test_a_delegating_turn_killed_at_any_write_goes_on(tmp_path: Path, write: int) -> None:
    """G1, M-17: one nested session, its spending counted once, the same answer; nothing is left open."""
    init_workspace(tmp_path)
    write_agent(tmp_path, "helper", HELPER)
    write_agent(tmp_path, "boss", boss_script("helper"), more=BOSS)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), str(write)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
    )
    was_killed = child.returncode == -9
    assert was_killed is (write < WRITES), child.stderr
    async with oribi.open(tmp_path, tools=[put]) as app:
        if app.turn("s1").is_open:
            await app.resume("s1")
        turn = app.turn("s1")
        charged = [r.event for r in app.records("s1") if isinstance(r.event, CallCharged)]
        assert turn.end is not None
        assert app.unfinished() == []
        assert len({event.child for event in charged}) == 1
        assert len(app.sessions()) == 2
    assert isinstance(turn.end, Completed)
    assert turn.end.text.startswith("all: helper: put")
    asked_again = write in (1, 3, 5, 7)  # killed right behind the record that the model is asked: it is asked once more
    assert (turn.counters.steps, turn.counters.model_calls, turn.counters.tool_calls) == (2, 4 + asked_again, 2)
