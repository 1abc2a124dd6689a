"""One cap for the text of every result; what is cut stays readable as a file in the workspace's output folder."""

from __future__ import annotations

import hashlib
import re

from oribi.core.errors import OribiError
from oribi.ports import Invocation
from oribi.tools.jail import MOST_BYTES, Jail

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_MARKER_ROOM = 400
"""Characters of a cut text that are set aside for the line that says so."""


def cap_text(text: str, invocation: Invocation, jail: Jail) -> str:
    """`text` if it fits `invocation.policy.result_characters`, else its start and end around a line about the rest.

    The whole text is then kept in a file, at most `MOST_BYTES` of it, and the line says where and how to read it.
    """
    most = invocation.policy.result_characters
    if len(text) <= most:
        return text
    room = max(0, most - _MARKER_ROOM)
    head, tail = text[: room - room // 4], text[len(text) - room // 4 :]
    left_out = len(text) - len(head) - len(tail)
    lines_shown = head.count("\n")
    hint = _keep(text, invocation, jail, lines_shown + 1, len(head) - head.rfind("\n"))
    return f"{head}\n[{left_out:,} of {len(text):,} characters omitted here; {hint}]\n{tail}"


def output_name(invocation: Invocation) -> str:
    """A file name for the output of a call: its turn and id, made safe and still different from every other."""
    name = f"{_safe(invocation.turn_id)}-{_safe(invocation.call_id)}"
    if name != f"{invocation.turn_id}-{invocation.call_id}":
        name += "-" + hashlib.sha256(invocation.key.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{name}.txt"


def _keep(text: str, invocation: Invocation, jail: Jail, line: int, column: int) -> str:
    path = f"{jail.policy.output}/{output_name(invocation)}"
    content = text.encode()
    note = "" if len(content) <= MOST_BYTES else f", of which the first {MOST_BYTES:,} bytes were kept"
    try:
        jail.replace(path, content[:MOST_BYTES])
    except OribiError as error:
        return f"the rest could not be kept: {error}"
    start = f"offset={line}" if column == 1 else f"offset={line}, column={column}"
    return f"the whole output is {path!r}{note}: read_file(path={path!r}, {start}) goes on from here"


def _safe(part: str) -> str:
    return _UNSAFE.sub("_", part)[:60] or "_"
