"""`oribi resolve`: a person's word about a call of which nobody knows whether it happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.cli.turns import Stage
    from oribi.core.calls import ToolResult
    from oribi.core.results import UnknownCall


@click.command(
    "resolve",
    epilog=examples(
        "oribi resolve k3jf                         list what is unknown",
        "oribi resolve k3jf t1/2/call_7 --happened",
        "oribi resolve k3jf t1/2/call_7 --did-not",
        'oribi resolve k3jf call_7 --result "charged 5 EUR, receipt 1041"',
    ),
)
@global_options()
@click.argument("session")
@click.argument("call", required=False)
@click.option("--happened", is_flag=True, help="It happened.")
@click.option("--did-not", is_flag=True, help="It did not happen.")
@click.option("--result", metavar="TEXT", help="It happened, and this is what came of it.")
@click.pass_obj
def command(flags: Flags, *, session: str, call: str | None, happened: bool, did_not: bool, result: str | None) -> None:
    """Say what came of a call that may or may not have happened.

    A call that was cut off and may not be repeated is Unknown: the model is told so. Whoever has looked can settle it;
    from then on the model reads that in its place. CALL is its id, or TURN/STEP/ID as listed without CALL.
    """
    import anyio

    from oribi.cli.turns import open_stage

    given = [happened, did_not, result is not None]
    context = click.get_current_context()
    if call is None and any(given):
        raise click.UsageError("CALL is missing: `oribi resolve SESSION` lists the calls", context)
    if call is not None and sum(given) != 1:
        raise click.UsageError("say one of --happened, --did-not and --result TEXT", context)
    with open_stage(flags) as stage:
        anyio.run(_resolve, stage, session, call, None if call is None else _result(did_not=did_not, text=result))


def _result(*, did_not: bool, text: str | None) -> ToolResult:
    from oribi.core.calls import Failed, Succeeded

    if did_not:
        return Failed(text="it did not happen", retryable=True)
    return Succeeded(text=text or "it has happened")


async def _resolve(stage: Stage, session: str, call: str | None, result: ToolResult | None) -> None:
    from oribi.cli.find import find_session
    from oribi.cli.who import user_name
    from oribi.cli.wording import arguments_text, safe
    from oribi.core.errors import ConfigError

    async with stage.app as app:
        session_id = find_session(app, session)
        unknown = app.unknown_calls(session_id)
        if call is None or result is None:
            for each in unknown:
                stage.output.say(f"{_name(each)}  {safe(each.call.name)} {safe(arguments_text(each.call.arguments))}\n")
            if not unknown:
                stage.note(f"session {session_id} has no call whose outcome is unknown")
            return
        found = [each for each in unknown if call in {each.call.id, _name(each)}]
        if not found:
            listed = ", ".join(_name(each) for each in unknown) or "none"
            raise ConfigError(
                f"session {session_id!r} has no call {call!r} whose outcome is unknown; there is: {listed}"
            )
        if len(found) > 1:
            listed = ", ".join(_name(each) for each in found)
            raise ConfigError(f"several calls of session {session_id!r} are named {call!r}: say which of {listed}")
        await app.resolve(session_id, found[0], result, by=user_name())
        stage.note(f"settled: {_name(found[0])} of session {session_id}; the model reads it from now on")


def _name(call: UnknownCall) -> str:
    return f"{call.turn_id}/{call.step}/{call.call.id}"
