"""The file jail: the only way tools reach files. Every access is judged by name, opened beneath the root, judged again.

The second judgement is of the opened file's real name, so that a symbolic link below the root cannot make a denied
file look like an allowed one. Only regular files are read, and where an agent may write, only those without a second
hard link, which could be a file from outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from oribi.core.calls import Deny
from oribi.core.errors import OribiError
from oribi.tools.file_errors import ChangedError, FileError, RefusedError, leads_out, not_regular, tell
from oribi.tools.file_policy import Access, FilePolicy, judge_access
from oribi.tools.openat import OpenBelow, best_open_below, open_by_walking
from oribi.tools.writing import Known, replace_in, stat_or_none, write_all

MOST_BYTES = 50_000_000
"""The largest file that is read or written as a whole."""

MOST_PATH = 4_096
"""The longest path, in characters."""

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """An open regular file; `path` is its real name relative to the root."""

    descriptor: int
    path: str
    facts: os.stat_result

    def read_all(self) -> bytes:
        """The whole content.

        Raises:
            FileError: It has more than `MOST_BYTES` bytes.

        """
        if self.facts.st_size > MOST_BYTES:
            raise FileError(f"{self.path!r} has {self.facts.st_size:,} bytes, the most is {MOST_BYTES:,}")
        pieces: list[bytes] = []
        size = 0
        while size <= MOST_BYTES and (piece := os.read(self.descriptor, 1 << 20)):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in a folder. `is_readable` is False for what the policy hides; `size` is 0 for all but files."""

    name: str
    kind: str
    size: int
    is_readable: bool


class Jail:
    """The files below `root`, as far as `policy` lets tools touch them. Holds nothing open; threads may share it."""

    def __init__(self, root: Path, policy: FilePolicy, *, open_below: OpenBelow | None = None) -> None:
        self.root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow links; both spellings count
        self.policy = policy
        self._spellings = {self.root.parts[1:], Path(os.path.realpath(root)).parts[1:]}
        self._open_below = open_below or best_open_below()

    # --- judging, without touching a file -----------------------------------------------------------------------------

    def judge(self, access: Access, path: str) -> Deny | None:
        """Why `path`, as a model wrote it, may not be accessed, or None. Looks at names only."""
        parts = self.parts(path)
        return parts if isinstance(parts, Deny) else judge_access(self.policy, access, parts)

    def parts(self, path: str) -> tuple[str, ...] | Deny:
        """The names of `path` below the root, without `.` and `..`; absolute paths below the root are accepted."""
        if len(path) > MOST_PATH:
            start = path[:40]
            return Deny(rule="files:name", reason=f"the path that starts {start!r} has over {MOST_PATH:,} characters")
        if "\0" in path:
            return Deny(rule="files:name", reason=f"{path!r} holds a NUL character; no file name can")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            return Deny(rule="files:name", reason=f"{path!r} holds half a character (a lone surrogate)")
        names = _normalised(path)
        if path.startswith("/") and names is not None:
            below = next((names[len(root) :] for root in self._spellings if names[: len(root)] == root), None)
            names = below
        if names is None:
            return Deny(
                rule="files:outside",
                reason=f"{path!r} is outside {str(self.root)!r}; use a path relative to that folder",
            )
        if names and names[0] == "~":
            return Deny(
                rule="files:home",
                reason=f"{path!r}: '~' is not expanded here; use a path relative to {str(self.root)!r}",
            )
        return names

    # --- reading ------------------------------------------------------------------------------------------------------

    @contextmanager
    def open_file(self, path: str) -> Generator[OpenFile]:
        """Open a regular file to read it.

        Raises:
            RefusedError: The jail forbids it.
            FileError: There is no such file, or it cannot be read.

        """
        parts = self._allowed("read", path)
        with self._told(path, parts), self._root() as root:
            descriptor = self._open_below(root, parts, _READ, 0)
            try:
                yield self._checked(root, descriptor, path, parts)
            finally:
                os.close(descriptor)

    def read(self, path: str) -> bytes:
        """The content of a file; raises as `open_file` and `read_all` do."""
        with self.open_file(path) as file:
            return file.read_all()

    @contextmanager
    def open_folder(self, path: str) -> Generator[tuple[int, tuple[str, ...]]]:
        """Open a folder: its descriptor and the names of its real path.

        Raises:
            RefusedError: The jail forbids it.
            FileError: There is no such folder.

        """
        parts = self._allowed("read", path)
        with self._told(path, parts), self._root() as root:
            descriptor = self._open_below(root, parts, _FOLDER, 0)
            try:
                real = self._real(root, descriptor, parts)
                self._refuse_if(judge_access(self.policy, "read", real))
                yield descriptor, real
            finally:
                os.close(descriptor)

    def is_folder(self, path: str) -> bool:
        """Whether `path` is a folder; raises as `open_file` does when it is nothing at all."""
        parts = self._allowed("read", path)
        with self._told(path, parts), self._root() as root:
            descriptor = self._open_below(root, parts, _READ, 0)
            try:
                return stat.S_ISDIR(os.fstat(descriptor).st_mode)
            finally:
                os.close(descriptor)

    def entries(self, folder: int, parts: Sequence[str]) -> list[Entry]:
        """What is in an open folder, by name. `parts` is its real path."""
        entries: list[Entry] = []
        with os.scandir(folder) as found:
            for item in found:
                kind, size = "other", 0
                with suppress(OSError):  # gone meanwhile
                    if item.is_symlink():
                        kind = "link"
                    elif item.is_dir(follow_symlinks=False):
                        kind = "folder"
                    elif item.is_file(follow_symlinks=False):
                        kind, size = "file", item.stat(follow_symlinks=False).st_size
                is_readable = judge_access(self.policy, "read", (*parts, item.name)) is None
                entries.append(Entry(name=item.name, kind=kind, size=size, is_readable=is_readable))
        return sorted(entries, key=lambda entry: entry.name)

    @contextmanager
    def open_entry(self, folder: int, parts: Sequence[str], name: str) -> Generator[OpenFile | int]:
        """Open what `entries` named, following no link: a file, or a folder's descriptor.

        Raises:
            RefusedError: The jail forbids it.
            OSError: It is gone, or not what it was.

        """
        self._refuse_if(judge_access(self.policy, "read", (*parts, name)))
        descriptor = os.open(name, _READ | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            facts = os.fstat(descriptor)
            if stat.S_ISDIR(facts.st_mode):
                yield descriptor
            else:
                path = "/".join((*parts, name))
                self._refuse_if(self._judge_kind(facts, (*parts, name)))
                yield OpenFile(descriptor=descriptor, path=path, facts=facts)
        finally:
            os.close(descriptor)

    # --- writing ------------------------------------------------------------------------------------------------------

    def replace(self, path: str, content: bytes) -> bool:
        """Write a whole file: beside it first, durably, then in its place. Makes missing folders. Whether it is new.

        Raises:
            RefusedError: The jail forbids it.
            FileError: It cannot be written.

        """
        parts = self._allowed("write", path)
        with self._told(path, parts), self._folder_for(path, parts) as folder:
            return replace_in(folder, parts[-1], content, path)

    def append(self, path: str, content: bytes) -> bool:
        """Add `content` to the end of a file, durably. Makes the file and missing folders. Whether it is new.

        Raises:
            RefusedError: The jail forbids it.
            FileError: It cannot be written.

        """
        parts = self._allowed("write", path)
        flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._told(path, parts), self._folder_for(path, parts) as folder:
            name = parts[-1]
            if stat_or_none(folder, name) is None:
                descriptor, is_new = os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder), True
            else:
                descriptor, is_new = os.open(name, flags, dir_fd=folder), False
            try:
                facts = os.fstat(descriptor)
                self._refuse_if(self._judge_kind(facts, parts))
                write_all(descriptor, content, undo_to=facts.st_size)
            finally:
                os.close(descriptor)
            if is_new:
                os.fsync(folder)
            return is_new

    def change(self, path: str, change: Callable[[bytes], bytes], *, or_new: bool = False) -> bytes:
        """Read a file, pass its content through `change`, and write that in its place; returns what was written.

        If someone else changes the file meanwhile, it is read again. With `or_new`, a missing file counts as empty.

        Raises:
            RefusedError: The jail forbids it.
            FileError: It cannot be read or written, or it keeps changing.

        """
        parts = self._allowed("write", path)
        for _ in range(_TRIES):
            with self._told(path, parts), self._folder_for(path, parts, make=or_new) as folder:
                facts = stat_or_none(folder, parts[-1])
                if facts is None and not or_new:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
                before = b"" if facts is None else self.read(path)
                after = change(before)
                if len(after) > MOST_BYTES:
                    raise FileError(f"{path!r} would have {len(after):,} bytes, the most is {MOST_BYTES:,}")
                with suppress(ChangedError):
                    replace_in(folder, parts[-1], after, path, only_if=Known(facts))
                    return after
        raise ChangedError(f"{path!r} keeps being changed by someone else; read it again and try later")

    # --- the parts ----------------------------------------------------------------------------------------------------

    def _allowed(self, access: Access, path: str) -> tuple[str, ...]:
        parts = self.parts(path)
        if isinstance(parts, Deny):
            raise RefusedError(parts)
        self._refuse_if(judge_access(self.policy, access, parts))
        if access == "write" and not parts:
            raise FileError(f"{path!r} is a folder; name a file in it")
        return parts

    @contextmanager
    def _root(self) -> Generator[int]:
        descriptor = os.open(self.root, _FOLDER | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _checked(self, root: int, descriptor: int, path: str, parts: tuple[str, ...]) -> OpenFile:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            raise FileError(f"{path!r} is a folder; list_dir shows what is in it")
        real = self._real(root, descriptor, parts)
        if real != parts:
            self._refuse_if(judge_access(self.policy, "read", real))
        self._refuse_if(self._judge_kind(facts, real))
        return OpenFile(descriptor=descriptor, path="/".join(real), facts=facts)

    def _judge_kind(self, facts: os.stat_result, parts: Sequence[str]) -> Deny | None:
        path = "/".join(parts)
        if not stat.S_ISREG(facts.st_mode):
            return not_regular(path)
        if facts.st_nlink != 1 and judge_access(self.policy, "write", parts) is None:
            return Deny(
                rule="files:hard-link",
                reason=f"{path!r} has {facts.st_nlink} hard links and may be a file from outside; ask for a plain copy",
            )
        return None

    def _real(self, root: int, descriptor: int, parts: tuple[str, ...]) -> tuple[str, ...]:
        """The names an open file goes by, below the root. Walked to, it goes by those it was opened with."""
        if self._open_below is open_by_walking:
            return parts
        top = os.readlink(f"/proc/self/fd/{root}")  # noqa: PTH115 - for every file; a Path costs three times as much
        name = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - as above
        prefix = top.rstrip("/") + "/"
        if name == top:
            return ()
        if os.fstat(descriptor).st_nlink == 0:  # asked after the name, which would say "(deleted)"
            raise FileError(f"{'/'.join(parts)!r} was deleted meanwhile")
        if not name.startswith(prefix):
            raise RefusedError(leads_out("/".join(parts)))
        return tuple(name[len(prefix) :].split("/"))

    @contextmanager
    def _folder_for(self, path: str, parts: tuple[str, ...], *, make: bool = True) -> Generator[int]:
        """The folder that holds `parts`, opened beneath the root and judged by its real name; made if missing."""
        above, missing = list(parts[:-1]), list[str]()
        with self._root() as root:
            while True:
                try:
                    folder = self._open_below(root, above, _FOLDER, 0)
                    break
                except FileNotFoundError:
                    if not above or not make:
                        raise
                    missing.insert(0, above.pop())
            try:
                real = self._real(root, folder, tuple(above))
                self._refuse_if(judge_access(self.policy, "write", (*real, *missing, parts[-1])))
                for name in missing:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=folder)
                        os.fsync(folder)
                    inner = os.open(name, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                    os.close(folder)
                    folder = inner
                yield folder
            finally:
                os.close(folder)

    def _refuse_if(self, deny: Deny | None) -> None:
        if deny is not None:
            raise RefusedError(deny)

    @contextmanager
    def _told(self, path: str, parts: tuple[str, ...]) -> Generator[None]:
        """Tell what the operating system says in words that help a model."""
        try:
            yield
        except OSError as error:
            tell(error, path, lambda: self._suggest(parts))

    def _suggest(self, parts: tuple[str, ...]) -> str:
        """Names like the missing one, from the deepest folder on its way that is there."""
        depth = 0
        try:
            while depth < len(parts) - 1 and self.is_folder("/".join(parts[: depth + 1])):
                depth += 1
        except OribiError:
            pass  # here the way ends
        above = "/".join(parts[:depth]) or "."
        try:
            with self.open_folder(above) as (folder, real):
                names = [entry.name for entry in self.entries(folder, real) if entry.is_readable]
        except OribiError:
            return ""
        near = get_close_matches(parts[depth], names, n=3, cutoff=0.6)
        if near:
            return f"; in {above!r} there is: {', '.join(repr(name) for name in near)}"
        if depth < len(parts) - 1:
            return f"; there is no folder {'/'.join(parts[: depth + 1])!r}"
        return f"; list_dir(path={above!r}) shows what is there"


Jails: TypeAlias = Callable[[str], Jail]
"""The jail of an agent, by the agent's name."""


def jail_for_one_file(root: Path, path: str) -> Jail:
    """A jail in which the runtime itself keeps one file, also where tools may not write."""
    return Jail(root, FilePolicy(read=(path,), write=(path,), is_guarded=False))


def _normalised(path: str) -> tuple[str, ...] | None:
    """The names of `path` without `.` and `..`; None when it climbs above its start."""
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in {"", "."}:
            names.append(name)
    return tuple(names)
