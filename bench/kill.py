"""How soon a killed turn goes on: kill -9 in a turn of 200 steps, `oribi resume`, the time to the next model request.

Real `oribi` processes against a `FakeModelServer`; the answer must be that of the turn that nobody killed.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from oribi.testing import FakeModelServer, ModelRequest

GOAL_SECONDS = 1.0
ANSWER = "All is well."
AGENT = """---
name: bench
model: fake:bench
tools: [list_dir]
settings:
  max_iterations: 1000
---
Look around.
"""
SETTINGS = """[providers.fake]
wire = "openai-chat"
base_url = "{url}/v1"
"""
DEADLINE_SECONDS = 120.0
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def main() -> int:
    """Measure and print; the exit code says whether the answers were equal."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    whole, start = one_turn(given.steps, kill_at=None)
    rounds = [
        one_turn(given.steps, kill_at=given.steps * (number + 1) // (given.rounds + 1))
        for number in range(given.rounds)
    ]
    seconds = [waited for _, waited in rounds]
    same = all(answer == whole for answer, _ in rounds)
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    met = "met" if middle <= GOAL_SECONDS else "NOT MET"
    spread = f"{middle:.2f} ({low:.2f} to {high:.2f})"
    print(f"{'kill -9, resume, next model request, s':<44} {spread:<38} goal <= {GOAL_SECONDS:g} {met}")
    print(f"{'a new turn, start to first model request, s':<44} {start:.2f}")
    print(f"{'final answer as without the kill':<44} {'yes' if same else f'NO: {[answer for answer, _ in rounds]}'}")
    return 0 if same else 1


def one_turn(steps: int, *, kill_at: int | None) -> tuple[str, float]:
    """The turn's answer, and the seconds from the start of the last process to its first model request."""
    arrived: list[float] = []

    def answer(request: ModelRequest) -> dict[str, object]:
        arrived.append(time.monotonic())
        results = request.body.count(b'"tool_call_id"')
        if results >= steps - 1:
            return {"text": f"{ANSWER} {results} looks."}
        return {"calls": [{"name": "list_dir", "arguments": {"path": "."}}]}

    with tempfile.TemporaryDirectory() as folder, FakeModelServer(answer) as server:
        root = Path(folder)
        environment = {**ENVIRONMENT, "HOME": folder}
        agent = root / ".oribi" / "agents" / "bench"
        agent.mkdir(parents=True)
        (agent / "AGENT.md").write_text(AGENT)
        (root / ".oribi" / "oribi.toml").write_text(SETTINGS.format(url=server.base_url))
        command = oribi("run", "--agent", "bench", "--quiet", "go")
        began = time.monotonic()
        first = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)
        if kill_at is None:
            return first.communicate(timeout=DEADLINE_SECONDS)[0].strip(), arrived[0] - began
        wait_until(lambda: len(arrived) >= kill_at)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        before, began = len(arrived), time.monotonic()
        second = subprocess.run(
            oribi("resume", "--quiet"), cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        return second.stdout.strip() or second.stderr, arrived[before] - began if len(arrived) > before else float(
            "inf"
        )


def oribi(*arguments: str) -> list[str]:
    """The command line of the program in this environment."""
    return [str(Path(sys.executable).with_name("oribi")), *arguments]


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for a state that another process brings about."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("the turn did not come that far; run it without the kill to see why")
        time.sleep(0.001)


if __name__ == "__main__":
    sys.exit(main())
