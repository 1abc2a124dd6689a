"""The text of a MEMORY.md: cut it for a prompt, add an entry, find entries.

What stands under a `## Core` heading is core; everything else is archive, so a file without sections is all
archive (C-11). An entry is a list item or a paragraph, with what is indented below it. Newest come last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Section: TypeAlias = Literal["core", "archive"]
"""`core` is in every prompt, whole; of `archive` only the newest entries are."""

HEADING_CHARACTERS = 200
"""How much is kept of the heading under which something was left out: without it, the rest could pass for core."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r"#{1,6}(\s|$)")
_TOP_HEADING = re.compile(r"#{1,2}(\s|$)")
_TITLE = re.compile(r"#\s")
_CORE = re.compile(r"##\s+core\s*$", re.IGNORECASE)
_ARCHIVE = re.compile(r"##\s+archive\s*$", re.IGNORECASE)
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])(\s+|$)")


def cut_memory(text: str, cap_characters: int) -> str:
    """`text` with its archive cut to the newest `cap_characters` characters, at entry boundaries (C-11).

    Core is never cut, and a text whose archive fits comes back as it is. Where something was left out, a line
    says how much, and that `recall_memory` finds it; that line and the heading it stands under are not counted in
    the cap. If the newest entry alone is too long, its last `cap_characters` characters are kept (O-12, O-29).
    """
    blocks = _blocks(text)
    first_kept, room = len(blocks), max(0, cap_characters)
    while first_kept and (size := _size_to_cut(blocks[first_kept - 1])) <= room:
        first_kept -= 1
        room -= size
    if first_kept == 0:
        return text
    too_long = blocks[first_kept - 1]
    tail = too_long.text[len(too_long.text) - room :] if room == cap_characters and too_long.is_entry else ""
    heading = next((block for block in reversed(blocks[:first_kept]) if block.is_top_heading), None)
    stays = [block for block in blocks[:first_kept] if block is heading or not _size_to_cut(block)]
    left_out = [block for block in blocks[:first_kept] if block is not heading and _size_to_cut(block)]
    if not left_out:
        return text
    before = "".join(block.text[:HEADING_CHARACTERS] if _size_to_cut(block) else block.text for block in stays)
    after = "".join(block.text for block in blocks[first_kept:])
    entries = sum(block.is_entry for block in left_out)
    characters = sum(len(block.text) for block in left_out) - len(tail)
    noun = "entry" if entries == 1 else "entries"
    marker = f"[{entries} older {noun} ({characters} characters) left out here; recall_memory finds them]\n"
    return before + ("" if before.endswith("\n") or not before else "\n") + marker + tail + after


def add_entry(text: str, entry: str, *, section: Section) -> str:
    """`text` with `entry` as the newest list item of `section`, which is made if it is not there.

    Further lines of `entry` are indented, so that no entry can open a section or start another entry.

    Raises:
        ValueError: `entry` is blank.

    """
    item = _as_item(entry)
    blocks = _blocks(text)
    core = [index for index, block in enumerate(blocks) if block.is_core]
    if section == "core":
        if core:
            return _insert(blocks, core[-1] + 1, item)
        return _insert_core(blocks, f"## Core\n\n{item}")
    if not core or core[-1] < len(blocks) - 1:
        return _insert(blocks, len(blocks), item)
    if any(block.is_archive_heading for block in blocks):
        return _insert(blocks, _start_of_last_run(core), item)
    return _insert(blocks, len(blocks), f"\n## Archive\n\n{item}")


def find_entries(text: str, query: str, limit: int) -> list[str]:
    """At most `limit` entries of `text` that hold words of `query`: those with most words first, then newest.

    Letter case does not matter, and a word may be part of another. Without words, the newest entries.
    """
    words = set(query.casefold().split())
    entries = [block.text.strip() for block in _blocks(text) if block.is_entry]
    scored: list[tuple[int, int, str]] = []
    for index, entry in enumerate(entries):
        folded = entry.casefold()
        score = sum(word in folded for word in words)
        if score or not words:
            scored.append((-score, -index, entry))
    return [entry for _, _, entry in sorted(scored)[: max(0, limit)]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A heading or an entry, with the blank lines after it. The blocks of a text, joined, are the text."""

    text: str
    is_core: bool
    is_heading: bool

    @property
    def is_entry(self) -> bool:
        return not self.is_heading and bool(self.text.strip())

    @property
    def is_top_heading(self) -> bool:
        return self.is_heading and _TOP_HEADING.match(self.text) is not None

    @property
    def is_archive_heading(self) -> bool:
        return self.is_heading and _ARCHIVE.match(self.text.rstrip()) is not None


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    lines: list[str] = []
    is_core = is_heading = after_blank = False

    def close() -> None:
        if lines:
            blocks.append(_Block(text="".join(lines), is_core=is_core, is_heading=is_heading))
            lines.clear()

    for line in _LINE.findall(text):
        if _HEADING.match(line):
            close()
            if _TOP_HEADING.match(line):
                is_core = _CORE.match(line.rstrip()) is not None
            is_heading = True
        elif line.strip():
            opens = is_heading or _ITEM.match(line) or (after_blank and line[0] not in " \t")
            if opens:
                close()
                is_heading = False
        lines.append(line)
        after_blank = not line.strip()
    close()
    return blocks


def _size_to_cut(block: _Block) -> int:
    """The characters that leaving out `block` would save; 0 for what is never left out."""
    return 0 if block.is_core or block.is_archive_heading else len(block.text)


def _as_item(entry: str) -> str:
    entry = entry.strip()
    first_item = _ITEM.match(entry)
    if first_item and entry[0] in "-*+":
        entry = entry[first_item.end() :].strip()
    lines = entry.splitlines()
    if not lines:
        raise ValueError("a memory entry cannot be blank: say in a sentence what to remember")
    rest = "".join(f"  {line.rstrip()}\n" if line.strip() else "\n" for line in lines[1:])
    return f"- {lines[0].rstrip()}\n{rest}"


def _insert(blocks: list[_Block], index: int, item: str) -> str:
    """The text of `blocks` with `item` before the block at `index`, set off by blank lines where needed."""
    before = "".join(block.text for block in blocks[:index])
    after = "".join(block.text for block in blocks[index:])
    body = before.rstrip("\r\n")
    if not body:
        return item + ("\n" if after else "") + after
    last = blocks[index - 1]
    gap = "\n" if last.is_entry and _ITEM.match(last.text) else "\n\n"
    return body + gap + item + ("\n" if after else "") + after


def _insert_core(blocks: list[_Block], section: str) -> str:
    """The text of `blocks` with a first core section: above the archive, below what stands above that."""
    for index, block in enumerate(blocks):
        if block.is_archive_heading:
            return _insert(blocks, index, section)
    is_titled = bool(blocks) and blocks[0].is_heading and _TITLE.match(blocks[0].text) is not None
    if any(block.text.strip() for block in blocks[is_titled:]):
        section += "\n## Archive\n"
    return _insert(blocks, int(is_titled), section)


def _start_of_last_run(indexes: list[int]) -> int:
    """The first index of the unbroken run of numbers that ends `indexes`."""
    start = indexes[-1]
    for index in reversed(indexes):
        if start - index > 1:
            break
        start = index
    return start
