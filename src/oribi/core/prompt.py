"""The prompt: everything sent to the model, built purely from the turn, in a fixed order, byte-stable.

Order (O-11 to O-14): the agent's instructions, bootstrap files, skills, memory, the date line; then the history; the
tools are the turn's frozen catalogue. Every part has a cap: files and memory are cut where they are read, results
where they are settled, history by whole turns here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from oribi.core.calls import Failed, Succeeded
from oribi.core.estimate import prompt_tokens
from oribi.core.json_actions import as_text_messages, told_actions, told_final
from oribi.core.messages import Reply, ToolMessage, UserMessage

if TYPE_CHECKING:
    from oribi.core.calls import CallId, JsonObject, ToolSpec
    from oribi.core.events import ContextCut, ContextTrimmed, TurnStarted
    from oribi.core.messages import Message, ModelChoice
    from oribi.core.policy import ActionForm, LoopPolicy
    from oribi.core.turn import Exchange, Turn

MOST_SUMMED_UP = 20
"""So many turns, the latest of those that are left out, leave their first words behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What one model call is told.

    `first` is the index within the session of `messages[0]`, so that a wire can keep what it encoded before:
    messages of one session never change, they are only appended to, and dropped from the front by whole turns. When
    they do change, because the context was cut, so does `revision`. The answer has to fit `output_schema`, if there is
    one; the system text says so too. Of the open turn, `left_out` messages are not sent; `other_calls` are ids of calls
    that are not sent now, but may be in a later turn.
    """

    model: ModelChoice
    system: str
    messages: list[Message]
    tools: tuple[ToolSpec, ...]
    first: int
    history_turns: int
    turns_left_out: int
    memory_characters: int
    revision: int = 0
    output_schema: JsonObject | None = None
    left_out: int = 0
    other_calls: frozenset[CallId] = frozenset()

    @property
    def reply_index(self) -> int:
        """The place in the session that the reply will take."""
        return self.first + len(self.messages) + self.left_out


def prompt_for(turn: Turn, started: TurnStarted, *, step: int, choice: int = 0) -> Prompt:
    """What is sent for `step`: the router's question at step 0, else the prompt with a bound on its reply (M-14)."""
    prompt = build_prompt(turn, started, step=step, choice=choice) if step > 0 else _route_prompt(turn, started)
    most = started.policy.limits.output_tokens
    if most is None:
        return prompt
    left = tokens_left(turn, started, prompt)
    return _with_most_tokens(prompt, most if left is None else max(1, min(most, left)))


def tokens_left(turn: Turn, started: TurnStarted, prompt: Prompt) -> int | None:
    """How many tokens of the turn's budget are left for a reply to `prompt`, by estimate; None: it has no bound."""
    total = started.policy.limits.total_tokens
    if total is None:
        return None
    return total - turn.counters.total_tokens - prompt_tokens(prompt, started.policy.estimator)


def build_prompt(
    turn: Turn,
    started: TurnStarted,
    *,
    step: int,
    choice: int = 0,
    cut: ContextCut | None = None,
    trim: ContextTrimmed | None = None,
) -> Prompt:
    """The prompt for the model call of `step` of `turn`, which `started` began, to its model number `choice`.

    `cut` and `trim` are how much of it may be sent; default: what the turn's last ones left.
    """
    policy = started.policy
    cut, trim = cut or turn.cut, trim or turn.trim
    limit = min(
        policy.max_history_turns,
        policy.max_history_turns if cut is None else cut.history_turns,
        policy.max_history_turns if trim is None else trim.history_turns,
    )
    sent = turn.history[-limit:] if limit > 0 else []
    messages: list[Message] = []
    for exchange in sent:
        messages += exchange.messages
    own = turn.messages if trim is None else without_steps(turn.messages, trim.steps_left_out)
    messages += own
    if cut is not None:
        messages = [_shortened(message, cut.result_characters) for message in messages]
    if trim is not None and policy.summary == "extractive":
        messages = with_summary(messages, turn.history[: len(turn.history) - len(sent)])
    is_action = speaks_actions(policy)
    if is_action:
        messages = as_text_messages(messages, policy.action_form)
    has_tools = not is_action and not is_last_call(turn, started, step)
    return Prompt(
        model=(started.model, *started.fallbacks)[choice],
        system=system_text(turn, started, step=step),
        messages=messages,
        tools=started.tools if has_tools else (),
        first=sent[0].first if sent else turn.first,
        history_turns=len(sent),
        turns_left_out=len(turn.history) - len(sent),
        memory_characters=len(turn.files.memory),
        revision=turn.revision,
        output_schema=None if is_action else started.output_schema,
        left_out=len(turn.messages) - len(own),
        other_calls=frozenset() if cut is None and trim is None else _other_calls(turn, sent, own),
    )


def _other_calls(turn: Turn, sent: list[Exchange], own: list[Message]) -> frozenset[CallId]:
    """The ids of calls that the turn leaves out and a later turn, which begins with all again, may send."""
    left = [*(message for exchange in turn.history for message in exchange.messages), *turn.messages]
    here = [*(message for exchange in sent for message in exchange.messages), *own]
    return frozenset(_call_ids(left) - _call_ids(here))


def _call_ids(messages: list[Message]) -> set[CallId]:
    return {call.id for message in messages if isinstance(message, Reply) for call in message.calls}


def _route_prompt(turn: Turn, started: TurnStarted) -> Prompt:
    """The prompt in which the model chooses the turn's mode: the request alone, and what the modes are for (M-5)."""
    modes = "\n".join(f"- {mode.name}: {mode.description}" for mode in started.routes if mode.description)
    system = (
        "Choose how the request is to be handled. Reply with one of these names and nothing else:\n"
        f"{modes}\n- none: anything else, also what one tool or plain knowledge can answer"
    )
    return Prompt(
        model=started.model,
        system=system,
        messages=turn.messages[:1],
        tools=(),
        first=turn.first,
        history_turns=0,
        turns_left_out=len(turn.history),
        memory_characters=0,
        revision=turn.revision,
    )


def speaks_actions(policy: LoopPolicy) -> bool:
    """Whether the model writes JSON actions; a turn without steps is one plain answer."""
    return policy.protocol == "json_action" and policy.max_steps > 0


def most_steps(policy: LoopPolicy) -> int:
    """How often the model may decide: `max_steps`, and once for a turn that is a plain answer."""
    return max(1, policy.max_steps)


def is_last_step(turn: Turn, started: TurnStarted, step: int) -> bool:
    """Whether no tool may run in `step`, since it is for the answer (M-9, M-12, M-36)."""
    policy = started.policy
    if policy.max_steps == 0 or (turn.wrap_up is not None and step >= turn.last_step - 1):
        return True
    return policy.cap_outcome == "final_only" and step >= policy.max_steps


def is_last_call(turn: Turn, started: TurnStarted, step: int) -> bool:
    """Whether the model call of `step` is the last there is, by steps or by budget, and so is for the answer.

    Where the cap's last step is for the answer, what was found is to be used before the budget is spent, too.
    """
    if started.policy.cap_outcome != "final_only" or step == 0:
        return is_last_step(turn, started, step)
    coming = 0 if turn.unsettled else 1  # calls are judged after their model call was counted, a prompt is made before
    limits = started.policy.limits
    bounds = ((limits.model_calls, turn.counters.model_calls), (limits.total_steps, turn.counters.total_steps))
    has_room = all(limit is None or limit - spent - coming > 0 for limit, spent in bounds)
    return not has_room or is_last_step(turn, started, step)


def _with_most_tokens(prompt: Prompt, most: int) -> Prompt:
    """`prompt` with a reply of at most so many tokens asked for; what the agent's own parameters say holds if less."""
    own = prompt.model.parameters.get("max_tokens")
    if isinstance(own, int) and own <= most:
        return prompt
    return replace(prompt, model=replace(prompt.model, parameters={**prompt.model.parameters, "max_tokens": most}))


def system_text(turn: Turn, started: TurnStarted, *, step: int = 1) -> str:
    """The system part: the parts in the policy's order, then memory, how to answer, the date line (C-14)."""
    files, policy = turn.files, started.policy
    texts = {"instructions": started.instructions, "bootstrap": files.bootstrap, "skills": files.skills}
    parts = [texts[name] for name in policy.prompt_order]
    parts.append(files.memory)
    is_last = is_last_call(turn, started, step)
    is_action = speaks_actions(policy)
    if is_action:
        parts.append(told_actions(() if is_last else started.tools, policy.action_form, files.actions))
    if started.output_schema is not None:
        parts.append(_schema_line(started.output_schema, policy.action_form if is_action else None))
    if is_last and policy.max_steps > 0:
        parts.append(told_final(policy.action_form if is_action else None, started.output_schema is not None))
    parts.append(started.datetime_line)
    return "\n\n".join(part for part in parts if part)


def without_steps(messages: list[Message], steps: int) -> list[Message]:
    """The open turn's messages without its first `steps` replies and their results; what persons said stays."""
    kept: list[Message] = []
    replies = 0
    for message in messages:
        replies += isinstance(message, Reply)
        if replies > steps or isinstance(message, UserMessage):
            kept.append(message)
    return kept


def with_summary(messages: list[Message], left_out: list[Exchange]) -> list[Message]:
    """`messages` with the first words of the turns that are left out before the first of them."""
    lines: list[str] = []
    for exchange in left_out[-MOST_SUMMED_UP:]:
        said = [each.text for each in exchange.messages if isinstance(each, UserMessage | Reply) and each.text.strip()]
        if said:
            lines.append(f"- {_first_words(said[0])} -> {_first_words(said[-1])}")
    first = messages[0] if messages else None
    if not lines or not isinstance(first, UserMessage):
        return messages
    digest = "\n".join(("[Earlier in this conversation, in short:", *lines, "]"))
    return [replace(first, text=f"{digest}\n\n{first.text}"), *messages[1:]]


def _first_words(text: str, most: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


def _schema_line(schema: JsonObject, form: ActionForm | None) -> str:
    """How the answer has to look; `form` is that of the JSON action it stands in, None when it is the whole reply."""
    match form:
        case None:
            place = "Give your final answer as one JSON value, and nothing else,"
        case "type":
            place = 'Give your final answer as one JSON object of "type": "answer" whose other fields make a value'
        case "action":
            place = 'Give as "final" a JSON value'
        case _:
            assert_never(form)
    return f"{place} that fits this JSON Schema: {json.dumps(schema)}"


def _shortened(message: Message, characters: int) -> Message:
    """`message` with its tool result cut to `characters`, which the text then says."""
    if not isinstance(message, ToolMessage) or not isinstance(message.result, Succeeded | Failed):
        return message
    text = message.result.text
    if len(text) <= characters:
        return message
    marker = f"\n[{len(text) - characters} characters left out: the conversation did not fit the model's context]"
    return replace(message, result=replace(message.result, text=text[:characters] + marker))
