"""The journal on SQLite: one writer per session, an expected `seq` and an epoch checked on every append.

Several processes may write one file; each session is driven by one of them, its owner, until the turn has ended. A
session is claimed by raising its epoch, unless its owner is alive (see `workers.py`); what a process that was thought
dead still tries to write then fails (ADR 0015).

An append is encoded and chained on its session's last durable head before it goes to the writer; the guard, the first
statement of every write, moves that head in the database only if the epoch and the seq still hold.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oribi.core.calls import SessionId, TurnId
from oribi.core.errors import JournalError, LeaseLost, SessionBusy
from oribi.core.events import (
    Erased,
    InputAdded,
    InterruptAsked,
    ParentCall,
    Recorded,
    RevokeAsked,
    SessionOpened,
    TurnEnded,
    TurnStarted,
)
from oribi.core.lock import lock_hash
from oribi.core.mail import Letter, Mail
from oribi.journal.care import check_at_start
from oribi.journal.chain import GENESIS, chain_hash
from oribi.journal.codec import VERSION, MissingContentError, decode_event, decode_mail, encode_event, encode_mail
from oribi.journal.database import Synchronous, connect, connect_to_read, execute, require_present_schema, said
from oribi.journal.erasure import whole_erasure
from oribi.journal.filesystem import require_local
from oribi.journal.maintenance import share
from oribi.journal.queries import queries
from oribi.journal.quota import DailyQuota, Quota
from oribi.journal.workers import LIMIT_SECONDS, Worker, holds_its_lock
from oribi.journal.writer import Job, Statement, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class _Head:
    """Where a session's chain ends, as far as it is durable."""

    epoch: int
    seq: int
    hash: bytes


LOST_RACES = 20
"""So often a claim is tried again when another process is quicker."""


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

    What is appended is held to the daily `quota` of its session's principal; days are those of `zone`.

    Raises:
        WriterInUseError: Another process has the file for itself (with `read_only=False`).
        JournalError: The file cannot be opened.

    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        synchronous: Synchronous = "full",
        quota: Quota | None = None,
        zone: str = "UTC",
    ) -> None:
        if not read_only:
            require_local(path)
        self._path = path
        self._sql = queries()
        self._heads: dict[SessionId, _Head] = {}
        self._last_read: tuple[tuple[SessionId, int, int], list[Recorded]] | None = None
        self._drivers = 0
        self.worker = Worker(path)
        self._lock = None if read_only else share(path)
        self._writer: Writer | None = None
        try:
            if not read_only:
                connection = connect(path, synchronous=synchronous)
                self._writer = Writer(connection, path)
                check_at_start(connection, path)
            self._reader = connect_to_read(path)
            require_present_schema(self._reader, path)
            self.quota = DailyQuota(quota or Quota(), zone, self._reader, path)
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
        """Claim the session: raise its epoch and return it; whoever had it is fenced.

        Raises:
            SessionBusy: Another worker drives it, and lives.
            JournalError: The journal cannot be written.

        """
        self._need_writer()
        for _ in range(LOST_RACES):
            found = self._find(session_id)
            now = time.time_ns() // 1000
            if found is None:
                claim = (self._sql["begin_session"], (session_id, self.worker.id, now, now))
                head = _Head(1, 0, GENESIS)
            else:
                known, owner = found
                if owner is not None and not self._may_take_from(owner):
                    raise SessionBusy(
                        f"session {session_id!r} is in use: worker {owner} drives a turn of it; "
                        "wait for its end, or stop it"
                    )
                claim = (self._sql["take_over"], (self.worker.id, session_id, known.epoch, owner))
                head = _Head(known.epoch + 1, known.seq, known.hash)
            lost = JournalError(f"session {session_id!r} was claimed by another process at the same moment")
            job = Job(guards=[(claim, lost)])
            await self._write_as_worker(job)
            if job.error is None:
                self._heads[session_id] = head
                return head.epoch
            if job.error is not lost:
                raise job.error
        raise SessionBusy(f"session {session_id!r} is claimed by other processes again and again; try later")

    def is_current(self, session_id: SessionId) -> bool:
        """Whether what this process knows of the session still holds: nobody else has claimed it since."""
        found, known = self._find(session_id), self._heads.get(session_id)
        return found is not None and found[0] == known and not self.worker.is_fenced

    def is_free(self, session_id: SessionId) -> bool:
        """Whether no other worker that is alive drives the session."""
        found = self._find(session_id)
        return found is None or found[1] is None or self._may_take_from(found[1])

    def listen(self, heard: Callable[[], None]) -> None:
        """Call `heard` in this event loop soon after mail was posted. It may be called for nothing."""
        loop = asyncio.get_running_loop()

        def ring() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(heard)

        self.worker.on_mail = ring

    async def let_go(self, session_id: SessionId) -> None:
        """Let others drive the session, if it is still this worker's: its turn is left open, or never began.

        Raises:
            JournalError: The journal cannot be written; the session is free when this process ends.

        """
        found, head = self._find(session_id), self._heads.get(session_id)
        if head is not None and found is not None and found[1] == self.worker.id:
            await self._write(Job(statements=[(self._sql["let_go"], (session_id, head.epoch, self.worker.id))]))

    async def post(
        self, session_id: SessionId, mail: Mail, opening: SessionOpened, *, client_key: str | None = None
    ) -> int:
        """Put mail into the database for whoever drives the session, now or next; its number.

        Posted twice under one `client_key`, it is one letter.

        Raises:
            JournalError: The journal cannot be written; nothing was.

        """
        payload, blobs = encode_mail(mail, opening)
        row = (session_id, type(mail).__name__, payload.decode(), client_key, time.time_ns() // 1000)
        put = [(self._sql["put_blob"], (key, body.decode())) for key, body in blobs.items()]
        job = Job(statements=[*put, (self._sql["post_letter"], row)])
        await self._write(job)
        [(number,)] = job.rows
        return number

    def letters(self, session_id: SessionId) -> list[Letter]:
        """The session's mail that waits, in the order it came."""
        return self._letters("waiting_letters", session_id)

    def joining_letters(self, session_id: SessionId, after: int) -> list[Letter]:
        """What waits for the session's open turn with a number > `after`, in the order it came."""
        return self._letters("joining_letters", session_id, after)

    def _letters(self, query: str, *values: SessionId | int) -> list[Letter]:
        with said(self._path):
            rows = execute(self._reader, self._sql[query], values)
        letters: list[Letter] = []
        for number, kind, payload in rows:
            mail, opening = decode_mail(kind, payload, self._blob)
            letters.append(Letter(number=number, mail=mail, opening=opening))
        return letters

    def taken_at(self, number: int) -> int | None:
        """The `seq` of the record that used the letter; None while it waits.

        Raises:
            LookupError: It was withdrawn.

        """
        rows = execute(self._reader, self._sql["letter_state"], (number,))
        if not rows:
            raise LookupError(number)
        taken: int | None = rows[0][0]
        return taken

    async def withdraw(self, number: int) -> bool:
        """Take a letter back; False when it was used already.

        Raises:
            JournalError: The journal cannot be written.

        """
        job = Job(statements=[(self._sql["withdraw_letter"], (number,))])
        await self._write(job)
        return bool(job.rows)

    def unfinished(self) -> list[SessionId]:
        """Sessions with an open turn or waiting inputs that nobody drives, the oldest first."""
        with said(self._path):
            rows = execute(self._reader, self._sql["unfinished_sessions"])
        return [SessionId(name) for name, owner in rows if owner is None or self._is_gone(owner)]

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        """Make `records` durable, all or none.

        Raises:
            LeaseLost: The epoch or the expected `seq` does not hold any more; nothing was written.
            QuotaSpent: A call was to begin that the daily quota has no room for; nothing was written, and other records
                can be appended in the place of these.
            JournalError: They could not be written; nothing was.

        """
        head = self._heads.get(session_id)
        if head is None or head.epoch != epoch or head.seq != records[0].seq - 1 or self.worker.is_fenced:
            raise _lease_lost(session_id)
        after, statements = self._encode(head, records)
        owner = None if isinstance(records[-1].event, TurnEnded) else self.worker.id
        guard = (after.seq, after.hash, records[-1].at, owner, session_id, epoch, head.seq)
        job = Job(statements=statements, guards=[((self._sql["guard"], guard), _lease_lost(session_id))])
        job.guards += self._uses(records)
        job.checks = self.quota.checks(records)
        try:
            await self._write_as_worker(job)
            if job.error is not None:
                raise job.error
        finally:  # also when the caller was cancelled while the job was being written
            if job.is_durable:
                self._heads[session_id] = after

    def close_session(self, session_id: SessionId) -> None:
        """Forget what is kept in memory of a session that is not driven any more."""
        self._heads.pop(session_id, None)
        self.quota.forget(session_id)

    def read(self, session_id: SessionId, after: int = 0) -> list[Recorded]:
        """The session's records with `seq` > `after`, checked against the chain.

        Raises:
            JournalError: A record is missing, was edited, or cannot be read; or the whole session was erased.

        """
        as_of = session_id, after, execute(self._reader, "PRAGMA data_version")[0][0]
        if self._last_read is not None and self._last_read[0] == as_of:  # nothing was written since it was verified
            return list(self._last_read[1])
        last, rows = self._rows(session_id, after)
        records: list[Recorded] = []
        tombstones: dict[int, str] = {}
        previous: bytes | None = GENESIS if after == 0 else None
        expected = after + 1
        for seq, turn_id, type_name, version, at, payload, prev_hash, digest, erased in rows:
            if not isinstance(payload, str) or not isinstance(erased, bytes | None) or turn_id == "":  # an edit
                raise self._tampered(session_id, expected)
            body = payload.encode()
            payload_sha256 = hashlib.sha256(body)
            stands = seq == expected and (previous is None or prev_hash == previous)
            if not stands or digest != chain_hash(
                prev_hash,
                session_id=session_id,
                seq=seq,
                turn_id=turn_id,
                type_name=type_name,
                version=version,
                at=at,
                payload_sha256=payload_sha256.digest() if erased is None else erased,
            ):
                raise self._tampered(session_id, seq if seq == expected else expected)
            if version > VERSION:
                raise JournalError(
                    f"session {session_id}: record {seq} in {self._path} was written by a newer Oribi (row version "
                    f"{version}; this one knows up to {VERSION}): upgrade Oribi to read it. Nothing was changed."
                )
            event = decode_event(type_name, body, self._blob)
            if erased is not None:
                tombstones[seq] = payload_sha256.hexdigest()
            elif isinstance(event, Erased):
                for row in event.rows:
                    if tombstones.get(row.seq) == row.sha256:
                        del tombstones[row.seq]
            records.append(
                Recorded(session_id=session_id, seq=seq, turn_id=turn_id and TurnId(turn_id), at=at, event=event)
            )
            previous = digest
            expected += 1
        if tombstones:  # whoever edits a record cannot call it erased
            raise self._tampered(session_id, min(tombstones))
        if expected <= last:
            raise JournalError(
                f"session {session_id}: records {expected} to {last} are missing at the end of its chain in "
                f"{self._path}; restore it from a backup. The session is not driven any further."
            )
        self._last_read = as_of, records
        return list(records)

    def _rows(self, session_id: SessionId, after: int) -> tuple[int, list[tuple[Any, ...]]]:
        """The `seq` that the session has to end with, and its rows with `seq` > `after`, as they are stored."""
        try:
            with said(self._path):
                # the end first: what is appended between the two queries is only more than it says
                ends = execute(self._reader, self._sql["read_end"], (session_id,))
                rows = execute(self._reader, self._sql["read_events"], (session_id, after))
        except UnicodeDecodeError as error:
            raise JournalError(
                f"session {session_id}: a record in {self._path} was edited, it is no text any more; `oribi audit "
                "verify` says which. Restore it from a backup. The session is not driven any further."
            ) from error
        last, erased_at = ends[0] if ends else (0, None)
        if erased_at is not None:
            raise JournalError(whole_erasure(session_id, erased_at, rows[-1][5] if rows else ""))
        return last, rows

    def _tampered(self, session_id: SessionId, seq: int) -> JournalError:
        return JournalError(
            f"session {session_id}: record {seq} was edited or is missing in {self._path}; restore it from a backup. "
            "The session is not driven any further."
        )

    def hash_at(self, session_id: SessionId, seq: int) -> bytes:
        """The hash of one record.

        Raises:
            JournalError: There is no such record.

        """
        rows = execute(self._reader, self._sql["hash_at"], (session_id, seq))
        if not rows:
            raise JournalError(f"session {session_id!r} has no record {seq}")
        digest: bytes = rows[0][0]
        return digest

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

    def children(self, session_id: SessionId) -> list[tuple[SessionId, ParentCall]]:
        """The sessions that answer calls of this one, each with the call it answers, the oldest first."""
        with said(self._path):
            rows = execute(self._reader, self._sql["child_sessions"], (session_id,))
        opened = [(SessionId(name), decode_event("SessionOpened", payload, self._blob)) for name, payload in rows]
        return [
            (name, event.parent)
            for name, event in opened
            if isinstance(event, SessionOpened) and event.parent is not None
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
        self.worker.stop()
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            self._lock.release()

    def _find(self, session_id: SessionId) -> tuple[_Head, str | None] | None:
        """Where the session stands in the database, and who drives it."""
        with said(self._path):
            rows = execute(self._reader, self._sql["find_head"], (session_id,))
        return None if not rows else (_Head(rows[0][0], rows[0][1], rows[0][2]), rows[0][3])

    def _may_take_from(self, owner: str) -> bool:
        return owner == self.worker.id or self._is_gone(owner)

    def _is_gone(self, owner: str) -> bool:
        """Whether a worker has ended, or hangs: no lock of a living process, or no beat for too long."""
        if owner == self.worker.id:
            return False
        limit = (owner, int(LIMIT_SECONDS * 1e6))
        return not holds_its_lock(self._path, owner) or not execute(self._reader, self._sql["beats"], limit)

    async def _write_as_worker(self, job: Job) -> None:
        """Write `job` as the one who drives a session: others must be able to see that this process lives."""
        if self._writer is not None and not self.worker.is_known:
            self.worker.show()
            limit = int(LIMIT_SECONDS * 1e6)
            here: list[Statement] = [
                (self._sql["drop_dead_workers"], (limit,)),
                (self._sql["add_worker"], (self.worker.id, os.getpid())),
            ]
            await self._write(Job(statements=here))
            self.worker.start_beating()
        await self._put(job)

    async def _write(self, job: Job) -> None:
        await self._put(job)
        if job.error is not None:
            raise job.error

    async def _put(self, job: Job) -> None:
        writer = self._need_writer()
        if not self.is_inline or not writer.write_now(job):
            await writer.write(job)

    def _need_writer(self) -> Writer:
        if self._writer is None:
            raise JournalError(f"the journal {self._path} was opened to read only")
        return self._writer

    def _uses(self, records: Sequence[Recorded]) -> list[tuple[Statement, JournalError]]:
        """The letters that `records` use: each must still be there, so that none is used twice."""
        return [
            (
                (self._sql["take_letter"], (record.seq, record.event.mail, record.session_id)),
                LeaseLost(f"letter {record.event.mail} of session {record.session_id} was withdrawn or used already"),
            )
            for record in records
            if isinstance(record.event, TurnStarted | InputAdded | InterruptAsked | RevokeAsked)
            and record.event.mail is not None
        ]

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
                payload_sha256=hashlib.sha256(payload).digest(),
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
            case TurnStarted(turn_id=turn_id, agent=agent, lock=lock):
                locked = "" if lock is None else lock_hash(lock)
                row = (record.session_id, turn_id, agent, record.at, record.seq, locked)
                return [(self._sql["start_turn"], row)]
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
