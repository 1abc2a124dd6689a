"""A model call as a fake server received it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import object_of
from oribi.testing.rules import Dialect
from oribi.testing.wire import wants_stream


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A model call as it arrived. `at` is in seconds of a monotonic clock; `broken` names the rules it breaks."""

    dialect: Dialect
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    broken: tuple[str, ...]

    @property
    def json(self) -> JsonObject:
        """The body, parsed; a `ValueError` if it is not JSON."""
        parsed: Json = json.loads(self.body)
        return object_of(parsed)

    @property
    def streamed(self) -> bool:
        """Whether it asked for a stream."""
        return wants_stream(self.dialect, self.path, self.json)
