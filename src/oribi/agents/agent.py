"""An AGENT.md as a value: every key checked, defaults filled in, its loop policy made.

A key that gives an agent fewer rights is never passed over: what this version cannot enforce is an error, what it does
not serve yet and takes nothing away is a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from oribi.agents.frontmatter import read_document
from oribi.agents.values import Problems, Table, Value, expand
from oribi.core.budget import Limits
from oribi.core.calls import Json, JsonObject
from oribi.core.policy import PRESETS, Busy, LoopPolicy, StoreReasoning

AGENT_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
"""What an agent may be called: it is a folder's name, a part of ids and an argument of commands."""

BOOTSTRAP = ("AGENTS.md", "SOUL.md", "USER.md")
"""The workspace's files that enter every prompt unless the agent says otherwise (O-11)."""

SkillsMode: TypeAlias = Literal["pointer", "inline"]
"""`pointer`: name, description and path (O-15). `inline`: the bodies too (Y-5)."""

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
    "commands",
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
_MAX_STEPS = 1_000
_MAX_TURNS = 10_000
_MAX_INSTRUCTIONS = 200_000
_MAX_COUNT = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the agent says it is: `agent_name` as people see it, `prompt` the first words of its instructions."""

    agent_name: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills:
    """Which skills the prompt names. `names` None means all there are, an empty tuple none."""

    mode: SkillsMode = "pointer"
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """An AGENT.md, checked.

    `model` is `provider:name`, None for the workspace's default; `fallbacks` are asked in order when it cannot answer.
    `parameters` go to the model as they are. The final answer has to fit `output_schema`, a JSON Schema, if there is
    one. `tools` are the names listed, none if there is no list. `body` is the text below the frontmatter. `notes` say
    what a person may not expect, each with file and line; `lines` holds the lines of `model`, `fallbacks` and each tool
    (`tools.NAME`), for errors found later.
    """

    name: str
    description: str
    identity: Identity
    model: str | None
    parameters: JsonObject
    tools: tuple[str, ...]
    policy: LoopPolicy
    bootstrap: tuple[str, ...]
    skills: Skills
    body: str
    fallbacks: tuple[str, ...] = ()
    output_schema: JsonObject | None = None
    notes: tuple[str, ...] = ()
    lines: Mapping[str, int | None] = field(default_factory=dict[str, "int | None"], compare=False)

    @property
    def instructions(self) -> str:
        """Identity, then body (C-14)."""
        who = self.identity
        named = f"You are {who.agent_name}." if who.agent_name and not who.prompt else ""
        return "\n\n".join(part for part in (named or who.prompt.strip(), self.body) if part)


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
    notes = Problems(file=table.problems.file)
    model, parameters = _model(table)
    tools = _tools(table, notes)
    _note_unserved(table, notes)
    if len(body) > _MAX_INSTRUCTIONS:
        size = f"{len(body):,} characters; at most {_MAX_INSTRUCTIONS:,} fit into a prompt"
        table.problems.add(None, f"the instructions have {size}; move parts into skills")
    return AgentFile(
        name=_name(table, folder),
        description=(table.text("description") or "").strip(),
        identity=_identity(table),
        model=model,
        parameters=parameters,
        tools=tuple(tools),
        policy=_policy(table),
        bootstrap=_bootstrap(table),
        skills=_skills(table),
        body=body,
        fallbacks=_fallbacks(table),
        output_schema=table.json_object("output_schema") if "output_schema" in table else None,
        notes=notes.texts,
        lines={"model": table.line("model") or table.line("provider"), "fallbacks": table.line("fallbacks")}
        | {f"tools.{name}": line for name, line in tools.items()},
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


def _policy(table: Table) -> LoopPolicy:
    policy = _policy_block(table)
    settings = table.table("settings", ("max_iterations", "max_history_turns"))
    if settings is not None:
        steps = settings.whole("max_iterations", low=1, high=_MAX_STEPS)
        turns = settings.whole("max_history_turns", low=0, high=_MAX_TURNS)
        policy = replace(
            policy,
            max_steps=policy.max_steps if steps is None else steps,
            max_history_turns=policy.max_history_turns if turns is None else turns,
        )
        block = table.entries.get("policy")
        given = block.content if block is not None and isinstance(block.content, dict) else {}
        for key, other in (("max_iterations", "max_steps"), ("max_history_turns", "max_history_turns")):
            if key in settings and other in given:
                line = settings.line(key)
                table.problems.add(line, f"settings.{key} and policy.{other} are one setting; keep one of them")
    return replace(policy, limits=_limits(table))


def _policy_block(table: Table) -> LoopPolicy:
    value = table.entries.get("policy")
    if value is None:
        return PRESETS["standard"]
    if not isinstance(value.content, dict):
        return PRESETS[table.choice("policy", tuple(PRESETS)) or "standard"]
    block = Table(
        value.content,
        table.problems,
        (
            "preset",
            "max_steps",
            "max_history_turns",
            "max_asks",
            "retry_seconds",
            "longest_wait_seconds",
            "max_notices",
            "max_starts",
            "memory_characters",
            "result_characters",
            "model_timeout_seconds",
            "datetime_line",
            "store_reasoning",
            "busy",
        ),
        "policy",
    )
    base = PRESETS[block.choice("preset", tuple(PRESETS)) or "standard"]
    date = block.yes_no("datetime_line")
    return replace(
        base,
        max_steps=_or(block.whole("max_steps", low=1, high=_MAX_STEPS), base.max_steps),
        max_history_turns=_or(block.whole("max_history_turns", low=0, high=_MAX_TURNS), base.max_history_turns),
        max_asks=_or(block.whole("max_asks", low=1, high=20), base.max_asks),
        retry_seconds=_or(block.number("retry_seconds", low=0, high=600), base.retry_seconds),
        longest_wait_seconds=_or(block.number("longest_wait_seconds", low=0, high=86_400), base.longest_wait_seconds),
        max_notices=_or(block.whole("max_notices", low=0, high=20), base.max_notices),
        max_starts=_or(block.whole("max_starts", low=1, high=100), base.max_starts),
        memory_characters=_or(block.whole("memory_characters", low=0, high=1_000_000), base.memory_characters),
        result_characters=_or(block.whole("result_characters", low=200, high=10_000_000), base.result_characters),
        model_timeout_seconds=_or(
            block.number("model_timeout_seconds", low=1, high=86_400), base.model_timeout_seconds
        ),
        datetime_line=base.datetime_line if date is None else date,
        store_reasoning=cast(
            "StoreReasoning", block.choice("store_reasoning", get_args(StoreReasoning)) or base.store_reasoning
        ),
        busy=cast("Busy", block.choice("busy", get_args(Busy)) or base.busy),
    )


def _limits(table: Table) -> Limits:
    budget = table.table("budget", ("model_calls", "tool_calls", "total_tokens", "deadline_seconds"))
    if budget is None:
        return Limits()
    return Limits(
        model_calls=budget.whole("model_calls", low=1, high=_MAX_COUNT),
        tool_calls=budget.whole("tool_calls", low=0, high=_MAX_COUNT),
        total_tokens=budget.whole("total_tokens", low=1, high=10**12),
        deadline_seconds=budget.number("deadline_seconds", low=0.001, high=31_536_000),
    )


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


def _skills(table: Table) -> Skills:
    value = table.entries.get("skills")
    if value is None:
        return Skills()
    if value.content is False:
        return Skills(names=())
    if isinstance(value.content, tuple):
        return Skills(names=tuple(table.texts("skills") or {}))
    if not isinstance(value.content, dict):
        table.refuse("skills", "must be a list of names, false for none, or a table with mode and names")
        return Skills()
    block = Table(value.content, table.problems, ("mode", "names"), "skills")
    names = block.texts("names")
    mode: SkillsMode = "inline" if block.choice("mode", ("pointer", "inline")) == "inline" else "pointer"
    return Skills(mode=mode, names=None if names is None else tuple(names))


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
    for key in ("modes", "commands"):
        table.tables(key)
    for key in ("mcp_servers", "schedules", "modes", "commands"):
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


T = TypeVar("T", int, float)


def _or(value: T | None, default: T) -> T:
    return default if value is None else value
