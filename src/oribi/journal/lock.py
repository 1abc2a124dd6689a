"""Who may use the database file: writers share a lock beside it, maintenance that rewrites it has the lock alone (G11).

Both are advisory locks of the kernel, so they end with their process, however it ends.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from oribi.core.errors import JournalError

if TYPE_CHECKING:
    from pathlib import Path


class WriterInUseError(JournalError):
    """Another process has the journal in a way that leaves no room for this use."""


class WriterLock:
    """Holds the lock from construction to `release`: shared with other writers, or `exclusive`.

    Raises:
        WriterInUseError: Another process stands against it; the text names what it knows of that process.
        JournalError: The lock file cannot be made (read-only folder).

    """

    def __init__(self, path: Path, *, exclusive: bool = False) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalError(
                f"cannot write beside the journal: {path} ({error.strerror}); make the folder writable, "
                "or use a read command"
            ) from error
        try:
            self._take(exclusive=exclusive)
        except WriterInUseError:
            self.release()
            raise

    def release(self) -> None:
        """Let go of it. Does nothing the second time."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _take(self, *, exclusive: bool) -> None:
        try:
            fcntl.flock(self._fd, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._fd, 200, 0).decode(errors="replace").strip() or "another process"
            raise WriterInUseError(
                f"the journal {self._path.with_suffix('.db')} is in use by {holder}; wait for it or stop it "
                "(read commands such as `oribi trace` work meanwhile)"
            ) from None
        with suppress(OSError):  # a full disk: the lock itself holds, only its note is missing
            note = f"process {os.getpid()}".encode()
            os.pwrite(self._fd, note, 0)
            os.ftruncate(self._fd, len(note))
