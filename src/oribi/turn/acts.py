"""The acts that touch the world: ask the model, run tools, probe. What changes it is recorded and durable before.

What came of each is recorded after.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

import anyio

from oribi.core.calls import Denied
from oribi.core.errors import ModelError
from oribi.core.events import CallProbed, ModelAsked, ModelFaulted, ModelReplied, RequestRef, ToolSettled, ToolStarted
from oribi.ports import Invocation

if TYPE_CHECKING:
    from oribi.core.calls import ToolCall
    from oribi.core.decide import CallModel
    from oribi.core.prompt import Prompt
    from oribi.ports import Ports, Request
    from oribi.turn.session import Session

log = logging.getLogger("oribi.turn")


async def ask_model(session: Session, ports: Ports, ask: CallModel) -> None:
    """Ask the model once. If the wait or the call is cut off, nothing is recorded here: `decide` sees it."""
    wait_seconds = (ask.not_before - ports.clock.now()) / 1e6
    if wait_seconds > 0:
        await session.commit()
        with session.effect() as wait:
            await anyio.sleep(wait_seconds)
        if wait.was_cut_off:
            return
    model = ports.models.get(ask.prompt.model)
    request = model.build_request(ask.prompt, session.last_request_of(ask.prompt.revision))
    session.last_request = request, ask.prompt.revision
    session.record(
        ModelAsked(
            step=ask.step,
            attempt=ask.attempt,
            request=_reference(ask.prompt, request),
            choice=ask.choice,
            model=ask.prompt.model.ref if ask.choice else "",
        )
    )
    await session.commit()
    timeout_seconds = session.started.policy.model_timeout_seconds
    with session.effect(timeout_seconds) as call:
        try:
            reply = await model.reply(request, session.publish)
        except ModelError as error:
            asked_for = error.retry_after_seconds
            session.record(
                ModelFaulted(
                    step=ask.step,
                    attempt=ask.attempt,
                    kind=error.kind,
                    message=str(error),
                    retry_after_seconds=asked_for if asked_for is not None and math.isfinite(asked_for) else None,
                    partial=error.partial,
                )
            )
        else:
            if session.started.policy.store_reasoning == "never":
                reply = reply.without_reasoning
            session.record(ModelReplied(step=ask.step, attempt=ask.attempt, reply=reply))
    if call.timed_out:
        said = f"no finished reply within {timeout_seconds:g} s"
        session.record(ModelFaulted(step=ask.step, attempt=ask.attempt, kind="timeout", message=said))


async def run_tools(session: Session, ports: Ports, calls: tuple[ToolCall, ...]) -> None:
    """Run `calls` one after the other (Y-13), until done, cut off, or something has to be decided first."""
    turn = session.turn
    for call in calls:
        if session.must_decide:
            return
        session.record(ToolStarted(step=turn.step, call_id=call.id))
        await session.commit()
        if session.must_decide:  # a stop came while it was written: the call has not begun
            reason = "the turn was stopped before this call ran"
            session.record(
                ToolSettled(step=turn.step, call_id=call.id, result=Denied(rule="turn-stopped", reason=reason))
            )
            return
        with session.effect() as effect:
            result = await ports.tools.run(call, turn.tools[call.name], _invocation(session, call))
            session.record(ToolSettled(step=turn.step, call_id=call.id, result=result))
        if effect.was_cut_off:
            return


async def probe_call(session: Session, ports: Ports, call: ToolCall) -> None:
    """Ask the world what came of a call that was cut off. Asking changes nothing, so it may be asked again."""
    with session.effect():
        found = await ports.tools.probe(call, session.turn.tools[call.name], _invocation(session, call))
        session.record(CallProbed(step=session.turn.step, call_id=call.id, found=found))


def _invocation(session: Session, call: ToolCall) -> Invocation:
    turn, started = session.turn, session.started
    return Invocation(
        session_id=turn.session_id,
        turn_id=started.turn_id,
        step=turn.step,
        call_id=call.id,
        agent=started.agent,
        policy=started.policy,
    )


def _reference(prompt: Prompt, request: Request) -> RequestRef:
    """The request as the journal keeps it; the injected lengths are logged too, so no cut is silent (O-31)."""
    reference = RequestRef(
        sha256=request.sha256,
        bytes=len(request.body),
        system_characters=len(prompt.system),
        memory_characters=prompt.memory_characters,
        history_turns=prompt.history_turns,
        turns_left_out=prompt.turns_left_out,
        messages=len(prompt.messages),
        tools=len(prompt.tools),
    )
    log.info(
        "prompt: system %d characters, memory %d characters, history %d turns (%d left out), %d messages, %d bytes",
        reference.system_characters,
        reference.memory_characters,
        reference.history_turns,
        reference.turns_left_out,
        reference.messages,
        reference.bytes,
    )
    return reference
