"""Tool names and schemas on the wire: accepted by providers, and back again without loss."""

from typing import Any

import pytest
from hypothesis import given

from oribi.core.calls import ToolSpec
from oribi.models.names import NAME, WireNames, fit_name
from oribi.models.schemas import parameters_schema
from oribi.testing.schemas import schema_problems
from tests.models.samples import TOOLS


def tools(*names: str) -> tuple[ToolSpec, ...]:
    return tuple(ToolSpec(name=name, description="", parameters={}) for name in names)


@given(TOOLS)
def test_every_name_fits_the_wire_and_comes_back(catalogue: tuple[ToolSpec, ...]) -> None:
    """Y-9."""
    names = WireNames.of(catalogue)
    sent = [names.wire(tool.name) for tool in catalogue]
    assert all(NAME.fullmatch(name) for name in sent)
    assert [names.ours(name) for name in sent] == [tool.name for tool in catalogue]
    assert WireNames.of(catalogue[::-1]) == names


def test_a_fit_name_stays_and_a_prefixed_one_is_readable() -> None:
    names = WireNames.of(tools("read_file", "server/tool"))
    assert (names.wire("read_file"), names.wire("server/tool")) == ("read_file", "server__tool")


def test_names_that_would_meet_are_told_apart_by_a_hash() -> None:
    names = WireNames.of(tools("server/tool", "server__tool", "a.b", "a:b"))
    assert names.wire("server__tool") == "server__tool"
    assert names.wire("server/tool").startswith("server__tool_")
    assert len({names.wire(name) for name in ("a.b", "a:b", "server/tool")}) == 3


def test_a_name_that_is_in_no_catalogue_still_fits() -> None:
    names = WireNames.of(())
    assert [NAME.fullmatch(names.wire(name)) is not None for name in ("", "no such tool", "x" * 90)] == [True] * 3
    assert fit_name("x" * 90) != fit_name("x" * 91)
    assert names.ours("no_such_tool") == "no_such_tool"


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": None},
        {"type": "string"},
        {"type": "object", "properties": {"type": {"type": "string"}, "items": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "array"}, {"type": "null"}]}}},
        {"type": "object", "properties": {"a": {"items": [{"type": "array"}], "additionalItems": {"type": "array"}}}},
        {"type": "object", "properties": {"a": {"$ref": "#missing"}, "b": {"$ref": "#/anyOf/3"}}, "anyOf": [True]},
        {"type": "object", "properties": {"a": {"$ref": "http://elsewhere/schema"}}},
    ],
)
def test_a_schema_is_made_acceptable(schema: dict[str, Any]) -> None:
    assert schema_problems(parameters_schema(schema)) == []
    assert "$ref" not in str(parameters_schema(schema))


def test_a_good_schema_is_sent_as_it_is() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/Node"}, "$ref": {"type": "string"}, "free": {"type": "object"}},
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        "additionalProperties": False,
    }
    assert parameters_schema(schema) == schema
