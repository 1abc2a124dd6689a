"""How many model calls a process makes at once, whichever providers they go to (M-16).

A wrapper of the `Models` port. Calls beyond the limit wait their turn, in the order they came; the wait is part of the
call, so its timeout and the turn's deadline cut it off. Building a request waits for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import anyio

    from oribi.core.messages import ModelChoice, Reply
    from oribi.core.prompt import Prompt
    from oribi.ports import Listen, Model, Models, Request


class LimitedModels:
    """`models`, of which at most `capacity` calls are under way at once."""

    def __init__(self, models: Models, capacity: int) -> None:
        import anyio

        self._models = models
        self._slots = anyio.CapacityLimiter(capacity)

    def get(self, choice: ModelChoice) -> Model:
        return _ModelInSlot(self._models.get(choice), self._slots)


class _ModelInSlot:
    def __init__(self, model: Model, slots: anyio.CapacityLimiter) -> None:
        self._model = model
        self._slots = slots

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return self._model.build_request(prompt, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        async with self._slots:
            return await self._model.reply(request, listen)
