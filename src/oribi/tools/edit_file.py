"""`edit_file`: replace a text that occurs exactly once, or everywhere on request."""

from __future__ import annotations

from dataclasses import dataclass

from oribi.core.calls import Succeeded, ToolResult
from oribi.ports import Invocation
from oribi.tools.builtin import PATH, make_builtin
from oribi.tools.file_errors import FileError
from oribi.tools.jail import MOST_BYTES, Jails
from oribi.tools.text import clean, counted
from oribi.tools.tool import Reads, Tool, Writes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    path: str
    old: str
    new: str
    replace_all: bool = False


def edit_file_tool(jails: Jails) -> Tool:
    """The tool `edit_file`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        replaced = 0

        def change(content: bytes) -> bytes:
            nonlocal replaced
            edited, replaced = _edit(content, arguments)
            return edited

        jails(invocation.agent).change(arguments.path, change)
        return Succeeded(text=f"edited {arguments.path!r}: {counted(replaced, 'replacement')}")

    return make_builtin(
        "edit_file",
        "Replace text in a file. `old` must occur exactly once, letter by letter, unless replace_all is true.",
        arguments=_Arguments,
        properties={
            "path": PATH,
            "old": {"type": "string", "minLength": 1, "description": "Text to replace, with enough around it."},
            "new": {"type": "string", "description": "Text to put in its place."},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence (default false)."},
        },
        run=run,
        effects=lambda arguments: (Reads(path=arguments.path), Writes(path=arguments.path)),
        effect="once",
    )


def _edit(content: bytes, arguments: _Arguments) -> tuple[bytes, int]:
    """The content after the edit, and how many replacements it took."""
    path = arguments.path
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise FileError(f"{path!r} is not UTF-8 (byte {error.start:,}); edit_file would damage it") from error
    old, new = arguments.old, clean(arguments.new)
    if old == new:
        raise FileError("old and new are the same text; there is nothing to change")
    if old not in text and "\r\n" in text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
    count = text.count(old)
    if count == 0:
        raise FileError(f"{path!r} does not hold the text in `old`{_almost(text, old)}")
    if count > 1 and not arguments.replace_all:
        raise FileError(
            f"the text in `old` occurs {count:,} times in {path!r}, first in lines {_lines_of(text, old)}; "
            "give more of what stands around it, or set replace_all"
        )
    if len(text) + count * (len(new) - len(old)) > MOST_BYTES:
        raise FileError(f"{path!r} would grow over {MOST_BYTES:,} characters")
    return text.replace(old, new).encode(), count


def _almost(text: str, old: str) -> str:
    """How `old` nearly occurs: the mistake that models make is white space."""
    if " ".join(old.split()) in " ".join(text.split()):
        return "; it does but for white space: read the file again and copy the text with its spaces and line ends"
    return "; read the file again"


def _lines_of(text: str, old: str) -> str:
    numbers: list[str] = []
    start = text.find(old)
    while start >= 0 and len(numbers) < 3:  # noqa: PLR2004 - enough to look at
        numbers.append(str(text.count("\n", 0, start) + 1))
        start = text.find(old, start + len(old))
    return ", ".join(numbers)
