"""JSON actions: what a model writes is read as a call or an answer with an id kept inside, and written out again."""

import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oribi.core.calls import (
    CallId,
    Denied,
    Failed,
    Json,
    JsonObject,
    Malformed,
    Succeeded,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from oribi.core.json_actions import as_text_messages, read_action, told_actions, told_final
from oribi.core.messages import Message, Reply, StopReason, TextPart, ToolMessage, Usage, UserMessage
from oribi.core.policy import ActionForm

CALL = CallId("call_3_0")
FORMS: tuple[ActionForm, ...] = ("type", "action")
SEARCH = ToolSpec(
    name="web.search",
    description="Search the web.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
FETCH = ToolSpec(name="web.fetch", description="", parameters={"type": "object", "properties": {}})


def read(text: str, *, is_last: bool = False, has_schema: bool = False, stop: StopReason = "stop") -> Reply:
    return read_action(Reply(text=text, stop=stop), is_last=is_last, has_schema=has_schema, call_id=CALL)


def called(name: str, arguments: JsonObject | Malformed, reasoning: str = "") -> Reply:
    call = ToolCall(id=CALL, name=name, arguments=arguments)
    return Reply(text="", calls=(call,), stop="tool_calls", reasoning=reasoning, action=True)


def answered(text: str, reasoning: str = "") -> Reply:
    return Reply(text=text, reasoning=reasoning, action=True)


def arguments_of(reply: Reply) -> JsonObject | Malformed:
    assert not reply.problem, reply.problem
    return reply.calls[0].arguments


ACTIONS: list[tuple[str, Reply]] = [
    # M-31, as the document writes it
    ('{"type":"web.search","input":{"query":"..."}}', called("web.search", {"query": "..."})),
    ('{"type":"answer","text":"...","sources":[1]}', answered("...")),
    # T-8, T-9
    (
        '{"thought": "I need it", "action": "look", "action_input": {"path": "a"}}',
        called("look", {"path": "a"}, reasoning="I need it"),
    ),
    ('{"thought": "Enough.", "final": "It is 42."}', answered("It is 42.", reasoning="Enough.")),
    ('{"final": "It is 42."}', answered("It is 42.")),
    # other ways to say that it is final
    ('{"action": "final", "action_input": "Done."}', answered("Done.")),
    ('{"action": "final_answer", "action_input": "Done."}', answered("Done.")),
    ('{"action": "Final Answer", "action_input": "Done."}', answered("Done.")),
    ('{"action": "answer", "action_input": {"sum": 3}}', answered('{"sum": 3}')),
    ('{"type": "answer", "text": {"sum": 3}}', answered('{"sum": 3}')),
    ('{"type": "answer", "text": ["é", 1]}', answered('["é", 1]')),
    # what surrounds it
    ('\ufeff \n{"final": "Done."}\n\n', answered("Done.")),
    ('```json\n{"final": "Done."}\n```', answered("Done.")),
    ('```\n{"final": "Done."}\n```\n', answered("Done.")),
    ('```JSON {"final": "Done."}```', answered("Done.")),
    ('````json\n{"final": "Done."}\n````', answered("Done.")),
    ('I know it now:\n```json\n{"final": "Done."}\n```\nThat is all.', answered("Done.")),
    (
        '```json\n{"type": "answer", "text": "Run:\\n```sh\\nls\\n```"}\n```',
        answered("Run:\n```sh\nls\n```"),
    ),
    ('{"type": "answer", "text": "Run ```ls```"}', answered("Run ```ls```")),
    ('{"type": "answer", "text": "two\nlines"}', answered("two\nlines")),
    # arguments
    ('{"type": "now"}', called("now", {})),
    ('{"type": "now", "thought": "When?", "input": null}', called("now", {}, reasoning="When?")),
    ('{"thought": "When?", "action": "now", "action_input": "", "final": null}', called("now", {}, reasoning="When?")),
    ('{"type": "look", "input": "{\\"path\\": \\"a\\"}"}', called("look", {"path": "a"})),
    ('{"action": "look", "input": {"path": "a"}}', called("look", {"path": "a"})),
]


@pytest.mark.parametrize(("text", "reply"), ACTIONS)
@pytest.mark.parametrize("is_last", [False, True])
def test_one_object_is_one_call_or_the_answer(text: str, reply: Reply, *, is_last: bool) -> None:
    """M-31, T-8, T-9, M-1, C-1: a call has the id it is given, so the history stays structured."""
    assert read(text, is_last=is_last) == reply


def test_arguments_keep_their_types() -> None:
    """M-24: what is typed in JSON arrives as typed."""
    given: JsonObject = {"n": 1, "x": 1.5, "yes": True, "none": None, "many": [[1], {"a": "1"}], "text": "1"}
    arguments = arguments_of(read(json.dumps({"type": "look", "input": given})))
    assert repr(arguments) == repr(given)


PROBLEMS = [
    ("", "it is empty"),
    (" \n\ufeff", "it is empty"),
    ("It is 42.", "it is not one JSON object"),
    ("{'final': 'Done.'}", "it is not one JSON object"),
    ('{"final": "Do', "it is not one JSON object"),
    ('["final"]', "it is a list, not a JSON object"),
    ('"final"', "it is text, not a JSON object"),
    ("42", "it is a number, not a JSON object"),
    ("true", "it is a truth value, not a JSON object"),
    ("null", "it is null, not a JSON object"),
    # M-1: one action
    ('{"type": "look", "input": {}}\n{"type": "look", "input": {}}', "something follows the first value"),
    ('[{"type": "look"}, {"type": "look"}]', "it is a list"),
    ('{"final": "Done."} That is all.', "something follows the first value, from character 20 on"),
    ('```json\n{"type": "look"}\n```\n```json\n{"type": "look"}\n```', "something follows the first value"),
    ('{"type": "look"}\n```json\n{"type": "send"}\n```', "something follows the first value"),
    ('["```{}```"]', "it is a list"),
    ('"```{}```"', "it is text"),
    ('So not {"type": "send"}, but\n```json\n{"type": "look"}\n```', "it is not one JSON object"),
    ('{"thought": "?", "action": "look", "action_input": {}, "final": "Done."}', 'it has "action" and "final"'),
    ('{"type": "look", "action": "send"}', 'it has "type" and "action"'),
    # not clear, or nothing could carry it
    ('{"type": "look", "type": "send"}', 'the field "type" stands twice'),
    ('{"type": "look", "input": {"path": "a", "path": "b"}}', 'the field "path" stands twice'),
    ('{"type": "look", "input": {"n": NaN}}', "NaN is not JSON"),
    ('{"type": "look", "input": {"n": 1e999}}', "1e999 is beyond every number"),
    ('{"type": "look", "input": {"n": 18446744073709551616}}', "does not fit 64 bits, send it as text"),
    ('{"type": "look", "input": {"n": 1' + "0" * 5_000 + "}}", "does not fit 64 bits"),
    ('{"type": "look", "input": {"a": ' + "[" * 120 + "]" * 120 + "}}", "nested more than 100 levels deep"),
    ("[" * 100_000, "it is nested too deeply"),
    # nothing that says what it is
    ('{"input": {"path": "a"}}', 'the field "type" is missing'),
    ('{"action_input": {"path": "a"}}', 'the field "type" is missing (or "action"'),
    ('{"thought": "Well."}', 'the field "type" is missing'),
    ("{}", 'the field "type" is missing'),
    ('{"type": 3}', '"type" has to be the name of a tool'),
    ('{"action": {"name": "look"}}', '"action" has to be the name of a tool'),
    ('{"action": " "}', '"action" has to be the name of a tool'),
    ('{"type": "answer"}', "it is a final answer without a text"),
    ('{"type": "answer", "text": " "}', "it is a final answer without a text"),
    ('{"type": "answer", "text": null}', "it is a final answer without a text"),
    ('{"action": "final", "action_input": null}', "it is a final answer without a text"),
]


@pytest.mark.parametrize(("text", "problem"), PROBLEMS)
@pytest.mark.parametrize("is_last", [False, True])
def test_what_is_no_action_keeps_its_words_and_says_what_to_send(text: str, problem: str, *, is_last: bool) -> None:
    """M-1, M-8: the model reads what is wrong; its words stay in the history as they are."""
    reply = read(text, is_last=is_last)
    assert problem in reply.problem
    assert reply == Reply(text=text, action=True, problem=reply.problem)
    assert reply.problem == "it is empty" or reply.problem.endswith(
        "send exactly one JSON object, a tool call or the final answer, and nothing else"
    )


@pytest.mark.parametrize(
    ("arguments", "text", "problem"),
    [
        ('"Oslo"', "Oslo", "the arguments are text that is not JSON (Expecting value: line 1 column 1 (char 0))"),
        ("[1, 2]", "[1, 2]", "the arguments are a list, not a JSON object"),
        ('"[1, 2]"', "[1, 2]", "the arguments are a list, not a JSON object"),
        ("7", "7", "the arguments are a number, not a JSON object"),
        ("false", "false", "the arguments are a truth value, not a JSON object"),
    ],
)
def test_arguments_that_are_no_object_are_a_call_that_never_runs(arguments: str, text: str, problem: str) -> None:
    malformed = arguments_of(read(f'{{"type": "look", "input": {arguments}}}'))
    assert malformed == Malformed(text=text, problem=f"{problem}; send one JSON object")


@pytest.mark.parametrize("fields", ['"path": "a"', '"path": "a", "arguments": {}', '"input": {}, "action_input": {}'])
def test_arguments_in_the_wrong_place_are_not_lost(fields: str) -> None:
    """A call without the arguments that the model gave beside its input would be another call."""
    malformed = arguments_of(read(f'{{"type": "delete", {fields}}}'))
    assert malformed == Malformed(
        text=f"{{{fields}}}", problem='the arguments are not in one field "input" or "action_input"'
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [('{"text": "It is 42."}', "It is 42."), ('{"answer": 42}', "42"), ('{"text": "42", "sources": [1]}', "42")],
)
def test_only_the_last_step_takes_the_answers_fields_alone(text: str, answer: str) -> None:
    """M-32."""
    assert read(text, is_last=True) == answered(answer)
    assert read(text, is_last=False).problem.startswith('the field "type" is missing')


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"type": "answer", "text": "It is.", "sources": [1]}', '{"text": "It is.", "sources": [1]}'),
        ('{"thought": "So.", "final": "It is.", "sources": [1]}', '{"text": "It is.", "sources": [1]}'),
        ('{"action": "final", "action_input": "It is.", "sources": [1]}', '{"text": "It is.", "sources": [1]}'),
        ('{"type": "answer", "text": "It is."}', '{"text": "It is."}'),  # the sources may be optional
        ('{"type": "answer", "sum": 3}', '{"sum": 3}'),
        ('{"type": "answer", "text": {"sum": 3}}', '{"sum": 3}'),
        ('{"type": "answer", "text": "{\\"sum\\":3}"}', '{"sum":3}'),
        ('{"type": "answer", "text": "```json\\n{\\"sum\\":3}\\n```"}', '```json\n{"sum":3}\n```'),
        ('{"type": "answer", "text": 3}', "3"),
        ('{"type": "answer", "text": null}', "null"),
        ('{"type": "answer", "text": "Buy.", "action": "buy"}', '{"text": "Buy.", "action": "buy"}'),
    ],
)
def test_the_answer_to_a_schema_is_json_of_all_its_fields(text: str, answer: str) -> None:
    """M-24, M-31: what the answer's codec then reads."""
    assert replace(read(text, has_schema=True), reasoning="") == answered(answer)


def test_the_last_step_takes_the_fields_of_the_schema_alone() -> None:
    """M-32: with a schema, the answer's fields are those of the schema."""
    assert read('{"thought": "So.", "sum": 3}', is_last=True, has_schema=True) == answered('{"sum": 3}', "So.")
    assert read('{"answer": {"sum": 3}}', is_last=True, has_schema=True) == answered('{"sum": 3}')
    assert read('{"answer": "yes"}', is_last=True, has_schema=True) == answered('{"answer": "yes"}')
    assert read('{"answer": "yes", "sure": 1}', is_last=True, has_schema=True) == answered(
        '{"answer": "yes", "sure": 1}'
    )
    for text in ('{"sum": 3}', '{"answer": {"sum": 3}}'):
        assert read(text, is_last=False, has_schema=True).problem.startswith('the field "type" is missing')
    for text in ("{}", '{"input": {"path": "a"}}'):
        assert read(text, is_last=True, has_schema=True).problem.startswith('the field "type" is missing')


def test_native_calls_do_not_count() -> None:
    """M-40: vendor tool_calls are not used; nothing of them runs or stays."""
    native = ToolCall(id=CallId("a"), name="look", arguments={})
    reply = Reply(text='{"type": "look", "input": {}}', calls=(native,), stop="tool_calls", raw=[{"type": "tool_use"}])
    told = read_action(reply, is_last=False, has_schema=False, call_id=CALL)
    assert told.problem.startswith("it uses the provider's own tool calls")
    assert told == Reply(text=reply.text, action=True, problem=told.problem)


@pytest.mark.parametrize(
    ("stop", "words"), [("length", "cut off at the output limit"), ("content_filter", "content filter")]
)
def test_a_reply_that_was_cut_off_says_so(stop: StopReason, words: str) -> None:
    for text in ('{"type": "answer", "text": "It i', '```json\n{"final": "It is."}', ""):
        reply = read(text, stop=stop)
        assert words in reply.problem
        assert reply == Reply(text=text, stop=stop, action=True, problem=reply.problem)
    assert read('{"final": "It is."}', stop=stop) == replace(answered("It is."), stop=stop)


def test_what_the_provider_reported_stays_and_its_blocks_go() -> None:
    usage = Usage(input_tokens=7, output_tokens=3)
    reply = Reply(text='{"thought": "Mine.", "final": "Yes."}', usage=usage, model="m", wire="w", raw=[1], stop="other")
    read_ = read_action(reply, is_last=False, has_schema=False, call_id=CALL)
    assert read_ == replace(reply, text="Yes.", raw=None, reasoning="Mine.", action=True)
    private = read_action(replace(reply, reasoning="Theirs."), is_last=False, has_schema=False, call_id=CALL)
    assert private.reasoning == "Theirs."


def test_no_lone_surrogate_survives() -> None:
    reply = read('{"type": "a\\ud800", "input": {"\\udc00k": ["\\ud83d\\ude00", {"x": "\\ud800"}]}}')
    assert reply.calls[0] == ToolCall(id=CALL, name="a\ufffd", arguments={"\ufffdk": ["\U0001f600", {"x": "\ufffd"}]})
    assert read('{"final": "\\ud800"}').text == "\ufffd"
    assert read("\ud800").text == "\ufffd"
    assert arguments_of(read('{"type": "a", "input": "\\ud800"}')) == Malformed(
        text="\ufffd",
        problem="the arguments are text that is not JSON (Expecting value: line 1 column 1 (char 0)); "
        "send one JSON object",
    )


def result(name: str, result: ToolResult, call_id: CallId = CALL) -> ToolMessage:
    return ToolMessage(call_id=call_id, name=name, result=result)


def test_calls_answers_and_results_are_written_as_text_one_for_one() -> None:
    """T-9, C-1, M-40: an observation is a user message; the structured history itself is not touched."""
    asked = UserMessage(text="Read them.", parts=(TextPart(name="a", text="A"),))
    native = Reply(
        text="Let me see.",
        calls=(
            ToolCall(id=CallId("a"), name="look", arguments={"path": "é"}),
            ToolCall(id=CallId("b"), name="send", arguments=Malformed(text="{", problem="cut")),
        ),
        reasoning="private",
        raw=[1],
    )
    messages: list[Message] = [
        asked,
        native,
        result("look", Succeeded(text="42 lines"), CallId("a")),
        result("send", Denied(rule="x", reason="no"), CallId("b")),
        called("look", {"n": 1}, reasoning="private"),
        result("look", Failed(text="no such file")),
        read("Well, it is 42."),
        UserMessage(text="Your answer cannot be used."),
        answered('It is "42".', reasoning="private"),
        UserMessage(text="Sure?"),
        Reply(text="Yes."),
    ]
    before = list(messages)
    written = as_text_messages(messages, "type")
    assert messages == before
    assert written[0] is asked
    assert written == [
        asked,
        Reply(text='{"type": "look", "input": {"path": "é"}}\n{"type": "send", "input": {}}'),
        UserMessage(text="Observation (look): 42 lines"),
        UserMessage(text="Observation (send): Not run (x): no"),
        Reply(text='{"type": "look", "input": {"n": 1}}', stop="tool_calls", action=True),
        UserMessage(text="Observation: Error: no such file"),
        read("Well, it is 42."),
        UserMessage(text="Your answer cannot be used."),
        Reply(text='{"type": "answer", "text": "It is \\"42\\"."}', action=True),
        UserMessage(text="Sure?"),
        Reply(text="Yes."),
    ]
    actions = [message.text for message in as_text_messages(messages, "action") if isinstance(message, Reply)]
    assert actions == [
        '{"action": "look", "action_input": {"path": "é"}}\n{"action": "send", "action_input": {}}',
        '{"action": "look", "action_input": {"n": 1}}',
        "Well, it is 42.",
        '{"final": "It is \\"42\\"."}',
        "Yes.",
    ]


def test_the_model_is_told_the_form_and_the_tools() -> None:
    """M-31, C-1: the whole text, byte for byte, since providers cache it."""
    assert told_actions([SEARCH, FETCH], "type") == (
        "Each of your replies is exactly one JSON object and nothing else.\n"
        'A tool call: {"type": NAME, "input": {...}}. The next message is then its result and begins with '
        '"Observation".\n'
        'The final answer: {"type": "answer", "text": "the whole answer"}.\n'
        "The tools:\n"
        "- web.search: Search the web.\n"
        '  input: {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}\n'
        "- web.fetch\n"
        '  input: {"type": "object", "properties": {}}'
    )
    assert told_actions([FETCH], "action") == (
        "Each of your replies is exactly one JSON object and nothing else.\n"
        'A tool call: {"thought": "why", "action": NAME, "action_input": {...}}. The next message is then its result '
        'and begins with "Observation".\n'
        'The final answer: {"thought": "why", "final": "the whole answer"}.\n'
        "The tools:\n"
        "- web.fetch\n"
        '  action_input: {"type": "object", "properties": {}}'
    )


def test_without_tools_only_the_answer_is_told() -> None:
    for form, shape in zip(FORMS, ('{"type": "answer", "text": ', '{"thought": "why", "final": '), strict=True):
        told = told_actions([], form)
        assert shape in told
        assert "NAME" not in told
        assert "tool" not in told


def test_a_workspaces_own_text_is_told_in_its_place() -> None:
    """M-39."""
    listed = '- web.fetch\n  input: {"type": "object", "properties": {}}'
    assert told_actions([FETCH], "type", "One of:\n{tools}\n{not a place}") == f"One of:\n{listed}\n{{not a place}}"
    assert told_actions([FETCH], "type", "Act.\n") == f"Act.\n\n{listed}"
    assert told_actions([], "type", "One of: {tools}") == "One of: (no tools: give the final answer)"
    odd = replace(FETCH, description="{tools} \ud800")
    assert told_actions([odd], "type", "{tools}").startswith("- web.fetch: {tools} \ufffd\n")


def test_the_last_step_is_told_how_to_answer() -> None:
    """M-9, M-32: with the form of the protocol; in plain words for native calls."""
    start = "No tool can run any more. Give your final answer now, from what you have"
    assert told_final(None, has_schema=False) == f"{start}."
    assert told_final(None, has_schema=True) == f"{start}: the JSON value that fits the schema."
    assert told_final("type", has_schema=False) == (
        f'{start}, as {{"type": "answer", "text": ...}} with the whole answer in "text".'
    )
    assert told_final("action", has_schema=True) == (
        f'{start}, as {{"thought": "why", "final": ...}} with the JSON value that fits the schema in "final".'
    )


numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
field_names = st.sampled_from(
    ["type", "input", "text", "thought", "action", "action_input", "final", "answer", "query", "sources"]
)
field_values = json_values | st.sampled_from(["answer", "final", "look", '{"a": 1}', "```{}```", "{", '"'])
objects = st.dictionaries(field_names, field_values, max_size=4)
any_text = st.text(st.characters() | st.characters(categories=["Cs"]))
pieces = objects.map(json.dumps) | st.sampled_from(
    ["```", "```json\n", "\n", "{", "}", "[", "\\ud800", "\ufeff", "So: "]
)
texts = any_text | objects.map(json.dumps) | st.lists(pieces, max_size=4).map("".join)
stops: st.SearchStrategy[StopReason] = st.sampled_from(["stop", "tool_calls", "length", "content_filter", "other"])


@given(text=texts, stop=stops, is_last=st.booleans(), has_schema=st.booleans(), is_native=st.booleans())
@example(text='{"action": {}}', stop="stop", is_last=False, has_schema=False, is_native=False)
def test_any_text_is_read_once_and_for_all(
    text: str, stop: StopReason, *, is_last: bool, has_schema: bool, is_native: bool
) -> None:
    """C-1: whatever a model writes is one call, an answer in words, or a problem; reading it again changes nothing."""
    calls = (ToolCall(id=CallId("a"), name="look", arguments={}),) if is_native else ()
    reply = Reply(text=text, calls=calls, stop=stop, raw=[1])
    once = read_action(reply, is_last=is_last, has_schema=has_schema, call_id=CALL)
    assert once.action
    assert once.raw is None
    assert once == read_action(reply, is_last=is_last, has_schema=has_schema, call_id=CALL)
    assert read_action(once, is_last=not is_last, has_schema=not has_schema, call_id=CallId("b")) is once
    is_answer = bool(once.text.strip()) and not once.problem
    assert sorted([bool(once.calls), bool(once.problem), is_answer]) == [False, False, True]
    assert (once.stop == "tool_calls") == bool(once.calls)
    json.dumps([once.text, [call.name for call in once.calls]], ensure_ascii=False).encode()
    for call in once.calls:
        if isinstance(call.arguments, Malformed):
            assert call.arguments.problem
            (call.arguments.text + call.arguments.problem).encode()
        else:
            json.dumps(call.arguments, ensure_ascii=False, allow_nan=False).encode()
    for form in FORMS:
        assert len(as_text_messages([once], form)) == 1


tool_names = st.text(min_size=1, max_size=12).filter(
    lambda name: name.strip() and name.strip().casefold().replace(" ", "_") not in {"answer", "final", "final_answer"}
)


@given(name=tool_names, arguments=st.dictionaries(st.text(max_size=4), json_values, max_size=3), fence=st.booleans())
def test_a_call_is_read_back_from_how_it_was_written(name: str, arguments: JsonObject, *, fence: bool) -> None:
    """C-1: both forms carry every call, with the types of its arguments."""
    for form in FORMS:
        (written,) = as_text_messages([called(name, arguments)], form)
        assert isinstance(written, Reply)
        text = f"```json\n{written.text}\n```" if fence else written.text
        assert repr(read(text)) == repr(called(name, arguments))


@given(text=st.text(min_size=1).filter(str.strip) | json_values.map(json.dumps))
def test_an_answer_is_read_back_from_how_it_was_written(text: str) -> None:
    """T-8, M-31."""
    for form in FORMS:
        (written,) = as_text_messages([answered(text)], form)
        assert isinstance(written, Reply)
        assert read(written.text) == answered(text)


def test_numbers_that_fit_are_carried_to_the_last_digit() -> None:
    arguments = arguments_of(read(f'{{"type": "a", "input": {{"n": [{-(2**63)}, {2**64 - 1}, 1e308, 0.1]}}}}'))
    assert arguments == {"n": [-(2**63), 2**64 - 1, 1e308, 0.1]}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"type": "answer", "thought": "t", "v": 1}', '{"thought": "t", "v": 1}'),
        ('{"type": "answer", "v": 1, "input": null}', '{"v": 1, "input": null}'),
        ('{"action": "final", "action_input": 3, "thought": "t"}', '{"text": 3, "thought": "t"}'),
    ],
)
def test_an_answer_keeps_fields_of_its_schema_that_actions_have_too(text: str, answer: str) -> None:
    """M-28, M-31: a schema may call a field `thought`; a call's thought is never an argument."""
    names = ("thought", "input", "v")
    told = read_action(Reply(text=text), is_last=False, has_schema=True, call_id=CALL, answer_fields=names)
    assert (told.text, told.problem) == (answer, "")
    call = read_action(
        Reply(text='{"thought": "t", "action": "look", "action_input": {"v": 1}}'),
        is_last=False,
        has_schema=True,
        call_id=CALL,
        answer_fields=names,
    )
    assert [each.arguments for each in call.calls] == [{"v": 1}]
