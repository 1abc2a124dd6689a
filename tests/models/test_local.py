"""Local models with real weights, for plumbing: small ones, so what they say is not judged, only how it arrives."""

from __future__ import annotations

import hashlib
import json
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import jsonschema_rs
import pytest

from oribi.core.calls import Json, JsonObject, ToolSpec
from oribi.core.errors import ConfigError, ModelError
from oribi.core.messages import ModelChoice, Reply, UserMessage
from oribi.models.local import LocalModel, LocalModels, LocalOptions
from oribi.models.request import EncodedRequest
from oribi.ports import Delta, TextDelta
from tests.models.gguf_files import NAME, model_file, smollm2
from tests.models.samples import READ, answer, call, prompt

pytestmark = pytest.mark.anyio

COLOURS: JsonObject = {"type": "string", "enum": ["red", "green", "blue"]}
PAINT = ToolSpec(
    name="paint",
    description="Paint the wall.",
    parameters={"type": "object", "properties": {"colour": COLOURS, "coats": {"enum": [1, 2]}}, "required": ["colour"]},
)
MIX = ToolSpec(
    name="mix",
    description="Mix two colours.",
    parameters={
        "type": "object",
        "properties": {"one": {"$ref": "#/$defs/Colour"}, "other": {"$ref": "#/$defs/Colour"}},
        "required": ["one", "other"],
        "additionalProperties": False,
        "$defs": {"Colour": COLOURS},
    },
)


def local(name: str, **parameters: Json) -> ModelChoice:
    return ModelChoice(provider="local", name=name, wire="openai-chat", parameters={"temperature": 0, **parameters})


@pytest.fixture(scope="module")
def weights(pytestconfig: pytest.Config) -> Path:
    cache = pytestconfig.cache
    assert cache is not None
    return smollm2(cache.mkdir("weights"))


@pytest.fixture(scope="module")
async def models(weights: Path) -> AsyncIterator[LocalModels]:
    models = LocalModels(weights.parent, LocalOptions(threads=1, context_tokens=2048))
    yield models
    await models.close()


async def ask(models: LocalModels, text: str, *tools: ToolSpec, **parameters: Json) -> tuple[Reply, list[Delta]]:
    choice = local(NAME, **parameters)
    model = models.get(choice)
    heard: list[Delta] = []
    request = model.build_request(prompt(UserMessage(text=text), system="", tools=tools, model=choice), None)
    assert request.sha256 == hashlib.sha256(request.body).hexdigest()
    return await model.reply(request, heard.append), heard


async def asked(model: LocalModel, path: str) -> Any:
    """What the server says of itself."""
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {model.server.key}"}) as session,
        session.get(f"{model.server.address}{path}") as answered,
    ):
        return await answered.json()


@pytest.mark.slow
async def test_a_local_model_streams_its_reply(models: LocalModels) -> None:
    reply, heard = await ask(models, "Say hello.", max_tokens=12)
    assert len(heard) > 1
    assert "".join(delta.text for delta in heard) == reply.text
    assert all(isinstance(delta, TextDelta) for delta in heard)
    assert (reply.model, reply.wire) == (f"local:{NAME}", "openai-chat")
    assert reply.usage.input_tokens
    assert 0 < (reply.usage.output_tokens or 0) <= 12


@pytest.mark.slow
async def test_a_call_that_is_given_up_frees_the_model_for_the_next(models: LocalModels) -> None:
    """The first would write on and on, and the model does one thing at a time."""
    choice = local(NAME, max_tokens=2000, ignore_eos=True)
    model = models.get(choice)
    request = model.build_request(prompt(UserMessage(text="Count."), system="", tools=(), model=choice), None)
    with anyio.CancelScope() as scope:
        await model.reply(request, lambda _: scope.cancel())
    assert scope.cancelled_caught
    with anyio.fail_after(3):
        while (await asked(model, "/slots"))[0]["is_processing"]:
            pass  # asking takes a moment by itself
    reply, _ = await ask(models, "Say hello.", max_tokens=3)
    assert reply.usage.output_tokens


@pytest.mark.slow
async def test_a_call_that_waits_for_another_is_not_taken_for_one_that_hangs(weights: Path) -> None:
    models = LocalModels(weights.parent, LocalOptions(threads=1, context_tokens=2048), idle_seconds=3)
    choice = local(NAME, max_tokens=2000, ignore_eos=True)
    model = models.get(choice)
    request = model.build_request(prompt(UserMessage(text="Count."), system="", tools=(), model=choice), None)
    begun = anyio.Event()

    async def hold_the_model() -> None:
        with anyio.CancelScope() as scope:

            def hear(_: Delta) -> None:
                if not begun.is_set():
                    begun.set()
                    scope.deadline = anyio.current_time() + 4.5

            await model.reply(request, hear)

    async with anyio.create_task_group() as group:
        group.start_soon(hold_the_model)
        await begun.wait()
        reply, _ = await ask(models, "Say hello.", max_tokens=3)
        assert reply.usage.output_tokens
    await models.close()


@pytest.mark.slow
async def test_actions_are_valid_under_the_tools_schemas(models: LocalModels) -> None:
    called: set[str] = set()
    for text in ("Paint the wall green.", 'Use {"tool": "mix"} on red and blue.'):
        reply, heard = await ask(models, text, PAINT, MIX, max_tokens=70)
        assert reply.stop in {"stop", "tool_calls"}, "the action was cut"
        assert "".join(delta.text for delta in heard) == reply.text
        for made in reply.calls:
            (spec,) = [tool for tool in (PAINT, MIX) if tool.name == made.name]
            jsonschema_rs.validator_for(spec.parameters).validate(made.arguments)
            called.add(made.name)
    assert called, "no action was a call, so nothing was shown about calls"


@pytest.mark.slow
async def test_one_file_has_one_server_that_only_we_can_use(models: LocalModels, weights: Path) -> None:
    model = models.get(local(NAME))
    assert models.get(local(str(weights))) is model
    first, second = model.server.model(), model.server.model()
    assert first is second
    async with aiohttp.ClientSession() as session:
        url = f"{model.server.address}/v1/chat/completions"
        async with session.post(url, json={"messages": [{"role": "user", "content": "hi"}]}) as refused:
            assert refused.status == 401
        async with session.get(f"{model.server.address}/slots") as refused:
            assert refused.status == 401


@pytest.mark.slow
async def test_our_reading_of_the_template_is_that_of_llama_cpp(models: LocalModels) -> None:
    model = models.get(local(NAME))
    model.server.model()
    props = await asked(model, "/props")
    assert props["chat_template"] == model.server.file.chat_template
    assert props["chat_template_caps"]["supports_tools"] is model.server.file.makes_tool_calls


@pytest.mark.slow
async def test_closing_stops_the_server(weights: Path) -> None:
    """Also one that has only just begun, which xllamacpp by itself would wait for without end."""
    models = LocalModels(weights.parent, LocalOptions(threads=1, context_tokens=256))
    for _ in range(3):
        model = models.get(local(NAME))
        model.server.model()
        host, port = model.server.address.removeprefix("http://").split(":")
        await models.close()
        assert not model.server.is_running
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), timeout=5)


@pytest.mark.slow
async def test_weights_that_are_cut_end_the_call_with_the_reason(weights: Path, tmp_path: Path) -> None:
    with weights.open("rb") as whole:
        (tmp_path / "cut.gguf").write_bytes(whole.read(4_000_000))
    model = LocalModels(tmp_path, LocalOptions(threads=1, context_tokens=256)).get(local("cut.gguf"))
    with pytest.raises(ModelError, match=r"cannot load .*cut\.gguf") as caught:
        await model.reply(model.build_request(prompt(UserMessage(text="hi")), None), lambda _: None)
    assert caught.value.kind == "bad_request"


async def test_a_missing_file_is_named_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no model file at .*gone\.gguf"):
        LocalModels(tmp_path).get(local("gone.gguf"))


async def test_a_missing_package_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # as if it were not installed
    model_file(tmp_path, "")
    with pytest.raises(ConfigError, match=r"pip install 'oribi\[local\]'"):
        LocalModels(tmp_path).get(local("model.gguf"))


def built(model: LocalModel, *history: Reply | UserMessage) -> JsonObject:
    return json.loads(model.build_request(prompt(*history, tools=(READ,)), None).body)


async def test_a_model_with_its_own_form_of_calls_keeps_it(tmp_path: Path) -> None:
    model_file(tmp_path, "{% for tool in tools %}{{ tool }}{% endfor %}")
    model = LocalModels(tmp_path).get(local("model.gguf"))
    body = built(model, UserMessage(text="hi"))
    assert "tools" in body
    assert "response_format" not in body
    request = model.build_request(prompt(UserMessage(text="hi")), None)
    assert isinstance(request, EncodedRequest)


async def test_a_model_without_one_is_told_and_held_to_actions(tmp_path: Path) -> None:
    model_file(tmp_path, "{{ messages }}")
    model = LocalModels(tmp_path).get(local("model.gguf"))
    history = (UserMessage(text="hi"), Reply(text="", calls=(call(arguments={"path": "a"}),)), answer())
    request = model.build_request(prompt(*history, tools=(READ,)), None)
    body = json.loads(request.body)
    assert "tools" not in body
    assert body["response_format"]["json_schema"]["schema"]["anyOf"][0]["properties"]["tool"] == {"const": "read_file"}
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert request.body == model.build_request(prompt(*history, tools=(READ,)), request).body
