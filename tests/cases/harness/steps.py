"""The steps of a play: what is done to the product, in order."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from tests.cases.harness import processes
from tests.cases.harness.outcome import Sent
from tests.cases.harness.product import Product
from tests.cases.harness.settings import AGENT, HERE
from tests.cases.harness.stage import Stage
from tests.cases.harness.steps_files import agent_file, make, write, write_raw_name, write_repeat
from tests.cases.harness.store import read_store

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict

WAIT_SECONDS = 30.0
"""The longest wait for something that a case says will happen."""

JOIN_SECONDS = 130.0


_COUNTED = ("send", "burst", "loop")
"""Steps that fill in their own placeholders, once for each value of `${I}`."""

_QUIET = ("write", "write_repeat", "write_raw_name", "files", "sleep", "provider", "agent_file")
"""Steps that touch no process of the product."""


class StepError(AssertionError):
    """A step could not be done: what it waits for did not happen."""


async def run_steps(stage: Stage, steps: list[JsonDict]) -> None:
    """Do `steps`, then wait for everything that was sent.

    Raises:
        StepError: A step waits for what does not happen.

    """
    for step in steps:
        if step["do"] == "lock_db" and step.get("when") == "first_request":
            _lock_at_first_request(stage, step)
    first = next((step for step in steps if step["do"] not in _QUIET), None)
    if first is not None and first.get("via") != "cli" and first["do"] not in ("repl", "cli_pipe_close"):
        await stage.product.start()  # so that times are those of the product, not of its start
    for step in steps:
        await _do(stage, step)
    for sent in stage.sent:
        await _joined(sent)


async def _do(stage: Stage, step: JsonDict) -> None:
    action = ACTIONS.get(step["do"])
    if action is None:
        raise StepError(f"the harness knows no step {step['do']!r}")
    under_way = action(stage, step if step["do"] in _COUNTED else stage.world.filled(step))
    if under_way is not None:
        await under_way


async def _send(stage: Stage, step: JsonDict) -> None:
    for number in range(1, step.get("repeat", 1) + 1):
        stage.world.values["I"] = number
        own = stage.world.filled(step)
        sent = _begin(stage, own)
        to = stage.second if sent.via == "second" and stage.second is not None else stage.product
        task = asyncio.create_task(to.send(sent, own.get("stdin")))
        stage.tasks.append(task)
        if sent.label is None:
            await _joined(sent)
            await task


def _begin(stage: Stage, step: JsonDict) -> Sent:
    text = json.loads(step["text_json"]) if "text_json" in step else step["text"]
    sent = Sent(
        text=text,
        session=str(step.get("session", "s1")),
        agent=step.get("agent", AGENT),
        via=step.get("via", "library"),
        label=step.get("async"),
        sent_at=time.monotonic(),
    )
    stage.sent.append(sent)
    return sent


async def _joined(sent: Sent) -> None:
    try:
        await asyncio.wait_for(sent.done.wait(), JOIN_SECONDS)
    except TimeoutError:
        raise StepError(f"{sent.text!r} has had no outcome for {JOIN_SECONDS:g} seconds") from None


async def _burst(stage: Stage, step: JsonDict) -> None:
    sends: list[Sent] = []
    for number in range(1, step["n"] + 1):
        stage.world.values["I"] = number
        own = stage.world.filled(step)
        if own.get("sessions") == "each_own":
            own["session"] = f"burst-{number}"
        sends.append(_begin(stage, own))
    await stage.product.start()
    await asyncio.gather(*(stage.product.send(sent) for sent in sends))


async def _join(stage: Stage, step: JsonDict) -> None:
    for label in step["as"]:
        await _joined(stage.labelled(label))


async def _cancel(stage: Stage, step: JsonDict) -> None:
    if not await stage.product.cancel(stage.labelled(step["as"])):
        raise StepError(f"there was nothing of {step['as']!r} to cancel")
    await _joined(stage.labelled(step["as"]))


async def _wait_tool(stage: Stage, step: JsonDict) -> None:
    tool = step["tool"]
    event = "effect" if step.get("phase") == "effect_done" else "start"
    count = step.get("n", step.get("count", 1))
    await until(lambda: stage.log.count(tool, event) >= count, f"{count} x {event} of the fixture tool {tool!r}")


async def _wait_request(stage: Stage, step: JsonDict) -> None:
    count = step.get("n", 1)
    await until(lambda: len(stage.provider.requests) >= count, f"request number {count}")


async def _wait_process(stage: Stage, step: JsonDict) -> None:
    await until(lambda: bool(processes.with_marker(step["marker"])), f"a process with {step['marker']!r}")


async def _wait_text(stage: Stage, step: JsonDict) -> None:
    assert stage.repl is not None, "wait_text comes after repl"
    await stage.repl.wait_text(step["matches"], WAIT_SECONDS)


async def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until `holds`.

    Raises:
        StepError: It does not, within `WAIT_SECONDS`.

    """
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise StepError(f"waited {WAIT_SECONDS:g} seconds for {what}")
        await asyncio.sleep(0.01)


async def _sleep(stage: Stage, step: JsonDict) -> None:
    await asyncio.sleep(step["ms"] / 1000)


async def _sleep_random(stage: Stage, step: JsonDict) -> None:
    low, high = step.get("min", 0), step.get("max", step.get("ms", 1000))
    await asyncio.sleep(random.uniform(low, high) / 1000)


async def _start(stage: Stage, step: JsonDict) -> None:
    await stage.product.start()


async def _stop(stage: Stage, step: JsonDict) -> None:
    await stage.product.stop()


async def _restart(stage: Stage, step: JsonDict) -> None:
    sig = step.get("sig")
    await stage.product.stop(None if sig is None else signal.Signals[f"SIG{sig}"])
    await stage.product.start()


async def _signal(stage: Stage, step: JsonDict) -> None:
    """A process that has gone already gets no signal, as nobody could send it one."""
    stage.product.signal(signal.Signals[f"SIG{step['sig']}"])
    if step["sig"] == "KILL":
        process = stage.product.main_process
        assert process is not None, "it has just got the signal"
        await process.wait()


async def _provider(stage: Stage, step: JsonDict) -> None:
    stage.provider.script.begin(step["set"])


async def _load_agents(stage: Stage, step: JsonDict) -> None:
    """Oribi reads an agent's file when a turn of it starts; that the runtime is up is all there is to do."""
    await stage.product.start()


async def _lock_db(stage: Stage, step: JsonDict) -> None:
    if step.get("when") != "first_request":
        await stage.product.start()
        _hold_database(stage, "lock", step["ms"])


async def _open_reader(stage: Stage, step: JsonDict) -> None:
    await stage.product.start()
    _hold_database(stage, "read", step["ms"])


def _lock_at_first_request(stage: Stage, step: JsonDict) -> None:
    stage.provider.script.before_first.append(lambda: _hold_database(stage, "lock", step["ms"]))


def _hold_database(stage: Stage, mode: str, milliseconds: float) -> None:
    """Return once another process holds the database. Blocks: no reply may be sent before it does."""
    command = [sys.executable, str(HERE / "database_fixtures.py"), stage.world.values["DB"], mode, str(milliseconds)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE)
    stage.holders.append(holder)
    assert holder.stdout is not None, "it is a pipe"
    if holder.stdout.readline() != b"holding\n":
        raise StepError("the database could not be held")


async def _db_fault(stage: Stage, step: JsonDict) -> None:
    kind = step.get("kind", step.get("fault", step.get("mode")))
    for holder in stage.holders:
        holder.kill()
        holder.wait()
    await stage.product.start()
    if kind == "busy":
        _hold_database(stage, "lock", 600_000)
    else:
        stage.product.limit_writes(None if kind == "clear" else kind)


async def _read_audit(stage: Stage, step: JsonDict) -> None:
    stage.snapshots[str(step.get("as", step.get("at", len(stage.snapshots))))] = read_store(stage.world.workspace)


async def _repl(stage: Stage, step: JsonDict) -> None:
    from tests.cases.harness.repl import Repl

    if stage.repl is None:
        await stage.product.stop()
        stage.repl = await Repl.start(stage.product)
    for key in step.get("keys", []):
        await stage.repl.type(key)
    if step.get("close_pty"):
        stage.repl.hang_up()


async def _cli_pipe_close(stage: Stage, step: JsonDict) -> None:
    text, session = step.get("text", "go"), step.get("session", "s1")
    stage.piped = await stage.product.pipe_and_close(text, session, step["after_bytes"])


async def _start_second(stage: Stage, step: JsonDict) -> None:
    """A second runtime on the same workspace; messages `via: second` go to it."""
    first = stage.product
    stage.second = Product(world=stage.world, play=stage.play, environment=first.environment)
    await stage.second.start()


async def _loop(stage: Stage, step: JsonDict) -> None:
    for number in range(1, step.get("times", step.get("n", 1)) + 1):
        stage.world.values["I"] = number
        for inner in step["body"]:
            await _do(stage, inner)


Action: TypeAlias = Callable[[Stage, "JsonDict"], Awaitable[None] | None]
ACTIONS: dict[str, Action] = {
    "send": _send,
    "burst": _burst,
    "join": _join,
    "cancel": _cancel,
    "wait_tool": _wait_tool,
    "wait_request": _wait_request,
    "wait_process": _wait_process,
    "wait_text": _wait_text,
    "sleep": _sleep,
    "sleep_random_ms": _sleep_random,
    "start": _start,
    "stop": _stop,
    "restart": _restart,
    "signal": _signal,
    "provider": _provider,
    "write": write,
    "write_repeat": write_repeat,
    "write_raw_name": write_raw_name,
    "files": make,
    "agent_file": agent_file,
    "load_agents": _load_agents,
    "lock_db": _lock_db,
    "open_reader": _open_reader,
    "db_fault": _db_fault,
    "read_audit": _read_audit,
    "repl": _repl,
    "cli_pipe_close": _cli_pipe_close,
    "start_second": _start_second,
    "loop": _loop,
}
