"""The toolbox: every tool of this process, behind the port `Tools`. It judges calls and runs the allowed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, assert_never

import anyio
import anyio.to_thread

from oribi.core.calls import (
    Allow,
    Denied,
    Deny,
    Failed,
    JsonObject,
    Malformed,
    Succeeded,
    ToolCall,
    ToolResult,
    ToolSpec,
    Unknown,
    Verdict,
)
from oribi.core.errors import ConfigError, OribiError
from oribi.ports import Invocation
from oribi.tools.file_errors import RefusedError
from oribi.tools.function import as_result
from oribi.tools.function import tool as make_tool
from oribi.tools.jail import Jails
from oribi.tools.output import cap_text
from oribi.tools.text import clean, clean_arguments, clean_json, one_line
from oribi.tools.tool import Reads, Tool, Writes

if TYPE_CHECKING:
    import jsonschema_rs

PLUGINS = "oribi.tools"
"""The entry point group of tools from other packages: name = the tool's, object = a `Tool` or a typed function."""


class Toolbox:
    """Tools by name. Plug-ins are looked for only when an agent lists a name that is not here, and loaded one by one.

    `jails` gives the jail of an agent: its file policy judges what calls touch, and its output folder takes results
    that are too long.
    """

    def __init__(self, tools: Iterable[Tool], jails: Jails) -> None:
        self._tools: dict[str, Tool] = {}
        self._jails = jails
        self._validators: dict[str, tuple[JsonObject, jsonschema_rs.Validator]] = {}
        for tool in tools:
            self._add(tool)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools that are loaded, in order."""
        return tuple(sorted(self._tools))

    @property
    def plugin_names(self) -> tuple[str, ...]:
        """The names of the installed plug-in tools, loaded or not."""
        from importlib.metadata import entry_points

        return tuple(sorted({entry.name for entry in entry_points(group=PLUGINS)}))

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """The specs of the tools an agent lists, in its order, each once (O-14).

        Raises:
            ConfigError: There is no such tool, or it is a plug-in that does not load.

        """
        specs: dict[str, ToolSpec] = {}
        for name in names:
            tool = self._tools.get(name) or self._load_plugin(name)
            self._validator(tool.spec)
            specs[name] = tool.spec
        return tuple(specs.values())

    def judge(self, catalogue: Mapping[str, ToolSpec], call: ToolCall, agent: str) -> Verdict:
        """Whether `call` may run: it must be in `catalogue`, fit its schema, and touch only what `agent` may."""
        match self._judge(catalogue, call, agent):
            case Deny(rule=rule, reason=reason):  # both may quote what the model wrote
                return Deny(rule=one_line(rule, 200), reason=one_line(clean(reason), 2_000))
            case verdict:
                return verdict

    def _judge(self, catalogue: Mapping[str, ToolSpec], call: ToolCall, agent: str) -> Verdict:
        spec = catalogue.get(call.name)
        if spec is None:
            has = ", ".join(catalogue) or "no tools"
            return Deny(rule="catalogue", reason=f"unknown tool {call.name[:100]!r}; this agent has: {has}")
        if isinstance(call.arguments, Malformed):
            problem = one_line(clean(call.arguments.problem))
            return Deny(
                rule="arguments", reason=f"the arguments are not a JSON object ({problem}); send the call again"
            )
        try:
            arguments = clean_arguments(call.arguments)
            tool = self._tools.get(call.name) or self._load_plugin(call.name)
            problem = self._problem(spec, arguments)
        except RecursionError:
            return Deny(rule="schema", reason="the arguments are nested too deeply")
        except ConfigError as error:
            return Deny(rule="catalogue", reason=str(error))
        if problem is not None:
            return Deny(rule="schema", reason=problem)
        verdict = self._judge_effects(tool, arguments, agent)
        if not isinstance(verdict, Allow) or tool.key is None:
            return verdict
        try:
            return Allow(rule=verdict.rule, key=tool.key(arguments))
        except Exception as error:  # noqa: BLE001 - as a tool's body, it may raise anything
            return Deny(rule="dedupe", reason=f"whether this call was made before cannot be told: {_words(error)}")

    async def run(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult:
        """Run an allowed call within its timeout, and make its result safe and short enough to be sent."""
        with anyio.move_on_after(spec.timeout_seconds):
            return await self._run(call, invocation)
        late = f"timed out after {spec.timeout_seconds:g} seconds"
        if spec.effect in ("pure", "idempotent"):
            return Failed(text=late, retryable=True)
        found = await self.probe(call, spec, invocation) if spec.effect == "reconcilable" else None
        # that it has not happened yet says nothing: what is late may still be under way
        return found or Unknown(reason=f"{call.name} {late}; it may or may not have happened")

    async def probe(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult | None:
        """What came of a call that was cut off: its result, None if it did not happen, `Unknown` if nobody can tell."""
        cannot_tell = f"{call.name} was cut off; it may or may not have happened, and its probe cannot tell"
        try:
            tool = self._tools.get(call.name) or self._load_plugin(call.name)
            if tool.probe is None or isinstance(call.arguments, Malformed):
                return Unknown(reason=cannot_tell)
            with anyio.fail_after(spec.timeout_seconds):
                found = await tool.probe(clean_arguments(call.arguments), invocation)
            return None if found is None else await self._made_fit(as_result(found), invocation)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as a tool's body, a probe may raise anything
            return Unknown(reason=f"{cannot_tell}: {_words(error)}")

    async def _run(self, call: ToolCall, invocation: Invocation) -> ToolResult:
        if isinstance(call.arguments, Malformed):
            return Failed(text="the arguments are not a JSON object")
        try:
            tool = self._tools.get(call.name) or self._load_plugin(call.name)
            result = await tool.run(clean_arguments(call.arguments), invocation)
            return await self._made_fit(as_result(result), invocation)
        except RefusedError as error:
            return Denied(reason=one_line(clean(error.deny.reason), 2_000), rule=one_line(error.deny.rule, 200))
        except OribiError as error:
            return Failed(text=one_line(clean(str(error)), 4_000))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the one broad except: a tool's body may raise anything
            return Failed(text=_words(error))

    def _add(self, tool: Tool) -> None:
        name = tool.spec.name
        if name in self._tools:
            raise ConfigError(f"two tools are named {name!r}; give one another name: @tool(name=...)")
        self._tools[name] = tool

    def _load_plugin(self, name: str) -> Tool:
        tool = self._find_plugin(name)
        if tool is None:
            near = get_close_matches(name, self.names, n=3, cutoff=0.5) or self.names
            raise ConfigError(f"no tool named {name!r}; did you mean: {', '.join(near)}? `oribi tools list` shows all")
        return tool

    def _find_plugin(self, name: str) -> Tool | None:
        """The tool of the entry point called `name`, loaded and kept.

        Raises:
            ConfigError: There is one, but it does not load.

        """
        from importlib.metadata import entry_points

        for entry in entry_points(group=PLUGINS, name=name):
            source = f"the plug-in tool {name!r} ({entry.value}, from {entry.dist.name if entry.dist else 'a package'})"
            try:
                loaded: object = entry.load()
            except (Exception, SystemExit) as error:
                raise ConfigError(f"{source} does not load: {_words(error)}") from error
            tool = loaded if isinstance(loaded, Tool) else None
            if tool is None and callable(loaded):
                tool = make_tool(name=name)(loaded)
            if tool is None or tool.spec.name != name:
                raise ConfigError(
                    f"{source} is not a tool of that name, but {loaded!r}; remove it from the agent's tools"
                )
            tool = replace(tool, spec=replace(tool.spec, owner=entry.dist.name if entry.dist else entry.value))
            self._add(tool)
            return tool
        return None

    def _validator(self, spec: ToolSpec) -> jsonschema_rs.Validator:
        kept = self._validators.get(spec.name)
        if kept is not None and (kept[0] is spec.parameters or kept[0] == spec.parameters):
            return kept[1]
        import jsonschema_rs

        parameters: dict[str, Any] = spec.parameters
        try:
            validator = jsonschema_rs.validator_for(parameters, offline=True)
        except ValueError as error:
            raise ConfigError(
                f"tool {spec.name!r}: its parameters are no JSON Schema: {one_line(str(error))}"
            ) from error
        self._validators[spec.name] = (spec.parameters, validator)
        return validator

    def _problem(self, spec: ToolSpec, arguments: JsonObject) -> str | None:
        """What about `arguments` does not fit, with its place; None when all does."""
        validator = self._validator(spec)
        try:
            error = next(iter(validator.iter_errors(arguments)), None)
        except ValueError as problem:  # what cannot be told to fit, such as a number or a nesting without end
            return f"arguments: {one_line(str(problem))}"
        if error is None:
            return None
        place = "/".join(str(part) for part in error.instance_path)
        return f"{place or 'arguments'}: {one_line(error.message)}"

    def _judge_effects(self, tool: Tool, arguments: JsonObject, agent: str) -> Verdict:
        try:
            effects = tool.effects(arguments)
        except Exception as error:  # noqa: BLE001 - what cannot be judged is denied, whatever a stranger's tool raised
            return Deny(rule="effects", reason=f"what this call touches cannot be told: {_words(error)}")
        if not effects:
            return Allow(rule="catalogue")
        jail = self._jails(agent)
        for effect in effects:
            match effect:
                case Reads(path=path):
                    denied = jail.judge("read", path)
                case Writes(path=path):
                    denied = jail.judge("write", path)
                case _:
                    assert_never(effect)
            if denied is not None:
                return denied
        return Allow(rule="files")

    async def _made_fit(self, result: ToolResult, invocation: Invocation) -> ToolResult:
        match result:
            case Succeeded(text=text, value=value):
                return Succeeded(text=await self._fit(text, invocation), value=clean_json(value))
            case Failed(text=text, retryable=retryable, kind=kind):
                return Failed(text=await self._fit(text, invocation), retryable=retryable, kind=kind)
            case Denied(reason=reason, rule=rule):
                return Denied(reason=one_line(clean(reason), 2_000), rule=one_line(clean(rule), 200))
            case Unknown(reason=reason):
                return Unknown(reason=one_line(clean(reason), 2_000))
            case _:
                assert_never(result)

    async def _fit(self, text: str, invocation: Invocation) -> str:
        text = clean(text)
        if len(text) <= invocation.policy.result_characters:
            return text
        jail = self._jails(invocation.agent)
        return await anyio.to_thread.run_sync(cap_text, text, invocation, jail)


def _words(error: BaseException) -> str:
    """The class and text of an error on one line, even if its text cannot be had."""
    name = type(error).__name__
    try:
        text = clean(str(error))
    except Exception as inner:  # noqa: BLE001 - __str__ of a stranger's error
        text = f"(its text raised {type(inner).__name__})"
    return one_line(f"{name}: {text}" if text else name)
