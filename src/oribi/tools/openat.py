"""Open a path below a folder so that no symbolic link, however timed, leads out of it.

On Linux the kernel does it (`openat2` with `RESOLVE_BENEATH`); elsewhere every name is opened in turn, following no
link at all. Resolving a path first and opening it after would lose against a thread that swaps a folder and a link.
"""

from __future__ import annotations

import errno
import os
import platform
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

OpenBelow: TypeAlias = Callable[[int, Sequence[str], int, int], int]
"""`(folder fd, names, flags, mode) -> fd`. Raises OSError: EXDEV for a way out, ELOOP for a link not followed."""

_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_TRIES = 16
"""The kernel answers EAGAIN when a folder on the way was renamed meanwhile."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@lru_cache(maxsize=1)
def best_open_below() -> OpenBelow:
    """The kernel's way where it works (tried on the root folder, as a container may forbid it), else the walk."""
    if sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}:
        return open_by_walking
    folder = os.open("/", _FOLDER)
    try:
        descriptor = open_by_kernel(folder, (), _FOLDER, 0)
        try:
            Path(f"/proc/self/fd/{descriptor}").readlink()
        finally:
            os.close(descriptor)
    except OSError:
        return open_by_walking
    finally:
        os.close(folder)
    return open_by_kernel


def open_by_kernel(folder: int, names: Sequence[str], flags: int, mode: int) -> int:
    """`openat2`: links are followed while they stay below `folder`."""
    import ctypes

    path = os.fsencode("/".join(names) or ".")
    if b"\0" in path:
        raise OSError(errno.EINVAL, "a path cannot hold a NUL")  # C would open what stands before it
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC, mode, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    library = _libc()
    problem = errno.EAGAIN
    for _ in range(_TRIES):
        descriptor = library.syscall(
            ctypes.c_long(_SYS_OPENAT2),
            ctypes.c_int(folder),
            ctypes.c_char_p(path),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if descriptor >= 0:
            return int(descriptor)
        problem = ctypes.get_errno()
        if problem not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(problem, os.strerror(problem))


def open_by_walking(folder: int, names: Sequence[str], flags: int, mode: int) -> int:
    """Open name by name with `O_NOFOLLOW`: no link is followed, not even one that stays below `folder`."""
    if not names:
        return os.open(".", flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    current = os.dup(folder)
    try:
        for name in names[:-1]:
            following = os.open(_plain(name), _FOLDER, dir_fd=current)
            os.close(current)
            current = following
        return os.open(_plain(names[-1]), flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=current)
    finally:
        os.close(current)


def _plain(name: str) -> str:
    if "\0" in name:
        raise OSError(errno.EINVAL, "a path cannot hold a NUL")
    if "/" in name or name in {"", ".", ".."}:
        raise OSError(errno.EXDEV, "not a plain name")
    return name


@lru_cache(maxsize=1)
def _libc():  # noqa: ANN202 - ctypes is not imported where this is read
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
