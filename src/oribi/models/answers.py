"""Structured answers: a model's text, held against the JSON Schema that an agent asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from oribi.core.errors import ConfigError
from oribi.models.arguments import parse_exactly
from oribi.models.jsontext import dumps

if TYPE_CHECKING:
    import jsonschema_rs

    from oribi.core.calls import Json, JsonObject

_FENCED = re.compile(r"\A\s*```(?:[a-zA-Z]*\s*\n)?(?P<inside>.*)```\s*\Z", re.DOTALL)
_LONGEST_PROBLEM = 300


class AnswerChecker:
    """Parses answers and validates them; each schema is compiled once. Use it as a function."""

    def __init__(self) -> None:
        self._compiled: dict[bytes, jsonschema_rs.Validator] = {}

    def __call__(self, schema: JsonObject, text: str) -> tuple[Json, str | None]:
        """The value of `text` and what is wrong with it: None when it fits `schema`. A code fence around it is ignored.

        As in the arguments of calls, integers beyond 64 bits and more than 254 levels are wrong: nothing could carry
        them unchanged.

        Raises:
            ConfigError: `schema` is not a JSON Schema.

        """
        fenced = _FENCED.match(text)
        try:
            value = parse_exactly(fenced["inside"] if fenced else text)
            orjson.dumps(value)
        except ValueError as error:
            return None, f"it is not JSON ({error})"
        except TypeError as error:  # more than 254 levels
            return None, f"it cannot be carried ({error})"
        wrong = next(iter(self.validator(schema).iter_errors(value)), None)
        if wrong is None:
            return value, None
        return None, _said(wrong)[:_LONGEST_PROBLEM]

    def validator(self, schema: JsonObject) -> jsonschema_rs.Validator:
        """The compiled schema.

        Raises:
            ConfigError: It is not a JSON Schema.

        """
        import jsonschema_rs

        try:
            key = dumps(schema)
            known = self._compiled.get(key)
            if known is None:
                known = self._compiled[key] = jsonschema_rs.validator_for(schema, offline=True)
        except ValueError as error:
            said = _said(error) if isinstance(error, jsonschema_rs.ValidationError) else str(error)
            raise ConfigError(f"output_schema is not a JSON Schema: {said[:_LONGEST_PROBLEM]}") from error
        return known


def _said(wrong: jsonschema_rs.ValidationError) -> str:
    place = "/".join(str(part) for part in wrong.instance_path)
    return f"{place or 'the value'}: {wrong.message}"
