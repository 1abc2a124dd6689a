"""`oribi policy`: what a person sees of a loop policy."""

from dataclasses import fields

import pytest

from oribi.core.budget import Limits
from oribi.core.policy import LoopPolicy
from tests.cli.program import Program

pytestmark = pytest.mark.slow


def test_policy_show_prints_a_line_a_field_with_where_it_comes_from(program: Program) -> None:
    program.set_up("[]")
    file = program.home / "agents" / "ops" / "AGENT.md"
    file.write_text(
        "---\nmodel: scripted:x.yaml\ntools: []\npolicy:\n  preset: reasoning\n  max_steps: ten\n"
        "budget: {tool_calls: 5}\nmodes:\n  plain: {steps: 0}\n---\nBe ops.\n"
    )
    shown = program.run("policy", "show", "ops")
    assert shown.code == 0
    assert shown.err == (
        "note: agents/ops/AGENT.md:6: policy.max_steps must be a whole number from 0 to 1000, not 'ten'; "
        "it counts as 3\n"
    )
    rows = [line.split(maxsplit=2) for line in shown.out.splitlines()]
    assert len(rows) == len(fields(LoopPolicy)) + len(fields(Limits)), "a head, and every field but the limits as one"
    assert rows[0] == ["FIELD", "VALUE", "FROM"]
    assert ["max_steps", "3", "AGENT.md:6"] in rows
    assert ["limits.tool_calls", "5", "AGENT.md:7"] in rows
    assert ["limits.total_steps", "14", "preset reasoning"] in rows
    as_json = program.run("policy", "show", "ops", "--mode", "plain", "--json").json
    assert as_json["mode"] == "plain"
    assert as_json["policy"]["max_steps"] == {"value": 0, "from": "AGENT.md:9"}
    unknown = program.run("policy", "show", "ops", "--mode", "plan")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err.endswith("error: agent 'ops' has no mode 'plan'; it has: plain\n")
