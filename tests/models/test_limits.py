"""The gate in front of a provider: how many at once, how many a minute, and the pause when it keeps failing."""

import anyio
import anyio.lowlevel
import pytest

from oribi.core.errors import FaultKind, ModelError
from oribi.core.messages import Reply
from oribi.core.prompt import Prompt
from oribi.models.limits import Gate, LimitedModel, Limits
from oribi.ports import Listen, Request
from oribi.testing import ScriptedModel
from tests.core.story import prompt_of

pytestmark = pytest.mark.anyio


class Told:
    """A model that does what `kind` says: reply (None) or fail; notes how many were inside at once."""

    def __init__(self) -> None:
        self.kind: FaultKind | None = None
        self.inside = self.most = self.asked = 0
        self._model = ScriptedModel(lambda _: Reply(text="hi"))

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        return self._model.build_request(prompt, previous)

    async def reply(self, request: Request, listen: Listen) -> Reply:
        self.asked += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        self.inside -= 1
        if self.kind is not None:
            raise ModelError(self.kind, "no")
        return Reply(text="hi")


def quiet(_: object) -> None:
    pass


async def ask(model: LimitedModel) -> str:
    request = model.build_request(prompt_of(), None)
    try:
        return (await model.reply(request, quiet)).text
    except ModelError as error:
        return error.kind


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    told = Told()
    model = LimitedModel(told, Gate("p", Limits(concurrent=2)))
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(ask, model)
    assert (told.asked, told.most) == (8, 2)


async def test_calls_beyond_the_minute_wait_and_none_is_lost() -> None:
    told = Told()
    model = LimitedModel(told, Gate("p", Limits(per_minute=3)))
    with anyio.move_on_after(0.2) as scope:
        for _ in range(4):
            await ask(model)
    assert scope.cancelled_caught
    assert told.asked == 3


async def test_a_provider_that_keeps_failing_is_left_alone_and_then_tried_by_one_call() -> None:
    told = Told()
    told.kind = "overloaded"
    model = LimitedModel(told, Gate("p", Limits(failures_to_open=3, open_seconds=0.05)))
    assert [await ask(model) for _ in range(5)] == ["overloaded"] * 3 + ["circuit_open"] * 2
    assert told.asked == 3
    await anyio.sleep(0.06)
    kinds: list[str] = []

    async def note() -> None:
        kinds.append(await ask(model))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(note)
    assert sorted(kinds) == ["circuit_open", "circuit_open", "overloaded"]
    await anyio.sleep(0.06)
    told.kind = None
    assert [await ask(model) for _ in range(3)] == ["hi"] * 3


@pytest.mark.parametrize("kind", ["auth", "bad_request", "context_length", "rate"])
async def test_faults_of_one_call_do_not_open_the_circuit(kind: FaultKind) -> None:
    told = Told()
    told.kind = kind
    model = LimitedModel(told, Gate("p", Limits(failures_to_open=1)))
    assert [await ask(model) for _ in range(3)] == [kind] * 3


async def test_a_success_forgets_the_failures_before_it() -> None:
    told = Told()
    model = LimitedModel(told, Gate("p", Limits(failures_to_open=2)))
    kinds: list[FaultKind | None] = ["network", None, "network", None, "network"]
    said: list[str] = []
    for kind in kinds:
        told.kind = kind
        said.append(await ask(model))
    assert said == ["network", "hi", "network", "hi", "network"]


async def test_a_call_that_is_cancelled_while_it_tries_leaves_the_way_free_for_the_next() -> None:
    told = Told()
    told.kind = "network"
    model = LimitedModel(told, Gate("p", Limits(failures_to_open=1, open_seconds=0.0)))
    await ask(model)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await ask(model)
    told.kind = None
    assert await ask(model) == "hi"


async def test_the_wrapper_changes_no_byte_of_the_request() -> None:
    told = Told()
    model = LimitedModel(told, Gate("p", Limits()))
    assert model.build_request(prompt_of(), None).body == told.build_request(prompt_of(), None).body
