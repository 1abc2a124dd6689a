"""Tool schemas: what each provider would refuse is mended, what it takes is left alone."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oribi.models.gemini_schema import MOST_SCHEMAS, gemini_schema
from oribi.models.schemas import is_strict, parameters_schema
from oribi.testing.schemas import gemini_schema_problems, schema_problems, strict_problems

NAMES = st.sampled_from(["a", "b", "$ref", "type"])
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "null", "object", "array", "odd", ["array", "null"], ["string"], []]
)
REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/nothing", "https://else.where/s"])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES,
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2),
            "items": st.one_of(inner, st.lists(inner, max_size=2)),
            "prefixItems": st.lists(inner, max_size=2),
            "additionalProperties": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "enum": st.lists(st.one_of(st.none(), st.text(max_size=2), st.integers(), st.booleans()), max_size=3),
            "const": st.one_of(st.none(), st.text(max_size=2), st.integers()),
            "$ref": REFERENCES,
            "default": st.none(),
            "format": st.sampled_from(["uri", "date"]),
        },
    )


SCHEMAS = st.recursive(st.booleans() | _schemas(st.booleans()), _schemas, max_leaves=12)


def _with_definitions(top: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    return {**(top if isinstance(top, dict) else {}), "$defs": definitions}


PARAMETERS = st.builds(_with_definitions, SCHEMAS, st.dictionaries(st.sampled_from(["a", "b"]), SCHEMAS, max_size=2))


@given(parameters=PARAMETERS)
def test_any_schema_becomes_one_that_each_wire_takes(parameters: dict[str, Any]) -> None:
    plain = parameters_schema(parameters)
    assert schema_problems(plain) == []
    assert not plain.keys() & {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"}
    assert gemini_schema_problems(gemini_schema(parameters)) == []
    if is_strict(plain):
        assert strict_problems(plain) == []


@example(parameters={"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": True}}}})
@given(parameters=PARAMETERS)
def test_mending_twice_changes_nothing_more(parameters: dict[str, Any]) -> None:
    plain = parameters_schema(parameters)
    assert parameters_schema(plain) == plain


SIMPLE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where.", "pattern": "^a"},
        "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    },
    "required": ["path"],
}


def test_a_schema_that_is_accepted_is_sent_as_it_is() -> None:
    assert parameters_schema({**SIMPLE, "additionalProperties": False}) == {**SIMPLE, "additionalProperties": False}
    assert gemini_schema(SIMPLE) == SIMPLE


def test_references_are_written_out_and_one_into_itself_stops() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "description": "A node.",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}, "name": {"type": "string"}},
    }
    written = gemini_schema({"type": "object", "properties": {"node": {"$ref": "#/$defs/N"}}, "$defs": {"N": node}})
    assert written == {
        "type": "object",
        "properties": {
            "node": {
                "type": "object",
                "description": "A node.",
                "properties": {
                    "kids": {"type": "array", "items": {"type": "object", "description": "A node."}},
                    "name": {"type": "string"},
                },
            }
        },
    }


def test_references_that_double_at_every_level_stay_small() -> None:
    definitions: dict[str, Any] = {
        f"d{level}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/d{level + 1}"} for side in ("left", "right")},
        }
        for level in range(60)
    }
    begin = time.process_time()
    written = gemini_schema({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    assert time.process_time() - begin < 1
    assert str(written).count("'type'") <= 2 * MOST_SCHEMAS


def test_a_choice_of_types_says_of_each_what_holds_for_it() -> None:
    schema: dict[str, Any] = {
        "type": ["object", "string", "null"],
        "properties": {"v": True},
        "enum": ["a", None],
        "description": "d",
    }
    written = gemini_schema({"type": "object", "properties": {"x": schema}})
    assert written["properties"] == {
        "x": {
            "description": "d",
            "anyOf": [{"type": "object", "properties": {"v": {}}}, {"type": "string", "enum": ["a"]}, {"type": "null"}],
        }
    }


def test_a_choice_at_the_top_becomes_one_object() -> None:
    schema: dict[str, Any] = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "c": {"type": "string"}},
                "required": ["a", "c"],
            },
            {"$ref": "#/$defs/B"},
        ],
        "$defs": {"B": {"type": "object", "properties": {"b": {}, "c": {"type": "integer"}}, "required": ["c"]}},
    }
    top = parameters_schema(schema)
    assert top["properties"] == {
        "a": {"type": "string"},
        "b": {},
        "c": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    }
    assert top["required"] == ["c"]


CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({**CLOSED, "properties": {"a": CLOSED}}, True),
        (
            {**CLOSED, "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/A"}}}, "$defs": {"A": CLOSED}},
            True,
        ),
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({**CLOSED, "required": []}, False),
        ({key: CLOSED[key] for key in ("type", "properties", "required")}, False),
        ({**CLOSED, "additionalProperties": {"type": "string"}}, False),
        ({**CLOSED, "properties": {"a": {"type": "object"}}}, False),
        ({**CLOSED, "properties": {"a": {}}}, False),
        ({**CLOSED, "properties": {"a": True}}, False),
        ({**CLOSED, "properties": {"a": {"type": "string", "default": "x"}}}, False),
        ({**CLOSED, "properties": {"a": {"type": "string", "format": "uri"}}}, False),
        ({**CLOSED, "properties": {"a": {"oneOf": [{"type": "string"}]}}}, False),
    ],
)
def test_strict_mode_is_used_only_where_it_loses_nothing(schema: dict[str, Any], strict: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """It turns a map with free keys into an empty object, and does not know what is optional."""
    assert is_strict(schema) is strict
