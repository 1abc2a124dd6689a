"""Requests as the wires encode them, with no key and no connection: what a replay compares hashes of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from oribi.core.errors import ConfigError
from oribi.models.wires import WIRES
from oribi.testing.scripted import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oribi.core.messages import ModelChoice
    from oribi.core.prompt import Prompt
    from oribi.models.endpoints import Endpoint
    from oribi.ports import Models, Request


class Encoder(Protocol):
    """Builds requests; the same bytes as the model of that choice sends."""

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        """The request for `prompt`, which reuses encoded parts of `previous`."""
        ...


class Encoding(Protocol):
    """All encoders by choice; the `Models` port is one as well."""

    def get(self, choice: ModelChoice) -> Encoder:
        """The encoder for `choice`; `ConfigError` if its provider is not known."""
        ...


class _WireEncoder:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return WIRES[self._endpoint.wire].build_request(prompt, self._endpoint, previous)


class Encoders:
    """The encoders by choice: of the workspace's `endpoints`, of scripts, and of `others` for what is neither."""

    def __init__(self, endpoints: Mapping[str, Endpoint], others: Models) -> None:
        self._endpoints = endpoints
        self._others = others
        self._scripted = ScriptedModel({})

    def get(self, choice: ModelChoice) -> Encoder:
        """The encoder for `choice`.

        Raises:
            ConfigError: The provider is not known any more, or its wire is another one now.

        """
        endpoint = self._endpoints.get(choice.provider)
        if endpoint is not None:
            if endpoint.wire != choice.wire:
                raise ConfigError(
                    f"the recorded turn spoke {choice.wire!r} to {choice.provider!r}, which speaks {endpoint.wire!r} "
                    "now; set its wire back in oribi.toml to replay it"
                )
            return _WireEncoder(endpoint)
        return self._scripted if choice.wire == "scripted" else self._others.get(choice)
