"""What a process allows itself towards one provider: calls at once, calls a minute, and a pause when it keeps failing.

A wrapper of the `Model` port. It repeats nothing: what is refused here is a `ModelError` that `decide` acts on, so the
journal holds every attempt (ADR 0009).
"""

from __future__ import annotations

from collections import deque
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oribi.core.errors import FaultKind, ModelError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from oribi.core.messages import Reply
    from oribi.core.prompt import Prompt
    from oribi.ports import Listen, Model, Request

_COUNTED: frozenset[FaultKind] = frozenset({"overloaded", "network", "timeout"})
"""The faults that speak of a provider in trouble, rather than of one call."""

_NO_WAIT = nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one provider; None means no limit.

    `concurrent`: calls under way at once. `per_minute`: calls begun within any 60 seconds; further ones wait their
    turn. `failures_to_open`: faults in a row (overloaded, network, timeout) after which the provider is left alone for
    `open_seconds`; then one call tries it.
    """

    concurrent: int | None = None
    per_minute: int | None = None
    failures_to_open: int | None = 10
    open_seconds: float = 30.0


class Gate:
    """The state of one provider in this process: who is inside, who came when, how often it failed."""

    def __init__(self, provider: str, limits: Limits) -> None:
        import anyio

        self._provider = provider
        self._limits = limits
        self._inside = None if limits.concurrent is None else anyio.Semaphore(limits.concurrent)
        self._queue = anyio.Lock()  # protects _begun: who waits for the minute's next place is served in order
        self._begun: deque[float] = deque()
        self._failures = 0
        self._open_until: float | None = None
        self._is_tried = False

    def place(self) -> AbstractAsyncContextManager[None]:
        """Within it, the call is counted; entering waits its turn."""
        return _NO_WAIT if self._inside is None and self._limits.per_minute is None else self._wait()

    @asynccontextmanager
    async def _wait(self) -> AsyncGenerator[None]:
        async with self._inside or nullcontext():
            await self._wait_for_place()
            yield

    def begin(self) -> bool:
        """Whether this call is the one that tries a provider whose pause is over.

        Raises:
            ModelError: `circuit_open`, while the provider is left alone.

        """
        import anyio

        if self._open_until is None:
            return False
        left_seconds = self._open_until - anyio.current_time()
        if left_seconds > 0 or self._is_tried:
            again = f"it is tried again in {left_seconds:.0f} s" if left_seconds > 0 else "one call is trying it now"
            raise ModelError(
                "circuit_open", f"provider {self._provider!r} failed {self._failures} times in a row; {again}"
            )
        self._is_tried = True
        return True

    def forget(self, *, tries: bool) -> None:
        """The call ended in a way that says nothing of the provider."""
        self._is_tried = self._is_tried and not tries

    def learn(self, *, failed: bool, tries: bool) -> None:
        """The call came to an end that counts: a failure in a row, or the end of one."""
        self._is_tried = self._is_tried and not tries
        if not failed:
            self._failures, self._open_until = 0, None
            return
        import anyio

        self._failures += 1
        limit = self._limits.failures_to_open
        if limit is not None and self._failures >= limit:
            self._open_until = anyio.current_time() + self._limits.open_seconds

    async def _wait_for_place(self) -> None:
        """Return when fewer than `per_minute` calls began within the last 60 seconds, and count this one."""
        import anyio

        limit = self._limits.per_minute
        if limit is None:
            return
        async with self._queue:
            if len(self._begun) >= limit:
                left_seconds = self._begun.popleft() + 60.0 - anyio.current_time()
                if left_seconds > 0:
                    await anyio.sleep(left_seconds)
            self._begun.append(anyio.current_time())


class LimitedModel:
    """A model behind its provider's gate."""

    def __init__(self, model: Model, gate: Gate) -> None:
        self._model = model
        self._gate = gate

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return self._model.build_request(prompt, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        tries = self._gate.begin()
        try:
            async with self._gate.place():
                reply = await self._model.reply(request, listen)
        except ModelError as error:
            self._gate.learn(failed=error.kind in _COUNTED, tries=tries)
            raise
        except BaseException:
            self._gate.forget(tries=tries)
            raise
        self._gate.learn(failed=False, tries=tries)
        return reply
