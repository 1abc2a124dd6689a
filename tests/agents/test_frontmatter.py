"""Frontmatter: the ways of saving a file, YAML 1.2 types, and what is said about slips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from oribi.agents.frontmatter import MAX_BYTES, Document, read_document
from oribi.agents.values import Content, Problems, Value
from oribi.core.errors import ConfigError

LF = b"---\nname: scout\ndescription: Finds things\ntools:\n  - read\n---\nYou are Scout.\n"


def read(source: bytes | str) -> Document:
    return read_document(source.encode() if isinstance(source, str) else source, Problems(file="agents/ops/AGENT.md"))


def plain(value: Value) -> object:
    match value.content:
        case dict() as entries:
            return {key: plain(entry) for key, entry in entries.items()}
        case tuple() as items:
            return [plain(item) for item in items]
        case other:
            return other


def settings(source: str) -> object:
    return plain(Value(content=read(f"---\n{source}\n---\n").settings or {}))


def error(source: bytes | str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(source)
    return str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(LF, id="LF"),
        pytest.param(b"\xef\xbb\xbf" + LF, id="BOM"),
        pytest.param(LF.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + LF.replace(b"\n", b"\r\n"), id="BOM and CRLF"),
        pytest.param(LF.replace(b"\n", b"\r\n", 2), id="mixed ends"),
        pytest.param(LF.replace(b"\n", b"\r"), id="CR"),
        pytest.param(LF.replace(b"---\n", b"---  \t\n"), id="blanks after the fence"),
        pytest.param(LF.removesuffix(b"\n"), id="no newline at the end"),
    ],
)
def test_every_way_of_saving_gives_the_same_agent(source: bytes) -> None:
    assert read(source) == read(LF)
    assert read(source).body == "You are Scout."


def test_a_blank_line_above_the_fence_does_not_hide_the_settings_and_lines_still_count_from_the_top() -> None:
    document = read("\n\n---\nname: scout\n---\nHi")
    assert document == Document(settings={"name": Value(content="scout", line=4)}, body="Hi")


def test_a_rule_in_the_body_stays_there() -> None:
    assert read("---\nname: a\n---\none\n\n---\n\ntwo").body == "one\n\n---\n\ntwo"


def test_a_file_without_frontmatter_says_so_and_is_all_body() -> None:
    assert read("You are Scout.") == Document(settings=None, body="You are Scout.")
    assert read("----\nname: a\n---\n").settings is None


@pytest.mark.parametrize(
    ("written", "content"),
    [
        ("no", "no"),
        ("off", "off"),
        ("y", "y"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("=", "="),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-7", -7),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-.INF", float("-inf")),
        ("'010'", "010"),
        ("!!str 10", "10"),
    ],
)
def test_scalars_are_read_by_the_core_schema_of_yaml_1_2(written: str, content: Content) -> None:
    assert settings(f"key: {written}") == {"key": content}


def test_a_merge_key_is_a_key_like_any_other() -> None:
    assert settings("<<: {a: 1}") == {"<<": {"a": 1}}


def test_an_empty_frontmatter_has_no_settings() -> None:
    assert settings("# name: later") == {}


def test_slips_are_named_with_file_and_line() -> None:
    assert error("---\nname: open\ntools: [read]\nYou are open.\n") == snapshot(
        "agents/ops/AGENT.md:1: the frontmatter that begins here never ends; close it with a line '---'"
    )
    assert error("---\nname: a\ndescription: Use when asked: to find\n---\n") == snapshot("""\
agents/ops/AGENT.md:3: the frontmatter is not YAML: mapping values are not allowed in this context; a text with a \
colon in it needs "quotes"\
""")
    assert error("---\nname: a\n\ttools: []\n---\n") == snapshot("""\
agents/ops/AGENT.md:3: the frontmatter is not YAML: found a tab character that violates indentation; \
indent with spaces\
""")
    assert error("---\nname: @me\n---\n") == snapshot("""\
agents/ops/AGENT.md:2: the frontmatter is not YAML: found character that cannot start any token; a text that begins \
with it needs "quotes"\
""")
    assert error("---\nname: [\n---\n") == snapshot(
        "agents/ops/AGENT.md:3: the frontmatter is not YAML: did not find expected node content"
    )
    assert error("---\n- a\n- b\n---\n") == snapshot(
        "agents/ops/AGENT.md:2: the frontmatter must be lines of the form 'key: value', not a list"
    )
    assert error("---\nname: a\nsettings:\n  x: 1\n  x: 2\nname: b\n---\n") == snapshot("""\
agents/ops/AGENT.md:5: the key 'x' stands here again, after line 4; keep one
agents/ops/AGENT.md:6: the key 'name' stands here again, after line 2; keep one\
""")
    assert error(b"---\nname: latin\ndescription: caf\xe9\n---\nBody\n") == snapshot(
        "agents/ops/AGENT.md:3: is not UTF-8 (byte 0xe9); save the file as UTF-8"
    )
    assert error("---\nname: a\ntools: \x01\n---\n") == snapshot(
        "agents/ops/AGENT.md:3: the frontmatter is not YAML: control characters are not allowed (character 1)"
    )
    assert error("---\n? [a]\n: 1\n---\n") == snapshot(
        "agents/ops/AGENT.md:2: a key must be a word, not a list or table"
    )
    assert error("---\nname: !!int x\nrun: !!python/name:os.system\nboth: !x {a: 1}\n---\n") == snapshot("""\
agents/ops/AGENT.md:2: 'x' cannot be read as int; write it another way
agents/ops/AGENT.md:3: '' cannot be read as python/name:os.system; write it another way
agents/ops/AGENT.md:4: the YAML tag '!x' is not known here; remove it\
""")
    assert error('---\nname: "a\\0b"\nbig: ' + "9" * 5000 + "\n---\n") == snapshot("""\
agents/ops/AGENT.md:2: 'a\\x00b' cannot be read as str; write it another way
agents/ops/AGENT.md:3: '99999999999999999999999999999999999999999999999999999999999…' cannot be read as int; \
write it another way\
""")


def test_an_alias_cannot_make_a_small_file_huge_or_endless() -> None:
    bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n"
    assert error(bomb).splitlines()[0] == snapshot(
        "agents/ops/AGENT.md:2: a YAML alias (*name) repeats a part; write the part out where it is needed"
    )
    assert "alias" in error("---\na: &a [*a]\n---\n")


def test_nesting_and_size_are_bounded() -> None:
    assert error("---\na: " + "[" * 40 + "]" * 40 + "\n---\n") == snapshot(
        "agents/ops/AGENT.md:2: is nested deeper than 32 levels"
    )
    assert "exceeded maximum nesting depth" in error("---\na: " + "[" * 100_000 + "\n---\n")
    assert error(b"---\n---\n" + b"x" * MAX_BYTES) == snapshot(
        "agents/ops/AGENT.md: has 1,048,584 bytes; at most 1,048,576 are read"
    )


YAML_TEXT = st.text(alphabet=st.sampled_from(list("---\n\r\t :,[]{}#&*!|>'\"%@`?~ab10.\\x\0\ud7ffé\u2028\x85")))


@given(
    st.one_of(st.binary(), st.text().map(lambda text: text.encode("utf-8", "surrogatepass")), YAML_TEXT.map(str.encode))
)
def test_any_bytes_give_a_document_or_a_config_error(source: bytes) -> None:
    for whole in (source, b"---\n" + source + b"\n---\nbody"):
        try:
            read(whole)
        except ConfigError as problem:
            assert str(problem).startswith("agents/ops/AGENT.md")  # noqa: PT017 - either outcome is right
