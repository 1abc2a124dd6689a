"""Colour, where it helps and is wanted; every text can be read without it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """Wraps texts in the terminal's colours, or leaves them as they are."""

    enabled: bool

    def bold(self, text: str) -> str:
        """What the eye should find first."""
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        """What may be passed over."""
        return self._wrap("2", text)

    def red(self, text: str) -> str:
        """What failed."""
        return self._wrap("31", text)

    def green(self, text: str) -> str:
        """What succeeded."""
        return self._wrap("32", text)

    def yellow(self, text: str) -> str:
        """What wants attention."""
        return self._wrap("33", text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.enabled and text else text


PLAIN = Paint(enabled=False)


def paint_for(stream: TextIO, *, no_color: bool) -> Paint:
    """Colours if `stream` is a terminal that has them and nobody asked for none (NO_COLOR, --no-color)."""
    wanted = not no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Paint(enabled=wanted and stream.isatty())
