"""The adapter's first half: how the settings of the case format are written in Oribi's files and under its names."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import oribi

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict, Play
    from tests.cases.harness.world import World

HERE = Path(__file__).parent
SOURCE = Path(oribi.__file__).parent.parent
"""Where the Oribi lies that these tests import; the processes run the same."""

AGENT = "case"
ROLES = {"@shell": "shell", "@read": "read_file", "@write": "write_file", "@http": "http_request"}
BUILT = ("@read", "@write")
"""The roles that Oribi has a tool for."""

SWEEP_COUNTS = ("messages",)
"""How the values of a swept limit are meant: Oribi counts whole turns, which are at least as many messages."""

_WIRES = {"openai": ("openai-chat", "/v1"), "anthropic": ("anthropic", "/v1"), "gemini": ("gemini", "/v1beta")}
_ARGUMENTS: dict[str, dict[str, str]] = {"@shell": {"timeout_s": "timeout_seconds"}}
"""Canonical argument names that Oribi's own tools call otherwise."""

_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE")


def map_arguments(role: str, given: JsonDict) -> JsonDict:
    """Arguments under the names of Oribi's own tools."""
    names = _ARGUMENTS.get(role, {})
    return {names.get(key, key): value for key, value in given.items()}


def home_of(world: World) -> Path:
    """Where Oribi keeps everything."""
    return world.workspace / ".oribi"


def placeholders(world: World) -> dict[str, Any]:
    """The places of Oribi's own files, and files in its forms."""
    home = home_of(world)
    job = (
        "---\ndescription: a job\ntools: [shell]\nschedules:\n"
        f'  - {{key: touch, cron: "* * * * *", message: "run: touch {world.values["OUT"]}/M"}}\n---\nRun.\n'
    )
    return {
        "DATA": str(home),
        "DB": str(home / "oribi.db"),
        "AGENTS_DIR": str(home / "agents"),
        "AGENT_FILE": str(home / "agents" / AGENT / "AGENT.md"),
        "CONFIG_DIR": str(home),
        "CONFIG_FILE": str(home / "oribi.toml"),
        "JOBS_FILE": str(home / "agents" / "job" / "AGENT.md"),
        "AGENT_MD_HELPER": "---\ndescription: helps\ntools: [shell]\n---\nYou help.\n",
        "AGENT_MD_SELF": "---\ndescription: the agent of the case\ntools: [write_file, shell]\n---\nYou do all.\n",
        "CONFIG_ALLOW_ALL": '[sandbox]\nshell = "allow"\n',
        "JOB_TOUCH": job,
    }


def install(world: World, play: Play, provider_url: str) -> dict[str, str]:
    """Make the workspace: settings, the agent, the fixtures. Returns the environment of the product's processes."""
    home = home_of(world)
    agent = home / "agents" / AGENT / "AGENT.md"
    agent.parent.mkdir(parents=True)
    agent.write_text(agent_text(play, play.spec.get("agent", {})), encoding="utf-8")
    (home / "oribi.toml").write_text(_settings_text(play, provider_url))
    if play.spec.get("mcp"):
        (home / "mcp.json").write_text(json.dumps(_servers(world, play), indent=2))
    plugins = _install_fixture_tools(world, play)
    person = world.root / "home"
    person.mkdir()
    given = {key: str(value) for key, value in world.filled(play.spec.get("env", {})).items()}
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {"HOME": str(person), "PYTHONPATH": f"{plugins}:{SOURCE}", "PROVIDER_API_KEY": world.values["KEY"]}
    return kept | own | given


def agent_text(play: Play, agent: JsonDict) -> str:
    """The AGENT.md for the format's agent settings."""
    config: JsonDict = play.spec.get("config", {})
    blocks = {
        "settings": {"max_iterations": agent.get("max_iterations"), "max_history_turns": _history(play, agent)},
        "policy": {"max_asks": None if "retries" not in agent else int(agent["retries"]) + 1},
        "budget": {
            "tool_calls": agent.get("max_tool_calls"),
            "total_tokens": agent.get("max_tokens_per_turn"),
            "deadline_seconds": config.get("turn_timeout_s"),
        },
    }
    front: JsonDict = {"description": "the agent of the case", "tools": _grants(play, agent)}
    if play.spec.get("mcp"):
        front["mcp_servers"] = [server["name"] for server in play.spec["mcp"]]
    for key, block in blocks.items():
        if given := {name: value for name, value in block.items() if value is not None}:
            front[key] = given
    if agent.get("thinking"):
        front["parameters"] = _thinking(play.dialect)
    lines = [f"{key}: {json.dumps(value)}" for key, value in front.items()]
    return "\n".join(["---", *lines, "---", agent.get("instructions", "You are the agent of a test case."), ""])


def place_for(world: World, path: Path, content: bytes) -> tuple[Path, bytes]:
    """Where Oribi looks for a file that the case puts at `path`, and its content under Oribi's names.

    An agent is a folder named like the agent: `agents/scout.md` becomes `agents/scout/AGENT.md`, and in its list of
    tools `read` becomes `read_file`.
    """
    if path.parent != home_of(world) / "agents" or path.suffix != ".md":
        return path, content
    named = _frontmatter_name(content) or path.stem
    for role in BUILT:
        content = _with_tool_name(content, role.lstrip("@"), ROLES[role])
    return path.parent / named / "AGENT.md", content


def _settings_text(play: Play, provider_url: str) -> str:
    config: JsonDict = play.spec.get("config", {})
    wire, path = _WIRES[play.dialect]
    level = {"debug": "debug", "info": "info"}.get(config.get("log_level", ""), "warning")
    provider = [f'base_url = "{provider_url}{path}"', f'wire = "{wire}"', 'key_env = "PROVIDER_API_KEY"']
    if "idle_timeout_s" in config:
        provider.append(f"idle_seconds = {config['idle_timeout_s']}")
    lines = ['default_model = "fake:fake-1"', f'default_agent = "{AGENT}"', "[providers.fake]", *provider]
    return "\n".join([*lines, "[log]", f'level = "{level}"', ""])


def _history(play: Play, agent: JsonDict) -> int | None:
    if play.sweep is not None and play.sweep.param == "history_limit":
        return play.sweep.value
    return agent.get("history_limit")


def _grants(play: Play, agent: JsonDict) -> list[str]:
    every = [tool["name"] for tool in play.spec.get("tools", [])]
    every += [ROLES[role] for role in play.spec.get("builtin", []) if role in BUILT]
    if "tools" not in agent:
        return every
    return [ROLES[name] if name in ROLES else name.partition(".")[2] for name in agent["tools"]]


def _install_fixture_tools(world: World, play: Play) -> Path:
    """A plug-in package that offers the fixture tools by entry points, as any package does."""
    tools = world.filled(play.spec.get("tools", []))
    plugins = world.root / "plugins"
    info = plugins / "case_fixtures-1.0.dist-info"
    info.mkdir(parents=True)
    shutil.copy(HERE / "fixture_tools.py", plugins / "case_fixtures.py")
    settings = {
        "tools": tools,
        "log": str(world.fixture_log),
        "ledger": str(world.ledger),
        "timeout_seconds": play.spec.get("config", {}).get("tool_timeout_s", 60),
    }
    (plugins / "tools.json").write_text(json.dumps(settings))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: case-fixtures\nVersion: 1.0\n")
    entries = [f"{tool['name']} = case_fixtures:tool_{number}" for number, tool in enumerate(tools)]
    (info / "entry_points.txt").write_text("\n".join(["[oribi.tools]", *entries, ""]))
    return plugins


def _servers(world: World, play: Play) -> JsonDict:
    """The MCP fixture servers, in the `mcpServers` shape that Oribi takes."""
    servers: JsonDict = {}
    for given in world.filled(play.spec["mcp"]):
        settings = world.root / "fixtures" / f"mcp-{given['name']}.json"
        settings.write_text(json.dumps({"server": given, "log": str(world.fixture_log)}))
        arguments = [str(HERE / "mcp_server.py"), str(settings), world.values["MCP_MARK"]]
        servers[given["name"]] = {
            "command": given.get("command", sys.executable),
            "args": [] if "command" in given else arguments,
            "env": given.get("env", {}),
        }
    return {"mcpServers": servers}


def _thinking(dialect: str) -> JsonDict:
    match dialect:
        case "anthropic":
            return {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4096}
        case "gemini":
            return {"thinkingConfig": {"includeThoughts": True}}
        case _:
            return {"reasoning_effort": "low"}


def _frontmatter_name(content: bytes) -> str | None:
    for line in content.splitlines():
        key, _, value = line.partition(b":")
        if key.strip() == b"name":
            return value.strip().decode("latin-1")
    return None


def _with_tool_name(content: bytes, plain: str, own: str) -> bytes:
    """The bytes of an agent file with a tool of its list under Oribi's name; nothing else is touched."""
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() == f"- {plain}".encode():
            lines[number] = line.replace(plain.encode(), own.encode())
        elif line.strip() == f"tools: [{plain}]".encode():
            lines[number] = line.replace(f"[{plain}]".encode(), f"[{own}]".encode())
    return b"".join(lines)
