"""The options that every command has, before or behind its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import click


@dataclass(slots=True, kw_only=True)
class Flags:
    """What the global options say. `workspace` None: found upward from the current folder, or ORIBI_HOME."""

    workspace: str | None = None
    verbose: bool = False
    no_color: bool = False


Decorated = TypeVar("Decorated", bound=Callable[..., object])


def examples(*lines: str) -> str:
    """The examples at the end of a command's help, each on a line of its own."""
    return "\b\nExamples:\n" + "".join(f"  {line}\n" for line in lines)


def global_options(*, hidden: bool = True) -> Callable[[Decorated], Decorated]:
    """Add the global options to a command; hidden on all but the first, since the first one's help explains them."""

    def decorate(function: Decorated) -> Decorated:
        options = (
            click.option(
                "--workspace",
                metavar="PATH",
                expose_value=False,
                hidden=hidden,
                callback=_set_workspace,
                help="The project folder or its .oribi. [default: ORIBI_HOME, else found upward from here]",
            ),
            click.option(
                "--verbose",
                is_flag=True,
                expose_value=False,
                hidden=hidden,
                callback=_set_verbose,
                help="Log to stderr what happens, also what each prompt holds; show tracebacks.",
            ),
            click.option(
                "--no-color",
                is_flag=True,
                expose_value=False,
                hidden=hidden,
                callback=_set_no_color,
                help="No colours; so does the variable NO_COLOR.",
            ),
        )
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _set_workspace(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        _flags(ctx).workspace = value


def _set_verbose(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it so
    if value:
        _flags(ctx).verbose = True


def _set_no_color(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it so
    if value:
        _flags(ctx).no_color = True


def _flags(ctx: click.Context) -> Flags:
    return ctx.ensure_object(Flags)
