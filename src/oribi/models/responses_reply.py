"""Replies on the OpenAI Responses wire, plain or streamed: output items, kept exactly if we cannot render them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import orjson

from oribi.core.calls import Json, JsonObject
from oribi.core.messages import Reply, StopReason, Usage
from oribi.models.arguments import parse_arguments
from oribi.models.endpoints import Endpoint
from oribi.models.faults import cut_short, not_understood, reported
from oribi.models.jsontext import as_count, as_list, as_object, as_text, clean, clean_tree, dumps, loads_part
from oribi.models.replies import FoundCall, Shown, tool_calls
from oribi.models.request import EncodedRequest
from oribi.models.sse import ServerEvent
from oribi.ports import Delta, ReasoningDelta, TextDelta

INCOMPLETE: Final[dict[str, StopReason]] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}

PLAIN_CALL: Final = frozenset({"type", "id", "status", "call_id", "name", "arguments"})
PLAIN_MESSAGE: Final = frozenset({"type", "id", "status", "role", "content"})
PLAIN_TEXT: Final = frozenset({"type", "text", "annotations", "logprobs"})

BETWEEN: Final = "\n\n"
"""What stands between the texts of two messages in one reply."""


def reply_of(items: list[JsonObject], answer: JsonObject, request: EncodedRequest) -> Reply:
    """The reply made of whole output items; `answer` tells how it ended and what it cost."""
    found: list[FoundCall] = []
    texts: list[str] = []
    refusals: list[str] = []
    reasoning: list[str] = []
    for item in items:
        match item.get("type"):
            case "message":
                parts = [as_object(part) for part in as_list(item.get("content"))]
                texts.append("".join(as_text(part.get("text")) for part in parts))
                refusals += [refusal for part in parts if (refusal := as_text(part.get("refusal")))]
            case "reasoning":
                reasoning += _thoughts(item)
            case "function_call":
                arguments = parse_arguments(item.get("arguments"))
                item["arguments"] = _resent(item.get("arguments"), arguments if isinstance(arguments, dict) else {})
                found.append(
                    FoundCall(id=as_text(item.get("call_id")), name=as_text(item.get("name")), arguments=arguments)
                )
            case _:
                pass
    text = BETWEEN.join(part for part in texts if part)
    stop = _stop(answer, calls=bool(found))
    if refusals and not text:
        text, stop = BETWEEN.join(refusals), "content_filter"
    return Reply(
        text=clean(text),
        calls=tool_calls(found, stop, request),
        stop=stop,
        usage=_usage(as_object(answer.get("usage"))),
        model=request.choice.ref,
        wire="openai-responses",
        reasoning=clean(BETWEEN.join(part for part in reasoning if part)),
        raw=_raw(items),
    )


class ItemDraft:
    """An output item whose fragments are still coming; `item` is whole once `is_whole`."""

    __slots__ = ("is_whole", "item", "parts")

    def __init__(self) -> None:
        self.item: JsonObject = {}
        self.is_whole = False
        self.parts: dict[tuple[str, int], list[str]] = {}

    def add(self, kind: str, index: Json, text: str) -> bool:
        """Add a fragment to the part of `kind` at `index`; whether that is a new part."""
        key = (kind, index if isinstance(index, int) else 0)
        part = self.parts.get(key)
        if part is None:
            self.parts[key] = [text]
            return True
        part.append(text)
        return False

    def whole(self) -> JsonObject:
        """The item, put together from fragments if the server never sent it whole."""
        if self.is_whole or not self.parts:
            return self.item
        texts = {key: "".join(pieces) for key, pieces in sorted(self.parts.items())}
        match self.item.get("type"):
            case "function_call":
                return {**self.item, "arguments": "".join(texts.values())}
            case "reasoning":
                return {
                    **self.item,
                    "summary": [
                        {"type": kind, "text": text} for (kind, _), text in texts.items() if kind == "summary_text"
                    ],
                    "content": [
                        {"type": kind, "text": text} for (kind, _), text in texts.items() if kind == "reasoning_text"
                    ],
                }
            case _:
                content: list[Json] = []
                for (kind, _), text in texts.items():
                    content.append(
                        {"type": "refusal", "refusal": text}
                        if kind == "refusal"
                        else {"type": "output_text", "text": text, "annotations": []}
                    )
                return {**self.item, "type": "message", "role": "assistant", "content": content}


class StreamAssembler:
    """Puts a reply together from response events; `response.completed` or `response.incomplete` finishes it."""

    __slots__ = ("_answer", "_drafts", "_request", "_shown", "_speaker", "_thought", "is_done")

    def __init__(self, request: EncodedRequest) -> None:
        self._request = request
        self._drafts: dict[int, ItemDraft] = {}
        self._shown = Shown()
        self._thought = Shown()
        self._speaker: ItemDraft | None = None
        self._answer: JsonObject | None = None
        self.is_done = False

    @property
    def is_complete(self) -> bool:
        """The event has come that ends the response, which also says how."""
        return self._answer is not None

    @property
    def shown(self) -> str:
        """The text that went out as deltas so far."""
        return self._shown.text

    def feed(self, event: ServerEvent) -> Sequence[Delta]:
        """Take one event in; the fragments to show.

        Raises:
            ModelError: The event reports an error, or is not understood.

        """
        if event.data == b"[DONE]":
            self.is_done = True
            return ()
        try:
            data = loads_part(event.data)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise not_understood(self._endpoint, "the stream holds an event that is not a JSON object", event.data)
        kind = as_text(data.get("type"))
        if isinstance(text := data.get("delta"), str):
            return self._add(kind, self._draft(data), text, data) if text else ()
        match kind:
            case "response.output_item.added":
                self._draft(data).item = as_object(data.get("item"))
            case "response.output_item.done":
                draft = self._draft(data)
                draft.item, draft.is_whole = as_object(data.get("item")), True
            case "response.completed" | "response.incomplete":
                self._answer = as_object(data.get("response"))
                self.is_done = True
            case "response.failed":
                raise reported(self._endpoint, as_object(data.get("response")))
            case _:
                if kind == "error" or event.name == b"error" or data.get("error"):
                    raise reported(self._endpoint, data)
        return ()

    def finish(self) -> Reply:
        """The finished reply.

        Raises:
            ModelError: The stream ended before its proper end.

        """
        if self._answer is None:
            raise cut_short(self._endpoint, self.shown)
        items = {
            index: as_object(item)
            for index, item in enumerate(as_list(self._answer.get("output")))
            if index not in self._drafts or not self._drafts[index].is_whole
        }
        for index, draft in self._drafts.items():
            items.setdefault(index, draft.whole())
        return reply_of([dict(item) for _, item in sorted(items.items())], self._answer, self._request)

    @property
    def _endpoint(self) -> Endpoint:
        return self._request.endpoint

    def _draft(self, data: JsonObject) -> ItemDraft:
        index = data.get("output_index")
        if not isinstance(index, int):
            index = max(self._drafts, default=0)
        draft = self._drafts.get(index)
        if draft is None:
            draft = self._drafts[index] = ItemDraft()
        return draft

    def _add(self, kind: str, draft: ItemDraft, text: str, data: JsonObject) -> Sequence[Delta]:
        """Take in a fragment of an item."""
        match kind:
            case "response.output_text.delta":
                draft.add("output_text", data.get("content_index"), text)
                if self._speaker is not draft:
                    text = text if self._speaker is None else BETWEEN + text
                    self._speaker = draft
                part = self._shown.add(text)
                return (TextDelta(text=part),) if part else ()
            case "response.reasoning_summary_text.delta":
                is_new = draft.add("summary_text", data.get("summary_index"), text)
                return self._think(text, is_new=is_new)
            case "response.reasoning_text.delta":
                is_new = draft.add("reasoning_text", data.get("content_index"), text)
                return self._think(text, is_new=is_new)
            case "response.function_call_arguments.delta":
                draft.add("arguments", 0, text)
            case "response.refusal.delta":
                draft.add("refusal", data.get("content_index"), text)
            case _:
                pass
        return ()

    def _think(self, text: str, *, is_new: bool) -> Sequence[Delta]:
        part = self._thought.add(BETWEEN + text if is_new and self._thought.parts else text)
        return (ReasoningDelta(text=part),) if part else ()


def _thoughts(item: JsonObject) -> list[str]:
    """The readable parts of a reasoning item: its summary, else its text."""
    for key in ("summary", "content"):
        if texts := [text for part in as_list(item.get(key)) if (text := as_text(as_object(part).get("text")))]:
            return texts
    return []


def _resent(given: Json, arguments: JsonObject) -> str:
    """The arguments of a call as text that every server accepts: as they came, if they are an object."""
    if isinstance(given, str):
        with suppress(ValueError):
            if isinstance(orjson.loads(given), dict):
                return given
    return dumps(arguments).decode()


def _stop(answer: JsonObject, *, calls: bool) -> StopReason:
    match answer.get("status"):
        case "completed" | None:
            return "tool_calls" if calls else "stop"
        case "incomplete":
            return INCOMPLETE.get(as_text(as_object(answer.get("incomplete_details")).get("reason")), "other")
        case _:
            return "other"


def _raw(items: list[JsonObject]) -> Json:
    """The items as received, if one of them is more than our parts can render.

    Reasoning goes back only if it is there, encrypted or in full: of other reasoning the provider holds nothing, since
    nothing is stored, and it refuses the id. It also refuses reasoning that nothing follows. Where some is left out,
    so are the ids of what it led to, for the provider would ask for it.
    """
    kept = [item for item in items if item.get("type") != "reasoning" or _is_there(item)]
    while kept and kept[-1].get("type") == "reasoning":
        kept.pop()
    if len(kept) < len(items):
        kept = [item if _is_there(item) else {k: v for k, v in item.items() if k != "id"} for item in kept]
    calls = kept[1:] if kept and kept[0].get("type") == "message" else kept
    if all(map(_is_plain, kept)) and all(item.get("type") == "function_call" for item in calls):
        return None
    return clean_tree([*kept])


def _is_there(item: JsonObject) -> bool:
    return item.get("type") == "reasoning" and bool(item.get("encrypted_content") or item.get("content"))


def _is_plain(item: JsonObject) -> bool:
    given = {key for key, value in item.items() if value is not None}
    match item.get("type"):
        case "message":
            parts = [as_object(part) for part in as_list(item.get("content"))]
            return given <= PLAIN_MESSAGE and all(
                part.get("type") == "output_text"
                and part.keys() <= PLAIN_TEXT
                and not part.get("annotations")
                and not part.get("logprobs")
                for part in parts
            )
        case "function_call":
            return given <= PLAIN_CALL
        case _:
            return False


def _usage(usage: JsonObject) -> Usage:
    input_details = as_object(usage.get("input_tokens_details"))
    return Usage(
        input_tokens=as_count(usage.get("input_tokens")),
        output_tokens=as_count(usage.get("output_tokens")),
        cached_tokens=as_count(input_details.get("cached_tokens")),
        cache_write_tokens=as_count(input_details.get("cache_write_tokens")),
        reasoning_tokens=as_count(as_object(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
