"""One play from an empty folder to its verdict."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cases.harness.checks import run_checks
from tests.cases.harness.fixture_log import FixtureLog
from tests.cases.harness.http_fixtures import HttpFixtures
from tests.cases.harness.product import Product
from tests.cases.harness.provider import CaseProvider, CaseScript, Naming
from tests.cases.harness.replaying import unlike_their_record
from tests.cases.harness.settings import ROLES, install, map_arguments, placeholders
from tests.cases.harness.stage import Stage
from tests.cases.harness.steps import StepError, run_steps
from tests.cases.harness.world import new_world, write_files

if TYPE_CHECKING:
    from tests.cases.harness.case import Play

LONGEST_SECONDS = 200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a play showed: `failures` break a case, `regrets` are checks that only should have held."""

    failures: list[str]
    regrets: list[str]
    notes: str


async def run_play(play: Play, root: Path) -> Verdict:
    """Run `play` in the empty folder `root`: set up, do the steps, check, and leave nothing running."""
    world = new_world(root)
    servers = {server["name"] for server in play.spec.get("mcp", [])}
    naming = Naming(roles=ROLES, arguments=map_arguments, servers=servers)
    script = CaseScript(play, naming, world.look_up)
    async with contextlib.AsyncExitStack() as stack:
        http = None
        if "http_fixtures" in play.spec or "@http" in str(play.spec):
            http = HttpFixtures()
            await http.start([world.values["P"], world.values["P2"]])
            stack.push_async_callback(http.close)
            for name, port in zip(("FX", "FX2"), http.ports, strict=True):
                world.values[name] = f"http://127.0.0.1:{port}"
        provider = await stack.enter_async_context(CaseProvider(script))
        product = Product(world=world, play=play)
        stack.push_async_callback(product.close)
        if play.sweep is not None:
            world.values["SWEEP"] = play.sweep.value
        world.values |= placeholders(world)
        write_files(world, play.spec.get("files", []))
        product.environment = install(world, play, provider.base_url)
        stage = Stage(
            play=play, world=world, provider=provider, product=product, log=FixtureLog(world.fixture_log), http=http
        )
        stage.files_before = stage.files_now()
        stack.push_async_callback(_leave, stage)
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                await run_steps(stage, play.steps)
                failures, regrets = await run_checks(stage, play.checks)
                failures += await unlike_their_record(world.workspace)
        except StepError as error:
            failures, regrets = [f"step: {error}"], []
        except TimeoutError:
            failures, regrets = [f"the play took longer than {LONGEST_SECONDS:g} seconds"], []
        return Verdict(failures=failures, regrets=regrets, notes=_notes(stage) if failures else "")


async def _leave(stage: Stage) -> None:
    """End what the steps began."""
    if stage.repl is not None:
        await stage.repl.close()
    if stage.second is not None:
        await stage.second.close()
    for holder in stage.holders:
        holder.kill()
        holder.wait()
        if holder.stdout is not None:
            holder.stdout.close()
    await stage.product.close()
    await asyncio.gather(*stage.tasks, return_exceptions=True)


def _notes(stage: Stage) -> str:
    """What helps to understand a failure: the requests, the outcomes, the log."""
    lines = [f"sent {sent.text[:60]!r} to {sent.session}: {sent.outcome}" for sent in stage.sent]
    for number, request in enumerate(stage.provider.requests):
        lines.append(f"request {number} at {request.at:.2f}: {request.body.decode(errors='replace')[-1500:]}")
        lines += [f"  breaks {rule}" for rule in request.broken]
    log = stage.product.log_file
    if log.exists():
        lines.append(f"log: {log.read_text(errors='replace')[-3000:]}")
    return "\n".join(lines)
