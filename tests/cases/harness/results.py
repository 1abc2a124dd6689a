"""Calls and their results as a request holds them, in each provider's form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.cases.harness.case import objects
from tests.cases.harness.paths import text_of

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of an assistant message; `at` is the message's place in the request."""

    at: int
    id: str
    name: str


def calls_of(body: JsonDict, dialect: str, at: int) -> list[Call]:
    """The calls of the message at `at`, in order; none if it is no assistant message."""
    match dialect:
        case "openai":
            message = body["messages"][at]
            calls = objects(message.get("tool_calls")) if message.get("role") == "assistant" else []
            return [Call(at=at, id=call["id"], name=call["function"]["name"]) for call in calls]
        case "gemini":
            content = body["contents"][at]
            parts = objects(content["parts"]) if content.get("role") == "model" else []
            found = [part["functionCall"] for part in parts if "functionCall" in part]
            return [Call(at=at, id=call.get("id", ""), name=call["name"]) for call in found]
        case _:
            message = body["messages"][at]
            blocks = objects(message["content"]) if message.get("role") == "assistant" else []
            return [
                Call(at=at, id=block["id"], name=block["name"]) for block in blocks if block.get("type") == "tool_use"
            ]


def last_calls(body: JsonDict, dialect: str) -> list[Call]:
    """The calls of the last assistant message that has any.

    Raises:
        LookupError: No message has calls.

    """
    messages = body["contents"] if dialect == "gemini" else body["messages"]
    for at in reversed(range(len(messages))):
        if calls := calls_of(body, dialect, at):
            return calls
    raise LookupError("no message of the request holds a call")


def results_of(body: JsonDict, dialect: str, calls: list[Call]) -> list[str]:
    """The result texts of `calls`, in their order.

    Raises:
        LookupError: A call has no result.

    """
    at = calls[0].at
    if dialect == "gemini":
        parts = objects(body["contents"][at + 1]["parts"]) if at + 1 < len(body["contents"]) else []
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if len(responses) < len(calls):
            raise LookupError(f"{len(calls)} calls have {len(responses)} results")
        return [_gemini_text(response["response"]) for response in responses]
    found: dict[str, str] = {}
    for message in body["messages"][at + 1 :]:
        if message.get("role") == "tool":
            found.setdefault(message["tool_call_id"], text_of(message.get("content")))
        else:
            for block in objects(message.get("content")):
                if block.get("type") == "tool_result":
                    found.setdefault(block["tool_use_id"], text_of(block.get("content")))
    missing = [call.id for call in calls if call.id not in found]
    if missing:
        raise LookupError(f"no result for the calls {missing!r}")
    return [found[call.id] for call in calls]


def _gemini_text(response: JsonDict) -> str:
    texts = [value for value in response.values() if isinstance(value, str)]
    return "\n".join(texts) if texts else json.dumps(response, ensure_ascii=False)
