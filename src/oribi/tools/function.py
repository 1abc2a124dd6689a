"""Make a Python function into a tool: its schema comes from its type hints, its descriptions from its docstring."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, cast, overload

import anyio.to_thread

from oribi.core.calls import (
    Denied,
    EffectClass,
    Failed,
    FailureClass,
    Json,
    JsonObject,
    Succeeded,
    ToolResult,
    ToolSpec,
    Unknown,
)
from oribi.core.errors import ConfigError
from oribi.ports import Invocation
from oribi.tools.text import clean, one_line
from oribi.tools.tool import FileEffect, Tool, Typed, touches_nothing

Function: TypeAlias = Callable[..., Any]
"""Any function with typed parameters; what it returns is text, a tool result, or a value that JSON can hold."""


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    effect: EffectClass = "once",
    timeout_seconds: float = 60.0,
    effects: Callable[[JsonObject], Sequence[FileEffect]] = touches_nothing,
    probe: Function | None = None,
    parallel: bool = False,
    failure: FailureClass = "model_visible",
    dedupe: Callable[[JsonObject], str | None] | Literal["off"] | None = None,
    project: Callable[[Any], str] | None = None,
    for_reasoning: str = "",
) -> Callable[[Function], Tool]: ...


def tool(  # noqa: PLR0913 - what can be said of a tool, by name
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    effect: EffectClass = "once",
    timeout_seconds: float = 60.0,
    effects: Callable[[JsonObject], Sequence[FileEffect]] = touches_nothing,
    probe: Function | None = None,
    parallel: bool = False,
    failure: FailureClass = "model_visible",
    dedupe: Callable[[JsonObject], str | None] | Literal["off"] | None = None,
    project: Callable[[Any], str] | None = None,
    for_reasoning: str = "",
) -> Tool | Callable[[Function], Tool]:
    """Make a function into a tool, as a decorator with or without arguments, or called on a function.

    `name` is what the model calls it (default: the function's). `effect` says what may be done about a call that was
    cut off (default `once`: never repeated). `timeout_seconds` bounds one call (default 60). `effects` names the files
    a call touches, for the policy. `probe` belongs to the effect `reconcilable`: a function of the same parameters that
    says what came of a call that was cut off (G1), without changing anything. It returns None or False if the call did
    not happen (then it runs again), True or its result if it did, and raises if it cannot tell. Annotate a parameter
    `Invocation` to look the call up by its `key`.

    `parallel` says that its calls may run beside others (C-2). `failure` is the class of its failures that do not name
    one (C-6). `dedupe` gives a call's key from its arguments: calls of one key are the same call (M-23, default: all
    arguments); `off` lets it be repeated in a turn whatever policy says. `project` makes what the model reads of what
    the function returned; the whole is recorded beside it. `for_reasoning` says what the tool is for in turns that may
    only look (M-25); only a `pure` tool with parameters that have types can say so.

    The first paragraphs of the docstring describe the tool, its `Args:` the parameters. A parameter annotated
    `Invocation` is given the call's identity and is not shown to the model. Arguments are validated and converted to
    the annotated types before the call. A function that is not `async` runs in a worker thread; when it times out, its
    result is dropped, but the thread cannot be stopped. An exception becomes a failure that the model reads.

    Raises:
        ConfigError: A parameter has no type, a type that JSON cannot hold, or is not passed by name; a `reconcilable`
            tool has no `probe`, or another one has; a tool that may change something declares itself for reasoning.

    """

    def make(function: Function) -> Tool:
        called = name or getattr(function, "__name__", "")
        if not called:
            raise ConfigError(f"{function!r} has no name to call it by; give one: tool(name=...)")
        if for_reasoning and effect != "pure":
            raise ConfigError(
                f"tool {called!r}: only a tool that changes nothing can be for reasoning; give effect='pure' if it does"
                " not, or remove for_reasoning"
            )
        signature = _read_signature(function, called)
        spec = ToolSpec(
            name=called,
            description=signature.description,
            parameters=signature.schema,
            effect=effect,
            timeout_seconds=timeout_seconds,
            failure=failure,
            parallel=parallel,
            may_repeat=dedupe == "off",
            for_reasoning=for_reasoning,
        )
        return Tool(
            spec=spec,
            run=_make_run(function, called, signature, project),
            effects=effects,
            probe=_make_probe(probe, called, effect),
            key=None if dedupe == "off" else dedupe,
            typed=_typed(function, called, signature),
        )

    return make if function is None else make(function)


def _make_run(
    function: Function, called: str, signature: _Signature, project: Callable[[Any], str] | None
) -> Callable[[JsonObject, Invocation], Awaitable[ToolResult]]:

    async def run(arguments: JsonObject, invocation: Invocation) -> ToolResult:
        from pydantic import ValidationError

        try:
            converted = signature.converted(arguments, invocation)
        except ValidationError as error:
            return Failed(text=f"the arguments of {called!r} do not fit: {_problems(error)}")
        returned = await _call(function, converted)
        return as_result(returned) if project is None else _projected(returned, project)

    return run


def _projected(returned: object, project: Callable[[Any], str]) -> ToolResult:
    from pydantic_core import to_jsonable_python

    if isinstance(returned, Succeeded | Failed | Denied | Unknown):
        return returned
    value: Json = to_jsonable_python(returned, inf_nan_mode="strings")
    return Succeeded(text=project(returned), value=value)


def _typed(function: Function, called: str, signature: _Signature) -> Typed:
    """How calls are read back: results by the function's return type, made when the first is read."""

    def result(succeeded: Succeeded) -> object:
        from pydantic import TypeAdapter

        hint = _type_hints(function, called).get("return", Any)
        if succeeded.value is not None:
            return TypeAdapter[Any](hint).validate_python(succeeded.value)
        if hint is str or hint is Any:
            return succeeded.text
        return None if hint is type(None) else TypeAdapter[Any](hint).validate_json(succeeded.text)

    return Typed(arguments=signature.convert, result=result)


def _make_probe(
    probe: Function | None, called: str, effect: EffectClass
) -> Callable[[JsonObject, Invocation], Awaitable[ToolResult | None]] | None:
    if (probe is None) != (effect != "reconcilable"):
        raise ConfigError(
            f"tool {called!r}: a probe and the effect 'reconcilable' belong together; give both or neither: "
            "tool(effect='reconcilable', probe=...)"
        )
    if probe is None:
        return None
    signature = _read_signature(probe, f"{called} (its probe)")

    async def ask(arguments: JsonObject, invocation: Invocation) -> ToolResult | None:
        value = await _call(probe, signature.converted(arguments, invocation))
        if value is None or value is False:
            return None
        return Succeeded(text="it has happened") if value is True else as_result(value)

    return ask


async def _call(function: Function, converted: dict[str, Any]) -> object:
    if inspect.iscoroutinefunction(function):
        return await function(**converted)
    value: object = await anyio.to_thread.run_sync(partial(function, **converted), abandon_on_cancel=True)
    return await value if inspect.isawaitable(value) else value


def as_result(value: object) -> ToolResult:
    """What a function returned, as a tool result: text as it is, nothing as empty text, anything else as JSON.

    Raises:
        TypeError: JSON cannot hold the value.

    """
    match value:
        case Succeeded() | Failed() | Denied() | Unknown():
            return value
        case str():
            return Succeeded(text=value)
        case None:
            return Succeeded(text="")
        case bytes() | bytearray():
            return Succeeded(text=bytes(value).decode(errors="replace"))
        case _:
            from pydantic_core import PydanticSerializationError, to_json

            try:
                return Succeeded(text=to_json(value, inf_nan_mode="constants").decode())
            except (PydanticSerializationError, ValueError) as error:
                raise TypeError(f"the tool returned a {type(value).__name__} that JSON cannot hold: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signature:
    description: str
    schema: JsonObject
    convert: Callable[[JsonObject], dict[str, Any]]
    invocation: str | None
    """The parameter that is given the `Invocation`."""

    def converted(self, arguments: JsonObject, invocation: Invocation) -> dict[str, Any]:
        """The arguments as the function takes them; pydantic's `ValidationError` if they do not fit."""
        converted = self.convert(arguments)
        return converted if self.invocation is None else converted | {self.invocation: invocation}


def _read_signature(function: Function, called: str) -> _Signature:
    from typing import NotRequired

    import docstring_parser
    from pydantic import Field, TypeAdapter
    from pydantic.errors import PydanticUserError
    from typing_extensions import TypedDict

    doc = docstring_parser.parse(inspect.getdoc(function) or "")
    about = {parameter.arg_name: parameter.description or "" for parameter in doc.params}
    hints = _type_hints(function, called)
    fields: dict[str, Any] = {}
    invocation: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            raise ConfigError(f"tool {called!r}: parameter {parameter.name!r} cannot be passed by name; name each one")
        if parameter.name not in hints:
            raise ConfigError(f"tool {called!r}: parameter {parameter.name!r} has no type; annotate it")
        hint = hints[parameter.name]
        if hint is Invocation:
            invocation = parameter.name
            continue
        extra: dict[str, Any] = {}
        if parameter.default is not parameter.empty:
            extra = _shown_default(parameter.default)
        field = Field(description=about.get(parameter.name) or None, json_schema_extra=extra or None)
        annotated = typing.Annotated[hint, field]
        fields[parameter.name] = annotated if parameter.default is parameter.empty else NotRequired[annotated]
    arguments: Any = TypedDict("arguments", fields)  # pyright: ignore[reportArgumentType] # fields known at run time
    arguments.__pydantic_config__ = {"extra": "forbid"}
    try:
        adapter = TypeAdapter[dict[str, Any]](arguments)
        schema = cast("JsonObject", adapter.json_schema())
    except PydanticUserError as error:
        raise ConfigError(
            f"tool {called!r}: a parameter has a type that JSON cannot hold: {one_line(str(error))}"
        ) from error
    schema.pop("title", None)
    parts = (doc.short_description, doc.long_description)
    return _Signature(
        description="\n\n".join(part for part in parts if part) or called,
        schema=schema,
        convert=adapter.validate_python,
        invocation=invocation,
    )


def _type_hints(function: Function, called: str) -> dict[str, Any]:
    try:
        described = function if inspect.isroutine(function) else type(function).__call__
        return typing.get_type_hints(described, include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigError(
            f"tool {called!r}: its type hints cannot be read ({error}); import the names they use in its module"
        ) from error


def _shown_default(default: object) -> dict[str, Any]:
    return {"default": default} if default is None or isinstance(default, str | int | float | bool) else {}


def _problems(error: Any) -> str:  # noqa: ANN401 - pydantic is not imported where this is read
    problems = (
        f"{'.'.join(str(part) for part in problem['loc']) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    )
    return one_line(clean("; ".join(problems)))
