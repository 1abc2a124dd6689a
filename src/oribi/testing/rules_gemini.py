"""The strict rules of the Gemini generateContent wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import is_base64, list_of, object_of, text_of
from oribi.testing.schemas import gemini_schema_problems

if TYPE_CHECKING:
    from collections.abc import Sequence


def broken_gemini_rules(request: JsonObject, sent: Sequence[list[Json]]) -> list[str]:
    """The rules that `request` breaks; `sent` are the parts of earlier replies, for their thought signatures."""
    contents = [object_of(content) for content in list_of(request.get("contents"))]
    if not contents:
        return ["contents: there are none"]
    return (
        _broken_order(contents)
        + _broken_signatures(contents, sent)
        + _broken_tools(request)
        + _broken_data(contents)
        + _broken_format(object_of(request.get("generationConfig")))
    )


def _broken_order(contents: list[JsonObject]) -> list[str]:
    broken: list[str] = []
    waiting: list[JsonObject] = []
    for index, content in enumerate(contents):
        calls, waiting = waiting, []
        parts = _parts(content)
        results = [object_of(part["functionResponse"]) for part in parts if "functionResponse" in part]
        if results and not calls:
            broken.append(f"orphan-result: contents[{index}] answers no call just before it")
        elif calls and len(results) != len(calls):
            broken.append(f"unanswered-call: contents[{index}] answers {len(results)} of {len(calls)} calls")
        elif [result.get("name") for result in results] != [call.get("name") for call in calls]:
            broken.append(f"result-order: the names in contents[{index}] are not those of the calls, in their order")
        elif any("id" in call and call["id"] != result.get("id") for call, result in zip(calls, results, strict=True)):
            broken.append(f"result-order: the ids in contents[{index}] are not those of the calls, in their order")
        if content.get("role") == "model":
            waiting = [object_of(part["functionCall"]) for part in parts if "functionCall" in part]
    if waiting:
        broken.append(f"unanswered-call: {len(waiting)} calls have no result at the end")
    return broken


def _broken_signatures(contents: list[JsonObject], sent: Sequence[list[Json]]) -> list[str]:
    """A thought signature comes back on the part it came with."""
    signed = [
        (_plain(part), part["thoughtSignature"])
        for parts in sent
        for part in (object_of(item) for item in parts)
        if "thoughtSignature" in part
    ]
    plain = [_plain(object_of(item)) for parts in sent for item in parts if "thoughtSignature" not in object_of(item)]
    broken: list[str] = []
    for index, content in enumerate(contents):
        if content.get("role") != "model":
            continue
        for part in _parts(content):
            known = [signature for original, signature in signed if original == _plain(part)]
            if "thoughtSignature" not in part and known and _plain(part) not in plain:
                broken.append(f"thought-signature: a part of contents[{index}] came with one and lost it")
            elif (
                "thoughtSignature" in part
                and (known or _plain(part) in plain)
                and part["thoughtSignature"] not in known
            ):
                broken.append(f"thought-signature: a part of contents[{index}] has one that did not come with it")
    return broken


def _broken_tools(request: JsonObject) -> list[str]:
    broken: list[str] = []
    for tool in list_of(request.get("tools")):
        for item in list_of(object_of(tool).get("functionDeclarations")):
            function = object_of(item)
            for key in ("parameters", "parametersJsonSchema"):
                name = text_of(function.get("name"))
                problems = gemini_schema_problems(function[key]) if key in function else []
                broken += [f"schema: function {name!r}: {problem}" for problem in problems]
    return broken


def _broken_data(contents: list[JsonObject]) -> list[str]:
    """Content that is sent inline has a type, and is base64."""
    return [
        f"input-part: contents[{index}] has inline data that is not base64 of a media type"
        for index, content in enumerate(contents)
        for part in _parts(content)
        if "inlineData" in part
        and not (
            "/" in text_of(object_of(part["inlineData"]).get("mimeType"))
            and is_base64(text_of(object_of(part["inlineData"]).get("data")))
        )
    ]


def _broken_format(config: JsonObject) -> list[str]:
    if "responseJsonSchema" not in config:
        return []
    problems = gemini_schema_problems(config["responseJsonSchema"])
    if config.get("responseMimeType") != "application/json":
        problems.append("responseMimeType is not application/json")
    return [f"schema: the response format: {problem}" for problem in problems]


def _parts(content: JsonObject) -> list[JsonObject]:
    return [object_of(part) for part in list_of(content.get("parts"))]


def _plain(part: JsonObject) -> JsonObject:
    return {key: value for key, value in part.items() if key != "thoughtSignature"}
