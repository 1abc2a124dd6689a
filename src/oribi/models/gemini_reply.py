"""Replies on the Gemini generateContent wire: a plain answer is one chunk, a stream many; parts add up (O-34)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oribi.core.calls import Json, JsonObject
from oribi.core.errors import ModelError
from oribi.core.messages import Reply, StopReason, Usage
from oribi.models.arguments import parse_arguments
from oribi.models.endpoints import Endpoint
from oribi.models.faults import cut_short, not_understood, reported
from oribi.models.jsontext import as_count, as_list, as_object, as_text, clean_tree, loads_part
from oribi.models.replies import FoundCall, Shown, tool_calls
from oribi.models.request import EncodedRequest
from oribi.models.sse import ServerEvent
from oribi.ports import Delta, ReasoningDelta, TextDelta

STOPS: Final[dict[str, StopReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
}

SIGNATURE: Final = "thoughtSignature"


class ReplyDraft:
    """A reply in the making. `parts` are those that go back, plain text in fragments."""

    __slots__ = ("_run", "finish_reason", "parts", "reasoning", "request", "text", "usage")

    def __init__(self, request: EncodedRequest) -> None:
        self.request = request
        self.parts: list[JsonObject | list[str]] = []
        self._run: list[str] | None = None
        self.text = Shown()
        self.reasoning = Shown()
        self.finish_reason = ""
        self.usage: JsonObject = {}

    def take(self, chunk: JsonObject) -> list[Delta]:
        """Take in a chunk; what can be shown of it.

        Raises:
            ModelError: The provider did not let the prompt through.

        """
        if isinstance(usage := chunk.get("usageMetadata"), dict):
            # Counts are running totals: later ones replace earlier ones, absent ones do not.
            self.usage.update(
                usage if None not in usage.values() else {k: v for k, v in usage.items() if v is not None}
            )
        candidates = as_list(chunk.get("candidates"))
        if not candidates:
            if reason := as_text(as_object(chunk.get("promptFeedback")).get("blockReason")):
                raise ModelError(
                    "bad_request", f"{self.request.choice.provider} blocked the prompt ({reason}); it gave no reply"
                )
            return []
        candidate = as_object(candidates[0])
        if candidate.get("index"):
            return []  # we ask for one candidate
        if reason := candidate.get("finishReason"):
            self.finish_reason = as_text(reason)
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        shown: list[Delta] = []
        for part in parts if isinstance(parts, list) else ():
            if not isinstance(part, dict):
                continue
            text = part.get("text")
            if not isinstance(text, str):
                text = ""
            elif len(part) == 1:  # nearly every part of a stream
                self._add_text(text)
                if text and (piece := self.text.add(text)):
                    shown.append(TextDelta(text=piece))
                continue
            shown += self._add_other(part, text)
        return shown

    def _add_text(self, text: str) -> None:
        """Note plain text, whose fragments add up."""
        if self._run is None:
            self._run = []
            self.parts.append(self._run)
        self._run.append(text)

    def _add_other(self, part: JsonObject, text: str) -> Sequence[Delta]:
        """Note a part that goes back as it came, if it does; what it shows."""
        is_thought = part.get("thought") is True
        if not is_thought or part.get(SIGNATURE) or "functionCall" in part:
            self._run = None
            self.parts.append(part)
        piece = (self.reasoning if is_thought else self.text).add(text) if text else ""
        if not piece:
            return ()
        return (ReasoningDelta(text=piece),) if is_thought else (TextDelta(text=piece),)

    def reply(self) -> Reply:
        """The finished reply."""
        found: list[FoundCall] = []
        for part in self.parts:
            if isinstance(part, dict) and "functionCall" in part:
                call = as_object(part["functionCall"])
                arguments = parse_arguments(call.get("args"))
                found.append(FoundCall(id=as_text(call.get("id")), name=as_text(call.get("name")), arguments=arguments))
        stop: StopReason = STOPS.get(self.finish_reason, "other")
        if stop == "stop" and found:
            stop = "tool_calls"
        return Reply(
            text=self.text.text,
            calls=tool_calls(found, stop, self.request),
            stop=stop,
            usage=_usage(self.usage),
            model=self.request.choice.ref,
            wire="gemini",
            reasoning=self.reasoning.text,
            raw=_raw(self.parts),
        )


class StreamAssembler:
    """Puts a reply together from chunks; a finish reason completes it, only the end of the stream closes it."""

    __slots__ = ("_draft", "is_done")

    def __init__(self, request: EncodedRequest) -> None:
        self._draft = ReplyDraft(request)
        self.is_done = False

    @property
    def is_complete(self) -> bool:
        """A finish reason has come."""
        return bool(self._draft.finish_reason)

    @property
    def shown(self) -> str:
        """The text that went out as deltas so far."""
        return self._draft.text.text

    def feed(self, event: ServerEvent) -> Sequence[Delta]:
        """Take one event in; the fragments to show.

        Raises:
            ModelError: The event reports an error, or is not understood.

        """
        if event.data == b"[DONE]":  # not of this wire, but of gateways to it
            self.is_done = True
            return ()
        try:
            chunk = loads_part(event.data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            raise not_understood(self._endpoint, "the stream holds an event that is not a JSON object", event.data)
        if chunk.get("error"):
            raise reported(self._endpoint, chunk)
        return self._draft.take(chunk)

    def finish(self) -> Reply:
        """The finished reply.

        Raises:
            ModelError: The stream ended before its proper end.

        """
        if not self.is_complete:
            raise cut_short(self._endpoint, self.shown)
        return self._draft.reply()

    @property
    def _endpoint(self) -> Endpoint:
        return self._draft.request.endpoint


def _raw(parts: list[JsonObject | list[str]]) -> Json:
    """The parts as received, if one of them is more than our parts can render; fragments of a text are joined.

    A signature stays on the part it came with, so a part that has one is joined with no other. Thoughts without one
    are never kept: they are a summary for people.
    """
    calls = parts[1:] if parts and isinstance(parts[0], list) else parts
    if all(isinstance(part, dict) and part.keys() == {"functionCall"} for part in calls):
        return None
    whole: list[JsonObject] = [part if isinstance(part, dict) else {"text": "".join(part)} for part in parts]
    return clean_tree([part for part in whole if part != {"text": ""}])


def _usage(usage: JsonObject) -> Usage:
    """Here the candidates leave out the thoughts, and the prompt what server-side tools put in; ours hold all."""
    prompt = as_count(usage.get("promptTokenCount"))
    tools = as_count(usage.get("toolUsePromptTokenCount"))
    written = as_count(usage.get("candidatesTokenCount"))
    thoughts = as_count(usage.get("thoughtsTokenCount"))
    total = as_count(usage.get("totalTokenCount"))
    read = None if prompt is None else prompt + (tools or 0)
    output = None if written is None and thoughts is None else (written or 0) + (thoughts or 0)
    if output is None and read is not None and total is not None and total >= read:
        output = total - read
    return Usage(
        input_tokens=read,
        output_tokens=output,
        cached_tokens=as_count(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
    )
