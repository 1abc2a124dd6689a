"""`oribi why`: what a session does next, and which question decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.core.actions import Action
    from oribi.core.events import ContextCut, ContextTrimmed, NoticeGiven, WrapUpBegan


@click.command("why", epilog=examples("oribi why", "oribi why k3jf --json"))
@global_options()
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def command(flags: Flags, *, session: str | None, as_json: bool) -> None:
    """Say what a session does next, and which question decides it.

    The loop asks a fixed list of questions about the turn; the first that has an answer decides. This asks them now and
    does nothing. SESSION is an id or its beginning; without it, the last used session is asked about.
    """
    from oribi.cli.find import find_session
    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.cli.wording import safe

    with open_to_look(flags) as app:
        session_id = find_session(app, session)
        question, action = app.why(session_id)
    name, detail = action_text(action)
    if as_json:
        print_json({"session_id": session_id, "question": question, "action": name, "detail": detail})
    else:
        print_text(f"session {safe(session_id)}\n  question  {safe(question)}\n  action    {name}: {safe(detail)}\n")


def action_text(action: Action) -> tuple[str, str]:
    """The name of an action, and what it would do in words."""
    from oribi.cli.wording import arguments_text, counted
    from oribi.core.actions import CallModel, CheckAnswer, End, Judge, Probe, Record, Rest, RunTools, WriteOff
    from oribi.core.calls import told
    from oribi.core.ends import facts, shown

    match action:
        case Rest(end=end):
            ended = "there is no turn yet" if end is None else f"the last turn ended ({facts(end).label})"
            detail = f"{ended}; the next input begins one"
        case Judge(calls=calls):
            detail = "ask policy about " + ", ".join(f"{call.name}({arguments_text(call.arguments)})" for call in calls)
        case CallModel(prompt=prompt, step=step, attempt=attempt):
            again = f", attempt {attempt}" if attempt > 1 else ""
            what = f"for step {step}" if step else "for the mode of the turn"
            detail = f"ask {prompt.model.ref} {what}{again}, with {counted(len(prompt.messages), 'message')}"
        case RunTools(calls=calls):
            detail = "run " + ", ".join(f"{call.name}({arguments_text(call.arguments)})" for call in calls)
        case Probe(call=call):
            detail = (
                f"ask the world whether {call.name}({arguments_text(call.arguments)}) happened before it was cut off"
            )
        case WriteOff(settled=settled):
            detail = "; ".join(f"settle call {call_id}: {told(result)}" for call_id, result in settled)
        case CheckAnswer():
            detail = "hold the answer against the output schema"
        case Record(event=event):
            detail = _recorded_text(event)
        case End(end=end):
            detail = f"end the turn ({facts(end).label}): {shown(end)}"
        case _:
            assert_never(action)
    return type(action).__name__, detail


def _recorded_text(event: NoticeGiven | ContextCut | ContextTrimmed | WrapUpBegan) -> str:
    from oribi.core.events import ContextCut, ContextTrimmed, NoticeGiven, WrapUpBegan

    match event:
        case NoticeGiven(text=text):
            return f"tell the model: {text}"
        case WrapUpBegan(reason=reason):
            return f"wrap up, with an answer from what was found: {reason}"
        case ContextTrimmed() | ContextCut():
            return "send less from now on: the context is too long"
        case _:
            assert_never(event)
