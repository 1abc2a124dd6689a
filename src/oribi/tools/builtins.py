"""The built-in tools, put together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oribi.ports import Clock
from oribi.tools.current_time import current_time_tool
from oribi.tools.delegate import delegate_tool
from oribi.tools.edit_file import edit_file_tool
from oribi.tools.glob import glob_tool
from oribi.tools.grep import grep_tool
from oribi.tools.jail import Jails
from oribi.tools.json_extract import json_extract_tool
from oribi.tools.list_dir import list_dir_tool
from oribi.tools.memory_tools import MemoryFile, recall_memory_tool, save_memory_tool
from oribi.tools.notify import Channel, Secret, notify_tool
from oribi.tools.read_file import read_file_tool
from oribi.tools.tool import Tool
from oribi.tools.write_file import append_file_tool, write_file_tool


def builtin_tools(
    *,
    root: Path,
    jails: Jails,
    memory_file: MemoryFile,
    clock: Clock,
    channels: Sequence[Channel] = (),
    secret: Secret = lambda _: None,
) -> list[Tool]:
    """Every built-in tool.

    `root` is the project folder that holds the workspace, `jails` gives an agent's view of it, `memory_file` the path
    of an agent's MEMORY.md relative to `root`, `secret` the value of an environment variable.
    """
    return [
        read_file_tool(jails),
        list_dir_tool(jails),
        glob_tool(jails),
        grep_tool(jails),
        write_file_tool(jails),
        append_file_tool(jails),
        edit_file_tool(jails),
        current_time_tool(clock),
        json_extract_tool(jails),
        save_memory_tool(root, memory_file),
        recall_memory_tool(root, memory_file),
        notify_tool(channels, root=root, clock=clock, secret=secret),
        delegate_tool(),
    ]
