"""`oribi agents`: which agents there are, what is in them, whether they are right or have changed, and a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oribi.cli.completing import complete_agent
from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from pathlib import Path

    from oribi.agents.lock import LockedTurn
    from oribi.app import App
    from oribi.core.calls import Json


@click.group("agents", epilog=examples("oribi agents list", "oribi agents new ops", "oribi agents validate"))
@global_options()
def command() -> None:
    """List, show, make, validate and lock agents."""


@command.command("list", epilog=examples("oribi agents list", "oribi agents list --json"))
@global_options()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_agents(flags: Flags, *, as_json: bool) -> None:
    """List the agents of the workspace, also those that cannot be used and why."""
    from oribi.cli.looking import open_to_look, print_json, print_table

    with open_to_look(flags) as app:
        found = app.agents.list()
        default = app.config.default_agent
        default_model = app.config.default_model
    if as_json:
        print_json(
            [
                {
                    "name": one.name,
                    "description": one.description,
                    "model": one.model or default_model,
                    "tools": one.tools,
                    "file": str(one.file),
                    "default": one.name == default,
                    "problem": one.problem,
                }
                for one in found
            ]
        )
    elif not found:
        click.echo("no agents yet; `oribi agents new NAME` makes one", err=True)
    else:
        rows = [("AGENT", "MODEL", "TOOLS", "ABOUT")]
        for one in found:
            name = one.name + (" (default)" if one.name == default else "")
            about = one.description if one.problem is None else f"BROKEN: {one.problem.splitlines()[0]}"
            rows.append((name, one.model or default_model or "none", str(len(one.tools)), about))
        print_table(rows)


@command.command("show", epilog=examples("oribi agents show ops", "oribi agents show ops --json"))
@global_options()
@click.argument("name", shell_complete=complete_agent)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def show_agent(flags: Flags, *, name: str, as_json: bool) -> None:
    """Show an agent as a turn would see it: model, limits, tools, files, instructions."""
    from dataclasses import asdict

    from oribi.cli.looking import open_to_look, print_json, print_text, stdout_columns
    from oribi.cli.wording import counted, cut, first_sentence, one_json, safe

    with open_to_look(flags) as app:
        agent = app.agents.load(name)
        files = app.agents.read_files(agent.name, agent.policy, "local")
    if as_json:
        print_json(asdict(agent) | {"files": asdict(files)})
        return
    policy, limits = agent.policy, agent.policy.limits
    budget = ", ".join(f"{key} {value:,}" for key, value in asdict(limits).items() if value is not None)
    memory = f"{len(files.memory):,} of {files.memory_read:,} characters"
    lines = [
        f"agent {agent.name}",
        f"  about    {agent.description or '(no description)'}",
        f"  model    {agent.model.ref}" + (f" {one_json(agent.model.parameters)}" if agent.model.parameters else ""),
        f"  limits   {counted(policy.max_steps, 'step')}, {counted(policy.max_history_turns, 'earlier turn')}"
        + (f"; {budget}" if budget else ""),
        f"  files    {', '.join(files.sources) or 'none'}",
        f"  memory   {memory}",
        f"  tools    {'none' if not agent.tools else ''}",
        *(f"    {tool.name}  ({tool.effect})  {first_sentence(tool.description)}" for tool in agent.tools),
    ]
    columns = stdout_columns()
    print_text("".join(f"{cut(safe(line.rstrip()), columns)}\n" for line in lines))
    print_text("\n" + safe(agent.instructions).rstrip("\n") + "\n")


@command.command(
    "new",
    epilog=examples(
        "oribi agents new ops", "oribi agents new ops --model ollama:qwen3:8b --tool grep --tool read_file"
    ),
)
@global_options()
@click.argument("name")
@click.option("--model", metavar="PROVIDER:NAME", help="Its model. [default: the workspace's]")
@click.option("--description", metavar="TEXT", default="", help="What it does, in a sentence.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="A tool it may use; may be given several times.")
@click.pass_obj
def new_agent(flags: Flags, *, name: str, model: str | None, description: str, tools: tuple[str, ...]) -> None:
    """Make an agent: a folder with an AGENT.md to edit."""
    from oribi.cli.looking import open_to_look
    from oribi.cli.new_agent import make_agent
    from oribi.cli.wording import safe

    with open_to_look(flags) as app:
        tools = tools or ("read_file", "list_dir", "glob", "grep")
        app.toolbox.specs(tools)
        file = make_agent(app.workspace.agents, name, model=model, description=description, tools=tools)
        click.echo(f"made {safe(str(file))}")
        found = app.agents.validate(name)
    for line in found.problems:
        click.echo(f"note: {safe(line)}", err=True)
    click.echo(f'hint: write its instructions, then `oribi run --agent {name} "..."`', err=True)


@command.command("validate", epilog=examples("oribi agents validate", "oribi agents validate ops --json"))
@global_options()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_agent)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def validate_agents(flags: Flags, *, names: tuple[str, ...], as_json: bool) -> int:
    """Check the files of agents: every mistake with its file, line and key.

    Without NAME, all agents are checked. Problems go to stdout, and the exit code is 1 if there are any.
    """
    from oribi.cli import exits
    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.cli.wording import safe

    with open_to_look(flags) as app:
        found = {name: app.agents.validate(name) for name in names or tuple(one.name for one in app.agents.list())}
    if as_json:
        print_json([{"name": name, "problems": one.problems, "notes": one.notes} for name, one in found.items()])
    else:
        for name, one in found.items():
            print_text("".join(f"error: {safe(line)}\n" for line in one.problems))
            print_text("".join(f"note: {safe(line)}\n" for line in one.notes))
            if not one.problems:
                print_text(f"{safe(name)}: ok\n")
        if not found:
            click.echo("no agents yet; `oribi agents new NAME` makes one", err=True)
    return exits.PROBLEMS if any(one.problems for one in found.values()) else 0


@command.command("lock", epilog=examples("oribi agents lock ops", "oribi agents lock ops --check"))
@global_options()
@click.argument("name", shell_complete=complete_agent)
@click.option("--check", is_flag=True, help="Compare with the AGENT.lock there; write nothing.")
@click.pass_obj
def lock_agent(flags: Flags, *, name: str, check: bool) -> int:
    """Write down by hash what shapes an agent's turns: its files, tools, model, policy and the version of Oribi.

    The lock goes to AGENT.lock beside the agent's AGENT.md, to be kept with it. With --check, what has changed since
    goes to stdout, and the exit code is 1 if anything has.
    """
    from oribi.cli import exits
    from oribi.cli.looking import open_to_look, print_text
    from oribi.cli.wording import safe
    from oribi.core.lock import lock_hash

    with open_to_look(flags) as app:
        now = _lock_now(app, name)
        file = app.workspace.agents / name / "AGENT.lock"
    if check:
        text = _difference(_read_lock(file, f"`oribi agents lock {name}` writes it"), now)
        print_text(text or f"{safe(name)}: as locked\n")
        return exits.PROBLEMS if text else 0
    _write_lock(file, now)
    click.echo(f"locked {safe(name)} as {lock_hash(now.lock)}")
    return 0


@command.command(
    "diff", epilog=examples("oribi agents diff ops", "oribi agents diff k3jf:t1 ops", "oribi agents diff ops editor")
)
@global_options()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def diff_agents(flags: Flags, *, before: str, after: str | None, as_json: bool) -> None:
    """Say what differs between two versions of an agent, or between two agents.

    A and B are each an agent's name (its files now), the path of a lock file, or SESSION:TURN (what shaped that turn).
    With A alone, an agent's AGENT.lock is held against its files now. Texts are compared where both are at hand.
    """
    from dataclasses import asdict

    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.core.lock import changes

    with open_to_look(flags) as app:
        if after is None:
            new = _lock_now(app, before)
            old = _read_lock(app.workspace.agents / before / "AGENT.lock", f"`oribi agents lock {before}` writes it")
        else:
            old, new = _find_lock(app, before), _find_lock(app, after)
    if as_json:
        print_json([asdict(change) | {"change": change.word} for change in changes(old.lock, new.lock)])
        return
    text = _difference(old, new)
    print_text(text)
    if not text:
        click.echo("nothing differs", err=True)


def _find_lock(app: App, named: str) -> LockedTurn:
    """The lock that a person named: an agent's, a file's, or a turn's."""
    from pathlib import Path

    from oribi.agents.lock import recorded_lock
    from oribi.cli.find import find_session
    from oribi.core.calls import TurnId

    if any(one.name == named for one in app.agents.list()):
        return _lock_now(app, named)
    if Path(named).is_file():
        return _read_lock(Path(named), "give the path of a file that `oribi agents lock` wrote")
    session, colon, turn = named.rpartition(":")
    if not colon:
        return _lock_now(app, named)  # which says what there is
    session_id = find_session(app, session)
    return recorded_lock(app.records(session_id), TurnId(f"t{turn}" if turn.isdecimal() else turn))


def _lock_now(app: App, name: str) -> LockedTurn:
    from oribi.agents.lock import LockedTurn, prompt_texts

    agent = app.agents.load(name)
    files = app.agents.read_files(agent.name, agent.policy, "local")
    return LockedTurn(lock=agent.lock or {}, texts=prompt_texts(agent.instructions, files))


def _read_lock(file: Path, hint: str) -> LockedTurn:
    import json

    from oribi.agents.lock import LockedTurn
    from oribi.core.errors import ConfigError
    from oribi.core.lock import lock_hash

    try:
        found = json.loads(file.read_bytes())
        lock, digest = found["lock"], found["hash"]
    except OSError as error:
        raise ConfigError(f"{str(file)!r} cannot be read: {error.strerror or error}; {hint}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"{str(file)!r} is no lock; {hint}") from error
    if not isinstance(lock, dict) or lock_hash(lock) != digest:  # pyright: ignore[reportUnknownArgumentType] - JSON
        raise ConfigError(f"{str(file)!r} does not have the hash it names, so it was edited or cut off; {hint}")
    return LockedTurn(lock=lock, texts={})  # pyright: ignore[reportUnknownArgumentType] - JSON


def _write_lock(file: Path, locked: LockedTurn) -> None:
    """Put a lock into its file, whole or not at all."""
    import json

    from oribi.core.errors import ConfigError
    from oribi.core.lock import lock_hash

    page = json.dumps({"hash": lock_hash(locked.lock), "lock": locked.lock}, indent=2, sort_keys=True)
    draft = file.with_name(".AGENT.lock.draft")
    try:
        draft.write_text(page + "\n", encoding="utf-8")
        draft.replace(file)
    except OSError as error:
        raise ConfigError(f"{str(file)!r} cannot be written: {error.strerror or error}") from error


def _difference(old: LockedTurn, new: LockedTurn) -> str:
    """What differs, a line for each item, and the texts that do where both are at hand; empty when nothing does."""
    import difflib

    from oribi.cli.wording import safe
    from oribi.core.lock import changes

    lines: list[str] = []
    for change in changes(old.lock, new.lock):
        item = " ".join(change.item)
        is_file = change.item[0] in {"bootstrap", "skills", "tools", "prompt"} or change.item == ("agent_file",)
        values = "" if is_file else f": {_value(change.before)} -> {_value(change.after)}"
        lines.append(f"{change.word:<8} {item}{values}")
        key = change.item[-1]
        if change.item[0] == "prompt" and key in old.texts and key in new.texts:
            texts = (old.texts[key].splitlines(), new.texts[key].splitlines())
            lines += [f"  {line}" for line in difflib.unified_diff(*texts, "before", "after", lineterm="", n=2)]
    return "".join(f"{safe(line)}\n" for line in lines)


def _value(value: Json) -> str:
    from oribi.cli.wording import one_json

    return "none" if value is None else one_json(value)
