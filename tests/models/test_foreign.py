"""Providers through a library: Groq and Mistral over real sockets, the rest of the translation on its own models."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from oribi.core.calls import Denied, Failed, Json, JsonObject, Malformed, Succeeded, ToolSpec, Unknown
from oribi.core.errors import ConfigError, FaultKind, ModelError
from oribi.core.messages import Message, ModelChoice, Reply, ToolMessage, Usage, UserMessage
from oribi.models.extras import EXTRA_WIRES, extra_models
from oribi.models.foreign import ForeignModels
from oribi.models.via_pydantic_ai import ForeignModel, library_messages
from oribi.ports import Delta, ReasoningDelta, TextDelta
from oribi.testing import FakeModelServer
from tests.models.samples import PREFIXED, READ, call, prompt
from tests.models.wire_server import Answer, chunked, event, head, http, wire_server

pytestmark = [pytest.mark.anyio, pytest.mark.slow]  # the library takes seconds to import

KEY = "gsk-test-1234567890abcdef"
SECRETS = {"GROQ_API_KEY": KEY, "MISTRAL_API_KEY": KEY}
OVER_SOCKETS = pytest.mark.parametrize("provider", ["groq", "mistral"])


def chosen(provider: str, name: str = "model-1", **parameters: Json) -> ModelChoice:
    return ModelChoice(provider=provider, name=name, wire="pydantic-ai", parameters=parameters)


@asynccontextmanager
async def models(base_url: str, idle_seconds: float = 20.0) -> AsyncGenerator[ForeignModels]:
    urls = {"groq": base_url, "mistral": base_url}
    found = ForeignModels(SECRETS.get, base_urls=urls, idle_seconds=idle_seconds)
    try:
        yield found
    finally:
        await found.close()


async def ask(found: ForeignModels, choice: ModelChoice, *history: Message, heard: list[Delta] | None = None) -> Reply:
    model = found.get(choice)
    request = model.build_request(prompt(*history, model=choice), None)
    return await model.reply(request, (heard if heard is not None else []).append)


async def test_a_turn_of_text_and_calls_goes_through() -> None:
    """O-33, Y-10: the call comes back to us, once, and the library has run nothing and asked nothing further."""
    replies: list[Any] = [
        {"text": "I look.", "calls": [{"id": "abc123xyz", "name": "read_file", "arguments": {"path": "a"}}]},
        {"text": "Seen it."},
    ]
    async with FakeModelServer({"replies": replies}) as server, models(server.base_url) as found:
        choice = chosen("groq", temperature=0, max_tokens=50)
        heard: list[Delta] = []
        first = await ask(found, choice, UserMessage(text="Look."), heard=heard)
        assert (first.text, first.stop, first.wire) == ("I look.", "tool_calls", "pydantic-ai")
        assert [(each.name, each.arguments) for each in first.calls] == [("read_file", {"path": "a"})]
        assert "".join(delta.text for delta in heard) == "I look."
        assert len(server.requests) == 1
        result = ToolMessage(call_id=first.calls[0].id, name="read_file", result=Succeeded(text="It is red."))
        second = await ask(found, choice, UserMessage(text="Look."), first, result)
        assert (second.text, second.stop, second.calls) == ("Seen it.", "stop", ())
        assert [request.broken for request in server.requests] == [(), ()]
        sent = json.loads(server.requests[1].body)
        assert sent["messages"][-1]["content"] == "It is red."
        assert [tool["function"]["name"] for tool in sent["tools"]] == ["read_file", "server__tool"]
        assert sent["max_tokens"] == 50


def mistral_event(delta: JsonObject, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    return event(
        {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}
    )


HELLO = mistral_event({"content": "Hel"})
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


async def test_fragments_and_usage_arrive_as_they_were_sent() -> None:
    parts = (HELLO, mistral_event({"content": "lo"}, "stop", usage=USAGE), event("[DONE]"))
    async with wire_server(Answer((*chunked(*parts), b"0\r\n\r\n"))) as server, models(server.base_url[:-3]) as found:
        heard: list[Delta] = []
        reply = await ask(found, chosen("mistral"), UserMessage(text="hi"), heard=heard)
        assert heard == [TextDelta(text="Hel"), TextDelta(text="lo")]
        assert reply.text == "Hello"
        assert reply.usage == Usage(input_tokens=7, output_tokens=3)
        assert json.loads(server.requests[0].body)["stream"] is True


async def test_a_turn_with_mistral_goes_through() -> None:
    """O-33, Y-10. Mistral sends a call whole."""
    made: JsonObject = {"id": "abc123xyz", "index": 0, "function": {"name": "read_file", "arguments": '{"path": "a"}'}}
    asked = (mistral_event({"content": "", "tool_calls": [made]}, "tool_calls"), event("[DONE]"))
    seen = (mistral_event({"content": "Seen it."}, "stop"), event("[DONE]"))
    answers = (Answer((*chunked(*asked), b"0\r\n\r\n"), "keep"), Answer((*chunked(*seen), b"0\r\n\r\n"), "keep"))
    async with wire_server(*answers) as server, models(server.base_url[:-3]) as found:
        first = await ask(found, chosen("mistral"), UserMessage(text="Look."))
        assert (first.stop, first.calls) == ("tool_calls", (call("abc123xyz", arguments={"path": "a"}),))
        assert len(server.requests) == 1
        result = ToolMessage(call_id=first.calls[0].id, name="read_file", result=Succeeded(text="It is red."))
        second = await ask(found, chosen("mistral"), UserMessage(text="Look."), first, result)
        assert (second.text, second.stop) == ("Seen it.", "stop")
        sent = json.loads(server.requests[1].body)
        assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "tool"]
        assert sent["messages"][-1]["tool_call_id"] == "abc123xyz"


async def test_tokens_that_nobody_counted_are_unknown_and_not_zero() -> None:
    parts = (HELLO, mistral_event({"content": "lo"}, "stop"), event("[DONE]"))
    async with wire_server(Answer((*chunked(*parts), b"0\r\n\r\n"))) as server, models(server.base_url[:-3]) as found:
        assert (await ask(found, chosen("mistral"), UserMessage(text="hi"))).usage == Usage()


@OVER_SOCKETS
@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(Answer((*chunked(HELLO), b"0\r\n\r\n")), id="a whole body without a finish reason"),
        pytest.param(Answer((head(), HELLO)), id="the connection closes"),
        pytest.param(Answer(chunked(HELLO)), id="the connection closes within the body"),
    ],
)
async def test_a_stream_that_is_cut_is_never_a_reply(provider: str, ending: Answer) -> None:
    async with wire_server(ending) as server, models(server.base_url[:-3]) as found:
        with pytest.raises(ModelError) as caught:
            await ask(found, chosen(provider), UserMessage(text="hi"))
        assert caught.value.kind == "network"
        assert caught.value.partial == "Hel"
        assert len(server.requests) == 1


@OVER_SOCKETS
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("401 Unauthorized", "auth"),
        ("404 Not Found", "bad_request"),
        ("429 Too Many Requests", "rate"),
        ("500 Oops", "overloaded"),
        ("503 Busy", "overloaded"),
    ],
)
async def test_a_refusal_is_typed_and_asked_once(provider: str, status: str, kind: FaultKind) -> None:
    """No retry behind our back: the server saw one request. A key that is quoted does not get out."""
    body = json.dumps({"error": {"message": f"no, {KEY}"}}).encode()
    refusal = Answer((http(body, status=status, retry_after="7"),))
    async with wire_server(refusal) as server, models(server.base_url[:-3]) as found:
        with pytest.raises(ModelError) as caught:
            await ask(found, chosen(provider), UserMessage(text="hi"))
        assert (caught.value.kind, caught.value.retry_after_seconds) == (kind, 7.0)
        assert "no, ***" in str(caught.value)
        assert KEY not in str(caught.value)
        assert len(server.requests) == 1


@OVER_SOCKETS
async def test_silence_ends_the_call(provider: str) -> None:
    hanging = Answer((head(), HELLO), after="hang")
    async with wire_server(hanging) as server, models(server.base_url[:-3], idle_seconds=0.5) as found:
        with anyio.fail_after(10):
            with pytest.raises(ModelError, match="fell silent") as caught:
                await ask(found, chosen(provider), UserMessage(text="hi"))
            await server.left.wait()
        assert (caught.value.kind, caught.value.partial) == ("timeout", "Hel")


@OVER_SOCKETS
async def test_a_call_that_is_given_up_closes_its_connection(provider: str) -> None:
    async with wire_server(Answer((head(), HELLO), after="hang")) as server, models(server.base_url[:-3]) as found:
        model = found.get(chosen(provider))
        request = model.build_request(prompt(UserMessage(text="hi"), model=chosen(provider)), None)
        with anyio.fail_after(10):
            with anyio.CancelScope() as scope:
                await model.reply(request, lambda _: scope.cancel())
            assert scope.cancelled_caught
            await server.left.wait()


async def test_nobody_there_is_a_network_fault() -> None:
    async with wire_server() as server:
        url = server.base_url[:-3]
    async with models(url) as found:
        with pytest.raises(ModelError) as caught:
            await ask(found, chosen("groq"), UserMessage(text="hi"))
    assert caught.value.kind == "network"


# --- translation, on the library's own models -------------------------------------------------------------------------


def in_memory(*replies: Any) -> ForeignModel:
    """A model of the library's that streams what is given, the same for every request."""
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    async def stream(messages: list[Any], info: AgentInfo) -> AsyncIterator[Any]:
        for part in replies:
            yield part

    return ForeignModel(FunctionModel(stream_function=stream), says_why_it_stops=False)


HISTORY = (
    UserMessage(text="Look."),
    Reply(text="I look.", calls=(call("c 1"), call("c2", arguments=Malformed(text="{", problem="broken")))),
    ToolMessage(call_id=call("c 1").id, name="read_file", result=Succeeded(text="red")),
    ToolMessage(call_id=call("c2").id, name="read_file", result=Failed(text="gone")),
    UserMessage(text="And?"),
)


async def test_the_recorded_bytes_are_canonical_and_cover_everything_handed_over() -> None:
    choice = chosen("groq", temperature=0, max_tokens=5)
    other = chosen("groq", max_tokens=5, temperature=0)
    model = in_memory("x")
    requests = [model.build_request(prompt(*HISTORY, model=each), None) for each in (choice, other)]
    assert requests[0].body == requests[1].body
    assert requests[0].sha256 == hashlib.sha256(requests[0].body).hexdigest()
    handed = json.loads(requests[0].body)
    assert json.dumps(handed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() == requests[0].body
    assert handed["system"] == "You are careful."
    assert handed["settings"] == {"temperature": 0, "max_tokens": 5}
    assert [tool["name"] for tool in handed["tools"]] == ["read_file", "server__tool"]
    for changed in (prompt(*HISTORY[:-1], model=choice), prompt(*HISTORY, model=choice, tools=(READ,))):
        assert model.build_request(changed, None).sha256 != requests[0].sha256


async def test_a_history_becomes_the_librarys_messages_with_calls_and_results_matched() -> None:
    from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

    request = in_memory("x").build_request(prompt(*HISTORY, model=chosen("bedrock")), None)
    first, second, third = library_messages(json.loads(request.body))
    assert isinstance(first, ModelRequest)
    assert [part.part_kind for part in first.parts] == ["system-prompt", "user-prompt"]
    assert isinstance(second, ModelResponse)
    calls = [part for part in second.parts if isinstance(part, ToolCallPart)]
    assert [part.args for part in calls] == [{}, {}]
    assert isinstance(third, ModelRequest)
    assert [part.part_kind for part in third.parts] == ["tool-return", "tool-return", "user-prompt"]
    returns = [part for part in third.parts if isinstance(part, ToolReturnPart)]
    assert [part.tool_call_id for part in returns] == [part.tool_call_id for part in calls]
    assert [(part.outcome, part.content) for part in returns] == [("success", "red"), ("failed", "Error: gone")]
    assert " " not in calls[0].tool_call_id  # which Bedrock would refuse


@pytest.mark.parametrize(
    ("result", "outcome"),
    [(Denied(reason="no", rule="r"), "denied"), (Unknown(reason="cut off"), "interrupted")],
)
async def test_what_did_not_run_is_said_so(result: Denied | Unknown, outcome: str) -> None:
    message = ToolMessage(call_id=call().id, name="read_file", result=result)
    history = (UserMessage(text="hi"), Reply(text="", calls=(call(),)), message)
    request = in_memory("x").build_request(prompt(*history, model=chosen("cohere")), None)
    assert json.loads(request.body)["messages"][-1]["outcome"] == outcome


async def test_mistral_gets_call_ids_of_its_own_form_and_the_same_for_call_and_result() -> None:
    request = in_memory("x").build_request(prompt(*HISTORY, model=chosen("mistral")), None)
    messages = json.loads(request.body)["messages"]
    ids = [each["id"] for each in messages[1]["calls"]]
    assert ids == [messages[2]["id"], messages[3]["id"]]
    assert all(len(each) == 9 and each.isalnum() for each in ids)


async def reply_of(model: ForeignModel, choice: ModelChoice, *tools: ToolSpec) -> tuple[Reply, list[Delta]]:
    heard: list[Delta] = []
    request = model.build_request(prompt(UserMessage(text="hi"), model=choice, tools=tools or (READ, PREFIXED)), None)
    return await model.reply(request, heard.append), heard


async def test_calls_come_back_under_our_names_with_ids_that_differ() -> None:
    from pydantic_ai.models.function import DeltaToolCall

    model = in_memory(
        {0: DeltaToolCall(name="server__tool", json_args='{"a": 1}', tool_call_id="same")},
        {1: DeltaToolCall(name="read_file", json_args='{"pa', tool_call_id="same")},
    )
    reply, _ = await reply_of(model, chosen("vertex"))
    first, second = reply.calls
    assert (first.name, first.arguments) == ("server/tool", {"a": 1})
    assert second.name == "read_file"
    assert isinstance(second.arguments, Malformed)
    assert first.id != second.id


async def test_reasoning_is_shown_and_goes_back_to_its_provider_as_it_came() -> None:
    from pydantic_ai.messages import ModelResponse, ThinkingPart
    from pydantic_ai.models.function import DeltaThinkingPart

    model = in_memory(
        {0: DeltaThinkingPart(content="Hm, ", signature=None)}, {0: DeltaThinkingPart(signature="sig")}, "Yes."
    )
    reply, heard = await reply_of(model, chosen("bedrock"))
    assert (reply.text, reply.reasoning) == ("Yes.", "Hm, ")
    assert ReasoningDelta(text="Hm, ") in heard
    for provider, kept in (("bedrock", True), ("vertex", False)):
        next_prompt = prompt(UserMessage(text="hi"), reply, UserMessage(text="more"), model=chosen(provider))
        response = library_messages(json.loads(model.build_request(next_prompt, None).body))[1]
        assert isinstance(response, ModelResponse)
        thoughts = [part for part in response.parts if isinstance(part, ThinkingPart)]
        assert [part.signature for part in thoughts] == (["sig"] if kept else [])


# --- configuration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("groq", "GROQ_API_KEY"),
        ("mistral", "MISTRAL_API_KEY"),
        ("cohere", "CO_API_KEY"),
        ("bedrock", "AWS_REGION"),
        ("vertex", "GOOGLE_CLOUD_PROJECT"),
    ],
)
async def test_what_is_missing_from_the_environment_is_named(provider: str, variable: str) -> None:
    with pytest.raises(ConfigError, match=f"set the environment variable {variable}"):
        ForeignModels(lambda _: None).get(chosen(provider))


async def test_a_parameter_that_nobody_would_heed_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no parameter 'colour'.*temperature"):
        ForeignModels(SECRETS.get).get(chosen("groq", colour="red"))


async def test_each_provider_has_a_model_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # else the SDK asks the network who it is
    secrets = {**SECRETS, "CO_API_KEY": KEY, "AWS_REGION": "eu-west-1", "GOOGLE_CLOUD_PROJECT": "p"}
    extra = extra_models(tmp_path, secrets.get)
    for provider in EXTRA_WIRES.keys() - {"local"}:
        assert extra.makers[provider](chosen(provider)) is extra.makers[provider](chosen(provider))
    await extra.close()


async def test_a_provider_that_a_person_configured_is_theirs(tmp_path: Path) -> None:
    extra = extra_models(tmp_path, SECRETS.get, configured={"groq", "openai"})
    assert set(extra.makers) == set(EXTRA_WIRES) - {"groq"}
    await extra.close()


async def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.groq", None)  # as if it were not installed
    with pytest.raises(ConfigError, match=r"pip install 'oribi\[providers\]'"):
        ForeignModels(SECRETS.get).get(chosen("groq"))


async def test_the_optional_packages_are_not_imported_before_they_are_needed() -> None:
    script = (
        "import sys, oribi.models.extras\n"
        "print(sorted({'pydantic', 'pydantic_ai', 'boto3', 'groq', 'xllamacpp', 'aiohttp'} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
