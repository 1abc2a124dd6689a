"""`read_file`: a page of a text file, with what is left out said at its end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from io import BufferedReader

import anyio.to_thread

from oribi.core.calls import Succeeded, ToolResult
from oribi.ports import Invocation
from oribi.tools.builtin import PATH, make_builtin
from oribi.tools.file_errors import FileError
from oribi.tools.jail import MOST_BYTES, Jail, Jails, OpenFile
from oribi.tools.text import counted, decode, is_binary
from oribi.tools.tool import Reads, Tool

LINE_CHARACTERS = 2_000
"""How much of a long line is shown at once, unless `column` asks for the line itself."""

_INLINE_BYTES = 1_000_000
"""Larger files are read in a worker thread, so that no other session waits."""

_MARKER_ROOM = 600
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    path: str
    offset: int = 1
    limit: int | None = None
    column: int = 1


def read_file_tool(jails: Jails) -> Tool:
    """The tool `read_file`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        most = max(LINE_CHARACTERS, invocation.policy.result_characters - _MARKER_ROOM)
        read = partial(_read, jails(invocation.agent), arguments, most)
        try:
            return Succeeded(text=read(is_inline=True))
        except _TooLargeError:
            return Succeeded(text=await anyio.to_thread.run_sync(partial(read, is_inline=False)))

    return make_builtin(
        "read_file",
        "Read a text file. Shows as many lines as fit; the last line says what is left out and how to go on.",
        arguments=_Arguments,
        properties={
            "path": PATH,
            "offset": {"type": "integer", "minimum": 1, "description": "First line to show (default 1)."},
            "limit": {"type": "integer", "minimum": 1, "description": "Most lines to show (default: what fits)."},
            "column": {
                "type": "integer",
                "minimum": 1,
                "description": "First character to show of the first line, for very long lines (default 1).",
            },
        },
        run=run,
        effects=lambda arguments: (Reads(path=arguments.path),),
        for_reasoning=True,
    )


class _TooLargeError(Exception):
    """The file is too large to be read without a worker thread."""


def _read(jail: Jail, arguments: _Arguments, most: int, *, is_inline: bool) -> str:
    with jail.open_file(arguments.path) as file:
        if is_inline and file.facts.st_size > _INLINE_BYTES:
            raise _TooLargeError
        with open(file.descriptor, "rb", closefd=False) as stream:
            return _page(stream, file, arguments, most)


def _page(stream: BufferedReader, file: OpenFile, arguments: _Arguments, most: int) -> str:
    path = arguments.path
    start = stream.peek(8_192)
    if is_binary(start):
        encoding = ", perhaps UTF-16 text" if start[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
        raise FileError(f"{path!r} is binary ({file.facts.st_size:,} bytes{encoding}); read_file shows UTF-8 text only")
    for skipped in range(arguments.offset - 1):
        if not _skip_line(stream):
            raise _past_the_end(arguments, skipped)
    lines: list[_Line] = []
    room, unshown = most, 0
    while (arguments.limit is None or len(lines) < arguments.limit) and (raw := stream.readline(MOST_BYTES)):
        line = _line(raw, arguments, is_first=not lines, room=room)
        if len(line.text) > room:
            unshown = 1
            break
        lines.append(line)
        room -= len(line.text)
    if not lines and arguments.offset == 1:
        return "(the file is empty)"
    if not lines:
        raise _past_the_end(arguments, arguments.offset - 1)
    return _with_notes(lines, arguments, unshown + _count_lines(stream))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    is_replaced: bool
    is_crlf: bool


def _line(raw: bytes, arguments: _Arguments, *, is_first: bool, room: int) -> _Line:
    """A line as it is shown: from `column` if it is the first, cut where it is too long."""
    text, is_replaced = decode(raw)
    is_crlf = text.endswith("\r\n")
    if is_crlf:
        text = text[:-2] + "\n"
    text = text.removeprefix("\ufeff")
    skipped = arguments.column - 1 if is_first else 0
    most = room - _MARKER_ROOM // 3 if skipped else LINE_CHARACTERS
    if len(text) - skipped > most:
        number = "this line" if not is_first else f"line {arguments.offset}"
        left = len(text) - skipped - most
        hint = f"column={skipped + most + 1} with its offset shows more"
        text = f"{text[skipped : skipped + most]} [{left:,} more characters in {number}; {hint}]\n"
    else:
        text = text[skipped:]
    return _Line(text=text, is_replaced=is_replaced, is_crlf=is_crlf)


def _with_notes(lines: list[_Line], arguments: _Arguments, left: int) -> str:
    """The lines, then what a reader has to know that they do not show."""
    text = "".join(line.text for line in lines)
    last = arguments.offset + len(lines) - 1
    notes: list[str] = []
    if left:
        after = f"read_file(path={arguments.path!r}, offset={last + 1}) goes on"
        notes.append(f"[lines {arguments.offset}-{last} of {last + left:,}; {after}]")
    if any(line.is_replaced for line in lines):
        notes.append("[bytes that are not UTF-8 are shown as \N{REPLACEMENT CHARACTER}]")
    if any(line.is_crlf for line in lines):
        notes.append("[lines end in CRLF]")
    if notes and not text.endswith("\n"):
        text += "\n"
    return text + "\n".join(notes)


def _skip_line(stream: BufferedReader) -> bool:
    """Pass over one line; False at the end of the file."""
    piece = stream.readline(_PIECE)
    if not piece:
        return False
    while piece and not piece.endswith(b"\n"):
        piece = stream.readline(_PIECE)
    return True


def _count_lines(stream: BufferedReader) -> int:
    """How many lines are left."""
    count, last = 0, b"\n"
    while piece := stream.read(_PIECE):
        count += piece.count(b"\n")
        last = piece[-1:]
    return count + (last != b"\n")


def _past_the_end(arguments: _Arguments, lines: int) -> FileError:
    return FileError(f"offset {arguments.offset} is past the end: {arguments.path!r} has {counted(lines, 'line')}")
