"""The stage of a play: everything a step may touch, and what the checks look at afterwards."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.cases.harness.outcome import Sent

if TYPE_CHECKING:
    from tests.cases.harness.case import Play
    from tests.cases.harness.fixture_log import FixtureLog
    from tests.cases.harness.http_fixtures import HttpFixtures
    from tests.cases.harness.outcome import Outcome
    from tests.cases.harness.product import Product
    from tests.cases.harness.provider import CaseProvider
    from tests.cases.harness.repl import Repl
    from tests.cases.harness.store import Store
    from tests.cases.harness.world import World


@dataclass(slots=True, kw_only=True)
class Stage:
    """Everything a step may touch, and what the checks look at afterwards."""

    play: Play
    world: World
    provider: CaseProvider
    product: Product
    log: FixtureLog
    http: HttpFixtures | None
    sent: list[Sent] = field(default_factory=list[Sent])
    repl: Repl | None = None
    snapshots: dict[str, Store] = field(default_factory=dict[str, "Store"])
    piped: Outcome | None = None
    tasks: list[asyncio.Task[None]] = field(default_factory=list["asyncio.Task[None]"])
    holders: list[subprocess.Popen[bytes]] = field(default_factory=list["subprocess.Popen[bytes]"])
    second: Product | None = None
    files_before: set[str] = field(default_factory=set[str])

    def files_now(self) -> set[str]:
        """All files below the play's folder, but for those of the harness."""
        own = (self.world.root / "fixtures", self.world.root / "plugins", self.product.log_file)
        return {
            str(path)
            for path in self.world.root.rglob("*")
            if path.is_file() and not any(path.is_relative_to(one) for one in own)
        }

    def labelled(self, label: str) -> Sent:
        """The message sent under a label."""
        return next(sent for sent in reversed(self.sent) if sent.label == label)
