"""`oribi run`: one turn, streamed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from oribi.cli.completing import complete_agent, complete_mode
from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.cli.live import LiveTurn
    from oribi.cli.turns import Stage
    from oribi.core.calls import JsonObject
    from oribi.core.ends import TurnEnd
    from oribi.core.mail import Input
    from oribi.core.messages import InputPart
    from oribi.core.policy import Busy


@click.command(
    "run",
    epilog=examples(
        'oribi run "Check the error log"',
        'oribi run --agent ops --session nightly "And now?"',
        "git diff | oribi run --agent reviewer",
        'oribi run --agent ops --mode reason "Why is the log so long?"',
        'oribi run --quiet "Name this project" > name.txt',
        'oribi run --json "Check the error log" | jq .end',
        'oribi run --schema person.json "Who wrote this?" | jq .name',
        'oribi run --attach invoice.pdf --attach photo.jpg "Is this the same order?"',
    ),
)
@global_options()
@click.argument("text", required=False)
@click.option(
    "--agent",
    metavar="NAME",
    shell_complete=complete_agent,
    help="Who answers. [default: the session's agent, else default_agent of oribi.toml]",
)
@click.option("--session", metavar="ID", help="Continue this session, or begin one of this name. [default: a new one]")
@click.option(
    "--mode",
    metavar="NAME",
    default="",
    shell_complete=complete_mode,
    help="In one of the agent's modes. [default: none]",
)
@click.option("--schema", metavar="FILE", help="The answer is JSON that fits this JSON Schema: one line on stdout.")
@click.option(
    "--attach",
    metavar="FILE",
    multiple=True,
    help="Send a text, an image or a PDF with TEXT; at most 20 MB. May be given more than once.",
)
@click.option(
    "--busy",
    type=click.Choice(["queue", "refuse", "steer", "interrupt"]),
    help="If a turn of the session is under way: wait for its end, give up, join it, or end it. [default: the agent's]",
)
@click.option("--json", "as_json", is_flag=True, help="Put the outcome on stdout as one JSON object.")
@click.option("--quiet", is_flag=True, help="Only the final answer on stdout, only errors on stderr.")
@click.pass_obj
def command(  # noqa: PLR0913 - one for each option
    flags: Flags,
    *,
    text: str | None,
    agent: str | None,
    session: str | None,
    mode: str,
    schema: str | None,
    attach: tuple[str, ...],
    busy: Busy | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Give an agent one input and watch the turn to its end.

    TEXT is the input; "-" or no TEXT takes it from stdin. What the model says is streamed to stdout, what the tools do
    to stderr. The exit code says how the turn ended. Ctrl-C or SIGTERM stops the turn; a second one leaves at once, and
    "oribi resume" continues the turn.
    """
    import anyio

    from oribi.cli.turns import after_output, open_stage
    from oribi.core.mail import Input

    output_schema = None if schema is None else _read_schema(schema)
    parts = _read_files(attach) if attach else ()
    given = Input(text=_input(text), output_schema=output_schema, parts=parts, mode=mode)
    streams = not (quiet or as_json or schema is not None)
    with open_stage(flags, streams=streams, shows_work=not quiet) as stage:
        code, live = anyio.run(_run, stage, given, agent, session, busy)
        if live.end is not None and live.trace is not None and as_json:
            from oribi.cli.outcome import outcome_json

            stage.output.say(outcome_json(live.trace, live.end, live.text))
        elif schema is not None:
            stage.output.say(_value_line(live.end))
        elif live.end is not None and quiet:
            stage.output.say(_answer_line(live.answer))
    return after_output(stage, code)


async def _run(
    stage: Stage, given: Input, agent: str | None, session: str | None, busy: Busy | None
) -> tuple[int, LiveTurn]:
    from oribi.cli.find import choose_agent, session_to_continue
    from oribi.cli.live import LiveTurn
    from oribi.cli.turns import exit_code_of, resume_turn, tell_open_turns, watch_turn

    app = stage.app
    async with app:
        session_id, row = (None, None) if session is None else session_to_continue(app, session)
        name = choose_agent(app, agent, row)
        tell_open_turns(stage, besides=session_id)
        if row is not None and row.is_open and row.session_id in app.unfinished():
            stage.note(f"note: the last turn of session {row.session_id} is open; it is continued first")
            live = await resume_turn(stage, row.session_id)
            if stage.stops.asked is not None or stage.output.failure is not None:
                return exit_code_of(live, stage), live
        live = LiveTurn(stage.output, stage.manner)
        turn = app.stream(
            name,
            given.text,
            session_id=session_id,
            output_schema=given.output_schema,
            attachments=given.parts,
            mode=given.mode,
            busy=busy,
            channel="cli",
        )
        await watch_turn(stage, turn, live)
        live.close()
        return exit_code_of(live, stage), live


def _input(text: str | None) -> str:
    """The turn's input: the argument, or all of stdin."""
    if text is None and sys.stdin.isatty():
        raise click.UsageError("TEXT is missing: say what to do, or pipe it in", click.get_current_context())
    given = sys.stdin.buffer.read().decode("utf-8", "replace") if text is None or text == "-" else text
    if not given.strip():
        raise click.UsageError("the input is empty: say what to do", click.get_current_context())
    return given


def _read_schema(file: str) -> JsonObject:
    """The JSON Schema in `file`.

    Raises:
        ConfigError: The file cannot be read, or holds no JSON object.

    """
    from pathlib import Path

    from oribi.core.errors import ConfigError
    from oribi.models.jsontext import loads

    try:
        schema = loads(Path(file).read_bytes())
    except OSError as error:
        raise ConfigError(f"--schema: {file!r} cannot be read ({error.strerror}); name a JSON Schema file") from error
    except ValueError as error:
        raise ConfigError(f"--schema: {file!r} does not hold JSON ({error})") from error
    if not isinstance(schema, dict):
        raise ConfigError(f'--schema: {file!r} must hold a JSON object, such as {{"type": "object"}}')
    return schema


def _read_files(names: tuple[str, ...]) -> tuple[InputPart, ...]:
    """The files of `--attach`.

    Raises:
        ConfigError: One of them cannot be read, is too large, or is of no kind that can be sent.

    """
    from pathlib import Path

    from oribi.attachments import as_parts

    return as_parts([Path(name) for name in names])


def _value_line(end: TurnEnd | None) -> str:
    """The answer's value on one line; nothing when the turn has none."""
    from oribi.cli.wording import json_line
    from oribi.core.ends import Completed

    return json_line(end.value) if isinstance(end, Completed) else ""


def _answer_line(answer: str) -> str:
    from oribi.cli.wording import safe

    text = safe(answer)
    return text if not text or text.endswith("\n") else text + "\n"
