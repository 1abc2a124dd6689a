"""What the commands that only look share: the workspace opened to read, its JSON and its tables on stdout."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from oribi.cli.logs import start_logging
from oribi.cli.paint import Paint, paint_for
from oribi.cli.wording import json_page, safe, table, terminal_columns

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from oribi.app import App
    from oribi.cli.flags import Flags


@contextmanager
def open_to_look(flags: Flags) -> Generator[App]:
    """The workspace, to read only: another process may be writing.

    Raises:
        ConfigError: There is no workspace, or its settings are wrong.
        JournalError: The journal cannot be read.

    """
    import anyio

    from oribi.opening import open_app

    def report(text: str) -> None:
        for line in text.splitlines():
            click.echo(f"note: {safe(line)}", err=True)

    app = open_app(flags.workspace, read_only=True, report=report)
    start_logging(lambda text: click.echo(text, err=True, nl=False), "debug" if flags.verbose else app.config.log_level)
    try:
        yield app
    finally:
        anyio.run(app.close)


def stdout_paint(flags: Flags) -> Paint:
    """Colours for stdout."""
    return paint_for(sys.stdout, no_color=flags.no_color)


def stdout_columns() -> int:
    """How wide lines on stdout may be."""
    return terminal_columns(is_terminal=sys.stdout.isatty())


def print_text(text: str) -> None:
    """Put text on stdout as it is."""
    sys.stdout.write(text)


def print_json(value: object) -> None:
    """Put `value` on stdout as JSON."""
    print_text(json_page(value))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Put rows on stdout, the first of them as the head."""
    print_text(table(rows, stdout_columns()))
