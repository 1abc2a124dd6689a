"""`oribi worker`: a process that continues every turn that was cut off and drives every input that waits."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    import signal

    from oribi.cli.turns import Stage


@click.command("worker", epilog=examples("oribi worker", "oribi worker --once", "oribi worker --most 20 --grace 60"))
@global_options()
@click.option("--once", is_flag=True, help="End when nothing is left to continue.")
@click.option("--most", type=click.IntRange(1, 1000), default=8, show_default=True, help="Turns at once.")
@click.option(
    "--grace",
    "grace_seconds",
    type=click.FloatRange(0, 3600),
    default=10.0,
    show_default=True,
    help="Seconds that tools and models under way get when the worker is stopped.",
)
@click.pass_obj
def command(flags: Flags, *, once: bool, most: int, grace_seconds: float) -> int:
    """Continue whatever was cut off, as long as it runs.

    Turns of the workspace that are open and that no living process drives go on where they were; inputs that wait for
    their session get their turn. The first SIGTERM or Ctrl-C lets each effect under way finish and leaves; turns stay
    open and the next worker, or "oribi resume", continues them. A second one leaves at once.
    """
    import anyio

    from oribi.cli.turns import open_stage

    with open_stage(flags, streams=False) as stage:
        return anyio.run(_work, stage, once, most, grace_seconds)


async def _work(stage: Stage, once: bool, most: int, grace_seconds: float) -> int:  # noqa: FBT001 - as anyio.run passes
    import asyncio

    import anyio

    from oribi.cli.wording import counted

    is_over = anyio.Event()

    def stop(number: signal.Signals) -> None:
        if sys.stderr.isatty():
            stage.output.tell("\n")
        stage.note(f"{number.name}: leaving when what is under way is done, at the latest in {grace_seconds:g} s")
        is_over.set()

    async with stage.app as app:
        stage.note(f"worker on {app.workspace.home}; Ctrl-C leaves")
        with stage.stops.during(asyncio.get_running_loop(), stop):
            ended = await app.work(is_over, most=most, grace_seconds=grace_seconds, leave_when_done=once)
        stage.note(f"{counted(ended, 'turn')} brought to an end")
    return 0
