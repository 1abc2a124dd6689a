"""Whether a file is the one read before: its stamp, and the files of a folder with theirs."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from oribi.core.errors import ConfigError


class Stamp(NamedTuple):
    """What changes when a file is edited, replaced or renamed."""

    modified: int
    changed: int
    size: int
    inode: int


def stamp_of(path: Path | str) -> Stamp | None:
    """The stamp of a regular file; None when there is none, or it cannot be reached."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked for every file of a prompt at every step
    except (OSError, ValueError):  # ValueError: a name no file can have
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Stamp(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def names_in(folder: Path | str) -> tuple[str, ...]:
    """The names in a folder in a fixed order, without hidden ones and ones that are not UTF-8; none if unreachable."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - asked for at every step
    except OSError:
        return ()
    return tuple(sorted(name for name in names if not name.startswith(".") and name.isprintable()))


def read_source(path: Path, file: str) -> bytes:
    """The bytes of `path`, which errors call `file`.

    Raises:
        ConfigError: It cannot be read.

    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
