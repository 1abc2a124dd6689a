"""Replies on the OpenAI chat wire, plain or streamed: both are fragments that add up to one message (O-34)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oribi.core.calls import Json, JsonObject
from oribi.core.errors import ModelError
from oribi.core.messages import Reply, StopReason, Usage
from oribi.models.arguments import parse_arguments
from oribi.models.endpoints import Endpoint
from oribi.models.faults import cut_short, not_understood, reported
from oribi.models.jsontext import as_count, as_list, as_object, as_text, clean, clean_tree, loads, loads_part
from oribi.models.replies import FoundCall, Shown, tool_calls
from oribi.models.request import EncodedRequest
from oribi.models.sse import ServerEvent
from oribi.ports import Delta, ReasoningDelta, TextDelta

STOPS: Final[dict[str, StopReason]] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}

CALL_EXTRAS: Final = ("extra_content",)
"""Fields of a call that a provider wants back and our parts do not hold (Gemini's thought signatures)."""


class CallDraft:
    """A tool call whose fragments are still coming."""

    __slots__ = ("arguments", "extras", "id", "index", "name", "whole")

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.whole: Json = None
        self.extras: JsonObject = {}

    def add(self, fragment: JsonObject, function: JsonObject) -> None:
        """Take a fragment in: absent and null change nothing, a repeated name is not doubled."""
        if not self.id:
            self.id = as_text(fragment.get("id"))
        name = as_text(function.get("name"))
        if name and name != self.name:
            self.name = name if name.startswith(self.name) else self.name + name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self.arguments.append(arguments)
        elif arguments is not None:
            self.whole = arguments
        for key in CALL_EXTRAS:
            if fragment.get(key) is not None:
                self.extras[key] = fragment[key]

    @property
    def given(self) -> Json:
        """The arguments so far: text, or what a server sent in its place."""
        return self.whole if self.whole is not None else "".join(self.arguments)

    @property
    def looks_whole(self) -> bool:
        """Whether the arguments could end here."""
        if self.whole is not None:
            return True
        text = "".join(self.arguments).strip()
        try:
            return not text or isinstance(loads(text), dict)
        except ValueError:
            return False


class ReplyDraft:
    """A reply in the making: a plain answer is one fragment, a stream many."""

    __slots__ = ("calls", "details", "finish_reason", "is_stream", "reasoning", "refusal", "request", "text", "usage")

    def __init__(self, request: EncodedRequest, *, is_stream: bool) -> None:
        self.request = request
        self.is_stream = is_stream
        self.text = Shown()
        self.reasoning = Shown()
        self.refusal = ""
        self.details: list[Json] = []
        self.calls: list[CallDraft] = []
        self.finish_reason = ""
        self.usage: JsonObject = {}

    def take_usage(self, usage: Json) -> None:
        """Note the counts; later ones replace earlier ones, since running totals are sent."""
        if usage:
            self.usage = as_object(usage)

    def take_message(self, choice: JsonObject) -> None:
        """Take in the one choice of a plain answer."""
        message = as_object(choice.get("message"))
        self.finish_reason = as_text(choice.get("finish_reason"))
        self.add_text(message)
        for position, entry in enumerate(as_list(message.get("tool_calls"))):
            draft = CallDraft(position)
            draft.add(as_object(entry), as_object(as_object(entry).get("function")))
            self.calls.append(draft)

    def add_text(self, delta: JsonObject) -> list[Delta]:
        """Take in text and reasoning; what can be shown of them."""
        if len(delta) == 1 and isinstance(text := delta.get("content"), str):  # nearly every fragment of a stream
            return [TextDelta(text=part)] if text and (part := self.text.add(text)) else []
        shown: list[Delta] = []
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if reasoning and isinstance(reasoning, str) and (part := self.reasoning.add(reasoning)):
            shown.append(ReasoningDelta(text=part))
        content = delta.get("content") or ""
        if not isinstance(content, str):  # some servers send a list of parts
            content = "".join(as_text(as_object(part).get("text")) for part in as_list(content))
        if content and (part := self.text.add(content)):
            shown.append(TextDelta(text=part))
        if refusal := delta.get("refusal"):
            self.refusal += as_text(refusal)
        if details := delta.get("reasoning_details"):
            for detail in as_list(details):
                self._add_detail(as_object(detail))
        return shown

    def add_calls(self, fragments: list[Json]) -> None:
        """Take in fragments of calls: by index, else by id, else as more of the last one."""
        for item in fragments:
            fragment = as_object(item)
            function = as_object(fragment.get("function"))
            draft = self._draft_of(fragment, function)
            draft.add(fragment, function)

    def reply(self) -> Reply:
        """The finished reply.

        Raises:
            ModelError: The provider ended it with an error.

        """
        if self.finish_reason == "error":
            raise ModelError(
                "protocol", f"{self.request.choice.provider} broke the reply off with finish_reason 'error'"
            )
        text = self.text.text
        stop: StopReason = STOPS.get(self.finish_reason, "other")
        if self.refusal and not text:
            text, stop = clean(self.refusal), "content_filter"
        drafts = [draft for draft in self.calls if draft.id or draft.name or draft.given]
        drafts.sort(key=lambda draft: draft.index)
        found = (FoundCall(id=draft.id, name=draft.name, arguments=parse_arguments(draft.given)) for draft in drafts)
        return Reply(
            text=text,
            calls=tool_calls(found, stop, self.request),
            stop=stop,
            usage=_usage(self.usage),
            model=self.request.choice.ref,
            wire="openai-chat",
            reasoning=self.reasoning.text,
            raw=self._raw(drafts),
        )

    def _add_detail(self, detail: JsonObject) -> None:
        """Take in a detail of the reasoning. In a stream, text and summaries come in pieces of one type and index."""
        last = as_object(self.details[-1]) if self.details and self.is_stream else {}
        piece = next((key for key in ("text", "summary") if isinstance(detail.get(key), str)), None)
        same = all(detail.get(key) == last.get(key) for key in ("type", "index")) and not last.get("signature")
        if not last or not same or piece is None:
            self.details.append(dict(detail))
            return
        for key, value in detail.items():
            if key == piece:
                last[key] = as_text(last.get(key)) + as_text(value)
            elif value is not None:
                last[key] = value

    def _draft_of(self, fragment: JsonObject, function: JsonObject) -> CallDraft:
        index, identifier, name = fragment.get("index"), as_text(fragment.get("id")), as_text(function.get("name"))
        draft: CallDraft | None
        if isinstance(index, int):
            draft = next((one for one in reversed(self.calls) if one.index == index), None)
        elif identifier:
            draft = next((one for one in self.calls if one.id == identifier), None)
        else:
            draft = self.calls[-1] if self.calls else None
            if draft is not None and name and draft.looks_whole:
                draft = None
        if draft is not None and name and identifier and draft.id and identifier != draft.id:
            draft = None  # another call under an index that was used before
        if draft is None:
            draft = CallDraft(index if isinstance(index, int) else len(self.calls))
            self.calls.append(draft)
        return draft

    def _raw(self, drafts: list[CallDraft]) -> Json:
        extras: JsonObject = {str(position): draft.extras for position, draft in enumerate(drafts) if draft.extras}
        raw: JsonObject = {}
        if details := [detail for detail in self.details if not _lost_its_signature(as_object(detail))]:
            raw["message"] = {"reasoning_details": details}
        if extras:
            raw["calls"] = extras
        return clean_tree(raw) if raw else None


class StreamAssembler:
    """Puts a reply together from chat completion chunks; `[DONE]` closes, a finish reason completes."""

    __slots__ = ("_draft", "is_done")

    def __init__(self, request: EncodedRequest) -> None:
        self._draft = ReplyDraft(request, is_stream=True)
        self.is_done = False

    @property
    def is_complete(self) -> bool:
        """A finish reason has come; or `[DONE]` without one behind text, but never behind calls."""
        draft = self._draft
        return bool(draft.finish_reason) or (self.is_done and bool(draft.text.parts) and not draft.calls)

    @property
    def shown(self) -> str:
        """The text that went out as deltas so far."""
        return self._draft.text.text

    def feed(self, event: ServerEvent) -> Sequence[Delta]:
        """Take one event in; the fragments to show.

        Raises:
            ModelError: The event reports an error, or is not understood.

        """
        name, data = event
        if data == b"[DONE]":
            self.is_done = True
            return ()
        draft = self._draft
        try:
            chunk = loads_part(data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            raise not_understood(_endpoint(draft), "the stream holds an event that is not a JSON object", data)
        if chunk.get("error") or name == b"error":
            raise reported(_endpoint(draft), chunk)
        if usage := chunk.get("usage"):
            draft.take_usage(usage)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index"):
            return ()  # we ask for one choice
        if reason := choice.get("finish_reason"):
            draft.finish_reason = as_text(reason)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return ()
        if calls := delta.get("tool_calls"):
            draft.add_calls(as_list(calls))
        return draft.add_text(delta)

    def finish(self) -> Reply:
        """The finished reply.

        Raises:
            ModelError: The stream ended before its proper end.

        """
        if not self.is_complete:
            raise cut_short(_endpoint(self._draft), self.shown)
        if not self._draft.finish_reason:
            self._draft.finish_reason = "stop"
        return self._draft.reply()


def _endpoint(draft: ReplyDraft) -> Endpoint:
    return draft.request.endpoint


def _lost_its_signature(detail: JsonObject) -> bool:
    """Whether this is a thought of a provider that refuses it without its signature, and none came."""
    is_signed = as_text(detail.get("format")).startswith("anthropic") and detail.get("type") == "reasoning.text"
    return is_signed and not detail.get("signature")


def _usage(usage: JsonObject) -> Usage:
    prompt_details = as_object(usage.get("prompt_tokens_details"))
    output_details = as_object(usage.get("completion_tokens_details"))
    cached = as_count(prompt_details.get("cached_tokens"))
    return Usage(
        input_tokens=as_count(usage.get("prompt_tokens")),
        output_tokens=as_count(usage.get("completion_tokens")),
        cached_tokens=as_count(usage.get("prompt_cache_hit_tokens")) if cached is None else cached,
        cache_write_tokens=as_count(prompt_details.get("cache_write_tokens")),
        reasoning_tokens=as_count(output_details.get("reasoning_tokens")),
    )
