"""Fills a small disk with a journal, in a mount namespace of its own; `ro` as second argument remounts it after."""

import subprocess
import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from oribi.core.calls import CallId, Succeeded
from oribi.core.errors import JournalError
from oribi.core.events import ToolSettled
from oribi.journal.sqlite import SqliteJournal
from tests.samples import LONG, SAMPLES, SESSION, recorded


async def main(folder: Path, *, then_read_only: bool) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", str(folder)], check=True)
    path = folder / "oribi.db"
    journal = SqliteJournal(path)
    epoch = await journal.open_session(SESSION)
    await journal.append(SESSION, epoch, recorded(SAMPLES[0]))
    acknowledged = 1
    try:
        while True:
            event = ToolSettled(step=1, call_id=CallId("c"), result=Succeeded(text=f"{acknowledged}{LONG}"))
            await journal.append(SESSION, epoch, recorded(event, first=acknowledged + 1))
            acknowledged += 1
    except JournalError as error:
        print(error)
    if then_read_only:
        journal.close()
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        try:
            SqliteJournal(path)
        except JournalError as error:
            print(error)
    print(acknowledged, len(SqliteJournal(path, read_only=True).read(SESSION)))


anyio.run(lambda: main(Path(sys.argv[1]), then_read_only=sys.argv[2:] == ["ro"]))
