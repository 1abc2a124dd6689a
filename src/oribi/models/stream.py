"""Streams: from bytes to deltas and one reply, without I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from oribi.core.messages import Reply
from oribi.models.jsontext import loads_part
from oribi.models.sse import ServerEvent, SseReader
from oribi.ports import Delta


class StreamAssembler(Protocol):
    """Puts a reply together from the events of one wire's stream."""

    @property
    def is_done(self) -> bool:
        """Whether the wire's closing event has come: nothing follows it."""
        ...

    @property
    def is_complete(self) -> bool:
        """Whether the reply is finished, so that losing the rest of the stream costs nothing but numbers."""
        ...

    @property
    def shown(self) -> str:
        """The text that went out as deltas so far."""
        ...

    def feed(self, event: ServerEvent) -> Sequence[Delta]:
        """Take one event in; the fragments to show.

        Raises:
            ModelError: The event reports an error, or is not understood.

        """
        ...

    def finish(self) -> Reply:
        """The finished reply.

        Raises:
            ModelError: The stream ended before its proper end; `partial` holds what was shown.

        """
        ...


class StreamReading:
    """One stream being read: bytes in, deltas out, and the reply at the end."""

    __slots__ = ("_assembler", "_reader")

    def __init__(self, assembler: StreamAssembler) -> None:
        self._assembler = assembler
        self._reader = SseReader()

    @property
    def is_done(self) -> bool:
        """Whether nothing more is to come, although the connection may stay open."""
        return self._assembler.is_done

    @property
    def is_complete(self) -> bool:
        """Whether `finish` would return a reply."""
        return self._assembler.is_complete

    @property
    def shown(self) -> str:
        """The text that went out as deltas so far."""
        return self._assembler.shown

    def feed(self, chunk: bytes) -> list[Delta]:
        """Take in what has arrived; the fragments to show.

        Raises:
            ModelError: The stream reports an error, or is not understood.

        """
        deltas: list[Delta] = []
        assembler = self._assembler
        for event in self._reader.feed(chunk):
            if assembler.is_done:
                break
            deltas += assembler.feed(event)
        return deltas

    def end(self) -> list[Delta]:
        """Take in that the stream has ended; the fragments to show of an event that no blank line closed.

        Raises:
            ModelError: That event reports an error.

        """
        deltas: list[Delta] = []
        for event in self._reader.finish():
            if not self._assembler.is_done and _is_whole(event):
                deltas.extend(self._assembler.feed(event))
        return deltas

    def finish(self) -> Reply:
        """The reply.

        Raises:
            ModelError: The stream ended before the reply did.

        """
        return self._assembler.finish()


def _is_whole(event: ServerEvent) -> bool:
    """Whether the last event, which no blank line closed, was not cut."""
    if event.data == b"[DONE]":
        return True
    try:
        return isinstance(loads_part(event.data), dict)
    except ValueError:
        return False
