"""The limit on all model calls of a process: never more at once, nobody overtakes, every end gives the place back."""

import anyio
import anyio.lowlevel
import pytest

from oribi.core.errors import ConfigError, ModelError
from oribi.core.messages import ModelChoice, Reply
from oribi.core.prompt import Prompt
from oribi.models.slots import LimitedModels
from oribi.ports import Listen, Model, Request
from oribi.testing import ScriptedModel
from tests.core.story import prompt_of

pytestmark = pytest.mark.anyio


class Held:
    """Models whose calls end when `open` is set, in words or, for the provider `bad`, in a fault."""

    def __init__(self) -> None:
        self.open = anyio.Event()
        self.inside: list[str] = []
        self.began: list[str] = []
        self.most = 0

    def get(self, choice: ModelChoice) -> Model:
        if choice.provider == "unknown":
            raise ConfigError("no provider named 'unknown'")
        return HeldModel(self, choice)


class HeldModel:
    def __init__(self, held: Held, choice: ModelChoice) -> None:
        self._held = held
        self._choice = choice
        self._model = ScriptedModel(lambda _: Reply(text="hi"))

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return self._model.build_request(prompt, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        held, name = self._held, self._choice.name
        held.began.append(name)
        held.inside.append(name)
        held.most = max(held.most, len(held.inside))
        try:
            await held.open.wait()
            await anyio.lowlevel.checkpoint()
            if self._choice.provider == "bad":
                raise ModelError("overloaded", "no")
            return Reply(text="hi")
        finally:
            held.inside.remove(name)


def quiet(_: object) -> None:
    pass


async def ask(models: LimitedModels, name: str, provider: str = "p") -> str:
    model = models.get(ModelChoice(provider=provider, name=name, wire="scripted"))
    request = model.build_request(prompt_of(), None)
    try:
        with anyio.fail_after(10):
            return (await model.reply(request, quiet)).text
    except ModelError as error:
        return error.kind


async def test_no_more_calls_than_the_limit_are_under_way_whatever_their_providers_and_none_overtakes() -> None:
    """M-16: one limit for the process; who came first is served first."""
    held = Held()
    models = LimitedModels(held, 2)
    names = [f"m{number}" for number in range(8)]
    async with anyio.create_task_group() as group:
        for number, name in enumerate(names):
            group.start_soon(ask, models, name, f"p{number % 3}")
        await anyio.wait_all_tasks_blocked()
        assert held.inside == names[:2]
        held.open.set()
    assert (held.most, held.began) == (2, names)


async def test_a_waiter_that_is_cut_off_is_not_counted_and_the_wait_is_part_of_the_call() -> None:
    """M-16: a call's own timeout covers the wait; the place it waited for goes to the next."""
    held = Held()
    models = LimitedModels(held, 1)
    async with anyio.create_task_group() as group:
        group.start_soon(ask, models, "first")
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.01) as scope:
            await ask(models, "late")
        assert scope.cancelled_caught
        group.start_soon(ask, models, "next")
        await anyio.wait_all_tasks_blocked()
        held.open.set()
    assert held.began == ["first", "next"]


async def test_a_call_that_fails_or_is_cut_off_gives_its_place_back() -> None:
    held = Held()
    models = LimitedModels(held, 1)
    with anyio.move_on_after(0.01) as scope:
        await ask(models, "cut off")
    assert scope.cancelled_caught
    held.open.set()
    assert [await ask(models, "faulty", "bad"), await ask(models, "well")] == ["overloaded", "hi"]
    with pytest.raises(ConfigError, match="unknown"):
        models.get(ModelChoice(provider="unknown", name="x", wire="scripted"))


async def test_building_a_request_waits_for_no_place() -> None:
    held = Held()
    models = LimitedModels(held, 1)
    async with anyio.create_task_group() as group:
        group.start_soon(ask, models, "first")
        await anyio.wait_all_tasks_blocked()
        model = models.get(ModelChoice(provider="p", name="second", wire="scripted"))
        assert model.build_request(prompt_of(), None).body
        held.open.set()


def test_it_can_be_made_before_there_is_an_event_loop() -> None:
    models = LimitedModels(Held(), 1)
    for _ in range(2):  # and used in one loop after the other
        held = Held()
        models = LimitedModels(held, 1)
        held.open.set()
        assert anyio.run(ask, models, "x") == "hi"
