"""What a person may spend in a day, counted from the journal itself: all sessions, of all processes (M-16).

A count is kept in memory and brought up to date from the rows that are new. What decides is counted once more within
the transaction that would spend: of two turns that want the last call, one gets it, whichever process they run in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from oribi.core.errors import QuotaSpent
from oribi.core.events import ModelAsked, SessionOpened, ToolStarted
from oribi.journal.database import execute, said
from oribi.journal.queries import queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import apsw

    from oribi.core.calls import SessionId
    from oribi.core.events import Recorded
    from oribi.journal.writer import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLimits:
    """Upper bounds for one principal and day; None means no bound.

    `model_calls` and `tool_calls` may begin. With `total_tokens` (input and output together) spent, no further model
    call begins; those under way may go beyond it.
    """

    model_calls: int | None = None
    tool_calls: int | None = None
    total_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The limits for everybody, and those of the `principals` that have their own."""

    everybody: DailyLimits = field(default_factory=DailyLimits)
    principals: Mapping[str, DailyLimits] = field(default_factory=dict[str, DailyLimits])

    def limits_of(self, principal: str) -> DailyLimits:
        """What `principal` may spend in a day."""
        return self.principals.get(principal, self.everybody)


@dataclass(slots=True)
class _Count:
    model_calls: int = 0
    tool_calls: int = 0
    total_tokens: int = 0

    def add(self, model_calls: int, tool_calls: int, total_tokens: int) -> None:
        self.model_calls += model_calls
        self.tool_calls += tool_calls
        self.total_tokens += total_tokens


class DailyQuota:
    """The `Quota` port over the journal's database. Days are those of `zone`, an IANA name.

    `reader` is a connection to the database that is not in a transaction.
    """

    def __init__(self, quota: Quota, zone: str, reader: apsw.Connection, path: Path) -> None:
        self._quota = quota
        self._zone = ZoneInfo(zone)
        self._reader = reader
        self._path = path
        self._sql = queries()
        self._day: tuple[int, int] = (0, 0)
        self._row: int = 0
        self._counts: dict[str, _Count] = {}
        self._principals: dict[SessionId, str] = {}

    def spent(self, principal: str, now: int) -> str | None:
        """The limit that leaves no room for another model call, as in `daily model_calls`; None: there is room.

        Raises:
            JournalError: The journal cannot be read.

        """
        limits = self._quota.limits_of(principal)
        if limits.model_calls is None and limits.total_tokens is None:
            return None
        count = self._count(principal, now)
        for name in ("model_calls", "total_tokens"):
            most: int | None = getattr(limits, name)
            if most is not None and getattr(count, name) >= most:
                return f"daily {name}"
        return None

    def tool_calls_left(self, principal: str, now: int) -> int | None:
        """How many more tool calls may begin today; None means any number.

        Raises:
            JournalError: The journal cannot be read.

        """
        most = self._quota.limits_of(principal).tool_calls
        return None if most is None else max(0, most - self._count(principal, now).tool_calls)

    def spent_since_midnight(self, principal: str, now: int) -> tuple[int, int, int]:
        """Model calls and tool calls that began today, and tokens.

        Raises:
            JournalError: The journal cannot be read.

        """
        count = self._count(principal, now)
        return count.model_calls, count.tool_calls, count.total_tokens

    def checks(self, records: Sequence[Recorded]) -> list[tuple[Statement, QuotaSpent]]:
        """What must hold once `records` are written: each statement changes one row if it does."""
        first = records[0]
        if isinstance(first.event, SessionOpened) and first.event.forked_from is not None:
            return []  # they were spent by the session that is forked
        wanted = [
            name for kind, names in _SPENDING for name in names if any(isinstance(r.event, kind) for r in records)
        ]
        principal = self._principal(first) if wanted else ""
        limits = {name: getattr(self._quota.limits_of(principal), name) for name in wanted}
        bounds: dict[str, int] = {name: most for name, most in limits.items() if most is not None}
        if not bounds:
            return []
        count = self._count(principal, records[-1].at)
        checks: list[tuple[Statement, QuotaSpent]] = []
        for name, most in bounds.items():
            values = (first.session_id, most, getattr(count, name), self._row, principal, *self._day)
            checks.append(((self._sql[f"keep_{name}"], values), QuotaSpent(f"daily {name}", principal, most)))
        return checks

    def forget(self, session_id: SessionId) -> None:
        """Forget what is kept of a session that is not driven any more."""
        self._principals.pop(session_id, None)

    def _principal(self, record: Recorded) -> str:
        """For whom the session of `record`, the first of those to be written, is."""
        if isinstance(record.event, SessionOpened):
            self._principals[record.session_id] = record.event.principal
        elif record.session_id not in self._principals:
            with said(self._path):
                [(principal,)] = execute(self._reader, self._sql["principal_of"], (record.session_id,))
            self._principals[record.session_id] = principal
        return self._principals[record.session_id]

    def _count(self, principal: str, now: int) -> _Count:
        """What `principal` has spent today, as of the last commit."""
        day = self._day_of(now)
        with said(self._path):
            execute(self._reader, "BEGIN")  # one state for all the questions
            try:
                if day != self._day:
                    self._day, self._counts = day, {}
                if self._counts:
                    for name, *spent in execute(self._reader, self._sql["spent_after"], (self._row, *day)):
                        if name in self._counts:
                            self._counts[name].add(*spent)
                if principal not in self._counts:
                    [spent] = execute(self._reader, self._sql["spent_since"], (principal, *day))
                    self._counts[principal] = _Count(*spent)
                [(last,)] = execute(self._reader, self._sql["last_row"])
                self._row = int(last)
            finally:
                execute(self._reader, "ROLLBACK")
        return self._counts[principal]

    def _day_of(self, now: int) -> tuple[int, int]:
        """When the day of `now` began, and when the next one does: what a clock that was ahead wrote is of another."""
        midnight = datetime.fromtimestamp(now / 1e6, self._zone).replace(
            hour=0, minute=0, second=0, microsecond=0, fold=0
        )
        following = midnight + timedelta(days=1)  # by the wall clock, whatever the length of the day
        return int(midnight.timestamp()) * 1_000_000, int(following.timestamp()) * 1_000_000


_SPENDING = ((ModelAsked, ("model_calls", "total_tokens")), (ToolStarted, ("tool_calls",)))
"""Which events spend, and the limits that must leave room for them."""
