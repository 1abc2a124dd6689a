"""Measures Oribi beside the floors and prints ratios of CPU time taken in this one run."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PYTHON = sys.executable
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def child(script: str, *arguments: object) -> dict[str, Any]:
    """What a scenario printed."""
    command = [PYTHON, str(HERE / script), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if run.returncode:
        sys.exit(f"bench: {' '.join(command)} failed:\n{run.stderr}")
    return json.loads(run.stdout.splitlines()[-1])


def cost_of(command: list[str]) -> tuple[float, float]:
    """CPU seconds and peak memory (MiB) of a command, seen from a process that has no other children."""
    probe = (
        "import json, resource, subprocess, sys; "
        "null = subprocess.DEVNULL; "
        "r = subprocess.run(sys.argv[1:], stdout=null, stderr=subprocess.PIPE, stdin=null); "
        "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(json.dumps([r.returncode, u.ru_utime + u.ru_stime, u.ru_maxrss / 1024, r.stderr.decode()]))"
    )
    run = subprocess.run([PYTHON, "-c", probe, *command], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    code, cpu, memory, errors = json.loads(run.stdout)
    if code:
        sys.exit(f"bench: {' '.join(command)} failed with {code}:\n{errors}")
    return cpu, memory


def spread(values: list[float], unit: str = "", digits: int = 2) -> str:
    """Median, lowest and highest."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f}{unit} ({low:.{digits}f} to {high:.{digits}f})"


def line(goal: str, said: str, *, target: str, met: bool) -> None:
    """Print one goal."""
    print(f"{goal:<44} {said:<38} goal {target:<22} {'met' if met else 'NOT MET'}")


def per_step(result: dict[str, Any], first: int, last: int) -> float:
    """CPU ms a step between two marks."""
    marks = result["marks"]
    return (marks[last] - marks[first]) / (last - first) * 1e3


def main() -> None:
    """Start the server, measure, stop it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--quick", action="store_true", help="fewer and smaller rounds, to see that it runs")
    given = options.parse_args()
    rounds = 2 if given.quick else given.rounds
    sessions = 40 if given.quick else 200
    long_steps = 220 if given.quick else 1000

    server = subprocess.Popen([PYTHON, str(HERE / "server.py")], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert server.stdout is not None
    try:
        measure(int(server.stdout.readline()), rounds=rounds, sessions=sessions, long_steps=long_steps)
    finally:
        server.kill()
        server.wait()


def measure(port: int, *, rounds: int, sessions: int, long_steps: int) -> None:
    """Take and print all figures."""
    child("ours.py", "turns", port, 3)  # once for the caches
    print(f"One fake model server, {os.cpu_count()} cores, Python {sys.version.split()[0]}; median of {rounds} rounds.")
    print("CPU of the client only; everything journaled, synchronous=FULL, policy judged, budget counted.\n")
    one_session(port, rounds)
    many_sessions(port, rounds, sessions)
    long_session(port, max(1, rounds // 2), long_steps)
    streamed(rounds, 2000 if rounds == 2 else 8000)
    command_line(port, rounds)
    resumed_session(port, max(1, rounds // 2))


def one_session(port: int, rounds: int) -> None:
    """Goal 1: the floors and ours in turn, so that a slow moment of the machine falls on all of them."""
    measured: dict[str, list[float]] = {"raw": [], "aiohttp": [], "durable": [], "ours": []}
    for _ in range(rounds):
        for name, values in measured.items():
            script, scenario = ("ours.py", "turns") if name == "ours" else ("floors.py", name)
            values.append(per_step(child(script, scenario, port, 50), 4, 49))
    ratios = [mine / floor for mine, floor in zip(measured["ours"], measured["durable"], strict=True)]
    print(f"{'raw socket, CPU ms a step':<44} {spread(measured['raw'])}")
    print(f"{'bare aiohttp':<44} {spread(measured['aiohttp'])}")
    print(f"{'raw socket + bare SQLite FULL':<44} {spread(measured['durable'])}")
    print(f"{'Oribi':<44} {spread(measured['ours'])}")
    met = statistics.median(ratios) <= 2.5
    line("1 one session, CPU a step / durable floor", spread(ratios, "x"), target="<= 2.5x", met=met)


def many_sessions(port: int, rounds: int, sessions: int) -> None:
    """Goal 2."""
    crowd = [child("ours.py", "turns-uvloop", port, 10, sessions) for _ in range(rounds)]
    bare = [child("floors.py", "raw", port, 10, sessions) for _ in range(rounds)]
    floor = [sessions * 10 / result["cpu"] for result in bare]
    rate = [sessions * 10 / result["cpu"] for result in crowd]
    shared = [result["session_commits"] / result["commits"] for result in crowd]
    print(f"\n{f'{sessions} sessions, raw socket, steps per CPU s':<44} {spread(floor, digits=0)}")
    met = statistics.median(rate) >= 1500
    line(f"2 {sessions} sessions, steps per CPU s", spread(rate, digits=0), target=">= 1500", met=met)
    met = statistics.median(shared) >= 15
    line("  session commits a transaction", spread(shared, digits=1), target=">= 15", met=met)


def long_session(port: int, rounds: int, steps: int) -> None:
    """Goals 3 and 4."""
    results = [child("ours.py", "turns", port, steps) for _ in range(rounds)]
    early = [per_step(result, 80, 120) for result in results]
    late = [per_step(result, steps - 50, steps - 10) for result in results]
    growth = [after / before for after, before in zip(late, early, strict=True)]
    size = [result["bytes"] / steps for result in results]
    commits = [result["commits"] / steps for result in results]
    print()
    met = statistics.median(growth) <= 1.8
    line(f"3 a session of {2 * (steps - 30)} messages / of 200", spread(growth, "x"), target="<= 1.8x", met=met)
    line("  CPU ms a step there", spread(late), target="<= 3.5", met=statistics.median(late) <= 3.5)
    met = statistics.median(size) <= 2200
    line("4 database bytes a step, checkpointed", spread(size, digits=0), target="<= 2200", met=met)
    line("  commits a step with one tool", spread(commits), target="2", met=round(statistics.median(commits), 1) == 2)


def streamed(rounds: int, events: int) -> None:
    """Goal 5: each wire's stream, read by the barest reader, by ours, and once by the official SDK."""
    server = subprocess.Popen(
        [PYTHON, str(HERE / "streams.py"), "serve"], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    assert server.stdout is not None
    try:
        port = int(server.stdout.readline())
        print()
        for wire in ("openai-chat", "openai-responses", "anthropic", "gemini"):
            both = [child("streams.py", "both", wire, port, events) for _ in range(rounds)]
            sdk = child("streams.py", "sdk", wire, port, max(500, events // 8))["sdk"]
            event = [round_["ours"]["event_us"] / round_["bare"]["event_us"] for round_ in both]
            call = [round_["ours"]["call_ms"] / round_["bare"]["call_ms"] for round_ in both]
            each = statistics.median([round_["ours"]["event_us"] for round_ in both])
            whole = statistics.median([round_["ours"]["call_ms"] for round_ in both])
            met = statistics.median(event) <= 1.5
            line(f"5 {wire}, CPU an event / bare", spread(event, "x"), target="<= 1.5x", met=met)
            print(f"{f'  {each:.1f} us; the official SDK':<44} {sdk['event_us'] / each:.0f}x ours")
            print(f"{f'  a call of one event, {whole:.2f} ms; / bare':<44} {spread(call, 'x')}")
            print(f"{'  the official SDK':<44} {sdk['call_ms'] / whole:.0f}x ours")
    finally:
        server.kill()
        server.wait()


def command_line(port: int, rounds: int) -> None:
    """Goal 6."""
    oribi = str(Path(PYTHON).parent / "oribi")
    cost_of([oribi, "--help"])
    python = [cost_of([PYTHON, "-c", "pass"])[0] for _ in range(rounds)]
    helps = [cost_of([oribi, "--help"])[0] for _ in range(rounds)]
    print(f"\n{'python -c pass, CPU s':<44} {spread(python, digits=3)}")
    met = statistics.median(helps) <= 0.12
    line("6 oribi --help, CPU s", spread(helps, digits=3), target="<= 0.12", met=met)
    with tempfile.TemporaryDirectory() as folder:
        agent = Path(folder) / ".oribi" / "agents" / "bench" / "AGENT.md"
        agent.parent.mkdir(parents=True)
        agent.write_text("---\nname: bench\nmodel: bench:answer\n---\nBe brief.\n")
        settings = f'[providers.bench]\nbase_url = "http://127.0.0.1:{port}/v1"\nwire = "openai-chat"\n'
        (Path(folder) / ".oribi" / "oribi.toml").write_text(settings)
        command = [oribi, "--workspace", folder, "run", "--agent", "bench", "hello"]
        cost_of(command)
        runs = [cost_of(command) for _ in range(rounds)]
    cpu, memory = [seconds for seconds, _ in runs], [mebibytes for _, mebibytes in runs]
    line("  oribi run, one shot, CPU s", spread(cpu), target="<= 0.6", met=statistics.median(cpu) <= 0.6)
    line("  its peak memory, MiB", spread(memory, digits=0), target="<= 50", met=statistics.median(memory) <= 50)


def resumed_session(port: int, rounds: int) -> None:
    """Goal 8."""
    results = [child("ours.py", "resume", port, 200) for _ in range(rounds)]
    walls = [result["wall"] for result in results]
    print()
    goal = f"8 resume 200 turns, {results[0]['records']} records, s"
    line(goal, spread(walls, digits=3), target="<= 0.25", met=statistics.median(walls) <= 0.25)


if __name__ == "__main__":
    main()
