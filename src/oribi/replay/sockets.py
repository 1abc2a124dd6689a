"""Sockets closed: while the block runs, nothing in this process can open one."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator


class SocketOpenedError(Exception):
    """Something wanted to open a socket during an exact replay."""


@contextmanager
def closed_sockets() -> Generator[None]:
    """Refuse every new socket. Pairs within the process, as an event loop has for itself, are made as before."""
    made = socket.socket.__init__

    def refuse(self: socket.socket, *args: Any, **options: Any) -> None:  # noqa: ANN401 - the library's own signature
        fileno: int | None = args[3] if len(args) > 3 else options.get("fileno")  # noqa: PLR2004 - its fourth parameter
        if fileno is None:
            raise SocketOpenedError("a socket was to be opened during an exact replay, which needs none")
        made(self, *args, **options)

    socket.socket.__init__ = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        socket.socket.__init__ = made  # type: ignore[method-assign]
