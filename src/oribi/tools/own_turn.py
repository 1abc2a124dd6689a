"""A turn of one's own within a tool: its instructions, some of the agent's tools, and an answer with a type.

The loop is the same one, and knows nothing of what the turn is for; the tool says what becomes of the answer, and of a
turn that gave none (M-22 to M-29).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from oribi.core.calls import Json, JsonObject, Malformed, Succeeded, ToolResult
from oribi.core.ends import Completed
from oribi.core.errors import ConfigError
from oribi.core.mail import Input
from oribi.core.messages import Reply, ToolMessage
from oribi.core.modes import Command
from oribi.core.policy import PRESETS, LoopPolicy
from oribi.ports import AgentSnapshot, Invocation
from oribi.tools.tool import Tool

if TYPE_CHECKING:
    from oribi.core.budget import Counters
    from oribi.core.calls import ToolCall
    from oribi.core.ends import TurnEnd
    from oribi.core.results import TurnResult

A = TypeVar("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One call of a turn and what came of it.

    `arguments` and `value` are what the tool's function took and returned, with their types; where the call did not
    succeed, `value` is None and `result` says why.
    """

    tool: Tool
    arguments: Mapping[str, object]
    result: ToolResult
    value: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[A]):
    """How a turn of one's own came out.

    `answer` is None when it gave none: then `end` says why, a typed value to match on (M-29). `session_id` is where its
    transcript stands.
    """

    answer: A | None
    end: TurnEnd
    observations: tuple[Observation, ...]
    counters: Counters
    session_id: str

    def of(self, tool: Tool) -> list[Observation]:
        """The observations of one tool that succeeded, in order."""
        return [each for each in self.observations if each.tool is tool and isinstance(each.result, Succeeded)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Generic[A]):
    """A turn within a tool.

    `answer` is the type of its final answer: `str`, or anything that pydantic can hold JSON against. `tools` are some
    of those that the calling turn has. `policy` is a preset's name or a policy; what the calling turn has left, and
    whether its writes need confirmation, can only tighten it.
    """

    instructions: str
    answer: type[A]
    tools: Sequence[Tool] = ()
    policy: LoopPolicy | str = "reasoning"
    name: str = "turn"
    _read: dict[str, Any] = field(default_factory=dict[str, Any], init=False, repr=False, compare=False)

    async def run(self, text: str, *, within: Invocation, part: str = "") -> Outcome[A]:
        """Give the turn its input and bring it to its end. Call it more than once from one tool with different `part`.

        Raises:
            ConfigError: It is not called from within a turn, a tool of it is not the calling turn's, there is no such
                preset, or its answer has no JSON Schema.

        """
        if within.nest is None or within.model is None:
            raise ConfigError(f"the turn {self.name!r} is run outside of a turn; run the tool that runs it in one")
        agent = AgentSnapshot(
            name=self.name,
            description="",
            model=within.model,
            policy=self._policy(),
            tools=tuple(tool.spec for tool in self.tools),
            instructions=self.instructions,
            output_schema=self._schema(),
        )
        result = await within.nest(within, agent, Input(text=text), part or self.name)
        return Outcome(
            answer=self._answer(result.end),
            end=result.end,
            observations=observations(result, self.tools),
            counters=result.counters,
            session_id=result.session_id,
        )

    def _policy(self) -> LoopPolicy:
        if isinstance(self.policy, LoopPolicy):
            return self.policy
        if self.policy not in PRESETS:
            raise ConfigError(f"no preset named {self.policy!r}; there is: {', '.join(PRESETS)}")
        return PRESETS[self.policy]

    def _adapter(self) -> Any:  # noqa: ANN401 - pydantic is imported when it is needed
        from pydantic import TypeAdapter

        if "adapter" not in self._read:
            self._read["adapter"] = TypeAdapter[Any](self.answer)
        return self._read["adapter"]

    def _schema(self) -> JsonObject | None:
        if self.answer is str:
            return None
        from pydantic.errors import PydanticUserError

        try:
            return cast("JsonObject", self._adapter().json_schema())
        except PydanticUserError as error:
            raise ConfigError(f"the turn {self.name!r}: its answer has no JSON Schema: {error}") from error

    def _answer(self, end: TurnEnd) -> A | None:
        if not isinstance(end, Completed):
            return None
        return cast("A", end.text) if self.answer is str else cast("A", self._adapter().validate_python(end.value))


async def call_tool(tool: Tool, arguments: JsonObject, *, within: Invocation, part: str = "") -> Observation:
    """Call another of the turn's tools from within a tool: judged, recorded and counted like any call (M-11, M-28).

    Call it more than once from one tool with different `part`.

    Raises:
        ConfigError: It is not called from within a turn, or the tool is not the calling turn's.

    """
    if within.nest is None or within.model is None:
        raise ConfigError(f"{tool.spec.name!r} is called outside of a turn; run the tool that calls it in one")
    agent = AgentSnapshot(
        name=f"call {tool.spec.name}",
        description="",
        model=within.model,
        policy=replace(within.policy, prompt_snapshot=True),
        tools=(tool.spec,),
        instructions="",
        commands=(Command(phrase="call", tool=tool.spec.name, arguments=arguments),),
    )
    result = await within.nest(within, agent, Input(text="call"), part or tool.spec.name)
    return observations(result, (tool,))[0]


def observations(result: TurnResult, tools: Sequence[Tool]) -> tuple[Observation, ...]:
    """The calls of a turn that are of `tools`, in order, each with its typed arguments and result (M-24)."""
    by_name = {tool.spec.name: tool for tool in tools}
    found: list[Observation] = []
    calls: dict[str, ToolCall] = {}
    for message in result.messages:
        match message:
            case Reply():
                calls = {call.id: call for call in message.calls}
            case ToolMessage(call_id=call_id, name=name, result=settled) if name in by_name:
                found.append(_observation(by_name[name], calls[call_id].arguments, settled))
            case _:
                pass
    return tuple(found)


def _observation(tool: Tool, given: JsonObject | Malformed, result: ToolResult) -> Observation:
    arguments: Mapping[str, Json] = {} if isinstance(given, Malformed) else given
    if tool.typed is None or not isinstance(result, Succeeded):
        value = result.text if isinstance(result, Succeeded) else None
        return Observation(tool=tool, arguments=arguments, result=result, value=value)
    return Observation(
        tool=tool, arguments=tool.typed.arguments(dict(arguments)), result=result, value=tool.typed.result(result)
    )
