"""Cases from public reports, run against Oribi as a black box. `pytest tests/cases --cases DIR` runs another folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases.harness.features import missing_parts, reasons_to_skip

if TYPE_CHECKING:
    from tests.cases.harness.case import Play
    from tests.cases.harness.pool import PlayPool


@pytest.mark.slow
def test_case_holds(play: Play, plays: PlayPool, request: pytest.FixtureRequest) -> None:
    properties: list[tuple[str, object]] = request.node.user_properties
    slow = bool(request.config.getoption("--slow-cases", default=False))
    if missing := reasons_to_skip(play, slow=slow):
        properties.append(("missing", " + ".join(missing)))
        pytest.skip("; ".join(f"{feature}: {why}" for feature, why in missing.items()))
    verdict = plays.verdict(play)
    if verdict.regrets:
        properties.append(("regret", "; ".join(verdict.regrets)))
    if verdict.failures:
        pytest.fail("\n".join([*verdict.failures, verdict.notes]), pytrace=False)
    if missing := missing_parts(play):
        properties.append(("missing", " + ".join(missing)))
        pytest.skip("; ".join(f"all else holds, but {feature}: {why}" for feature, why in missing.items()))
