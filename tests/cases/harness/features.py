"""What a play needs of the product, and which of it the product does not have yet. Nothing is left out silently.

A play that needs a missing feature is skipped by the feature's name. A feature that is built is taken out of `MISSING`
(or found by itself, like a wire), and its plays run from then on.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, get_args

from oribi.models.endpoints import Endpoint, Wire

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict, Play

MISSING: dict[str, str] = {
    "sandbox-shell": "no shell tool yet",
    "http-tool": "no HTTP tool yet",
    "mcp": "no MCP servers yet",
    "cron": "no scheduler yet",
    "http-api": "no HTTP API yet",
    "approvals": "no approvals yet",
    "shell-policy": "no rules for shell commands yet",
    "pricing": "no cost of a turn yet",
    "test-resolver": "no way to give the runtime a resolver yet",
}
if "gemini" not in get_args(Wire):
    MISSING["gemini-wire"] = "no Gemini wire yet"
if "idle_seconds" not in {field.name for field in fields(Endpoint)}:
    MISSING["idle-timeout"] = "the silence allowed to a provider cannot be set yet"

SLOW_MS = 30_000

_STEPS = {
    "load_cron": "cron",
    "clock_run": "cron",
    "next_fire": "cron",
    "clock_set": "cron",
    "set_cron": "cron",
    "down": "cron",
    "kill_mcp": "mcp",
    "mcp_config": "mcp",
    "http_start_run": "http-api",
    "http_start_run_parallel": "http-api",
    "http_raw_body": "http-api",
    "http_get": "http-api",
    "http_stream_start": "http-api",
    "http_stream_drop": "http-api",
    "api_dump": "http-api",
}
_CHECKS = {
    "fires": "cron",
    "api": "http-api",
    "http_body": "http-api",
    "http_status": "http-api",
    "client_stream": "http-api",
    "same_run_id": "http-api",
    "policy": "shell-policy",
    "not_granted": "approvals",
}
_SETUP = {"mcp": "mcp", "cron": "cron", "server": "http-api", "dns": "test-resolver"}
_ROLES = {"@shell": "sandbox-shell", "@http": "http-tool"}
_REQUIRES = {
    "deny list": "shell-policy",
    "approval in the terminal": "approvals",
    "approval mode": "approvals",
}


def missing_features(play: Play) -> dict[str, str]:
    """The features that the play cannot be run without and the product lacks, each with the reason."""
    needs = sorted(_needs(play))
    found = {feature: MISSING[feature] for feature in needs if feature in MISSING}
    required = play.spec.get("requires")
    if required is not None and required not in _REQUIRES:
        found[required] = "the case requires it, and nobody has said that Oribi has it"
    return found


def missing_parts(play: Play) -> dict[str, str]:
    """The missing features that single checks need: the rest of the play is run and has to hold."""
    has_cost = any("cost" in check for check in _flat(play.checks))
    return {"pricing": MISSING["pricing"]} if has_cost and "pricing" in MISSING else {}


def reasons_to_skip(play: Play, *, slow: bool) -> dict[str, str]:
    """Why the play is not run, by feature; `slow` runs also what takes long by its own words."""
    reasons = missing_features(play)
    if not reasons and not slow and (reason := slow_reason(play)):
        return {"--slow-cases": f"{reason}; the option runs it"}
    return reasons


def slow_reason(play: Play) -> str | None:
    """Why the play takes long, if it waits for half a minute or more by its own words."""
    waits = [step["ms"] for step in play.steps if step["do"] in ("sleep", "lock_db") and "ms" in step]
    longest = max(waits, default=0)
    return f"it waits {longest / 1000:g} seconds" if longest >= SLOW_MS else None


def _needs(play: Play) -> set[str]:
    spec = play.spec
    needs = {feature for key, feature in _SETUP.items() if spec.get(key)}
    needs |= {_STEPS[step["do"]] for step in play.steps if step["do"] in _STEPS}
    needs |= {_CHECKS[check["check"]] for check in _flat(play.checks) if check["check"] in _CHECKS}
    needs |= {"http-api" for step in play.steps if step.get("via") == "http"}
    acts = json.dumps([spec.get(key) for key in ("replies", "replies_tail", "replies_match", "steps", "expect")])
    needs |= {feature for role, feature in _ROLES.items() if f'"{role}"' in acts}
    needs |= _of_policy(spec.get("policy", {}), acts)
    if play.dialect == "gemini":
        needs.add("gemini-wire")
    if "idle_timeout_s" in spec.get("config", {}):
        needs.add("idle-timeout")
    if (required := spec.get("requires")) in _REQUIRES:
        needs.add(_REQUIRES[required])
    return needs


def _of_policy(policy: JsonDict, acts: str) -> set[str]:
    needs: set[str] = set()
    if policy.get("shell") == "ask":
        needs.add("approvals")
    if ("shell_allow" in policy or "shell_deny" in policy) and "@shell" in acts:
        needs.add("shell-policy")
    if ("http_allow" in policy or "http_default" in policy) and "@http" in acts:
        needs.add("http-tool")
    return needs


def _flat(checks: list[JsonDict]) -> list[JsonDict]:
    found: list[JsonDict] = []
    for check in checks:
        found.append(check)
        alternatives: list[list[JsonDict]] = check.get("of", [])
        for alternative in alternatives:
            found += _flat(alternative)
    return found
