"""`oribi test`: the agents as they are, held against recorded sessions; for a user's own CI, offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from pathlib import Path

    from oribi.app import App


@click.command("test", epilog=examples("oribi test", "oribi test tests/refund.json", "oribi test --json | jq .changed"))
@global_options()
@click.argument("files", nargs=-1, metavar="[FILE|DIR]...")
@click.option("--json", "as_json", is_flag=True, help="Put the outcome on stdout as one JSON object.")
@click.pass_obj
def command(flags: Flags, *, files: tuple[str, ...], as_json: bool) -> int:
    """Hold the agents as they are against recorded sessions.

    Each FILE that "oribi record" made is compared with its agent, offline: would it send the same requests? What
    changed is shown, and the exit code is 1. To accept a change, record the session anew. Without FILE, all in tests/
    of the workspace. What an agent remembers, and the date, are the recorded ones.
    """
    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.core.errors import ConfigError

    with open_to_look(flags) as app:
        found = _files(app, files)
        if not found:
            raise ConfigError("no test files; `oribi record SESSION` makes one")
        outcomes = [(file, *_outcome(app, file)) for file in found]
    changed = sum(changes > 0 for _, changes, _ in outcomes)
    if as_json:
        rows = [{"file": str(file), "changes": changes} for file, changes, _ in outcomes]
        print_json({"files": rows, "changed": changed})
    else:
        parts = [f"changed  {file}\n{text}" if changes else f"ok       {file}\n" for file, changes, text in outcomes]
        print_text("".join(parts) + f"{len(outcomes)} tested, {changed} changed\n")
    return 1 if changed else 0


def _files(app: App, named: tuple[str, ...]) -> list[Path]:
    from pathlib import Path

    found: list[Path] = []
    for path in [Path(name) for name in named] or [app.workspace.home / "tests"]:
        found += sorted(path.glob("*.json")) if path.is_dir() else [path] if named else []
    return found


def _outcome(app: App, file: Path) -> tuple[int, str]:
    """How many requests of a test file would change, and where."""
    from oribi.cli.commands.replay import compared_text
    from oribi.core.errors import OribiError
    from oribi.replay.cassette import read_cassette

    try:
        agent, _, records = read_cassette(file)
        compared = app.compare(records, agent)
    except OribiError as error:  # the others are compared all the same
        return 1, f"  cannot be compared: {error}\n"
    return len(compared.changes), compared_text(compared)
