"""`oribi policy`: the loop policy of an agent or of one of its modes, and where each value of it comes from."""

from __future__ import annotations

import click

from oribi.cli.completing import complete_agent, complete_mode
from oribi.cli.flags import Flags, examples, global_options


@click.group("policy", epilog=examples("oribi policy show ops", "oribi policy show ops --mode reason"))
@global_options()
def command() -> None:
    """Show the loop policy of an agent, and where it comes from."""


@command.command("show", epilog=examples("oribi policy show ops", "oribi policy show ops --mode reason --json"))
@global_options()
@click.argument("agent", shell_complete=complete_agent)
@click.option("--mode", metavar="NAME", default="", shell_complete=complete_mode, help="In one of its modes.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def show_policy(flags: Flags, *, agent: str, mode: str, as_json: bool) -> None:
    """Show every field of the policy that the next turn of an agent has.

    Behind each value stands where it comes from: a preset, or a line of AGENT.md. A limit that is not set is shown as
    none.
    """
    from dataclasses import asdict

    from oribi.cli.looking import open_to_look, print_json, print_table
    from oribi.cli.wording import one_json

    with open_to_look(flags) as app:
        policy = asdict(app.agents.load(agent, mode).policy)
        origins = app.agents.origins(agent, mode)
    limits = policy.pop("limits")
    values = policy | {f"limits.{name}": value for name, value in limits.items()}
    if as_json:
        fields = {name: {"value": value, "from": origins[name]} for name, value in values.items()}
        print_json({"agent": agent, "mode": mode or None, "policy": fields})
        return
    rows = [("FIELD", "VALUE", "FROM")]
    for name, value in values.items():
        shown = "none" if value is None else value if isinstance(value, str) else one_json(value)
        rows.append((name, shown, origins[name]))
    print_table(rows)
