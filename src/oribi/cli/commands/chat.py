"""`oribi chat`: a conversation at the terminal."""

from __future__ import annotations

import click

from oribi.cli.completing import complete_agent
from oribi.cli.flags import Flags, examples, global_options


@click.command("chat", epilog=examples("oribi chat", "oribi chat --agent ops --new", "oribi chat --session k3jf"))
@global_options()
@click.option(
    "--agent", metavar="NAME", shell_complete=complete_agent, help="With whom. [default: default_agent of oribi.toml]"
)
@click.option("--session", metavar="ID", help="Continue this session. [default: the agent's last one]")
@click.option("--new", is_flag=True, help="Begin a new session.")
@click.pass_obj
def command(flags: Flags, *, agent: str | None, session: str | None, new: bool) -> int:
    """Talk with an agent.

    The agent's last session goes on, unless you say otherwise. Ctrl-C stops the turn that is running, twice leaves at
    once; Ctrl-D leaves. Inside, /help lists the commands. When stdin is no terminal, each line of it is one input.
    """
    import anyio

    from oribi.cli.chatting import chat, chat_stops
    from oribi.cli.turns import after_output, open_stage

    if new and session is not None:
        raise click.UsageError("give --session or --new, not both", click.get_current_context())
    with open_stage(flags, stops=chat_stops()) as stage:
        code = anyio.run(chat, stage, agent, session, new)
    return after_output(stage, code)
