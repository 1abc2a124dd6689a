"""The large run: kills at random until there were enough, prints what came of them, and fails if a promise broke.

`python -m tests.crash.run --kills 1000 --seed 4`; without a seed it takes one, and prints it.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.crash.matrix import AGENTS, Matrix, Verdict, fork_server, table

SESSIONS = 40
"""Sessions of one workspace; then a new one begins, with a new database."""


def main() -> int:
    """Kill, continue, judge; the exit code says whether every promise was kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=1000, help="how many (default 1000)")
    options.add_argument(
        "--seed", type=int, default=None, help="repeat the choices of an earlier run; kills by time fall elsewhere"
    )
    given = options.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else int(given.seed)
    chance = random.Random(seed)
    print(f"{given.kills} kills, seed {seed}", flush=True)
    began, kills = time.monotonic(), 0
    verdicts = {agent: Verdict() for agent in AGENTS}
    with fork_server() as server:
        while kills < given.kills:
            with tempfile.TemporaryDirectory() as root:
                matrix = Matrix(server, Path(root))
                sessions = [(f"s{number}", chance.choice(list(AGENTS))) for number in range(SESSIONS)]
                kills += matrix.run_wild(sessions, chance, most_kills=given.kills - kills)
                for agent, verdict in matrix.verdicts().items():
                    verdicts[agent].add(verdict)
            print(f"{kills} kills, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(table(verdicts))
    problems = [problem for verdict in verdicts.values() for problem in verdict.problems]
    print("\n".join(problems) if problems else f"kept: every promise, through {kills} kills")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
