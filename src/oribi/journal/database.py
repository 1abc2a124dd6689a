"""Opening the SQLite file: pragmas, migrations, and what a person is told when it cannot be opened or written."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import apsw

from oribi.core.errors import JournalError
from oribi.journal.queries import migrations

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

Synchronous: TypeAlias = Literal["full", "normal"]
"""`full` survives a power cut after each commit; `normal` survives a crash of the process only."""

Value: TypeAlias = "str | int | bytes | None"

BUSY_MILLISECONDS = 10_000
_FULL_BYTES = 128 * 1024


def connect(path: Path, *, synchronous: Synchronous = "full") -> apsw.Connection:
    """Open the journal for writing; make it if there is none.

    Raises:
        JournalError: It is not a database, is of an older schema, is from a newer version, or cannot be written.

    """
    with said(path):
        connection = _open_to_write(path)
        execute(connection, f"PRAGMA synchronous = {synchronous.upper()}")
        if _known_version(connection, path) == 0:
            execute(connection, "BEGIN IMMEDIATE")
            with connection:  # commits, or rolls all of it back
                if _known_version(connection, path) == 0:  # another process may have been quicker
                    _run_migrations(connection, after=0)
            execute(connection, "COMMIT")
        require_present_schema(connection, path)
    return connection


def connect_alone(path: Path, *, keeps_copy: bool = True) -> apsw.Connection:
    """Open the journal for writing and bring it to the present schema. Nobody else may have it open for writing.

    Before it is migrated, a backup is made, unless there is nothing in it or `keeps_copy` is false.

    Raises:
        JournalError: It is not a database, is from a newer version, or cannot be written or backed up.

    """
    with said(path):
        connection = _open_to_write(path)
        if (version := _known_version(connection, path)) < migrations()[-1][0]:
            execute(connection, "BEGIN IMMEDIATE")
            with connection:
                if keeps_copy:
                    from oribi.journal.backup import back_up_before_migration  # which opens databases by this module

                    back_up_before_migration(connection, path)
                _run_migrations(connection, after=version)
            execute(connection, "COMMIT")
    return connection


def is_older(path: Path) -> bool:
    """Whether there is a journal of an older schema: one that has to be migrated before it is written.

    Raises:
        JournalError: It is not a database, or is from a newer version.

    """
    if not path.exists():
        return False
    connection = connect_to_read(path)
    try:
        return 0 < _known_version(connection, path) < migrations()[-1][0]
    finally:
        connection.close()


def connect_to_read(path: Path) -> apsw.Connection:
    """Open the journal read-only; works beside a writer.

    Raises:
        JournalError: There is none, it is not a database, or it is from a newer version.

    """
    if not path.exists():
        raise JournalError(f"there is no journal at {path} yet; `oribi run` makes it")
    with said(path):
        try:
            connection = _open_to_read(path.as_uri())
        except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError):
            log = path.with_name(path.name + "-wal")
            if log.exists() and log.stat().st_size > 0:
                raise
            # a full or read-only disk has no room for the file that readers share; nobody can be writing there either
            connection = _open_to_read(path.as_uri() + "?immutable=1")
        _known_version(connection, path)
    return connection


def require_present_schema(connection: apsw.Connection, path: Path) -> None:
    """Refuse a journal that has to be migrated before it can be read.

    Raises:
        JournalError: It is of an older schema.

    """
    version, newest = _known_version(connection, path), migrations()[-1][0]
    if version < newest:
        raise JournalError(
            f"the journal {path} is of an older version (schema {version}; this one reads {newest}): "
            "`oribi db migrate` brings it up to date, with a backup first, and so does any command that writes"
        )


def _open_to_write(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    _use_wal(connection)
    execute(connection, "PRAGMA secure_delete = ON")  # what is erased leaves no trace in free pages
    return connection


def _use_wal(connection: apsw.Connection) -> None:
    """Switch the file to WAL; two processes that make it at the same moment wait for each other."""
    patience_seconds, pause_seconds = BUSY_MILLISECONDS / 1000, 0.02
    while True:
        try:
            execute(connection, "PRAGMA journal_mode = WAL")
        except apsw.BusyError:  # this statement does not keep to the busy timeout
            patience_seconds -= pause_seconds
            if patience_seconds <= 0:
                raise
            time.sleep(pause_seconds)
        else:
            return


def _open_to_read(uri: str) -> apsw.Connection:
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    execute(connection, "SELECT count(*) FROM sqlite_schema")
    return connection


def _known_version(connection: apsw.Connection, path: Path) -> int:
    version: int = execute(connection, "PRAGMA user_version")[0][0]
    newest = migrations()[-1][0]
    if version > newest:
        raise JournalError(
            f"the journal {path} was written by a newer Oribi (schema {version}; this one knows up to {newest}): "
            "upgrade Oribi to use it. Nothing was changed."
        )
    return version


def _run_migrations(connection: apsw.Connection, *, after: int) -> None:
    for number, script in migrations():
        if number > after:
            execute(connection, script)
            execute(connection, f"PRAGMA user_version = {number}")


def execute(connection: apsw.Connection, sql: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
    """Run one statement and return all its rows, untyped as SQL leaves them."""
    # apsw's types name a Buffer that Python 3.11 lacks
    cursor: Any = connection.execute(sql, values)  # pyright: ignore[reportUnknownMemberType]
    return cast("list[tuple[Any, ...]]", cursor.fetchall())


@contextmanager
def said(path: Path) -> Generator[None]:
    """Turn SQLite's errors into a `JournalError` that names the file and the remedy."""
    try:
        yield
    except apsw.FullError as error:
        raise _disk_full(path) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise JournalError(f"the journal {path} is read-only; make it and its folder writable.") from error
    except apsw.CantOpenError as error:
        raise JournalError(f"cannot open the journal {path}; check that its folder exists and is writable.") from error
    except apsw.BusyError as error:
        raise locked_error(path, BUSY_MILLISECONDS / 1000) from error
    except apsw.NotADBError as error:
        raise JournalError(
            f"{path} is not an Oribi journal (not a SQLite database); move it away to start anew."
        ) from error
    except apsw.CorruptError as error:
        raise JournalError(f"the journal {path} is damaged ({error}); restore it from a backup.") from error
    except apsw.IOError as error:
        if _is_full(path):  # the file beside the log that readers share could not grow, for example
            raise _disk_full(path) from error
        raise JournalError(f"the journal {path} could not be read or written: {error}") from error


def locked_error(path: Path, seconds: float) -> JournalError:
    """What a person is told when another program held the file for `seconds`."""
    return JournalError(
        f"the journal {path} is locked by another program for over {seconds:g} s; "
        "close what holds it and try again. Nothing unrecorded was done."
    )


def _disk_full(path: Path) -> JournalError:
    return JournalError(f"the disk is full: {path} could not be written. Free some space; nothing was lost.")


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _FULL_BYTES
    except OSError:
        return False
