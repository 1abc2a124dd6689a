"""The checks of a play by name: each raises `Unmet`, which says in a sentence what does not hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from oribi import OribiError
from tests.cases.harness import checks_outcome, checks_wire, checks_world
from tests.cases.harness.checking import Unmet, require
from tests.cases.harness.expand import expand
from tests.cases.harness.provider import advertised_name

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict
    from tests.cases.harness.stage import Stage

Check: TypeAlias = "Callable[[Stage, JsonDict], Awaitable[None]]"


async def run_checks(stage: Stage, checks: list[JsonDict]) -> tuple[list[str], list[str]]:
    """What does not hold: failures, and what only should have held. `alive` is asked last, since it sends a message."""
    failures: list[str] = []
    regrets: list[str] = []
    for check in sorted(checks, key=lambda check: check["check"] == "alive"):
        try:
            await _run(stage, check)
        except Unmet as unmet:
            (regrets if "level" in check else failures).append(f"{check['check']}: {unmet}")
    return failures, regrets


async def _run(stage: Stage, check: JsonDict) -> None:
    known = CHECKS.get(check["check"])
    if known is None:
        raise Unmet(f"the harness knows no check {check['check']!r}")

    def look_up(name: str, rest: str) -> Any:
        if name == "NAME":
            return advertised_name(stage.provider.script.naming, rest)
        return stage.world.look_up(name, rest)

    try:
        await known(stage, expand(check, look_up))
    except (OribiError, OSError, LookupError, ValueError) as error:
        raise Unmet(f"{type(error).__name__}: {error}") from error


async def _alive(stage: Stage, check: JsonDict) -> None:
    script = stage.provider.script
    script.counted = script.counted or len(stage.provider.requests)
    script.answer_plainly("still here")
    answer = await stage.product.ask(op="send", agent="case", session="alive-check", text="are you there?")
    require(answer["status"] == "ok" and "still here" in answer["text"], f"a plain message gave {answer!r}")


async def _one_of(stage: Stage, check: JsonDict) -> None:
    unmet: list[str] = []
    for alternative in check["of"]:
        failures, _ = await run_checks(stage, alternative)
        if not failures:
            return
        unmet.append("; ".join(failures))
    raise Unmet("none holds: " + " | ".join(unmet))


CHECKS: dict[str, Check] = {
    "wire": checks_wire.check_wire,
    "requests": checks_wire.check_request_count,
    "request_has": checks_wire.check_request_has,
    "request_bytes": checks_wire.check_request_bytes,
    "elapsed": checks_wire.check_elapsed,
    "advertised": checks_wire.check_advertised,
    "tool_runs": checks_wire.check_tool_runs,
    "tool_result": checks_wire.check_tool_result,
    "concurrent_runs": checks_wire.check_concurrent_runs,
    "run": checks_outcome.check_outcome,
    "final": checks_outcome.text_check("ok", "stopped"),
    "final_or_error": checks_outcome.text_check(),
    "error_text": checks_outcome.text_check("error", "rejected", "crashed", "died"),
    "usage": checks_outcome.check_usage,
    "audit": checks_world.check_audit,
    "sqlite_integrity": checks_world.check_sqlite_integrity,
    "history": checks_world.check_history,
    "log": checks_outcome.check_log,
    "stdout": checks_outcome.check_stdout,
    "stderr": checks_outcome.check_stderr,
    "repl": checks_outcome.check_repl,
    "file": checks_world.check_file,
    "new_files": checks_world.check_new_files,
    "process": checks_world.check_process,
    "hits": checks_world.check_hits,
    "hits_header": checks_world.check_hits_header,
    "sent_bytes": checks_world.check_sent_bytes,
    "memory_growth_mb": checks_world.check_memory_growth,
    "exit": checks_outcome.check_exit,
    "alive": _alive,
    "agents": checks_world.check_agents,
    "config_error": checks_world.check_config_error,
    "config_error_or_warning": checks_world.check_config_error,
    "one_of": _one_of,
}
