"""What an input means besides an ordinary turn: a command, or a mode of the agent."""

import pytest

from oribi.core.calls import CallId, JsonObject
from oribi.core.modes import Command, Mode, command_call, mode_of

ID = CallId("c1")
COMMANDS = (
    Command(phrase="look", tool="list"),
    Command(phrase="look up", tool="grep", arguments={"path": "."}, rest="words"),
    Command(phrase="stra\u00dfe", tool="map"),
)
MODES = (
    Mode(name="reason", aliases=("analyse", "\u5206", "\u00fcber")),
    Mode(name="deep", aliases=("\u5206\u6790",)),
)


CALLS: list[tuple[str, tuple[str, JsonObject] | None]] = [
    ("look", ("list", {})),
    ("  LOOK ", ("list", {})),
    ("look at this", None),
    ("looking up", None),
    ("look up", ("grep", {"path": "."})),
    ("Look  up  error 42", ("grep", {"path": ".", "words": "error 42"})),
    ("look up a\n  b   c", ("grep", {"path": ".", "words": "a\n  b   c"})),
    ("STRASSE", ("map", {})),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), CALLS)
def test_a_command_is_its_phrase_and_what_follows_it(text: str, expected: tuple[str, JsonObject] | None) -> None:
    """M-3: whole words, whatever their case; what follows is taken as it was written."""
    call = command_call(COMMANDS, text, ID)
    assert (None if call is None else (call.name, call.arguments)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/reason why", ("reason", "why")),
        ("/reason\twhy\nnow", ("reason", "why\nnow")),
        ("/Reason why", ("reason", "why")),
        ("/reasons why", ("", "/reasons why")),
        ("Analyse this", ("reason", "this")),
        ("analysed this", ("", "analysed this")),
        ("\u5206\u6790 why", ("deep", "why")),
        ("\u5206\u6790\u4e3a\u4ec0\u4e48", ("deep", "\u4e3a\u4ec0\u4e48")),
        ("\u5206\uff0c\u4e3a", ("reason", "\u4e3a")),
        ("\u00fcberhaupt nicht", ("", "\u00fcberhaupt nicht")),
        ("\u00dcber alles", ("reason", "alles")),
        ("hello", ("", "hello")),
    ],
)
def test_a_mode_is_its_name_or_an_alias_before_the_request(text: str, expected: tuple[str, str]) -> None:
    """M-6: an alias of a script without blanks may stand right before the request; the longest wins."""
    assert mode_of(MODES, text) == expected
