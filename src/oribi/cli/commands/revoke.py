"""`oribi revoke`: withdraw a tool, a plug-in or a person's leave from the turns that are open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.app import App
    from oribi.cli.turns import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class _Withdrawal:
    """What is withdrawn (`tool`, `plugin`; neither: the turn itself), and from whom (`principal`, `session`)."""

    tool: str
    plugin: str
    principal: str | None
    session: str | None
    reason: str

    @property
    def what(self) -> str:
        """It in words, for the journal and for whoever watches the turn."""
        things = [f"the tool {self.tool}"] if self.tool else []
        things += [f"the plug-in {self.plugin}"] if self.plugin else []
        if not things:
            things = ["the turn" if self.principal is None else f"the access of {self.principal}"]
        return " and ".join(things) + (f" ({self.reason})" if self.reason else "")


@click.command(
    "revoke",
    epilog=examples(
        "oribi revoke --tool notify",
        "oribi revoke --tool notify --session k3jf",
        'oribi revoke --plugin shop --reason "its key leaked"',
        "oribi revoke --principal alice",
    ),
)
@global_options()
@click.option("--tool", metavar="NAME", default="", help="A tool.")
@click.option("--plugin", metavar="NAME", default="", help="All tools of a plug-in.")
@click.option("--principal", metavar="WHO", help="Only from the turns of this person.")
@click.option("--session", metavar="ID", help="Only from the turn of this session.")
@click.option("--reason", metavar="TEXT", default="", help="Why; it is recorded and shown.")
@click.pass_obj
def command(flags: Flags, *, tool: str, plugin: str, principal: str | None, session: str | None, reason: str) -> None:
    """Withdraw a tool, a plug-in or a person from open turns.

    A turn that has used what is withdrawn ends as revoked, without another word of its model; any other turn cannot use
    it from now on. Without --tool and --plugin, every turn that --principal and --session name ends. It reaches turns
    in other processes, too. The sessions that were told go to stdout, one a line. What new turns may use is what their
    AGENT.md lists: edit that, too.
    """
    import anyio

    from oribi.cli.turns import open_stage

    if not (tool or plugin or principal or session):
        context = click.get_current_context()
        raise click.UsageError("say what to withdraw: --tool, --plugin, --principal or --session", context)
    asked = _Withdrawal(tool=tool, plugin=plugin, principal=principal, session=session, reason=reason)
    with open_stage(flags) as stage:
        anyio.run(_revoke, stage, asked)


async def _revoke(stage: Stage, asked: _Withdrawal) -> None:
    from oribi.cli.find import find_session
    from oribi.cli.wording import counted, safe

    async with stage.app as app:
        session_id = None if asked.session is None else find_session(app, asked.session)
        told = []
        if session_id is None or session_id in app.open_turns():
            told = await app.revoke(
                asked.what, tool=asked.tool, plugin=asked.plugin, principal=asked.principal, session_id=session_id
            )
        for name in told:
            stage.output.say(f"{name}\n")
        if not told:
            whose = f" of {safe(asked.principal)}" if asked.principal else ""
            where = f" in session {session_id}" if session_id else ""
            stage.note(f"no turn{whose} is open{where}; there is nothing to revoke")
            return
        stage.note(f"told {counted(len(told), 'session')}: {safe(asked.what)} is revoked")
        if (asked.tool or asked.plugin) and not any(_has_it(app, name, asked) for name in told):
            stage.note(f"hint: no tool of these turns is {safe(asked.tool or f'of the plug-in {asked.plugin}')}")


def _has_it(app: App, session_id: str, asked: _Withdrawal) -> bool:
    """Whether the session's turn has a tool that is withdrawn."""
    tools = app.turn(session_id).tools.values()
    return any(tool.name == asked.tool or (asked.plugin and tool.owner == asked.plugin) for tool in tools)
