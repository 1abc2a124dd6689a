"""What providers ask of a tool's parameter schema, read as a schema: a property may be called `$ref` or `type`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

_ONE = (
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)
_MANY = ("prefixItems", "anyOf", "oneOf", "allOf", "items")
_NOT_CLOSED = frozenset(
    {"exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maximum", "minLength", "minimum", "multipleOf"}
)
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def schema_problems(schema: Json) -> list[str]:
    """What is wrong with the `parameters` of a tool on the OpenAI wire; empty when nothing is."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return ["its schema is not of type object"]
    problems: list[str] = []
    for place, part in _parts(schema, "#"):
        if isinstance(part, dict):
            if "$ref" in part and not _resolves(part["$ref"], schema):
                problems.append(f"$ref {part['$ref']!r} at {place} is not resolved")
            if _is_array(part) and "items" not in part:
                problems.append(f"the array at {place} has no items")
    return problems


def gemini_schema_problems(schema: Json) -> list[str]:
    """What is wrong with the `parameters` of a function on the Gemini wire; empty when nothing is."""
    problems: list[str] = []
    for place, part in _parts(schema, "#"):
        if not isinstance(part, dict):
            problems.append(f"{place} is {part!r}, not a schema object")
            continue
        if "$ref" in part:
            problems.append(f"$ref at {place}")
        if isinstance(part.get("type"), list):
            problems.append(f"the type at {place} is a list")
        if _is_array(part) and "items" not in part:
            problems.append(f"the array at {place} has no items")
    return problems


def strict_problems(schema: Json) -> list[str]:
    """Why OpenAI's strict mode refuses `schema`, or would change what it means; empty when it does neither."""
    problems: list[str] = []
    for place, part in _parts(schema, "#"):
        if not isinstance(part, dict):
            if not place.endswith("/additionalProperties"):
                problems.append(f"strict: {place} is {part!r}, not a schema object")
            continue
        if part.get("type") == "object" or "properties" in part:
            named = part.get("properties")
            optional = sorted(set(named if isinstance(named, dict) else ()) - _texts(part.get("required")))
            if part.get("additionalProperties") is not False:
                problems.append(f"strict: the object at {place} is open to more properties")
            if optional:
                problems.append(f"strict: {', '.join(optional)} at {place} may be left out")
        elif not part.keys() & {"type", "anyOf", "enum", "const", "$ref"}:
            problems.append(f"strict: {place} says no type")
        problems += [f"strict: {keyword} at {place}" for keyword in ("oneOf", "allOf", "default") if keyword in part]
    return problems


def closed_problems(schema: Json) -> list[str]:
    """Why Anthropic refuses `schema` for an answer; empty when it does not."""
    problems: list[str] = []
    for place, part in _parts(schema, "#"):
        if not isinstance(part, dict):
            if not place.endswith("/additionalProperties"):
                problems.append(f"{place} is {part!r}, not a schema object")
            continue
        if (part.get("type") == "object" or "properties" in part) and part.get("additionalProperties") is not False:
            problems.append(f"the object at {place} is open to more properties")
        problems += [f"{keyword} at {place}" for keyword in sorted(part.keys() & _NOT_CLOSED)]
    return problems


def _texts(value: Json) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _is_array(schema: JsonObject) -> bool:
    kind = schema.get("type")
    name = "array"
    return name in [text.lower() for text in (kind if isinstance(kind, list) else [kind]) if isinstance(text, str)]


def _parts(schema: Json, place: str) -> Iterator[tuple[str, Json]]:
    """Every schema within `schema`, itself first, with its place as a pointer."""
    yield place, schema
    if not isinstance(schema, dict):
        return
    for key in _ONE:
        if key in schema and not isinstance(schema[key], list):
            yield from _parts(schema[key], f"{place}/{key}")
    for key in _MANY:
        if isinstance(items := schema.get(key), list):
            for index, item in enumerate(items):
                yield from _parts(item, f"{place}/{key}/{index}")
    for key in _NAMED:
        if isinstance(named := schema.get(key), dict):
            for name, item in named.items():
                yield from _parts(item, f"{place}/{key}/{name}")


def _resolves(reference: Json, root: JsonObject) -> bool:
    """Whether `reference` is a pointer to something within the schema itself."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return False
    found: Json = root
    for token in reference.removeprefix("#").split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            return False
    return reference == "#" or reference.startswith("#/")
