"""Path patterns: `*` and `?` stay within a name, `**` stands for any number of folders, `{a,b}` for a choice.

Matching takes time proportional to pattern times path, whatever the pattern, because patterns come from models.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

MOST_CHOICES = 64
"""How many patterns the braces of one pattern may stand for."""

_INNERMOST_BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern: its alternatives, each a sequence of names, None standing for `**`."""

    alternatives: tuple[tuple[re.Pattern[str] | None, ...], ...]

    def matches(self, parts: Sequence[str]) -> bool:
        """Whether the whole path matches."""
        return any(len(names) in _states(names, parts)[-1] for names in self.alternatives)

    def covers(self, parts: Sequence[str]) -> bool:
        """Whether the path or one of the folders it lies in matches."""
        return any(len(names) in states for names in self.alternatives for states in _states(names, parts)[1:])

    def may_match_below(self, parts: Sequence[str]) -> bool:
        """Whether something in the folder `parts` could match, so that walking into it is worth it."""
        return any(any(state < len(names) for state in _states(names, parts)[-1]) for names in self.alternatives)


@dataclass(frozen=True, slots=True)
class PatternSet:
    """Many patterns at once, blind to letter case. Most are `**/name`: those are tried as one expression per name."""

    names: re.Pattern[str] | None
    by_name: tuple[tuple[str, re.Pattern[str]], ...]
    others: tuple[tuple[str, Pattern], ...]

    def find(self, folded: Sequence[str]) -> str | None:
        """The first pattern that covers the case-folded path, as it was written; None if none does."""
        if self.names is not None:
            for part in folded:
                if self.names.match(part):
                    return next(pattern for pattern, name in self.by_name if name.match(part))
        return next((pattern for pattern, compiled in self.others if compiled.covers(folded)), None)


@lru_cache(maxsize=256)
def compile_patterns(patterns: tuple[str, ...]) -> PatternSet:
    """Compile `patterns` into one set.

    Raises:
        ValueError: The braces of one stand for too many patterns.

    """
    by_name: list[tuple[str, re.Pattern[str]]] = []
    others: list[tuple[str, Pattern]] = []
    for pattern in patterns:
        compiled = compile_pattern(pattern.casefold())
        for names in compiled.alternatives:
            if len(names) == 2 and names[0] is None and names[1] is not None:  # noqa: PLR2004 - `**` and a name
                by_name.append((pattern, names[1]))
            else:
                others.append((pattern, Pattern((names,))))
    union = re.compile("|".join(name.pattern for _, name in by_name)) if by_name else None
    return PatternSet(names=union, by_name=tuple(by_name), others=tuple(others))


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """Compile `pattern`.

    Raises:
        ValueError: The braces stand for too many patterns.

    """
    return Pattern(tuple(_names(alternative) for alternative in _without_braces(pattern)))


def _names(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    names = [name for name in pattern.split("/") if name not in {"", "."}]
    return tuple(None if name == "**" else re.compile(translate(name)) for name in names)


def _without_braces(pattern: str) -> list[str]:
    done: list[str] = []
    todo = [pattern]
    while todo:
        if len(done) + len(todo) > MOST_CHOICES:
            raise ValueError(f"the braces in {pattern!r} stand for more than {MOST_CHOICES} patterns")
        current = todo.pop()
        braces = _INNERMOST_BRACES.search(current)
        if braces is None:
            done.append(current)
            continue
        before, after = current[: braces.start()], current[braces.end() :]
        todo += [f"{before}{choice}{after}" for choice in reversed(braces[1].split(","))]
    return done


def _states(names: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> list[set[int]]:
    """Which positions of `names` can be reached after each part: an automaton run over the path."""
    states = [_and_skips(names, {0})]
    for part in parts:
        if not states[-1]:
            states.append(states[-1])
            continue
        following: set[int] = set()
        for state in states[-1]:
            if state == len(names):
                continue
            name = names[state]
            if name is None:
                following.add(state)
            elif name.match(part):
                following.add(state + 1)
        states.append(_and_skips(names, following))
    return states


def _and_skips(names: Sequence[re.Pattern[str] | None], states: set[int]) -> set[int]:
    """`states`, and those reached by letting `**` stand for nothing."""
    reached = set(states)
    for state in states:
        position = state
        while position < len(names) and names[position] is None:
            position += 1
            reached.add(position)
    return reached
