"""The writer: jobs become transactions. Sessions that write at the same moment share one commit (group commit).

Rules that hold here:
- Statements run in the thread that asked for them, where they cost microseconds; only the commit, which waits for the
  disk, runs in the writer thread. Statements in the thread would hand the interpreter over once per statement.
- When another process holds the file, the wait for it is the thread's, never the event loop's.
- While a commit is under way, jobs gather for the next one, and as long as every turn of the event loop brings more.
  There is no waiting for a time.
- A job whose guard fails, fails alone. A statement or a commit that fails, fails the whole batch; nothing is written.
"""

from __future__ import annotations

import asyncio
import logging
import math
import queue
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import apsw

from oribi.core.errors import JournalError
from oribi.journal.database import Value, execute, locked_error, said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


log = logging.getLogger("oribi.journal")

PATIENCE_SECONDS = 75.0
"""So long a write waits for a file that another program holds; then it fails, and the turn with it."""
NOTICE_SECONDS = 5.0
"""So often the wait is told to the log."""

Statement: TypeAlias = "tuple[str, tuple[Value, ...]]"


@dataclass(slots=True, kw_only=True)
class Job:
    """Some statements that are written together, or not at all.

    Each of the `guards` before them, and of the `checks` after, must change exactly one row, or the job fails.
    Afterwards either `is_durable`, or `error` says why not; `rows` are those its last statement returned.
    """

    statements: list[Statement] = field(default_factory=list[Statement])
    guards: list[tuple[Statement, JournalError]] = field(default_factory=list[tuple["Statement", JournalError]])
    checks: Sequence[tuple[Statement, JournalError]] = ()
    error: JournalError | None = None
    is_durable: bool = False
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])


class Writer:
    """Writes jobs through one connection, which nobody else uses. `commits` counts the transactions."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._gathered: list[tuple[Job, asyncio.Future[None]]] = []
        self._is_busy = False
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.commits = 0

    @property
    def is_busy(self) -> bool:
        """Whether a commit is under way or jobs have gathered."""
        return self._is_busy

    def write_now(self, job: Job) -> bool:
        """Write one job in this thread and wait for the disk. Only while the writer is not busy.

        False, and nothing is done, when another process holds the file: then `write` waits for it.
        """
        jobs = [job]
        if not self._begin(jobs, patience_seconds=0):
            return job.error is not None
        if self._stage(jobs):
            self._commit(jobs)
        return True

    async def write(self, job: Job) -> None:
        """Write `job` together with those of others. Returns, or lets a cancellation through, when it is settled."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._gathered.append((job, done))
        if not self._is_busy:
            self._is_busy = True
            loop.call_soon(self._next_batch, loop)
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):  # the job is written in any case; its caller must know how it went
                await done
            raise

    def close(self) -> None:
        """Finish the commit under way and close the connection."""
        if self._thread is not None:
            self._work.put(None)
            self._thread.join()
            self._thread = None
        self._connection.close()

    def _next_batch(self, loop: asyncio.AbstractEventLoop, seen: int = 0) -> None:
        if len(self._gathered) > seen:  # while every turn of the loop brings more, they may come along
            loop.call_soon(self._next_batch, loop, len(self._gathered))
            return
        batch, self._gathered = self._gathered, []
        if not batch:
            self._is_busy = False
            return
        jobs = [job for job, _ in batch]
        is_begun = self._begin(jobs, patience_seconds=0)
        if jobs[0].error is not None or (is_begun and not self._stage(jobs)):
            self._batch_done(loop, batch)
            return

        def commit() -> None:
            if is_begun or (self._begin(jobs, patience_seconds=PATIENCE_SECONDS) and self._stage(jobs)):
                self._commit(jobs)
            loop.call_soon_threadsafe(self._batch_done, loop, batch)

        if self._thread is None:
            self._thread = threading.Thread(target=self._run_work, name="oribi-journal", daemon=True)
            self._thread.start()
        self._work.put(commit)

    def _batch_done(self, loop: asyncio.AbstractEventLoop, batch: list[tuple[Job, asyncio.Future[None]]]) -> None:
        for _, done in batch:
            if not done.done():
                done.set_result(None)
        loop.call_soon(self._next_batch, loop)  # after those just woken, so that what they write joins it

    def _begin(self, jobs: list[Job], *, patience_seconds: float) -> bool:
        """Begin a transaction; False if another process held the file for so long, or it cannot be begun at all.

        Only a wait in vain that had some patience, or another error, is an error of the jobs.
        """
        try:
            with said(self._path):
                for _ in range(max(1, math.ceil(patience_seconds / NOTICE_SECONDS))):
                    self._connection.set_busy_timeout(int(min(patience_seconds, NOTICE_SECONDS) * 1000))
                    with suppress(apsw.BusyError):
                        execute(self._connection, "BEGIN IMMEDIATE")
                        return True
                    if patience_seconds:
                        log.warning("the journal %s is locked by another program; waiting for it", self._path)
            if patience_seconds:
                self._abandon(jobs, locked_error(self._path, patience_seconds))
        except Exception as error:  # noqa: BLE001 - whatever it is, every job must learn that it was not written
            self._abandon(jobs, error)
        return False

    def _stage(self, jobs: list[Job]) -> bool:
        """Run the jobs' statements in the open transaction; False if that failed: there is nothing to commit."""
        try:
            with said(self._path):
                for job in jobs:
                    self._run_job(job)
        except Exception as error:  # noqa: BLE001 - whatever it is, every job must learn that it was not written
            self._abandon(jobs, error)
            return False
        return True

    def _run_job(self, job: Job) -> None:
        connection = self._connection
        several = len(job.guards) > 1 or bool(job.checks)  # what one changed must go if another fails
        if several:
            execute(connection, "SAVEPOINT job")
        job.error = self._first_failed(job.guards)
        if job.error is None:
            for sql, values in job.statements:
                job.rows = execute(connection, sql, values)
            job.error = self._first_failed(job.checks)
        if several:
            execute(connection, "ROLLBACK TO job" if job.error is not None else "RELEASE job")

    def _first_failed(self, guards: Sequence[tuple[Statement, JournalError]]) -> JournalError | None:
        for statement, error in guards:
            execute(self._connection, *statement)
            if self._connection.changes() != 1:
                return error
        return None

    def _commit(self, jobs: list[Job]) -> None:
        """End the transaction: everything in it is durable, or nothing is."""
        try:
            with said(self._path):
                execute(self._connection, "COMMIT")
        except Exception as error:  # noqa: BLE001 - a dead writer thread would leave every session waiting
            self._abandon(jobs, error)
        else:
            self.commits += 1
            for job in jobs:
                job.is_durable = job.error is None

    def _abandon(self, jobs: list[Job], error: BaseException) -> None:
        for job in jobs:
            if isinstance(error, JournalError):
                job.error = error
            else:
                job.error = JournalError(f"the journal {self._path} could not be written: {error!r}")
        with suppress(apsw.Error):  # the connection may be closed, or have rolled back by itself
            if self._connection.in_transaction:
                execute(self._connection, "ROLLBACK")

    def _run_work(self) -> None:
        while (work := self._work.get()) is not None:
            work()
