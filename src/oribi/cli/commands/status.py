"""`oribi status`: the state of the workspace."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from pathlib import Path


@click.command("status", epilog=examples("oribi status", "oribi status --json | jq .ends"))
@global_options()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def command(flags: Flags, *, as_json: bool) -> None:
    """Show the state of the workspace.

    Its agents, its journal and who writes it, open turns, how turns ended, and the sandbox. A high share of max_steps
    means that a model goes round in circles.
    """
    import shutil

    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.cli.wording import bytes_text, counted, safe
    from oribi.journal.workers import living_workers

    with open_to_look(flags) as app:
        workspace, config = app.workspace, app.config
        agents = app.agents.list()
        has_journal = workspace.database.exists()
        waiting = app.open_turns() if has_journal else []
        ends = ends_of(workspace.database) if has_journal else Counter[str]()
    size = sum(_size(workspace.database.with_name(workspace.database.name + end)) for end in ("", "-wal"))
    writers = [f"process {worker.split('-')[0]}" for worker in living_workers(workspace.database)]
    bubblewrap = shutil.which("bwrap")
    broken = [agent.name for agent in agents if agent.problem is not None]
    if as_json:
        print_json(
            {
                "root": str(workspace.root),
                "home": str(workspace.home),
                "default_model": config.default_model,
                "agents": [agent.name for agent in agents],
                "broken_agents": broken,
                "database": str(workspace.database),
                "database_bytes": size,
                "writers": writers,
                "open_turns": waiting,
                "ends": dict(ends),
                "bubblewrap": bubblewrap,
            }
        )
        return
    use = f"in use by {', '.join(writers)}" if writers else "no writer"
    total = sum(ends.values())
    shares = ", ".join(f"{name} {count:,} ({100 * count / total:.0f}%)" for name, count in ends.most_common())
    lines = [
        ("workspace", str(workspace.home)),
        ("model", config.default_model or "no default; set default_model in oribi.toml"),
        ("agents", counted(len(agents), "agent") + (f"; broken: {', '.join(broken)}" if broken else "")),
        ("journal", f"{bytes_text(size)}, {use}" if has_journal else "none"),
        ("turns", shares or "none yet"),
        ("open", f"{', '.join(waiting)}; `oribi resume` continues them" if waiting else "none"),
        ("sandbox", f"bubblewrap at {bubblewrap}" if bubblewrap else "bubblewrap not found"),
    ]
    print_text("".join(f"{name:<10} {safe(text)}\n" for name, text in lines))


def ends_of(database: Path) -> Counter[str]:
    """How many turns ended how (T-14), over all agents; `open` for those that have not.

    Raises:
        JournalError: The journal cannot be read.

    """
    from oribi.cli.wording import end_label
    from oribi.journal.database import connect_to_read, execute, said

    connection = connect_to_read(database)
    try:
        with said(database):
            rows = execute(connection, "SELECT turn_end, sum(turns) FROM turn_ends GROUP BY turn_end")
    finally:
        connection.close()
    return Counter({end_label(name): count for name, count in rows})


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
