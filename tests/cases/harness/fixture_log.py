"""What the fixture tools noted of their calls, outside the product."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict


@dataclass(frozen=True, slots=True)
class FixtureLog:
    """The log of one play. It may grow while it is read."""

    file: Path

    def entries(self) -> list[JsonDict]:
        """All lines so far."""
        if not self.file.exists():
            return []
        whole = self.file.read_bytes().rpartition(b"\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def count(self, named: str, event: str) -> int:
        """How many lines there are of a tool, named as in the case (`@server.tool`), and a kind of event."""
        return sum(entry["event"] == event and _is_of(entry, named) for entry in self.entries())

    def arguments(self, named: str) -> list[JsonDict]:
        """The arguments of each run of a tool, in the order of their starts."""
        return [entry["args"] for entry in self.entries() if entry["event"] == "start" and _is_of(entry, named)]

    def most_at_once(self, named: str | None = None) -> int:
        """The most runs, of one tool or of any, that were under way at one time."""
        most = running = 0
        for entry in sorted(self.entries(), key=lambda entry: entry["at"]):
            if named is None or _is_of(entry, named):
                running += {"start": 1, "end": -1}.get(entry["event"], 0)
                most = max(most, running)
        return most


def _is_of(entry: JsonDict, named: str) -> bool:
    server, _, tool = named.removeprefix("@").partition(".") if named.startswith("@") else ("fx", "", named)
    return entry["tool"] == (tool or server) and entry.get("server", "fx") == (server if tool else "fx")
