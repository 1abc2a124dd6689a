"""`grep`: the lines of files that match a regular expression. Its time is linear, whatever the expression."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from io import BufferedReader
from typing import TypeAlias

import anyio.from_thread
import anyio.to_thread

from oribi.core.calls import Failed, Succeeded, ToolResult
from oribi.core.errors import OribiError
from oribi.ports import Invocation
from oribi.tools.builtin import PATH, make_builtin
from oribi.tools.jail import Jail, Jails, OpenFile
from oribi.tools.patterns import Pattern, compile_pattern
from oribi.tools.text import clean, counted, decode, is_binary, one_line
from oribi.tools.tool import Reads, Tool
from oribi.tools.walk import walk

LINE_CHARACTERS = 500
"""How much of a long line is shown."""

_MARKER_ROOM = 600
_PIECE = 1 << 20
_LINES_BETWEEN_CHECKS = 2_000

Matches: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    pattern: str
    path: str = "."
    glob: str | None = None
    ignore_case: bool = False
    context: int = 0
    max_matches: int = 100


def grep_tool(jails: Jails) -> Tool:
    """The tool `grep`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        matches = _compile(arguments)
        if isinstance(matches, Failed):
            return matches
        wanted = compile_pattern(_anywhere(arguments.glob)) if arguments.glob else None
        search = _Search(arguments=arguments, matches=matches, room=invocation.policy.result_characters - _MARKER_ROOM)
        await anyio.to_thread.run_sync(partial(_search, jails(invocation.agent), search, wanted))
        return Succeeded(text=search.told())

    return make_builtin(
        "grep",
        "Search files for a regular expression, line by line. Shows 'path:line:text', context lines 'path-line-text', "
        "and how many lines matched in all. Without look-around and back-references. Leaves out binary files, .git, "
        ".venv, node_modules, __pycache__ and the workspace's own folder unless path starts there.",
        arguments=_Arguments,
        properties={
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": 2_000,
                "description": "Regular expression; escape ( ) [ ] { } . * + ? | \\ to search for them.",
            },
            "path": {**PATH, "description": "File or folder, relative to the project folder (default '.')."},
            "glob": {
                "type": "string",
                "description": "Only files that match, such as '*.log' at any depth or 'src/**/*.py'.",
            },
            "ignore_case": {"type": "boolean", "description": "Whether letter case does not matter (default false)."},
            "context": {
                "type": "integer",
                "minimum": 0,
                "maximum": 20,
                "description": "Lines to show before and after each match (default 0).",
            },
            "max_matches": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1_000,
                "description": "Most matching lines to show (default 100); all are counted.",
            },
        },
        run=run,
        effects=lambda arguments: (Reads(path=arguments.path),),
        for_reasoning=True,
    )


def _compile(arguments: _Arguments) -> Matches | Failed:
    """The expression as a test of a line, by Rust's `regex`, which never backtracks: patterns come from models."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    pattern = f"(?i){arguments.pattern}" if arguments.ignore_case else arguments.pattern
    try:
        schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")
        return SchemaValidator(schema).isinstance_python
    except (SchemaError, UnicodeEncodeError) as error:
        return Failed(text=f"the regular expression {arguments.pattern!r} cannot be used: {one_line(str(error))}")


def _anywhere(glob: str) -> str:
    return glob if "/" in glob else f"**/{glob}"


@dataclass(slots=True, kw_only=True)
class _Search:
    """What was found so far; lines beyond the caps are counted only."""

    arguments: _Arguments
    matches: Matches
    room: int
    lines: list[str] = field(default_factory=list[str])
    matched: int = 0
    shown: int = 0
    files_matched: int = 0
    files: int = 0
    binary: int = 0
    unreadable: int = 0

    def add(self, path: str, number: int, text: str, mark: str) -> bool:
        """Show a line if there is room for it."""
        if len(text) > LINE_CHARACTERS:
            text = f"{text[:LINE_CHARACTERS]} [{len(text) - LINE_CHARACTERS:,} more characters]"
        line = f"{path}{mark}{number}{mark}{text}"
        if len(line) + 1 > self.room:
            self.room = 0
            return False
        self.room -= len(line) + 1
        self.lines.append(line)
        return True

    def told(self) -> str:
        """The lines shown, and the totals."""
        notes: list[str] = []
        if self.shown < self.matched:
            notes.append(f"{counted(self.matched - self.shown, 'more matching line')} not shown: narrow the search")
        if self.binary:
            notes.append(f"{counted(self.binary, 'binary file')} left out")
        if self.unreadable:
            notes.append(f"{counted(self.unreadable, 'file')} could not be read")
        files = counted(self.files, "file")
        if self.matched:
            notes.insert(0, f"{counted(self.matched, 'matching line')} in {self.files_matched:,} of {files}")
        else:
            notes.insert(0, f"no line matches {self.arguments.pattern!r} in {files} below {self.arguments.path!r}")
        return "\n".join([*self.lines, f"[{'; '.join(notes)}]"])


def _search(jail: Jail, search: _Search, wanted: Pattern | None) -> None:
    path = search.arguments.path
    if not jail.is_folder(path):
        with jail.open_file(path) as file:
            _search_file(file, search)
        return
    for found in walk(jail, path, enter=lambda below: wanted is None or wanted.may_match_below(below)):
        if wanted is None or wanted.matches(found.below):
            try:
                with jail.open_entry(found.folder, found.parts[:-1], found.parts[-1]) as file:
                    if isinstance(file, OpenFile):
                        _search_file(file, search)
            except (OSError, OribiError):
                search.unreadable += 1


def _search_file(file: OpenFile, search: _Search) -> None:
    anyio.from_thread.check_cancelled()
    before: deque[tuple[int, str]] = deque(maxlen=search.arguments.context)
    path = clean(file.path)
    after = last_shown = 0
    matched = search.matched
    with open(file.descriptor, "rb", closefd=False) as stream:
        if is_binary(stream.peek(8_192)):
            search.binary += 1
            return
        search.files += 1
        for number, text in _numbered(stream):
            if number % _LINES_BETWEEN_CHECKS == 0:
                anyio.from_thread.check_cancelled()
            if search.matches(text):
                search.matched += 1
                if search.shown >= search.arguments.max_matches or not search.room:
                    continue
                if last_shown and before and before[0][0] > last_shown + 1:
                    search.lines.append("--")
                for earlier, line in before:
                    search.add(path, earlier, line, "-")
                before.clear()
                search.shown += search.add(path, number, text, ":")
                after, last_shown = search.arguments.context, number
            elif after:
                search.add(path, number, text, "-")
                after, last_shown = after - 1, number
            else:
                before.append((number, text))
    search.files_matched += search.matched > matched


def _numbered(stream: BufferedReader) -> Generator[tuple[int, str]]:
    """The lines with their numbers; a line of more than `_PIECE` bytes comes in pieces of the same number."""
    number, is_new = 0, True
    while raw := stream.readline(_PIECE):
        number += is_new
        is_new = raw.endswith(b"\n")
        text, _ = decode(raw.removesuffix(b"\n").removesuffix(b"\r"))
        yield number, text
