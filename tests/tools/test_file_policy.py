"""The file policy: what is denied, protected and allowed, by names alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.tools.file_policy import Access, FilePolicy, judge_access

SCOUT = FilePolicy(read=(".",), write=("out", "notes"), deny=("**/*.secret",))


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "a/b/.ENV.local",
        "keys/server.PEM",
        ".oribi/oribi.db",
        ".oribi/oribi.db-wal",
        ".oribi/oribi.lock",
        "home/.ssh/id_rsa",
        ".ssh/config",
        "id_ed25519",
        ".git/config",
        "x/.git-credentials",
        "deep/my.Secret",
    ],
)
def test_secrets_and_the_journal_are_neither_read_nor_written(path: str) -> None:
    for access in ("read", "write"):
        denied = judge_access(SCOUT, access, path.split("/"))
        assert denied is not None
        assert denied.rule.startswith("files:deny ")
        assert repr(path) in denied.reason


@pytest.mark.parametrize(
    "path",
    [
        "AGENT.md",
        "out/agents/x/agent.MD",
        ".git/hooks/pre-commit",
        "sub/.git/HEAD",
        "out/.git",
        "oribi.toml",
        "out/mcp.json",
        "USER.md",
        ".oribi/agents/new/skills/x.md",
        ".oribi/AGENTS.md",
        ".ORIBI/jobs.json",
        ".oribi",
    ],
)
def test_what_could_widen_an_agents_rights_is_not_written(path: str) -> None:
    """Definitions, settings, jobs and hooks are out of reach whether or not they are there yet."""
    denied = judge_access(FilePolicy(), "write", path.split("/"))
    assert denied is not None
    assert denied.rule.startswith("files:protected ")
    assert "output/" in denied.reason


def test_the_output_folder_is_the_part_of_the_workspace_that_is_written() -> None:
    assert judge_access(FilePolicy(), "write", (".oribi", "output", "x.txt")) is None
    assert judge_access(FilePolicy(workspace=".oryxos"), "write", (".oryxos", "output", "x.txt")) is None
    assert judge_access(FilePolicy(workspace=".oryxos"), "write", (".oryxos", "x.txt")) is not None


def test_a_folder_that_may_be_read_may_not_be_written() -> None:
    denied = judge_access(SCOUT, "write", ("README.md",))
    assert denied is not None
    assert denied.reason == "'README.md' is not where this agent may write; it may write below: 'out', 'notes'"
    assert judge_access(SCOUT, "write", ("notes", "new", "idea.md")) is None
    assert judge_access(SCOUT, "write", ("notes_evil", "x")) is not None


def test_an_empty_list_allows_nothing() -> None:
    denied = judge_access(FilePolicy(read=()), "read", ("README.md",))
    assert denied is not None
    assert denied.reason.endswith("it may read below: nothing")


NAMES = st.sampled_from(["a", "b", "out", ".env", "x.pem", "AGENT.md", ".git", ".oribi", "output", "oribi.db"])
PATHS = st.lists(NAMES, max_size=4)
PATTERNS = st.sampled_from(["**/a", "a/*", "**/*.md", "out", "**", "b/**/a"])
ACCESS: st.SearchStrategy[Access] = st.sampled_from(["read", "write"])


@given(PATHS, st.lists(PATTERNS, max_size=3), PATTERNS, ACCESS)
def test_one_more_deny_never_allows_more(path: list[str], deny: list[str], more: str, access: Access) -> None:
    before = judge_access(FilePolicy(deny=tuple(deny)), access, path)
    after = judge_access(FilePolicy(deny=(*deny, more)), access, path)
    assert before is None or after is not None


@given(PATHS, st.lists(st.sampled_from(["a", "b", "out", "a/b"]), max_size=3), ACCESS)
def test_narrower_roots_never_allow_more(path: list[str], roots: list[str], access: Access) -> None:
    wide = judge_access(FilePolicy(), access, path)
    narrow = judge_access(FilePolicy(read=tuple(roots), write=tuple(roots)), access, path)
    assert wide is None or narrow is not None
