"""Steps that write files: done at once, but for an agent's file that is written slowly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cases.harness.settings import agent_text
from tests.cases.harness.world import content_of, write_file

if TYPE_CHECKING:
    from tests.cases.harness.case import JsonDict
    from tests.cases.harness.stage import Stage


def write(stage: Stage, step: JsonDict) -> None:
    """A file with the text or bytes given; an agent's file where the product looks for it."""
    stage.product.write(Path(step["path"]), content_of(step))


def write_repeat(stage: Stage, step: JsonDict) -> None:
    """A file with a text again and again."""
    stage.product.write(Path(step["path"]), str(step["text"]).encode() * int(step["times"]))


def write_raw_name(stage: Stage, step: JsonDict) -> None:
    """A file whose name is bytes that need not be UTF-8."""
    folder = str(step.get("dir", stage.world.workspace)).encode()
    name = content_of({"b64": step["name_b64"]}) if "name_b64" in step else bytes.fromhex(step["name_hex"])
    Path((folder + b"/" + name).decode("utf-8", "surrogateescape")).write_bytes(content_of(step))


def make(stage: Stage, step: JsonDict) -> None:
    """One entry of `files`, made while the play goes on."""
    write_file(step)


def agent_file(stage: Stage, step: JsonDict) -> Awaitable[None] | None:
    """The running agent's file: deleted, replaced, renamed over, or written slowly in two parts."""
    file = Path(stage.world.values["AGENT_FILE"])
    if step.get("delete"):
        file.unlink()
        return None
    text = step["raw"] if "raw" in step else _version(stage, str(step["version"]))
    match step.get("write"):
        case "slow_in_two_parts":
            half = len(text) // 2
            file.write_text(text[:half])
            return _append_later(file, text[half:], step.get("ms", 500) / 1000)
        case "rename":
            beside = file.with_name("AGENT.md.new")
            beside.write_text(text)
            beside.rename(file)
        case _:
            file.write_text(text)
    return None


def _version(stage: Stage, version: str) -> str:
    own: JsonDict = stage.play.spec.get("agent", {})
    return agent_text(stage.play, own | stage.play.spec["agent_versions"][version])


async def _append_later(file: Path, text: str, seconds: float) -> None:
    await asyncio.sleep(seconds)
    _append(file, text)


def _append(file: Path, text: str) -> None:
    with file.open("a") as out:
        out.write(text)
