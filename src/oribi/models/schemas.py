"""Tool schemas as providers accept them: an object at the top, items for every array, no reference into nothing."""

from __future__ import annotations

from typing import Final

from oribi.core.calls import Json, JsonObject
from oribi.models.jsontext import as_list, as_object

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

STRICT: Final = frozenset(
    {
        "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum",
        "exclusiveMinimum", "format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern",
        "properties", "required", "title", "type",
    }
)  # fmt: skip
"""The keywords that OpenAI's strict mode knows."""

ON_TOP: Final = frozenset({"$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"})
"""Keywords that OpenAI refuses at the top of an answer's schema."""

CLOSED: Final = frozenset(
    {
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "title",
        "type",
    }
)
"""The keywords that Anthropic's wire knows and that mean there what they mean here."""

CHECKED_LATER: Final = frozenset(
    {
        "$id", "$schema", "default", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems",
        "maxLength", "maximum", "minItems", "minLength", "minimum", "multipleOf", "pattern", "uniqueItems",
    }
)  # fmt: skip
"""Keywords that may be left out: they only narrow what a value may be, or say nothing about it."""

STRICT_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
STRICT_DEPTH: Final = 10


def parameters_schema(parameters: JsonObject) -> JsonObject:
    """The schema of a tool's parameters, changed only where a provider would refuse it."""
    fit = _fit(parameters, parameters)
    return with_object_on_top(fit, fit)  # what a reference at the top points at has been fitted too


def with_object_on_top(schema: JsonObject, root: JsonObject) -> JsonObject:
    """`schema` as an object with `properties`, no choice, and no reference, at its top.

    A choice among objects becomes one object with the properties of all, of which those are required that every one
    requires. References are looked up in `root`.
    """
    top = dict(schema)
    seen: set[str] = set()
    while isinstance(reference := top.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        del top["$ref"]
        top = {**as_object(referenced(reference, root)), **top}
    top.pop("$ref", None)
    for keyword in ("not", "enum", "const"):
        top.pop(keyword, None)
    properties = dict(as_object(top.get("properties")))
    required = as_list(top.get("required"))
    for keyword in ("allOf", "anyOf", "oneOf"):
        options = [_option(item, root) for item in as_list(top.pop(keyword, None))]
        for option in options:
            for name, item in as_object(option.get("properties")).items():
                known = properties.get(name, item)
                properties[name] = known if known == item else {"anyOf": [known, item]}
        wanted = [set(map(str, as_list(option.get("required")))) for option in options]
        if wanted:
            needed = set[str]().union(*wanted) if keyword == "allOf" else wanted[0].intersection(*wanted)
            required = [*required, *sorted(needed - set(map(str, required)))]
    top |= {"type": "object", "properties": properties}
    if required:
        top["required"] = required
    return top


def answer_schema(schema: JsonObject) -> JsonObject | None:
    """The schema of an answer as OpenAI's wires take it, which want an object at the top; None when it is none."""
    return _fit(schema, schema) if _is_object(schema) else None


def closed_schema(schema: JsonObject) -> JsonObject | None:
    """The schema of an answer as Anthropic's wire takes it; None where that would mean something else.

    Every object has to be closed to further properties, and nothing may refer. Limits on numbers, texts and lists are
    left out: the answer is held against them when it has come.
    """
    return _closed(schema) if _is_object(schema) else None


def is_strict(schema: JsonObject) -> bool:
    """Whether OpenAI's strict mode takes `schema` as it is and loses nothing.

    It knows neither optional properties nor objects with free keys: those it would silently turn into others.
    """
    return _is_strict(schema, 0)


def referenced(reference: Json, root: JsonObject) -> Json:
    """What `reference` points at within `root`; None when that is nothing."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    place: Json = root
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and key in place:
            place = place[key]
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            return None
    return place


def _fit(schema: JsonObject, root: JsonObject) -> JsonObject:
    fit: JsonObject = {}
    for keyword, value in schema.items():
        if keyword in MAPS and isinstance(value, dict):
            fit[keyword] = {name: _fit_any(item, root) for name, item in value.items()}
        elif keyword in LISTS and isinstance(value, list):
            fit[keyword] = [_fit_any(item, root) for item in value]
        elif keyword in SINGLE:
            fit[keyword] = _fit(value, root) if isinstance(value, dict) else value
        elif keyword != "$ref" or referenced(value, root) is not None:
            fit[keyword] = value
    kind = fit.get("type")
    if (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in fit:
        fit["items"] = {}
    return fit


def _fit_any(value: Json, root: JsonObject) -> Json:
    if value is True:
        return {}
    return _fit(value, root) if isinstance(value, dict) else value


def _option(value: Json, root: JsonObject) -> JsonObject:
    """One option of a choice at the top: the object it stands for."""
    option = as_object(value)
    return {**as_object(referenced(option["$ref"], root)), **option} if "$ref" in option else option


def _is_object(schema: JsonObject) -> bool:
    return schema.get("type") == "object" and not schema.keys() & ON_TOP


def _closed(value: Json) -> JsonObject | None:
    if not isinstance(value, dict) or not value.keys() <= CLOSED | CHECKED_LATER:
        return None
    fit: JsonObject = {}
    for keyword, part in value.items():
        match keyword:
            case "properties":
                inner: JsonObject = {name: _closed(item) for name, item in as_object(part).items()}
                if None in inner.values():
                    return None
                fit[keyword] = inner
            case "anyOf":
                options: list[Json] = [_closed(item) for item in as_list(part)]
                if None in options:
                    return None
                fit[keyword] = options
            case "items":
                fit[keyword] = _closed(part)
                if fit[keyword] is None:
                    return None
            case _ if keyword in CHECKED_LATER:
                pass
            case _:
                fit[keyword] = part
    kind = fit.get("type")
    is_object = kind == "object" or "properties" in fit or (isinstance(kind, list) and "object" in kind)
    is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
    if not fit.keys() & {"type", "anyOf", "const", "enum"} or (is_array and "items" not in fit):
        return None
    return None if is_object and fit.get("additionalProperties") is not False else fit


def _is_strict(value: Json, depth: int) -> bool:
    if not isinstance(value, dict) or depth > STRICT_DEPTH or not value.keys() <= STRICT:
        return False
    if not value.keys() & {"type", "anyOf", "enum", "const", "$ref"} or (depth == 0 and "anyOf" in value):
        return False
    properties = as_object(value.get("properties"))
    kind = value.get("type")
    if kind == "object" or "properties" in value or (isinstance(kind, list) and "object" in kind):
        required = as_list(value.get("required"))
        if value.get("additionalProperties") is not False or any(name not in required for name in properties):
            return False
    elif "additionalProperties" in value:
        return False
    if "format" in value and value["format"] not in STRICT_FORMATS:
        return False
    parts = [*properties.values(), *as_object(value.get("$defs")).values(), *as_list(value.get("anyOf"))]
    if "items" in value:
        parts.append(value["items"])
    return all(_is_strict(part, depth + 1) for part in parts)
