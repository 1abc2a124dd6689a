"""A journal that cannot be written any more in the middle of a turn: nothing unrecorded happens, the message says why.

SQLite itself refuses here, at the write that is meant (a page limit, a connection that may only read). What a disk that
is really full or read-only does is shown in tests/cli/test_small_disk.py and by small_disk.py.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from oribi.core.calls import JsonObject, Unknown
from oribi.core.ends import Completed
from oribi.core.errors import JournalError
from oribi.core.mail import Input
from oribi.core.messages import Reply, ToolMessage
from oribi.core.prompt import Prompt
from oribi.journal.database import execute
from oribi.journal.sqlite import SqliteJournal
from oribi.testing import ScriptedModel
from oribi.testing.script import ScriptedCall, ScriptedReply, render, situation_of
from oribi.turn.loop import run_turn
from tests.turn.stage import Stage

pytestmark = pytest.mark.anyio

LONG = "x" * 20_000  # so that a record with it needs new pages

REFUSALS = {
    "full": ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", "the disk is full"),
    "read-only": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF", "is read-only"),
}


@pytest.fixture(params=REFUSALS)
def refusal(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    return REFUSALS[request.param]


def ask(journal: SqliteJournal, pragma: str) -> None:
    """Say `pragma` to the connection that writes."""
    writer = journal._writer  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - the disk's part is played here
    assert writer is not None
    execute(writer._connection, pragma)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def send_then_answer(before_calling: Callable[[], None], prompts: list[Prompt]) -> ScriptedModel:
    """A model that calls `send` once and then answers."""

    def reply(prompt: Prompt) -> Reply:
        prompts.append(prompt)
        situation = situation_of(prompt)
        if any(isinstance(message, ToolMessage) for message in prompt.messages):
            return render(ScriptedReply(text="Done."), situation, {}, prompt_bytes=0)
        before_calling()
        call = ScriptedCall(name="send", arguments={"text": LONG}, id="c1")
        return render(ScriptedReply(calls=(call,)), situation, {}, prompt_bytes=0)

    return ScriptedModel(reply)


async def test_a_tool_whose_start_cannot_be_recorded_does_not_run(
    tmp_path: Path, refusal: tuple[str, str, str]
) -> None:
    """G11: record before you do; when that fails, the turn stops and can go on once there is room."""
    refuse, allow, said = refusal
    journal = SqliteJournal(tmp_path / "oribi.db")
    refused = [False]

    def refuse_once() -> None:
        if not refused[0]:
            refused[0] = True
            ask(journal, refuse)

    stage = Stage(send_then_answer(refuse_once, []), {"send": lambda _: "sent"}, journal=journal)
    session = await stage.open()
    session.send(Input(text="Send it."))
    with pytest.raises(JournalError, match=said):
        await run_turn(session, stage.ports)
    assert stage.tools.runs == []
    assert "ToolStarted" not in stage.names()
    ask(journal, allow)
    assert await run_turn(await stage.open(), stage.ports) == Completed(text="Done.")
    assert len(stage.tools.runs) == 1
    journal.close()


async def test_a_once_tool_whose_result_cannot_be_recorded_is_unknown_afterwards(
    tmp_path: Path, refusal: tuple[str, str, str]
) -> None:
    """G1, G11: it may have happened, so it does not run again, and the model is told."""
    refuse, allow, said = refusal
    journal = SqliteJournal(tmp_path / "oribi.db")
    prompts: list[Prompt] = []

    def send(_: JsonObject) -> str:
        ask(journal, refuse)
        return LONG

    stage = Stage(send_then_answer(lambda: None, prompts), {"send": send}, journal=journal)
    session = await stage.open()
    session.send(Input(text="Send it."))
    with pytest.raises(JournalError, match=said):
        await run_turn(session, stage.ports)
    assert stage.names()[-1] == "ToolStarted"
    ask(journal, allow)
    assert await run_turn(await stage.open(), stage.ports) == Completed(text="Done.")
    assert len(stage.tools.runs) == 1
    [told] = [message for message in prompts[-1].messages if isinstance(message, ToolMessage)]
    assert isinstance(told.result, Unknown)
    journal.close()
