"""Settings as one frozen tree, merged once: defaults, then oribi.toml, then the environment, then flags.

The only module that reads the environment. Whoever starts Oribi reads it here, once, and passes it on.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, cast, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from oribi.agents.values import Content, Problems, Table, Value, expand, place
from oribi.agents.workspace import Workspace
from oribi.core.calls import JsonObject
from oribi.core.errors import ConfigError
from oribi.core.messages import ModelChoice
from oribi.journal.quota import DailyLimits, Quota
from oribi.models.endpoints import Dialect, Endpoint, Wire, known_endpoints, parse_model_ref
from oribi.models.extras import EXTRA_WIRES
from oribi.models.limits import Limits
from oribi.tools.notify import Channel, LogChannel, WebhookChannel

Synchronous: TypeAlias = Literal["full", "normal"]
"""What a committed step survives: `full` a power cut, `normal` a crash of the process only."""

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]

_KEYS = ("default_model", "default_agent", "zone", "providers", "notify", "journal", "log", "quota", "models")
_OTHER_WIRES = {"scripted": "scripted", **EXTRA_WIRES}
"""Providers that are not HTTP endpoints of ours, and what is recorded as their wire."""

_VARIABLES = {
    "default_model": "ORIBI_DEFAULT_MODEL",
    "default_agent": "ORIBI_DEFAULT_AGENT",
    "zone": "ORIBI_ZONE",
    "synchronous": "ORIBI_JOURNAL_SYNCHRONOUS",
    "log_level": "ORIBI_LOG_LEVEL",
}
_FLAGS = {
    "default_model": "--model",
    "default_agent": "--agent",
    "zone": "--zone",
    "synchronous": "--journal-synchronous",
    "log_level": "--log-level",
}
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_POSITION = re.compile(r" \(at line (\d+), column \d+\)")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_DOTTED = rf"(?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern}))*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How this workspace is set up.

    `default_model` (`provider:name`) answers for agents that name no model; None: there is none. `default_agent`
    answers when none is named. `zone` is an IANA time zone, for the date line. `providers` are all endpoints by name,
    the known ones and those of oribi.toml. `notify` are the channels that the tool `notify` may use. `quota` is what
    each principal may spend in a day of `zone`; `max_concurrent_calls` so many model calls the process makes at once,
    None for no limit (M-16).
    """

    default_model: str | None = None
    default_agent: str = "default"
    zone: str = "UTC"
    providers: Mapping[str, Endpoint] = field(default_factory=known_endpoints)
    notify: tuple[Channel, ...] = ()
    quota: Quota = field(default_factory=Quota)
    max_concurrent_calls: int | None = None
    synchronous: Synchronous = "full"
    log_level: LogLevel = "warning"

    def choose_model(self, ref: str | None, parameters: JsonObject) -> ModelChoice:
        """The model that `ref` (`provider:name`; None: the workspace's default) means.

        Raises:
            ConfigError: There is no default, or no such provider.

        """
        ref = ref or self.default_model
        if ref is None:
            raise ConfigError(
                "no model is chosen: write `model: provider:name` into the agent's AGENT.md, or set default_model in "
                "oribi.toml (or ORIBI_DEFAULT_MODEL)"
            )
        provider, name = parse_model_ref(ref, [*self.providers, *_OTHER_WIRES])
        wire = self.providers[provider].wire if provider in self.providers else _OTHER_WIRES[provider]
        return ModelChoice(provider=provider, name=name, wire=wire, parameters=parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What one source says, such as a command's flags; None where it says nothing."""

    default_model: str | None = None
    default_agent: str | None = None
    zone: str | None = None
    synchronous: str | None = None
    log_level: str | None = None


def system_environment() -> dict[str, str]:
    """The environment of this process, as it is now."""
    return dict(os.environ)


def load_config(workspace: Workspace, *, environment: Mapping[str, str], flags: Overrides | None = None) -> Config:
    """The settings of `workspace`; without an oribi.toml, the defaults. A variable that is empty says nothing.

    Raises:
        ConfigError: One line for each mistake, naming file, line and key, or the variable, or the flag.

    """
    problems = Problems(file=workspace.in_home(workspace.settings_file))
    file = Table(_read_file(workspace, environment, problems), problems, _KEYS)
    providers = _providers(file, known_endpoints(ollama_host=environment.get("OLLAMA_HOST")))
    notify = _channels(file)
    quota = _quota(file)
    models = file.table("models", ("max_concurrent_calls",))
    most = None if models is None else models.whole("max_concurrent_calls", low=1, high=1_000_000)
    from_environment = {name: environment[name] for name in _VARIABLES.values() if environment.get(name)}
    layers = (
        _layer(_texts(_flag_texts(flags or Overrides()), "command line"), _FLAGS),
        _layer(_texts(from_environment, "environment"), _VARIABLES),
        _file_layer(file),
    )
    wrong = [text for layer in layers for text in layer.problems.texts]
    if wrong:
        raise ConfigError("\n".join(wrong))
    config = Config(providers=providers, notify=notify, quota=quota, max_concurrent_calls=most)
    for layer in reversed(layers):
        config = replace(
            config,
            default_model=layer.default_model or config.default_model,
            default_agent=layer.default_agent or config.default_agent,
            zone=layer.zone or config.zone,
            synchronous=layer.synchronous or config.synchronous,
            log_level=layer.log_level or config.log_level,
        )
    return config


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """What one source says, checked; None where it says nothing or something wrong."""

    problems: Problems
    default_model: str | None
    default_agent: str | None
    zone: str | None
    synchronous: Synchronous | None
    log_level: LogLevel | None


def _file_layer(file: Table) -> _Layer:
    empty = Table({}, file.problems, ())
    return _Layer(
        problems=file.problems,
        default_model=file.model_ref("default_model"),
        default_agent=file.text("default_agent"),
        zone=_zone(file, "zone"),
        synchronous=_synchronous(file.table("journal", ("synchronous",)) or empty, "synchronous"),
        log_level=_log_level(file.table("log", ("level",)) or empty, "level"),
    )


def _layer(table: Table, names: Mapping[str, str]) -> _Layer:
    return _Layer(
        problems=table.problems,
        default_model=table.model_ref(names["default_model"]),
        default_agent=table.text(names["default_agent"]),
        zone=_zone(table, names["zone"]),
        synchronous=_synchronous(table, names["synchronous"]),
        log_level=_log_level(table, names["log_level"]),
    )


def _texts(entries: Mapping[str, str], source: str) -> Table:
    """A table of the texts that are not part of a file."""
    values = {name: Value(content=text) for name, text in entries.items()}
    return Table(values, Problems(file=source), tuple(values))


def _flag_texts(flags: Overrides) -> dict[str, str]:
    given = {
        _FLAGS["default_model"]: flags.default_model,
        _FLAGS["default_agent"]: flags.default_agent,
        _FLAGS["zone"]: flags.zone,
        _FLAGS["synchronous"]: flags.synchronous,
        _FLAGS["log_level"]: flags.log_level,
    }
    return {name: text for name, text in given.items() if text is not None}


def _zone(table: Table, key: str) -> str | None:
    zone = table.text(key)
    if zone is None or zone == "UTC":
        return zone
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        table.refuse(key, "must be a time zone such as 'Europe/Berlin'")
    return zone


def _synchronous(table: Table, key: str) -> Synchronous | None:
    # `choice` returns one of the options it was given.
    return cast("Synchronous | None", table.choice(key, get_args(Synchronous)))


def _log_level(table: Table, key: str) -> LogLevel | None:
    return cast("LogLevel | None", table.choice(key, get_args(LogLevel)))


def _providers(file: Table, known: Mapping[str, Endpoint]) -> dict[str, Endpoint]:
    """The known endpoints, changed and completed by the tables of oribi.toml."""
    endpoints = dict(known)
    known_keys = ("base_url", "wire", "key_env", "headers", "dialect", "limits", "idle_seconds")
    for name, table in _named(file, "providers", known_keys):
        base = known.get(name)
        base_url = table.text("base_url") or (base.base_url if base else None)
        if base_url is None:
            file.problems.add(file.tables("providers")[name].line, f"{table.path}.base_url is missing")
            continue
        wire = cast("Wire | None", table.choice("wire", get_args(Wire)))
        try:
            endpoints[name] = Endpoint(
                provider=name,
                wire=wire or (base.wire if base else "openai-chat"),
                base_url=base_url,
                key_env=table.text("key_env") or (base.key_env if base else None),
                headers=_text_table(table, "headers") or (base.headers if base else {}),
                dialect=_dialect(table, base.dialect if base else Dialect()),
                limits=_limits(table),
                idle_seconds=table.number("idle_seconds", low=0.1, high=86_400),
            )
        except ConfigError:  # its own words show the address, which may hold a secret from the environment
            table.refuse("base_url", "must be a web address such as 'https://host/v1'")
    return endpoints


def _text_table(table: Table, key: str) -> dict[str, str]:
    """A table of texts under names that the person chose."""
    entries = table.tables(key)
    texts = Table(entries, table.problems, tuple(entries), table.name(key))
    return {name: text for name in entries if (text := texts.text(name)) is not None}


def _dialect(table: Table, base: Dialect) -> Dialect:
    switches = ("stream", "stream_usage", "prompt_cache", "strict_tools", "structured_output", "media")
    dialect = table.table("dialect", (*switches, "max_tokens_field", "reasoning_back"))
    if dialect is None:
        return base
    stream, usage, cache, strict, structured, media = (dialect.yes_no(key) for key in switches)
    return Dialect(
        stream=base.stream if stream is None else stream,
        stream_usage=base.stream_usage if usage is None else usage,
        max_tokens_field=dialect.text("max_tokens_field") or base.max_tokens_field,
        reasoning_back=dialect.text("reasoning_back") or base.reasoning_back,
        prompt_cache=base.prompt_cache if cache is None else cache,
        strict_tools=base.strict_tools if strict is None else strict,
        structured_output=base.structured_output if structured is None else structured,
        media=base.media if media is None else media,
    )


def _limits(table: Table) -> Limits:
    """`concurrent`, `per_minute`, `failures_to_open` (0: never) and `open_seconds` of a provider."""
    limits = table.table("limits", ("concurrent", "per_minute", "failures_to_open", "open_seconds"))
    base = Limits()
    if limits is None:
        return base
    failures = limits.whole("failures_to_open", low=0, high=1_000_000)
    seconds = limits.number("open_seconds", low=0, high=86_400)
    return Limits(
        concurrent=limits.whole("concurrent", low=1, high=1_000_000),
        per_minute=limits.whole("per_minute", low=1, high=1_000_000),
        failures_to_open=base.failures_to_open if failures is None else failures or None,
        open_seconds=base.open_seconds if seconds is None else seconds,
    )


_DAILY = ("model_calls", "tool_calls", "total_tokens")


def _quota(file: Table) -> Quota:
    """`[quota]`, and `[quota.principals.NAME]`, which says for one principal what is different."""
    table = file.table("quota", (*_DAILY, "principals"))
    if table is None:
        return Quota()
    everybody = _daily_limits(table, DailyLimits())
    principals: dict[str, DailyLimits] = {}
    own = table.tables("principals")
    within = Table(own, file.problems, tuple(own), table.name("principals"))
    for name in own:
        limits = within.table(name, _DAILY)
        if limits is not None:
            principals[name] = _daily_limits(limits, everybody)
    return Quota(everybody=everybody, principals=principals)


def _daily_limits(table: Table, base: DailyLimits) -> DailyLimits:
    model_calls, tool_calls, total_tokens = (table.whole(name, low=0, high=2**53) for name in _DAILY)
    return DailyLimits(
        model_calls=base.model_calls if model_calls is None else model_calls,
        tool_calls=base.tool_calls if tool_calls is None else tool_calls,
        total_tokens=base.total_tokens if total_tokens is None else total_tokens,
    )


def _channels(file: Table) -> tuple[Channel, ...]:
    channels: list[Channel] = []
    for name, table in _named(file, "notify", ("file", "url", "headers_env")):
        path, url = table.text("file"), table.text("url")
        if ("file" in table) == ("url" in table):
            file.problems.add(file.tables("notify")[name].line, f"{table.path} needs either file or url")
        elif path is not None and not _is_inside(path):
            table.refuse("file", "must be a path within the project folder")
        elif path is not None:
            if "headers_env" in table:
                file.problems.add(table.line("headers_env"), f"{table.path}.headers_env goes with url, not with file")
            channels.append(LogChannel(name=name, file=path))
        elif url is not None and not _is_web_address(url):
            table.refuse("url", "must be a web address such as 'https://example.com/hook'")
        elif url is not None:
            headers = tuple(_text_table(table, "headers_env").items())
            channels.append(WebhookChannel(name=name, url=url, headers_env=headers))
    return tuple(channels)


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/")


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _named(file: Table, key: str, known: tuple[str, ...]) -> Iterator[tuple[str, Table]]:
    """The tables `[key.NAME]`, each with its name."""
    for name, value in file.tables(key).items():
        path = f"{key}.{name}"
        if not _NAME.fullmatch(name):
            file.problems.add(value.line, f"{key}: {name!r} cannot be a name; use letters, digits, '.', '_' and '-'")
        elif isinstance(value.content, dict):
            yield name, Table(value.content, file.problems, known, path)
        else:
            file.problems.add(value.line, f"{path} must be a table of keys, not {value.shown}")


def _read_file(workspace: Workspace, environment: Mapping[str, str], problems: Problems) -> dict[str, Value]:
    """The entries of oribi.toml, with `${NAME}` replaced; none when there is no such file."""
    try:
        source = workspace.settings_file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{problems.file}: cannot be read: {error.strerror or error}") from error
    try:
        text = source.decode("utf-8-sig").replace("\r\n", "\n")
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{place(problems.file, line)}: is not UTF-8; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # tomllib's own errors, numbers and nesting beyond reason
        found = _POSITION.search(str(error))
        where = place(problems.file, int(found[1]) if found else None)
        raise ConfigError(f"{where}: is not TOML: {_POSITION.sub('', str(error))}") from error
    lines = _key_lines(text)
    value = expand(_value(data, (), None, lines, problems), environment, problems)
    problems.check()
    return value.content if isinstance(value.content, dict) else {}


def _value(
    data: object, path: tuple[str, ...], outer: int | None, lines: Mapping[tuple[str, ...], int], problems: Problems
) -> Value:
    """`data` of tomllib as a value; what stands within a line has the line of the `outer` table or list."""
    line = lines.get(path, outer)
    content: Content
    match data:
        case dict():
            entries = cast("dict[str, object]", data)  # TOML's keys are texts
            content = {key: _value(item, (*path, key), line, lines, problems) for key, item in entries.items()}
        case list():
            items = cast("list[object]", data)
            content = tuple(_value(item, path, line, lines, problems) for item in items)
        case bool() | int() | float():
            content = data
        case str() if "\0" not in data:
            content = data
        case str():
            problems.add(line, f"{'.'.join(path)} holds a NUL character; remove it")
            content = None
        case _:  # a date or time, which no setting takes
            content = str(data)
    return Value(content=content, line=line)


def _key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The lines on which keys and tables stand, as far as a look at each line tells."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        key = _KEY.match(line)
        if header is not None:
            table = _parts(header[1])
            lines.setdefault(table, number)
        elif key is not None:
            lines.setdefault((*table, *_parts(key[1])), number)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))
