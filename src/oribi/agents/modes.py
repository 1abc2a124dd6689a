"""What an AGENT.md says besides its ordinary turn: its modes, its commands, and the agents it may delegate to.

A mode's tools are some of the agent's; it holds to the limits that the agent's budget names, and confirms its writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from oribi.agents.policies import PolicyRead, read_mode_policy
from oribi.agents.values import Problems, Table, Value
from oribi.core.modes import Command, Mode, stands_without_blank

CHAT_COMMANDS = ("new", "tools", "context", "help", "quit", "exit", "reload", "mode", "modes")
"""What `/NAME` means in a chat already, so that no mode can have these names."""

DELEGATE = "delegate"
"""The tool that gives an input to another agent."""

_MODE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MODE_KEYS = ("description", "aliases", "policy", "steps", "budget", "tools", "instructions")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeFile:
    """A mode as written in an AGENT.md. `instructions` follow those of the agent, if there are any."""

    mode: Mode
    read: PolicyRead
    tools: tuple[str, ...]
    instructions: str = ""


def read_modes(table: Table, agent: PolicyRead, tools: Iterable[str], warnings: Problems) -> tuple[ModeFile, ...]:
    """The modes of the agent whose frontmatter is `table`, whose policy is `agent`, and which lists `tools`."""
    known = tuple(tools)
    owners: dict[str, str] = {}
    names: dict[str, str] = {}
    modes: list[ModeFile] = []
    for name, value in table.tables("modes").items():
        _check_name(table, name, value)
        if (same := names.setdefault(name.casefold(), name)) != name:
            table.problems.add(value.line, f"modes: {name!r} is the same name as {same!r}; rename one")
        content = _content(table, f"modes.{name}", value)
        if content is None:
            continue
        block = Table(content, table.problems, _MODE_KEYS, f"modes.{name}")
        listed = block.texts("tools")
        for tool, line in (listed or {}).items():
            if tool not in known:
                there = ", ".join(known) or "none"
                text = f"{block.name('tools')} names {tool!r}, which the agent does not list; it has: {there}"
                table.problems.add(line, text)
        mode = Mode(
            name=name,
            description=(block.text("description") or "").strip(),
            aliases=_aliases(block, name, owners),
        )
        modes.append(
            ModeFile(
                mode=mode,
                read=read_mode_policy(block, agent, warnings),
                tools=known if listed is None else tuple(listed),
                instructions=(block.text("instructions") or "").strip(),
            )
        )
    return tuple(modes)


def read_routes(table: Table, modes: Iterable[ModeFile]) -> tuple[Mode, ...]:
    """The modes that a model chooses from first (M-5): with `route: auto`, those that say what they are for."""
    if table.choice("route", ("auto",)) is None:
        return ()
    routes = tuple(each.mode for each in modes if each.mode.description)
    if not routes:
        text = "route: auto needs a mode that says what it is for; give one under modes, with a description"
        table.problems.add(table.line("route"), text)
    return routes


def read_commands(table: Table, modes: Iterable[ModeFile]) -> tuple[tuple[Command, int | None], ...]:
    """The commands, phrases that run a tool and no model (M-3), each with its line.

    A phrase must not begin with what chooses a mode, or with a command of the chat: it would never be reached there.
    """
    taken = {f"/{name}": "a command of the chat" for name in CHAT_COMMANDS}
    for each in modes:
        words = (f"/{each.mode.name}", *each.mode.aliases)
        taken |= {word.casefold(): f"what chooses the mode {each.mode.name!r}" for word in words}
    seen: dict[str, str] = {}
    commands: list[tuple[Command, int | None]] = []
    for phrase, value in table.tables("commands").items():
        name = f"commands.{phrase}"
        content = _content(table, name, value)
        if content is None:
            continue
        block = Table(content, table.problems, ("tool", "arguments", "rest"), name)
        plain = " ".join(phrase.split()).casefold()
        if not plain:
            table.problems.add(value.line, "commands: a phrase must not be blank")
        elif (first := next((each for each in taken if _begins_with(plain, each)), None)) is not None:
            table.problems.add(value.line, f"commands: {phrase!r} begins with {first!r}, {taken[first]}; rename it")
        elif plain in seen:
            table.problems.add(value.line, f"commands: {phrase!r} is the same phrase as {seen[plain]!r}; keep one")
        seen[plain] = phrase
        if "tool" not in block:
            table.problems.add(value.line, f"{name}.tool is missing; name the tool that the phrase runs")
        tool, arguments = block.text("tool") or "", block.json_object("arguments")
        command = Command(phrase=phrase, tool=tool, arguments=arguments, rest=block.text("rest") or "")
        commands.append((command, value.line))
    return tuple(commands)


def read_delegates(table: Table, tools: Iterable[str]) -> tuple[str, ...]:
    """The agents that the tool `delegate` may be given to: none, unless it is listed, and then they are named."""
    names = table.texts("delegates")
    if DELEGATE not in tools:
        if names:
            text = f"delegates is of use only to the tool {DELEGATE!r}, which tools does not list"
            table.problems.add(table.line("delegates"), text)
    elif not names:
        text = f"tools lists {DELEGATE!r}, so delegates must name the agents that it may be given to"
        table.problems.add(table.line("delegates") or table.line("tools"), text)
    return tuple(names or {})


def _begins_with(phrase: str, word: str) -> bool:
    """Whether an input that is `phrase` would be taken for what `word` means."""
    return phrase.split(maxsplit=1)[0] == word or (stands_without_blank(word) and phrase.startswith(word))


def _check_name(table: Table, name: str, value: Value) -> None:
    if not _MODE_NAME.fullmatch(name):
        rule = "letters, digits, '_' and '-', at most 64"
        table.problems.add(value.line, f"modes: {name!r} cannot name a mode ({rule}); rename it")
    elif name.casefold() in CHAT_COMMANDS:
        text = f"modes: /{name.casefold()} is a command of the chat already; rename the mode"
        table.problems.add(value.line, text)


def _content(table: Table, name: str, value: Value) -> Mapping[str, Value] | None:
    """The entries of a table that a person named; None, and a problem, if it is another thing."""
    if isinstance(value.content, dict):
        return value.content
    table.problems.add(value.line, f"{name} must be a table of keys, not {value.shown}")
    return None


def _aliases(block: Table, mode: str, owners: dict[str, str]) -> tuple[str, ...]:
    """The words that choose a mode; `owners` has those of the modes before it."""
    aliases = block.texts("aliases") or {}
    for alias, line in aliases.items():
        if alias.startswith("/") or len(alias.split()) != 1 or alias.strip() != alias:
            rule = "must be words without blanks that do not begin with '/'"
            block.problems.add(line, f"{block.name('aliases')} {rule}, not {alias!r}")
        elif (plain := alias.casefold()) in owners:
            text = f"{block.name('aliases')} has {alias!r}, which is an alias of the mode {owners[plain]!r}; keep one"
            block.problems.add(line, text)
        owners.setdefault(alias.casefold(), mode)
    return tuple(aliases)
