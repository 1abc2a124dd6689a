"""After a play: every session that it recorded is replayed exactly, in this process, with sockets closed (G5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import oribi
from oribi.core.errors import ConfigError, JournalError
from oribi.core.events import Erased

if TYPE_CHECKING:
    from pathlib import Path


async def unlike_their_record(workspace: Path) -> list[str]:
    """What does not replay as it was recorded, a sentence for each session.

    Left out: a store or settings that a play broke on purpose, a provider it has removed, and erased content.
    """
    try:
        app = oribi.open(workspace, read_only=True)
    except ConfigError:
        return []
    found: list[str] = []
    async with app:
        try:
            sessions = [row.session_id for row in app.sessions(100_000)] if app.workspace.database.exists() else []
            records = {name: app.records(name) for name in sessions}
        except JournalError:
            return []
        for name, recorded in records.items():
            if any(isinstance(record.event, Erased) for record in recorded):
                continue
            try:
                replayed = await app.replay(name)
            except ConfigError:
                continue
            if replayed.divergence is not None:
                found.append(f"session {name} does not replay: {replayed.divergence}")
            elif replayed.events != len(recorded):
                found.append(f"session {name}: {replayed.events} of {len(recorded)} records were replayed")
    return found
