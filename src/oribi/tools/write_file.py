"""`write_file` and `append_file`: make a file, replace it, or add to its end."""

from __future__ import annotations

from dataclasses import dataclass

from oribi.core.calls import JsonObject, Succeeded, ToolResult
from oribi.ports import Invocation
from oribi.tools.builtin import PATH, make_builtin
from oribi.tools.jail import Jails
from oribi.tools.text import clean, counted
from oribi.tools.tool import Tool, Writes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    path: str
    content: str


_PROPERTIES: dict[str, JsonObject] = {
    "path": {**PATH, "description": "File, relative to the project folder; missing folders are made."},
    "content": {"type": "string", "description": "Text, written as it is."},
}


def write_file_tool(jails: Jails) -> Tool:
    """The tool `write_file`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        content = clean(arguments.content)
        is_new = jails(invocation.agent).replace(arguments.path, content.encode())
        return Succeeded(text=_told("made" if is_new else "replaced", arguments, content))

    return make_builtin(
        "write_file",
        "Write a whole text file, replacing what was there. To change part of a file, use edit_file.",
        arguments=_Arguments,
        properties=_PROPERTIES,
        run=run,
        effects=lambda arguments: (Writes(path=arguments.path),),
        effect="idempotent",
    )


def append_file_tool(jails: Jails) -> Tool:
    """The tool `append_file`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        content = clean(arguments.content)
        is_new = jails(invocation.agent).append(arguments.path, content.encode())
        return Succeeded(text=_told("made" if is_new else "added to", arguments, content))

    return make_builtin(
        "append_file",
        "Add text to the end of a file, which is made if it is not there. No line end is added.",
        arguments=_Arguments,
        properties=_PROPERTIES,
        run=run,
        effects=lambda arguments: (Writes(path=arguments.path),),
        effect="once",
    )


def _told(done: str, arguments: _Arguments, content: str) -> str:
    changed = "" if content == arguments.content else "; characters that cannot be stored were replaced"
    return f"{done} {arguments.path!r}: {counted(len(content), 'character')}{changed}"
