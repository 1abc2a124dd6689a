"""Replies on the Anthropic Messages wire, plain or streamed: content blocks, kept exactly if we cannot render them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oribi.core.calls import Json, JsonObject
from oribi.core.messages import Reply, StopReason, Usage
from oribi.models.arguments import parse_arguments
from oribi.models.endpoints import Endpoint
from oribi.models.faults import cut_short, not_understood, reported
from oribi.models.jsontext import as_count, as_list, as_object, as_text, clean, clean_tree, loads_part
from oribi.models.replies import FoundCall, Shown, tool_calls
from oribi.models.request import EncodedRequest
from oribi.models.sse import ServerEvent
from oribi.ports import Delta, ReasoningDelta, TextDelta

STOPS: Final[dict[str, StopReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "stop": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def reply_of(blocks: list[JsonObject], stop_reason: str, usage: JsonObject, request: EncodedRequest) -> Reply:
    """The reply made of whole content blocks."""
    stop: StopReason = STOPS.get(stop_reason, "other")
    found: list[FoundCall] = []
    text: list[str] = []
    reasoning: list[str] = []
    for block in blocks:
        match block.get("type"):
            case "text":
                text.append(as_text(block.get("text")))
            case "thinking":
                reasoning.append(as_text(block.get("thinking")))
            case "tool_use":
                arguments = parse_arguments(block.get("input"))
                block["input"] = arguments if isinstance(arguments, dict) else {}
                found.append(
                    FoundCall(id=as_text(block.get("id")), name=as_text(block.get("name")), arguments=arguments)
                )
            case _:
                pass
    return Reply(
        text=clean("".join(text)),
        calls=tool_calls(found, stop, request),
        stop=stop,
        usage=_usage(usage),
        model=request.choice.ref,
        wire="anthropic",
        reasoning=clean("\n\n".join(part for part in reasoning if part)),
        raw=_raw(blocks),
    )


class BlockDraft:
    """A content block whose fragments are still coming; they are kept apart, so that a long text costs no copying."""

    __slots__ = ("block", "parts")

    def __init__(self) -> None:
        self.block: JsonObject = {}
        self.parts: dict[str, list[str]] = {}

    def add(self, key: str, text: str) -> None:
        """Add a fragment of the text under `key`."""
        if (parts := self.parts.get(key)) is None:
            parts = self.parts[key] = []
        parts.append(text)

    def whole(self) -> JsonObject:
        """The block. The input of a call is still text if it came in fragments."""
        block = dict(self.block)
        for key, parts in self.parts.items():
            text = "".join(parts)
            if key != "input":
                block[key] = as_text(block.get(key)) + text
            elif text.strip():  # else the start event held the whole input
                block[key] = text if block.get("type") == "tool_use" else _input(text)
        return block


class StreamAssembler:
    """Puts a reply together from message events; `message_stop` closes, a stop reason completes."""

    __slots__ = ("_blocks", "_request", "_shown", "_stop_reason", "_thought", "_usage", "is_done")

    def __init__(self, request: EncodedRequest) -> None:
        self._request = request
        self._blocks: dict[int, BlockDraft] = {}
        self._shown = Shown()
        self._thought = Shown()
        self._stop_reason = ""
        self._usage: JsonObject = {}
        self.is_done = False

    @property
    def is_complete(self) -> bool:
        """A stop reason has come; or `message_stop` without one behind text, but never behind calls."""
        if self._stop_reason:
            return True
        return (
            self.is_done
            and bool(self._blocks)
            and all(draft.block.get("type") != "tool_use" for draft in self._blocks.values())
        )

    @property
    def shown(self) -> str:
        """The text that went out as deltas so far."""
        return self._shown.text

    def feed(self, event: ServerEvent) -> Sequence[Delta]:
        """Take one event in; the fragments to show.

        Raises:
            ModelError: The event reports an error, or is not understood.

        """
        try:
            data = loads_part(event.data)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise not_understood(self._endpoint, "the stream holds an event that is not a JSON object", event.data)
        match data.get("type"):
            case "content_block_delta":
                return self._add(self._draft(data), as_object(data.get("delta")))
            case "content_block_start":
                return self._open(data)
            case "message_start":
                self._take_usage(as_object(data.get("message")).get("usage"))
            case "message_delta":
                self._stop_reason = as_text(as_object(data.get("delta")).get("stop_reason")) or self._stop_reason
                self._take_usage(data.get("usage"))
            case "message_stop":
                self.is_done = True
            case kind:
                if kind == "error" or data.get("error"):
                    raise reported(self._endpoint, data)
        return ()

    def finish(self) -> Reply:
        """The finished reply.

        Raises:
            ModelError: The stream ended before its proper end.

        """
        if not self.is_complete:
            raise cut_short(self._endpoint, self.shown)
        blocks = [draft.whole() for _, draft in sorted(self._blocks.items())]
        return reply_of(blocks, self._stop_reason or "stop", self._usage, self._request)

    @property
    def _endpoint(self) -> Endpoint:
        return self._request.endpoint

    def _draft(self, data: JsonObject) -> BlockDraft:
        index = data.get("index")
        if not isinstance(index, int):
            index = max(self._blocks, default=0)
        draft = self._blocks.get(index)
        if draft is None:
            draft = self._blocks[index] = BlockDraft()
        return draft

    def _open(self, data: JsonObject) -> Sequence[Delta]:
        block = self._draft(data).block
        block.update(as_object(data.get("content_block")))
        text = as_text(block.get("text")) if block.get("type") == "text" else ""
        return (TextDelta(text=part),) if text and (part := self._shown.add(text)) else ()

    def _add(self, draft: BlockDraft, delta: JsonObject) -> Sequence[Delta]:
        match delta.get("type"):
            case "text_delta":
                draft.block.setdefault("type", "text")
                text = delta.get("text")
                if text and isinstance(text, str):
                    draft.add("text", text)
                    if part := self._shown.add(text):
                        return (TextDelta(text=part),)
            case "thinking_delta":
                if text := as_text(delta.get("thinking")):
                    draft.add("thinking", text)
                    if part := self._thought.add(text):
                        return (ReasoningDelta(text=part),)
            case "input_json_delta":
                draft.add("input", as_text(delta.get("partial_json")))
            case "citations_delta":
                draft.block["citations"] = [*as_list(draft.block.get("citations")), delta.get("citation")]
            case _:  # signature_delta, and what comes after this was written
                for key, value in delta.items():
                    if isinstance(value, str) and key != "type":
                        draft.add(key, value)
        return ()

    def _take_usage(self, usage: Json) -> None:
        """Counts are running totals: later ones replace earlier ones, absent ones do not."""
        self._usage.update({key: value for key, value in as_object(usage).items() if value is not None})


def _raw(blocks: list[JsonObject]) -> Json:
    """The blocks as received, if one of them is more than our parts can render.

    Thinking without its signature is never kept: the provider refuses it, and with it the session.
    """
    kept = [block for block in blocks if block.get("type") != "thinking" or block.get("signature")]
    if all(_is_plain(block) for block in kept):
        return None
    return clean_tree([*kept])


def _input(text: str) -> JsonObject:
    arguments = parse_arguments(text)
    return arguments if isinstance(arguments, dict) else {}


def _is_plain(block: JsonObject) -> bool:
    match block.get("type"):
        case "text":
            return not block.get("citations")
        case "tool_use":
            return True
        case _:
            return False


def _usage(usage: JsonObject) -> Usage:
    """Here `input_tokens` leaves out what the cache gave and took; ours is all input."""
    fresh = as_count(usage.get("input_tokens"))
    cached = as_count(usage.get("cache_read_input_tokens"))
    written = as_count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=as_count(usage.get("output_tokens")),
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=as_count(as_object(usage.get("output_tokens_details")).get("thinking_tokens")),
    )
