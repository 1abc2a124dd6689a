"""The registry: from a model choice to the model that answers; keys are looked up by name and stored nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from oribi.core.errors import ConfigError
from oribi.core.messages import ModelChoice
from oribi.models.endpoints import Endpoint
from oribi.models.limits import Gate, LimitedModel
from oribi.models.transport import Connections, HttpModel
from oribi.models.wires import WIRES
from oribi.ports import Model


class HttpModels:
    """All models of a process, as the `Models` port.

    `endpoints` by provider; `secret` gives the value of an environment variable, or None; `extra` makes models that
    are not reached over HTTP, such as a scripted one, by provider. Close it when the process ends.
    """

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        secret: Callable[[str], str | None],
        extra: Mapping[str, Callable[[ModelChoice], Model]] | None = None,
        *,
        connect_seconds: float = 10.0,
        idle_seconds: float = 120.0,
    ) -> None:
        self._endpoints = endpoints
        self._secret = secret
        self._extra = extra or {}
        self._connections = Connections(connect_seconds=connect_seconds, idle_seconds=idle_seconds)
        self._models: dict[str, tuple[Endpoint, str | None, LimitedModel]] = {}

    def get(self, choice: ModelChoice) -> Model:
        if (make := self._extra.get(choice.provider)) is not None:
            return make(choice)
        endpoint = self._endpoints.get(choice.provider)
        if endpoint is None:
            known = ", ".join(sorted({*self._endpoints, *self._extra}))
            raise ConfigError(f"model {choice.ref!r}: no provider named {choice.provider!r}; there are: {known}")
        if reserved := sorted(WIRES[endpoint.wire].reserved & choice.parameters.keys()):
            raise ConfigError(
                f"model {choice.ref!r}: the parameter {reserved[0]!r} is set by Oribi itself; remove it from the agent"
            )
        key = self._key(endpoint, choice)
        made = self._models.get(choice.provider)
        if made is None or made[:2] != (endpoint, key):
            gate = Gate(choice.provider, endpoint.limits)
            made = endpoint, key, LimitedModel(HttpModel(endpoint, key, self._connections), gate)
            self._models[choice.provider] = made
        return made[2]

    async def close(self) -> None:
        """Close the connections to all providers."""
        await self._connections.close()

    def _key(self, endpoint: Endpoint, choice: ModelChoice) -> str | None:
        if endpoint.key_env is None:
            return None
        key = self._secret(endpoint.key_env)
        if not key or not key.strip():
            raise ConfigError(
                f"model {choice.ref!r} needs a key: set the environment variable {endpoint.key_env}, "
                "or choose a model that needs none, such as 'ollama:qwen3:8b'"
            )
        return key
