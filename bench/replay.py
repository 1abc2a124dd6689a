"""How many steps of a recorded turn are replayed exactly in a second: the loop, the wire's encoder and the hashes."""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import oribi
from oribi.core.calls import JsonObject, Succeeded, ToolResult, ToolSpec
from oribi.ports import Invocation
from oribi.testing import FakeModelServer
from oribi.tools.tool import Tool

STEPS = 200
GOAL = 1000
WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")
RESULT = "x" * 256
SETTINGS = '[providers.bench]\nbase_url = "{base}/v1"\nwire = "{wire}"\n'
AGENT = """---
name: bench
model: bench:fake-1
settings:
  max_iterations: {steps}
---
You are a benchmark. Call the tool.
"""


async def noop(arguments: JsonObject, invocation: Invocation) -> ToolResult:
    """A tool that returns 256 bytes."""
    del arguments, invocation
    return Succeeded(text=RESULT)


async def measure(wire: str, rounds: int, steps: int) -> list[float]:
    """Steps per second of each round, after one that only warms up."""
    call = {"text": "I call it.", "calls": [{"name": "noop", "arguments": {"n": 1}}]}
    script = {"replies": [call] * (steps - 1) + [{"text": "Done."}], "order": "requests"}
    tool = Tool(spec=ToolSpec(name="noop", description="Does nothing.", parameters={"type": "object"}), run=noop)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / ".oribi"
        (home / "agents" / "bench").mkdir(parents=True)
        (home / "agents" / "bench" / "AGENT.md").write_text(AGENT.format(steps=steps))
        async with FakeModelServer(script) as server:
            (home / "oribi.toml").write_text(SETTINGS.format(base=server.base_url, wire=wire))
            async with oribi.open(folder, tools=[tool]) as app:
                await app.run("bench", "go", session_id="long")
        rates: list[float] = []
        async with oribi.open(folder, read_only=True) as app:
            for _ in range(rounds + 1):
                replayed = await app.replay("long")
                if replayed.divergence is not None or replayed.steps != steps:
                    sys.exit(f"bench: {wire}: {replayed}")
                rates.append(replayed.steps / replayed.seconds)
        return rates[1:]


def main() -> None:
    """Measure each wire in a process of its own, and print the median of its rounds."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--steps", type=int, default=STEPS)
    options.add_argument("--wire", choices=WIRES, help="only this one, and only its figures as JSON")
    given = options.parse_args()
    if given.wire:
        print(json.dumps(asyncio.run(measure(given.wire, given.rounds, given.steps))))
        return
    print(f"Exact replay of one turn of {given.steps} steps with one tool each; median of {given.rounds} rounds.")
    for wire in WIRES:
        command = [sys.executable, __file__, "--wire", wire, "--rounds", str(given.rounds), "--steps", str(given.steps)]
        rates = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        middle = statistics.median(rates)
        said = f"{middle:.0f} steps/s ({min(rates):.0f} to {max(rates):.0f})"
        print(f"{wire:<20} {said:<38} goal >= {GOAL:<14} {'met' if middle >= GOAL else 'NOT MET'}")


if __name__ == "__main__":
    main()
