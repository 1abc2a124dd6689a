"""`json_extract`: one value out of a JSON file or text, by JSON Pointer or dotted path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

import anyio.to_thread
import orjson

from oribi.core.calls import Failed, Json, Succeeded, ToolResult
from oribi.ports import Invocation
from oribi.tools.builtin import PATH, make_builtin
from oribi.tools.file_errors import FileError
from oribi.tools.jail import Jails
from oribi.tools.text import one_line
from oribi.tools.tool import Reads, Tool

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)|(\.)")
_MOST_KEYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    at: str
    path: str | None = None
    text: str | None = None


def json_extract_tool(jails: Jails) -> Tool:
    """The tool `json_extract`."""

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        if (arguments.path is None) == (arguments.text is None):
            return Failed(text="give either path (a JSON file) or text (JSON), not both and not neither")
        if arguments.path is None:
            return Succeeded(text=extract((arguments.text or "").encode(), arguments.at))
        read = partial(jails(invocation.agent).read, arguments.path)
        content = await anyio.to_thread.run_sync(read)
        return Succeeded(text=await anyio.to_thread.run_sync(extract, content, arguments.at))

    return make_builtin(
        "json_extract",
        "Take one value out of JSON. `at` is a JSON Pointer ('/items/0/name') or a dotted path ('items[0].name'); an "
        "empty `at` is the whole document. Texts come as they are, everything else as JSON.",
        arguments=_Arguments,
        properties={
            "at": {"type": "string", "description": "Where the value is."},
            "path": {**PATH, "description": "JSON file, relative to the project folder."},
            "text": {"type": "string", "description": "JSON text, instead of a file."},
        },
        run=run,
        effects=lambda arguments: (Reads(path=arguments.path),) if arguments.path is not None else (),
        for_reasoning=True,
    )


def extract(content: bytes, at: str) -> str:
    """The value at `at` in the JSON `content`: a text as it is, anything else as JSON.

    Raises:
        FileError: It is no JSON, or has nothing there; the text says what there is.

    """
    try:
        value: Json = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise FileError(f"this is not JSON: {one_line(str(error))}") from error
    passed = ""
    for step in _steps(at):
        value = _enter(value, step, passed or "the top")
        passed += f"/{step}"
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _steps(at: str) -> list[str]:
    if not at or at.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]
    steps: list[str] = []
    position = 0
    while position < len(at):
        step = _STEP.match(at, position)
        if step is None:
            raise FileError(f"{at!r} cannot be read at character {position + 1}; write it as '/items/0/name'")
        position = step.end()
        if step[3] is None:
            steps.append(step[1] or step[2])
    return steps


def _enter(value: Json, step: str, where: str) -> Json:
    match value:
        case dict():
            if step in value:
                return value[step]
            keys = ", ".join(repr(key) for key in list(value)[:_MOST_KEYS])
            more = f" and {len(value) - _MOST_KEYS:,} more" if len(value) > _MOST_KEYS else ""
            raise FileError(f"no key {step!r} at {where}; there is: {one_line(keys)}{more}")
        case list():
            if step.isascii() and step.isdigit() and int(step[:18]) < len(value):
                return value[int(step)]
            raise FileError(f"no element {step!r} at {where}; the list has {len(value):,}, counted from 0")
        case _:
            kind = "null" if value is None else type(value).__name__
            raise FileError(f"{where} is no object or list but a {kind}, so it has no {step!r}")
