"""Settings with their place: a parsed value knows its line, and a reader names file, line and key of every mistake.

A reader returns None both for a key that is absent and for one that is wrong; a wrong one is also in `Problems`, and
`Problems.check` raises before anybody acts upon the None.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from oribi.core.calls import Json, JsonObject
from oribi.core.errors import ConfigError

Content: TypeAlias = "bool | int | float | str | tuple[Value, ...] | dict[str, Value] | None"

_VARIABLE = re.compile(r"\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_MODEL_REF = re.compile(r"[A-Za-z0-9_.-]+:\S+")
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value as read from a file.

    `line` counts from 1, None when it could not be found. `template` is the text before `${ENV}` was replaced, None
    when nothing was: errors show it instead of the content, which may be a secret.
    """

    content: Content
    line: int | None = None
    template: str | None = None

    @property
    def shown(self) -> str:
        """The value as an error names it."""
        if self.template is not None:
            return repr(self.template)
        match self.content:
            case None:
                return "empty"
            case bool():
                return "true" if self.content else "false"
            case str():
                text = repr(self.content)
                return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…'"
            case tuple():
                return "a list"
            case dict():
                return "a table of keys"
            case int() if self.content.bit_length() > 64:  # noqa: PLR2004 - what a reader can still take in
                return "a huge number"
            case _:
                return str(self.content)


@dataclass(slots=True, kw_only=True)
class Problems:
    """What is wrong with one file, collected so that one reading names every mistake."""

    file: str
    found: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def add(self, line: int | None, text: str) -> None:
        """Note that `text` is wrong on `line`."""
        self.found.append((line or 0, f"{place(self.file, line)}: {text}"))

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them in the order of their lines, each with file and line."""
        return tuple(text for _, text in sorted(self.found, key=lambda problem: problem[0]))

    def check(self) -> None:
        """Stop here if anything is wrong.

        Raises:
            ConfigError: One line for each problem.

        """
        if self.found:
            raise ConfigError("\n".join(self.texts))


def place(file: str, line: int | None) -> str:
    """`file:line`, or `file` when the line is not known."""
    return file if line is None else f"{file}:{line}"


class Table:
    """Typed access to a table of keys. Making one checks that every key of it is known."""

    def __init__(self, entries: Mapping[str, Value], problems: Problems, known: Sequence[str], path: str = "") -> None:
        self.entries = entries
        self.problems = problems
        self.path = path
        for key, value in entries.items():
            if key not in known:
                problems.add(value.line, f"unknown key {self.name(key)!r}; {self._nearest(key, known)}")

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def name(self, key: str) -> str:
        """The key with the tables around it, as errors name it."""
        return f"{self.path}.{key}" if self.path else key

    def line(self, key: str) -> int | None:
        """The line of the key's value, None when it is absent or not known."""
        value = self.entries.get(key)
        return None if value is None else value.line

    def refuse(self, key: str, rule: str) -> None:
        """Note that the value of `key` breaks `rule`, a sentence part such as 'must be a list'."""
        value = self.entries[key]
        self.problems.add(value.line, f"{self.name(key)} {rule}, not {value.shown}")

    def text(self, key: str) -> str | None:
        """A text that is not blank."""
        value = self.entries.get(key)
        if value is None:
            return None
        if isinstance(value.content, str) and value.content.strip():
            return value.content
        self.refuse(key, f"must be a text{_quote_hint(value)}")
        return None

    def model_ref(self, key: str) -> str | None:
        """A model as `provider:name`; whether there is such a provider is asked where models are made."""
        ref = self.text(key)
        if ref is None or _MODEL_REF.fullmatch(ref):
            return ref
        self.refuse(key, "must be 'provider:name', such as 'anthropic:claude-sonnet-4-5'")
        return None

    def choice(self, key: str, options: Sequence[str]) -> str | None:
        """One of a few texts."""
        value = self.entries.get(key)
        if value is None:
            return None
        if isinstance(value.content, str) and value.content in options:
            return value.content
        self.refuse(key, f"must be {_one_of(options)}")
        return None

    def whole(self, key: str, *, low: int, high: int) -> int | None:
        """A whole number from `low` to `high`."""
        value = self.entries.get(key)
        if value is None:
            return None
        number = _number(value)
        if isinstance(number, int) and low <= number <= high:
            return number
        self.refuse(key, f"must be a whole number from {low} to {high}")
        return None

    def number(self, key: str, *, low: float, high: float) -> float | None:
        """A number from `low` to `high`."""
        value = self.entries.get(key)
        if value is None:
            return None
        number = _number(value)
        if number is not None and low <= number <= high:
            return float(number)
        self.refuse(key, f"must be a number from {low:.15g} to {high:.15g}")
        return None

    def yes_no(self, key: str) -> bool | None:
        """`true` or `false`, and nothing else: `no` is a text."""
        value = self.entries.get(key)
        if value is None:
            return None
        if isinstance(value.content, bool):
            return value.content
        self.refuse(key, "must be true or false")
        return None

    def texts(self, key: str) -> dict[str, int | None] | None:
        """A list of different texts, each with its line. An empty list is an answer: none."""
        value = self.entries.get(key)
        if value is None:
            return None
        if not isinstance(value.content, tuple):
            self.refuse(key, "must be a list such as [one, two], or [] for none")
            return None
        found: dict[str, int | None] = {}
        for item in value.content:
            if not isinstance(item.content, str) or not item.content.strip():
                rule = f"{self.name(key)} must hold texts{_quote_hint(item)}"
                self.problems.add(item.line, f"{rule}, not {item.shown}")
            elif item.content in found:
                self.problems.add(item.line, f"{self.name(key)} names {item.shown} twice")
            else:
                found[item.content] = item.line
        return found

    def table(self, key: str, known: Sequence[str]) -> Table | None:
        """A table of keys within this one."""
        value = self.entries.get(key)
        if value is None:
            return None
        if isinstance(value.content, dict):
            return Table(value.content, self.problems, known, self.name(key))
        self.refuse(key, "must be a table of keys")
        return None

    def tables(self, key: str) -> dict[str, Value]:
        """The entries of a table whose keys are names that the person chose; empty when it is absent."""
        value = self.entries.get(key)
        if value is None:
            return {}
        if isinstance(value.content, dict):
            return value.content
        self.refuse(key, "must be a table of keys")
        return {}

    def items(self, key: str, known: Sequence[str]) -> tuple[Table, ...]:
        """A list of tables."""
        value = self.entries.get(key)
        if value is None:
            return ()
        if not isinstance(value.content, tuple):
            self.refuse(key, "must be a list")
            return ()
        found: list[Table] = []
        for number, item in enumerate(value.content, 1):
            name = f"{self.name(key)}[{number}]"
            if isinstance(item.content, dict):
                found.append(Table(item.content, self.problems, known, name))
            else:
                self.problems.add(item.line, f"{name} must be a table of keys, not {item.shown}")
        return tuple(found)

    def json_object(self, key: str) -> JsonObject:
        """A table passed on as it is; empty when it is absent."""
        return {name: self._json(value, f"{self.name(key)}.{name}") for name, value in self.tables(key).items()}

    def _json(self, value: Value, name: str) -> Json:
        match value.content:
            case dict() as entries:
                return {key: self._json(entry, f"{name}.{key}") for key, entry in entries.items()}
            case tuple() as items:
                return [self._json(item, f"{name}[{number}]") for number, item in enumerate(items, 1)]
            case bool() | str() | None:
                return value.content
            case int() if -(2**63) <= value.content < 2**63:
                return value.content
            case float() if math.isfinite(value.content):
                return value.content
            case _:
                self.problems.add(value.line, f"{name} must be a number that JSON can hold, not {value.shown}")
                return None

    def _nearest(self, key: str, known: Sequence[str]) -> str:
        close = difflib.get_close_matches(key, known, n=1)
        if close:
            return f"did you mean {self.name(close[0])!r}?"
        return f"known keys: {', '.join(known)}" if known else "no key may stand here"


def expand(value: Value, environment: Mapping[str, str], problems: Problems, path: str = "") -> Value:
    """`value` with each `${NAME}` in a text replaced from `environment`, `${NAME:-other}` by `other` if it is not set.

    `$${NAME}` stays, as `${NAME}`. A variable that is missing or not UTF-8 becomes a problem that names it.
    """
    match value.content:
        case str() as text if "${" in text:
            expanded = _VARIABLE.sub(_lookup(environment, problems, value.line, path), text)
            return value if expanded == text else replace(value, content=expanded, template=text)
        case tuple() as items:
            return replace(value, content=tuple(expand(item, environment, problems, path) for item in items))
        case dict() as entries:
            inner = {
                key: expand(entry, environment, problems, f"{path}.{key}" if path else key)
                for key, entry in entries.items()
            }
            return replace(value, content=inner)
        case _:
            return value


def _lookup(
    environment: Mapping[str, str], problems: Problems, line: int | None, path: str
) -> Callable[[re.Match[str]], str]:
    def replacement(match: re.Match[str]) -> str:
        if match[0].startswith("$$"):
            return match[0][1:]
        name = match[1]
        found = environment[name] if name in environment else match[2]
        if found is None:
            hint = f"set it, or write ${{{name}:-value}} to give a default"
            problems.add(line, f"{path} needs the environment variable {name}, which is not set; {hint}")
            return match[0]
        if any("\ud800" <= character <= "\udfff" or character == "\0" for character in found):
            problems.add(line, f"{path} needs the environment variable {name}, which does not hold UTF-8 text")
            return match[0]
        return found

    return replacement


def _number(value: Value) -> int | float | None:
    """The number in `value`; a text that came from the environment counts as what it says."""
    content = value.content
    if isinstance(content, bool):
        return None
    if isinstance(content, int | float):
        return content
    if isinstance(content, str) and value.template is not None:
        for read in (int, float):
            try:
                return read(content)
            except ValueError:
                continue
    return None


def _quote_hint(value: Value) -> str:
    """What to do when YAML read a word as something else than a text."""
    return ' (put it in "quotes")' if isinstance(value.content, bool | int | float) else ""


def _one_of(options: Iterable[str]) -> str:
    *most, last = [repr(option) for option in options]
    return f"{', '.join(most)} or {last}" if most else last
