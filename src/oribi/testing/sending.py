"""Sending one exact answer down a connection: whole, write by write, late, cut, or not at all."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, assert_never

from oribi.core.calls import Json, JsonObject
from oribi.testing.reading import object_of
from oribi.testing.said import json_text
from oribi.testing.wire import WIRES
from oribi.testing.wire_reply import Cut, JsonBody, Refuse, Silence, Stream, TextBody, WireReply

if TYPE_CHECKING:
    from oribi.testing.fake_http import Connection
    from oribi.testing.model_request import ModelRequest


async def send_reply(connection: Connection, request: ModelRequest, reply: WireReply) -> list[Json]:
    """Send `reply`; returns the content that the client has to send back unchanged, if any.

    Raises:
        ClientLeftError: The client left before it was complete.

    """
    if reply.delay_seconds:
        await connection.pause(reply.delay_seconds)
    sent: list[JsonObject] = []
    match reply.content:
        case JsonBody() as body:
            sent = await _send_json(connection, request, reply, body)
        case TextBody(text=text):
            headers = {"content-type": "text/plain; charset=utf-8"} | dict(reply.headers)
            await connection.send(reply.status, headers, text.encode("utf-8", "surrogatepass"))
        case Stream() as stream:
            sent = await _send_stream(connection, reply, stream)
        case Silence():
            await connection.pause(None)
        case Cut() | Refuse():
            connection.reset()
        case _:
            assert_never(reply.content)
    return WIRES[request.dialect].content(sent)


async def _send_json(
    connection: Connection, request: ModelRequest, reply: WireReply, body: JsonBody
) -> list[JsonObject]:
    """Send a plain body, or the same as a stream if that was asked for; what a client must remember of it."""
    wire = WIRES[request.dialect]
    events = None
    if reply.status == 200 and request.streamed and not body.as_is and isinstance(body.value, dict):
        events = wire.events(body.value, request.json)
    if events is None:
        text = body.raw if body.raw is not None else json_text(body.value)
        headers = {"content-type": "application/json"} | dict(reply.headers)
        await connection.send(reply.status, headers, text.encode("utf-8", "surrogatepass"))
    else:
        await connection.begin(reply.status, {"content-type": "text/event-stream"} | dict(reply.headers))
        for event in events:
            await connection.write(event.encoded(ascii_only=body.raw is not None))
        await connection.end()
    return [object_of(body.value)] if reply.status == 200 else []


async def _send_stream(connection: Connection, reply: WireReply, stream: Stream) -> list[JsonObject]:
    """Send the writes as they are; what a client must remember of a stream that ended properly."""
    await connection.begin(reply.status, {"content-type": "text/event-stream"} | dict(reply.headers))
    for item in stream.writes:
        if isinstance(item, bytes):
            await connection.write(item)
        else:
            await connection.pause(item)
    match stream.close:
        case "clean":
            await connection.end()
        case "abort":
            connection.reset()
            return []
        case "hang":
            await connection.pause(None)
    return _data_of(b"".join(item for item in stream.writes if isinstance(item, bytes)))


def _data_of(events: bytes) -> list[JsonObject]:
    """The JSON objects in the data lines of a stream; lines that hold none are left out."""
    found: list[JsonObject] = []
    for line in events.decode("utf-8", "replace").splitlines():
        with contextlib.suppress(ValueError):
            parsed: Json = json.loads(line.removeprefix("data:")) if line.startswith("data:") else None
            found.append(object_of(parsed))
    return found
