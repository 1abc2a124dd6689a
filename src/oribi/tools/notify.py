"""`notify`: send a message to people over a channel that the operator configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, assert_never

import orjson

from oribi.core.calls import Failed, Json, JsonObject, Succeeded, ToolResult
from oribi.ports import Clock, Invocation
from oribi.tools.builtin import make_builtin
from oribi.tools.channels import Channel, LogChannel, WebhookChannel
from oribi.tools.jail import jail_for_one_file
from oribi.tools.text import clean, decode, one_line
from oribi.tools.tool import Tool

_TIMEOUT_SECONDS = 15.0
_ANSWER_BYTES = 2_000
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


Secret: TypeAlias = Callable[[str], str | None]
"""The value of an environment variable, None when it is not set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    channel: str
    message: str


def notify_tool(channels: Sequence[Channel], *, root: Path, clock: Clock, secret: Secret) -> Tool:
    """The tool `notify` for `channels`."""
    by_name = {channel.name: channel for channel in channels}
    names: list[Json] = [*by_name]

    async def run(arguments: _Arguments, invocation: Invocation) -> ToolResult:
        message = clean(arguments.message)
        at = datetime.fromtimestamp(clock.now() // 1_000_000, tz=UTC).isoformat()
        body: JsonObject = {
            "text": message,
            "channel": arguments.channel,
            "agent": invocation.agent,
            "session_id": invocation.session_id,
            "turn_id": invocation.turn_id,
            "at": at,
        }
        channel = by_name.get(arguments.channel)
        match channel:
            case None:
                has = ", ".join(by_name) or "none; the operator adds one under [notify] in oribi.toml"
                return Failed(text=f"no channel named {clean(arguments.channel)!r}; there is: {has}")
            case LogChannel():
                line = orjson.dumps({"key": clean(invocation.key), **body}) + b"\n"
                jail_for_one_file(root, channel.file).append(channel.file, line)
                return Succeeded(text=f"sent to {channel.name!r} (written to {channel.file!r})")
            case WebhookChannel():
                return await _post(channel, orjson.dumps(body), invocation.key, secret)
            case _:
                assert_never(channel)

    return make_builtin(
        "notify",
        "Send a message to people. The channels are: " + (", ".join(by_name) or "none") + ".",
        arguments=_Arguments,
        properties={
            "channel": {"enum": names, "description": "Where to send it."} if names else {"type": "string"},
            "message": {"type": "string", "minLength": 1, "maxLength": 20_000, "description": "What to say."},
        },
        run=run,
        effect="once",
        timeout_seconds=_TIMEOUT_SECONDS + 5,
    )


async def _post(channel: WebhookChannel, body: bytes, key: str, secret: Secret) -> ToolResult:
    import aiohttp

    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    for header, variable in channel.headers_env:
        value = secret(variable)
        if value is None:
            return Failed(
                text=f"channel {channel.name!r} needs the environment variable {variable!r}, which is not set"
            )
        headers[header] = value
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.post(channel.url, data=body, headers=headers, allow_redirects=False) as answer,
        ):
            text, _ = decode(await answer.content.read(_ANSWER_BYTES))
            status = answer.status
    except TimeoutError:
        silence = f"{channel.name!r} did not answer in {_TIMEOUT_SECONDS:g} seconds; the message may have arrived"
        return Failed(text=silence, retryable=True)
    except (aiohttp.ClientError, OSError) as error:
        return Failed(text=f"{channel.name!r} cannot be reached: {one_line(clean(str(error)))}", retryable=True)
    if 200 <= status < 300:  # noqa: PLR2004 - what HTTP calls success
        return Succeeded(text=f"sent to {channel.name!r} (HTTP {status})")
    return Failed(
        text=f"{channel.name!r} answered HTTP {status}: {one_line(clean(text), 200)}",
        retryable=status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR,
    )
