"""What is said in a session: the person's input, the model's replies, the results of its calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from oribi.core.calls import CallId, Json, JsonObject, ToolCall, ToolResult

ERASABLE = {"erasable": True}
"""Marks a field whose content the journal keeps apart, so that it can be erased and the chain still holds."""

StopReason: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter", "other"]
"""Why the *model* stopped; never a turn end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """Which model answers, on which wire, with which parameters (`temperature`, `max_tokens`, ...)."""

    provider: str
    name: str
    wire: str
    parameters: JsonObject = field(default_factory=dict[str, Json])

    @property
    def ref(self) -> str:
        """The `provider:name` form used in AGENT.md."""
        return f"{self.provider}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider reported them; None means it did not say, which is not 0.

    `input_tokens` is all input; `cached_tokens` and `cache_write_tokens` are parts of it, `reasoning_tokens` a part
    of `output_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A file of text that came with an input."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image that came with an input: `media_type` is as in `image/png`, `data` its bytes in base64."""

    name: str
    media_type: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """Another file that came with an input: `media_type` is as in `application/pdf`, `data` its bytes in base64."""

    name: str
    media_type: str
    data: str


InputPart: TypeAlias = TextPart | ImagePart | FilePart
"""What comes with an input beside its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """A person's (or a schedule's) input. `parts` came with it; a model reads them before the text."""

    text: str
    parts: tuple[InputPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's finished answer to one prompt.

    `raw` holds the exact blocks received when our parts cannot render them back to the same provider; None when they
    can. `reasoning` is readable reasoning. `action` says that the reply was written, and has been read, as a JSON
    action (M-40); `problem` is then why it is none, empty when it is one.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: StopReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    wire: str = ""
    reasoning: str = field(default="", metadata=ERASABLE)
    raw: Json = field(default=None, metadata=ERASABLE)
    action: bool = False
    problem: str = ""

    @property
    def without_reasoning(self) -> Reply:
        """This reply with nothing that policy may not keep; itself when there is nothing."""
        return self if self.raw is None and not self.reasoning else replace(self, reasoning="", raw=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The result of one call, matched to it by id (O-17, O-24)."""

    call_id: CallId
    name: str
    result: ToolResult


Message: TypeAlias = UserMessage | Reply | ToolMessage
