"""Summary and translation, the worked example of two tools in a row, with functions handed to the library."""

from pathlib import Path

import pytest

import oribi
from oribi.core.calls import told
from oribi.core.ends import Completed
from oribi.core.events import ModelReplied, Recorded

pytestmark = pytest.mark.anyio

AGENT = """\
---
description: Reads documents and translates parts of them
model: scripted:script.yaml
---
You read documents.
"""

# The third section of whatever document came back is what gets translated, and the answer is what came of that.
SCRIPT = """\
rules:
  - when: {step: 1, input: 'of (?P<doc>\\S+)\\.$'}
    reply: {calls: [{name: extract_sections, arguments: {doc: '{doc}'}}]}
  - when: {tool: extract_sections, result: '\\["[^"]*", *"[^"]*", *"(?P<paragraph_3>[^"]*)"'}
    reply: {calls: [{name: translate, arguments: {paragraph: '{paragraph_3}'}}]}
  - when: {tool: translate}
    reply: 'In German the third paragraph says: {result}'
"""

DOCUMENTS = {
    "letter": "Dear friend.\n\nI am well.\n\nthe cat sleeps\n\nYours.",
    "note": "Monday.\n\nRain.\n\nthe dog sleeps",
}
GERMAN = {"the": "die", "cat": "Katze", "dog": "Hündin", "sleeps": "schläft"}


def extract_sections(doc: str) -> list[str]:
    """The paragraphs of a document, in order."""
    return DOCUMENTS[doc].split("\n\n")


def translate(paragraph: str) -> str:
    """A paragraph in German."""
    return " ".join(GERMAN[word] for word in paragraph.split())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    agent = tmp_path / ".oribi" / "agents" / "reader"
    agent.mkdir(parents=True)
    (agent / "AGENT.md").write_text(AGENT)
    (tmp_path / ".oribi" / "script.yaml").write_text(SCRIPT)
    return tmp_path


@pytest.mark.parametrize(("doc", "german"), [("letter", "die Katze schläft"), ("note", "die Hündin schläft")])
async def test_the_third_section_is_extracted_then_translated_then_answered(
    workspace: Path, doc: str, german: str
) -> None:
    """T-25: `extract_sections(doc)`, then `translate(paragraph_3)`, then the final answer: Completed."""
    async with oribi.open(workspace, tools=[extract_sections, translate]) as app:
        result = await app.run("reader", f"Translate the third paragraph of {doc}.")
        records = app.records(result.session_id)
    assert result.end == Completed(text=f"In German the third paragraph says: {german}")
    assert (result.counters.steps, result.counters.tool_calls) == (3, 2)
    assert [(message.name, told(message.result)) for message in result.evidence][1:] == [("translate", german)]
    assert calls_of(records) == [
        ("extract_sections", {"doc": doc}),
        ("translate", {"paragraph": DOCUMENTS[doc].split("\n\n")[2]}),
    ]


async def test_a_tool_that_fails_is_told_to_the_model_and_the_turn_goes_on(workspace: Path) -> None:
    """Y-2, O-25: an unknown document is a failed call, not the end of the turn."""
    script = SCRIPT + "replies_tail: 'I could not read it: {result}'\n"
    (workspace / ".oribi" / "script.yaml").write_text(script)
    async with oribi.open(workspace, tools=[extract_sections, translate]) as app:
        result = await app.run("reader", "Translate the third paragraph of novel.")
    assert result.end == Completed(text="I could not read it: Error: KeyError: 'novel'")


def calls_of(records: list[Recorded]) -> list[tuple[str, object]]:
    """What the model asked for, in order."""
    replies = [record.event.reply for record in records if isinstance(record.event, ModelReplied)]
    return [(call.name, call.arguments) for reply in replies for call in reply.calls]
