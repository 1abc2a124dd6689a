"""The named queries of queries.sql."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def queries() -> dict[str, str]:
    """Each query by its name."""
    text = (files("oribi.journal") / "queries.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations, in order, as (number, SQL)."""
    folder = files("oribi.journal") / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name.split("_", 1)[0]), (folder / name).read_text(encoding="utf-8")) for name in names]
