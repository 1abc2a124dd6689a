"""Frontmatter: splits a Markdown file into settings and body, and reads the settings as YAML 1.2 with their lines.

`no`, `12:30` and `2024-01-01` are texts (YAML 1.2 core schema). A repeated key is an error, and so is an alias: a file
that refers to itself is a way to make a small file huge. BOM, CRLF and blanks after a fence are tolerated, so that
every way of saving a file gives the same agent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml
from yaml.cyaml import CBaseLoader
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from oribi.agents.values import Problems, Value

FENCE = "---"
MAX_BYTES = 1_048_576
"""A file of settings and instructions beyond 1 MiB is taken for a mistake."""

_MAX_DEPTH = 32
_TAG = "tag:yaml.org,2002:"
_NULL = re.compile(r"(?:null|Null|NULL|~)?$")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(
    r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A Markdown file in its two parts. `settings` is None when the file has no frontmatter."""

    settings: dict[str, Value] | None
    body: str


def read_document(source: bytes, problems: Problems) -> Document:
    """The parts of the file `source`.

    Raises:
        ConfigError: It is not UTF-8, its frontmatter never closes, or it is not YAML; named by file and line.

    """
    lines = _decode(source, problems).split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].rstrip() != FENCE:
        return Document(settings=None, body="\n".join(lines).strip())
    for number in range(first + 1, len(lines)):
        if lines[number].rstrip() == FENCE:
            settings = _parse("\n".join(lines[first + 1 : number]), first + 2, problems)
            return Document(settings=settings, body="\n".join(lines[number + 1 :]).strip())
    problems.add(first + 1, f"the frontmatter that begins here never ends; close it with a line {FENCE!r}")
    problems.check()
    raise AssertionError  # check has raised: there is a problem


def _decode(source: bytes, problems: Problems) -> str:
    """The text with LF line ends and without its BOM."""
    if len(source) > MAX_BYTES:
        problems.add(None, f"has {len(source):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        problems.add(line, f"is not UTF-8 (byte 0x{source[error.start]:02x}); save the file as UTF-8")
        text = ""
    problems.check()
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _CoreSchema(CBaseLoader):
    """LibYAML's parser with the implicit types of YAML 1.2 in place of those of YAML 1.1."""


for _kind, _shape in (("null", _NULL), ("bool", _BOOL), ("int", _INT), ("float", _FLOAT)):
    _CoreSchema.add_implicit_resolver(_TAG + _kind, _shape, None)  # pyright: ignore[reportUnknownMemberType] # untyped stub


def _parse(text: str, first_line: int, problems: Problems) -> dict[str, Value]:
    parser = _CoreSchema(text)
    try:
        root = parser.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line if mark is None else first_line + mark.line
        problems.add(line, f"the frontmatter is not YAML: {error.problem or error.context}{_hint(error)}")
        root = None
    except yaml.reader.ReaderError as error:
        line = first_line + text.count("\n", 0, error.position)
        problems.add(line, f"the frontmatter is not YAML: {error.reason} (character {error.character!r})")
        root = None
    finally:
        parser.dispose()
    reader = _Reader(first_line, problems)
    value = Value(content={}) if root is None else reader.value(root, 0)
    if not isinstance(value.content, dict):
        rule = "the frontmatter must be lines of the form 'key: value'"
        if value.content is not None:
            problems.add(value.line, f"{rule}, not {value.shown}")
        problems.check()
        return {}
    problems.check()
    return value.content


def _hint(error: yaml.MarkedYAMLError) -> str:
    if error.problem == "mapping values are not allowed in this context":
        return '; a text with a colon in it needs "quotes"'
    if error.problem == "found character that cannot start any token":
        return '; a text that begins with it needs "quotes"'
    if error.problem == "found a tab character that violates indentation":
        return "; indent with spaces"
    return ""


class _Reader:
    """Makes values of YAML nodes, and remembers which nodes it has seen."""

    def __init__(self, first_line: int, problems: Problems) -> None:
        self.first_line = first_line
        self.problems = problems
        self.seen: set[int] = set()

    def value(self, node: Node, depth: int) -> Value:
        line = self.first_line + node.start_mark.line
        if id(node) in self.seen:
            self.problems.add(line, "a YAML alias (*name) repeats a part; write the part out where it is needed")
            return Value(content=None, line=line)
        if depth > _MAX_DEPTH:
            self.problems.add(line, f"is nested deeper than {_MAX_DEPTH} levels")
            return Value(content=None, line=line)
        self.seen.add(id(node))
        match node:
            case ScalarNode():
                return self._scalar(node, line)
            case SequenceNode() if node.tag == _TAG + "seq":
                return Value(content=tuple(self.value(item, depth + 1) for item in node.value), line=line)
            case MappingNode() if node.tag == _TAG + "map":
                return Value(content=self._entries(node, depth), line=line)
            case _:
                self.problems.add(line, f"the YAML tag {node.tag!r} is not known here; remove it")
                return Value(content=None, line=line)

    def _entries(self, node: MappingNode, depth: int) -> dict[str, Value]:
        entries: dict[str, Value] = {}
        key_lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = self.first_line + key_node.start_mark.line
            if not isinstance(key_node, ScalarNode):
                self.problems.add(line, "a key must be a word, not a list or table")
                continue
            key = str(key_node.value)
            if key in entries:
                self.problems.add(line, f"the key {key!r} stands here again, after line {key_lines[key]}; keep one")
                continue
            key_lines[key] = line
            value = self.value(value_node, depth + 1)
            # An empty value's mark is where the next token begins; the key's line is where a person looks.
            entries[key] = Value(content=value.content, line=line)
        return entries

    def _scalar(self, node: ScalarNode, line: int) -> Value:
        text = str(node.value)
        try:
            match node.tag.removeprefix(_TAG):
                case "str" if "\0" not in text:
                    return Value(content=text, line=line)
                case "null" if _NULL.match(text):
                    return Value(content=None, line=line)
                case "bool" if _BOOL.match(text):
                    return Value(content=text.lower() == "true", line=line)
                case "int" if _INT.match(text):
                    return Value(content=int(text, _base(text)), line=line)
                case "float" if _FLOAT.match(text):
                    return Value(content=float(text.lower().replace(".inf", "inf").replace(".nan", "nan")), line=line)
                case _:
                    pass
        except ValueError:  # more digits than Python converts
            pass
        shown, kind = Value(content=text).shown, node.tag.removeprefix(_TAG)
        self.problems.add(line, f"{shown} cannot be read as {kind}; write it another way")
        return Value(content=None, line=line)


def _base(text: str) -> int:
    return {"0o": 8, "0x": 16}.get(text[:2], 10)
