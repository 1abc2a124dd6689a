"""Listeners: live fragments and durable events, handed out by queue, so that no listener can block or break a turn."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import anyio

from oribi.core.events import Recorded

if TYPE_CHECKING:
    from collections.abc import Generator

    from oribi.ports import Delta

News: TypeAlias = "Delta | Recorded"
"""What a listener gets: a live fragment, or an event that is durable."""

MOST_WAITING_DELTAS = 4096
"""A listener that falls this far behind loses deltas, never events."""


class Subscription:
    """One listener's queue, read as an async iterator that ends when the subscription is closed and drained."""

    def __init__(self) -> None:
        self._waiting: deque[News] = deque()
        self._bell = anyio.Event()
        self._closed = False

    def put(self, news: News) -> None:
        """Add news; a delta is dropped when the listener is too far behind."""
        if len(self._waiting) < MOST_WAITING_DELTAS or isinstance(news, Recorded):
            self._waiting.append(news)
            self._bell.set()

    def close(self) -> None:
        """Let the iteration end once everything waiting was read."""
        self._closed = True
        self._bell.set()

    def __aiter__(self) -> Subscription:
        """Iterate over the news."""
        return self

    async def __anext__(self) -> News:
        """The next piece of news, waiting for it."""
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._bell = anyio.Event()
            await self._bell.wait()
        return self._waiting.popleft()


class Listeners:
    """The listeners of one session."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    @contextmanager
    def subscribe(self) -> Generator[Subscription]:
        """A subscription to everything published while the block runs."""
        subscription = Subscription()
        self._subscriptions.append(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.remove(subscription)
            subscription.close()

    @contextmanager
    def listening(self, subscription: Subscription | None) -> Generator[None]:
        """While the block runs, a subscription made elsewhere gets everything too."""
        if subscription is None:
            yield
            return
        self._subscriptions.append(subscription)
        try:
            yield
        finally:
            self._subscriptions.remove(subscription)

    def publish(self, news: News) -> None:
        """Hand `news` to every listener."""
        for subscription in self._subscriptions:
            subscription.put(news)
