"""`oribi trace`: what a session did, step by step."""

from __future__ import annotations

import click

from oribi.cli.flags import Flags, examples, global_options


@click.command(
    "trace",
    epilog=examples(
        "oribi trace", "oribi trace k3jf --full | less", 'oribi trace --json | jq ".turns[].steps[].calls[].name"'
    ),
)
@global_options()
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="The whole trace as JSON.")
@click.option("--full", is_flag=True, help="Do not cut long texts.")
@click.pass_obj
def command(flags: Flags, *, session: str | None, as_json: bool, full: bool) -> None:
    """Show what a session did, step by step.

    Every model call with what was sent, how long it took and what it cost; every tool call with its arguments, the rule
    that allowed or denied it, and its result; and how each turn ended. SESSION is an id or its beginning; without it,
    the last used session is shown. Works while another process writes.
    """
    from dataclasses import asdict

    from oribi.cli.find import find_session
    from oribi.cli.looking import open_to_look, print_json, print_text, stdout_columns, stdout_paint
    from oribi.cli.timeline import Form, timeline
    from oribi.cli.tracing import trace_of

    with open_to_look(flags) as app:
        session_id = find_session(app, session)
        trace = trace_of(session_id, app.records(session_id))
    if as_json:
        print_json(asdict(trace))
    else:
        columns = min(stdout_columns(), 120)
        print_text(timeline(trace, Form(paint=stdout_paint(flags), columns=columns, full=full)))
