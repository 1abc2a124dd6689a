"""The hash chain over a session's records: what makes an edited, missing or reordered row show (G6).

`hash = SHA-256(previous hash + header + SHA-256(payload))`: the payload enters by its own hash, so that an erased
payload leaves a row that still verifies (ADR 0010). The first record's previous hash is 32 zero bytes. The header is
`session_id seq turn_id type version at`, joined by the unit separator (0x1f), UTF-8; a missing turn id is empty.
"""

from __future__ import annotations

import hashlib

GENESIS = bytes(32)


def chain_hash(
    previous: bytes,
    *,
    session_id: str,
    seq: int,
    turn_id: str | None,
    type_name: str,
    version: int,
    at: int,
    payload_sha256: bytes,
) -> bytes:
    """The 32-byte hash of one record that follows `previous`; `payload_sha256` are 32 bytes too.

    Of an erased record it is the hash of the payload that stood there before.
    """
    header = f"{session_id}\x1f{seq}\x1f{turn_id or ''}\x1f{type_name}\x1f{version}\x1f{at}"
    return hashlib.sha256(previous + header.encode() + payload_sha256).digest()
