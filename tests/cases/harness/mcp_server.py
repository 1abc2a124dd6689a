"""An MCP fixture server on stdio, which can misbehave in every way that a case asks for.

`mcp_server.py SETTINGS MARK`: SETTINGS is a JSON file with the server's entry of the case and the path of the log,
MARK a word by which its process can be found. It speaks plain JSON-RPC by lines, without any library, so that it can
break each rule of the protocol.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

SERVER_REQUEST_SECONDS = 5.0
GARBAGE = '{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "te'


class Server:
    """One server; `given` is its entry in the case."""

    def __init__(self, given: dict[str, Any], log: str) -> None:
        self.given = given
        self.log = log
        self.tools = _tools(given)
        self.calls = 0
        self.answers: dict[str, Any] = {}
        self.answered = threading.Condition()
        self.writing = threading.Lock()
        self.running: list[threading.Thread] = []

    def say(self, message: object) -> None:
        """One line on stdout; text goes out as it is."""
        line = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        with self.writing:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def make_noise(self) -> None:
        """The plain lines that stand before and between messages."""
        for line in self.given.get("stdout_noise", []):
            self.say(line)

    def note(self, **entry: object) -> None:
        """One line in the fixture log, in one write."""
        line = json.dumps(entry | {"server": self.given["name"], "at": time.time(), "pid": os.getpid()}) + "\n"
        file = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, line.encode())
        os.close(file)

    def take(self, message: dict[str, Any]) -> None:
        """Handle one message of the client."""
        if "method" not in message:
            with self.answered:
                self.answers[str(message.get("id"))] = message
                self.answered.notify_all()
            return
        if "id" not in message:
            return
        if self.given.get("hang") == message["method"]:
            return
        self.make_noise()
        match message["method"]:
            case "initialize":
                self.initialize(message)
            case "ping":
                self.reply(message, {})
            case "tools/list":
                self.list_tools(message)
            case "tools/call":
                self.running.append(threading.Thread(target=self.call_tool, args=(message,), daemon=True))
                self.running[-1].start()
            case other:
                self.fail(message, -32601, f"no method {other!r}")

    def initialize(self, message: dict[str, Any]) -> None:
        """The handshake."""
        time.sleep(self.given.get("init_delay_ms", 0) / 1000)
        result: dict[str, Any] = {
            "protocolVersion": message["params"].get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": self.given["name"], "version": "1.0"},
        }
        if "instructions" in self.given:
            result["instructions"] = self.given["instructions"]
        self.reply(message, result)

    def list_tools(self, message: dict[str, Any]) -> None:
        """One page of the list."""
        size = self.given.get("page_size") or len(self.tools) or 1
        parameters: dict[str, Any] = message.get("params") or {}
        start = int(parameters.get("cursor") or 0)
        result: dict[str, Any] = {"tools": self.tools[start : start + size]}
        if self.given.get("cursor") == "stuck":
            result["nextCursor"] = "0"
        elif start + size < len(self.tools):
            result["nextCursor"] = str(start + size)
        self.reply(message, result)

    def call_tool(self, message: dict[str, Any]) -> None:
        """Run one tool, well or badly."""
        name: str = message["params"]["name"]
        arguments: dict[str, Any] = message["params"].get("arguments") or {}
        self.note(tool=name, event="start", args=arguments)
        self.calls += 1
        sys.stderr.write("e" * self.given.get("stderr_bytes_per_call", 0))
        sys.stderr.flush()
        for request in self.given.get("server_requests", []):
            self.ask_client(request)
        if "on_call" in self.given:
            self.change_list(self.given["on_call"])
        self.answer(message, name, arguments)
        self.note(tool=name, event="end")

    def answer(self, message: dict[str, Any], name: str, arguments: dict[str, Any]) -> None:
        """What the tool of this name gives back."""
        for extra in self.given.get("extra_messages", []):
            self.say(extra)
        result: dict[str, Any] | None = self.given.get("results", {}).get(name)
        if result is not None and "$rpc_error" in result:
            self.say({"jsonrpc": "2.0", "id": message["id"], "error": result["$rpc_error"]})
        elif result is not None and "$die" in result:
            os._exit(1)
        elif result is not None:
            self.reply(message, result)
        elif self.given.get("returns_own_name"):
            self.text(message, f"{self.given['name']}.{name}")
        else:
            self.by_name(message, name, arguments)

    def by_name(self, message: dict[str, Any], name: str, arguments: dict[str, Any]) -> None:
        """The tools that every server knows."""
        match name:
            case "die":
                os._exit(1)
            case "hang":
                return
            case "garble":
                self.say(GARBAGE)
            case "ping":
                self.text(message, "pong")
            case "env":
                self.text(message, "\n".join(f"{key}={value}" for key, value in os.environ.items()))
            case "good":
                self.text(message, str(arguments.get("text", "")))
            case _:
                self.text(message, json.dumps(arguments, ensure_ascii=False))

    def change_list(self, change: Any) -> None:
        """Change the list of tools, and say so."""
        for name in change.get("remove", []):
            self.tools = [tool for tool in self.tools if tool["name"] != name]
        self.tools += [_tool(name, {}) for name in change.get("add", [])]
        if "tools" in change:
            self.tools = [_tool(name, {}) for name in change["tools"]]
        self.say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    def ask_client(self, request: dict[str, Any]) -> None:
        """A request of the server's own; its answer is awaited for a while and noted."""
        number = f"server-{self.calls}-{len(self.answers)}"
        self.say({"jsonrpc": "2.0", "id": number} | request)
        with self.answered:
            self.answered.wait_for(lambda: number in self.answers, SERVER_REQUEST_SECONDS)
        self.note(tool=request.get("method"), event="client-answer", args=self.answers.get(number))

    def text(self, message: dict[str, Any], text: str) -> None:
        """A result that holds one text."""
        self.reply(message, {"content": [{"type": "text", "text": text}], "isError": False})

    def reply(self, message: dict[str, Any], result: Any) -> None:
        """The answer to a request."""
        self.say({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def fail(self, message: dict[str, Any], code: int, text: str) -> None:
        """An error for a request."""
        self.say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}})

    def last_words(self) -> None:
        """What is said when the server is stopped; a call that has just been answered is noted before."""
        for call in self.running:
            call.join(0.2)
        if "stdout_noise_on_stop" in self.given:
            self.say(self.given["stdout_noise_on_stop"])


def _tools(given: dict[str, Any]) -> list[dict[str, Any]]:
    descriptions: dict[str, str] = given.get("descriptions", {})
    names: list[str] = list(given.get("tools", []))
    generated = given.get("tools_generate")
    if generated:
        names += [f"{generated['prefix']}{number}" for number in range(generated["count"])]
    tools = [_tool(name, descriptions) for name in names]
    for name, schema in given.get("tool_schemas", {}).items():
        tools.append(
            {"name": name, "description": descriptions.get(name, f"fixture tool {name}"), "inputSchema": schema}
        )
    return tools


def _tool(name: str, descriptions: dict[str, str]) -> dict[str, Any]:
    properties = {"text": {"type": "string"}} if name in ("echo", "good") else {}
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": descriptions.get(name, f"fixture tool {name}"), "inputSchema": schema}


def main() -> None:
    """Serve until stdin ends, or longer if the case says so."""
    settings = json.loads(Path(sys.argv[1]).read_text())
    server = Server(settings["server"], settings["log"])

    def stop(number: int, frame: object) -> None:
        server.last_words()
        os._exit(0)

    if "stdout_noise_on_stop" in server.given:
        signal.signal(signal.SIGTERM, stop)
    server.make_noise()
    for line in sys.stdin:
        if line.strip():
            server.take(json.loads(line))
    server.last_words()
    while server.given.get("ignores_stdin_eof"):
        time.sleep(60)


if __name__ == "__main__":
    main()
