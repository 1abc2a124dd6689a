"""Regression test files: a recorded session as one JSON file, to be compared with the agent as it is at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from oribi.core.calls import SessionId, TurnId
from oribi.core.errors import ConfigError, JournalError
from oribi.core.events import Recorded, SessionOpened
from oribi.journal.codec import VERSION, decode_event, encode_event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORMAT = "oribi-test/1"


def write_cassette(records: Sequence[Recorded]) -> bytes:
    """The file's content for a session's `records`, in order from the first."""
    blobs: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for record in records:
        payload, apart = encode_event(record.event)
        blobs |= {digest: body.decode() for digest, body in apart.items()}
        rows.append(
            {
                "seq": record.seq,
                "turn_id": record.turn_id,
                "type": type(record.event).__name__,
                "at": record.at,
                "payload": msgspec.json.decode(payload),
            }
        )
    opened = records[0].event if records else None
    agent = opened.agent if isinstance(opened, SessionOpened) else ""
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "agent": agent,
        "session_id": records[0].session_id if records else "",
        "records": rows,
        "blobs": blobs,
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n"


def read_cassette(path: Path) -> tuple[str, SessionId, list[Recorded]]:
    """The agent's name, the session's id and its records, from a file that `write_cassette` made.

    Raises:
        ConfigError: The file cannot be read, or is no such file.

    """
    try:
        raw: dict[str, Any] = msgspec.json.decode(path.read_bytes())
        if raw["format"] != FORMAT:
            raise ConfigError(f"{path}: its format is {raw['format']!r}, not {FORMAT!r}; record it anew")
        if raw["version"] > VERSION:
            raise ConfigError(f"{path} was written by a newer Oribi; upgrade to read it")
        blobs: dict[str, str] = raw["blobs"]
        session_id = SessionId(raw["session_id"])
        records = [
            Recorded(
                session_id=session_id,
                seq=row["seq"],
                turn_id=None if row["turn_id"] is None else TurnId(row["turn_id"]),
                at=row["at"],
                event=decode_event(row["type"], msgspec.json.encode(row["payload"]), lambda key: blobs[key].encode()),
            )
            for row in raw["records"]
        ]
        return raw["agent"], session_id, records
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}); name a file that `oribi record` made") from error
    except (msgspec.DecodeError, JournalError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is no test file that `oribi record` made ({error}); record it anew") from error
