"""`oribi audit`: whether the journal is as it was written, and what an outsider needs to check that."""

from __future__ import annotations

import click

from oribi.cli.flags import Flags, examples, global_options


@click.group("audit", epilog=examples("oribi audit verify", "oribi audit anchor --to /mnt/elsewhere/oribi.anchors"))
@global_options()
def command() -> None:
    """Check that the journal is as it was written; export it.

    Each session's rows form a chain of SHA-256 hashes. That makes an edit show, not impossible: whoever can rewrite the
    whole file can rewrite the chain, too. An anchor kept where they cannot write makes that show as well.
    """


@command.command(
    "verify", epilog=examples("oribi audit verify", "oribi audit verify --anchor /mnt/elsewhere/oribi.anchors")
)
@global_options()
@click.option("--anchor", metavar="FILE", help="Hold the chains against the anchors in this file, too.")
@click.option("--json", "as_json", is_flag=True, help="Put the findings on stdout as one JSON object.")
@click.pass_obj
def verify_command(flags: Flags, *, anchor: str | None, as_json: bool) -> int:
    """Check every row of every session.

    The first row of each session that was edited, is missing, out of order or cut off is named, and the exit code is 1.
    """
    from dataclasses import asdict
    from pathlib import Path

    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.cli.wording import safe
    from oribi.core.errors import ConfigError, JournalError
    from oribi.journal.verify_journal import UNREADABLE, read_anchors, report_text, verify

    with open_to_look(flags) as app:
        database = app.workspace.database
    try:
        anchors = None if anchor is None else read_anchors(Path(anchor))
    except UNREADABLE as error:
        raise ConfigError(f"--anchor: {anchor!r} cannot be used: {error}") from error
    try:
        report = verify(database, anchors)
    except UNREADABLE as error:
        raise JournalError(f"the journal {database} cannot be verified: {error}") from error
    if as_json:
        print_json(asdict(report))
    else:
        print_text("".join(f"{safe(line)}\n" for line in report_text(report).splitlines()))
    return 1 if report.findings else 0


@command.command("anchor", epilog=examples("oribi audit anchor --to /mnt/elsewhere/oribi.anchors"))
@global_options()
@click.option(
    "--to", "target", metavar="FILE", required=True, help="Append to this file, which the runtime cannot edit."
)
@click.pass_obj
def anchor_command(flags: Flags, *, target: str) -> None:
    """Write down the ends of all chains, where the runtime cannot reach.

    One line is appended. `oribi audit verify --anchor FILE` then finds rows that were cut off or rewritten with all
    that hangs on them. Keep the file on another machine, append-only, or commit it somewhere signed.
    """
    from datetime import UTC, datetime
    from pathlib import Path

    from oribi.cli.looking import open_to_look
    from oribi.cli.wording import counted
    from oribi.journal.audit import write_anchor

    with open_to_look(flags) as app:
        database = app.workspace.database
    count = write_anchor(database, Path(target), at=datetime.now(UTC).isoformat(timespec="seconds"))
    click.echo(f"{counted(count, 'session')} anchored in {target}", err=True)


@command.command(
    "export", epilog=examples("oribi audit export > journal.jsonl", "oribi audit export k3jf --to k3jf.jsonl")
)
@global_options()
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--to", "target", metavar="FILE", help="A new file. [default: stdout]")
@click.pass_obj
def export_command(flags: Flags, *, sessions: tuple[str, ...], target: str | None) -> None:
    """Write out rows as JSON lines, with the content they refer to, that verify as the database does."""
    from pathlib import Path

    from oribi.cli.find import find_session
    from oribi.cli.looking import open_to_look, print_text
    from oribi.core.errors import ConfigError
    from oribi.journal.audit import export_lines

    with open_to_look(flags) as app:
        database = app.workspace.database
        lines = export_lines(database, [find_session(app, name) for name in sessions])
        if target is None:
            for line in lines:
                print_text(line)
            return
        try:
            with Path(target).open("x", encoding="utf-8") as file:
                file.writelines(lines)
        except FileExistsError as error:
            raise ConfigError(f"{target!r} is there already; name a new file") from error
        except OSError as error:
            raise ConfigError(f"{target!r} cannot be written ({error.strerror})") from error


@command.command("script", epilog=examples("oribi audit script > verify_journal.py"))
@global_options()
def script_command() -> None:
    """Print the verifier: one Python file that needs nothing else, for whoever does not trust this program."""
    from importlib.resources import files

    from oribi.cli.looking import print_text

    print_text((files("oribi.journal") / "verify_journal.py").read_text("utf-8"))
