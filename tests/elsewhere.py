"""A second connection to a journal, as another process would have it."""

from pathlib import Path
from typing import Any

import apsw

from oribi.journal.database import execute


def elsewhere(database: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement over a connection of its own."""
    connection = apsw.Connection(str(database))
    try:
        return execute(connection, sql, values)
    finally:
        connection.close()
