"""Having the database to oneself: what rewrites it must not meet a process that writes it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from oribi.journal.lock import WriterLock

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@contextmanager
def alone(path: Path) -> Generator[None]:
    """While the block runs, no other process has the database `path` open for writing.

    Raises:
        WriterInUseError: One has.
        JournalError: The lock file cannot be made.

    """
    lock = WriterLock(path.with_suffix(".lock"), exclusive=True)
    try:
        yield
    finally:
        lock.release()
