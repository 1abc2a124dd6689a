"""`oribi sessions`: which sessions there are, what was said in one, and erasing it."""

from __future__ import annotations

import click

from oribi.cli.flags import Flags, examples, global_options


@click.group("sessions", epilog=examples("oribi sessions list", "oribi sessions show k3jf"))
@global_options()
def command() -> None:
    """List, show and erase sessions."""


@command.command("list", epilog=examples("oribi sessions list", "oribi sessions list --limit 5 --json"))
@global_options()
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1), help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_sessions(flags: Flags, *, limit: int, as_json: bool) -> None:
    """List sessions, the last used first."""
    from dataclasses import asdict

    from oribi.cli.find import all_sessions
    from oribi.cli.looking import open_to_look, print_json, print_table
    from oribi.cli.now import now
    from oribi.cli.wording import ago, end_label, utc_time

    with open_to_look(flags) as app:
        rows = all_sessions(app, limit)
    if as_json:
        print_json(
            [
                asdict(row)
                | {"created_at": utc_time(row.created_at), "updated_at": utc_time(row.updated_at)}
                | {"last_end": row.last_end and end_label(row.last_end)}
                for row in rows
            ]
        )
    elif not rows:
        click.echo("no sessions yet; `oribi run` begins one", err=True)
    else:
        print_table(
            [
                ("SESSION", "AGENT", "TURNS", "LAST END", "USED", "CHANNEL"),
                *(
                    (
                        row.session_id,
                        row.agent,
                        str(row.turns),
                        "open" if row.is_open else end_label(row.last_end or ""),
                        ago(row.updated_at, now()),
                        row.channel,
                    )
                    for row in rows
                ),
            ]
        )


@command.command("show", epilog=examples("oribi sessions show", "oribi sessions show k3jf --json"))
@global_options()
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON: the messages, in order.")
@click.pass_obj
def show_session(flags: Flags, *, session: str | None, as_json: bool) -> None:
    """Show the conversation of a session.

    SESSION is an id or its beginning; without it, the last used session is shown.
    """
    from oribi.cli.conversation import conversation, conversation_json
    from oribi.cli.find import find_session
    from oribi.cli.looking import open_to_look, print_json, print_text, stdout_columns, stdout_paint

    with open_to_look(flags) as app:
        turn = app.turn(find_session(app, session))
    if as_json:
        print_json(conversation_json(turn))
    else:
        print_text(conversation(turn, stdout_paint(flags), stdout_columns()))


@command.command(
    "erase",
    epilog=examples("oribi sessions erase k3jf", "oribi sessions erase k3jf --message 12 --reason 'asked by A.' --yes"),
)
@global_options()
@click.argument("session")
@click.option("--message", "seq", type=click.IntRange(1), metavar="RECORD", help="Only the message of this record.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is recorded.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def erase(flags: Flags, *, session: str, seq: int | None, reason: str, yes: bool) -> None:
    """Erase a session, or one message of it, for good.

    What was said is gone from the database; the hashes of its rows stay, so that the rest still verifies. A session
    that was erased whole can neither be read nor continued. No other process may be using the workspace meanwhile. A
    RECORD that holds no message is answered with a list of those that do.
    """
    import sys

    from oribi.cli.find import find_session
    from oribi.cli.looking import open_to_look
    from oribi.cli.who import user_name
    from oribi.cli.wording import counted
    from oribi.journal.erasure import copies_of, erase_message, erase_session

    with open_to_look(flags) as app:
        found, database = find_session(app, session), app.workspace.database
    what = f"session {found}" if seq is None else f"the message in record {seq} of session {found}"
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("--yes is needed where nobody can be asked", click.get_current_context())
    if not yes:
        click.confirm(f"Erase {what} for good?", abort=True, err=True)
    by = user_name()
    copies = copies_of(database, found)
    if seq is None:
        count = erase_session(database, found, by=by, reason=reason)
    else:
        count = erase_message(database, found, seq, by=by, reason=reason)
    click.echo(f"erased {what}: {counted(count, 'row is a tombstone', 'rows are tombstones')} now", err=True)
    if copies:
        click.echo(
            f"hint: forks and nested sessions hold copies of their own, which may need it, too: {', '.join(copies)}",
            err=True,
        )
