"""Structured answers: a model's text, held against the JSON Schema that an agent asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oribi.core.errors import ConfigError
from oribi.models.jsontext import dumps, loads

if TYPE_CHECKING:
    import jsonschema_rs

    from oribi.core.calls import Json, JsonObject

_FENCED = re.compile(r"\A\s*```[a-zA-Z]*\n(?P<inside>.*?)\n?```\s*\Z", re.DOTALL)
_LONGEST_PROBLEM = 300


class AnswerChecker:
    """Parses answers and validates them; each schema is compiled once. Use it as a function."""

    def __init__(self) -> None:
        self._compiled: dict[bytes, jsonschema_rs.Validator] = {}

    def __call__(self, schema: JsonObject, text: str) -> tuple[Json, str | None]:
        """The value of `text` and what is wrong with it: None when it fits `schema`. A code fence around it is ignored.

        Raises:
            ConfigError: `schema` is not a JSON Schema.

        """
        fenced = _FENCED.match(text)
        try:
            value = loads(fenced["inside"] if fenced else text)
        except ValueError as error:
            return None, f"it is not JSON ({error})"
        wrong = next(iter(self.validator(schema).iter_errors(value)), None)
        if wrong is None:
            return value, None
        place = "/".join(str(part) for part in wrong.instance_path)
        return None, f"{place or 'the value'}: {wrong.message}"[:_LONGEST_PROBLEM]

    def validator(self, schema: JsonObject) -> jsonschema_rs.Validator:
        """The compiled schema.

        Raises:
            ConfigError: It is not a JSON Schema.

        """
        import jsonschema_rs

        key = dumps(schema)
        known = self._compiled.get(key)
        if known is None:
            try:
                known = self._compiled[key] = jsonschema_rs.validator_for(schema, offline=True)
            except ValueError as error:
                raise ConfigError(f"output_schema is not a JSON Schema: {error}") from error
        return known
