"""Endpoints and model references: what is known, and exact words for what is not."""

import re
from typing import Any

import pytest

from oribi.core.errors import ConfigError
from oribi.models.endpoints import KNOWN_PROVIDERS, Endpoint, known_endpoints, ollama_url, parse_model_ref


def test_a_model_name_may_hold_colons_itself() -> None:
    assert parse_model_ref("ollama:qwen3:8b") == ("ollama", "qwen3:8b")
    assert parse_model_ref(" openrouter:meta/llama:free ") == ("openrouter", "meta/llama:free")
    assert parse_model_ref("mine:m", known=["mine"]) == ("mine", "m")


@pytest.mark.parametrize("ref", ["gpt-5", ":gpt-5", "openai:", "", "openai: "])
def test_a_reference_without_both_parts_is_refused_with_an_example(ref: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"model {ref!r} is not 'provider:name'")):
        parse_model_ref(ref)


def test_an_unknown_provider_lists_the_known_ones() -> None:
    with pytest.raises(
        ConfigError, match="no provider named 'opnai'; there are: anthropic, deepseek, gemini, llamacpp, ollama"
    ):
        parse_model_ref("opnai:gpt-5")


def test_the_table_of_providers_and_its_names_agree() -> None:
    endpoints = known_endpoints()
    assert tuple(endpoints) == KNOWN_PROVIDERS
    assert {name for name, endpoint in endpoints.items() if endpoint.key_env is None} == {
        "ollama",
        "vllm",
        "llamacpp",
    }


@pytest.mark.parametrize(
    ("host", "url"),
    [
        (None, "http://localhost:11434/v1"),
        ("", "http://localhost:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),  # noqa: S104 - what a server listens on, as people copy it
        ("gpu", "http://gpu:11434/v1"),
        ("gpu:1234", "http://gpu:1234/v1"),
        (":1234", "http://localhost:1234/v1"),
        ("https://gpu.example/ollama/", "https://gpu.example:443/ollama/v1"),
        ("http://gpu", "http://gpu:80/v1"),
        ("[::1]:1234", "http://[::1]:1234/v1"),
    ],
)
def test_the_ollama_host_is_read_as_ollama_reads_it(host: str | None, url: str) -> None:
    assert ollama_url(host) == url
    assert known_endpoints(ollama_host=host)["ollama"].base_url == url


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host/v1", "http://", "http://host:99999", "http://[::1"])
def test_a_base_url_that_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="provider 'mine': base_url"):
        Endpoint(provider="mine", wire="openai-chat", base_url=url)


def test_an_unknown_wire_lists_the_known_ones() -> None:
    wire: Any = "grpc"
    with pytest.raises(
        ConfigError, match="no wire named 'grpc'; there are: openai-chat, openai-responses, anthropic, gemini"
    ):
        Endpoint(provider="mine", wire=wire, base_url="http://host/v1")
