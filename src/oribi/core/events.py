"""Events: recorded facts in the past tense. Add events and fields with defaults; never change what one means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from oribi.core.calls import CallId, Json, JsonObject, SessionId, ToolResult, ToolSpec, TurnId, Verdict
from oribi.core.ends import TurnEnd
from oribi.core.errors import FaultKind
from oribi.core.messages import ModelChoice, Reply, UserMessage
from oribi.core.policy import LoopPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """A session began: with which agent, for whom, through which channel."""

    agent: str
    principal: str
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """An input began a turn; everything that shapes the turn is frozen here (M-18, M-20).

    `instructions` is the agent's identity and AGENT.md body, `datetime_line` the last line of the system text.
    `fallbacks` are asked in order when `model` cannot answer. The final answer has to fit `output_schema`, if there is
    one.
    """

    turn_id: TurnId
    input: UserMessage
    agent: str
    model: ModelChoice
    policy: LoopPolicy
    tools: tuple[ToolSpec, ...]
    instructions: str
    datetime_line: str = ""
    fallbacks: tuple[ModelChoice, ...] = ()
    output_schema: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRead:
    """The prompt's files were read for the coming step and differ from what the turn knew (O-16, O-18).

    `bootstrap`, `skills` and `memory` are the texts put into the prompt; `memory_read` is the length of MEMORY.md in
    characters before its cut (O-31), `sources` the files, relative to the workspace.
    """

    bootstrap: str
    skills: str
    memory: str
    memory_read: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRef:
    """A request by reference: what of the state it holds, and the SHA-256 (hex) of the bytes sent.

    The `system_characters`, `memory_characters` and `history_*` fields are the injected lengths (O-31);
    `turns_left_out` counts earlier turns beyond `max_history_turns`.
    """

    sha256: str
    bytes: int
    system_characters: int
    memory_characters: int
    history_turns: int
    turns_left_out: int
    messages: int
    tools: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAsked:
    """A model call begins. `attempt` counts the asks of one step from 1.

    `choice` is which model: 0 the agent's, from 1 its fallbacks; then `model` is its `provider:name`.
    """

    step: int
    attempt: int
    request: RequestRef
    choice: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplied:
    """The model's finished reply."""

    step: int
    attempt: int
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFaulted:
    """The model call gave no reply; `partial` is text that had been shown and is discarded."""

    step: int
    attempt: int
    kind: FaultKind
    message: str
    retry_after_seconds: float | None = None
    partial: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCut:
    """The prompt did not fit the model's context, so the turn sends less of it from now on (G7).

    At most `history_turns` earlier turns, and `result_characters` of each tool result, are sent; `characters_before`
    and `characters_after` are the sizes of the messages. Nothing is cut from the journal.
    """

    step: int
    attempt: int
    history_turns: int
    result_characters: int
    characters_before: int
    characters_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChecked:
    """The final answer was held against the output schema: `problem` says why it does not fit, None when it does."""

    step: int
    value: Json = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeGiven:
    """The runtime told the model something in the place of a person: that its answer is empty, or does not fit."""

    step: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallJudged:
    """Policy's verdict on one call, with the rule that matched."""

    step: int
    call_id: CallId
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A tool is about to act. Recorded and durable before it does."""

    step: int
    call_id: CallId


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettled:
    """What came of a call."""

    step: int
    call_id: CallId
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptAsked:
    """Somebody asked the turn to stop."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeAsked:
    """Something the turn depends on was withdrawn (M-21)."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The turn stopped, and why."""

    end: TurnEnd


Event: TypeAlias = (
    SessionOpened
    | TurnStarted
    | FilesRead
    | ModelAsked
    | ModelReplied
    | ModelFaulted
    | ContextCut
    | AnswerChecked
    | NoticeGiven
    | CallJudged
    | ToolStarted
    | ToolSettled
    | InterruptAsked
    | RevokeAsked
    | TurnEnded
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An event with its place: `seq` counts from 1 within the session, `at` is microseconds since the epoch (UTC)."""

    session_id: SessionId
    seq: int
    turn_id: TurnId | None
    at: int
    event: Event
