"""The workspace: where it is found, and that making one destroys nothing."""

import os
from pathlib import Path

import pytest

from oribi.agents.agent import parse_agent
from oribi.agents.workspace import Workspace, find_workspace, init_workspace
from oribi.core.errors import ConfigError


def test_a_workspace_is_found_upward_from_the_current_folder(tmp_path: Path) -> None:
    deep = tmp_path / "src" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / ".oribi").mkdir()
    assert find_workspace(deep) == Workspace(root=tmp_path, home=tmp_path / ".oribi")


def test_the_nearest_workspace_wins_and_a_file_of_that_name_is_none(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    (inner / ".oribi").mkdir(parents=True)
    (tmp_path / ".oribi").mkdir()
    assert find_workspace(inner).root == inner
    (inner / ".oribi").rmdir()
    (inner / ".oribi").touch()
    assert find_workspace(inner).root == tmp_path


def test_an_existing_oryxos_workspace_is_taken_as_it_is(tmp_path: Path) -> None:
    """O-12: the documents' `.oryxos` folder."""
    (tmp_path / ".oryxos").mkdir()
    workspace = find_workspace(tmp_path)
    assert workspace == Workspace(root=tmp_path, home=tmp_path / ".oryxos")
    assert workspace.database == tmp_path / ".oryxos" / "oribi.db"
    (tmp_path / ".oribi").mkdir()
    assert find_workspace(tmp_path).home == tmp_path / ".oribi"


def test_a_flag_goes_before_the_variable_and_the_variable_before_the_current_folder(tmp_path: Path) -> None:
    for name in ("here", "variable", "flag"):
        (tmp_path / name / ".oribi").mkdir(parents=True)
    here, variable, flag = (tmp_path / name for name in ("here", "variable", "flag"))
    assert find_workspace(here, explicit=flag, home=str(variable)).root == flag
    assert find_workspace(here, home=str(variable)).root == variable
    assert find_workspace(here, home="").root == here


def test_a_named_workspace_may_be_the_project_or_its_own_folder(tmp_path: Path) -> None:
    home = tmp_path / ".oribi"
    home.mkdir()
    assert find_workspace(tmp_path, explicit=home) == find_workspace(tmp_path, explicit=tmp_path)
    plain = tmp_path / "bot"
    (plain / "agents").mkdir(parents=True)
    assert find_workspace(tmp_path, home=str(plain)) == Workspace(root=plain, home=plain)


def test_where_there_is_no_workspace_the_error_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        find_workspace(tmp_path)
    assert str(caught.value) == f"no workspace in '{tmp_path}' or above it: 'oribi init' makes one here"
    with pytest.raises(ConfigError) as caught:
        find_workspace(tmp_path, explicit=tmp_path / "typo")
    assert str(caught.value) == (
        f"--workspace names '{tmp_path}/typo', which is not a folder; 'oribi init PATH' makes a workspace"
    )
    with pytest.raises(ConfigError) as caught:
        find_workspace(tmp_path, home=str(tmp_path))
    assert (
        str(caught.value)
        == f"ORIBI_HOME names '{tmp_path}', which holds no workspace; 'oribi init {tmp_path}' makes one"
    )


def test_paths_are_named_from_the_project_for_tools_and_from_the_workspace_for_people(tmp_path: Path) -> None:
    workspace = Workspace(root=tmp_path, home=tmp_path / ".oribi")
    path = workspace.agents / "ops" / "AGENT.md"
    assert (workspace.in_root(path), workspace.in_home(path)) == (".oribi/agents/ops/AGENT.md", "agents/ops/AGENT.md")
    assert workspace.in_home("/etc/hosts") == "/etc/hosts"


def test_init_makes_a_workspace_whose_default_agent_loads(tmp_path: Path) -> None:
    done = init_workspace(tmp_path / "new")
    home = tmp_path / "new" / ".oribi"
    assert done.workspace == find_workspace(tmp_path / "new")
    assert {str(path.relative_to(home)) for path in done.created} == {
        "oribi.toml",
        "AGENTS.md",
        "SOUL.md",
        "USER.md",
        ".gitignore",
        "agents/default/AGENT.md",
    }
    source = (home / "agents" / "default" / "AGENT.md").read_bytes()
    agent = parse_agent(source, folder="default", file="agents/default/AGENT.md", environment={})
    assert agent.notes == ()
    assert "read_file" in agent.tools


def test_init_overwrites_nothing_and_adds_only_what_is_missing(tmp_path: Path) -> None:
    home = init_workspace(tmp_path).workspace.home
    (home / "SOUL.md").write_text("mine")
    (home / "USER.md").unlink()
    again = init_workspace(tmp_path)
    assert again.created == (home / "USER.md",)
    assert (home / "SOUL.md").read_text() == "mine"


def test_init_adds_no_agent_to_an_oryxos_workspace_that_has_one(tmp_path: Path) -> None:
    agent = tmp_path / ".oryxos" / "agents" / "ops" / "AGENT.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\n---\nHi")
    done = init_workspace(tmp_path)
    assert done.workspace.home == tmp_path / ".oryxos"
    assert not (tmp_path / ".oribi").exists()
    assert [path.name for path in agent.parent.parent.iterdir()] == ["ops"]


def test_init_follows_no_dangling_link_out_of_the_workspace(tmp_path: Path) -> None:
    home = tmp_path / "project" / ".oribi"
    home.mkdir(parents=True)
    (home / "SOUL.md").symlink_to(tmp_path / "outside.md")
    init_workspace(tmp_path / "project")
    assert not (tmp_path / "outside.md").exists()


def test_a_place_where_no_workspace_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError) as caught:
        init_workspace(tmp_path / "file")
    assert str(caught.value).startswith(f"cannot make the workspace: '{tmp_path}/file")
    assert str(caught.value).endswith("Not a directory; choose a folder you may write")


def test_a_current_folder_that_is_relative_is_made_absolute(tmp_path: Path) -> None:
    (tmp_path / ".oribi").mkdir()
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert find_workspace(Path()).root == tmp_path
    finally:
        os.chdir(before)
