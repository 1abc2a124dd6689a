"""Tool schemas as Gemini takes them: no `$ref`, no list of types, no true or false as a schema, items for every array.

What it does not know is left out; arguments are checked against the tool's own schema anyway.
"""

from __future__ import annotations

from typing import Final

from oribi.core.calls import Json, JsonObject
from oribi.models.jsontext import as_list, as_object
from oribi.models.schemas import referenced, with_object_on_top

ABOUT: Final = ("default", "description", "title")
"""Keywords for any type."""

OF_TYPE: Final[dict[str, tuple[str, ...]]] = {
    "array": ("items", "maxItems", "minItems", "prefixItems"),
    "boolean": (),
    "integer": ("enum", "format", "maximum", "minimum"),
    "null": (),
    "number": ("enum", "format", "maximum", "minimum"),
    "object": ("additionalProperties", "maxProperties", "minProperties", "properties", "required"),
    "string": ("enum", "format", "maxLength", "minLength", "pattern"),
}
"""Keywords for one type: those that the provider knows."""

HOLDING: Final = frozenset({"additionalProperties", "enum", "items", "prefixItems", "properties", "required"})
"""Keywords that hold schemas, values of the type, or names of properties."""

MOST_SCHEMAS: Final = 2_000
"""How many schemas one tool may come to when its references are written out; those beyond say only their type."""

DEEPEST: Final = 24


def gemini_schema(parameters: JsonObject) -> JsonObject:
    """The schema of a tool's parameters: an object with `properties`, perhaps none."""
    schema = _Writer(parameters).write(with_object_on_top(parameters, parameters), ())
    return {"properties": {}, **schema}


def gemini_answer_schema(schema: JsonObject) -> JsonObject:
    """The schema of an answer, of whatever type; empty when it says nothing that the provider knows."""
    return _Writer(schema).write(schema, ())


class _Writer:
    """Writes one schema out; `_left` is how many more schemas it may hold."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = MOST_SCHEMAS

    def write(self, value: Json, inside: tuple[str, ...]) -> JsonObject:
        """`value` without references. `inside` holds those it stands in, none of which is followed again."""
        schema, inside = self._resolved(as_object(value), inside)
        self._left -= 1
        fit: JsonObject = {key: schema[key] for key in ABOUT if key in schema}
        kinds = _types(schema)
        options = [self.write(item, inside) for key in ("anyOf", "oneOf") for item in as_list(schema.get(key))]
        if len(kinds) == 1:
            fit |= self._of_type(kinds[0], schema, inside)
        elif not options:
            options = [self._of_type(kind, schema, inside) for kind in kinds]
        if options:
            fit["anyOf"] = [*options]
        for item in as_list(schema.get("allOf")):
            _add(fit, self.write(item, inside))
        return fit

    def _resolved(self, schema: JsonObject, inside: tuple[str, ...]) -> tuple[JsonObject, tuple[str, ...]]:
        """`schema` with what its reference stands for; of what it stands in itself, only the type and description."""
        while "$ref" in schema:
            reference, rest = schema["$ref"], {key: item for key, item in schema.items() if key != "$ref"}
            target = as_object(referenced(reference, self._root))
            if str(reference) in inside or self._left <= 0 or len(inside) >= DEEPEST:
                return {key: target[key] for key in ("type", "description") if key in target} | rest, inside
            inside = (*inside, str(reference))
            schema = target | rest
        return schema, inside

    def _of_type(self, kind: str, schema: JsonObject, inside: tuple[str, ...]) -> JsonObject:
        """What `schema` says of values of one type."""
        fit: JsonObject = {"type": kind}
        for keyword in OF_TYPE[kind]:
            if keyword not in schema:
                continue
            if keyword not in HOLDING:
                fit[keyword] = schema[keyword]
            elif self._left > 0 and (held := self._held(keyword, kind, schema, inside)):
                fit[keyword] = held
        if "const" in schema and "enum" in OF_TYPE[kind] and _is_of(kind, schema["const"]):
            fit["enum"] = [schema["const"]]
        if kind == "array":
            fit.setdefault("items", {})
        return fit

    def _held(self, keyword: str, kind: str, schema: JsonObject, inside: tuple[str, ...]) -> Json:
        """The schemas, values or names under `keyword`; nothing when there are none to say."""
        value = schema[keyword]
        match keyword:
            case "enum":
                return [item for item in as_list(value) if _is_of(kind, item)]
            case "required":
                return [name for name in as_list(value) if name in as_object(schema.get("properties"))]
            case "properties":
                return {name: self.write(item, inside) for name, item in as_object(value).items()}
            case "prefixItems":
                return [self.write(item, inside) for item in as_list(value)]
            case _:
                first = value[0] if isinstance(value, list) and value else value
                return self.write(first, inside) if isinstance(first, dict) else None


def _types(schema: JsonObject) -> list[str]:
    """The types that `schema` names, or that its other keywords mean."""
    given = schema.get("type")
    named = [kind for kind in (given if isinstance(given, list) else [given]) if isinstance(kind, str)]
    known = [kind.lower() for kind in named if kind.lower() in OF_TYPE]
    if known:
        return known
    values = as_list(schema.get("enum")) + ([schema["const"]] if "const" in schema else [])
    kinds = [
        kind for kind in ("string", "integer", "number", "boolean", "null") if any(_is_of(kind, v) for v in values)
    ]
    if kinds:
        return [kind for kind in kinds if kind != "integer" or "number" not in kinds]
    return ["object"] if "properties" in schema else ["array"] if "items" in schema else []


def _is_of(kind: str, value: Json) -> bool:
    match value:
        case str():
            return kind == "string"
        case bool():
            return kind == "boolean"
        case int():
            return kind in {"integer", "number"}
        case float():
            return kind == "number"
        case None:
            return kind == "null"
        case _:
            return False


def _add(fit: JsonObject, more: JsonObject) -> None:
    """Add what another schema asks for as well."""
    for key, value in more.items():
        match key:
            case "properties":
                fit[key] = as_object(value) | as_object(fit.get(key))
            case "required":
                known = as_list(fit.get(key))
                fit[key] = [*known, *(name for name in as_list(value) if name not in known)]
            case _:
                fit.setdefault(key, value)
