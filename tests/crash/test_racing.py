"""Consume-once (G2) between real processes: however many go on with one turn at once, it is driven by one at a time."""

from collections import Counter
from pathlib import Path

import pytest

from tests.crash.matrix import AGENTS, ANSWER, Matrix, fork_server

pytestmark = pytest.mark.slow

RACERS = 6


def test_of_many_processes_that_resume_one_turn_one_drives_it(tmp_path: Path) -> None:
    """G1, G2: the others are refused, every effect happens once, and no record is written twice."""
    with fork_server() as server:
        matrix = Matrix(server, tmp_path)
        session = matrix.add("s1", "send")
        matrix.live([matrix.life(session, place="after-append", number=1)])
        raced = matrix.live([matrix.life(session, mode="resume") for _ in range(RACERS)])
    said = Counter(lived["said"][-1].split(maxsplit=2)[0] for lived in raced)
    assert said == {"ended": 1, "refused": RACERS - 1}, raced
    assert [lived["said"][-1] for lived in raced if lived["said"][-1].startswith("ended")] == [
        f"ended Completed {ANSWER}"
    ]
    durable = Counter(line for lived in raced for line in lived["said"] if line.startswith("durable"))
    assert durable
    assert set(durable.values()) == {1}, "one process wrote each record"
    witness = (tmp_path / "witness").read_text().split()
    assert Counter(witness) == dict.fromkeys(witness, 1)
    assert len(witness) == sum(map(len, AGENTS["send"]))
    [verdict] = matrix.verdicts().values()
    assert (verdict.kills, verdict.reported, verdict.problems) == (1, 0, [])


def test_the_turn_of_a_racer_that_is_killed_goes_on_in_another(tmp_path: Path) -> None:
    """G1, G2: the winner dies after an effect; who comes next drives the turn, and does not repeat the effect."""
    with fork_server() as server:
        matrix = Matrix(server, tmp_path)
        session = matrix.add("s1", "send")
        matrix.live([matrix.life(session, place="after-append", number=1)])
        raced = matrix.live(
            [matrix.life(session, mode="resume", place="after-effect", number=1) for _ in range(RACERS)]
        )
        killed = sum(lived["signal"] != 0 for lived in raced)
        assert killed >= 1
        workers = matrix.live([matrix.life(session, mode="work") for _ in range(RACERS)])
    assert all(lived["signal"] == 0 for lived in workers), workers
    [verdict] = matrix.verdicts().values()
    assert verdict.kills == 1 + killed
    assert (verdict.lost, verdict.duplicated, verdict.silent, verdict.problems) == (0, 0, 0, [])
    assert verdict.reported == killed, "each killed racer left one call of which nobody knows"
