"""Walk the files below a folder without following links, in the order of their names."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import anyio.from_thread

from oribi.core.errors import OribiError
from oribi.tools.jail import Jail

SKIPPED: frozenset[str] = frozenset({".git", ".venv", "node_modules", "__pycache__"})
"""Folders that are not walked into, unless the walk starts there."""

MOST_DEPTH = 60
"""Each level holds one folder open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A readable file: `folder` is its open folder, `parts` its names below the root, `below` those below the start."""

    folder: int
    parts: tuple[str, ...]
    below: tuple[str, ...]


def walk(jail: Jail, path: str, *, enter: Callable[[tuple[str, ...]], bool]) -> Generator[Found]:
    """Every readable file below the folder `path`. `enter` says by a folder's names below the start whether to go in.

    Skips `SKIPPED` and the workspace's own folder. Runs in a worker thread and stops when the call is cancelled.

    Raises:
        RefusedError: The jail forbids the folder.
        FileError: There is no such folder.

    """
    skipped = SKIPPED | {jail.policy.workspace}
    with jail.open_folder(path) as (folder, parts):
        yield from _walk(jail, folder, parts, (), lambda below: below[-1] not in skipped and enter(below))


def _walk(
    jail: Jail,
    folder: int,
    parts: tuple[str, ...],
    below: tuple[str, ...],
    enter: Callable[[tuple[str, ...]], bool],
) -> Generator[Found]:
    anyio.from_thread.check_cancelled()
    for entry in jail.entries(folder, parts):
        inner = (*below, entry.name)
        if not entry.is_readable:
            continue
        if entry.kind == "file":
            yield Found(folder=folder, parts=(*parts, entry.name), below=inner)
        elif entry.kind == "folder" and len(inner) < MOST_DEPTH and enter(inner):
            try:
                with jail.open_entry(folder, parts, entry.name) as opened:
                    if isinstance(opened, int):
                        yield from _walk(jail, opened, (*parts, entry.name), inner, enter)
            except (OSError, OribiError):
                continue  # gone or closed to us meanwhile
