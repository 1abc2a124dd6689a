"""What the model reads for each result of a call."""

from typing import get_args

import pytest

from oribi.core.calls import Denied, Failed, Succeeded, ToolResult, Unknown, told

TOLD: list[tuple[ToolResult, str]] = [
    (Succeeded(text="42 lines"), "42 lines"),
    (Succeeded(text="  indented\n"), "  indented\n"),
    (Succeeded(text=""), "(the tool gave no output)"),
    (Succeeded(text=" \n"), "(the tool gave no output)"),
    (Failed(text="no such file", retryable=True), "Error: no such file"),
    (Failed(text="\n"), "Error: the tool failed without saying why"),
    (Denied(rule="read-only", reason="this agent may not write"), "Not run (read-only): this agent may not write"),
    (Unknown(reason="cut off"), "Unknown: cut off"),
]


@pytest.mark.parametrize(("result", "text"), TOLD)
def test_the_model_is_told_what_came_of_its_call(result: ToolResult, text: str) -> None:
    """O-25: an error is told as text; no wire accepts a blank result."""
    assert told(result) == text


def test_every_kind_of_result_is_tested_here() -> None:
    assert {type(result) for result, _ in TOLD} == set(get_args(ToolResult))
