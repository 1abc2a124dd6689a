"""Tool schemas as providers accept them: an object at the top, items for every array, no reference into nothing."""

from __future__ import annotations

from typing import Final

from oribi.core.calls import Json, JsonObject

MAPS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
SINGLE: Final = (
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
)


def parameters_schema(parameters: JsonObject) -> JsonObject:
    """The schema of a tool's parameters, changed only where a provider would refuse it."""
    schema = _fit(parameters, parameters)
    if schema.get("type") != "object":
        schema = {**schema, "type": "object"}
    if not isinstance(schema.get("properties"), dict):
        schema["properties"] = {}
    return schema


def _fit(schema: JsonObject, root: JsonObject) -> JsonObject:
    fit: JsonObject = {}
    for keyword, value in schema.items():
        if keyword in MAPS and isinstance(value, dict):
            fit[keyword] = {name: _fit_any(item, root) for name, item in value.items()}
        elif keyword in LISTS and isinstance(value, list):
            fit[keyword] = [_fit_any(item, root) for item in value]
        elif keyword in SINGLE:
            fit[keyword] = _fit_any(value, root)
        elif keyword != "$ref" or _resolves(value, root):
            fit[keyword] = value
    kind = fit.get("type")
    if (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in fit:
        fit["items"] = {}
    return fit


def _fit_any(value: Json, root: JsonObject) -> Json:
    return _fit(value, root) if isinstance(value, dict) else value


def _resolves(reference: Json, root: JsonObject) -> bool:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return False
    place: Json = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and key in place:
            place = place[key]
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            return False
    return reference == "#" or reference.startswith("#/")
