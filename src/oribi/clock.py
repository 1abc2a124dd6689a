"""The system clock, as the `Clock` port."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo


class SystemClock:
    """Wall-clock time; `zone` is an IANA name such as `Europe/Berlin` (default UTC)."""

    def __init__(self, zone: str = "UTC") -> None:
        self._zone = ZoneInfo(zone)
        self._name = zone

    def now(self) -> int:
        """Microseconds since the epoch, UTC."""
        return time.time_ns() // 1000

    def local_line(self) -> str:
        """For example `Current date and time: Monday, 2026-11-30 14:05 (Europe/Berlin)`."""
        local = datetime.fromtimestamp(self.now() / 1e6, UTC).astimezone(self._zone)
        return f"Current date and time: {local:%A, %Y-%m-%d %H:%M} ({self._name})"
