"""Structured answers: what counts as JSON, what fits, how it is said what does not, and which schemas are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.core.calls import Json, JsonObject
from oribi.core.errors import ConfigError
from oribi.models.answers import AnswerChecker
from oribi.models.jsontext import dumps

NUMBER: JsonObject = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 1}',
        ' \n{"n": 1}\n ',
        '```json\n{"n": 1}\n```',
        '```\n{"n": 1}\n```',
        '```JSON  \n\n{"n": 1}```\n',
        '```json\r\n{"n": 1}\r\n```',
        '```{"n": 1}```',
    ],
)
def test_an_answer_is_parsed_with_or_without_a_fence(text: str) -> None:
    assert AnswerChecker()(NUMBER, text) == ({"n": 1}, None)


def test_a_fence_inside_the_answer_is_part_of_it() -> None:
    assert AnswerChecker()({"type": "string"}, '"```a```"') == ("```a```", None)


@pytest.mark.parametrize("text", ["null", "0", '""', "[]", "false"])
def test_a_value_that_is_nothing_fits_a_schema_that_says_so(text: str) -> None:
    """Only the problem tells whether an answer fits."""
    assert AnswerChecker()({}, text)[1] is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"n": "one"}', 'n: "one" is not of type "number"'),
        ("{}", 'the value: "n" is a required property'),
        ("[]", 'the value: [] is not of type "object"'),
        ("one", "it is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ("", "it is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ('Here it is: {"n": 1}', "it is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ('{"n": 1} {"n": 2}', "it is not JSON (Extra data: line 1 column 10 (char 9))"),
        ('{"n": NaN}', "it is not JSON (NaN is not JSON)"),
        (
            '{"n": 18446744073709551616}',
            "it is not JSON (the integer 18446744073709551616 does not fit 64 bits, send it as text)",
        ),
        ("[" * 300 + "]" * 300, "it cannot be carried (Recursion limit reached)"),
    ],
)
def test_what_does_not_fit_is_said_to_the_model_in_one_line(text: str, problem: str) -> None:
    assert AnswerChecker()(NUMBER, text) == (None, problem)


def test_the_place_of_what_does_not_fit_is_named() -> None:
    schema: JsonObject = {"properties": {"rows": {"type": "array", "items": NUMBER}}}
    assert AnswerChecker()(schema, '{"rows": [{"n": 1}, {"n": null}]}') == (
        None,
        'rows/1/n: null is not of type "number"',
    )


def test_a_problem_is_short_however_long_the_answer() -> None:
    value, problem = AnswerChecker()({"type": "number"}, f'"{"x" * 10_000}"')
    assert (value, len(problem or "")) == (None, 300)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 20_000 + "]" * 20_000, "1e400", "9" * 10_000, '"\ud800"'])
def test_an_answer_that_no_reader_can_hold_is_a_problem_or_a_value(text: str) -> None:
    """Never an exception: what a model says cannot bring a turn down."""
    value, problem = AnswerChecker()({"type": "array"}, text)
    assert (value is None, problem is None) == (True, False)


@given(st.text(max_size=40))
def test_any_text_has_a_value_or_a_problem(text: str) -> None:
    value, problem = AnswerChecker()(NUMBER, text)
    assert problem is None or value is None


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_any_json_value_comes_out_as_it_went_in(value: Json) -> None:
    text = dumps(value).decode()
    assert AnswerChecker()({}, text) == AnswerChecker()({}, f"```json\n{text}\n```") == (value, None)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "nope"}, 'type: "nope" is not valid'),
        ({"properties": {"n": {"type": 5}}}, "properties/n/type: 5 is not valid"),
        ({"pattern": "("}, 'pattern: "(" is not a "regex"'),
        ({"$ref": "#/nope"}, "Pointer '/nope' does not exist"),
        ({"$ref": "https://example.com/x.json"}, "Retrieval is disabled"),
        ({"$ref": "file:///etc/passwd"}, "Retrieval is disabled"),
        ({"$schema": "urn:mine"}, "Unknown meta-schema"),
    ],
)
def test_a_schema_that_is_none_is_a_config_error_that_names_the_place(schema: JsonObject, words: str) -> None:
    """And nothing is fetched, from the network or from the disk, to find out."""
    with pytest.raises(ConfigError) as caught:
        AnswerChecker()(schema, "null")
    assert str(caught.value).startswith("output_schema is not a JSON Schema: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_schema_that_cannot_be_written_is_a_config_error() -> None:
    deep: JsonObject = {}
    for _ in range(3_000):
        deep = {"not": deep}
    with pytest.raises(ConfigError, match="nested too deeply"):
        AnswerChecker()(deep, "null")


def test_a_schema_is_compiled_once_and_told_from_another() -> None:
    check = AnswerChecker()
    assert check.validator(NUMBER) is check.validator(dict(NUMBER))
    assert (check({"type": "string"}, '"x"')[1], check(NUMBER, '"x"')[1]) == (
        None,
        'the value: "x" is not of type "object"',
    )
