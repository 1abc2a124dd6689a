"""The loop: ask `decide` what is next, do it, record it, until the turn ends.

A commit stands before every effect and none between two effects. There is one path: a resumed turn, a streamed turn
and a turn that starts now all run these lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from oribi.core.actions import CallModel, CheckAnswer, End, Judge, Probe, Record, Rest, RunTools, WriteOff
from oribi.core.decide import decide
from oribi.core.events import AnswerChecked, CallJudged, ToolSettled, TurnEnded
from oribi.turn.acts import ask_model, probe_call, run_tools

if TYPE_CHECKING:
    from oribi.core.ends import TurnEnd
    from oribi.ports import Ports
    from oribi.turn.session import Session


async def run_turn(session: Session, ports: Ports) -> TurnEnd | None:
    """Drive the session's open turn, or the one its inbox starts, to its end; None when there is nothing to do.

    Raises:
        ConfigError: The model cannot be used (unknown provider, missing key); the turn stays open.
        JournalError: The journal cannot be written; nothing happens that is not recorded.

    """
    while True:
        session.take_in()
        turn = session.turn
        action = decide(turn, ports.clock.now())
        match action:
            case Judge(calls=calls):
                for call in calls:
                    verdict = ports.tools.judge(turn.tools, call, session.agent)
                    session.record(CallJudged(step=turn.step, call_id=call.id, verdict=verdict))
            case CallModel() as ask:
                await ask_model(session, ports, ask)
            case RunTools() as run:
                await run_tools(session, ports, run)
            case Probe(call=call):
                await probe_call(session, ports, call)
            case WriteOff(settled=settled):
                for call_id, result in settled:
                    session.record(ToolSettled(step=turn.step, call_id=call_id, result=result))
            case CheckAnswer(text=text, schema=schema):
                value, problem = ports.check_answer(schema, text)
                session.record(AnswerChecked(step=turn.step, value=value, problem=problem))
            case Record(event=event):
                session.record(event)
            case End(end=end):
                session.record(TurnEnded(end=end))
                await session.commit()
                return end
            case Rest():
                return None
            case _:
                assert_never(action)
