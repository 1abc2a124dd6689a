"""The toolbox: who may call what, and that whatever a tool does, the model gets a result."""

import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    EffectClass,
    Failed,
    JsonObject,
    Malformed,
    Succeeded,
    ToolCall,
    ToolResult,
    ToolSpec,
    TurnId,
    Unknown,
)
from oribi.core.errors import ConfigError
from oribi.ports import Invocation, Tools
from oribi.tools.file_policy import FilePolicy
from oribi.tools.function import tool
from oribi.tools.jail import Jail
from oribi.tools.output import output_name
from oribi.tools.read_file import read_file_tool
from oribi.tools.tool import Tool
from oribi.tools.toolbox import Toolbox
from tests.tools.bench import INVOCATION, Bench, call_of, catalogue_of

pytestmark = pytest.mark.anyio


@tool(effect="pure")
def echo(text: str) -> str:
    """Say the same again."""
    return text


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, tools=[echo])


def test_it_is_the_port(bench: Bench) -> None:
    port: Tools = bench.toolbox
    assert port.judge(bench.catalogue, call_of("echo", {"text": "x"}), "ops") == Allow(rule="catalogue")


def test_only_the_catalogue_is_looked_up(bench: Bench) -> None:
    """O-20, C-22: a tool that exists but is not listed cannot run, and the model is told what can."""
    catalogue = catalogue_of(bench.toolbox.specs(["echo", "read_file"]))
    for name in ("grep", "write_file", "", "echo "):
        assert bench.toolbox.judge(catalogue, call_of(name, {}), "ops") == Deny(
            rule="catalogue", reason=f"unknown tool {name!r}; this agent has: echo, read_file"
        )
    assert bench.toolbox.judge({}, call_of("echo", {}), "ops") == Deny(
        rule="catalogue", reason="unknown tool 'echo'; this agent has: no tools"
    )


def test_a_listed_tool_that_is_gone_is_denied(bench: Bench) -> None:
    """A turn resumed where a plug-in is not installed any more."""
    gone = ToolSpec(name="gone", description="", parameters={"type": "object"})
    verdict = bench.toolbox.judge({"gone": gone}, call_of("gone", {}), "ops")
    assert isinstance(verdict, Deny)
    assert verdict.rule == "catalogue"
    assert verdict.reason.startswith("no tool named 'gone'")


def test_arguments_that_are_no_object_are_denied(bench: Bench) -> None:
    """O-19: they never run, and the model is told the problem."""
    call = ToolCall(id=CallId("c"), name="echo", arguments=Malformed(text='{"text', problem="ends in a text"))
    assert bench.toolbox.judge(bench.catalogue, call, "ops") == Deny(
        rule="arguments", reason="the arguments are not a JSON object (ends in a text); send the call again"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("echo", {}, 'arguments: "text" is a required property'),
        ("echo", {"text": 5}, 'text: 5 is not of type "string"'),
        (
            "echo",
            {"text": "x", "extra": 1},
            "arguments: Additional properties are not allowed ('extra' was unexpected)",
        ),
        ("read_file", {"path": "a", "offset": 0}, "offset: 0 is less than the minimum of 1"),
        ("read_file", {"path": "a", "offset": "1"}, 'offset: "1" is not of type "integer"'),
        ("save_memory", {"entry": "x", "section": "attic"}, 'section: "attic" is not one of "core" or "archive"'),
    ],
)
def test_arguments_that_do_not_fit_are_denied_with_their_place(
    name: str, arguments: dict[str, object], reason: str, bench: Bench
) -> None:
    """O-19, O-21."""
    call = call_of(name, arguments)  # pyright: ignore[reportArgumentType] # JSON, as the table above shows
    assert bench.toolbox.judge(bench.catalogue, call, "ops") == Deny(rule="schema", reason=reason)


def test_files_are_judged_before_the_call_runs(bench: Bench) -> None:
    """O-21, C-18."""
    judge = bench.toolbox.judge
    assert judge(bench.catalogue, call_of("read_file", {"path": "a.txt"}), "ops") == Allow(rule="files")
    verdict = judge(bench.catalogue, call_of("read_file", {"path": ".env"}), "ops")
    assert isinstance(verdict, Deny)
    assert verdict.rule == "files:deny **/.env*"


def test_each_agent_has_its_own_policy(tmp_path: Path) -> None:
    jails = {"scout": Jail(tmp_path, FilePolicy(read=("out",))), "ops": Jail(tmp_path, FilePolicy())}
    toolbox = Toolbox([read_file_tool(jails.__getitem__)], jails.__getitem__)
    call = call_of("read_file", {"path": "a.txt"})
    catalogue = catalogue_of(toolbox.specs(["read_file"]))
    assert isinstance(toolbox.judge(catalogue, call, "scout"), Deny)
    assert isinstance(toolbox.judge(catalogue, call, "ops"), Allow)


def test_what_cannot_be_judged_is_denied(tmp_path: Path) -> None:
    def broken(arguments: object) -> tuple[()]:
        raise KeyError("path")

    bench = Bench(tmp_path, tools=[tool(name="odd", effects=broken)(lambda: "")])
    verdict = bench.toolbox.judge(bench.catalogue, call_of("odd", {}), "ops")
    assert verdict == Deny(rule="effects", reason="what this call touches cannot be told: KeyError: 'path'")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("shared"), tools=[echo])


@given(
    st.sampled_from(["echo", "read_file", "grep", "nope"]),
    st.dictionaries(st.sampled_from(["text", "path", "pattern", "x"]), JSON),
)
def test_judging_never_raises(shared: Bench, name: str, arguments: dict[str, object]) -> None:
    verdict = shared.toolbox.judge(shared.catalogue, call_of(name, arguments), "ops")  # pyright: ignore[reportArgumentType] # JSON by construction
    assert isinstance(verdict, Allow | Deny)
    str(verdict).encode()


def test_arguments_nested_without_end_are_denied(bench: Bench) -> None:
    nested: object = "x"
    for _ in range(20_000):
        nested = [nested]
    call = call_of("echo", {"text": nested})  # pyright: ignore[reportArgumentType] # JSON, only deep
    verdict = bench.toolbox.judge(bench.catalogue, call, "ops")
    assert isinstance(verdict, Deny)
    assert verdict.rule == "schema"
    while isinstance(nested, list):  # taken apart by hand: freeing it as a whole would overflow the stack
        nested = nested.pop()


def test_an_unknown_name_is_an_error_with_names_near_it(bench: Bench) -> None:
    with pytest.raises(ConfigError, match=r"no tool named 'read_fle'; did you mean: read_file"):
        bench.toolbox.specs(["echo", "read_fle"])
    assert [spec.name for spec in bench.toolbox.specs(["grep", "echo", "grep"])] == ["grep", "echo"]


def test_two_tools_of_one_name_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two tools are named 'grep'"):
        Bench(tmp_path, tools=[tool(name="grep")(lambda: "")])


def test_a_schema_that_is_none_is_an_error_and_asks_no_network(tmp_path: Path) -> None:
    jail = Jail(tmp_path, FilePolicy())
    for parameters in ({"type": "nonsense"}, {"$ref": "http://127.0.0.1:9/schema.json"}):
        spec = replace(echo.spec, name="odd", parameters=parameters)
        with pytest.raises(ConfigError, match="tool 'odd': its parameters are no JSON Schema"):
            Toolbox([replace(echo, spec=spec)], lambda _: jail).specs(["odd"])


# --- running ----------------------------------------------------------------------------------------------------------


class OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("two\n  lines"), "ValueError: two lines"),
        (KeyError("k"), "KeyError: 'k'"),
        (RuntimeError(), "RuntimeError"),
        (SystemExit(3), "SystemExit: 3"),
        (OddError(), "OddError: (its text raised RuntimeError)"),
        (UnicodeError("bad \ud83d\0"), "UnicodeError: bad \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"),
        (ExceptionGroup("many", [ValueError("a")]), "ExceptionGroup: many (1 sub-exception)"),
        (ValueError("x" * 10_000), f"ValueError: {'x' * 238} … {'x' * 250}"),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_an_exception_of_a_tool_is_a_failure_on_one_line(
    error: BaseException, text: str, tmp_path: Path, *, is_async: bool
) -> None:
    """O-22, O-25."""

    async def fail_later() -> str:
        raise error

    def fail() -> str:
        raise error

    bench = Bench(tmp_path, tools=[tool(name="fail")(fail_later if is_async else fail)])
    assert await bench.call("fail") == Failed(text=text)


async def test_a_tool_that_breaks_its_type_is_a_failure_or_text(tmp_path: Path) -> None:
    """Tools come from other packages, and nobody has checked their types."""

    async def say(arguments: JsonObject, invocation: Invocation) -> ToolResult:
        return cast("ToolResult", "plain text")

    async def count(arguments: JsonObject, invocation: Invocation) -> ToolResult:
        return Succeeded(text=cast("str", 5))

    spec = ToolSpec(name="say", description="", parameters={"type": "object"})
    bench = Bench(tmp_path, tools=[Tool(spec=spec, run=say), Tool(spec=replace(spec, name="count"), run=count)])
    assert await bench.call("say") == Succeeded(text="plain text")
    assert isinstance(await bench.call("count"), Failed)


def test_what_a_model_wrote_is_quoted_in_brief(bench: Bench) -> None:
    for call in (
        call_of("x" * 100_000, {}),
        call_of("read_file", {"path": "\x01" * 4_000 + "/.env"}),
        call_of("read_file", {"path": 5, "x" * 100_000: 1}),
        ToolCall(id=CallId("c"), name="echo", arguments=Malformed(text="", problem="x" * 100_000)),
    ):
        verdict = bench.toolbox.judge(bench.catalogue, call, "ops")
        assert isinstance(verdict, Deny)
        assert len(verdict.reason) < 2_100


async def test_cancelling_a_turn_is_not_swallowed(tmp_path: Path) -> None:
    @tool(timeout_seconds=30)
    async def wait() -> str:
        await anyio.sleep(30)
        return "late"

    bench = Bench(tmp_path, tools=[wait])
    results: list[object] = []
    with anyio.move_on_after(0.05) as scope:
        results.append(await bench.call("wait"))
    assert scope.cancelled_caught
    assert results == []


@pytest.mark.parametrize(
    ("effect", "result"),
    [
        ("pure", Failed(text="timed out after 0.05 seconds", retryable=True)),
        ("idempotent", Failed(text="timed out after 0.05 seconds", retryable=True)),
        ("once", Unknown(reason="wait timed out after 0.05 seconds; it may or may not have happened")),
    ],
)
async def test_a_tool_that_is_slow_times_out_by_its_effect_class(
    tmp_path: Path, effect: EffectClass, result: ToolResult
) -> None:
    """O-25: a transient failure says that it is one; G1: what may have happened is said to be unknown."""

    @tool(timeout_seconds=0.05, effect=effect)
    async def wait() -> str:
        await anyio.sleep(30)
        return "late"

    assert await Bench(tmp_path, tools=[wait]).call("wait") == result


async def test_a_timeout_inside_a_tool_is_its_own(tmp_path: Path) -> None:
    @tool
    async def impatient() -> str:
        with anyio.fail_after(0.01):
            await anyio.sleep(30)
        return "late"

    assert await Bench(tmp_path, tools=[impatient]).call("impatient") == Failed(text="TimeoutError")


async def test_text_that_cannot_be_sent_is_made_harmless(bench: Bench) -> None:
    """A lone surrogate or NUL would break each later request; a good pair stays one character."""
    said = await bench.text("echo", text="half \ud83d whole \ud83c\udf78 real 🍸 nul \0 end")
    assert said == "half \N{REPLACEMENT CHARACTER} whole 🍸 real 🍸 nul \N{REPLACEMENT CHARACTER} end"


async def test_every_kind_of_result_is_made_harmless(tmp_path: Path) -> None:
    given_back = [
        Succeeded(text="a\0"),
        Failed(text="a\0", retryable=True),
        Denied(reason="a\0\nb", rule="r\0"),
        Unknown(reason="a\0"),
    ]

    @tool
    def give(which: int) -> object:
        return given_back[which]

    bench = Bench(tmp_path, tools=[give])
    nul = "\N{REPLACEMENT CHARACTER}"
    assert [await bench.call("give", which=which) for which in range(4)] == [
        Succeeded(text=f"a{nul}"),
        Failed(text=f"a{nul}", retryable=True),
        Denied(reason=f"a{nul} b", rule=f"r{nul}"),
        Unknown(reason=f"a{nul}"),
    ]


async def test_a_huge_result_is_cut_and_can_be_read_on(bench: Bench) -> None:
    """One cap for every tool, a line that says what was left out, and the way to get it."""
    lines = "".join(f"line {number}\n" for number in range(100_000))
    told = await bench.text("echo", text=f"FIRST\n{lines}LAST")
    assert len(told) <= 30_000
    assert told.startswith("FIRST\nline 0\n")
    assert told.endswith("LAST")
    path = ".oribi/output/t1-c1.txt"
    assert (bench.root / path).read_text() == f"FIRST\n{lines}LAST"
    note = next(line for line in told.splitlines() if line.startswith("["))
    assert f"characters omitted here; the whole output is '{path}': read_file(path='{path}', offset=" in note
    left_out = int(note[1:].split(" ")[0].replace(",", ""))
    shown = len(told) - len(note) - 2
    assert left_out + shown == len(lines) + len("FIRST\nLAST")
    head = told.partition(f"\n{note}")[0]
    hint = note.partition("offset=")[2].partition(")")[0].split(", column=")
    rest = await bench.text("read_file", path=path, offset=int(hint[0]), column=int(hint[1]) if len(hint) > 1 else 1)
    continuation = f"FIRST\n{lines}LAST"[len(head) :]
    assert continuation.startswith(rest.partition("[lines ")[0].rstrip("\n"))


async def test_one_huge_line_can_be_read_on(bench: Bench) -> None:
    text = "".join(f"{number:07}" for number in range(100_000))
    told = await bench.text("echo", text=text)
    head = told.partition("\n[")[0]
    column = len(head) + 1
    assert f"offset=1, column={column})" in told
    rest = await bench.text("read_file", path=".oribi/output/t1-c1.txt", column=column)
    assert text[len(head) :].startswith(rest.partition(" [")[0])


async def test_a_huge_failure_is_cut_too(tmp_path: Path) -> None:
    @tool
    def fail() -> Failed:
        return Failed(text="x" * 100_000, retryable=True)

    result = await Bench(tmp_path, tools=[fail]).call("fail")
    assert isinstance(result, Failed)
    assert result.retryable
    assert len(result.text) <= 30_000


async def test_a_result_that_cannot_be_kept_is_still_told(bench: Bench) -> None:
    (bench.root / ".oribi" / "output").symlink_to("/")
    told = await bench.text("echo", text="x" * 100_000)
    assert "characters omitted here; the rest could not be kept: " in told


@given(st.text(max_size=20), st.text(max_size=20))
def test_output_names_are_plain_and_different(turn: str, call: str) -> None:
    invocation = replace(INVOCATION, turn_id=TurnId(turn), call_id=CallId(call))
    name = output_name(invocation)
    assert "/" not in name
    assert not name.startswith(".")
    assert len(name) <= 140
    assert name.isascii()
    other = replace(INVOCATION, turn_id=TurnId(turn), call_id=CallId(call + "/"))
    assert output_name(other) != name


# --- plug-ins ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """An installed package with entry points, as pip would lay it out."""
    site = tmp_path_factory.mktemp("site")
    metadata = site / "shiny_tools-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shiny-tools\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[oribi.tools]\nshine = shiny_tools_x:shine\nplain = shiny_tools_x:plain\nbroken = shiny_tools_broken:x\n"
        "number = shiny_tools_x:NUMBER\ngone = shiny_tools_x:gone\n"
    )
    (site / "shiny_tools_x.py").write_text(
        "from oribi.tools.function import tool\n"
        "NUMBER = 5\n"
        "@tool(effect='pure', for_reasoning='Shine on a text.')\n"
        "def shine(text: str) -> str:\n    return f'*{text}*'\n"
        "def plain(text: str) -> str:\n    return text\n"
    )
    (site / "shiny_tools_broken.py").write_text("1 / 0\n")
    sys.path.insert(0, str(site))
    yield site
    sys.path.remove(str(site))
    for name in ("shiny_tools_x", "shiny_tools_broken"):
        sys.modules.pop(name, None)


async def test_a_plugin_is_loaded_when_an_agent_lists_it(bench: Bench, plugins: Path) -> None:
    assert "shine" not in bench.toolbox.names
    assert bench.toolbox.plugin_names == ("broken", "gone", "number", "plain", "shine")
    assert "shiny_tools_x" not in sys.modules
    catalogue = catalogue_of(bench.toolbox.specs(["shine", "plain"]))
    for name, said in (("shine", "*x*"), ("plain", "x")):
        call = call_of(name, {"text": "x"})
        assert bench.toolbox.judge(catalogue, call, "ops") == Allow(rule="catalogue")
        assert await bench.toolbox.run(call, catalogue[name], INVOCATION) == Succeeded(text=said)


def test_a_plugin_declares_its_tool_for_reasoning_and_is_named_as_its_owner(bench: Bench, plugins: Path) -> None:
    """M-20, M-25, M-27: by the same opt-in as ours; what its package is called is frozen with the tool."""
    shine, plain = bench.toolbox.specs(["shine", "plain"])
    assert (shine.for_reasoning, shine.owner) == ("Shine on a text.", "shiny-tools")
    assert (plain.for_reasoning, plain.owner, plain.effect) == ("", "shiny-tools", "once")
    assert bench.toolbox.specs(["echo"])[0].owner == ""


async def test_a_plugin_is_found_again_by_a_turn_that_goes_on(bench: Bench, plugins: Path) -> None:
    """After a crash the verdict is in the journal, and this process never saw the agent."""
    spec = ToolSpec(name="shine", description="", parameters={"type": "object"})
    assert await bench.toolbox.run(call_of("shine", {"text": "x"}), spec, INVOCATION) == Succeeded(text="*x*")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", r"the plug-in tool 'broken' \(shiny_tools_broken:x, from shiny-tools\) does not load: ZeroDivision"),
        ("gone", r"the plug-in tool 'gone' .* does not load: AttributeError"),
        ("number", r"the plug-in tool 'number' .* is not a tool of that name, but 5"),
    ],
)
def test_a_broken_plugin_is_an_error_of_the_agent_that_lists_it(
    name: str, message: str, bench: Bench, plugins: Path
) -> None:
    assert bench.toolbox.specs(["echo", "shine"])
    with pytest.raises(ConfigError, match=message):
        bench.toolbox.specs(["echo", name])
