"""Tool arguments: what models send, what runs, and what never does."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.core.calls import Malformed
from oribi.core.messages import StopReason
from oribi.models.arguments import never_run, parse_arguments
from oribi.models.jsontext import dumps
from tests.models.samples import VALUES


@pytest.mark.parametrize("given", ["", "  \n", "null", " null ", None, "{}", {}])
def test_empty_blank_null_and_absent_all_mean_no_arguments(given: Any) -> None:
    assert parse_arguments(given) == {}


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('{"city": "Oslo"}', {"city": "Oslo"}),
        ('"{\\"city\\": \\"Oslo\\"}"', {"city": "Oslo"}),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        ('{"body": "{\\"k\\":1}"}', {"body": '{"k":1}'}),
        ('{"text":"bad \\ud83d end"}', {"text": "bad \ufffd end"}),
        ('{"text":"\\ud83c\\udf78"}', {"text": "🍸"}),
        ('{"id": 18446744073709551615}', {"id": 2**64 - 1}),
        ('{"id": "99999999999999999999999"}', {"id": "9" * 23}),
    ],
)
def test_an_object_is_read_and_one_extra_layer_is_peeled(given: Any, arguments: dict[str, Any]) -> None:
    assert parse_arguments(given) == arguments


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ('{"path":"a.txt","content":"line one', "not valid JSON"),
        ('{"a":1}{"a":2}', "not valid JSON"),
        ('{"a": NaN}', "not valid JSON"),
        ('{"a": 1e999}', "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ('"hello"', "are text, not a JSON object"),
        ('"{\\"cut"', "are text, not a JSON object"),
        ("[1]", "are a list, not a JSON object"),
        ("7", "are a number, not a JSON object"),
        ("true", "are a truth value, not a JSON object"),
        ('{"id": 123456789012345678901234567890}', "does not fit 64 bits"),
        ('{"a":' + "[" * 300 + "]" * 300 + "}", "cannot be carried"),
        ('{"a":' + "[" * 5000 + "]" * 5000 + "}", "JSON"),
        ([1], "are a list"),
    ],
)
def test_anything_else_is_malformed_and_says_why(given: Any, problem: str) -> None:
    """Cut JSON never runs, and neither does a number that would have changed on the way."""
    arguments = parse_arguments(given)
    assert isinstance(arguments, Malformed)
    assert problem in arguments.problem
    assert arguments.text == (given if isinstance(given, str) else "[1]")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_becomes_arguments_or_malformed(text: str) -> None:
    assert isinstance(parse_arguments(text), dict | Malformed)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), st.data())
def test_no_part_of_an_object_runs(value: dict[str, Any], data: st.DataObject) -> None:
    """Whatever a cut leaves is malformed, but for nothing at all."""
    text = dumps(value).decode()
    cut = data.draw(st.integers(1, len(text) - 1))
    assert isinstance(parse_arguments(text[:cut]), Malformed)


@pytest.mark.parametrize(("stop", "word"), [("length", "output limit"), ("content_filter", "filter")])
def test_a_call_of_a_cut_reply_never_runs(stop: StopReason, word: str) -> None:
    """O-34: even if its arguments parse, a field may be missing."""
    arguments = never_run({"path": "a.txt"}, stop)
    assert isinstance(arguments, Malformed)
    assert word in arguments.problem
    assert json.loads(arguments.text) == {"path": "a.txt"}
