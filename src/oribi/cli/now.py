"""The time for what is shown to a person; what is recorded has the Clock port."""

from __future__ import annotations

import time


def now() -> int:
    """Microseconds since the epoch."""
    return time.time_ns() // 1000
