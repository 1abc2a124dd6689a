"""The case harness itself: a check that does not hold is seen, and every word of the format is read as it is meant."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tests.cases.harness.case import Play, fill_row, read_plays
from tests.cases.harness.checks import CHECKS
from tests.cases.harness.expand import expand
from tests.cases.harness.features import missing_features
from tests.cases.harness.http_fixtures import HttpFixtures
from tests.cases.harness.paths import NothingThereError, look_at
from tests.cases.harness.provider import Naming, advertised_name, with_names
from tests.cases.harness.runner import run_play
from tests.cases.harness.settings import HERE, ROLES, map_arguments
from tests.cases.harness.steps import ACTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cases.harness.case import JsonDict
    from tests.cases.harness.runner import Verdict

REPORTS = HERE.parent / "reports"
ECHO: JsonDict = {
    "name": "echo",
    "description": "fixture tool echo",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "behaviour": {"return": "echo_args"},
}


def call(tool: str, arguments: Any, identifier: str = "c1") -> JsonDict:
    function = {"name": tool, "arguments": arguments}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": identifier, "function": function}]}
    return {"json": {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}}


def says(text: str) -> JsonDict:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 20, "completion_tokens": 7}
    return {"json": {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}}


SPEC: JsonDict = {
    "name": "one call",
    "tools": [ECHO],
    "builtin": ["@write"],
    "replies": [
        call("@fx.echo", '{"text": "hello ${N}"}'),
        call("@write", {"$json": {"path": "made.txt", "content": {"$repeat": {"text": "ab", "times": 3}}}}),
        says("all is done"),
    ],
    "steps": [{"do": "send", "text": "go", "session": "s1"}],
}

TRUE: list[JsonDict] = [
    {"check": "wire", "requests": "all", "rules": "openai"},
    {"check": "requests", "op": "==", "n": 3},
    {
        "check": "request_has",
        "request": 1,
        "path": "messages[*].role",
        "equals": ["system", "user", "assistant", "tool"],
    },
    {"check": "request_has", "request": 1, "path": "messages[role=tool][*].tool_call_id", "equals_calls_order": True},
    {"check": "request_bytes", "request": "each", "lt": 10_000},
    {"check": "tool_runs", "tool": "@fx.echo", "op": "==", "n": 1, "args": [{"text": "hello 1"}]},
    {"check": "tool_runs", "tool": "@write", "op": "==", "n": 1},
    {"check": "tool_result", "request": 1, "call": 0, "contains": "hello 1"},
    {"check": "run", "status": ["ok"], "within_ms": 60_000},
    {"check": "final", "equals": "all is done"},
    {"check": "elapsed", "between": [0, 2], "min_ms": 0, "max_ms": 60_000},
    {"check": "usage", "prompt": 20, "completion": 7},
    {"check": "advertised", "request": 0, "count": 2, "unique": True, "has": ["@fx.echo", "@write"], "lacks": "@read"},
    {"check": "audit", "tool": "@fx.echo", "rows": 1, "readable": True, "has": "all is done"},
    {"check": "sqlite_integrity"},
    {
        "check": "history",
        "user_messages": ["go"],
        "each_once": True,
        "no_interleave": True,
        "results_match_calls": True,
    },
    {"check": "history", "has_answer": "all is done", "assistant_messages_once": True},
    {"check": "log", "not_contains": "Traceback"},
    {"check": "file", "path": "${WS}/made.txt", "exists": True, "equals": "ababab"},
    {"check": "process", "what": "runtime", "alive": True},
    {"check": "process", "marker": "${CANARY}", "alive": False},
    {"check": "agents", "name": "case", "tools": ["@fx.echo", "@write"], "present": ["case"], "absent": ["other"]},
    {"check": "concurrent_runs", "max": 1},
    {"check": "memory_growth_mb", "lt": 500},
    {"check": "new_files", "only_under": "${WS}"},
    {"check": "one_of", "of": [[{"check": "requests", "n": 99}], [{"check": "final", "contains": "done"}]]},
    {"check": "alive"},
]

FALSE: list[JsonDict] = [
    {"check": "requests", "op": ">=", "n": 4},
    {"check": "request_has", "request": 9, "path": "messages", "nonempty": True},
    {"check": "request_has", "request": 1, "path": "messages[role=tool].content", "not_contains": "hello 1"},
    {"check": "request_has", "request": 0, "path": "messages[role=tool][-1].content", "contains": "x"},
    {"check": "request_bytes", "request": "each", "lt": 100},
    {"check": "tool_runs", "tool": "@fx.echo", "op": "==", "n": 1, "args": [{"text": "hello"}]},
    {"check": "tool_runs", "tool": "@fx.echo", "op": "<=", "n": 1, "args_never": [{"text": "hello 1"}]},
    {"check": "tool_result", "request": 1, "call": 1, "contains": "hello"},
    {"check": "tool_result", "request": 1, "call": 0, "matches": "^goodbye"},
    {"check": "run", "status": ["error"]},
    {"check": "run", "status": ["ok"], "within_ms": 0},
    {"check": "final", "equals": "done"},
    {"check": "error_text", "nonempty": True},
    {"check": "elapsed", "between": [0, 1], "min_ms": 60_000},
    {"check": "usage", "prompt": 21},
    {"check": "usage", "known": False},
    {"check": "advertised", "request": 0, "in": [0, 1]},
    {"check": "audit", "tool": "@fx.echo", "rows": 2},
    {"check": "audit", "contains_none": ["hello 1"]},
    {"check": "history", "user_messages": ["stop"]},
    {"check": "log", "contains": "Traceback"},
    {"check": "stdout", "contains": "done"},
    {"check": "file", "path": "${WS}/made.txt", "exists": False},
    {"check": "file", "path": "${WS}/other.txt", "contains": ""},
    {"check": "process", "what": "runtime", "alive": False},
    {"check": "exit", "code_in": [0]},
    {"check": "agents", "name": "case", "tools": []},
    {"check": "config_error"},
    {"check": "new_files", "only_under": "${OUT}"},
    {"check": "one_of", "of": [[{"check": "requests", "n": 99}], [{"check": "final", "contains": "nothing"}]]},
    {"check": "no_such_check"},
]


def play(tmp_path: Path, checks: list[JsonDict], **changes: Any) -> Verdict:
    made = Play(file="own", variant="own", spec=SPEC | {"expect": checks} | changes)
    return asyncio.run(run_play(made, tmp_path / "play"))


@pytest.mark.slow
def test_what_holds_passes(tmp_path: Path) -> None:
    assert play(tmp_path, TRUE).failures == []


@pytest.mark.slow
def test_every_check_that_does_not_hold_is_reported(tmp_path: Path) -> None:
    failures = play(tmp_path, FALSE).failures
    assert [failure.partition(":")[0] for failure in failures] == [check["check"] for check in FALSE]


@pytest.mark.slow
def test_a_check_that_only_should_hold_is_a_regret(tmp_path: Path) -> None:
    verdict = play(tmp_path, [{"check": "requests", "n": 99, "level": "should"}])
    assert verdict.failures == []
    assert len(verdict.regrets) == 1


@pytest.mark.slow
def test_a_product_that_does_not_answer_plainly_is_not_alive(tmp_path: Path) -> None:
    broken = [{"do": "agent_file", "raw": "no frontmatter"}, {"do": "restart"}]
    verdict = play(tmp_path, [{"check": "alive"}], steps=[*broken, *SPEC["steps"]])
    assert [failure.partition(":")[0] for failure in verdict.failures] == ["alive"]


@pytest.mark.slow
def test_a_wait_for_what_never_happens_fails_the_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.cases.harness.steps.WAIT_SECONDS", 0.2)
    verdict = play(tmp_path, [], steps=[{"do": "wait_tool", "tool": "@fx.echo"}])
    assert verdict.failures == ["step: waited 0.2 seconds for 1 x start of the fixture tool '@fx.echo'"]


def test_every_step_and_check_of_the_reports_is_known_or_belongs_to_a_missing_feature() -> None:
    for one in read_plays(REPORTS, ("messages", "or_tokens")):
        if missing_features(one):
            continue
        unknown = [step["do"] for step in one.steps if step["do"] not in ACTIONS]
        unknown += [check["check"] for check in one.checks if check["check"] not in CHECKS]
        assert not unknown, f"{one.name}: {unknown!r}"


def test_a_variant_that_requires_an_unknown_feature_is_skipped_by_its_name() -> None:
    one = Play(file="f", variant="v", spec={"requires": "time travel"})
    assert list(missing_features(one)) == ["time travel"]


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no case files"):
        read_plays(tmp_path)
    (tmp_path / "a.json").write_text('{"format": "agent-case/2", "variants": []}')
    with pytest.raises(ValueError, match="agent-case/2"):
        read_plays(tmp_path)


def test_a_variant_replaces_the_set_up_but_adds_tools_and_runs_once_per_row_and_value(tmp_path: Path) -> None:
    sweep: JsonDict = {
        "do": "sweep",
        "param": "history_limit",
        "values": {"messages": [2, 3], "or_tokens": [600]},
        "body": [],
    }
    case: JsonDict = {
        "format": "agent-case/1",
        "setup": {"tools": [{"name": "a"}], "agent": {"retries": 1}},
        "variants": [
            {
                "name": "t",
                "tools": [{"name": "b"}],
                "agent": {},
                "table": {"reply": ["${ROW}"], "rows": ["@x", {"k": 1}]},
            },
            {"name": "s", "steps": [sweep]},
        ],
    }
    (tmp_path / "a.json").write_text(json.dumps(case))
    plays = read_plays(tmp_path, ("messages",))
    assert [one.name for one in plays] == [
        "a: t [row 1]",
        "a: t [row 2]",
        "a: s [history_limit 2]",
        "a: s [history_limit 3]",
    ]
    assert [tool["name"] for tool in plays[0].spec["tools"]] == ["a", "b"]
    assert plays[0].spec["agent"] == {}
    assert plays[1].spec["replies"] == [{"k": 1}]


def test_rows_are_filled_in_whole_or_within_a_text() -> None:
    assert fill_row({"a": "${ROW}", "b": ["x ${ROW:bare}"]}, "@c.get") == {"a": "@c.get", "b": ["x c.get"]}
    assert fill_row("${ROW}", {"bytes": 3}) == {"bytes": 3}


def test_values_are_built_from_the_inside_out() -> None:
    repeat = {"before": "<", "text": "${WORD}", "times": 2, "after": ">"}
    built = expand({"$json": {"command": {"$repeat": repeat}}}, lambda name, rest: f"{name.lower()}{rest}")
    assert built == {"$json": {"command": "<wordword>"}}
    nest = {"open": "[", "close": "]", "core": "1", "times": 3}
    assert expand({"$nest": nest}, lambda name, rest: f"{name}{rest}") == "[[[1]]]"
    assert expand("${NAME:echo|upper} ${lower}", lambda name, rest: f"{name}{rest}") == "NAME:echo|upper ${lower}"


def naming() -> Naming:
    listed = [{"name": "fx__echo", "description": "fixture tool echo"}, {"name": "write_file", "description": "w"}]
    return Naming(roles=ROLES, arguments=map_arguments, servers={"fx"}, advertised=listed)


def test_names_in_replies_are_those_advertised_and_arguments_are_encoded_for_the_wire() -> None:
    arguments = {"$json": {"path": "p", "content": "c"}}
    replies = {
        "openai": {"name": "@write", "arguments": arguments},
        "anthropic": {"name": "@fx.echo", "input": {"$json": {"text": "t"}}},
        "odd": {"name": "no_such", "arguments": {"$json": {"path": "p"}, "of": "@write"}},
        "sse": ['data: {"name":"@fx.echo","mail":"@nobody.here"}', {"text": '\\"@write\\"', "split_bytes": 1}],
        "content": '"@fx.echo"',
    }
    assert with_names(replies, naming()) == {
        "openai": {"name": "write_file", "arguments": '{"path": "p", "content": "c"}'},
        "anthropic": {"name": "fx__echo", "input": {"text": "t"}},
        "odd": {"name": "no_such", "arguments": '{"path": "p"}'},
        "sse": ['data: {"name":"fx__echo","mail":"@nobody.here"}', {"text": '\\"write_file\\"', "split_bytes": 1}],
        "content": '"@fx.echo"',
    }
    assert advertised_name(naming(), ":fx.echo|upper") == "FX__ECHO"
    assert advertised_name(naming(), ":write") == "write_file"


def test_paths_filter_slice_and_index() -> None:
    document = {"messages": [{"role": "user", "content": "u"}, {"role": "tool", "parts": [{"a": 1}, {"a": 2}]}]}
    assert look_at(document, "messages[role=user].content") == ["u"]
    assert look_at(document, "messages[role=tool][-1].parts[0:1]") == [{"a": 1}]
    assert look_at(document, "messages[-1].parts[*].a") == [1, 2]
    for nowhere in ("messages[7]", "messages[role=system][0]", "messages[0].parts"):
        with pytest.raises(NothingThereError):
            look_at(document, nowhere)


@pytest.mark.anyio
async def test_http_fixtures_count_who_came_and_redirect_where_they_are_told() -> None:
    fixtures = HttpFixtures()
    await fixtures.start([])
    origin = f"http://127.0.0.1:{fixtures.ports[0]}"
    async with aiohttp.ClientSession() as client:
        to = f"{origin}/redir?code=307%26to={origin}/hello"
        async with client.get(f"{origin}/redir?code=302&to={to}", headers={"X-Who": "me"}) as answer:
            assert await answer.text() == "hello"
        async with client.get(f"{origin}/gzip-bomb?mb=1") as answer:
            assert len(await answer.read()) == 2**20
    await fixtures.close()
    assert [hit.fixture for hit in fixtures.hits] == ["redir", "redir", "hello", "gzip-bomb"]
    assert fixtures.hits_of("/hello")[0].headers["x-who"] == "me"
    assert fixtures.sent_bytes["gzip-bomb"] < 10_000


def converse(tmp_path: Path, given: JsonDict, *messages: JsonDict) -> list[str]:
    """What the MCP fixture server answers on stdout."""
    settings = tmp_path / "server.json"
    settings.write_text(json.dumps({"server": {"name": "fx"} | given, "log": str(tmp_path / "log")}))
    text = "".join(json.dumps({"jsonrpc": "2.0"} | message) + "\n" for message in messages)
    command = [sys.executable, str(HERE / "mcp_server.py"), str(settings), "mark"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(text)
        server.stdin.flush()
        wanted = sum("id" in message for message in messages)
        lines: list[str] = []
        while sum('"result"' in line or '"error"' in line for line in lines) < wanted:
            lines.append(server.stdout.readline().rstrip("\n"))
        server.stdin.close()
        return [*lines, *(line.rstrip("\n") for line in server.stdout)]


def test_the_mcp_fixture_server_lists_page_by_page_and_answers_calls(tmp_path: Path) -> None:
    given = {"tools": ["echo", "ping"], "page_size": 1, "stdout_noise": ["✓ ready"], "instructions": "be good"}
    first, second = {"id": 2, "method": "tools/list"}, {"id": 3, "method": "tools/list", "params": {"cursor": "1"}}
    start = {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
    called = {"id": 4, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "é"}}}
    lines = converse(tmp_path, given | {"stdout_noise_on_stop": "bye"}, start, first, second, called)
    assert lines[0] == "✓ ready"
    assert lines[-1] == "bye"
    answers = {
        answer["id"]: answer["result"] for line in lines if line.startswith("{") for answer in [json.loads(line)]
    }
    assert answers[1]["instructions"] == "be good"
    assert [tool["name"] for tool in answers[2]["tools"]] == ["echo"]
    assert answers[2]["nextCursor"] == "1"
    assert "nextCursor" not in answers[3]
    assert answers[4]["content"] == [{"type": "text", "text": '{"text": "é"}'}]
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [(entry["server"], entry["tool"], entry["event"]) for entry in log] == [
        ("fx", "echo", "start"),
        ("fx", "echo", "end"),
    ]


def test_the_mcp_fixture_server_fails_and_changes_as_it_is_told(tmp_path: Path) -> None:
    results: JsonDict = {
        "bad": {"$rpc_error": {"code": -32000, "message": "no"}},
        "odd": {"content": [], "isError": True},
    }
    given = {
        "tools": ["bad", "odd"],
        "results": results,
        "on_call": {"add": ["new"]},
        "extra_messages": [{"method": "x"}],
    }
    bad = {"id": 1, "method": "tools/call", "params": {"name": "bad"}}
    answers = [json.loads(line) for line in converse(tmp_path, given, bad)]
    assert {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"} in answers
    assert {"method": "x"} in answers
    assert answers[-1]["error"]["message"] == "no"
    odd = {"id": 2, "method": "tools/call", "params": {"name": "odd"}}
    assert json.loads(converse(tmp_path, given, odd)[-1])["result"] == {"content": [], "isError": True}
