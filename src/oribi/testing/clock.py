"""A clock that stands still until a test moves it, as the `Clock` port."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ManualClock:
    """Time that passes only by `advance`.

    `start` is the first moment (default 2026-01-05 09:00 UTC, a Monday); it must have a time zone. `zone` is an IANA
    name such as `Europe/Berlin` (default UTC) for the prompt's date line.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC), *, zone: str = "UTC") -> None:
        if start.tzinfo is None:
            raise ValueError(f"start {start!r} has no time zone; give one, such as datetime.UTC")
        self._now = (start - _EPOCH) // timedelta(microseconds=1)
        self._zone = ZoneInfo(zone)
        self._name = zone

    def now(self) -> int:
        return self._now

    def local_line(self) -> str:
        local = (_EPOCH + timedelta(microseconds=self._now)).astimezone(self._zone)
        return f"Current date and time: {local:%A, %Y-%m-%d %H:%M} ({self._name})"

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass. Time does not go back: a negative number is a `ValueError`."""
        if seconds < 0:
            raise ValueError(f"cannot advance by {seconds!r} seconds; time does not go back")
        self._now += round(seconds * 1_000_000)
