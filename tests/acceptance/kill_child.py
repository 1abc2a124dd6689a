"""A program that gets killed: it starts a turn, or resumes one, with two tools whose every run leaves a mark.

`kill_child.py WORKSPACE start` and `kill_child.py WORKSPACE resume SESSION`; it prints the end of the turn. A tool that
finds the file `hold-<tool>` in the workspace makes its mark and then waits to be killed.
"""

import os
import sys
import threading
from pathlib import Path

import anyio

import oribi
from oribi.core.ends import shown

WORKSPACE = Path(sys.argv[1])


@oribi.tool(effect="once")
def charge(amount: int) -> str:
    """Take money from the customer."""
    return leave_mark("charge", f"charged {amount}")


@oribi.tool(effect="pure")
def look(place: str) -> str:
    """Look at a place."""
    return leave_mark("look", f"{place} is empty")


def leave_mark(name: str, text: str) -> str:
    """Do the tool's effect, which the witness file counts, and be cut off if the test wants that."""
    with (WORKSPACE / "witness").open("a") as witness:
        witness.write(f"{name}\n")
        witness.flush()
        os.fsync(witness.fileno())
    if (WORKSPACE / f"hold-{name}").exists():
        threading.Event().wait()
    return text


async def main() -> None:
    """Run to the end of the turn, if nobody kills us."""
    async with oribi.open(WORKSPACE, tools=[charge, look]) as app:
        if sys.argv[2] == "start":
            result = await app.run("till", "Charge 5, then look at the till.")
        else:
            result = await app.resume(sys.argv[3])
        print(type(result.end).__name__, shown(result.end))


anyio.run(main)
