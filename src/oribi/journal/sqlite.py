"""The journal on SQLite: one writer process, an expected `seq` and an epoch checked on every append.

An append is encoded and chained on its session's last durable head before it goes to the writer; the guard, the first
statement of every write, moves that head in the database only if the epoch and the seq still hold.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oribi.core.calls import SessionId, TurnId
from oribi.core.errors import JournalError, LeaseLost
from oribi.core.events import Recorded, SessionOpened, TurnEnded, TurnStarted
from oribi.journal.chain import GENESIS, chain_hash
from oribi.journal.codec import VERSION, MissingContentError, decode_event, encode_event
from oribi.journal.database import Synchronous, connect, connect_to_read, execute, said
from oribi.journal.lock import WriterLock
from oribi.journal.queries import queries
from oribi.journal.writer import Job, Statement, Writer

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class _Head:
    """Where a session's chain ends, as far as it is durable."""

    epoch: int
    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session as a list shows it. Times are microseconds since the epoch."""

    session_id: SessionId
    agent: str
    principal: str
    channel: str
    created_at: int
    updated_at: int
    seq: int
    turns: int
    last_end: str | None
    is_open: bool


class SqliteJournal:
    """The `Journal` port on a SQLite file.

    Raises:
        WriterInUseError: Another process writes this file (with `read_only=False`).
        JournalError: The file cannot be opened.

    """

    def __init__(self, path: Path, *, read_only: bool = False, synchronous: Synchronous = "full") -> None:
        self._path = path
        self._sql = queries()
        self._heads: dict[SessionId, _Head] = {}
        self._drivers = 0
        self._owner = f"process {os.getpid()}"
        self._lock = None if read_only else WriterLock(path.with_suffix(".lock"))
        self._writer: Writer | None = None
        try:
            if not read_only:
                self._writer = Writer(connect(path, synchronous=synchronous), path)
            self._reader = connect_to_read(path)
        except JournalError:
            self._release()
            raise

    @property
    def commits(self) -> int:
        """Transactions written since the journal was opened."""
        return 0 if self._writer is None else self._writer.commits

    @property
    def is_inline(self) -> bool:
        """Whether writes commit in the caller's thread: one driver alone has nobody to share a commit with."""
        return self._drivers <= 1 and self._writer is not None and not self._writer.is_busy

    @contextmanager
    def driving(self) -> Generator[None]:
        """Say that a session is being driven while the block runs."""
        self._drivers += 1
        try:
            yield
        finally:
            self._drivers -= 1

    async def open_session(self, session_id: SessionId) -> int:
        """Take the session over: raise its epoch and return it; whoever had it is fenced.

        Raises:
            JournalError: The journal cannot be written.

        """
        now = time.time_ns() // 1000
        job = Job(statements=[(self._sql["take_over"], (session_id, self._owner, now, now))])
        await self._write(job)
        [(epoch, seq, head)] = job.rows
        self._heads[session_id] = _Head(epoch, seq, head)
        return epoch

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        """Make `records` durable, all or none.

        Raises:
            LeaseLost: The epoch or the expected `seq` does not hold any more; nothing was written.
            JournalError: They could not be written; nothing was.

        """
        head = self._heads.get(session_id)
        if head is None or head.epoch != epoch or head.seq != records[0].seq - 1:
            raise _lease_lost(session_id)
        after, statements = self._encode(head, records)
        guard = (after.seq, after.hash, records[-1].at, session_id, epoch, head.seq)
        job = Job(statements=statements, guard=(self._sql["guard"], guard), guard_error=_lease_lost(session_id))
        try:
            await self._write(job)
        finally:  # also when the caller was cancelled while the job was being written
            if job.is_durable:
                self._heads[session_id] = after

    def close_session(self, session_id: SessionId) -> None:
        """Forget what is kept in memory of a session that is not driven any more."""
        self._heads.pop(session_id, None)

    def read(self, session_id: SessionId, after: int = 0) -> list[Recorded]:
        """The session's records with `seq` > `after`, checked against the chain.

        Raises:
            JournalError: A record is missing, was edited, or cannot be read.

        """
        with said(self._path):
            rows = execute(self._reader, self._sql["read_events"], (session_id, after))
        records: list[Recorded] = []
        previous: bytes | None = GENESIS if after == 0 else None
        expected = after + 1
        for seq, turn_id, type_name, version, at, payload, prev_hash, digest in rows:
            body = payload.encode()
            stands = seq == expected and (previous is None or prev_hash == previous)
            if not stands or digest != chain_hash(
                prev_hash,
                session_id=session_id,
                seq=seq,
                turn_id=turn_id,
                type_name=type_name,
                version=version,
                at=at,
                payload=body,
            ):
                raise JournalError(
                    f"session {session_id}: record {seq if seq == expected else expected} was edited or is missing "
                    f"in {self._path}; restore it from a backup. The session is not driven any further."
                )
            event = decode_event(type_name, body, self._blob)
            records.append(
                Recorded(session_id=session_id, seq=seq, turn_id=turn_id and TurnId(turn_id), at=at, event=event)
            )
            previous = digest
            expected += 1
        return records

    def sessions(self, limit: int = 50) -> list[SessionRow]:
        """Sessions, the last used first."""
        with said(self._path):
            rows = execute(self._reader, self._sql["list_sessions"], (limit,))
        return [
            SessionRow(
                session_id=SessionId(row[0]),
                agent=row[1],
                principal=row[2],
                channel=row[3],
                created_at=row[4],
                updated_at=row[5],
                seq=row[6],
                turns=row[7],
                last_end=row[8],
                is_open=bool(row[9]),
            )
            for row in rows
        ]

    def open_turns(self) -> list[SessionId]:
        """Sessions whose last turn has not ended, the oldest first."""
        with said(self._path):
            return [SessionId(row[0]) for row in execute(self._reader, self._sql["open_sessions"])]

    def close(self) -> None:
        """Finish what is under way, close the file, let another process write."""
        self._reader.close()
        self._release()

    def _release(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            self._lock.release()

    async def _write(self, job: Job) -> None:
        if self._writer is None:
            raise JournalError(f"the journal {self._path} was opened to read only")
        if self.is_inline:
            self._writer.write_now(job)
        else:
            await self._writer.write(job)
        if job.error is not None:
            raise job.error

    def _blob(self, digest: str) -> bytes:
        rows = execute(self._reader, self._sql["get_blob"], (digest,))
        if not rows:
            raise MissingContentError(f"content {digest} is missing from {self._path}; restore it from a backup")
        body: bytes = rows[0][0].encode()
        if hashlib.sha256(body).hexdigest() != digest:
            raise JournalError(f"content {digest} in {self._path} was edited; restore it from a backup")
        return body

    def _encode(self, head: _Head, records: Sequence[Recorded]) -> tuple[_Head, list[Statement]]:
        """Where the chain ends after `records`, and the statements that write them."""
        statements: list[Statement] = []
        previous = head.hash
        for record in records:
            payload, blobs = encode_event(record.event)
            type_name = type(record.event).__name__
            digest = chain_hash(
                previous,
                session_id=record.session_id,
                seq=record.seq,
                turn_id=record.turn_id,
                type_name=type_name,
                version=VERSION,
                at=record.at,
                payload=payload,
            )
            statements += [(self._sql["put_blob"], (key, body.decode())) for key, body in blobs.items()]
            row = (record.session_id, record.seq, record.turn_id, type_name, VERSION, record.at, payload.decode())
            statements.append((self._sql["append_event"], (*row, previous, digest)))
            statements += self._index(record)
            previous = digest
        return _Head(head.epoch, records[-1].seq, previous), statements

    def _index(self, record: Recorded) -> list[Statement]:
        """What the tables of sessions and turns say after this record."""
        match record.event:
            case SessionOpened(agent=agent, principal=principal, channel=channel):
                return [(self._sql["name_session"], (agent, principal, channel, record.at, record.session_id))]
            case TurnStarted(turn_id=turn_id, agent=agent):
                return [(self._sql["start_turn"], (record.session_id, turn_id, agent, record.at, record.seq))]
            case TurnEnded(end=end):
                end_name = type(end).__name__
                return [
                    (self._sql["end_turn"], (record.at, end_name, record.session_id, record.turn_id)),
                    (self._sql["forget_reasoning"], (record.session_id, record.turn_id)),
                ]
            case _:
                return []


def _lease_lost(session_id: SessionId) -> LeaseLost:
    return LeaseLost(
        f"session {session_id} was taken over by another writer; this one stops and has written nothing more"
    )
