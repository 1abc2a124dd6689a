"""Events: recorded facts in the past tense. Add events and fields with defaults; never change what one means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from oribi.core.budget import Spent
from oribi.core.calls import (
    CallId,
    Failed,
    Json,
    JsonObject,
    SessionId,
    ToolCall,
    ToolResult,
    ToolSpec,
    TurnId,
    Verdict,
)
from oribi.core.ends import TurnEnd
from oribi.core.errors import FaultKind
from oribi.core.messages import ModelChoice, Reply, UserMessage
from oribi.core.modes import Mode
from oribi.core.policy import LoopPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentCall:
    """The call that a session answers: its turn is nested in the caller's (M-42). `depth` counts from 1."""

    session_id: SessionId
    turn_id: TurnId
    step: int
    call_id: CallId
    depth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """A session began: with which agent, for whom, through which channel.

    A fork repeats the records of `forked_from` up to its `forked_seq`, whose hash (hex) is `forked_hash`. `parent` is
    the call of another session that this one answers.
    """

    agent: str
    principal: str
    channel: str
    parent: ParentCall | None = None
    forked_from: SessionId | None = None
    forked_seq: int | None = None
    forked_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """An input began a turn; everything that shapes the turn is frozen here (M-18, M-20).

    `instructions` is the agent's identity and AGENT.md body, `datetime_line` the last line of the system text.
    `fallbacks` are asked in order when `model` cannot answer. The final answer has to fit `output_schema`, if there is
    one. `lock` is what shaped the turn, by hash (G13). `mail` is the number of the inbox row that brought the input,
    None when it came without waiting. `mode` is the agent's mode that was asked for; with `routes`, the model is first
    asked which of these modes it is to be (M-5). `command` is the call that the input means, without any model (M-3).
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
    lock: JsonObject | None = None
    mail: int | None = None
    mode: str = ""
    routes: tuple[Mode, ...] = ()
    command: ToolCall | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChosen:
    """The router chose a mode (empty: none of them): from here on the turn has its policy, tools and instructions.

    What was spent stays spent (M-10).
    """

    mode: str
    policy: LoopPolicy
    tools: tuple[ToolSpec, ...]
    instructions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputAdded:
    """A person's message joined the open turn (steering). The model reads it once no call is unanswered."""

    input: UserMessage
    mail: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChosen:
    """From here on the open turn is answered by another model, with no fallbacks: a fork that tries it."""

    model: ModelChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRead:
    """The prompt's files were read for the coming step and differ from what the turn knew (O-16, O-18).

    `bootstrap`, `skills` and `memory` are the texts put into the prompt; `memory_read` is the length of MEMORY.md in
    characters before its cut (O-31), `sources` the files, relative to the workspace. `actions` is the workspace's own
    text on how to write a JSON action (M-39); empty: the runtime's.
    """

    bootstrap: str
    skills: str
    memory: str
    memory_read: int
    sources: tuple[str, ...]
    actions: str = ""


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
class ContextTrimmed:
    """The messages went over the token budget, so the oldest of them are not sent from now on (T-16, T-19).

    `history_turns` earlier turns are still sent; of the open turn, the first `steps_left_out` replies and their results
    are not. `removed` counts messages that were sent before; tokens are estimates. The journal keeps them all.
    """

    history_turns: int
    steps_left_out: int
    removed: int
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapUpBegan:
    """The turn cannot go on as it was, but has found something: the model may once answer from that (M-35, M-36)."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaReached:
    """The person's daily quota leaves no room for another call; `limit` names which."""

    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChecked:
    """The final answer was held against the output schema: `problem` says why it does not fit, None when it does."""

    step: int
    value: Json = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeGiven:
    """The runtime told the model something in the place of a person: why its answer cannot be used, or to look up."""

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
class ToolFaulted:
    """An attempt of a call failed in a way that may pass; it is tried again, or settles with this (Y-7)."""

    step: int
    call_id: CallId
    result: Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCharged:
    """What a turn nested in a call, that of session `child`, has spent so far, all told.

    It is spent of this turn's budget too (M-17). The first, of nothing, says which session it is.
    """

    step: int
    call_id: CallId
    spent: Spent
    child: SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProbed:
    """The world was asked what came of a call that was cut off (G1).

    `found` is its result; None says that it did not happen, so that it may start again; an `Unknown`, that nobody can
    tell.
    """

    step: int
    call_id: CallId
    found: ToolResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResolved:
    """A person said what came of a call whose result is Unknown; the model reads `result` in its place from now on.

    The call is the one with this id of step `step` of turn `call_turn`, of any age.
    """

    call_turn: TurnId
    step: int
    call_id: CallId
    result: ToolResult
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptAsked:
    """Somebody asked the turn to stop."""

    by: str
    mail: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeAsked:
    """Something was withdrawn, which `what` says in words (M-21).

    With `tool` or `owner`, that tool or that plug-in's tools: they cannot be used any more, and a turn that has used
    one of them ends. With neither, the turn ends.
    """

    what: str
    mail: int | None = None
    tool: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedRow:
    """One record whose payload was replaced: `sha256` (hex) is that of the payload that stands there now."""

    seq: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """Somebody had content of earlier records erased: it is gone, its hashes stay, and these rows say so (G6)."""

    rows: tuple[ErasedRow, ...]
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The turn stopped, and why."""

    end: TurnEnd


Event: TypeAlias = (
    SessionOpened
    | TurnStarted
    | ModeChosen
    | InputAdded
    | ModelChosen
    | FilesRead
    | ModelAsked
    | ModelReplied
    | ModelFaulted
    | ContextCut
    | ContextTrimmed
    | WrapUpBegan
    | QuotaReached
    | AnswerChecked
    | NoticeGiven
    | CallJudged
    | ToolStarted
    | ToolFaulted
    | CallCharged
    | ToolSettled
    | CallProbed
    | CallResolved
    | InterruptAsked
    | RevokeAsked
    | TurnEnded
    | Erased
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """An event with its place: `seq` counts from 1 within the session, `at` is microseconds since the epoch (UTC)."""

    session_id: SessionId
    seq: int
    turn_id: TurnId | None
    at: int
    event: Event
