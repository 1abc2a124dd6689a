"""The providers that a library reaches for us: which key or account each needs, and its model, made without retries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from oribi.core.errors import ConfigError
from oribi.core.messages import ModelChoice
from oribi.models.via_pydantic_ai import SETTINGS, ForeignModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model as LibraryModel

PROVIDERS: Final = ("bedrock", "cohere", "groq", "mistral", "vertex")

KEYS: Final[Mapping[str, str]] = {"cohere": "CO_API_KEY", "groq": "GROQ_API_KEY", "mistral": "MISTRAL_API_KEY"}
"""The environment variables that hold keys. Bedrock and Vertex have accounts, which their SDKs look up."""


class ForeignModels:
    """The models behind the library, for one application. Close it when done.

    `secret` gives the value of an environment variable, or None. `base_urls` says where a provider is reached instead
    of at its own address.
    """

    def __init__(
        self,
        secret: Callable[[str], str | None],
        *,
        base_urls: Mapping[str, str] | None = None,
        idle_seconds: float = 120.0,
    ) -> None:
        self._secret = secret
        self._base_urls = base_urls or {}
        self._idle_seconds = idle_seconds
        self._models: dict[str, tuple[str, ForeignModel]] = {}

    def get(self, choice: ModelChoice) -> ForeignModel:
        """The model for `choice`.

        Raises:
            ConfigError: The extra is not installed, a key is missing, or a parameter is not known.

        """
        if unknown := sorted(choice.parameters.keys() - SETTINGS.keys()):
            raise ConfigError(
                f"model {choice.ref!r}: no parameter {unknown[0]!r} with this provider; there are: "
                + ", ".join(sorted(SETTINGS))
            )
        key = self._key(choice)
        made = self._models.get(choice.ref)
        if made is None or made[0] != key:
            try:
                model = self._made(choice, key)
            except ImportError as error:
                raise ConfigError(
                    f"model {choice.ref!r} needs a library that is not installed: pip install 'oribi[providers]'"
                ) from error
            kept_out = key if choice.provider in KEYS else ""
            made = key, ForeignModel(model, key=kept_out, idle_seconds=self._idle_seconds)
            self._models[choice.ref] = made
        return made[1]

    async def close(self) -> None:
        """Close the connections to all providers."""
        models, self._models = list(self._models.values()), {}
        for _, model in models:
            await model.close()

    def _key(self, choice: ModelChoice) -> str:
        """The key, or for a provider with accounts what of the account we name."""
        match choice.provider:
            case "bedrock":
                return self._found(choice, ("AWS_REGION", "AWS_DEFAULT_REGION"), "region")
            case "vertex":
                return self._found(choice, ("GOOGLE_CLOUD_PROJECT",), "project")
            case provider:
                return self._found(choice, (KEYS[provider],), "key")

    def _found(self, choice: ModelChoice, names: tuple[str, ...], what: str) -> str:
        for name in names:
            if value := (self._secret(name) or "").strip():
                return value
        raise ConfigError(f"model {choice.ref!r} needs a {what}: set the environment variable {names[0]}")

    def _made(self, choice: ModelChoice, key: str) -> LibraryModel[Any]:
        url = self._base_urls.get(choice.provider)
        match choice.provider:
            case "bedrock":
                return _bedrock(choice, key, url, self._idle_seconds)
            case "cohere":
                return _cohere(choice.name, key, url)
            case "groq":
                return _groq(choice.name, key, url)
            case "mistral":
                return _mistral(choice.name, key, url)
            case "vertex":
                return _vertex(choice.name, key, url, self._secret("GOOGLE_CLOUD_LOCATION"))
            case provider:
                raise ConfigError(f"no provider named {provider!r} here; there are: {', '.join(PROVIDERS)}")


def _bedrock(choice: ModelChoice, region: str, url: str | None, idle_seconds: float) -> LibraryModel[Any]:
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    boto3: Any = import_module("boto3")  # brings no types, nor does botocore
    botocore: Any = import_module("botocore.config")
    faults: Any = import_module("botocore.exceptions")
    config = botocore.Config(retries={"total_max_attempts": 1}, read_timeout=idle_seconds, connect_timeout=10)
    try:
        client = boto3.Session(region_name=region).client("bedrock-runtime", config=config, endpoint_url=url)
    except faults.BotoCoreError as error:
        raise ConfigError(f"model {choice.ref!r}: the AWS settings cannot be used: {error}") from error
    return BedrockConverseModel(choice.name, provider=BedrockProvider(bedrock_client=client))


def _cohere(name: str, key: str, url: str | None) -> LibraryModel[Any]:
    from cohere import AsyncClientV2
    from pydantic_ai.models.cohere import CohereModel
    from pydantic_ai.providers.cohere import CohereProvider

    if url is None:
        return CohereModel(name, provider=CohereProvider(api_key=key))
    return CohereModel(name, provider=CohereProvider(cohere_client=AsyncClientV2(api_key=key, base_url=url)))


def _groq(name: str, key: str, url: str | None) -> LibraryModel[Any]:
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    return GroqModel(name, provider=GroqProvider(api_key=key, base_url=url))


def _mistral(name: str, key: str, url: str | None) -> LibraryModel[Any]:
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    return MistralModel(name, provider=MistralProvider(api_key=key, base_url=url))


def _vertex(name: str, project: str, url: str | None, location: str | None) -> LibraryModel[Any]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google_cloud import GoogleCloudProvider

    provider = GoogleCloudProvider(project=project, location=location or "global", base_url=url)
    return GoogleModel(name, provider=provider)
