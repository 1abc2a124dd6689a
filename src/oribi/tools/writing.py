"""Write a file in an open folder so that a reader, or a crash, sees the old content or the new, never half of it."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass

from oribi.core.calls import Deny
from oribi.tools.file_errors import ChangedError, FileError, RefusedError, not_regular


@dataclass(frozen=True, slots=True)
class Known:
    """What a file was like when it was read; `facts` is None when it was not there."""

    facts: os.stat_result | None


def replace_in(folder: int, name: str, content: bytes, path: str, *, only_if: Known | None = None) -> bool:
    """Write `content` beside `name`, durably, then move it there; the mode is kept. Whether `name` is new.

    `path` is what messages call the file. With `only_if`, the file must still be as it was known.

    Raises:
        ChangedError: It is not.
        FileError: `name` is a folder or read-only.
        RefusedError: `name` is a link or no regular file.
        OSError: It could not be written; nothing is left behind.

    """
    facts = stat_or_none(folder, name)
    if facts is not None:
        _require_replaceable(facts, path)
    beside = f".{name[:80]}.{secrets.token_hex(6)}.tmp"
    try:
        _write_beside(folder, beside, content, facts)
        if only_if is not None:
            _require_unchanged(stat_or_none(folder, name), only_if, path)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise
    os.fsync(folder)
    return facts is None


def write_all(descriptor: int, content: bytes, *, undo_to: int | None = None) -> None:
    """Write and make durable; after an error, cut the file back to `undo_to` bytes.

    Raises:
        OSError: It could not be written.

    """
    left = memoryview(content)
    try:
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    except OSError:
        if undo_to is not None:
            with suppress(OSError):
                os.ftruncate(descriptor, undo_to)
        raise


def stat_or_none(folder: int, name: str) -> os.stat_result | None:
    """The facts about `name` itself (not what a link points to), None when it is not there."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _write_beside(folder: int, beside: str, content: bytes, facts: os.stat_result | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o666, dir_fd=folder)
    try:
        write_all(descriptor, content)
        if facts is not None:
            os.fchmod(descriptor, stat.S_IMODE(facts.st_mode) & 0o777)
            if os.geteuid() == 0:
                os.fchown(descriptor, facts.st_uid, facts.st_gid)
    finally:
        os.close(descriptor)


def _require_unchanged(facts: os.stat_result | None, only_if: Known | None, path: str) -> None:
    if only_if is not None and _identity(facts) != _identity(only_if.facts):
        raise ChangedError(f"{path!r} was changed by someone else")


def _identity(facts: os.stat_result | None) -> tuple[int, int, int] | None:
    return None if facts is None else (facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _require_replaceable(facts: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise FileError(f"{path!r} is a folder; name a file in it")
    if stat.S_ISLNK(facts.st_mode):
        raise RefusedError(
            Deny(
                rule="files:link", reason=f"{path!r} is a symbolic link; write to the file it points to by its own name"
            )
        )
    if not stat.S_ISREG(facts.st_mode):
        raise RefusedError(not_regular(path))
    if not facts.st_mode & 0o222:
        raise FileError(f"{path!r} is read-only (mode {stat.S_IMODE(facts.st_mode):o}); write to another name")
