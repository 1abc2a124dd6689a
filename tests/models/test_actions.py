"""Actions as constrained JSON: the schema, the plain history, and what comes back."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.core.calls import CallId, Failed, Malformed, ToolCall, ToolSpec
from oribi.core.messages import Reply, StopReason, ToolMessage, UserMessage
from oribi.models.actions import ActionListener, action_reply, action_schema, as_actions
from oribi.ports import Delta, ReasoningDelta, TextDelta
from tests.models.samples import READ, TEXTS, answer, call, prompt

TREE = ToolSpec(
    name="plant",
    description="Plant a tree.",
    parameters={
        "type": "object",
        "properties": {
            "root": {"$ref": "#/$defs/Node"},
            "mail": {"type": "string", "pattern": "(?=x)", "format": "email"},
        },
        "required": ["root"],
        "$defs": {
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "size": {"enum": [1, 2]}}}
        },
    },
)


def is_action(action: Any, *tools: ToolSpec) -> bool:
    return jsonschema_rs.validator_for(action_schema(tools)).is_valid(action)


def test_an_action_is_one_call_of_a_tool_or_the_answer() -> None:
    assert is_action({"tool": "read_file", "arguments": {"path": "a"}}, READ, TREE)
    assert is_action({"answer": "yes"}, READ, TREE)
    assert not is_action({"tool": "read_file", "arguments": {}}, READ, TREE)
    assert not is_action({"tool": "rm", "arguments": {}}, READ, TREE)
    assert not is_action({"answer": "yes", "tool": "read_file"}, READ, TREE)


def test_references_of_a_tool_are_followed_from_its_own_root() -> None:
    assert is_action({"tool": "plant", "arguments": {"root": {"next": {"size": 2}}}}, READ, TREE)
    assert not is_action({"tool": "plant", "arguments": {"root": {"next": {"size": 3}}}}, READ, TREE)


def test_a_grammar_is_asked_only_for_what_it_knows() -> None:
    written = json.dumps(action_schema([TREE]))
    assert "pattern" not in written
    assert "format" not in written


def test_calls_and_results_are_told_as_plain_messages_in_turns() -> None:
    history = (
        UserMessage(text="Look."),
        Reply(
            text="",
            calls=(call("c1", arguments={"path": "a"}), call("c2", arguments=Malformed(text="{", problem="no"))),
        ),
        answer("c1", "one"),
        ToolMessage(call_id=CallId("c2"), name="read_file", result=Failed(text="broken")),
        Reply(text="Done."),
    )
    plain = as_actions(prompt(*history, tools=(READ,)))
    assert [(type(message).__name__, getattr(message, "text", "")) for message in plain.messages] == [
        ("UserMessage", "Look."),
        ("Reply", '{"tool":"read_file","arguments":{"path":"a"}}\n{"tool":"read_file","arguments":{}}'),
        ("UserMessage", "Result of read_file:\none\n\nResult of read_file:\nError: broken"),
        ("Reply", "Done."),
    ]
    assert plain.tools == ()
    assert "read_file" in plain.system
    assert plain.model.parameters["response_format"]


def test_without_tools_nothing_is_constrained() -> None:
    plain = as_actions(prompt(UserMessage(text="Look."), tools=()))
    assert plain.model.parameters == {}
    assert plain.system == "You are careful."


def reply_to(text: str, stop: StopReason = "stop") -> Reply:
    return action_reply(Reply(text=text, stop=stop), CallId("call_1_0"))


def test_a_call_and_an_answer_are_understood() -> None:
    assert reply_to('{ "tool": "read_file",\n "arguments": {"path": "a"} }') == Reply(
        text="", calls=(ToolCall(id=CallId("call_1_0"), name="read_file", arguments={"path": "a"}),), stop="tool_calls"
    )
    assert reply_to('{"answer": "It is \\"so\\"."}') == Reply(text='It is "so".')


@pytest.mark.parametrize("text", ["", "no JSON at all", "[1]", "{}", '{"tool": ""}', '{"tool": 3, "arguments": {}}'])
def test_text_that_is_no_action_is_the_answer(text: str) -> None:
    assert reply_to(text) == Reply(text=text)


def test_a_call_that_was_cut_never_runs() -> None:
    """O-34."""
    for text in (
        '{"tool": "read_file", "arguments": {"path": "/etc',
        '{"tool": "read_file", "arguments": {"path": "a"}}',
    ):
        reply = reply_to(text, stop="length")
        (cut,) = reply.calls
        assert isinstance(cut.arguments, Malformed)
        assert (reply.text, reply.stop, cut.name) == ("", "length", "read_file")


def test_an_answer_that_was_cut_keeps_what_there_is() -> None:
    assert reply_to('{"answer": "half a sent\\u00', stop="length") == Reply(text="half a sent", stop="length")


@given(text=TEXTS, cuts=st.lists(st.integers(0, 40), max_size=5), ascii_only=st.booleans())
def test_an_answer_is_shown_while_it_is_written_however_it_is_cut(
    text: str, cuts: list[int], *, ascii_only: bool
) -> None:
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    written = json.dumps({"answer": text}, ensure_ascii=ascii_only)
    heard: list[Delta] = []
    listener = ActionListener(heard.append)
    places = [0, *sorted(cut for cut in cuts if cut < len(written)), len(written)]
    for start, end in pairwise(places):
        listener.hear(TextDelta(text=written[start:end]))
    assert "".join(delta.text for delta in heard) == listener.shown == text == reply_to(written).text


def test_a_call_is_not_shown_and_reasoning_is() -> None:
    heard: list[Delta] = []
    listener = ActionListener(heard.append)
    for delta in (
        ReasoningDelta(text="hm"),
        TextDelta(text='{"tool": "read_file", "arg'),
        TextDelta(text='uments": {}}'),
    ):
        listener.hear(delta)
    assert heard == [ReasoningDelta(text="hm")]


def test_arguments_that_are_no_object_come_back_as_malformed() -> None:
    (broken,) = reply_to('{"tool": "read_file", "arguments": [1]}').calls
    assert isinstance(broken.arguments, Malformed)
