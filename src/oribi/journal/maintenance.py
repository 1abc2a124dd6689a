"""Who has the database: what rewrites it, or changes its schema, must not meet a process that writes it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from oribi.journal.database import connect_alone, is_older
from oribi.journal.lock import WriterInUseError, WriterLock

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

PATIENCE_SECONDS = 5.0
"""So long an older database waits for others that have it open, before a person is asked to stop them."""
_PAUSE_SECONDS = 0.05


@contextmanager
def alone(path: Path) -> Generator[None]:
    """While the block runs, no other process has the database `path` open for writing.

    Raises:
        WriterInUseError: One has.
        JournalError: The lock file cannot be made.

    """
    lock = WriterLock(_lock_file(path), exclusive=True)
    try:
        yield
    finally:
        lock.release()


def share(path: Path) -> WriterLock:
    """The lock of one writer among others. A database of an older schema is migrated first, by one that has it alone.

    Raises:
        WriterInUseError: Another process has the database for itself, or has it open and its schema must change.
        JournalError: It cannot be read, backed up or migrated, or is from a newer version.

    """
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    had_to_migrate = False
    while True:
        try:
            if is_older(path):
                had_to_migrate = True
                with alone(path):
                    connect_alone(path).close()
            lock = WriterLock(_lock_file(path))
        except WriterInUseError as error:
            if not had_to_migrate:
                raise
            if time.monotonic() >= give_up_at:
                raise WriterInUseError(
                    f"{error}. This version has to change its schema first, and needs it alone for that: stop what "
                    "has it open, then start this again"
                ) from None
            time.sleep(_PAUSE_SECONDS)  # another process may be migrating it at this moment
        else:
            return lock


def _lock_file(path: Path) -> Path:
    return path.with_suffix(".lock")
