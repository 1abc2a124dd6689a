"""A journal in memory, with the contract of the durable ones: one writer per session, all records or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oribi.core.errors import JournalError, LeaseLost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.calls import SessionId
    from oribi.core.events import Recorded
    from oribi.core.mail import Letter


@dataclass(slots=True)
class _Stored:
    epoch: int = 0
    records: list[Recorded] = field(default_factory=list["Recorded"])


class MemoryJournal:
    """The `Journal` port over a dict. It outlives the sessions on it, so a test can drop them and open them again.

    `commits` counts the appends that made something durable.
    """

    def __init__(self) -> None:
        self.commits = 0
        self._sessions: dict[SessionId, _Stored] = {}

    async def open_session(self, session_id: SessionId) -> int:
        stored = self._sessions.setdefault(session_id, _Stored())
        stored.epoch += 1
        return stored.epoch

    def joining_letters(self, session_id: SessionId, after: int) -> list[Letter]:
        """Nothing ever waits: there is no other process."""
        return []

    def read(self, session_id: SessionId, after: int = 0) -> list[Recorded]:
        stored = self._sessions.get(session_id)
        return [] if stored is None else stored.records[after:]

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        stored = self._sessions.get(session_id, _Stored())
        if epoch != stored.epoch:
            raise LeaseLost(
                f"session {session_id} is at epoch {stored.epoch}, not {epoch}: "
                "another writer took it over; open it again to write to it"
            )
        if not records:
            return
        expected = len(stored.records) + 1
        if records[0].seq < expected:
            raise LeaseLost(
                f"session {session_id} already has record {records[0].seq}: another writer appended it; open it again"
            )
        for seq, record in enumerate(records, start=expected):
            if record.seq != seq or record.session_id != session_id:
                raise JournalError(
                    f"session {session_id} expects its record {seq} next, "
                    f"not record {record.seq} of session {record.session_id}; nothing was written"
                )
        stored.records += records
        self.commits += 1

    def sessions(self) -> list[SessionId]:
        """The sessions that were ever opened here, oldest first."""
        return list(self._sessions)
