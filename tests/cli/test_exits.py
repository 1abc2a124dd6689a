"""The table of exit codes: complete, distinct, and the same in the documents."""

from pathlib import Path
from typing import get_args

import pytest

from oribi.cli.exits import EXITS
from oribi.cli.live import answer_of, ended_text
from oribi.cli.reference import exits_markdown, help_markdown
from oribi.cli.wording import end_label
from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    TurnEnd,
    Unfinished,
    facts,
)

DOCS = Path(__file__).parents[2] / "docs" / "reference"
ENDS: dict[TurnEnd, tuple[str, str]] = {
    Completed(text="done"): ("done", "completed"),
    MaxSteps(limit=6, text="so far"): ("so far", "stopped after all its 6 steps, without a final answer"),
    BudgetSpent(limit="tool_calls", text=""): ("", "stopped, its budget of tool_calls is spent"),
    DeadlinePassed(text="so far"): ("so far", "stopped, its time is up"),
    ContextExhausted(message="too long"): ("", "stopped, the context window is full"),
    Interrupted(by="Ctrl-C"): ("", "interrupted by Ctrl-C"),
    Revoked(what="the key"): ("", "stopped, the key was revoked"),
    ModelFailed(kind="auth", message="bad key"): ("", "the model failed (auth)"),
    ToolFailed(tool="pay", message="no money"): ("", "stopped, pay failed"),
    Unfinished(reason="the model is away"): ("", "unfinished: the model is away"),
}


def test_no_two_meanings_share_a_code() -> None:
    codes = [one.code for one in EXITS]
    assert sorted(codes) == sorted(set(codes))
    assert len({one.name for one in EXITS}) == len(EXITS)


def test_every_end_is_in_the_table_under_its_label_and_code() -> None:
    """T-13: whoever shows ends knows each of them."""
    assert {type(end) for end in ENDS} == set(get_args(TurnEnd))
    table = {one.name: one.code for one in EXITS}
    assert {table[facts(end).label] for end in ENDS} == {facts(end).exit_code for end in ENDS}


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
def test_an_end_has_its_answer_and_its_last_words(end: TurnEnd) -> None:
    assert (answer_of(end), ended_text(end)) == ENDS[end]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
def test_the_name_of_an_end_in_the_database_gives_its_label(end: TurnEnd) -> None:
    assert end_label(type(end).__name__) == facts(end).label


def test_the_documents_say_what_the_program_says() -> None:
    assert exits_markdown() in (DOCS / "exit-codes.md").read_text(encoding="utf-8")
    assert help_markdown() in (DOCS / "cli.md").read_text(encoding="utf-8")
