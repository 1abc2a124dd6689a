"""A copy of the database as it is at one moment, made while others write; only a complete, verified copy gets its name.

No file that is there is ever overwritten. A copy is one file, without the log and the shared memory beside it.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from oribi.core.errors import JournalError
from oribi.journal.database import connect_to_read, execute, said

if TYPE_CHECKING:
    from collections.abc import Generator

FOLDER = "backups"
"""Where backups go by default: a folder beside the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was made: its `file`, its size in `bytes`, and how many `sessions` are in it."""

    file: Path
    bytes: int
    sessions: int


def back_up(path: Path, to: Path | None = None) -> Backup:
    """Copy the database `path` into the new file `to`, by default `backups/oribi-<UTC time>.db` beside it.

    The copy is on the disk and passed SQLite's integrity check when this returns.

    Raises:
        JournalError: There is no database, it is damaged, or the file is there already or cannot be written.

    """
    connection = connect_to_read(path)
    try:
        return _copy(connection, path, to or default_file(path))
    finally:
        connection.close()


def back_up_before_migration(connection: apsw.Connection, path: Path) -> Backup | None:
    """Copy the database before its schema is changed; None when it holds nothing yet.

    Raises:
        JournalError: The copy cannot be made; the database is to be left as it is then.

    """
    with said(path):
        [(version,)] = execute(connection, "PRAGMA user_version")
        if version == 0 or not execute(connection, "SELECT 1 FROM events LIMIT 1"):
            return None
    # over another connection: SQLite copies nothing from one that is about to write
    return back_up(path, default_file(path, f"schema{version}-"))


def default_file(path: Path, mark: str = "") -> Path:
    """A file that is not there yet, named for this moment (UTC)."""
    stem = f"{path.stem}-{mark}{datetime.fromtimestamp(time.time(), UTC):%Y%m%dT%H%M%SZ}"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.db" for number in range(1, 1_000_000))
    return next(file for name in names if not (file := path.parent / FOLDER / name).exists())


def _copy(connection: apsw.Connection, path: Path, to: Path) -> Backup:
    with _new_file(to) as draft, said(draft):
        copy = apsw.Connection(str(draft))
        try:
            with copy.backup("main", connection, "main") as backup:
                backup.step()  # all at once: one moment's state, and in this journal mode nobody waits for a reader
            execute(copy, "PRAGMA journal_mode = DELETE")  # or opening the copy would put two files beside it
            problems = [row[0] for row in execute(copy, "PRAGMA integrity_check(1)") if row[0] != "ok"]
            if problems:
                raise JournalError(
                    f"the journal {path} is damaged ({problems[0]}); no backup was made. Restore it from an earlier "
                    "one; `oribi db check` says more"
                )
            [(sessions,)] = execute(copy, "SELECT count(*) FROM session_heads WHERE seq > 0")
        finally:
            copy.close()
    return Backup(file=to, bytes=to.stat().st_size, sessions=sessions)


@contextmanager
def _new_file(to: Path) -> Generator[Path]:
    """A draft beside `to` that takes its name when the block has ended well, and is on the disk then."""
    draft = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        if to.exists():
            raise FileExistsError(errno.EEXIST, "it is there already", str(to))  # noqa: TRY301 - told like the rest
        if to.parent.name == FOLDER:
            with suppress(FileExistsError):  # a file of that name is told when the draft cannot be made in it
                to.parent.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            yield draft
            _sync(draft)
            _give_name(draft, to)
            _sync(to.parent)
        finally:
            with suppress(OSError):
                draft.unlink()
    except FileExistsError as error:
        raise JournalError(f"{to} is there already; nothing was overwritten. Name another file") from error
    except OSError as error:
        why = error.strerror or str(error)
        raise JournalError(f"cannot write the backup {to} ({why}); name a file in a folder you may write") from error


def _give_name(draft: Path, to: Path) -> None:
    try:
        to.hardlink_to(draft)  # fails if a file of that name came meanwhile
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        draft.replace(to)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
