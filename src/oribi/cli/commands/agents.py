"""`oribi agents`: which agents there are, what is in them, whether they are right, and a new one."""

from __future__ import annotations

import click

from oribi.cli.completing import complete_agent
from oribi.cli.flags import Flags, examples, global_options


@click.group("agents", epilog=examples("oribi agents list", "oribi agents new ops", "oribi agents validate"))
@global_options()
def command() -> None:
    """List, show, make and validate agents."""


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
        files = app.agents.read_files(agent)
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
