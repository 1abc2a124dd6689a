"""`save_memory` and `recall_memory`: what an agent keeps between sessions, in its MEMORY.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from oribi.core.calls import Succeeded, ToolResult
from oribi.core.memory import Section, add_entry, find_entries
from oribi.ports import Invocation
from oribi.tools.builtin import make_builtin
from oribi.tools.file_errors import FileError
from oribi.tools.jail import jail_for_one_file
from oribi.tools.text import clean
from oribi.tools.tool import Tool

MemoryFile: TypeAlias = Callable[[Invocation], str]
"""The MEMORY.md that belongs to a call, relative to the root: where the memory of its prompts is read and saved."""

MOST_CHARACTERS = 4_000
"""The longest entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Save:
    entry: str
    section: Section = "archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recall:
    query: str = ""
    limit: int = 10


def save_memory_tool(root: Path, memory_file: MemoryFile) -> Tool:
    """The tool `save_memory`."""

    async def run(arguments: _Save, invocation: Invocation) -> ToolResult:
        entry = clean(arguments.entry)
        if not entry.strip():
            raise FileError("the entry is blank: say in a sentence what to remember")
        path = memory_file(invocation)

        def change(content: bytes) -> bytes:
            return add_entry(_decode(content, path), entry, section=arguments.section).encode()

        jail_for_one_file(root, path).change(path, change, or_new=True)
        return Succeeded(text=f"saved to the {arguments.section} section of {path!r}")

    return make_builtin(
        "save_memory",
        "Remember something beyond this session: one fact, in a sentence that makes sense on its own.",
        arguments=_Save,
        properties={
            "entry": {
                "type": "string",
                "minLength": 1,
                "maxLength": MOST_CHARACTERS,
                "description": "What to remember.",
            },
            "section": {
                "enum": ["core", "archive"],
                "description": "'core' is always in view, so keep it short; 'archive' (default) only while it is new.",
            },
        },
        run=run,
        effect="once",
    )


def recall_memory_tool(root: Path, memory_file: MemoryFile) -> Tool:
    """The tool `recall_memory`."""

    async def run(arguments: _Recall, invocation: Invocation) -> ToolResult:
        path = memory_file(invocation)
        try:
            text = _decode(jail_for_one_file(root, path).read(path), path)
        except FileError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return Succeeded(text="(nothing is remembered yet)")
            raise
        entries = find_entries(text, clean(arguments.query), arguments.limit)
        if not entries:
            return Succeeded(text=f"(no memory holds a word of {arguments.query!r})")
        return Succeeded(text="\n".join(entries))

    return make_builtin(
        "recall_memory",
        "Search what was remembered: entries that hold most words of the query, newest first. Without a query, the "
        "newest entries.",
        arguments=_Recall,
        properties={
            "query": {"type": "string", "description": "Words to look for (default: none)."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Most entries (default 10)."},
        },
        run=run,
        for_reasoning=True,
    )


def _decode(content: bytes, path: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FileError(f"{path!r} is not UTF-8 (byte {error.start:,}); ask the user to repair it") from error
