"""Sockets closed: what runs within the block cannot open one; what else the process does at the time can."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

_is_closed = ContextVar("_is_closed", default=False)
_blocks = 0
_made = socket.socket.__init__


class SocketOpenedError(Exception):
    """Something wanted to open a socket during an exact replay."""


@contextmanager
def closed_sockets() -> Generator[None]:
    """Refuse every new socket to this task and the ones it starts, also in threads that take its context.

    Pairs within the process, as an event loop has for itself, are made as before.
    """
    global _blocks, _made  # noqa: PLW0603 - one guard for all blocks that are open at a time
    if _blocks == 0:
        _made = socket.socket.__init__
        socket.socket.__init__ = _guarded  # type: ignore[method-assign]
    _blocks += 1
    token = _is_closed.set(True)
    try:
        yield
    finally:
        _is_closed.reset(token)
        _blocks -= 1
        if _blocks == 0:
            socket.socket.__init__ = _made  # type: ignore[method-assign]


def _guarded(self: socket.socket, *args: Any, **options: Any) -> None:  # noqa: ANN401 - the library's own signature
    fileno: int | None = args[3] if len(args) > 3 else options.get("fileno")  # noqa: PLR2004 - its fourth parameter
    if fileno is None and _is_closed.get():
        raise SocketOpenedError("a socket was to be opened during an exact replay, which needs none")
    _made(self, *args, **options)
