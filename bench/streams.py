"""What a stream costs. Usage: streams.py both|sdk WIRE PORT EVENTS; or: streams.py serve.

`both`: `bare` (aiohttp, events and fields split, orjson, the text taken out) and `ours` in turns; `sdk`: the official
one. Prints for each the CPU microseconds of an event and the CPU milliseconds of a call whose stream has one event.
"""

import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import orjson

CALLS, LONG = 12, 9
WORD = "word "
MODEL = "bench"
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse",
}


# --- the server -------------------------------------------------------------------------------------------------------


def event(data: dict[str, Any], *, named: bool = True) -> bytes:
    """One event as its provider writes it."""
    head = f"event: {data['type']}\n" if named else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def chat(count: int) -> Iterator[bytes]:
    """Chat completion chunks."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**base, "choices": [choice]}, named=False)

    yield chunk({"role": "assistant", "content": ""})
    yield from [chunk({"content": WORD})] * count
    yield chunk({}, "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": count, "total_tokens": count + 10}
    yield event({**base, "choices": [], "usage": usage}, named=False)
    yield b"data: [DONE]\n\n"


def responses(count: int) -> Iterator[bytes]:
    """Response events."""
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": count,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": count + 10,
    }
    part = {"type": "output_text", "text": WORD * count, "annotations": [], "logprobs": []}
    item: dict[str, Any] = {"id": "m", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    answer: dict[str, Any] = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": MODEL,
        "status": "completed",
        "output": [item],
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    place = {"item_id": "m", "output_index": 0, "content_index": 0, "sequence_number": 1}
    start = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield event({"type": "response.created", "response": start, "sequence_number": 0})
    yield event({"type": "response.output_item.added", **place, "item": {**item, "content": []}})
    yield event({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
    yield from [event({"type": "response.output_text.delta", **place, "delta": WORD, "logprobs": []})] * count
    yield event({"type": "response.output_item.done", **place, "item": item})
    yield event({"type": "response.completed", "response": answer, "sequence_number": 2})


def anthropic(count: int) -> Iterator[bytes]:
    """Message events."""
    message = {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None}
    usage = {"input_tokens": 10, "output_tokens": 1}
    yield event({"type": "message_start", "message": {**message, "stop_sequence": None, "usage": usage}})
    yield event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORD}}
    yield from [event(delta)] * count
    yield event({"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield event({"type": "message_delta", "delta": end, "usage": {"output_tokens": count}})
    yield event({"type": "message_stop"})


def gemini(count: int) -> Iterator[bytes]:
    """Content chunks."""

    def chunk(text: str, finish: str | None = None) -> bytes:
        candidate: dict[str, Any] = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        usage = {"promptTokenCount": 10, "candidatesTokenCount": count, "totalTokenCount": count + 10}
        data = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL, "responseId": "r"}
        return event(data, named=False)

    yield from [chunk(WORD)] * count
    yield chunk("", "STOP")


STREAMS: dict[str, Callable[[int], Iterator[bytes]]] = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": anthropic,
    "streamGenerateContent?alt=sse": gemini,
}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Requests of one connection: how many events is in the body, as the user's text."""
    ready: dict[tuple[str, int], list[bytes]] = {}
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ", 2)[1]
            length = int(head.lower().split("content-length:")[1].split("\r\n")[0])
            body = await reader.readexactly(length)
            count = int(body.split(b"events=")[1].split(b";")[0])
            stream = next(make for end, make in STREAMS.items() if path.endswith(end))
            events = ready.setdefault((path, count), list(stream(count)))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for one in events:
                writer.write(b"%x\r\n%b\r\n" % (len(one), one))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve() -> None:
    """Print the port and serve until killed."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# --- the readers: each gives a function that makes one call and returns its text --------------------------------------

Ask = Callable[[int], Awaitable[str]]


def text_of(data: dict[str, Any], wire: str) -> str:
    """The text in one event, with no more checks than the wire's own shape asks for."""
    match wire:
        case "openai-chat":
            return (data["choices"][0]["delta"].get("content") or "") if data["choices"] else ""
        case "openai-responses":
            return data["delta"] if data["type"] == "response.output_text.delta" else ""
        case "anthropic":
            return data["delta"]["text"] if data["type"] == "content_block_delta" else ""
        case _:
            return data["candidates"][0]["content"]["parts"][0]["text"]


async def bare(wire: str, port: int, run: Callable[[Ask], Awaitable[None]]) -> None:
    """The floor: aiohttp, and the least that finds the text."""
    import aiohttp

    async with aiohttp.ClientSession() as client:

        async def ask(count: int) -> str:
            body = json.dumps({"model": MODEL, "stream": True, "messages": [f"events={count};"]}).encode()
            parts: list[str] = []
            listen = parts.append
            rest = b""
            async with client.post(f"http://127.0.0.1:{port}{PATHS[wire]}", data=body) as response:
                while chunk := await response.content.readany():
                    *events, rest = (rest + chunk).split(b"\n\n")
                    for one in events:
                        data = b""
                        for field in one.split(b"\n"):
                            if field.startswith(b"data: "):
                                data += field[6:]
                        if data != b"[DONE]" and (text := text_of(orjson.loads(data), wire)):
                            listen(text)
            return "".join(parts)

        await run(ask)


async def ours(wire: str, port: int, run: Callable[[Ask], Awaitable[None]]) -> None:
    """Oribi's model port: request, stream, reply; every delta handed to a listener."""
    from oribi.core.messages import ModelChoice, UserMessage
    from oribi.core.prompt import Prompt
    from oribi.models.endpoints import Endpoint
    from oribi.models.registry import HttpModels

    version = "v1beta" if wire == "gemini" else "v1"
    endpoint: Any = {"provider": "bench", "wire": wire, "base_url": f"http://127.0.0.1:{port}/{version}"}
    models = HttpModels({"bench": Endpoint(**endpoint)}, {}.get)
    choice = ModelChoice(provider="bench", name=MODEL, wire=wire)
    model = models.get(choice)

    async def ask(count: int) -> str:
        prompt = Prompt(
            model=choice,
            system="",
            messages=[UserMessage(text=f"events={count};")],
            tools=(),
            first=0,
            history_turns=0,
            turns_left_out=0,
            memory_characters=0,
        )
        heard: list[object] = []
        reply = await model.reply(model.build_request(prompt, None), heard.append)
        assert len(heard) == count
        return reply.text

    await run(ask)
    await models.close()


async def sdk(wire: str, port: int, run: Callable[[Ask], Awaitable[None]]) -> None:
    """The official SDK, in the cheapest way that it offers to read a stream."""
    base, words = f"http://127.0.0.1:{port}", "events={};"
    client: Any
    match wire:
        case "openai-chat" | "openai-responses":
            import openai

            client = openai.AsyncOpenAI(api_key="k", base_url=f"{base}/v1")

            async def ask(count: int) -> str:
                message: Any = [{"role": "user", "content": words.format(count)}]
                if wire == "openai-responses":
                    stream = await client.responses.create(model=MODEL, input=message, stream=True)
                    return "".join([e.delta async for e in stream if e.type == "response.output_text.delta"])
                stream = await client.chat.completions.create(model=MODEL, messages=message, stream=True)
                return "".join([e.choices[0].delta.content or "" async for e in stream if e.choices])

            await run(ask)
            await client.close()
        case "anthropic":
            import anthropic

            client = anthropic.AsyncAnthropic(api_key="k", base_url=base)

            async def ask(count: int) -> str:
                message: Any = [{"role": "user", "content": words.format(count)}]
                stream = await client.messages.create(model=MODEL, max_tokens=9, messages=message, stream=True)
                return "".join([e.delta.text async for e in stream if e.type == "content_block_delta"])

            await run(ask)
            await client.close()
        case _:
            from google import genai
            from google.genai import types

            options = types.HttpOptions(base_url=base, api_version="v1beta")
            client = genai.Client(api_key="k", http_options=options).aio

            async def ask(count: int) -> str:
                stream = await client.models.generate_content_stream(model=MODEL, contents=words.format(count))
                return "".join([e.text or "" async for e in stream])

            await run(ask)
            await client.aclose()


async def cost(ask: Ask, count: int) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    assert await ask(count) == WORD * count, "the reader lost text"
    return time.process_time() - started


async def costs_of(asks: dict[str, Ask], events: int) -> dict[str, dict[str, float]]:
    """What each costs, taken in turns, so that a slow moment of the machine falls on all."""
    for ask in asks.values():
        for _ in range(3):
            await cost(ask, 100)  # loads what is loaded once in a process
    gc.freeze()
    short: dict[str, list[float]] = {name: [] for name in asks}
    long: dict[str, list[float]] = {name: [] for name in asks}
    for _ in range(LONG):
        for name, ask in asks.items():
            short[name] += [await cost(ask, 1) for _ in range(CALLS)]
            long[name].append(await cost(ask, events))
    return {
        name: {
            "event_us": (min(long[name]) - statistics.median(short[name])) / events * 1e6,
            "call_ms": statistics.median(short[name]) * 1e3,
        }
        for name in asks
    }


async def measure(reader: str, wire: str, port: int, events: int) -> dict[str, dict[str, float]]:
    """The cost of one event in a long stream, and of a call with a short one, for each reader."""
    found: dict[str, dict[str, float]] = {}

    async def beside(bare_ask: Ask) -> None:
        async def both(our_ask: Ask) -> None:
            found.update(await costs_of({"bare": bare_ask, "ours": our_ask}, events))

        await ours(wire, port, both)

    async def alone(ask: Ask) -> None:
        found.update(await costs_of({"sdk": ask}, events))

    await (bare(wire, port, beside) if reader == "both" else sdk(wire, port, alone))
    return found


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve())
    else:
        print(json.dumps(asyncio.run(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))))
