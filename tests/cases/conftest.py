"""What the case harness adds to pytest: `--cases`, `--slow-cases`, and a summary by file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cases.harness.case import Play, read_plays
from tests.cases.harness.features import reasons_to_skip
from tests.cases.harness.pool import PlayPool
from tests.cases.harness.settings import SWEEP_COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = Path(__file__).parent / "reports"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the harness."""
    group = parser.getgroup("cases", "the case harness")
    group.addoption(
        "--cases", metavar="DIR", help=f"folder of agent-case/1 files [default: {OWN.name} beside the test]"
    )
    group.addoption("--slow-cases", action="store_true", help="run also the plays that wait for a minute")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each play of the folder."""
    if "play" in metafunc.fixturenames:
        given: str | None = metafunc.config.getoption("--cases", None)
        plays = read_plays(Path(given) if given else OWN, SWEEP_COUNTS)
        metafunc.parametrize("play", plays, ids=[play.name for play in plays])


@pytest.fixture(scope="session")
def plays(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayPool]:
    """The chosen plays, under way."""
    slow = bool(request.config.getoption("--slow-cases", default=False))
    chosen = [play for item in request.session.items if (play := _play_of(item)) is not None]
    runnable = [play for play in chosen if not reasons_to_skip(play, slow=slow)]
    with PlayPool(runnable, tmp_path_factory.mktemp("plays")) as pool:
        yield pool


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Passed, failed and skipped of each case file, with the features that were missing."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "skipped", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            properties = dict(report.user_properties)
            if "case file" in properties and (report.when == "call" or outcome in ("skipped", "error")):
                row = counts.setdefault(str(properties["case file"]), Counter())
                row[outcome] += 1
                if outcome == "skipped":
                    row[f"needs {properties.get('missing', '?')}"] += 1
                if properties.get("regret"):
                    row["regrets"] += 1
    if not counts:
        return
    terminalreporter.section("cases")
    for file, row in sorted(counts.items()):
        missing = ", ".join(f"{count} {name}" for name, count in sorted(row.items()) if name.startswith("needs "))
        regrets = f", {row['regrets']} should have done better" if row["regrets"] else ""
        told = f"{row['passed']} passed, {row['failed'] + row['error']} failed, {row['skipped']} skipped{regrets}"
        terminalreporter.write_line(f"{file}: {told}" + (f" ({missing})" if missing else ""))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note which file a play is of, for the summary; it must be known also where a play is skipped."""
    if (play := _play_of(item)) is not None:
        item.user_properties.append(("case file", play.file))


def _play_of(item: pytest.Item) -> Play | None:
    call = getattr(item, "callspec", None)
    play = None if call is None else call.params.get("play")
    return play if isinstance(play, Play) else None
