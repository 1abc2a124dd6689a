"""The conversation of `oribi chat`: read an input, run the turn, show it, again; and the commands within."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oribi.cli import exits
from oribi.cli.failures import error_lines
from oribi.cli.find import all_sessions, choose_agent, session_to_continue
from oribi.cli.live import LiveTurn
from oribi.cli.reading import open_reader, restore_terminal
from oribi.cli.stops import Stops
from oribi.cli.turns import resume_turn, tell_open_turns, watch_turn
from oribi.cli.wording import bytes_text, counted, first_sentence, safe, table
from oribi.core.calls import CallId
from oribi.core.errors import ConfigError, OribiError
from oribi.core.json_actions import told_actions
from oribi.core.modes import command_call, mode_of
from oribi.core.prompt import speaks_actions, system_text

if TYPE_CHECKING:
    from oribi.cli.turns import Stage
    from oribi.journal.sqlite import SessionRow

COMMANDS: Final = {
    "/new": "begin a new session",
    "/tools": "the tools of this agent",
    "/context": "what the next prompt holds",
    "/reload": "read the agent's files again",
    "/help": "this list",
    "/quit": "leave (so do /exit, Ctrl-D, and Ctrl-C twice)",
}
"""What the chat does by itself; no mode of an agent can have such a name."""


@dataclass(slots=True)
class _Talk:
    """With whom, and in which session; None: the next input begins a new one."""

    agent: str
    session_id: str | None


def chat_stops() -> Stops:
    """Signals for a chat: whatever happens, the terminal is left as it was found."""
    return Stops(restore_terminal())


async def chat(stage: Stage, agent: str | None, session: str | None, new: bool) -> int:  # noqa: FBT001 - anyio.run passes by position
    """Talk until the person leaves; the exit code is 0 unless a signal or a closed stdout ended it.

    Raises:
        ConfigError: There is no such agent, or the session is another's.

    """
    async with stage.app as app:
        talk, row = _begin(stage, agent, session, new=new)
        model = app.agents.load(talk.agent).model.ref
        where = "a new session" if row is None else f"session {row.session_id} ({counted(row.turns, 'turn')})"
        stage.note(f"agent {safe(talk.agent)} on {safe(model)}, {safe(where)}; /help lists commands, Ctrl-D leaves")
        tell_open_turns(stage, besides=talk.session_id)
        if row is not None and row.session_id in app.unfinished():
            stage.note("note: the last turn was cut off; it goes on")
            await _go_on(stage, row.session_id)
        reader = open_reader(_earlier_inputs(stage, talk), lambda: _words(stage, talk))
        while True:
            stage.output.wait()
            text = await reader.read(stage.stops)
            if text is None:
                return stage.stops.exit_code
            try:
                if not await _take(stage, talk, text):
                    return 0
            except OribiError as error:
                stage.output.tell(error_lines(str(error)))
            if stage.stops.asked not in {None, signal.SIGINT}:
                return stage.stops.exit_code
            if stage.output.failure is not None:
                return exits.CLOSED_PIPE


def _begin(stage: Stage, agent: str | None, session: str | None, *, new: bool) -> tuple[_Talk, SessionRow | None]:
    if session is not None:
        session_id, row = session_to_continue(stage.app, session)
        return _Talk(choose_agent(stage.app, agent, row), session_id), row
    name = choose_agent(stage.app, agent, None)
    rows = [] if new else all_sessions(stage.app, 1000)
    row = next((row for row in rows if row.agent == name and row.channel == "cli"), None)
    return _Talk(name, None if row is None else row.session_id), row


async def _take(stage: Stage, talk: _Talk, text: str) -> bool:
    """Do what an input says, as a command of the chat or as a turn; False when it says to leave.

    Raises:
        OribiError: It cannot be done; the chat goes on.

    """
    words = text.split()
    if not words:
        return True
    if words[0] in {"/quit", "/exit"}:
        return False
    if words[0] in COMMANDS:
        _obey(stage, talk, words[0])
        return True
    agents = stage.app.agents
    mode, rest = mode_of(agents.modes(talk.agent), text)
    if mode and not rest:
        raise ConfigError(f"{words[0]!r} is a mode of this agent; say what to do in it: {words[0]} ...")
    commands = agents.load(talk.agent).commands
    is_for_agent = mode or not text.startswith("/") or command_call(commands, text, CallId("")) is not None
    if not is_for_agent:
        modes = ", ".join(f"/{each.name}" for each in agents.modes(talk.agent)) or "none"
        raise ConfigError(f"no command {words[0]!r}, and no such mode of this agent ({modes}); /help lists them")
    live = LiveTurn(stage.output, stage.manner)
    turn = stage.app.stream(talk.agent, rest, session_id=talk.session_id, mode=mode, channel="cli")
    await watch_turn(stage, turn, live)
    live.close()
    if live.trace is not None:
        talk.session_id = live.trace.session_id
    return True


async def _go_on(stage: Stage, session_id: str) -> None:
    try:
        await resume_turn(stage, session_id)
    except OribiError as error:
        stage.output.tell(error_lines(str(error)))


def _obey(stage: Stage, talk: _Talk, command: str) -> None:
    """Do what a command of the chat says."""
    match command:
        case "/new":
            talk.session_id = None
            stage.note("the next input begins a new session")
        case "/tools":
            stage.output.say(_tools_text(stage, talk))
        case "/context":
            stage.output.say(_context_text(stage, talk))
        case "/reload":
            _reload(stage, talk)
        case _:
            stage.output.say(_help_text(stage, talk))


def _words(stage: Stage, talk: _Talk) -> list[str]:
    """What an input can begin with, for the Tab key: the commands, the agent's modes, its own phrases."""
    try:
        agent, modes = stage.app.agents.load(talk.agent), stage.app.agents.modes(talk.agent)
    except OribiError:
        return list(COMMANDS)
    return [*COMMANDS, *(f"/{mode.name}" for mode in modes), *(command.phrase for command in agent.commands)]


def _help_text(stage: Stage, talk: _Talk) -> str:
    """The commands of the chat, then the agent's modes and the phrases that run a tool without a model."""
    rows = list(COMMANDS.items())
    for mode in stage.app.agents.modes(talk.agent):
        also = f" (also: {', '.join(mode.aliases)})" if mode.aliases else ""
        rows.append((f"/{mode.name} ...", (first_sentence(mode.description) or "a mode of this agent") + also))
    for command in stage.app.agents.load(talk.agent).commands:
        phrase = f"{command.phrase} ..." if command.rest else command.phrase
        rows.append((phrase, f"runs {command.tool}, without a model"))
    return table(rows, stage.manner.columns)


def _reload(stage: Stage, talk: _Talk) -> None:
    """Read the agent's files again, and say what is in force from the next turn on.

    Raises:
        ConfigError: They cannot be used, and nothing is in force.

    """
    app = stage.app
    try:
        agent = app.agents.reload(talk.agent)
    except ConfigError as error:
        app.agents.load(talk.agent)  # raises where there is no good version
        stage.output.tell(
            error_lines(str(error)) + "hint: the last good version stays in force; mend it, /reload again\n"
        )
        return
    files = app.agents.read_files(agent.name, agent.policy, "")
    origins = app.agents.origins(agent.name).values()
    rows = {
        "model": agent.model.ref,
        "policy": next((origin for origin in origins if origin.startswith("preset ")), "its own"),
        "modes": ", ".join(mode.name for mode in app.agents.modes(agent.name)),
        "tools": ", ".join(tool.name for tool in agent.tools),
        "files": ", ".join(files.sources),
    }
    stage.note(
        "in force from the next turn on:\n" + "\n".join(f"  {k:<6}  {safe(v) or 'none'}" for k, v in rows.items())
    )


def _tools_text(stage: Stage, talk: _Talk) -> str:
    tools = stage.app.agents.load(talk.agent).tools
    if not tools:
        return "this agent has no tools\n"
    return table([(tool.name, first_sentence(tool.description)) for tool in tools], stage.manner.columns)


def _context_text(stage: Stage, talk: _Talk) -> str:
    """What the next prompt of this session holds, by its parts."""
    app = stage.app
    agent = app.agents.load(talk.agent)
    files = app.agents.read_files(agent.name, agent.policy, "local")
    turn = None if talk.session_id is None else app.turn(talk.session_id)
    turns = 0 if turn is None else len(turn.history) + (turn.started is not None)
    sent = min(turns, agent.policy.max_history_turns)
    left_out = f" ({counted(turns - sent, 'turn')} left out)" if turns > sent else ""
    parts = (
        ("instructions", len(agent.instructions)),
        ("bootstrap", len(files.bootstrap)),
        ("skills", len(files.skills)),
        ("memory", len(files.memory)),
    )
    if speaks_actions(agent.policy):
        told = told_actions(agent.tools, agent.policy.action_form, files.actions)
        parts += (("actions", len(told)),)
    lines = [f"{name:<13} {size:,} characters\n" for name, size in parts]
    lines.append(f"{'history':<13} {counted(sent, 'turn')}{left_out}\n")
    lines.append(f"{'tools':<13} {len(agent.tools)}\n")
    if turn is not None and turn.started is not None:
        system = len(system_text(turn, turn.started).encode())
        used = turn.reply.usage.input_tokens if turn.reply is not None else None
        tokens = "unknown" if used is None else f"{used:,}"
        lines.append(f"{'last prompt':<13} {tokens} tokens, system text {bytes_text(system)}\n")
    return "".join(lines)


def _earlier_inputs(stage: Stage, talk: _Talk) -> list[str]:
    """What the person said in this session, for the arrow keys."""
    from oribi.cli.conversation import messages_of
    from oribi.core.messages import UserMessage

    if talk.session_id is None or not sys.stdin.isatty():
        return []
    rows = {row.session_id for row in all_sessions(stage.app)}
    if talk.session_id not in rows:
        return []
    said = messages_of(stage.app.turn(talk.session_id))
    return [message.text for _, message in said if isinstance(message, UserMessage)]
