"""Checks of what a caller sees: outcomes, answers, usage, exits, and the texts that came out."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tests.cases.harness import store
from tests.cases.harness.checking import require, sends_of, snapshot, test_value

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict
    from tests.cases.harness.stage import Stage


async def check_outcome(stage: Stage, check: JsonDict) -> None:
    for sent in sends_of(stage, check):
        assert sent.outcome is not None, "steps wait for every outcome"
        status = sent.outcome.status
        wanted = check.get("status", [status])
        told = f"{sent.text[:40]!r} came out as {status} ({sent.outcome.end or sent.outcome.exit_code}"
        require(status in ([wanted] if isinstance(wanted, str) else wanted), f"{told}): {sent.outcome.text[:300]!r}")
        if "within_ms" in check:
            require(sent.milliseconds <= check["within_ms"], f"{told}) after {sent.milliseconds:.0f} ms")


def text_check(*statuses: str) -> Callable[[Stage, JsonDict], Awaitable[None]]:
    """A check of the text that came back, if the outcome is one of `statuses`, else of nothing."""

    async def check_text(stage: Stage, check: JsonDict) -> None:
        for sent in sends_of(stage, check):
            assert sent.outcome is not None, "steps wait for every outcome"
            text = sent.outcome.text if not statuses or sent.outcome.status in statuses else ""
            if sent.outcome.exit_code is not None and "error" in statuses and sent.outcome.status in statuses:
                text = f"{sent.outcome.stdout}\n{sent.outcome.stderr}"
            test_value(check, text, f"what came back for {sent.text[:40]!r} ({sent.outcome.status})")

    return check_text


async def check_usage(stage: Stage, check: JsonDict) -> None:
    for sent in sends_of(stage, check):
        assert sent.outcome is not None, "steps wait for every outcome"
        found = snapshot(stage, check)
        turn_id = sent.outcome.turn_id or found.records[sent.session][-1].turn_id or ""
        replies = store.usage_of(found, sent.session, turn_id)
        reported = {
            "prompt": [one.input_tokens for one in replies],
            "completion": [one.output_tokens for one in replies],
            "cached": [one.cached_tokens for one in replies],
            "cache_write": [one.cache_write_tokens for one in replies],
        }
        if check.get("known") is False:
            known = [one for one in (*reported["prompt"], *reported["completion"]) if one is not None]
            require(not known, f"{reported!r} is said to be known")
        for key, counts in reported.items():
            if key in check:
                total = sum(count or 0 for count in counts)
                require(total == check[key], f"{key} is {total} ({counts!r}), wanted {check[key]}")


async def check_exit(stage: Stage, check: JsonDict) -> None:
    exits = [one for one in stage.product.exits if one.label == check.get("as", one.label)]
    require(bool(exits), "no process of the product has exited")
    last = exits[-1]
    if "code_in" in check:
        require(last.code in check["code_in"], f"the exit code is {last.code}, wanted one of {check['code_in']!r}")
    if "within_ms" in check:
        since = stage.product.signalled_at or last.started_at
        milliseconds = (last.ended_at - max(since, last.started_at)) * 1000
        require(milliseconds <= check["within_ms"], f"it took {milliseconds:.0f} ms")


async def check_log(stage: Stage, check: JsonDict) -> None:
    files = [stage.product.log_file, *sorted((stage.product.home / "logs").glob("*"))]
    texts = [file.read_text(errors="replace") for file in files if file.is_file()]
    texts += [sent.outcome.stderr for sent in stage.sent if sent.outcome is not None]
    test_value(check, "\n".join(texts), "the log")


async def check_stdout(stage: Stage, check: JsonDict) -> None:
    test_value(check, _last_output(stage, check, "stdout"), "stdout")


async def check_stderr(stage: Stage, check: JsonDict) -> None:
    test_value(check, _last_output(stage, check, "stderr"), "stderr")


async def check_repl(stage: Stage, check: JsonDict) -> None:
    require(stage.repl is not None, "there was no prompt")
    assert stage.repl is not None, "just required"
    if "contains" in check:
        await stage.repl.wait_text(re.escape(check["contains"]), 10.0)
    test_value(check, stage.repl.text, "the terminal")


def _last_output(stage: Stage, check: JsonDict, name: str) -> str:
    if "as" not in check and stage.piped is not None:
        return getattr(stage.piped, name)
    outcomes = [sent.outcome for sent in sends_of(stage, check) if sent.outcome is not None]
    shots = [sent.outcome for sent in stage.sent if sent.via == "cli" and sent.outcome is not None]
    chosen = [one for one in outcomes if one.exit_code is not None] or shots
    if chosen:
        return getattr(chosen[-1], name)
    return stage.product.log_file.read_text(errors="replace") if name == "stderr" else ""
