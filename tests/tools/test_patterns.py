"""Path patterns: what they match, and that no pattern is slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.tools.patterns import compile_pattern, compile_patterns


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/deep/a.py", True),
        ("src/**", "src/a/b", True),
        ("src/**", "other/a", False),
        ("src/**/test_?.py", "src/test_a.py", True),
        ("src/**/test_?.py", "src/x/y/test_ab.py", False),
        ("*.{ts,tsx}", "a.tsx", True),
        ("{a,b}/{c,d}.txt", "b/c.txt", True),
        ("{a,b}/{c,d}.txt", "b/e.txt", False),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("a[.txt", "a[.txt", True),
        ("**/**/a", "a", True),
        ("./a", "a", True),
    ],
)
def test_a_pattern_matches_whole_paths(pattern: str, path: str, *, expected: bool) -> None:
    assert compile_pattern(pattern).matches(path.split("/")) is expected


NAMES = st.text(st.sampled_from("ab.*?"), min_size=1, max_size=4)
PATHS = st.lists(st.text(st.sampled_from("ab."), min_size=1, max_size=4), min_size=1, max_size=5)
PATTERNS = st.lists(NAMES | st.just("**"), min_size=1, max_size=5).map("/".join)


@given(PATTERNS, PATHS)
def test_what_matches_is_never_below_a_folder_that_is_passed_over(pattern: str, path: list[str]) -> None:
    compiled = compile_pattern(pattern)
    if compiled.matches(path):
        assert all(compiled.may_match_below(path[:depth]) for depth in range(len(path)))


@given(st.lists(PATTERNS, max_size=4), PATHS)
def test_a_set_finds_what_one_of_its_patterns_covers(patterns: list[str], path: list[str]) -> None:
    found = compile_patterns(tuple(patterns)).find(path)
    covering = [pattern for pattern in patterns if compile_pattern(pattern).covers(path)]
    assert (found in covering) if covering else (found is None)


@given(PATTERNS, PATHS)
def test_a_folder_that_matches_covers_all_that_is_in_it(pattern: str, path: list[str]) -> None:
    compiled = compile_pattern(pattern)
    expected = any(compiled.matches(path[:depth]) for depth in range(1, len(path) + 1))
    assert compiled.covers(path) is expected


def test_no_pattern_is_slow() -> None:
    started = time.process_time()
    compile_pattern("*a" * 100 + "b").matches(["a" * 255])
    compile_pattern("**/" * 50 + "b").matches(["a"] * 200)
    assert time.process_time() - started < 2


def test_braces_cannot_explode() -> None:
    with pytest.raises(ValueError, match="stand for more than 64 patterns"):
        compile_pattern("{a,b}" * 20)
