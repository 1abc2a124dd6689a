"""`oribi db`: care of the database file: checked, backed up, pruned, made smaller, migrated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from pathlib import Path

    from oribi.journal.prune import Pruned

DAY_MICROSECONDS = 86_400 * 1_000_000


@click.group("db", epilog=examples("oribi db check", "oribi db backup", "oribi db prune --older 90 --dry-run"))
@global_options()
def command() -> None:
    """Check, back up, prune, shrink and migrate the database.

    `check` and `backup` work while turns run. The others need the database for themselves: no turn may be under way.
    """


@command.command("check", epilog=examples("oribi db check", "oribi db check --json | jq .problems"))
@global_options()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def check_command(flags: Flags, *, as_json: bool) -> int:
    """Check all of the database.

    SQLite's own structures, what the tables say of each other, and the chain and the content of every session. Nothing
    is changed. The exit code is 1 when there are problems.
    """
    from dataclasses import asdict

    from oribi.cli.looking import print_json, print_text
    from oribi.cli.wording import bytes_text, counted, safe
    from oribi.journal.care import check

    checked = check(_database(flags))
    if as_json:
        print_json(asdict(checked))
    else:
        size = f"{counted(checked.sessions, 'session')}, {counted(checked.records, 'record')}"
        newest = "" if checked.schema == checked.newest_schema else f" (newest: {checked.newest_schema})"
        print_text(f"{size}, {bytes_text(checked.bytes)}, schema {checked.schema}{newest}\n")
        print_text("".join(f"problem: {safe(problem)}\n" for problem in checked.problems) or "no problems\n")
    if checked.problems and not as_json:
        click.echo("hint: restore the database from a backup; docs/guides/storage.md says how", err=True)
    return 1 if checked.problems else 0


@command.command("backup", epilog=examples("oribi db backup", "oribi db backup --to /mnt/elsewhere/oribi.db"))
@global_options()
@click.option("--to", "target", metavar="FILE", help="The new file. [default: backups/ beside the database]")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def backup_command(flags: Flags, *, target: str | None, as_json: bool) -> None:
    """Copy the database as it is at this moment, while others may write.

    The copy is checked and on the disk when this ends. No file that is there is overwritten.
    """
    from pathlib import Path

    from oribi.cli.looking import print_json, print_text
    from oribi.cli.wording import bytes_text, counted, safe
    from oribi.journal.backup import back_up

    made = back_up(_database(flags), None if target is None else Path(target).absolute())
    if as_json:
        print_json({"file": str(made.file), "bytes": made.bytes, "sessions": made.sessions})
    else:
        print_text(f"{safe(str(made.file))}\n")
        click.echo(f"{counted(made.sessions, 'session')}, {bytes_text(made.bytes)}; checked", err=True)


@command.command("prune", epilog=examples("oribi db prune --older 90 --dry-run", "oribi db prune --older 365 --yes"))
@global_options()
@click.option("--older", "days", metavar="DAYS", required=True, type=click.IntRange(min=0), help="Unused for so long.")
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def prune_command(flags: Flags, *, days: int, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Delete whole sessions that were not used for a time.

    With their records, turns and letters, and the content that nothing else refers to. A session with an open turn, or
    with a letter that waits, stays. `pruned.jsonl` beside the database keeps where each chain ended. There is no way
    back but a backup; `oribi db vacuum` then makes the file smaller.
    """
    import sys

    from oribi.cli.now import now
    from oribi.cli.wording import counted
    from oribi.journal.prune import prune, would_prune

    database = _database(flags)
    before = now() - days * DAY_MICROSECONDS
    if dry_run or not yes:
        found = would_prune(database, before=before)
        if dry_run or not found.sessions:
            _print_pruned(found, as_json=as_json, verb="would be deleted")
            return
        if not sys.stdin.isatty():
            raise click.UsageError(
                f"{counted(len(found.sessions), 'session')} would be deleted; add --yes, or see them with --dry-run",
                click.get_current_context(),
            )
        click.confirm(f"Delete {counted(len(found.sessions), 'session')}?", abort=True, err=True)
    _print_pruned(prune(database, before=before), as_json=as_json, verb="deleted")


@command.command("vacuum", epilog=examples("oribi db vacuum"))
@global_options()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def vacuum_command(flags: Flags, *, as_json: bool) -> None:
    """Rewrite the database without its gaps, and empty its log.

    Needs up to twice the size of the database in free space while it runs.
    """
    from oribi.cli.looking import print_json, print_text
    from oribi.cli.wording import bytes_text
    from oribi.journal.care import vacuum

    done = vacuum(_database(flags))
    if as_json:
        print_json({"bytes_before": done.before, "bytes_after": done.after})
    else:
        print_text(f"before {bytes_text(done.before)}, after {bytes_text(done.after)}\n")


@command.command("migrate", epilog=examples("oribi db migrate"))
@global_options()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def migrate_command(flags: Flags, *, as_json: bool) -> None:
    """Bring the database to the schema of this version, after a backup.

    Whatever writes to it does the same by itself; this is for doing it at a time of your choice.
    """
    from oribi.cli.looking import print_json, print_text
    from oribi.cli.wording import safe
    from oribi.journal.care import migrate

    done = migrate(_database(flags))
    backup = None if done.backup is None else str(done.backup.file)
    if as_json:
        print_json({"schema_before": done.before, "schema_after": done.after, "backup": backup})
    elif done.before == done.after:
        print_text(f"schema {done.after} already; nothing to do\n")
    else:
        print_text(f"schema {done.before} before, {done.after} now\n")
        click.echo(f"backup: {safe(backup or 'none, there was nothing to lose')}", err=True)


def _database(flags: Flags) -> Path:
    from oribi.cli.looking import open_to_look

    with open_to_look(flags) as app:
        return app.workspace.database


def _print_pruned(pruned: Pruned, *, as_json: bool, verb: str) -> None:
    from dataclasses import asdict

    from oribi.cli.looking import print_json, print_table
    from oribi.cli.wording import bytes_text, counted, utc_time

    sessions = pruned.sessions
    if as_json:
        print_json(
            {
                "sessions": [asdict(one) | {"last_at": utc_time(one.last_at)} for one in sessions],
                "rows": pruned.rows,
                "bytes": pruned.bytes,
            }
        )
    elif sessions:
        print_table(
            [
                ("SESSION", "RECORDS", "LAST USED"),
                *((one.session_id, f"{one.seq:,}", utc_time(one.last_at)) for one in sessions),
            ]
        )
    total = f"{counted(len(sessions), 'session')}, {counted(pruned.rows, 'row')}, {bytes_text(pruned.bytes)}"
    click.echo(f"{total} {verb}", err=True)
