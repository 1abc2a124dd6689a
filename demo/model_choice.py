"""Which model answers in the demo: the one asked for, one with a key, a local server, or the embedded script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any, TypeAlias, cast

SCRIPTED = "scripted:script.yaml"
"""The embedded script, as the workspace names it."""

KEYS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-4-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
    "OPENROUTER_API_KEY": "openrouter:anthropic/claude-sonnet-4.5",
    "DEEPSEEK_API_KEY": "deepseek:deepseek-chat",
}
"""The first of these variables that is set chooses its model."""

Address: TypeAlias = tuple[str, int]
OLLAMA: Address = ("127.0.0.1", 11434)
LLAMA_CPP: Address = ("127.0.0.1", 8080)
PATIENCE_SECONDS = 0.3
"""How long a local server may take to show that it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model as `provider:name`, why it was chosen, and what oribi.toml needs to know to reach it."""

    ref: str
    why: str
    settings: str = ""


def choose_model(
    environment: Mapping[str, str],
    wanted: str | None = None,
    *,
    ollama: Address = OLLAMA,
    llama_cpp: Address = LLAMA_CPP,
) -> Choice:
    """The model to use; `wanted` is what a person asked for with a flag, where `scripted` means the embedded script."""
    if wanted == "scripted":
        return Choice(ref=SCRIPTED, why="the embedded scripted model, as asked for")
    if wanted:
        return Choice(ref=wanted, why="as --model says")
    for variable in ("ORIBI_MODEL", "ORIBI_DEFAULT_MODEL"):
        if ref := environment.get(variable):
            return Choice(ref=ref, why=f"as {variable} says")
    for variable, ref in KEYS.items():
        if environment.get(variable):
            return Choice(ref=ref, why=f"because {variable} is set")
    local = _ollama(ollama) or _llama_cpp(llama_cpp)
    return local or Choice(ref=SCRIPTED, why="no provider key and no local model server found")


def _ollama(address: Address) -> Choice | None:
    answer = _ask(address, "/api/tags")
    names = [model["name"] for model in answer["models"]] if answer and answer.get("models") else []
    return Choice(ref=f"ollama:{names[0]}", why="because Ollama answers on this machine") if names else None


def _llama_cpp(address: Address) -> Choice | None:
    answer = _ask(address, "/v1/models")
    names = [model["id"] for model in answer["data"]] if answer and answer.get("data") else []
    if not names:
        return None
    url = f"http://{address[0]}:{address[1]}/v1"
    settings = f'\n[providers.llama-cpp]\nbase_url = "{url}"\nwire = "openai-chat"\n'
    return Choice(
        ref=f"llama-cpp:{names[0]}", why="because a llama.cpp server answers on this machine", settings=settings
    )


def _ask(address: Address, path: str) -> dict[str, Any] | None:
    """The JSON object at `path`, or None if nothing of that kind answers at once."""
    connection = HTTPConnection(*address, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path)
        answer: object = json.loads(connection.getresponse().read(1_000_000))
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else None  # a JSON object has text keys
