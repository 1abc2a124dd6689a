"""Workers: the processes that write one database, how each shows that it lives, and how the others see it.

A worker holds a lock on a file of its own, which the kernel frees the moment the process is gone, and beats in the
database from a thread of its own, so that a process that hangs is known too. Either way its sessions may be taken over;
what keeps it from writing to them afterwards is the epoch, not the beat.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import apsw

from oribi.core.errors import JournalError
from oribi.journal.database import BUSY_MILLISECONDS, execute
from oribi.journal.queries import queries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BEAT_SECONDS = 2.0
LIMIT_SECONDS = 10.0
"""A worker that has not beaten for so long is taken for dead."""
LISTEN_SECONDS = 0.1
"""How often a worker looks for mail from other processes: an interrupt waits no longer than that."""

log = logging.getLogger("oribi.journal")


class Worker:
    """This process as one of the writers. `id` goes into the owner of each session it drives.

    `is_fenced` becomes true when a beat finds that others took this worker for dead: it must write nothing more.
    """

    def __init__(self, database: Path) -> None:
        self.id = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.is_fenced = False
        self._database = database
        self._folder = _folder(database)
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        self._file = -1
        self.on_mail: Callable[[], None] | None = None

    @property
    def is_known(self) -> bool:
        """Whether others can see this worker."""
        return self._file >= 0

    def show(self) -> None:
        """Hold the lock that says that this process lives."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._file = os.open(self._folder / self.id, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalError(
                f"cannot write beside the journal: {self._folder} ({error.strerror}); make the folder writable, "
                "or use a read command"
            ) from error
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def start_beating(self) -> None:
        """Beat and listen from now on; the first beat stands in the database already."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat, name="oribi-worker", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Leave: from now on this process counts as gone."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._file >= 0:
            with suppress(OSError):
                (self._folder / self.id).unlink()
            os.close(self._file)
            self._file = -1

    def _beat(self) -> None:
        with suppress(apsw.Error):
            connection = apsw.Connection(str(self._database))
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            sql = queries()
            seen = 0
            waited_seconds = 0.0
            while not self._is_over.wait(LISTEN_SECONDS):
                waited_seconds += LISTEN_SECONDS
                with suppress(apsw.BusyError):  # somebody holds the file for long: the lock file speaks for us
                    if waited_seconds >= BEAT_SECONDS:
                        waited_seconds = 0.0
                        if not execute(connection, sql["beat"], (self.id,)):
                            self.is_fenced = True
                            log.warning("another process took this one for dead; it stops what it was doing")
                            return
                    [(last,)] = execute(connection, sql["last_letter"])
                    if last != seen and self.on_mail is not None:
                        seen = last
                        self.on_mail()
            connection.close()


def holds_its_lock(database: Path, worker_id: str) -> bool:
    """Whether the process behind `worker_id` is there. The file of one that is gone is removed."""
    path = _folder(database) / worker_id
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        with suppress(OSError):
            path.unlink()
        return False
    finally:
        os.close(file)


def living_workers(database: Path) -> list[str]:
    """The workers whose processes are there, by id (which begins with the process's number)."""
    try:
        names = sorted(entry.name for entry in _folder(database).iterdir())
    except OSError:
        return []
    return [name for name in names if holds_its_lock(database, name)]


def _folder(database: Path) -> Path:
    return database.with_suffix(".workers")
