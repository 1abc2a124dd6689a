"""How texts, numbers, times and tables are put: escaped, short, aligned, and true."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

from oribi.core.calls import Json, JsonObject, Malformed

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069\ud800-\udfff]")
"""What would steer a terminal or reorder what a person reads, and half characters."""

_WIDE, _KILO = 0x100, 1000
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def safe(text: str) -> str:
    """`text` with control characters shown as escapes; line breaks and tabs stay."""
    return _UNSAFE.sub(_escaped, text.replace("\r\n", "\n"))


def _escaped(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < _WIDE else f"\\u{number:04x}"


def one_line(text: str, most_columns: int) -> str:
    """`text` on one line, safe, cut at its end with … to fit `most_columns`."""
    return cut(safe(" ".join(text.split())), most_columns)


def cut(text: str, most_columns: int) -> str:
    """`text`, cut at its end with … to fit `most_columns`."""
    if columns_of(text) <= most_columns:
        return text
    width = 0
    for index, character in enumerate(text):
        width += _columns(character)
        if width > most_columns - 1:
            return text[:index] + "…"
    return text


def columns_of(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def terminal_columns(*, is_terminal: bool) -> int:
    """How wide lines may be: the terminal's width; where it is none, wide enough that nothing is lost for a script."""
    return max(20, shutil.get_terminal_size((80, 24)).columns) if is_terminal else 10_000


def table(rows: Sequence[Sequence[str]], most_columns: int) -> str:
    """Rows with aligned columns; the last column is cut to fit `most_columns`, and empty columns are left out."""
    shown = [[safe(cell) for cell in row] for row in rows]
    kept = [index for index in range(len(shown[0])) if any(row[index] for row in shown[1:] or shown)] if shown else []
    widths = {index: max(columns_of(row[index]) for row in shown) for index in kept}
    lines: list[str] = []
    for row in shown:
        line = "  ".join(row[index] + " " * (widths[index] - columns_of(row[index])) for index in kept).rstrip()
        lines.append(cut(line, most_columns) + "\n")
    return "".join(lines)


def first_sentence(text: str) -> str:
    """The first sentence of a description, without its full stop."""
    return re.split(r"\.(?:\s|$)|\n", text.strip(), maxsplit=1)[0]


def end_label(name: str) -> str:
    """The label of a turn end from the name of its class, which is what the database has: `max_steps`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 step`, `2,000 steps`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def bytes_text(count: int) -> str:
    """`512 bytes`, `3.4 MB`."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < _KILO or unit == "GB":
            return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= _KILO
    raise AssertionError("the last unit returns")


def duration(milliseconds: float) -> str:
    """`12 ms`, `3.4 s`, `2 min 05 s`, `1 h 02 min`."""
    if milliseconds < _KILO:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"


def ago(at: int, now: int) -> str:
    """How long before `now` something was, roughly; both in microseconds."""
    seconds = max(0, (now - at) // 1_000_000)
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h ago"
    return f"{seconds // _DAY} d ago"


def local_time(at: int) -> str:
    """A moment in microseconds since the epoch, on this machine's clock: `2026-03-01 09:00:12`."""
    return f"{_moment(at).astimezone():%Y-%m-%d %H:%M:%S}"


def utc_time(at: int) -> str:
    """The same for programs: `2026-03-01T08:00:12.000000Z`."""
    return f"{_moment(at):%Y-%m-%dT%H:%M:%S.%fZ}"


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at // 1_000_000, UTC).replace(microsecond=at % 1_000_000)


def tokens_text(input_tokens: int | None, output_tokens: int | None, *, complete: bool = True) -> str:
    """`1,204 in / 88 out tokens`; unknown is not 0, and a sum that lacks parts is a lower bound."""
    if input_tokens is None and output_tokens is None:
        return "unknown tokens"
    least = "" if complete else "at least "
    into = "unknown" if input_tokens is None else f"{input_tokens:,}"
    out = "unknown" if output_tokens is None else f"{output_tokens:,}"
    return f"{least}{into} in / {out} out tokens"


def arguments_text(arguments: JsonObject | Malformed) -> str:
    """The arguments of a call on one line: `path="a.log", limit=3`."""
    if isinstance(arguments, Malformed):
        return f"{one_json(arguments.text)} (not a JSON object)"
    return ", ".join(f"{key}={one_json(value)}" for key, value in arguments.items())


def one_json(value: Json) -> str:
    """`value` as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def json_page(value: object) -> str:
    """`value` as JSON for stdout: indented, safe to show on a terminal, exact for a program."""
    return _safe_json(json.dumps(value, ensure_ascii=False, indent=2))


def json_line(value: Json) -> str:
    """`value` as JSON on one line of stdout, as safe and as exact as `json_page`."""
    return _safe_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _safe_json(text: str) -> str:
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
