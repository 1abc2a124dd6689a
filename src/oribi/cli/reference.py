"""The reference of the command line, made from the commands themselves for docs/reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.exits import EXITS
from oribi.cli.root import HELP_OPTIONS, root

if TYPE_CHECKING:
    from collections.abc import Iterator


def help_pages() -> Iterator[tuple[str, str]]:
    """Every command as a person types it, such as `oribi agents new`, and its help, 80 columns wide."""
    return _pages(root, click.Context(root, info_name="oribi", terminal_width=80, help_option_names=HELP_OPTIONS))


def help_markdown() -> str:
    """All help pages, a section for each command."""
    return "\n".join(f"## {name}\n\n```text\n{text}\n```\n" for name, text in help_pages())


def exits_markdown() -> str:
    """The table of exit codes."""
    rows = "".join(f"| {one.code} | {one.name} | {one.meaning} |\n" for one in EXITS)
    return f"| code | name | meaning |\n| ---: | --- | --- |\n{rows}"


def _pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _pages(inner, click.Context(inner, info_name=name, parent=context, terminal_width=80))
