"""The documents are true: every example in a guide runs."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from oribi.agents.workspace import init_workspace

ROOT = Path(__file__).parent.parent
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
AGENTS = {"writer": ("word_count", "path", "draft.txt"), "geo": ("population", "city", "Oslo")}

DESK = """\
rules:
- when: {input: "How many.*get", step: 1}
  reply: {calls: [{name: research, arguments: {question: holidays}}]}
- when: {tool: research}
  reply: {text: "{result}"}
- when: {input: "^holidays", position: 0}
  reply: {text: '{"type": "search", "input": {"words": "holidays"}}'}
- when: {last: Observation}
  reply: {text: '{"type": "answer", "text": "30 days", "sources": [1]}'}
"""
"""An agent whose tool `research` runs a turn of its own, on the same model."""


def first_example(guide: Path) -> str:
    found = re.search(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{guide.name} has no example"
    return found[1]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_the_first_example_of_each_guide_runs(guide: Path, tmp_path: Path) -> None:
    init_workspace(tmp_path)
    (tmp_path / "draft.txt").write_text("five words are in here")
    for agent, (tool, argument, value) in AGENTS.items():
        folder = tmp_path / ".oribi" / "agents" / agent
        folder.mkdir()
        (folder / "AGENT.md").write_text(f"---\nname: {agent}\nmodel: scripted:{agent}.yaml\n---\nBe brief.\n")
        (tmp_path / ".oribi" / f"{agent}.yaml").write_text(
            textwrap.dedent(f"""
                replies:
                - calls: [{{name: {tool}, arguments: {{{argument}: {value}}}}}]
                - text: "It is: {{result}}"
                - text: "Not even one."
            """)
        )
    (tmp_path / ".oribi" / "agents" / "desk").mkdir()
    (tmp_path / ".oribi" / "agents" / "desk" / "AGENT.md").write_text("---\nmodel: scripted:desk.yaml\n---\nAnswer.\n")
    (tmp_path / ".oribi" / "desk.yaml").write_text(DESK)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"workspace = {str(tmp_path)!r}\n{first_example(guide)}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    if guide.stem == "nested":
        assert run.stdout == "30 days\n"


def test_the_example_of_a_turn_of_ones_own_is_short() -> None:
    """M-22 to M-29: the loop as a library takes fewer than 40 lines, tools and answer type included."""
    assert len(first_example(ROOT / "docs" / "guides" / "nested.md").splitlines()) < 40


def test_every_guide_is_a_file_that_the_readme_leads_to() -> None:
    assert GUIDES
    assert "docs/guides" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_loop_can_be_read_in_one_sitting() -> None:
    """O-1: a few dozen lines, ours, shown in the README as they are."""
    loop = (ROOT / "src" / "oribi" / "turn" / "loop.py").read_text(encoding="utf-8")
    function = loop[loop.index("async def run_turn") :]
    assert len(function.splitlines()) < 60
    assert function in (ROOT / "README.md").read_text(encoding="utf-8")
