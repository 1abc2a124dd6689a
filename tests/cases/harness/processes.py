"""Looking for processes by a marker on their command line, from outside."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def with_marker(marker: str) -> list[int]:
    """The ids of all living processes, but this one, with `marker` on their command line."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with suppress(OSError):
                if marker.encode() in (folder / "cmdline").read_bytes() and _lives(folder):
                    found.append(int(folder.name))
    return found


def _lives(folder: Path) -> bool:
    return (folder / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
