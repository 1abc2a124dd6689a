"""The acts that touch the world: ask the model, run tools, probe. What changes it is recorded and durable before.

What came of each is recorded after.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from oribi.core.budget import share_of, total_of, without
from oribi.core.calls import CallId, Denied, Failed
from oribi.core.decide import deadline_of, may_try_again
from oribi.core.errors import ModelError
from oribi.core.events import (
    CallCharged,
    CallProbed,
    ModelAsked,
    ModelFaulted,
    ModelReplied,
    QuotaReached,
    RequestRef,
    ToolFaulted,
    ToolSettled,
    ToolStarted,
)
from oribi.core.json_actions import read_action
from oribi.core.prompt import is_last_call, speaks_actions
from oribi.ports import Invocation, TextDelta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.actions import CallModel, RunTools
    from oribi.core.budget import Limits, Spent
    from oribi.core.calls import SessionId, ToolCall
    from oribi.core.events import Event
    from oribi.core.messages import Reply
    from oribi.core.prompt import Prompt
    from oribi.core.turn import Turn
    from oribi.ports import Ports, Request
    from oribi.turn.session import Session

log = logging.getLogger("oribi.turn")


async def ask_model(session: Session, ports: Ports, ask: CallModel) -> None:
    """Ask the model once. If the wait or the call is cut off, nothing is recorded here: `decide` sees it."""
    if await _waited_in_vain(session, ports, ask.not_before):
        return
    if limit := ports.quota.spent(session.principal, ports.clock.now()):
        session.record(QuotaReached(limit=limit))
        return
    model = ports.models.get(ask.prompt.model)
    request = model.build_request(ask.prompt, session.last_request_of(ask.prompt.revision))
    session.last_request = request, ask.prompt.revision
    asked = ModelAsked(
        step=ask.step,
        attempt=ask.attempt,
        request=_reference(ask.prompt, request),
        choice=ask.choice,
        model=ask.prompt.model.ref if ask.choice else "",
    )
    is_last = is_last_call(session.turn, session.started, ask.step)
    if limit := await session.begin(asked):
        session.record(QuotaReached(limit=limit))
        return
    policy = session.started.policy
    is_action = speaks_actions(policy) and ask.step > 0
    is_shown = not is_action and ask.step > 0  # a router's word is for nobody, a JSON action is shown once it is read
    with session.effect(policy.model_timeout_seconds) as call:
        try:
            reply = await model.reply(request, session.publish if is_shown else session.publish_reasoning)
        except ModelError as error:
            asked_for = error.retry_after_seconds
            session.record(
                ModelFaulted(
                    step=ask.step,
                    attempt=ask.attempt,
                    kind=error.kind,
                    message=str(error),
                    retry_after_seconds=asked_for if asked_for is not None and math.isfinite(asked_for) else None,
                    partial=error.partial if is_shown else "",
                )
            )
        else:
            if is_action:
                reply = _read_action(session, ask, reply, is_last=is_last)
            if policy.store_reasoning == "never":
                reply = reply.without_reasoning
            session.record(ModelReplied(step=ask.step, attempt=ask.attempt, reply=reply))
    if call.timed_out:
        said = f"no finished reply within {policy.model_timeout_seconds:g} s"
        session.record(ModelFaulted(step=ask.step, attempt=ask.attempt, kind="timeout", message=said))


def _read_action(session: Session, ask: CallModel, reply: Reply, *, is_last: bool) -> Reply:
    """The call or the answer that the model wrote as JSON; an answer is shown now, since it was no text before."""
    started = session.started
    call_id = CallId(f"{started.turn_id}_{ask.step}_{ask.attempt}")
    schema = started.output_schema
    fields = {} if schema is None else schema.get("properties")
    read = read_action(
        reply,
        is_last=is_last,
        has_schema=schema is not None,
        answer_fields=fields if isinstance(fields, dict) else (),
        call_id=call_id,
    )
    if read.text and not read.problem:
        session.publish(TextDelta(text=read.text))
    return read


async def _waited_in_vain(session: Session, ports: Ports, not_before: int) -> bool:
    """Wait until `not_before`; whether that was cut off."""
    wait_seconds = (not_before - ports.clock.now()) / 1e6
    if wait_seconds <= 0:
        return False
    await session.commit()
    with session.effect() as wait:
        await anyio.sleep(wait_seconds)
    return wait.was_cut_off


async def run_tools(session: Session, ports: Ports, run: RunTools) -> None:
    """Run the calls in their order (Y-13), until done, cut off, or something has to be decided first.

    Calls side by side whose tools are declared parallel-safe run at the same time, as far as policy lets them (C-2).
    """
    if await _waited_in_vain(session, ports, run.not_before):
        return
    for group in _groups(session.turn, run):
        session.read_letters()  # what was withdrawn a moment ago is not used (M-20)
        if session.must_decide:
            return
        left = ports.quota.tool_calls_left(session.principal, ports.clock.now())
        new = sum(not session.turn.calls[call.id].started for call in group)  # one that was cut off was counted
        if left is not None and left < new:
            session.record(QuotaReached(limit="daily tool_calls"))
            return
        starts = [ToolStarted(step=session.turn.step, call_id=call.id) for call in group]
        if limit := await session.begin(*starts):
            session.record(QuotaReached(limit=limit))
            return
        if session.must_stop:  # a stop came while it was written: the calls have not begun
            for call in group:
                denied = Denied(rule="turn-stopped", reason="the turn was stopped before this call ran")
                session.record(ToolSettled(step=session.turn.step, call_id=call.id, result=denied))
            return
        if not await _run_group(session, ports, group):
            return


async def _run_group(session: Session, ports: Ports, group: Sequence[ToolCall]) -> bool:
    """Run calls at the same time; False when something has to be decided before others run.

    Each result is recorded when it is there, and with several also durable, so that none is lost with its siblings.
    """
    turn = session.turn
    spent = turn.counters.spent
    failures: list[BaseException] = []
    lock = anyio.Lock()

    async def run(call: ToolCall) -> None:
        invocation = _invocation(session, ports, call, among=len(group))
        result = await ports.tools.run(call, turn.tools[call.name], invocation)
        event: Event = ToolSettled(step=turn.step, call_id=call.id, result=result)
        if isinstance(result, Failed) and may_try_again(turn, call, result):
            event = ToolFaulted(step=turn.step, call_id=call.id, result=result)
        session.record(event)

    async def run_beside(call: ToolCall) -> None:
        try:
            await run(call)
            with anyio.CancelScope(shield=True):
                async with lock:
                    await session.commit()
        except Exception as error:  # noqa: BLE001 - raised below as it is, when all have come back
            failures.append(error)

    with session.effect() as effect:
        if len(group) == 1:
            await run(group[0])
        else:
            async with anyio.create_task_group() as tasks:
                for call in group:
                    tasks.start_soon(run_beside, call)
    if failures:
        raise failures[0]
    results = [turn.calls[call.id].result for call in group]
    is_plain = all(result is not None and not isinstance(result, Failed) for result in results)
    return not effect.was_cut_off and is_plain and turn.counters.spent == spent


def _groups(turn: Turn, run: RunTools) -> list[list[ToolCall]]:
    """The calls in groups that may run at the same time.

    Calls that were cut off are not put beside new ones: what is nested in them has its part of the budget already.
    """
    groups: list[list[ToolCall]] = []
    for call in run.calls:
        last = groups[-1] if groups else []
        is_beside = all(turn.tools[each.name].parallel for each in [*last, call])
        is_alike = all(turn.calls[each.id].started == turn.calls[call.id].started for each in last)
        if last and is_beside and is_alike and len(last) < run.at_once:
            last.append(call)
        else:
            groups.append([call])
    return groups


async def probe_call(session: Session, ports: Ports, call: ToolCall) -> None:
    """Ask the world what came of a call that was cut off. Asking changes nothing, so it may be asked again."""
    with session.effect():
        found = await ports.tools.probe(call, session.turn.tools[call.name], _invocation(session, ports, call))
        session.record(CallProbed(step=session.turn.step, call_id=call.id, found=found))


def _invocation(session: Session, ports: Ports, call: ToolCall, *, among: int = 1) -> Invocation:
    turn, started = session.turn, session.started
    progress = turn.calls[call.id]
    share = share_of(turn.counters, started.policy.limits, among=among)
    before = total_of(progress.charged.values())

    def limits() -> Limits:
        deadline = deadline_of(turn, started)
        seconds = None if deadline is None else max(0.0, (deadline - ports.clock.now()) / 1e6)
        return replace(without(share, total_of(progress.charged.values()), before), deadline_seconds=seconds)

    def charge(spent: Spent, child: SessionId) -> None:
        session.record(CallCharged(step=turn.step, call_id=call.id, spent=spent, child=child))

    return Invocation(
        session_id=turn.session_id,
        turn_id=started.turn_id,
        step=turn.step,
        call_id=call.id,
        agent=started.agent,
        policy=started.policy,
        principal=session.principal,
        limits=limits,
        depth=session.depth + 1,
        model=started.model,
        catalogue={name: spec for name, spec in turn.tools.items() if name not in turn.withdrawn},
        charge=charge,
        is_stopping=lambda: session.is_stopping,
        nest=ports.nest,
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
