"""One writer process per database file: an advisory lock beside it, held as long as the process lives (G11)."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from oribi.core.errors import JournalError

if TYPE_CHECKING:
    from pathlib import Path


class WriterInUseError(JournalError):
    """Another process writes this journal."""


class WriterLock:
    """Holds the lock from construction to `release`.

    Raises:
        WriterInUseError: Another process holds it; the text names that process.
        JournalError: The lock file cannot be made (read-only folder).

    """

    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalError(
                f"cannot write beside the journal: {path} ({error.strerror}); make the folder writable, "
                "or use a read command"
            ) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._fd, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(self._fd)
            raise WriterInUseError(
                f"the journal {path.with_suffix('.db')} is in use by {holder}; wait for it or stop it "
                "(read commands such as `oribi trace` work meanwhile)"
            ) from None
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"process {os.getpid()}".encode(), 0)
        except OSError:
            pass  # a full disk: the lock itself holds, only its note is missing

    def release(self) -> None:
        """Let another process write. Does nothing the second time."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
