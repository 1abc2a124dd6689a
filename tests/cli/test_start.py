"""Starting the program: what it loads, what it says of itself."""

import re
import subprocess
import sys

import click
import pytest
from inline_snapshot import snapshot

from oribi.cli.reference import help_pages
from oribi.cli.root import COMMANDS, root
from tests.cli.program import Program

HEAVY = {
    "pydantic",
    "aiohttp",
    "apsw",
    "prompt_toolkit",
    "rich",
    "mcp",
    "fastapi",
    "anyio",
    "asyncio",
    "msgspec",
    "yaml",
}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["chat", "--help"], ["--version"], ["bogus"]])
def test_what_needs_no_workspace_loads_no_heavy_module(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "oribi", *arguments], capture_output=True, text=True, check=False
    )
    modules = re.findall(r"^import time: .*\|\s+(\S+)$", done.stderr, re.MULTILINE)
    assert "click" in modules
    assert {module.partition(".")[0] for module in modules} & HEAVY == set()
    assert len(modules) < 180, f"{len(modules)} modules"


@pytest.mark.slow
def test_listing_the_commands_imports_none_of_them() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "oribi", "--help"], capture_output=True, text=True, check=True
    )
    assert "oribi.cli.root" in done.stderr
    assert "oribi.cli.commands" not in done.stderr


def test_the_list_says_of_each_command_what_its_own_help_says() -> None:
    context = click.Context(root, info_name="oribi")
    for name, entry in COMMANDS.items():
        command = root.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert (command.help or "").split("\n")[0] == entry.summary


def test_every_help_page_has_examples_of_the_command() -> None:
    pages = dict(help_pages())
    assert len(pages) > len(COMMANDS)
    for name, page in pages.items():
        assert "Examples:" in page, name
        assert name in page.split("Examples:")[1], name


def test_help_fits_a_terminal_of_80_columns() -> None:
    for name, page in help_pages():
        assert [line for line in page.splitlines() if len(line) > 80] == [], name


@pytest.mark.slow
def test_no_command_at_all_shows_the_help_and_is_an_error(program: Program) -> None:
    done = program.run()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: oribi ")


@pytest.mark.slow
def test_the_whole_help(program: Program) -> None:
    done = program.run("--help")
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot("""\
Usage: oribi [OPTIONS] COMMAND [ARGS]...

  An agent runtime that you own and can hold to account.

  The options here may also stand behind the command. What a command found out
  goes to stdout, what it says about its work to stderr.

Options:
  --workspace PATH  The project folder or its .oribi. [default: ORIBI_HOME,
                    else found upward from here]
  --verbose         Log to stderr what happens, also what each prompt holds;
                    show tracebacks.
  --no-color        No colours; so does the variable NO_COLOR.
  --version         Show the version.
  -h, --help        Show this message and exit.

Commands:
  init        Make a workspace, or complete the one that is there.
  run         Give an agent one input and watch the turn to its end.
  chat        Talk with an agent.
  resume      Continue a turn that was cut off.
  worker      Continue whatever was cut off, as long as it runs.
  resolve     Say what came of a call that may or may not have happened.
  revoke      Withdraw a tool, a plug-in or a person from open turns.
  trace       Show what a session did, step by step.
  why         Say what a session does next, and which question decides it.
  replay      Replay a session offline: exactly, or against a changed agent.
  fork        Begin a new session with the first steps of another.
  record      Make a session into a regression test file.
  test        Hold the agents as they are against recorded sessions.
  audit       Check that the journal is as it was written; export it.
  db          Check, back up, prune, shrink and migrate the database.
  sessions    List, show and erase sessions.
  agents      List, show, make, validate and lock agents.
  policy      Show the loop policy of an agent, and where it comes from.
  tools       List tools.
  models      List providers, test a model.
  status      Show the state of the workspace.
  fake-model  Serve a scripted model on this machine, for tests.
  completion  Print the completion script of a shell.

  Examples:
    oribi init                        make a workspace here
    oribi run "What is in this folder?"
    oribi chat --agent ops
    oribi trace                       what the last session did
""")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(program: Program, shell: str) -> None:
    done = program.run("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert "_ORIBI_COMPLETE" in done.out


@pytest.mark.slow
def test_tab_completes_commands_and_agents(program: Program) -> None:
    program.set_up("[]")
    program.environment |= {"_ORIBI_COMPLETE": "bash_complete", "COMP_WORDS": "oribi tr", "COMP_CWORD": "1"}
    assert program.run().out == "plain,trace\n"
    program.environment |= {"COMP_WORDS": "oribi run --agent o", "COMP_CWORD": "3"}
    assert program.run().out == "plain,ops\n"


@pytest.mark.slow
def test_closed_standard_files_do_not_matter(program: Program) -> None:
    program.set_up("[Hello.]")
    command = f"exec {sys.executable} -m oribi run hi <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", command], cwd=program.root, env=program.environment, check=False, timeout=60)
    assert done.returncode == 0
    assert program.run("sessions", "show").out.endswith("> hi\nHello.\n")
