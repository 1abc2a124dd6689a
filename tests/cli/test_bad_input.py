"""What a person gets wrong: each has a message that says what to do, an exit code, and no traceback."""

import sqlite3
import subprocess
import sys

import pytest

from oribi.testing import FakeModelServer
from tests.cli.program import Finished, Program, finish, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def ops(program: Program) -> Program:
    program.set_up("[Hello.]")
    return program


def refused(done: Finished, code: int, *, says: list[str]) -> None:
    """The run failed in words: `error:` first on stderr, nothing on stdout, no traceback."""
    assert done.code == code, done
    assert done.out == ""
    assert done.err.startswith("error: "), done.err
    assert "Traceback" not in done.err
    for words in says:
        assert words in done.err, done.err


def test_no_workspace(program: Program) -> None:
    refused(program.run("run", "hi"), 2, says=["no workspace in", "'oribi init' makes one"])


def test_a_workspace_that_does_not_exist(program: Program) -> None:
    refused(program.run("--workspace", "nowhere", "status"), 2, says=["--workspace names", "nowhere", "oribi init"])
    program.environment["ORIBI_HOME"] = "/nowhere"
    refused(program.run("status"), 2, says=["ORIBI_HOME names '/nowhere'"])


def test_an_unknown_agent(ops: Program) -> None:
    refused(ops.run("run", "--agent", "opps", "hi"), 2, says=["no agent named 'opps'; did you mean 'ops'?"])


def test_an_unknown_provider(ops: Program) -> None:
    ops.set_up("[]", model="acme:best")
    says = ["agents/ops/AGENT.md:3: model: ", "no provider named 'acme'", "anthropic"]
    refused(ops.run("run", "hi"), 2, says=says)
    refused(ops.run("models", "test", "acme:best"), 2, says=["no provider named 'acme'"])
    assert ops.query("SELECT count(*) FROM events") in ([], [(0,)])


def test_a_missing_key(ops: Program) -> None:
    ops.set_up("[]", model="anthropic:claude-sonnet-4-5")
    refused(ops.run("run", "hi"), 2, says=["set the environment variable ANTHROPIC_API_KEY"])
    refused(ops.run("models", "test", "openai:gpt-5"), 2, says=["set the environment variable OPENAI_API_KEY"])


def test_a_model_that_the_provider_does_not_know_and_a_key_it_refuses(ops: Program) -> None:
    for status, kind, hint in ((404, "bad_request", ""), (401, "auth", "hint: check the provider's key")):
        error = {"error": {"message": "the model 'nope' does not exist", "type": "invalid_request_error"}}
        with FakeModelServer({"replies": [{"json": error, "status": status}], "replies_cycle": True}) as server:
            settings = f'[providers.fake]\nbase_url = "{server.base_url}/v1"\n'
            ops.set_up("[]", settings=settings, model="fake:nope")
            done = ops.run("run", "hi")
            refused(ops.run("models", "test"), 2, says=["no model is named"])
            tested = ops.run("models", "test", "fake:nope")
        refused(done, 15, says=[f"The model could not answer ({kind})", "the model 'nope' does not exist", hint])
        refused(tested, 15, says=[f"the model could not answer ({kind})", hint])


def test_a_provider_that_cannot_be_reached(ops: Program) -> None:
    with FakeModelServer([]) as server:
        address = server.base_url
    ops.set_up("[]", settings=f'[providers.gone]\nbase_url = "{address}/v1"\n', model="gone:any")
    ops.write(
        "agents/ops/AGENT.md",
        "---\nmodel: gone:any\ntools: []\npolicy: {max_asks: 2, retry_seconds: 0.01}\n---\nYou are ops.\n",
    )
    done = ops.run("run", "hi")
    assert done.code == 15
    assert "[1] asking the model again, attempt 2\n" in done.err
    assert "error: The model could not answer (network): " in done.err
    assert "hint: is the provider running and reachable?" in done.err
    assert address.removeprefix("http://") in done.err
    refused(ops.run("models", "test", "gone:any"), 15, says=["(network)", "hint: is the provider running"])


def test_a_malformed_agent_names_file_line_and_key(ops: Program) -> None:
    ops.write(
        "agents/ops/AGENT.md", "---\nmodel: scripted:demo.yaml\ntols: [grep]\nsettings: {max_iterations: no}\n---\n"
    )
    done = ops.run("run", "hi")
    refused(done, 2, says=["error: agents/ops/AGENT.md:3: ", "'tols'", "error: agents/ops/AGENT.md:4: "])
    checked = ops.run("agents", "validate")
    assert checked.code == 1
    assert checked.out.count("error: agents/ops/AGENT.md:") == 2
    assert "BROKEN: agents/ops/AGENT.md:3" in ops.run("agents", "list").out


def test_an_unknown_tool(ops: Program) -> None:
    ops.write("agents/ops/AGENT.md", "---\nmodel: scripted:demo.yaml\ntools: [greb]\n---\nYou are ops.\n")
    refused(ops.run("run", "hi"), 2, says=["agents/ops/AGENT.md:3: ", "no tool named 'greb'", "grep"])


def test_settings_that_are_wrong(ops: Program) -> None:
    ops.write("oribi.toml", 'default_agent = "ops"\nzone = "Nowhere/Town"\n')
    refused(ops.run("status"), 2, says=["oribi.toml:2: ", "zone"])


def test_arguments_that_are_no_json_object_reach_the_model_not_the_person(ops: Program) -> None:
    ops.set_up('[{calls: [{name: grep, arguments: "[1]"}]}, I will do better.]')
    done = ops.run("run", "hi")
    assert done.code == 0
    assert '[1] grep "[1]" (not a JSON object)\n    not run (arguments): ' in done.err


def test_a_database_from_a_newer_version_is_left_alone(ops: Program) -> None:
    ops.run("run", "hi")
    file = ops.home / "oribi.db"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = file.read_bytes()
    for arguments in (["run", "hi"], ["trace"], ["status"]):
        refused(ops.run(*arguments), 3, says=["was written by a newer Oribi", "upgrade Oribi"])
    assert file.read_bytes() == before


def test_a_file_that_is_no_database(ops: Program) -> None:
    ops.write("oribi.db", "not a database, " * 100)
    refused(ops.run("run", "hi"), 3, says=["is not an Oribi journal"])


def test_a_busy_session_is_said_where_the_input_is_not_to_wait(ops: Program) -> None:
    ops.set_up("replies_tail: {text: late, delay_seconds: 60}")
    process = ops.start("run", "--session", "s1", "go")
    try:
        wait_until(lambda: "ModelAsked" in ops.events())
        refused(ops.run("run", "--session", "s1", "--busy", "refuse", "hi"), 4, says=["is in use", "--busy queue"])
        refused(ops.run("resume", "s1"), 2, says=["is being driven by a living process"])
        assert ops.run("status", "--json").json["writers"] == [f"process {process.pid}"]
        assert ops.run("trace").out.startswith("session s1 ")
        assert ops.run("sessions", "list").code == 0
        assert ops.run("agents", "list").code == 0
    finally:
        process.kill()
        finish(process)
    assert ops.run("status", "--json").json["writers"] == []


def test_sessions_that_are_not_there_or_not_one(ops: Program) -> None:
    refused(ops.run("trace"), 2, says=["this workspace has no sessions yet"])
    for name in ("s1", "s2"):
        ops.run("run", "--session", name, "hi")
    refused(ops.run("trace", "nope"), 2, says=["no session 'nope'; `oribi sessions list` shows them"])
    refused(ops.run("trace", "s"), 2, says=["2 sessions begin with 's': s2, s1; give more of the id"])
    refused(ops.run("resume", "s1"), 2, says=["session 's1' has no open turn"])
    refused(ops.run("run", "--session", "../s1", "hi"), 2, says=["'../s1' cannot name a session"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "the input is empty"),
        (["run", "  "], "the input is empty"),
        (["run", "hi", "--bogus"], "No such option"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["chat", "--new", "--session", "s1"], "not both"),
        (["resume", "--all", "s1"], "not both"),
        (["completion", "tcsh"], "is not one of"),
        (["fake-model", "--port", "70000", "--script", "x"], "is not in the range"),
    ],
)
def test_a_wrong_command_line_points_to_the_help(ops: Program, arguments: list[str], words: str) -> None:
    done = ops.run(*arguments)
    refused(done, 2, says=[words, "\nhint: oribi", "--help\n"])


def test_an_error_nobody_foresaw_is_one_line_and_verbose_shows_where(ops: Program) -> None:
    plugins = ops.root / "plugins"
    plugins.mkdir()
    (plugins / "sitecustomize.py").write_text(
        "import oribi.agents.loader as loader\n\n\n"
        "def broken(self: object) -> None:\n    raise ZeroDivisionError('by \\x1b[31mnothing')\n\n\n"
        "loader.AgentFiles.list = broken\n"
    )
    ops.environment["PYTHONPATH"] = str(plugins)
    done = ops.run("agents", "list")
    refused(done, 70, says=["error: unexpected: ZeroDivisionError: by \\x1b[31mnothing\n", "hint: ", "--verbose"])
    assert len(done.err.splitlines()) == 2
    verbose = ops.run("agents", "list", "--verbose")
    assert verbose.code == 70
    assert "Traceback" in verbose.err


def test_a_folder_that_cannot_be_written(program: Program) -> None:
    (program.root / "file").write_text("x")
    refused(program.run("init", "file"), 2, says=["cannot make the workspace"])


def test_a_script_for_the_fake_model_that_is_none(program: Program) -> None:
    refused(program.run("fake-model", "--script", "nowhere.yaml"), 2, says=["cannot read the script 'nowhere.yaml'"])


def test_an_error_keeps_its_exit_code_when_nobody_reads_stderr(ops: Program) -> None:
    command = f"exec {sys.executable} -m oribi run --agent nope hi 2>&-"
    done = subprocess.run(["sh", "-c", command], cwd=ops.root, env=ops.environment, check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
