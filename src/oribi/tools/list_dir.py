"""`list_dir`: what is in a folder."""

from __future__ import annotations

from dataclasses import dataclass

from oribi.core.calls import Succeeded, ToolResult
from oribi.ports import Invocation
from oribi.tools.builtin import PATH, make_builtin
from oribi.tools.jail import Entry, Jails
from oribi.tools.text import clean, counted
from oribi.tools.tool import Reads, Tool

_MARKER_ROOM = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    path: str = "."


def list_dir_tool(jails: Jails) -> Tool:
    """The tool `list_dir`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        jail = jails(invocation.agent)
        with jail.open_folder(arguments.path) as (folder, parts):
            entries = jail.entries(folder, parts)
        if not entries:
            return Succeeded(text=f"({arguments.path!r} is empty)")
        lines: list[str] = []
        room = invocation.policy.result_characters - _MARKER_ROOM
        for entry in entries:
            line = _line(entry)
            room -= len(line) + 1
            if room < 0:
                left = counted(len(entries) - len(lines), "more name")
                lines.append(f"[{left}; glob(path={arguments.path!r}, pattern='a*') shows some of them]")
                break
            lines.append(line)
        return Succeeded(text="\n".join(lines))

    return make_builtin(
        "list_dir",
        "List a folder: folders end in '/', files show their size in bytes. Does not look into folders; see glob.",
        arguments=_Arguments,
        properties={"path": {**PATH, "description": "Folder, relative to the project folder (default '.')."}},
        run=run,
        effects=lambda arguments: (Reads(path=arguments.path),),
        for_reasoning=True,
    )


def _line(entry: Entry) -> str:
    name = clean(entry.name)
    if not name.isprintable():
        name = repr(name)
    hidden = "" if entry.is_readable else "  (not for tools)"
    match entry.kind:
        case "folder":
            return f"{name}/{hidden}"
        case "file":
            return f"{name}  {entry.size:,}{hidden}"
        case "link":
            return f"{name}  (link){hidden}"
        case _:
            return f"{name}  (no regular file){hidden}"
