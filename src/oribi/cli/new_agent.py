"""Making an agent: its folder and an AGENT.md to edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oribi.agents.agent import AGENT_NAME
from oribi.cli.wording import one_json
from oribi.core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def make_agent(
    agents: Path, name: str, *, model: str | None = None, description: str = "", tools: Sequence[str] = ()
) -> Path:
    """Make `agents/NAME/AGENT.md` and return its path. JSON texts are YAML texts, so values are written as those.

    Raises:
        ConfigError: The name cannot be one, there is such an agent, or the folder cannot be written.

    """
    if not AGENT_NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot name an agent; use letters, digits, '.', '_' and '-', at most 64")
    file = agents / name / "AGENT.md"
    if model is None:
        model_line = "# model: anthropic:claude-sonnet-4-5     # else default_model of oribi.toml"
    else:
        model_line = f"model: {one_json(model)}"
    listed = "".join(f"\n  - {one_json(tool)}" for tool in tools)
    text = (
        f"---\ndescription: {one_json(description or 'What this agent is for, in a sentence')}\n{model_line}\n"
        f"tools:{listed or ' []'}\n---\nYou are {name}.\n\n"
        "Say here what the agent does, how it goes about it, and what it leaves alone.\n"
    )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except FileExistsError as error:
        raise ConfigError(f"there is an agent {name!r} already: {file}; edit it, or choose another name") from error
    except OSError as error:
        raise ConfigError(f"cannot write {str(file)!r}: {error.strerror or error}") from error
    return file
