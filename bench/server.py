"""A fake provider for benchmarks: answers every chat completion at once with one call of the tool `noop`.

Prints its port. A body that holds `"answer"` as its model's name ends the conversation instead.
"""

import asyncio

CALL = (
    b'{"id":"x","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":{"role":'
    b'"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"noop","arguments":'
    b'"{\\"n\\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":10,'
    b'"total_tokens":110}}'
)
ANSWER = (
    b'{"id":"x","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":{"role":'
    b'"assistant","content":"All is well."},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,'
    b'"completion_tokens":10,"total_tokens":110}}'
)


class Server(asyncio.Protocol):
    """One connection: requests by Content-Length, answered in order."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.received = bytearray()

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (head_end := self.received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.received[:head_end]).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            end = head_end + 4 + length
            if len(self.received) < end:
                return
            start = bytes(self.received[head_end + 4 : head_end + 4 + 200])
            last = bytes(self.received[max(head_end + 4, end - 400) : end])
            del self.received[:end]
            body = ANSWER if b'"answer' in start or (b'"once' in start and b'"tool_call_id"' in last) else CALL
            self.transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
            )


async def main() -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
