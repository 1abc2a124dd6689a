"""G1, G2: killed at any write and around any effect, a turn ends as if nothing had happened, or says what is unknown.

Real processes and real SIGKILLs; what happened is told by a file that the tools write. `make crash` is the large run.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.matrix import AGENTS, CLASSES, PLACES, ForkServer, Matrix, every_place, fork_server, table, writes_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with fork_server() as server:
        yield server


def test_every_kill_of_the_matrix_keeps_the_promise(server: ForkServer, tmp_path: Path) -> None:
    """G1: each effect class, each write and each effect, before and after: nothing lost, doubled or silent."""
    matrix = Matrix(server, tmp_path)
    matrix.run_through(place for agent in CLASSES for place in every_place(agent))
    verdicts = matrix.verdicts()
    print(table(verdicts))
    assert [problem for each in verdicts.values() for problem in each.problems] == []
    for agent, verdict in verdicts.items():
        assert verdict.kills == verdict.points == len(every_place(agent)), "every place was come to, and killed"
        assert (verdict.lost, verdict.duplicated, verdict.silent) == (0, 0, 0)
    # Cut off: each of the three calls is, by a kill after its start is durable, around its effect, or before its result
    # is; no call of another class is ever unknown.
    assert {agent: verdict.reported for agent, verdict in verdicts.items()} == {
        "look": 0,
        "put": 0,
        "book": 0,
        "send": 3 * 4,
    }


@pytest.mark.parametrize("seed", [4, 7])
def test_random_kills_of_many_processes_keep_the_promise(server: ForkServer, tmp_path: Path, seed: int) -> None:
    """G1, G11: at any moment, twice in a row, with workers that race to continue."""
    matrix = Matrix(server, tmp_path)
    sessions = [(f"s{number}", "mixed") for number in range(8)]
    kills = matrix.run_wild(sessions, random.Random(seed), most_kills=12)
    verdicts = matrix.verdicts()
    print(f"{kills} kills\n{table(verdicts)}")
    assert verdicts["mixed"].problems == []
    assert kills >= 6


def test_without_a_kill_nothing_is_unknown(server: ForkServer, tmp_path: Path) -> None:
    """The matrix is not vacuous: what it counts comes from the kills. And every agent's turn has its known writes."""
    matrix = Matrix(server, tmp_path)
    matrix.run_through((agent, agent, "", 0) for agent in AGENTS)
    verdicts = matrix.verdicts()
    for verdict in verdicts.values():
        assert (verdict.points, verdict.kills, verdict.reported, verdict.problems) == (1, 0, 0, [])
    for agent in AGENTS:  # one write more than the turn has is never come to
        matrix.run_through([(f"{agent}-more", agent, PLACES[0], writes_of(agent) + 1)])
    assert {agent: verdict.kills for agent, verdict in matrix.verdicts().items()} == dict.fromkeys(AGENTS, 0)


def test_without_the_write_ahead_the_matrix_finds_the_double(server: ForkServer, tmp_path: Path) -> None:
    """The matrix bites: start a tool before that is durable, and the same verdicts see the effect twice."""
    matrix = Matrix(server, tmp_path, lies=True)
    matrix.run_through([(f"send-{number}", "send", "after-effect", number) for number in (1, 2, 3)])
    verdict = matrix.verdicts()["send"]
    assert verdict.kills == 3
    assert verdict.duplicated + verdict.silent >= 1
    assert any("a once effect happened 2 times" in problem for problem in verdict.problems)
