"""A project folder for the program."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.cli.warm import WarmStart


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmStart]:
    started = WarmStart()
    yield started
    started.close()


@pytest.fixture
def program(tmp_path: Path, warm: WarmStart) -> Iterator[Program]:
    made = Program(tmp_path, warm)
    yield made
    made.end_started()
