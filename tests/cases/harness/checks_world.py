"""Checks of what lasts: the store, files, processes, fixture servers, agents."""

from __future__ import annotations

import glob
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cases.harness import processes, store
from tests.cases.harness.checking import VALUE_TESTS, compare, require, snapshot, test_value, tool_name

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict
    from tests.cases.harness.stage import Stage


async def check_audit(stage: Stage, check: JsonDict) -> None:
    found = snapshot(stage, check)
    rows = found.rows
    if "tool" in check:
        rows = [row for row in rows if row["tool_name"] == tool_name(check["tool"])]
    if "status" in check:
        wanted = check["status"]
        names = [wanted] if isinstance(wanted, str) else wanted
        statuses = [str(row["status"]).lower() for row in rows]
        require(any(str(name).lower() in statuses for name in names), f"the rows say {statuses!r}, wanted {names!r}")
    if "rows" in check:
        require(len(rows) == check["rows"], f"there are {len(rows)} rows, wanted {check['rows']}")
    if "rows_at_least" in check:
        count = len(rows) if "tool" in check else sum(len(records) for records in found.records.values())
        require(count >= check["rows_at_least"], f"there are {count} rows, wanted {check['rows_at_least']}")
    for key in ("has", "shows", "text_contains"):
        given = check.get(key, [])
        for word in [given] if isinstance(given, str) else given:
            require(str(word) in found.text or json.dumps(word)[1:-1] in found.text, f"it does not hold {word!r}")
    for word in check.get("contains_none", []):
        require(word not in found.text, f"it holds {word!r}")
    if check.get("verifies"):
        require(found.integrity == "ok", f"the integrity check says {found.integrity!r}")


async def check_sqlite_integrity(stage: Stage, check: JsonDict) -> None:
    found = snapshot(stage, check)
    require(found.integrity == "ok", f"PRAGMA integrity_check says {found.integrity!r}")


async def check_history(stage: Stage, check: JsonDict) -> None:
    found = snapshot(stage, check)
    session = check.get("session", stage.sent[-1].session if stage.sent else "s1")
    messages = store.user_messages(found, session)
    if "user_messages" in check:
        require(messages == check["user_messages"], f"the user messages are {messages!r}")
    if check.get("each_once"):
        sent = [one.text for one in stage.sent if one.session == session and one.outcome and one.outcome.status == "ok"]
        odd = {text: messages.count(text) for text in sent if messages.count(text) != sent.count(text)}
        require(not odd and len(messages) == len(set(messages)), f"not each once: {odd!r} in {messages!r}")
    if check.get("no_interleave"):
        require(store.turns_stand_together(found, session), f"the turns of {session!r} are mixed")
    if check.get("results_match_calls"):
        calls, results = store.calls_and_results(found, session)
        require(Counter(calls) == Counter(results), f"calls {calls!r} have the results {results!r}")
    if "assistant_messages_once" in check:
        answers = store.answers(found, session)
        require(len(answers) == len(set(answers)), f"an answer is there twice: {answers!r}")
    if "has_answer" in check:
        wanted = check["has_answer"]
        answers = store.answers(found, session)
        holds = any(wanted in text for text in answers) if isinstance(wanted, str) else bool(answers) == wanted
        require(holds, f"the answers are {answers!r}")
    if "first_turn_marked" in check:
        ends = store.turn_ends(found, session)
        require(bool(ends) and ends[0] != "Completed", f"the turns ended as {ends!r}")


async def check_file(stage: Stage, check: JsonDict) -> None:
    named: str = check["path"]
    found = [Path(path) for path in glob.glob(named)] if "*" in named else [Path(named)]  # noqa: PTH207 - an absolute pattern
    there = [path for path in found if path.exists() or path.is_symlink()]
    if "exists" in check:
        require(bool(there) == check["exists"], f"{named} is {'there' if there else 'not there'}")
    if any(test in check for test in VALUE_TESTS):
        require(bool(there), f"{named} is not there")
        test_value(check, there[0].read_bytes().decode("utf-8", "replace"), named)
    if "mode" in check:
        mode = f"{there[0].stat().st_mode & 0o777:o}"
        require(mode == str(check["mode"]).lstrip("0"), f"{named} has the mode {mode}")


async def check_new_files(stage: Stage, check: JsonDict) -> None:
    allowed = Path(check["only_under"])
    new = [path for path in stage.files_now() - stage.files_before if not Path(path).is_relative_to(allowed)]
    require(not new, f"new files outside {allowed}: {sorted(new)!r}")


async def check_process(stage: Stage, check: JsonDict) -> None:
    if check.get("what") == "runtime":
        is_alive = stage.product.is_running
    else:
        is_alive = bool(processes.with_marker(check["marker"]))
    require(is_alive == check["alive"], f"it is {'alive' if is_alive else 'gone'}")


async def check_hits(stage: Stage, check: JsonDict) -> None:
    assert stage.http is not None, "a play with this check has HTTP fixtures"
    hits = stage.http.hits_of(check["fixture"])
    if "n" in check:
        require(compare(check, len(hits)), f"{check['fixture']} got {len(hits)} requests")
    for name, value in check.get("header", {}).items():
        require(any(hit.headers.get(name.lower()) == value for hit in hits), f"no request had {name}: {value}")


async def check_hits_header(stage: Stage, check: JsonDict) -> None:
    assert stage.http is not None, "a play with this check has HTTP fixtures"
    for hit in stage.http.hits_of(check["fixture"]):
        test_value(check, hit.headers.get(check["name"].lower(), ""), f"header {check['name']}")


async def check_sent_bytes(stage: Stage, check: JsonDict) -> None:
    assert stage.http is not None, "a play with this check has HTTP fixtures"
    size = stage.http.sent_bytes.get(check["fixture"], 0)
    require(size < check["lt"], f"{check['fixture']} has sent {size} bytes")


async def check_memory_growth(stage: Stage, check: JsonDict) -> None:
    grown = stage.product.memory_growth_mb()
    require(grown < check["lt"], f"the runtime has grown by {grown:.0f} MB")


async def check_agents(stage: Stage, check: JsonDict) -> None:
    agents = {agent["name"]: agent for agent in await stage.product.loaded_agents([])}
    loaded = {name for name, agent in agents.items() if "error" not in agent}
    for name in check.get("present", []):
        require(name in loaded, f"{name!r} is not among {sorted(loaded)!r}")
    for name in check.get("absent", []):
        require(name not in loaded, f"{name!r} is among {sorted(loaded)!r}")
    if "name" not in check:
        return
    require(check["name"] in loaded, f"{check['name']!r} did not load: {agents.get(check['name'])!r}")
    agent = agents[check["name"]]
    if "description" in check:
        require(agent["description"] == check["description"], f"the description is {agent['description']!r}")
    if "tools" in check:
        wanted = [tool_name(tool) for tool in check["tools"]]
        require(agent["tools"] == wanted, f"the tools are {agent['tools']!r}, wanted {wanted!r}")
    for tool in check.get("tools_not", []):
        require(tool_name(tool) not in agent["tools"], f"the tools are {agent['tools']!r}")
    if "max_iterations_in" in check:
        low, high = check["max_iterations_in"]
        require(low <= agent["max_iterations"] <= high, f"max_iterations is {agent['max_iterations']}")


async def check_config_error(stage: Stage, check: JsonDict) -> None:
    agents = await stage.product.loaded_agents([])
    errors = [agent["error"] for agent in agents if "error" in agent]
    opened = await stage.product.start()
    if opened["status"] != "ok":
        errors.append(opened["text"])
    if check["check"] == "config_error_or_warning":
        errors.append(stage.product.log_file.read_text(errors="replace"))
    require(any(errors), "there was no error")
    text = "\n".join(errors)
    if "matches" in check:
        test_value(check, text, "the errors")
    if check.get("names_file"):
        require(".md" in text or ".toml" in text, f"the errors name no file: {text!r}")
