"""A trace as text: the timeline of a session for a person to read, with long texts cut unless all is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oribi.cli.paint import PLAIN, Paint
from oribi.cli.wording import (
    bytes_text,
    counted,
    cut,
    duration,
    local_time,
    one_json,
    one_line,
    safe,
    tokens_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oribi.cli.tracing import AskTrace, CallTrace, SessionTrace, StepTrace, TurnTrace
    from oribi.core.budget import Spent
    from oribi.core.events import ContextTrimmed, ParentCall

MOST_LINES = 6
MOST_CHARACTERS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How to show a timeline: with which colours, how wide, and whether long texts are shown whole (`full`)."""

    paint: Paint = PLAIN
    columns: int = 80
    full: bool = False


def timeline(session: SessionTrace, form: Form) -> str:
    """The timeline of a whole session."""
    head = f"session {session.session_id}  agent {session.agent}  channel {session.channel}  by {session.principal}"
    parts = [form.paint.bold(safe(head)), f"opened {_local(session.opened_at)}, {counted(len(session.turns), 'turn')}"]
    if session.forked_from is not None:
        parts.append(f"a fork of session {safe(session.forked_from)}")
    if session.parent is not None:
        parts.append(parent_text(session.parent))
    parts += [form.paint.yellow(f"content was erased by {safe(by)}") for by in session.erasures]
    for turn in session.turns:
        parts += ["", *_turn_lines(turn, form)]
    return "\n".join(parts) + "\n"


def parent_text(parent: ParentCall) -> str:
    """Which call of another session a session answers."""
    call = f"{parent.turn_id}/{parent.step}/{parent.call_id}"
    return safe(f"nested in session {parent.session_id}, for its call {call}")


def trim_text(trim: ContextTrimmed) -> str:
    """What was left out of the messages, and their estimated size before and after (T-19)."""
    return f"removed {trim.removed}, estimated tokens {trim.tokens_before} -> {trim.tokens_after}"


def nested_text(spent: Spent) -> str:
    """What a turn nested in a call has spent."""
    tokens = tokens_text(spent.input_tokens, spent.output_tokens)
    return f"{counted(spent.model_calls, 'model call')}, {counted(spent.tool_calls, 'tool')}, {tokens}"


def spent_text(turn: TurnTrace) -> str:
    """What a turn spent: `3 steps, 2 tools, 1,204 in / 88 out tokens, 2.4 s`."""
    parts = [counted(len(turn.steps), "step"), counted(turn.tool_calls, "tool")]
    if turn.command is not None:
        parts = ["no model", parts[1]]
    else:
        parts.append(tokens_text(turn.input_tokens, turn.output_tokens, complete=turn.tokens_complete))
    if turn.seconds is not None:
        parts.append(duration(turn.seconds * 1000))
    return ", ".join(parts)


def _turn_lines(turn: TurnTrace, form: Form) -> Iterator[str]:
    paint = form.paint
    yield paint.bold(f"turn {turn.turn_id}") + f"  {_local(turn.started_at)}  {_ended(turn, paint)}"
    yield f"  {spent_text(turn)}"
    mode = f"mode {safe(turn.mode)}, " if turn.mode else ""
    yield paint.dim(f"  {mode}model {safe(turn.model)}, tools: {safe(', '.join(turn.tools)) or 'none'}")
    for files in turn.files:
        memory = f"memory {files.memory_characters:,} of {files.memory_read_characters:,} characters"
        yield paint.dim(f"  files: {safe(', '.join(files.sources)) or 'none'}; {memory}")
    yield from _block("in", turn.input, form, "  ")
    for name in turn.attached:
        yield f"  {paint.dim('attached')} {one_line(name, max(10, form.columns - 11))}"
    for added in turn.joined:
        yield from _block("joined by", added, form, "  ")
    if turn.route is not None:
        yield from _step_lines(turn.route, form)
    if turn.command is not None:
        yield f"  {paint.bold('command')}  no model was asked"
        yield from _call_lines(turn.command, form)
    yield from _all_step_lines(turn, form)
    if turn.quota is not None:
        yield paint.yellow(f"  no room left in the {safe(turn.quota)}")
    for what in turn.withdrawn:
        yield paint.yellow(f"  withdrawn: {safe(what)}")
    for by in turn.stopped_by:
        yield paint.yellow(f"  asked to stop: {safe(by)}")
    if turn.end is None:
        yield paint.yellow("  open: `oribi resume` continues it")
    elif turn.end == "completed":
        yield f"  end {paint.green(turn.end)}"
    else:
        yield from _block(f"end {turn.end}:", turn.text or "", form, "  ")


def _all_step_lines(turn: TurnTrace, form: Form) -> Iterator[str]:
    """The steps, and before the one that wraps up, why it does."""
    wrap_up = "" if turn.wrap_up is None else form.paint.yellow(f"  wrapped up: {one_line(turn.wrap_up, form.columns)}")
    for step in turn.steps:
        if step.wraps_up and wrap_up:
            yield wrap_up
            wrap_up = ""
        yield from _step_lines(step, form)
    if wrap_up:
        yield wrap_up
    yield from _trim_lines(turn.trims, form)


def _step_lines(step: StepTrace, form: Form) -> Iterator[str]:
    paint = form.paint
    yield from _trim_lines(step.trims, form)
    for ask in step.asks:
        name = f"step {step.step}" if step.step else "route"
        name += ", the wrap-up" if step.wraps_up else ""
        name += f", attempt {ask.attempt}" if ask.attempt > 1 else ""
        spent = "no reply" if ask.milliseconds is None else duration(ask.milliseconds)
        is_answered = ask is step.asks[-1] and step.usage is not None
        if is_answered and step.usage is not None:
            spent += f", {tokens_text(step.usage.input_tokens, step.usage.output_tokens)}"
            spent += "" if step.stop in {"stop", "tool_calls"} else f", stopped: {step.stop}"
        yield f"  {paint.bold(name)}  {spent}" + (f"  {safe(ask.model)}" if ask.model != step.asks[0].model else "")
        yield paint.dim(f"    sent {_request_text(ask)}")
        if ask.error_kind is not None:
            yield from _block(paint.red(f"failed ({ask.error_kind}):"), ask.error or "", form, "    ")
    for cut_made in step.cuts:
        sizes = f"{cut_made.characters_before:,} to {cut_made.characters_after:,} characters"
        yield paint.yellow(f"    too long for the model: messages cut from {sizes}")
    if step.reasoning:
        yield from _block("thinks", step.reasoning, form, "    ")
    if step.reply:
        says = "says" if step.problem is None else "wrote"
        yield from _block(says if step.step else "chooses", step.reply, form, "    ")
    if step.problem is not None:
        yield from _block(paint.red("cannot be used:"), step.problem, form, "    ")
    for call in step.calls:
        yield from _call_lines(call, form)
    if step.answer_problem is not None:
        yield from _block(paint.red("does not fit the schema:"), step.answer_problem, form, "    ")
    for notice in step.notices:
        yield from _block("told the model:", notice, form, "    ")


def _trim_lines(trims: list[ContextTrimmed], form: Form) -> Iterator[str]:
    for trim in trims:
        yield form.paint.yellow(f"  context trimmed: {trim_text(trim)}")


def _request_text(ask: AskTrace) -> str:
    request = ask.request
    left_out = f" ({request.turns_left_out} left out)" if request.turns_left_out else ""
    return (
        f"{counted(request.messages, 'message')}, {bytes_text(request.bytes)}: system {request.system_characters:,} "
        f"and memory {request.memory_characters:,} characters, {counted(request.history_turns, 'earlier turn')}"
        f"{left_out}, {counted(request.tools, 'tool')}"
    )


def _call_lines(call: CallTrace, form: Form) -> Iterator[str]:
    paint = form.paint
    yield f"    {paint.bold(safe(call.name))}  {_arguments(call, form)}"
    facts = [f"{call.verdict or 'not judged'}{f' by {safe(call.rule)}' if call.rule else ''}"]
    starts = call.started - len(call.faults)
    if starts > 1:
        facts.append(f"started {starts} times")
    if call.probed is not None:
        facts.append(f"probed: {call.probed}")
    if call.resolved_by is not None:
        facts.append(f"settled by {safe(call.resolved_by)}")
    if call.milliseconds is not None:
        facts.append(duration(call.milliseconds))
    for number, fault in enumerate(call.faults, 1):
        yield from _block(paint.red(f"attempt {number} failed:"), fault, form, "      ")
    for session_id, spent in call.nested.items():
        yield f"      in session {safe(session_id)}: {nested_text(spent)}"
    outcome = call.outcome or ("started, no result" if call.started else "not started")
    colour = {"succeeded": paint.green, "failed": paint.red}.get(outcome, paint.yellow)
    size = "" if call.result is None else f", {counted(len(call.result), 'character')}"
    yield f"      {colour(outcome)}{size}" + paint.dim(f"  ({'; '.join(facts)})")
    text = call.result if call.result is not None else call.reason
    if text:
        yield from _block("", text, form, "      ")


def _arguments(call: CallTrace, form: Form) -> str:
    if isinstance(call.arguments, dict):
        text = ", ".join(f"{key}={one_json(value)}" for key, value in call.arguments.items())
    else:
        text = f"{one_json(call.arguments)} (not a JSON object)"
    return safe(text) if form.full else cut(safe(text), max(40, form.columns - 8 - len(call.name)))


def _block(label: str, text: str, form: Form, indent: str) -> Iterator[str]:
    """A labelled text: on one line if it fits, else indented below its label; cut with a marker unless in full."""
    lines = safe(text).rstrip("\n").split("\n")
    rest = 0
    if not form.full:
        lines, rest = _cut_lines(lines)
    fits = len(lines) == 1 and rest == 0 and len(indent) + len(label) + 2 + len(lines[0]) <= form.columns
    if label and fits:
        yield f"{indent}{label} {lines[0]}"
        return
    if label:
        yield f"{indent}{label}"
    for line in lines:
        yield f"{indent}{form.paint.dim('|')} {line}".rstrip()
    if rest:
        yield form.paint.dim(f"{indent}| ... {rest:,} more characters (--full shows all)")


def _cut_lines(lines: list[str]) -> tuple[list[str], int]:
    """The first lines, and how many characters are left out."""
    whole = len("\n".join(lines))
    if len(lines) <= MOST_LINES and whole <= MOST_CHARACTERS:
        return lines, 0
    kept = "\n".join(lines[:MOST_LINES])[:MOST_CHARACTERS]
    return kept.split("\n"), whole - len(kept)


def _ended(turn: TurnTrace, paint: Paint) -> str:
    if turn.end is None:
        return paint.yellow("open")
    return paint.green(turn.end) if turn.end == "completed" else paint.yellow(turn.end)


def _local(utc: str) -> str:
    """A moment of a trace, on this machine's clock."""
    from datetime import datetime

    return local_time(int(datetime.fromisoformat(utc).timestamp() * 1_000_000)) if utc else "unknown"
