"""The log on stderr: warnings by default, everything with --verbose, also what each prompt holds (O-31)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from oribi.cli.wording import safe

if TYPE_CHECKING:
    from collections.abc import Callable


class _Writer(logging.Handler):
    """Hands each log line to a function."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(f"{record.levelname.lower()}: {record.name}: {safe(record.getMessage())}\n")
        except Exception:  # noqa: BLE001 - the contract of logging: a log line never breaks what it tells of
            self.handleError(record)


def start_logging(write: Callable[[str], None], level: str) -> None:
    """Send what Oribi logs from `level` (`debug`, `info`, `warning`, `error`) on to `write`."""
    logger = logging.getLogger("oribi")
    logger.handlers = [_Writer(write)]
    logger.setLevel(level.upper())
    logger.propagate = False
