"""Endpoints: where a provider answers, which wire it speaks there, and in which dialect. Keys are named, never held."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from oribi.core.errors import ConfigError
from oribi.models.limits import Limits

Wire: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]
"""The protocols we speak."""

OLLAMA_PORT: Final = 11434


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Where endpoints of one wire differ.

    `stream`: ask for a stream. `stream_usage`: ask for token counts at its end. `max_tokens_field`: what the OpenAI
    chat wire calls `max_tokens`. `reasoning_back`: the field in which the reasoning that led to tool calls has to come
    back (None: it must not). `prompt_cache`: mark the stable prefix for the provider's prompt cache (Anthropic wire).
    `strict_tools`: have the provider hold calls to a tool's schema, where its strict mode changes nothing about it
    (OpenAI wires). `structured_output`: have the provider hold the answer to the output schema, where its form of that
    takes the schema. `media`: images and files can be sent; where not, they are only named.
    """

    stream: bool = True
    stream_usage: bool = True
    max_tokens_field: str = "max_tokens"
    reasoning_back: str | None = None
    prompt_cache: bool = False
    strict_tools: bool = False
    structured_output: bool = False
    media: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One provider's address.

    `base_url` ends before `/chat/completions`, `/responses`, `/messages` or `/models/...`, whatever version it names
    (`/v1`, `/v4`, `/v1beta`). `key_env` names the environment variable that holds the
    key; None means that no key is sent. `headers` are added to every request, after ours. `limits` is what this
    process allows itself towards the provider. `idle_seconds` bounds the silence while an answer is awaited or read;
    None means 120, or what the registry was made with.

    Raises:
        ConfigError: The wire is not one of ours, or the URL is not http(s).

    """

    provider: str
    wire: Wire
    base_url: str
    key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    dialect: Dialect = field(default_factory=Dialect)
    limits: Limits = field(default_factory=Limits)
    idle_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.wire not in get_args(Wire):
            raise ConfigError(
                f"provider {self.provider!r}: no wire named {self.wire!r}; there are: {', '.join(get_args(Wire))}"
            )
        try:
            parts = urlsplit(self.base_url)
            fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            fits = False
        if not fits:
            raise ConfigError(
                f"provider {self.provider!r}: base_url {self.base_url!r} is not a web address; "
                "write it as 'https://host/v1'"
            )


def known_endpoints(*, ollama_host: str | None = None) -> dict[str, Endpoint]:
    """The providers that need no configuration beyond their key. `ollama_host` is the value of OLLAMA_HOST, if set."""
    endpoints = (
        *_OPENAI,
        Endpoint(
            provider="anthropic",
            wire="anthropic",
            base_url="https://api.anthropic.com/v1",
            key_env="ANTHROPIC_API_KEY",
            dialect=Dialect(prompt_cache=True, structured_output=True),
        ),
        Endpoint(
            provider="gemini",
            wire="gemini",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_env="GEMINI_API_KEY",
            dialect=Dialect(structured_output=True),
        ),
        Endpoint(provider="ollama", wire="openai-chat", base_url=ollama_url(ollama_host)),
        *_CHAT,
    )
    return {endpoint.provider: endpoint for endpoint in endpoints}


_OPENAI: Final = (
    Endpoint(
        provider="openai",
        wire="openai-chat",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        dialect=Dialect(max_tokens_field="max_completion_tokens", strict_tools=True, structured_output=True),
    ),
    Endpoint(
        provider="openai-responses",
        wire="openai-responses",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        dialect=Dialect(strict_tools=True, structured_output=True),
    ),
)
"""One provider on two wires; reasoning goes from step to step only on the second."""

_CHAT: Final = (
    Endpoint(provider="vllm", wire="openai-chat", base_url="http://localhost:8000/v1"),
    Endpoint(
        provider="llamacpp",
        wire="openai-chat",
        base_url="http://localhost:8080/v1",
        dialect=Dialect(reasoning_back="reasoning_content"),
    ),
    Endpoint(
        provider="openrouter",
        wire="openai-chat",
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        dialect=Dialect(structured_output=True),
    ),
    Endpoint(
        provider="deepseek",
        wire="openai-chat",
        base_url="https://api.deepseek.com/v1",
        key_env="DEEPSEEK_API_KEY",
        dialect=Dialect(reasoning_back="reasoning_content", media=False),
    ),
    Endpoint(
        provider="qwen",
        wire="openai-chat",
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_env="DASHSCOPE_API_KEY",
    ),
    Endpoint(
        provider="zhipu",
        wire="openai-chat",
        base_url="https://open.bigmodel.cn/api/paas/v4",
        key_env="ZHIPUAI_API_KEY",
        dialect=Dialect(reasoning_back="reasoning_content"),
    ),
)
"""What speaks the chat wire beside OpenAI and Ollama."""

KNOWN_PROVIDERS: Final = (
    "openai",
    "openai-responses",
    "anthropic",
    "gemini",
    "ollama",
    "vllm",
    "llamacpp",
    "openrouter",
    "deepseek",
    "qwen",
    "zhipu",
)
"""The names in `known_endpoints`."""


def parse_model_ref(ref: str, known: Collection[str] = KNOWN_PROVIDERS) -> tuple[str, str]:
    """Provider and model name of `provider:name`; the name may hold colons itself, as in `ollama:qwen3:8b`.

    Raises:
        ConfigError: The reference lacks a part, or its provider is not in `known`.

    """
    provider, colon, name = (part.strip() for part in ref.partition(":"))
    if not colon or not provider or not name:
        raise ConfigError(f"model {ref!r} is not 'provider:name'; write it as 'ollama:qwen3:8b'")
    if provider not in known:
        raise ConfigError(
            f"model {ref!r}: no provider named {provider!r}; there are: {', '.join(sorted(known))}. "
            "Another one is added with its base_url in oribi.toml"
        )
    return provider, name


def ollama_url(host: str | None) -> str:
    """The base URL for a value of OLLAMA_HOST, read as Ollama reads it: scheme and port may be missing."""
    text = (host or "").strip().strip("\"'").rstrip("/")
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "http", text
    address, slash, path = rest.partition("/")
    if not re.search(r":\d+$", address):
        default = OLLAMA_PORT if not mark else 443 if scheme == "https" else 80
        address = f"{address.rstrip(':')}:{default}"
    name, _, port = address.rpartition(":")
    if name in {"", "0.0.0.0", "[::]"}:  # noqa: S104 - a server's "every address", which a client cannot dial
        name = "127.0.0.1" if name else "localhost"
    return f"{scheme}://{name}:{port}{slash}{path}/v1"
