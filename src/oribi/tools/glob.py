"""`glob`: the files whose path matches a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import anyio.to_thread

from oribi.core.calls import Failed, Succeeded, ToolResult
from oribi.ports import Invocation
from oribi.tools.builtin import PATH, make_builtin
from oribi.tools.jail import Jail, Jails
from oribi.tools.patterns import Pattern, compile_pattern
from oribi.tools.text import clean, counted
from oribi.tools.tool import Reads, Tool
from oribi.tools.walk import walk

_MARKER_ROOM = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    pattern: str
    path: str = "."


def glob_tool(jails: Jails) -> Tool:
    """The tool `glob`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        if arguments.pattern.startswith(("/", "~")) or ".." in arguments.pattern.split("/"):
            return Failed(text="the pattern must be relative: give the folder as path, and a pattern such as '**/*.py'")
        pattern = compile_pattern(arguments.pattern)
        find = partial(_find, jails(invocation.agent), arguments, pattern, invocation.policy.result_characters)
        return Succeeded(text=await anyio.to_thread.run_sync(find))

    return make_builtin(
        "glob",
        "Find files by pattern: '*' and '?' stay within a name, '**' stands for any number of folders, '{a,b}' for a "
        "choice. Example: '**/*.{log,txt}'. Leaves out .git, .venv, node_modules, __pycache__ and the workspace's own "
        "folder unless path starts there.",
        arguments=_Arguments,
        properties={
            "pattern": {"type": "string", "minLength": 1, "description": "Pattern of paths below `path`."},
            "path": {**PATH, "description": "Folder to search, relative to the project folder (default '.')."},
        },
        run=run,
        effects=lambda arguments: (Reads(path=arguments.path),),
        for_reasoning=True,
    )


def _find(jail: Jail, arguments: _Arguments, pattern: Pattern, most: int) -> str:
    lines: list[str] = []
    room, left = most - _MARKER_ROOM, 0
    for found in walk(jail, arguments.path, enter=pattern.may_match_below):
        if not pattern.matches(found.below):
            continue
        line = clean("/".join(found.parts))
        room -= len(line) + 1
        if room < 0:
            left += 1
        else:
            lines.append(line)
    if not lines:
        return f"(no file below {arguments.path!r} matches {arguments.pattern!r})"
    if left:
        lines.append(f"[{counted(left, 'more file')}; a narrower pattern or path shows them]")
    return "\n".join(lines)
