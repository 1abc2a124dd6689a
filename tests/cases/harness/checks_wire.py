"""Checks of what went to the provider, and of the tools behind it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.cases.harness.checking import compare, requests_of, require, snapshot, test_value
from tests.cases.harness.paths import look_at, system_text
from tests.cases.harness.provider import advertised_tools
from tests.cases.harness.results import last_calls, results_of
from tests.cases.harness.settings import ROLES

if TYPE_CHECKING:
    from oribi.testing.model_request import ModelRequest
    from tests.cases.harness.case import JsonDict
    from tests.cases.harness.stage import Stage


async def check_wire(stage: Stage, check: JsonDict) -> None:
    for number, request in requests_of(stage, check.get("requests"), "all"):
        require(not request.broken, f"request {number} breaks the rules: {'; '.join(request.broken)}")


async def check_request_count(stage: Stage, check: JsonDict) -> None:
    count = len(requests_of(stage, "all"))
    require(compare(check, count), f"{count} were sent, wanted {check}")


async def check_request_has(stage: Stage, check: JsonDict) -> None:
    for number, request in requests_of(stage, check.get("request")):
        path: str = check["path"]
        value = _value_at(stage, request, path)
        what = f"{path} of request {number}"
        if check.get("equals_calls_order"):
            calls = [call.id for call in last_calls(request.json, stage.play.dialect)]
            require(value == calls, f"{what} is {value!r}, but the calls came as {calls!r}")
        for item, wanted in zip(value, check.get("in_order_contains", []), strict=False):
            require(wanted in json.dumps(item, ensure_ascii=False), f"{what}: {item!r} does not hold {wanted!r}")
        if (wanted_all := check.get("in_order_contains")) is not None:
            require(len(value) == len(wanted_all), f"{what} has {len(value)} items, wanted {len(wanted_all)}")
        test_value(check, value, what)


def _value_at(stage: Stage, request: ModelRequest, path: str) -> Any:
    is_system = path == "messages[0].content" or path.startswith("messages[role=system]")
    if is_system and (stage.play.dialect != "openai" or path == "messages[0].content"):
        return system_text(request.json, stage.play.dialect)
    return look_at(request.json, path)


async def check_request_bytes(stage: Stage, check: JsonDict) -> None:
    for number, request in requests_of(stage, check.get("request"), "each"):
        size = len(request.body)
        for key, holds in (("lt", size < check.get("lt", 0)), ("gt", size > check.get("gt", 0))):
            require(key not in check or holds, f"request {number} has {size} bytes, wanted {key} {check.get(key)}")


async def check_elapsed(stage: Stage, check: JsonDict) -> None:
    (_, first), (_, second) = requests_of(stage, check["between"])
    milliseconds = (second.at - first.at) * 1000
    low, high = check.get("min_ms", 0), check.get("max_ms", float("inf"))
    require(low <= milliseconds <= high, f"{milliseconds:.0f} ms passed, wanted {low} to {high}")


async def check_advertised(stage: Stage, check: JsonDict) -> None:
    if "same_in_requests" in check:
        lists = [
            [tool["name"] for tool in advertised_tools(request.json, stage.play.dialect)]
            for _, request in requests_of(stage, check["same_in_requests"])
        ]
        require(all(names == lists[0] for names in lists), f"the tools differ: {lists!r}")
    for number, request in requests_of(stage, check.get("request")):
        tools = advertised_tools(request.json, stage.play.dialect)
        names = [tool["name"] for tool in tools]
        shown = f"request {number} advertises {names!r}"
        require(check.get("count", len(names)) == len(names), shown)
        require(len(names) >= check.get("count_at_least", 0), shown)
        require(len(names) in check.get("in", [len(names)]), shown)
        require(not check.get("unique") or len(set(names)) == len(names), shown)
        if "matches" in check:
            require(not [name for name in names if not re.search(check["matches"], name)], shown)
        naming = replace(stage.provider.script.naming, advertised=tools)
        for key, wanted in (("has", True), ("lacks", False)):
            listed: list[str] = [check[key]] if isinstance(check.get(key), str) else check.get(key, [])
            for tool in listed:
                require((naming.name(tool) in names) == wanted, f"{shown}; wanted {key} {tool!r}")


async def check_tool_runs(stage: Stage, check: JsonDict) -> None:
    tool: str = check["tool"]
    runs: list[JsonDict] = stage.log.arguments(tool)
    if tool in ROLES:
        rows = [row for row in snapshot(stage, check).rows if row["tool_name"] == ROLES[tool]]
        runs = [json.loads(row["input"]) for row in rows if row["status"] != "Denied"]
    if "n" in check:
        holds = compare(check, len(runs))
        require(holds, f"{tool} ran {len(runs)} times, wanted {check.get('op', '==')} {check['n']}: {runs!r}"[:600])
    if "args" in check:
        wanted, found = (Counter(json.dumps(one, sort_keys=True) for one in given) for given in (check["args"], runs))
        require(wanted == found, f"{tool} ran with {runs!r}, wanted {check['args']!r}")
    for never in check.get("args_never", []):
        hit = [run for run in runs if never.items() <= run.items()]
        require(not hit, f"{tool} ran with {hit!r}, which it never should")


async def check_tool_result(stage: Stage, check: JsonDict) -> None:
    for number, request in requests_of(stage, check.get("request"), -1):
        body = request.json
        results = results_of(body, stage.play.dialect, last_calls(body, stage.play.dialect))
        call = check.get("call", 0)
        require(call < len(results), f"request {number} has {len(results)} results, none for call {call}")
        test_value(check, results[call], f"the result of call {call} in request {number}")


async def check_concurrent_runs(stage: Stage, check: JsonDict) -> None:
    most = stage.log.most_at_once(check.get("tool"))
    require(most <= check["max"], f"{most} runs were under way at once, wanted at most {check['max']}")
