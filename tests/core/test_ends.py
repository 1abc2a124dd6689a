"""Why a turn stopped: every end has its facts and its words, and a new one cannot be forgotten."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from oribi.core import ends
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    EndFacts,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    TurnEnd,
    Unfinished,
    facts,
    shown,
)

ROOT = Path(__file__).parent.parent.parent
WITH_WORDS: dict[TurnEnd, tuple[EndFacts, str]] = {
    Completed(text="done"): (EndFacts(exit_code=0, http_status=200, label="completed"), "done"),
    MaxSteps(limit=6, text="so far"): (EndFacts(exit_code=10, http_status=200, label="max_steps"), "so far"),
    BudgetSpent(limit="model_calls", text="so far"): (
        EndFacts(exit_code=11, http_status=402, label="budget_spent"),
        "so far",
    ),
    DeadlinePassed(text="so far"): (EndFacts(exit_code=12, http_status=504, label="deadline_passed"), "so far"),
    ContextExhausted(message="too long"): (
        EndFacts(exit_code=13, http_status=413, label="context_exhausted"),
        "The conversation no longer fits the model's context window: too long",
    ),
    Interrupted(by="ada"): (EndFacts(exit_code=130, http_status=499, label="interrupted"), "Interrupted by ada."),
    Revoked(what="tool send"): (
        EndFacts(exit_code=14, http_status=403, label="revoked"),
        "Stopped: tool send was revoked.",
    ),
    ModelFailed(kind="auth", message="bad key"): (
        EndFacts(exit_code=15, http_status=502, label="model_failed"),
        "The model could not answer (auth): bad key",
    ),
    ToolFailed(tool="book", message="no room"): (
        EndFacts(exit_code=16, http_status=502, label="tool_failed"),
        "Stopped: book failed: no room",
    ),
    Unfinished(reason="look was asked for again"): (
        EndFacts(exit_code=17, http_status=502, label="unfinished"),
        "Unfinished: look was asked for again, and no answer came of what was found.",
    ),
}
MEMBERS: tuple[type[TurnEnd], ...] = get_args(TurnEnd)


@pytest.mark.parametrize("end", WITH_WORDS, ids=lambda end: type(end).__name__)
def test_an_end_has_facts_and_words(end: TurnEnd) -> None:
    """T-12, T-14: every exit is one of the sealed set, with an exit code, an HTTP status, a label and a text."""
    assert (facts(end), shown(end)) == WITH_WORDS[end]


def test_every_member_of_the_union_is_tested_here() -> None:
    """T-12, T-13: an end that is added to the union has to be added above."""
    assert {type(end) for end in WITH_WORDS} == set(MEMBERS)


def test_exit_codes_and_labels_tell_the_ends_apart() -> None:
    """T-14: the label counts in the distribution of ends; 1 and 2 belong to errors and wrong usage."""
    codes = [facts(end).exit_code for end in WITH_WORDS]
    labels = [facts(end).label for end in WITH_WORDS]
    assert (len(set(codes)), len(set(labels)), {1, 2} & set(codes)) == (len(MEMBERS), len(MEMBERS), set())


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (MaxSteps(limit=6, text=""), "Stopped after 6 steps without a final answer."),
        (BudgetSpent(limit="total_tokens", text=""), "Stopped: the turn's budget of total_tokens is spent."),
        (DeadlinePassed(text=""), "Stopped: the turn's time is up."),
    ],
)
def test_an_end_without_a_last_reply_says_so(end: TurnEnd, words: str) -> None:
    assert shown(end) == words


def test_a_model_that_was_too_slow_is_a_gateway_timeout() -> None:
    slow = ModelFailed(kind="timeout", message="no answer")
    assert facts(slow) == EndFacts(exit_code=15, http_status=504, label="model_failed")


def test_a_stranger_is_refused_by_every_consumer() -> None:
    """T-13: at run time too, an end that is not in the union does not pass in silence."""
    for consumer in (facts, shown):
        with pytest.raises(AssertionError, match="unreachable"):
            consumer("max_steps")  # pyright: ignore[reportArgumentType] # the stranger


@pytest.mark.slow
def test_a_new_end_makes_the_type_checker_name_every_place_to_change(tmp_path: Path) -> None:
    """T-13: adding an end, as the document's example does, forces each of its consumers to be changed."""
    source = Path(ends.__file__).read_text(encoding="utf-8")
    new = 'class Bored:\n    """The model lost interest."""\n\n\nTurnEnd: TypeAlias = (\n    Bored\n    | '
    changed = source.replace("TurnEnd: TypeAlias = (\n    ", new)
    assert changed != source
    (tmp_path / "ends.py").write_text(changed, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    program = shutil.which("pyright", path=str(Path(sys.executable).parent))
    assert program is not None, "pyright is not installed beside this Python; `make test` installs it"
    command = [program, "--project", str(tmp_path), "--pythonpath", sys.executable, "--outputjson"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    complaints = [each for each in json.loads(checked.stdout)["generalDiagnostics"] if "Bored" in each["message"]]
    lines = {complaint["range"]["start"]["line"] + 1 for complaint in complaints}
    consumers = {name for name in ("facts", "shown") if _lines_of(changed, name) & lines}
    assert consumers == {"facts", "shown"}, checked.stdout + checked.stderr


def _lines_of(source: str, function: str) -> set[int]:
    """The numbers of the lines of one top-level function."""
    lines = source.splitlines()
    first = next(number for number, line in enumerate(lines, 1) if line.startswith(f"def {function}("))
    after = (number for number, line in enumerate(lines, 1) if number > first and line and not line[0].isspace())
    return set(range(first, next(after, len(lines) + 1)))
