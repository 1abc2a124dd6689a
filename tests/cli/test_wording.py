"""How texts, numbers and tables are put."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.cli.wording import (
    ago,
    arguments_text,
    bytes_text,
    columns_of,
    cut,
    duration,
    first_sentence,
    json_page,
    one_line,
    safe,
    table,
    tokens_text,
)
from oribi.core.calls import Malformed

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("ends\r\nof lines", "ends\nof lines"),
        ("hidden\rshown", "hidden\\x0dshown"),
        ("\x9b31m, \x7f, \x00", "\\x9b31m, \\x7f, \\x00"),
        ("\u202eabc\u2069", "\\u202eabc\\u2069"),
        ("half \ud83d", "half \\ud83d"),
        ("Grüße, 世界, 🦌", "Grüße, 世界, 🦌"),
    ],
)
def test_what_would_steer_a_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text())
def test_a_safe_text_moves_no_cursor_and_can_be_written(text: str) -> None:
    shown = safe(text)
    assert not [character for character in shown if ord(character) < 32 and character not in "\n\t"]
    assert safe(shown) == shown
    assert shown.encode().decode() == shown


@given(st.text(), st.integers(1, 30))
def test_a_cut_text_fits_and_begins_as_the_whole(text: str, most: int) -> None:
    line = one_line(text, most)
    assert columns_of(line) <= most
    assert line == cut(line, most)


def test_wide_characters_count_for_two_columns() -> None:
    assert columns_of("世界") == 4
    assert cut("世界世界", 5) == "世界…"
    assert columns_of("e\u0301") == 1


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_is_exact_and_steers_no_terminal(value: object) -> None:
    page = json_page(value)
    assert json.loads(page) == value
    assert safe(page) == page


def test_a_table_aligns_cuts_and_leaves_out_what_is_empty() -> None:
    rows = [("NAME", "EMPTY", "ABOUT"), ("世界", "", "wide"), ("b", "", "a long description")]
    assert table(rows, 16) == "NAME  ABOUT\n世界  wide\nb     a long de…\n"


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.4, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (61_000, "1 min 01 s"), (3_720_000, "1 h 02 min")],
)
def test_durations(milliseconds: float, text: str) -> None:
    assert duration(milliseconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "just now"), (120, "2 min ago"), (7300, "2 h ago"), (200_000, "2 d ago"), (-5, "just now")],
)
def test_how_long_ago(seconds: int, text: str) -> None:
    assert ago(0, seconds * SECOND) == text


def test_unknown_tokens_are_not_zero_tokens() -> None:
    assert tokens_text(None, None) == "unknown tokens"
    assert tokens_text(0, 0) == "0 in / 0 out tokens"
    assert tokens_text(1204, None) == "1,204 in / unknown out tokens"
    assert tokens_text(10, 2, complete=False) == "at least 10 in / 2 out tokens"


def test_sizes() -> None:
    assert [bytes_text(size) for size in (0, 999, 1000, 3_400_000, 2 * 10**12)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "3.4 MB",
        "2000.0 GB",
    ]


def test_arguments_stand_on_one_line() -> None:
    assert arguments_text({"path": "a\nb", "limit": 3, "deep": {"x": None}}) == (
        'path="a\\nb", limit=3, deep={"x": null}'
    )
    assert arguments_text(Malformed(text="{oops", problem="no JSON")) == '"{oops" (not a JSON object)'


def test_the_first_sentence_of_a_description() -> None:
    assert first_sentence("Read a file. Shows lines.") == "Read a file"
    assert first_sentence("Show 1.5 MB\nand more") == "Show 1.5 MB"
    assert first_sentence("") == ""
