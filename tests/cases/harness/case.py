"""Case files of the format `agent-case/1`: read, checked, and taken apart into single plays.

A play is what is run by itself: one variant with, where it has them, one row of its table and one value of its sweep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

FORMAT = "agent-case/1"
ADDED = ("tools", "mcp", "builtin")
"""Keys that a variant adds to those of the file's set-up, where every other key replaces."""

JsonDict: TypeAlias = dict[str, Any]
"""A JSON object of a case file, whose shape the format leaves open."""


def objects(value: Any) -> list[JsonDict]:
    """A list of JSON objects; an absent one (null) is empty."""
    return cast("list[JsonDict]", value) if isinstance(value, list) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One value of a setting; `counts` says what it counts (`messages`, `or_tokens`)."""

    param: str
    counts: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One run of one variant. `spec` holds its own keys and those it takes from the set-up, the row filled in."""

    file: str
    variant: str
    spec: JsonDict
    row: Any = None
    row_number: int | None = None
    sweep: Sweep | None = None

    @property
    def name(self) -> str:
        """The play's name: file, variant, row and value."""
        row = "" if self.row_number is None else f" [row {self.row_number}]"
        value = "" if self.sweep is None else f" [{self.sweep.param} {self.sweep.value}]"
        return f"{self.file}: {self.variant}{row}{value}"

    @property
    def dialect(self) -> str:
        """The provider's wire: openai, anthropic or gemini."""
        return self.spec.get("dialect", "openai")

    @property
    def steps(self) -> list[JsonDict]:
        """The steps; a sweep is replaced by its body."""
        found: list[JsonDict] = []
        for step in self.spec.get("steps", []):
            found += step["body"] if step["do"] == "sweep" else [step]
        return found

    @property
    def checks(self) -> list[JsonDict]:
        """What must hold."""
        return self.spec.get("expect", [])


def read_plays(folder: Path, counts: Container[str] = ()) -> list[Play]:
    """The plays of all case files in `folder`, in the order of their names.

    Where a sweep has lists for several ways to count, those in `counts` are played (see `Sweep.counts`).

    Raises:
        ValueError: A file is not a case file, or the folder has none.

    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise ValueError(f"{str(folder)!r} holds no case files (*.json)")
    return [play for file in files for play in _plays_of(file, counts)]


def _plays_of(file: Path, counts: Container[str]) -> list[Play]:
    case: JsonDict = json.loads(file.read_text(encoding="utf-8"))
    if case.get("format") != FORMAT:
        raise ValueError(f"{str(file)!r} is of the format {case.get('format')!r}, not {FORMAT!r}")
    setup = case.get("setup", {})
    return [play for variant in case["variants"] for play in _plays(file.stem, _merged(setup, variant), counts)]


def _merged(setup: JsonDict, variant: JsonDict) -> JsonDict:
    spec = setup | variant
    for key in ADDED:
        if key in setup and key in variant:
            spec[key] = [*setup[key], *variant[key]]
    return spec


def _plays(file: str, spec: JsonDict, counts: Container[str]) -> list[Play]:
    variant = spec["name"]
    table: JsonDict | None = spec.get("table")
    rows: list[tuple[int | None, Any]] = [(None, None)]
    if table is not None:
        rows = [(number, row) for number, row in enumerate(cast("list[Any]", table["rows"]), start=1)]
    plays: list[Play] = []
    for number, row in rows:
        own = spec
        if number is not None and table is not None:
            own = fill_row({key: value for key, value in spec.items() if key != "table"}, row)
            if "reply" in table:
                own["replies"] = fill_row(table["reply"], row)
            if "setup_row_as" in spec:
                own["tools"] = [_returns_row(tool, spec["setup_row_as"], row) for tool in spec.get("tools", [])]
            if isinstance(row, dict) and "expr" in row:  # a table of jobs
                own["cron"] = row
        plays += [
            Play(file=file, variant=variant, spec=own, row=row, row_number=number, sweep=sweep)
            for sweep in _sweeps(own.get("steps", []), counts) or [None]
        ]
    return plays


def _returns_row(tool: JsonDict, named: Any, row: Any) -> JsonDict:
    """The fixture tool, returning the row if it is the one that `setup_row_as` means."""
    if isinstance(named, str) and named.rpartition(".")[2].lstrip("@") not in ("", "result", tool["name"]):
        return tool
    return tool | {"behaviour": tool.get("behaviour", {}) | {"return": row}}


def _sweeps(steps: list[JsonDict], counts: Container[str]) -> list[Sweep]:
    found: list[Sweep] = []
    for step in steps:
        if step["do"] == "sweep":
            given: Any = step["values"]
            values = cast("JsonDict", given) if isinstance(given, dict) else {"": given}
            found += [
                Sweep(param=step["param"], counts=counted, value=value)
                for counted, listed in values.items()
                for value in listed
                if counted == "" or counted in counts
            ]
    return found


_ROW = re.compile(r"\$\{ROW(:bare)?\}")


def fill_row(value: Any, row: Any) -> Any:
    """`value` with `${ROW}` and `${ROW:bare}` replaced, as a whole where a text is nothing else."""
    match value:
        case str():
            if value == "${ROW}":
                return row
            shown = row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)
            return _ROW.sub(lambda found: shown.removeprefix("@") if found[1] else shown, value)
        case list():
            return [fill_row(item, row) for item in cast("list[Any]", value)]
        case dict():
            return {key: fill_row(item, row) for key, item in cast("JsonDict", value).items()}
        case _:
            return value
