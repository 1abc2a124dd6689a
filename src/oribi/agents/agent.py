"""An AGENT.md as a value: every key checked, defaults filled in, its loop policy made.

A key that gives an agent fewer rights is never passed over: what this version cannot enforce is an error, what it does
not serve yet and takes nothing away is a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from oribi.agents.frontmatter import read_document
from oribi.agents.modes import ModeFile, read_commands, read_delegates, read_modes, read_routes
from oribi.agents.policies import read_policy
from oribi.agents.values import Problems, Table, Value, expand
from oribi.core.calls import Json, JsonObject
from oribi.core.errors import ConfigError
from oribi.core.modes import Command, Mode
from oribi.core.policy import LoopPolicy

AGENT_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
"""What an agent may be called: it is a folder's name, a part of ids and an argument of commands."""

BOOTSTRAP = ("AGENTS.md", "SOUL.md", "USER.md")
"""The workspace's files that enter every prompt unless the agent says otherwise (O-11)."""

_KEYS = (
    "name",
    "description",
    "identity",
    "model",
    "provider",
    "fallbacks",
    "parameters",
    "output_schema",
    "tools",
    "mcp_servers",
    "sandbox",
    "budget",
    "policy",
    "settings",
    "bootstrap",
    "skills",
    "schedules",
    "modes",
    "route",
    "commands",
    "delegates",
)
_RESERVED_PARAMETERS = frozenset(
    {
        "model",
        "messages",
        "input",
        "system",
        "instructions",
        "tools",
        "tool_choice",
        "functions",
        "function_call",
        "mcp_servers",
        "stream",
        "stream_options",
    }
)
_MAX_INSTRUCTIONS = 200_000
_MAX_COUNT = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the agent says it is: `agent_name` as people see it, `prompt` the first words of its instructions."""

    agent_name: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """An AGENT.md, checked, as it is in one of its modes or, with `mode` empty, in none.

    `model` is `provider:name`, None for the workspace's default; `fallbacks` are asked in order when it cannot answer.
    `parameters` go to the model as they are. The final answer has to fit `output_schema`, a JSON Schema, if there is
    one. `tools` are the names listed, none if there is no list. `skills` are the names of those that the prompt has,
    None for all there are. `body` is the text below the frontmatter. `origins` says of each field of `policy` where it
    came from. A model chooses one of `routes` first, if there are any. `delegates` are the agents that the tool
    `delegate` may be given to.

    `notes` say what a person may not expect and `warnings` what they should know before it is used, each with file and
    line; `lines` holds the lines of `model`, `fallbacks`, each tool (`tools.NAME`) and each command
    (`commands.PHRASE`), for errors found later.
    """

    name: str
    description: str
    identity: Identity
    model: str | None
    parameters: JsonObject
    tools: tuple[str, ...]
    policy: LoopPolicy
    bootstrap: tuple[str, ...]
    skills: tuple[str, ...] | None
    body: str
    fallbacks: tuple[str, ...] = ()
    output_schema: JsonObject | None = None
    mode: str = ""
    modes: tuple[ModeFile, ...] = ()
    routes: tuple[Mode, ...] = ()
    commands: tuple[Command, ...] = ()
    delegates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    lines: Mapping[str, int | None] = field(default_factory=dict[str, "int | None"], compare=False)

    @property
    def instructions(self) -> str:
        """Identity, then body (C-14)."""
        who = self.identity
        named = f"You are {who.agent_name}." if who.agent_name and not who.prompt else ""
        return "\n\n".join(part for part in (named or who.prompt.strip(), self.body) if part)

    def in_mode(self, name: str) -> AgentFile:
        """The agent in its mode `name`; itself when that is empty.

        Raises:
            ConfigError: It has no such mode.

        """
        if not name:
            return self
        found = next((each for each in self.modes if each.mode.name == name), None)
        if found is None:
            there = f"it has: {', '.join(each.mode.name for each in self.modes)}" if self.modes else "it has none"
            raise ConfigError(f"agent {self.name!r} has no mode {name!r}; {there}")
        return replace(
            self,
            mode=name,
            policy=found.read.policy,
            origins=found.read.origins,
            tools=found.tools,
            body="\n\n".join(part for part in (self.body, found.instructions) if part),
            routes=(),
        )


def parse_agent(source: bytes, *, folder: str, file: str, environment: Mapping[str, str]) -> AgentFile:
    """The agent in the AGENT.md `source`. `folder` is its folder's name, `file` what errors call the file.

    `${NAME}` in the frontmatter's texts is replaced from `environment`; the body stays as it is.

    Raises:
        ConfigError: One line for each mistake, naming file, line and key.

    """
    problems = Problems(file=file)
    document = read_document(source, problems)
    if document.settings is None:
        problems.add(1, "the file must begin with a line '---', then the settings if any, then a line '---'")
        problems.check()
    expanded = expand(Value(content=document.settings or {}), environment, problems).content
    problems.check()
    table = Table(expanded if isinstance(expanded, dict) else {}, problems, _KEYS)
    agent = _read(table, folder, document.body)
    problems.check()
    return agent


def _read(table: Table, folder: str, body: str) -> AgentFile:
    notes, warnings = Problems(file=table.problems.file), Problems(file=table.problems.file)
    model, parameters = _model(table)
    tools = _tools(table, notes)
    policy = read_policy(table, warnings)
    modes = read_modes(table, policy, tools, warnings)
    commands = read_commands(table, modes)
    _note_unserved(table, notes)
    length = len(body) + max((len(mode.instructions) for mode in modes), default=0)
    if length > _MAX_INSTRUCTIONS:
        size = f"{length:,} characters; at most {_MAX_INSTRUCTIONS:,} fit into a prompt"
        table.problems.add(None, f"the instructions have {size}; move parts into skills")
    return AgentFile(
        name=_name(table, folder),
        description=(table.text("description") or "").strip(),
        identity=_identity(table),
        model=model,
        parameters=parameters,
        tools=tuple(tools),
        policy=policy.policy,
        bootstrap=_bootstrap(table),
        skills=_skills(table),
        body=body,
        fallbacks=_fallbacks(table),
        output_schema=table.json_object("output_schema") if "output_schema" in table else None,
        modes=modes,
        routes=read_routes(table, modes),
        commands=tuple(command for command, _ in commands),
        delegates=read_delegates(table, tools),
        notes=notes.texts,
        warnings=warnings.texts,
        origins=policy.origins,
        lines={"model": table.line("model") or table.line("provider"), "fallbacks": table.line("fallbacks")}
        | {f"tools.{name}": line for name, line in tools.items()}
        | {f"commands.{command.phrase}": line for command, line in commands},
    )


def _name(table: Table, folder: str) -> str:
    name = table.text("name")
    if name is not None and name != folder:
        remedy = f"must be the name of its folder, {folder!r}, or be left out"
        table.refuse("name", remedy)
    elif not AGENT_NAME.fullmatch(folder):
        rule = "letters, digits, '.', '_' and '-', at most 64"
        table.problems.add(None, f"{folder!r} cannot name an agent ({rule}); rename the folder")
    return folder


def _identity(table: Table) -> Identity:
    identity = table.table("identity", ("agent_name", "prompt"))
    if identity is None:
        return Identity()
    return Identity(agent_name=identity.text("agent_name") or "", prompt=identity.text("prompt") or "")


def _model(table: Table) -> tuple[str | None, JsonObject]:
    """The model as `provider:name`, and its parameters, from `model` or `provider`, and `parameters`."""
    parameters = table.json_object("parameters")
    for key in parameters:
        if key in _RESERVED_PARAMETERS:
            line = table.tables("parameters")[key].line
            table.problems.add(line, f"parameters.{key} is set by Oribi itself; remove it")
    ref = table.model_ref("model")
    if "provider" not in table:
        return ref, parameters
    if ref is not None:
        table.problems.add(table.line("provider"), "provider and model say the same thing; keep one of them")
    provider = table.table("provider", ("name", "model", "temperature", "top_p", "max_tokens", "seed"))
    if provider is None:
        return ref, parameters
    own: dict[str, Json] = {
        "temperature": provider.number("temperature", low=0, high=2),
        "top_p": provider.number("top_p", low=0, high=1),
        "max_tokens": provider.whole("max_tokens", low=1, high=_MAX_COUNT),
        "seed": provider.whole("seed", low=-(2**63), high=2**63 - 1),
    }
    for key in own:
        if key in provider and key in parameters:
            table.problems.add(provider.line(key), f"provider.{key} and parameters.{key} are one setting; keep one")
    name, model = provider.text("name"), provider.text("model")
    for key in ("name", "model"):
        if key not in provider:
            table.problems.add(table.line("provider"), f"provider.{key} is missing; provider needs name and model")
    ref = f"{name}:{model}" if name and model else None
    return ref, {key: value for key, value in own.items() if value is not None} | parameters


def _fallbacks(table: Table) -> tuple[str, ...]:
    """The models to ask after the first, each `provider:name`."""
    names = table.texts("fallbacks") or {}
    for name, line in names.items():
        if not all(part.strip() for part in name.partition(":")):
            table.problems.add(line, f"fallbacks: {name!r} is not a model; write it as 'provider:name'")
    return tuple(names)


def _tools(table: Table, notes: Problems) -> dict[str, int | None]:
    """The tools listed, with their lines. What cannot be read is an error, so it never widens rights (O38)."""
    if "tools" not in table:
        notes.add(None, "tools is absent, so the agent has none; list the tools it may use")
    return table.texts("tools") or {}


def _bootstrap(table: Table) -> tuple[str, ...]:
    value = table.entries.get("bootstrap")
    if value is None:
        return BOOTSTRAP
    if value.content is False:
        return ()
    if not isinstance(value.content, tuple):
        table.refuse("bootstrap", "must be a list of files, or false for none")
        return ()
    names = table.texts("bootstrap") or {}
    for name, line in names.items():
        if not _is_inside(name):
            table.problems.add(line, f"bootstrap must name files in the workspace's own folder, not {name!r}")
    return tuple(names)


def _is_inside(name: str) -> bool:
    """Whether `name` is a plain relative path that stays below its folder."""
    return name.isprintable() and not name.startswith("/") and ".." not in name.split("/")


def _skills(table: Table) -> tuple[str, ...] | None:
    """The names of the skills; their `mode` is a field of the policy."""
    value = table.entries.get("skills")
    if value is None:
        return None
    if value.content is False:
        return ()
    if isinstance(value.content, tuple):
        return tuple(table.texts("skills") or {})
    if not isinstance(value.content, dict):
        table.refuse("skills", "must be a list of names, false for none, or a table with mode and names")
        return None
    names = Table(value.content, table.problems, ("mode", "names"), "skills").texts("names")
    return None if names is None else tuple(names)


def _note_unserved(table: Table, notes: Problems) -> None:
    """Check the shape of keys whose features are not built yet, and say of each that it has no effect."""
    servers = table.entries.get("mcp_servers")
    if servers is not None and isinstance(servers.content, dict):
        table.tables("mcp_servers")
    else:
        table.texts("mcp_servers")
    for schedule in table.items("schedules", ("key", "name", "cron", "zone", "message")):
        for key in ("key", "name", "cron", "zone", "message"):
            schedule.text(key)
    for key in ("mcp_servers", "schedules"):
        if key in table:
            notes.add(table.line(key), f"{key} is not served yet by this version; it has no effect")
    _check_sandbox(table, notes)


def _check_sandbox(table: Table, notes: Problems) -> None:
    """Refuse what would leave the agent with more rights than its author wrote; note what concerns nothing here."""
    known = ("files", "commands", "scripts", "hosts", "mcp", "limits", "ask", "file", "shell", "http")
    sandbox = table.table("sandbox", known)
    if sandbox is None:
        return
    for key in ("files", "file", "ask"):
        if key in sandbox and not _is_whole_workspace(sandbox.entries[key]):
            remedy = "remove it and list only tools that may use the whole workspace folder"
            text = f"sandbox.{key} is not enforced yet by this version, and the agent would have more rights"
            table.problems.add(sandbox.line(key), f"{text} than it says; {remedy}")
    notes.add(
        table.line("sandbox"),
        "sandbox is not served yet by this version; file tools stay in the workspace",
    )


def _is_whole_workspace(value: Value) -> bool:
    """Whether a table of path lists allows the whole workspace folder to read and to write, and denies nothing."""
    match value.content:
        case {"read": read, "write": write, **others} if not others:
            return _is_whole(read) and _is_whole(write)
        case {"allowed_paths": paths, **others} if not others:
            return _is_whole(paths)
        case _:
            return False


def _is_whole(paths: Value) -> bool:
    return isinstance(paths.content, tuple) and [path.content for path in paths.content] in (["."], ["./"])
