"""Recorded turns against a changed agent: which requests would be other ones, and where; nothing is run or asked."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from oribi.core.calls import CallId
from oribi.core.errors import JournalError
from oribi.core.events import ModeChosen, ModelAsked, TurnStarted
from oribi.core.lock import json_hash
from oribi.core.messages import Reply, ToolMessage, UserMessage
from oribi.core.modes import command_call
from oribi.core.prompt import Prompt, prompt_for
from oribi.core.turn import Turn, apply

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oribi.core.calls import SessionId, ToolSpec
    from oribi.core.events import Event, FilesRead, Recorded
    from oribi.core.messages import Message
    from oribi.core.modes import Mode
    from oribi.ports import AgentSnapshot
    from oribi.replay.encoders import Encoding
    from oribi.replay.versions import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One request that would be another one. `parts` name what differs; `diff` shows it, line by line."""

    turn_id: str
    step: int
    attempt: int
    seq: int
    parts: tuple[str, ...]
    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """How the requests of a session compare. `unlike_the_record` are those that no longer encode as they were sent.

    The latter say that Oribi itself, not the agent, builds other bytes than it did then.
    """

    session_id: SessionId
    requests: int
    changes: tuple[Change, ...]
    unlike_the_record: tuple[int, ...]


def compare(session_id: SessionId, records: Sequence[Recorded], version: Version, encoders: Encoding) -> Compared:
    """Compare each recorded request with the one that another `version` of its agent would lead to.

    Replies and results are the recorded ones. So are the memory, which agents change by themselves, and the date line.

    Raises:
        JournalError: The records cannot be read, or the changed agent cannot stand in the recorded turns.
        ConfigError: A provider is not configured any more.

    """
    was, now = Turn(session_id=session_id), Turn(session_id=session_id)
    changes: list[Change] = []
    unlike: list[int] = []
    requests = 0
    for record in records:
        event = record.event
        if isinstance(event, ModelAsked) and was.started is not None and now.started is not None:
            requests += 1
            _, files = _in_mode(version, now.started.mode)
            now.files = replace(files, memory=was.files.memory, memory_read=was.files.memory_read)
            recorded = prompt_for(was, was.started, step=event.step, choice=event.choice)
            choice = min(event.choice, len(now.started.fallbacks))
            changed = prompt_for(now, now.started, step=event.step, choice=choice)
            sent = encoders.get(recorded.model).build_request(recorded, None)
            if sent.sha256 != event.request.sha256:
                unlike.append(record.seq)
            if sent.sha256 != encoders.get(changed.model).build_request(changed, None).sha256:
                parts, diff = _differences(recorded, changed)
                changes.append(
                    Change(
                        turn_id=record.turn_id or "",
                        step=event.step,
                        attempt=event.attempt,
                        seq=record.seq,
                        parts=parts,
                        diff=diff,
                    )
                )
        if isinstance(event, TurnStarted):
            changes += _other_ways(event, version, record)
        apply(was, record)
        try:
            apply(now, replace(record, event=_changed(event, version)))
        except JournalError as error:
            raise JournalError(f"the changed agent cannot stand in the recorded turn: {error}") from error
    return Compared(session_id=session_id, requests=requests, changes=tuple(changes), unlike_the_record=tuple(unlike))


def _in_mode(version: Version, mode: str) -> tuple[AgentSnapshot, FilesRead]:
    if mode not in version:
        raise JournalError(f"the changed agent has no mode {mode!r}, which the recorded turn was in")
    return version[mode]


def _changed(event: Event, version: Version) -> Event:
    match event:
        case ModeChosen():
            agent, _ = _in_mode(version, event.mode)
            return replace(event, policy=agent.policy, tools=agent.tools, instructions=agent.instructions)
        case TurnStarted():
            agent, _ = _in_mode(version, event.mode)
            return replace(
                event,
                model=agent.model,
                fallbacks=agent.fallbacks if len(agent.fallbacks) >= len(event.fallbacks) else event.fallbacks,
                policy=agent.policy,
                tools=agent.tools,
                instructions=agent.instructions,
                routes=tuple(_route(each, version) for each in event.routes),
                output_schema=event.output_schema if _came_with_the_input(event, agent) else agent.output_schema,
                datetime_line=event.datetime_line if agent.policy.datetime_line else "",
            )
        case _:
            return event


def _other_ways(started: TurnStarted, version: Version, record: Recorded) -> list[Change]:
    """Where the input would not go the way it went: to another command or none, or to a router or none."""
    agent, _ = _in_mode(version, started.mode)
    call_id = CallId(f"{started.turn_id}_command")
    call = None if started.mode else command_call(agent.commands, started.input.text, call_id)
    ways = (
        ("the command", started.command, call),
        ("the modes to choose from", [mode.name for mode in started.routes], [mode.name for mode in agent.routes]),
    )
    return [
        Change(
            turn_id=record.turn_id or "", step=0, attempt=0, seq=record.seq, parts=(name,), diff=f"- {was}\n+ {now}\n"
        )
        for name, was, now in ways
        if was != now
    ]


def _route(mode: Mode, version: Version) -> Mode:
    """A mode that the router could choose, as it is in the other version, if it still is."""
    if mode.name not in version:
        return mode
    agent, _ = version[mode.name]
    return replace(mode, policy=agent.policy, tools=agent.tools, instructions=agent.instructions)


def _came_with_the_input(started: TurnStarted, agent: AgentSnapshot) -> bool:
    """Whether the schema of a turn is its input's, not its agent's, whose own is in the lock by its hash.

    A turn without a lock does not say. Then the schema counts as the input's where the agent has none now.
    """
    if started.output_schema is None:
        return False
    if started.lock is None:
        return agent.output_schema is None
    return started.lock.get("output_schema") != json_hash(started.output_schema)


def _differences(was: Prompt, now: Prompt) -> tuple[tuple[str, ...], str]:
    found = list(_parts(was, now)) or [("its encoding", "", "")]
    texts = [_diff(name, left, right) for name, left, right in found]
    return tuple(name for name, _, _ in found), "\n".join(text for text in texts if text)


def _parts(was: Prompt, now: Prompt) -> Iterator[tuple[str, str, str]]:
    """What differs: its name, and both sides as text."""
    if was.model.ref != now.model.ref:
        yield "model", was.model.ref, now.model.ref
    if was.model.parameters != now.model.parameters:
        yield "parameters", _text(was.model.parameters), _text(now.model.parameters)
    if was.system != now.system:
        yield "system prompt", was.system, now.system
    old, new = ({tool.name: tool for tool in prompt.tools} for prompt in (was, now))
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            yield f"tool {name}", _tool_text(old.get(name)), _tool_text(new.get(name))
    if list(old) != list(new) and sorted(old) == sorted(new):
        yield "order of the tools", "\n".join(old), "\n".join(new)
    for index in range(max(len(was.messages), len(now.messages))):
        left, right = (prompt.messages[index : index + 1] for prompt in (was, now))
        if left != right:
            yield f"message {index + 1}", _message_text(left), _message_text(right)
            break
    if was.output_schema != now.output_schema:
        yield "output schema", _text(was.output_schema), _text(now.output_schema)


def _diff(name: str, left: str, right: str) -> str:
    lines = difflib.unified_diff(
        left.splitlines(), right.splitlines(), f"recorded {name}", f"changed {name}", n=1, lineterm=""
    )
    return "\n".join(lines)


def _tool_text(tool: ToolSpec | None) -> str:
    if tool is None:
        return ""
    return f"{tool.name}: {tool.description}\neffect {tool.effect}\n{_text(tool.parameters)}"


def _message_text(messages: Sequence[Message]) -> str:
    match list(messages):
        case [UserMessage(text=text)]:
            return text
        case [Reply(text=text, calls=calls)]:
            return "\n".join([text, *(f"{call.name} {call.arguments}" for call in calls)])
        case [ToolMessage(result=result)]:
            return str(result)
        case _:
            return ""


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
