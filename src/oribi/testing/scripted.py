"""A model that answers from a script, as the `Model` port: no network, no chance, the same again after a restart."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oribi.core.calls import Json, JsonObject, Malformed, told
from oribi.core.errors import ConfigError, ModelError
from oribi.core.messages import Message, Reply, ToolMessage, UserMessage
from oribi.ports import ReasoningDelta, TextDelta
from oribi.testing.reading import pieces
from oribi.testing.script import Script, ScriptedReply, render, situation_of
from oribi.testing.script_reader import ScriptSource, load_script, read_script

if TYPE_CHECKING:
    from pathlib import Path

    from oribi.core.prompt import Prompt
    from oribi.ports import Listen, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest:
    """A prompt as canonical JSON: the same prompt gives the same bytes. `encoded` are its messages, one by one."""

    body: bytes
    sha256: str
    prompt: Prompt
    encoded: tuple[bytes, ...]


class ScriptedModel:
    """The `Model` port over a script: a function of the prompt, a list of replies, or a script's mapping form.

    Replies in a list go by position in the history, not by a counter (see `oribi.testing.script`). A prompt that the
    script does not expect is a `ModelError` of kind `bad_request`; `check_used` complains about replies nobody asked
    for. `prompts` notes every prompt asked. The text is streamed in small pieces.

    Raises:
        ConfigError: The script has a mistake, or a reply that only a fake server can send.

    """

    def __init__(self, source: ScriptSource | Callable[[Prompt], Reply]) -> None:
        self._function = source if callable(source) else None
        self._script = Script() if callable(source) else read_script(source)
        self.prompts: list[Prompt] = []
        self._used: set[int] = set()
        self._asks: Counter[str] = Counter()
        _refuse_wire_replies(self._script)

    @classmethod
    def from_file(cls, path: Path) -> ScriptedModel:
        """The model for the script in a YAML or JSON file; the form is described in `oribi.testing.script_reader`.

        Raises:
            ConfigError: The file cannot be read or is not such a script.

        """
        return cls(load_script(path))

    def build_request(self, prompt: Prompt, previous: Request | None) -> ScriptedRequest:
        encoded = _reused(prompt, previous)
        encoded += [_encode(_message(message)) for message in prompt.messages[len(encoded) :]]
        rest = _encode(
            {
                "model": prompt.model.ref,
                "parameters": prompt.model.parameters,
                "system": prompt.system,
                "tools": [
                    {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                    for tool in prompt.tools
                ],
            }
        )
        body = b'{"messages":[' + b",".join(encoded) + b"]," + rest[1:]
        return ScriptedRequest(
            body=body, sha256=hashlib.sha256(body).hexdigest(), prompt=prompt, encoded=tuple(encoded)
        )

    async def reply(self, request: Request, listen: Listen) -> Reply:
        if not isinstance(request, ScriptedRequest):
            raise TypeError(f"ScriptedModel got a {type(request).__name__}; send it what its build_request made")
        self.prompts.append(request.prompt)
        reply = await self._answer(request)
        for piece in pieces(reply.reasoning):
            listen(ReasoningDelta(text=piece))
        for piece in pieces(reply.text):
            listen(TextDelta(text=piece))
        choice = request.prompt.model
        return replace(reply, model=reply.model or choice.name, wire=reply.wire or choice.wire)

    def unused(self) -> list[str]:
        """The replies of the list that no prompt has asked for, by number and beginning. Rules are not counted."""
        return self._script.unused(self._used)

    def check_used(self) -> None:
        """Fail if a reply was never asked for.

        Raises:
            AssertionError: Names those replies.

        """
        if unused := self.unused():
            raise AssertionError(f"the model was never asked for {len(unused)} of its replies: {', '.join(unused)}")

    async def _answer(self, request: ScriptedRequest) -> Reply:
        import anyio

        if self._function is not None:
            return self._function(request.prompt)
        situation = situation_of(request.prompt)
        chosen = self._script.choose(situation)
        if chosen is None:
            raise ModelError("bad_request", self._script.why_none(situation))
        if chosen.index is not None:
            self._used.add(chosen.index)
        if isinstance(chosen.reply, Reply):
            return chosen.reply
        assert isinstance(chosen.reply, ScriptedReply), "wire replies are refused when the script is read"
        if chosen.reply.delay_seconds:
            await anyio.sleep(chosen.reply.delay_seconds)
        fails = chosen.reply.fails
        self._asks[request.sha256] += 1
        if fails is not None and (fails.times is None or self._asks[request.sha256] <= fails.times):
            raise ModelError(fails.kind, fails.message, retry_after_seconds=fails.retry_after_seconds)
        return render(chosen.reply, situation, chosen.groups, prompt_bytes=len(request.body))


def _refuse_wire_replies(script: Script) -> None:
    forms = [*script.replies, *(rule.reply for rule in script.rules), *([script.tail] if script.tail else [])]
    if script.order != "history" or not all(isinstance(form, Reply | ScriptedReply) for form in forms):
        raise ConfigError(
            "the script has replies for a wire (json, sse, status, close, order: requests), which a ScriptedModel "
            "does not have; serve it with FakeModelServer"
        )


def _reused(prompt: Prompt, previous: Request | None) -> list[bytes]:
    """The messages that the session's last request has encoded already: they never change, only their front drops."""
    if not isinstance(previous, ScriptedRequest):
        return []
    dropped = prompt.first - previous.prompt.first
    return list(previous.encoded[dropped:][: len(prompt.messages)]) if dropped >= 0 else []


def _encode(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _message(message: Message) -> JsonObject:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "text": text}
        case Reply():
            calls: list[Json] = [
                {
                    "id": call.id,
                    "name": call.name,
                    "arguments": call.arguments.text if isinstance(call.arguments, Malformed) else call.arguments,
                }
                for call in message.calls
            ]
            return {"role": "assistant", "text": message.text, "calls": calls}
        case ToolMessage():
            return {"role": "tool", "call_id": message.call_id, "name": message.name, "text": told(message.result)}
