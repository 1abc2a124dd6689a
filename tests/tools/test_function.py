"""Functions as tools: the schema the model sees, the arguments the function gets, the result the model reads."""

import datetime as dt
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import anyio
import anyio.lowlevel
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from oribi.core.calls import (
    Allow,
    CallId,
    Denied,
    Deny,
    Failed,
    Json,
    JsonObject,
    Succeeded,
    ToolCall,
    Unknown,
    Verdict,
)
from oribi.core.errors import ConfigError
from oribi.ports import Invocation
from oribi.tools.function import tool
from oribi.tools.tool import Reads
from tests.tools.bench import Bench, catalogue_of

pytestmark = pytest.mark.anyio


@tool
def echo(text: str) -> str:
    """Say the same again."""
    return text


class Unit(StrEnum):
    CELSIUS = "C"
    KELVIN = "K"


@dataclass
class Place:
    lat: float
    lon: float


class Wish(BaseModel):
    words: list[str]
    exact: bool = False


@tool(name="weather", effect="pure", timeout_seconds=5)
async def ask_weather(
    invocation: Invocation,
    place: Place,
    day: dt.date,
    unit: Unit = Unit.CELSIUS,
    *,
    days: Annotated[int, Field(ge=1, le=7)] = 3,
    detail: Literal["low", "high"] | None = None,
) -> dict[str, object]:
    """Forecast for a place.

    Takes a moment for far days.

    Args:
        place: Where.
        day: First day
            of the forecast.
        unit: Of the temperatures.
        days: How many.
        detail: How much.

    Returns:
        The forecast.
    """
    assert isinstance(place, Place)
    return {
        "agent": invocation.agent,
        "weekday": day.strftime("%A"),
        "unit": unit.name,
        "lat": place.lat,
        "days": days,
        "detail": detail,
    }


def test_a_schema_comes_from_hints_and_docstring() -> None:
    """O-14: the JSON Schema is what the model is shown; the invocation is not in it."""
    assert ask_weather.spec.name == "weather"
    assert (ask_weather.spec.effect, ask_weather.spec.timeout_seconds) == ("pure", 5)
    assert ask_weather.spec.description == "Forecast for a place.\n\nTakes a moment for far days."
    assert ask_weather.spec.parameters == snapshot(
        {
            "$defs": {
                "Place": {
                    "additionalProperties": False,
                    "properties": {
                        "lat": {"title": "Lat", "type": "number"},
                        "lon": {"title": "Lon", "type": "number"},
                    },
                    "required": ["lat", "lon"],
                    "title": "Place",
                    "type": "object",
                },
                "Unit": {"enum": ["C", "K"], "title": "Unit", "type": "string"},
            },
            "additionalProperties": False,
            "properties": {
                "place": {"$ref": "#/$defs/Place", "description": "Where."},
                "day": {
                    "description": """\
First day
of the forecast.\
""",
                    "format": "date",
                    "title": "Day",
                    "type": "string",
                },
                "unit": {"$ref": "#/$defs/Unit", "default": "C", "description": "Of the temperatures."},
                "days": {
                    "default": 3,
                    "description": "How many.",
                    "maximum": 7,
                    "minimum": 1,
                    "title": "Days",
                    "type": "integer",
                },
                "detail": {
                    "anyOf": [{"enum": ["low", "high"], "type": "string"}, {"type": "null"}],
                    "default": None,
                    "description": "How much.",
                    "title": "Detail",
                },
            },
            "required": ["place", "day"],
            "type": "object",
        }
    )


def test_a_bare_function_is_called_at_most_once() -> None:
    assert (echo.spec.effect, echo.spec.timeout_seconds, echo.spec.name) == ("once", 60.0, "echo")
    assert echo.spec.description == "Say the same again."
    assert echo.spec.parameters == {
        "type": "object",
        "properties": {"text": {"type": "string", "title": "Text"}},
        "required": ["text"],
        "additionalProperties": False,
    }


async def test_arguments_are_converted_to_their_types(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tools=[ask_weather])
    place: Json = {"lat": 1, "lon": 2.5}
    assert await bench.text("weather", place=place, day="2026-11-30", unit="K") == (
        '{"agent":"ops","weekday":"Monday","unit":"KELVIN","lat":1.0,"days":3,"detail":null}'
    )
    result = await bench.call("weather", place=place, day="2026-11-30", days=8)
    assert result == Denied(rule="schema", reason="days: 8 is greater than the maximum of 7")


async def test_what_a_schema_cannot_say_is_checked_before_the_call(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tools=[ask_weather])
    told = await bench.failure("weather", place={"lat": 1, "lon": 2}, day="not a day")
    assert told.startswith("the arguments of 'weather' do not fit: day: Input should be a valid date")


async def test_values_are_told_as_json(tmp_path: Path) -> None:
    values: dict[str, object] = {
        "text": "plain ü",
        "nothing": None,
        "list": [1, dt.date(2026, 1, 2), Unit.KELVIN],
        "model": Wish(words=["a"]),
        "dataclass": Place(lat=1, lon=2),
        "bytes": b"caf\xe9",
        "set": {1},
        "nan": float("nan"),
        "failed": Failed(text="not now", retryable=True),
    }

    @tool
    def give(which: str) -> object:
        return values[which]

    bench = Bench(tmp_path, tools=[give])
    assert {which: await bench.call("give", which=which) for which in values} == snapshot(
        {
            "text": Succeeded(text="plain ü"),
            "nothing": Succeeded(text=""),
            "list": Succeeded(text='[1,"2026-01-02","K"]'),
            "model": Succeeded(text='{"words":["a"],"exact":false}'),
            "dataclass": Succeeded(text='{"lat":1,"lon":2}'),
            "bytes": Succeeded(text="caf�"),
            "set": Succeeded(text="[1]"),
            "nan": Succeeded(text="NaN"),
            "failed": Failed(text="not now", retryable=True),
        }
    )


async def test_a_value_that_json_cannot_hold_is_a_failure(tmp_path: Path) -> None:
    @tool
    def give() -> object:
        return threading.Lock()

    told = await Bench(tmp_path, tools=[give]).failure("give")
    assert told.startswith("TypeError: the tool returned a lock that JSON cannot hold: ")


async def test_a_plain_function_does_not_block_the_loop(tmp_path: Path) -> None:
    """It runs in a worker thread, and its wait ends at the timeout."""
    release = threading.Event()
    threads: list[threading.Thread] = []

    @tool(timeout_seconds=0.1)
    def wait() -> str:
        threads.append(threading.current_thread())
        release.wait(10)
        return "late"

    result = await Bench(tmp_path, tools=[wait]).call("wait")
    release.set()
    assert result == Unknown(reason="wait timed out after 0.1 seconds; it may or may not have happened")
    assert threads[0] is not threading.current_thread()


async def test_a_function_that_returns_an_awaitable_is_awaited(tmp_path: Path) -> None:
    async def later(text: str) -> str:
        await anyio.lowlevel.checkpoint()
        return text

    class Caller:
        def __call__(self, text: str) -> object:
            return later(text)

    caller = tool(name="later")(Caller())
    assert await Bench(tmp_path, tools=[caller]).text("later", text="x") == "x"


async def test_a_declared_effect_is_judged_by_policy(tmp_path: Path) -> None:
    """C-18: what a call touches is declared and judged before it runs."""
    ran: list[str] = []

    @tool(effects=lambda arguments: (Reads(path=str(arguments["path"])),))
    def count(path: str) -> int:
        ran.append(path)
        return len(ran)

    bench = Bench(tmp_path, tools=[count])
    assert await bench.text("count", path="a.txt") == "1"
    result = await bench.call("count", path="../a.txt")
    assert isinstance(result, Denied)
    assert result.rule == "files:outside"
    assert ran == ["a.txt"]


def no_hint(text) -> str:  # noqa: ANN001 # pyright: ignore[reportMissingParameterType, reportUnknownParameterType] # the mistake
    return str(text)  # pyright: ignore[reportUnknownArgumentType] # the mistake


def star(*texts: str) -> str:
    return "".join(texts)


def positional(text: str, /) -> str:
    return text


def a_lock(lock: threading.Event) -> str:
    return str(lock)


def unknown_name(text: "NotThere") -> str:  # noqa: F821 # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType] # the mistake
    return str(text)  # pyright: ignore[reportUnknownArgumentType] # the mistake


MISTAKES: list[tuple[object, str]] = [
    (no_hint, "tool 'no_hint': parameter 'text' has no type; annotate it"),
    (star, "tool 'star': parameter 'texts' cannot be passed by name; name each one"),
    (positional, "tool 'positional': parameter 'text' cannot be passed by name; name each one"),
    (a_lock, "tool 'a_lock': a parameter has a type that JSON cannot hold: "),
    (unknown_name, "tool 'unknown_name': its type hints cannot be read (name 'NotThere' is not defined)"),
]


@pytest.mark.parametrize(("function", "message"), MISTAKES)
def test_a_function_that_cannot_be_a_tool_says_why(function: object, message: str) -> None:
    assert callable(function)
    with pytest.raises(ConfigError) as caught:
        tool(function)
    assert str(caught.value).startswith(message)


async def test_summary_and_translation_take_two_tools_in_turn(tmp_path: Path) -> None:
    """T-25: the tools of the worked example, as functions."""

    @tool(effect="pure")
    def extract_sections(doc: str) -> list[str]:
        """Split a document into paragraphs."""
        return doc.split("\n\n")

    @tool(effect="pure")
    def translate(paragraph: str) -> str:
        """Translate a paragraph."""
        return paragraph.upper()

    bench = Bench(tmp_path, tools=[extract_sections, translate])
    assert await bench.call("extract_sections", doc="one\n\ntwo") == Succeeded(text='["one","two"]')
    assert await bench.call("translate", paragraph="two") == Succeeded(text="TWO")


# --- what else can be said of a tool ----------------------------------------------------------------------------------


def test_only_a_tool_that_changes_nothing_can_be_for_reasoning() -> None:
    """M-25: an opt-in with a schema; a tool that may write cannot declare."""

    def look(place: str) -> str:
        """Look."""
        return place

    declared = tool(effect="pure", for_reasoning="Look at a place.")(look)
    assert (declared.spec.for_reasoning, "place" in str(declared.spec.parameters)) == ("Look at a place.", True)
    with pytest.raises(ConfigError, match="'look': only a tool that changes nothing can be for reasoning"):
        tool(effect="idempotent", for_reasoning="Look at a place.")(look)


async def test_a_tool_says_what_makes_a_call_the_same_as_another(tmp_path: Path) -> None:
    """M-23, C-8: its own key stands in the verdict; one that raises is denied, and `off` lets it be repeated."""

    @tool(effect="pure", dedupe=lambda given: str(given["words"]).lower())
    def search(words: str, page: int = 1) -> str:
        """Search."""
        return f"{words} {page}"

    @tool(effect="pure", dedupe=lambda given: str(given["nothing"]))
    def wrong(words: str) -> str:
        """Search."""
        return words

    @tool(effect="pure", dedupe="off")
    def clock() -> str:
        """Tell the time."""
        return "now"

    bench = Bench(tmp_path, tools=[search, wrong, clock])
    catalogue = catalogue_of([each.spec for each in (search, wrong, clock)])

    def judged(name: str, arguments: JsonObject) -> Verdict:
        call = ToolCall(id=CallId("c1"), name=name, arguments=arguments)
        return bench.toolbox.judge(catalogue, call, "ops")

    assert judged("search", {"words": "CATS", "page": 2}) == Allow(rule="catalogue", key="cats")
    assert judged("wrong", {"words": "cats"}) == Deny(
        rule="dedupe", reason="whether this call was made before cannot be told: KeyError: 'nothing'"
    )
    assert judged("clock", {}) == Allow(rule="catalogue")
    assert (search.spec.may_repeat, clock.spec.may_repeat) == (False, True)


async def test_what_the_model_reads_is_a_projection_and_the_whole_is_kept(tmp_path: Path) -> None:
    """M-23, M-24: and recorded calls are read back with the types the function took and returned."""

    @tool(effect="pure", project=lambda places: f"{len(places)} places")
    def places(near: Place) -> list[Place]:
        """Find places."""
        return [near, Place(lat=near.lat + 1, lon=near.lon)]

    bench = Bench(tmp_path, tools=[places])
    result = await bench.call("places", near={"lat": 1.0, "lon": 2.0})
    assert result == Succeeded(text="2 places", value=[{"lat": 1.0, "lon": 2.0}, {"lat": 2.0, "lon": 2.0}])
    assert places.typed is not None
    assert places.typed.arguments({"near": {"lat": 1.0, "lon": 2.0}}) == {"near": Place(lat=1.0, lon=2.0)}
    assert isinstance(result, Succeeded)
    assert places.typed.result(result) == [Place(lat=1.0, lon=2.0), Place(lat=2.0, lon=2.0)]


async def test_a_failure_may_name_its_class(tmp_path: Path) -> None:
    """C-6, M-29: typed, by the failure itself or by its tool; an exception is a failure of its tool's class."""

    @tool(effect="pure", failure="recoverable")
    def search(words: str) -> str:
        """Search."""
        if words == "secret":
            return Failed(text="no access", kind="terminal")  # pyright: ignore[reportReturnType] # as tools may
        raise TimeoutError("too slow")

    bench = Bench(tmp_path, tools=[search])
    assert search.spec.failure == "recoverable"
    assert await bench.call("search", words="secret") == Failed(text="no access", kind="terminal")
    assert await bench.call("search", words="cats") == Failed(text="TimeoutError: too slow")
