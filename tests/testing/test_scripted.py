"""The scripted model: replies by position and by rule, made from real results; complaints about what does not fit."""

import hashlib
import json
from pathlib import Path

import pytest

from oribi.core.calls import CallId, Failed, Malformed, Succeeded, ToolCall, ToolSpec
from oribi.core.errors import ConfigError, ModelError
from oribi.core.messages import Message, ModelChoice, Reply, ToolMessage, Usage, UserMessage
from oribi.core.prompt import Prompt
from oribi.ports import Delta, Model, ReasoningDelta, TextDelta
from oribi.testing import ScriptedModel, script_reader

CHOICE = ModelChoice(provider="scripted", name="demo", wire="scripted")


def prompt(*messages: Message, first: int = 0, left_out: int = 0) -> Prompt:
    return Prompt(
        model=CHOICE,
        system="Be brief.",
        messages=list(messages),
        tools=(ToolSpec(name="grep", description="Search.", parameters={"type": "object"}),),
        first=first,
        history_turns=0,
        turns_left_out=left_out,
        memory_characters=0,
    )


def asked(name: str, text: str, number: int = 1) -> tuple[Reply, ToolMessage]:
    """A reply with one call, and the result of it."""
    call = ToolCall(id=CallId(f"c{number}"), name=name, arguments={})
    result = Failed(text=text) if text == "broken" else Succeeded(text=text)
    return Reply(text="", calls=(call,)), ToolMessage(call_id=call.id, name=name, result=result)


async def reply_to(model: ScriptedModel, *messages: Message, left_out: int = 0) -> Reply:
    def hear(delta: Delta) -> None:
        assert isinstance(delta, TextDelta | ReasoningDelta)

    return await model.reply(model.build_request(prompt(*messages, left_out=left_out), None), hear)


HELLO = UserMessage(text="hello")


@pytest.mark.anyio
async def test_replies_go_by_position_in_the_history_and_so_survive_a_restart() -> None:
    """T-1: the same script drives the same turn, whichever process asks."""
    script = ["first", "second", "third"]
    before = ScriptedModel(script)
    first = await reply_to(before, HELLO)
    after = ScriptedModel(script)
    second = await reply_to(after, HELLO, first, HELLO)
    assert [first.text, second.text] == ["first", "second"]
    assert (await reply_to(after, HELLO, first, HELLO)).text == "second"


@pytest.mark.anyio
async def test_an_answer_is_made_from_what_the_tool_really_found() -> None:
    model = ScriptedModel(
        {
            "rules": [
                {
                    "when": {"step": 1, "input": r"check (?P<file>\S+)"},
                    "reply": {"calls": [{"name": "grep", "arguments": {"path": "{file}", "flags": ["{file}", 1]}}]},
                },
                {
                    "when": {"tool": "grep", "result": r"(?P<count>[1-9]\d*) matches"},
                    "reply": {
                        "calls": [{"name": "notify", "arguments": {"text": "{count} in {{it}}", "n": "{count:int}"}}]
                    },
                },
                {"when": {"tool": "grep"}, "reply": "Nothing is wrong."},
                {
                    "when": {"tool": "notify", "earlier": {"grep": r"(?P<count>\d+) matches"}},
                    "reply": "Told the team about {count} ({result}).",
                },
            ]
        }
    )
    start = UserMessage(text="check error.log")
    first = await reply_to(model, start)
    assert first.calls == (
        ToolCall(id=CallId("call_1_1"), name="grep", arguments={"path": "error.log", "flags": ["error.log", 1]}),
    )
    found = asked("grep", "37 matches")
    second = await reply_to(model, start, *found)
    assert second.calls == (ToolCall(id=CallId("call_2_1"), name="notify", arguments={"text": "37 in {it}", "n": 37}),)
    assert (await reply_to(model, start, *asked("grep", "0 matches"))).text == "Nothing is wrong."
    last = await reply_to(model, start, *found, *asked("notify", "sent"))
    assert (last.text, last.stop) == ("Told the team about 37 (sent).", "stop")


@pytest.mark.anyio
async def test_a_rule_goes_before_a_position_and_the_tail_comes_last() -> None:
    model = ScriptedModel(
        {"rules": [{"when": {"last": "^bye"}, "reply": "Bye."}], "replies": ["Hi."], "replies_tail": "Hm."}
    )
    answers = [await reply_to(model, UserMessage(text="bye now")), await reply_to(model, HELLO)]
    answers.append(await reply_to(model, HELLO, answers[0], HELLO))
    assert [answer.text for answer in answers] == ["Bye.", "Hi.", "Hm."]


@pytest.mark.anyio
async def test_a_failed_result_is_matched_as_the_model_reads_it() -> None:
    model = ScriptedModel({"rules": [{"when": {"tool": "grep", "result": "^Error: broken$"}, "reply": "Pity."}]})
    assert (await reply_to(model, HELLO, *asked("grep", "broken"))).text == "Pity."


@pytest.mark.anyio
async def test_an_unexpected_prompt_is_a_bad_request_that_names_position_and_last_message() -> None:
    model = ScriptedModel(["only one"])
    with pytest.raises(ModelError, match=r"position 1 \(step 2 of its turn\).*result of 'grep': 'lines'") as caught:
        await reply_to(model, HELLO, *asked("grep", "lines"))
    assert caught.value.kind == "bad_request"


@pytest.mark.anyio
async def test_positions_are_not_guessed_once_turns_are_left_out() -> None:
    model = ScriptedModel(["one", "two"])
    with pytest.raises(ModelError, match="3 earlier turns are left out of it, so positions are unknown: use rules"):
        await reply_to(model, HELLO, left_out=3)


@pytest.mark.anyio
async def test_unused_replies_are_named() -> None:
    model = ScriptedModel(["one", "two", {"calls": [{"name": "grep"}]}])
    await reply_to(model, HELLO)
    assert model.unused() == ["reply 2 ('two')", "reply 3 (calls grep)"]
    with pytest.raises(AssertionError, match=r"2 of its replies: reply 2 \('two'\), reply 3"):
        model.check_used()
    used = ScriptedModel(["one"])
    await reply_to(used, HELLO)
    used.check_used()


@pytest.mark.anyio
async def test_text_and_reasoning_are_streamed_in_small_pieces() -> None:
    model = ScriptedModel([{"text": "The answer is forty-two.", "reasoning": "Let me think."}])
    heard: list[Delta] = []
    port: Model = model
    reply = await port.reply(port.build_request(prompt(HELLO), None), heard.append)
    texts = [delta.text for delta in heard if isinstance(delta, TextDelta)]
    assert "".join(texts) == reply.text == "The answer is forty-two."
    assert len(texts) > 1
    assert "".join(delta.text for delta in heard if isinstance(delta, ReasoningDelta)) == "Let me think."
    assert (reply.model, reply.wire) == ("demo", "scripted")


@pytest.mark.anyio
async def test_usage_is_as_given_or_estimated_from_the_lengths() -> None:
    model = ScriptedModel(
        [
            {"text": "x" * 40, "usage": {"input_tokens": 12, "output_tokens": 3, "cached_tokens": 10}},
            {"text": "x" * 40, "usage": None},
            "x" * 40,
        ]
    )
    one = await reply_to(model, HELLO)
    two = await reply_to(model, HELLO, one, HELLO)
    three = await reply_to(model, HELLO, one, HELLO, two, HELLO)
    size = len(model.build_request(prompt(HELLO, one, HELLO, two, HELLO), None).body)
    assert one.usage == Usage(input_tokens=12, output_tokens=3, cached_tokens=10)
    assert two.usage == Usage()
    assert three.usage == Usage(input_tokens=size // 4, output_tokens=10)


@pytest.mark.anyio
async def test_a_scripted_fault_lasts_as_often_as_it_says() -> None:
    model = ScriptedModel([{"fails": {"kind": "rate", "times": 2, "retry_after_seconds": 1.5}, "text": "at last"}])
    for _ in range(2):
        with pytest.raises(ModelError, match="scripted: rate") as caught:
            await reply_to(model, HELLO)
        assert (caught.value.kind, caught.value.retry_after_seconds) == ("rate", 1.5)
    assert (await reply_to(model, HELLO)).text == "at last"


@pytest.mark.anyio
async def test_arguments_that_are_no_object_make_a_malformed_call() -> None:
    model = ScriptedModel(
        [{"calls": [{"name": "grep", "arguments": '{"path":'}, {"name": "grep", "arguments": "[1]"}]}]
    )
    broken, listed = [call.arguments for call in (await reply_to(model, HELLO)).calls]
    assert isinstance(broken, Malformed)
    assert broken.text == '{"path":'
    assert listed == Malformed(text="[1]", problem="the arguments are not a JSON object")


@pytest.mark.anyio
async def test_a_function_of_the_prompt_is_a_model_too() -> None:
    model = ScriptedModel(lambda asked: Reply(text=f"{len(asked.messages)} messages, {asked.tools[0].name}"))
    assert (await reply_to(model, HELLO, *asked("grep", "x"))).text == "3 messages, grep"
    assert len(model.prompts) == 1


@pytest.mark.anyio
async def test_a_finished_reply_is_given_as_it_is() -> None:
    given = Reply(text="{not a placeholder}", usage=Usage(input_tokens=1), model="m", wire="w", raw=["kept"])
    assert await reply_to(ScriptedModel([given]), HELLO) == given


def test_the_request_is_canonical_and_its_hash_is_of_its_bytes() -> None:
    """G: the same prompt gives the same bytes, also with the last request at hand."""
    model = ScriptedModel(["one"])
    call = ToolCall(id=CallId("c1"), name="grep", arguments={"b": "ü", "a": 1})
    said = [HELLO, Reply(text="", calls=(call,)), ToolMessage(call_id=call.id, name="grep", result=Succeeded(text="x"))]
    fresh = model.build_request(prompt(*said), None)
    assert fresh == model.build_request(prompt(*said), model.build_request(prompt(*said[:1]), None))
    assert fresh.sha256 == hashlib.sha256(fresh.body).hexdigest()
    assert json.loads(fresh.body) == {
        "model": "scripted:demo",
        "parameters": {},
        "system": "Be brief.",
        "tools": [{"name": "grep", "description": "Search.", "parameters": {"type": "object"}}],
        "messages": [
            {"role": "user", "text": "hello"},
            {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "grep", "arguments": {"a": 1, "b": "ü"}}]},
            {"role": "tool", "call_id": "c1", "name": "grep", "text": "x"},
        ],
    }


def test_a_request_built_on_the_last_one_drops_what_left_the_history() -> None:
    model = ScriptedModel(["one"])
    said = [UserMessage(text=f"turn {number}") for number in range(5)]
    last = model.build_request(prompt(*said[:4]), None)
    trimmed = prompt(*said[2:], first=2)
    assert model.build_request(trimmed, last).body == model.build_request(trimmed, None).body
    back = model.build_request(trimmed, None)
    assert model.build_request(prompt(*said), back).body == model.build_request(prompt(*said), None).body


@pytest.mark.anyio
async def test_a_script_is_read_from_a_yaml_file(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(
        """
rules:
  - when: {tool: grep, result: '(?P<count>[1-9]\\d*) matches'}
    reply: {text: "{count} requests failed."}
replies:
  - text: Let me look.
    calls: [{name: grep, arguments: {pattern: " 502 "}}]
""",
        encoding="utf-8",
    )
    model = ScriptedModel.from_file(path)
    first = await reply_to(model, HELLO)
    assert first.calls[0].arguments == {"pattern": " 502 "}
    assert (await reply_to(model, HELLO, first, asked("grep", "4 matches")[1])).text == "4 requests failed."


@pytest.mark.anyio
async def test_the_script_in_the_documentation_works(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text((script_reader.__doc__ or "").split("```")[1].removeprefix("yaml\n"), encoding="utf-8")
    model = ScriptedModel.from_file(path)
    first = await reply_to(model, HELLO)
    assert [call.name for call in first.calls] == ["grep"]
    assert (await reply_to(model, HELLO, first, asked("grep", "12 matches")[1])).text == "12 requests failed."
    assert (await reply_to(model, HELLO, first, asked("grep", "no matches")[1])).text == "Done."


MISTAKES: dict[str, str] = {
    "replies: [{txt: hi}]": "replies[0] has the key 'txt'; it may have: text, calls",
    "replies: [{text: no}]": "replies[0].text is False; it should be text (put it in quotes)",
    "replies: [{calls: [{arguments: {}}]}]": "replies[0].calls[0].name is None",
    "replies: [{text: 'see {cuont}'}]": "replies[0] uses {cuont}, which nothing captures; it may use: input, last",
    "replies: [{}]": "replies[0] says nothing; give it `text`",
    "replies: [{fails: {kind: slow}}]": "replies[0].fails.kind is 'slow'; it is one of auth, rate",
    "rules: [{when: {resutl: x}, reply: hi}]": "rules[0].when has the key 'resutl'; it may have: last, input",
    "rules: [{when: {last: '('}, reply: hi}]": "rules[0].when.last is '(', not a regular expression",
    "rules: [{when: {step: 1}}]": "rules[0] has no `reply`",
    "replies: [{json: {}, sse: []}]": "replies[0] has both json and sse; a reply has one body",
    "replies: [{status: 500, text: hi}]": "replies[0] has the key 'text'",
    "replies: [{close: softly}]": "replies[0].close is 'softly'; alone it is abort, hang or refuse",
    "replies: [{json: {}, when: {body_bytes_lt: 5}}]": "replies[0] needs both `when` and `otherwise`, or neither",
    "replies: [{raw_json: '{'}]": "replies[0].raw_json is not JSON",
    "rules: [{reply: {close: refuse}}]": "a rule cannot refuse a connection",
    "replies: [{json: {}}]": "the script has replies for a wire",
    "replies: {": "cannot read the script",
    "just text": "a script is a mapping or a list of replies, not 'just text'",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_in_a_script_is_named_with_its_place(text: str, tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        ScriptedModel.from_file(path)
    assert MISTAKES[text] in str(caught.value)


def test_a_script_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"cannot read the script 'nowhere\.yaml'"):
        ScriptedModel.from_file(Path("nowhere.yaml"))
