"""Plays run ahead of their tests, two at a time: most of a play is waiting for processes, sockets and pauses."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from tests.cases.harness.runner import Verdict, run_play

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from tests.cases.harness.case import Play

AT_ONCE = 2


class PlayPool:
    """Runs `plays` in their order in a thread of its own; `verdict` waits for one. Leaving the block ends the rest."""

    def __init__(self, plays: Sequence[Play], folder: Path) -> None:
        self._folder = folder
        self._verdicts: dict[str, Future[Verdict]] = {play.name: Future() for play in plays}
        self._plays = plays
        self._loop: asyncio.AbstractEventLoop | None = None
        self._all: asyncio.Task[None] | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plays")

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._all is not None:
            with suppress(RuntimeError):  # all plays are over, and so is the loop
                self._loop.call_soon_threadsafe(self._all.cancel)
        self._thread.join()

    def verdict(self, play: Play) -> Verdict:
        """What the play showed, waiting for it; what the harness itself raised is raised here."""
        return self._verdicts[play.name].result()

    def _run(self) -> None:
        asyncio.run(self._run_all())

    async def _run_all(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._all = asyncio.create_task(self._work_all())
        self._started.set()
        await asyncio.gather(self._all, return_exceptions=True)
        for verdict in self._verdicts.values():
            verdict.cancel()

    async def _work_all(self) -> None:
        waiting = enumerate(self._plays)
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._work(waiting))

    async def _work(self, waiting: enumerate[Play]) -> None:
        for number, play in waiting:
            future = self._verdicts[play.name]
            try:
                future.set_result(await run_play(play, self._folder / f"{number:03}"))
            except Exception as error:  # noqa: BLE001 - a mistake of the harness belongs to the play's own test
                future.set_exception(error)
