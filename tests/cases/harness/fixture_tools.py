"""The fixture tools, as a plug-in of the product. A copy of this file is what the product imports.

It stands beside `tools.json` (name, description, inputSchema and behaviour of each tool; log, ledger, timeout) and has
a tool for each name that an entry point asks for. Every call leaves two lines in the log, which the product never sees.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import anyio

from oribi import Invocation, Succeeded
from oribi.core.calls import JsonObject, ToolResult, ToolSpec
from oribi.tools.tool import Tool


def __getattr__(name: str) -> Tool:
    settings = json.loads(Path(__file__).with_name("tools.json").read_text())
    for number, given in enumerate(settings["tools"]):
        if name == f"tool_{number}":
            return _tool(given, settings)
    raise AttributeError(name)


def _tool(given: dict[str, Any], settings: dict[str, Any]) -> Tool:
    name: str = given["name"]
    spec = ToolSpec(
        name=name,
        description=given.get("description", ""),
        parameters=given.get("inputSchema", {"type": "object"}),
        timeout_seconds=settings["timeout_seconds"],
    )

    async def run(arguments: JsonObject, invocation: Invocation) -> ToolResult:
        note(settings, tool=name, event="start", args=arguments, key=invocation.key)
        try:
            text = await _behave(name, given.get("behaviour", {}), arguments, settings)
        finally:
            note(settings, tool=name, event="end", key=invocation.key)
        return Succeeded(text=text)

    return Tool(spec=spec, run=run)


async def _behave(name: str, behaviour: dict[str, Any], arguments: dict[str, Any], settings: dict[str, Any]) -> str:
    """What the tool does, in the order of the format; its text."""
    if behaviour.get("effect") == "ledger":
        append(settings["ledger"], tool=name, args=arguments)
        note(settings, tool=name, event="effect")
    if "sleep_arg" in behaviour:
        await anyio.sleep(arguments[behaviour["sleep_arg"]] / 1000)
    if "sleep_ms" in behaviour:
        await anyio.sleep(behaviour["sleep_ms"] / 1000)
    if behaviour.get("hang"):
        await anyio.sleep_forever()
    if "raise" in behaviour:
        raise RuntimeError(behaviour["raise"])
    if "return_repeat" in behaviour:
        return str(behaviour["return_repeat"]["text"]) * int(behaviour["return_repeat"]["times"])
    if "return_nest" in behaviour:
        nest = behaviour["return_nest"]
        times = int(nest["times"])
        return str(nest["open"]) * times + str(nest.get("core", "")) + str(nest["close"]) * times
    return _text(str(behaviour.get("return", "done")), arguments)


def _text(template: str, arguments: dict[str, Any]) -> str:
    if template == "echo_args":
        return json.dumps(arguments, ensure_ascii=False)
    if template == "sum":
        return str(arguments["a"] + arguments["b"])
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    if "${sum}" in template:
        values["sum"] = str(arguments["a"] + arguments["b"])
    for key, value in values.items():
        template = template.replace("${" + key + "}", value)
    return template


def note(settings: dict[str, Any], **entry: object) -> None:
    """One line in the log of calls."""
    append(settings["log"], **entry, at=time.time(), pid=os.getpid())


def append(path: str, **entry: object) -> None:
    """One line at the end of a file, in one write."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{json.dumps(entry)}\n".encode())
    os.close(file)
