"""What an AGENT.md says about its loop: `policy`, `settings` and `budget` become one loop policy with its origins.

A policy begins as a preset and changes what the file names. Every value is checked, so that none is ever guessed; a
mode can change the policy of its agent, but not widen its rights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, get_args

from oribi.agents.values import Problems, Table, Value
from oribi.core.budget import Limits, tightened
from oribi.core.calls import FailureClass
from oribi.core.policy import (
    GAME_PRESETS,
    PRESETS,
    PROMPT_ORDER,
    ActionForm,
    Busy,
    CallsPerStep,
    CapOutcome,
    Catalogue,
    Degrade,
    Estimator,
    LoopPolicy,
    MemoryScope,
    Protocol,
    Repeat,
    SkillsMode,
    StoreReasoning,
    Summary,
)

INVALID_STEPS = 3
"""What a step count that is none becomes in the presets of the game assistant (M-12)."""

NO_BOUND = "none"
"""What a file says for a bound that is not to be there."""

STRICT_FIELDS = ("max_steps", "model_timeout_seconds")
"""The fields that a strict policy must name, besides every limit (M-14)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRead:
    """A loop policy, and where each of its values came from.

    `preset` is the one it began as. `origins` has for each field a text such as 'preset standard' or 'AGENT.md:12',
    for each limit under `limits.NAME`. For the modes of an agent: `budget` are the limits that its file names, and
    `lasting` the fields that a preset of the mode does not change.
    """

    policy: LoopPolicy
    preset: str
    origins: Mapping[str, str]
    budget: Limits = field(default_factory=Limits)
    lasting: frozenset[str] = frozenset()


def read_policy(table: Table, warnings: Problems) -> PolicyRead:
    """The loop policy of the agent whose frontmatter is `table`: the preset `standard`, or another, with its changes.

    In the presets of the game assistant a step count that is none becomes 3, with a warning (M-12).
    """
    settings = table.table("settings", ("max_iterations", "max_history_turns")) or _nothing(table)
    mode = {key: value for key, value in _entries(table, "skills").items() if key == "mode"}
    skills = Table(mode, table.problems, ("mode",), "skills")
    others = (
        _Other(table=settings, key="max_iterations", name="max_steps", read=_whole(1, _MAX_STEPS)),
        _Other(table=settings, key="max_history_turns", name="max_history_turns"),
        _Other(table=skills, key="mode", name="skills_mode"),
    )
    read = _read(table, _preset("standard"), others, warnings)
    lasting = {"skills_mode"} if "mode" in skills else set[str]()
    if read.policy.confirm_writes:
        lasting.add("confirm_writes")
    return replace(read, lasting=frozenset(lasting))


def read_mode_policy(table: Table, agent: PolicyRead, warnings: Problems) -> PolicyRead:
    """The loop policy of the mode whose table is `table`: its agent's, or a preset of its own, with its changes.

    What the agent's `budget` names bounds every mode, and an agent that confirms writes confirms them in every mode.
    """
    return _read(table, agent, (_Other(table=table, key="steps", name="max_steps"),), warnings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Other:
    """Another place that may set the field `name` of a policy: `key` of `table`. `read` None: as the field is read."""

    table: Table
    key: str
    name: str
    read: _Reader | None = None


def _read(table: Table, base: PolicyRead, others: tuple[_Other, ...], warnings: Problems) -> PolicyRead:
    """`base`, or the preset that the policy in `table` names, with what the file changes of it."""
    block = Table(_entries(table, "policy"), table.problems, ("preset", "strict", *_FIELDS), table.name("policy"))
    is_table = "policy" not in table or isinstance(table.entries["policy"].content, dict)
    preset = block.choice("preset", tuple(PRESETS)) if is_table else table.choice("policy", tuple(PRESETS))
    start = base if preset is None else _kept(_preset(preset), base)
    readers = _FIELDS | ({"max_steps": _steps_or_3(warnings)} if start.preset in GAME_PRESETS else {})
    given = _Given()
    for name, read in readers.items():
        given.take(block, name, name, read)
    for other in others:
        if other.key in other.table and other.name in block:
            text = f"{other.table.name(other.key)} and {block.name(other.name)} are one setting; keep one of them"
            table.problems.add(other.table.line(other.key), text)
        given.take(other.table, other.key, other.name, other.read or readers[other.name])
    if "confirm_writes" in base.lasting and given.values.get("confirm_writes") is False:
        block.refuse("confirm_writes", "must be true, as for the agent")
    budget = table.table("budget", tuple(_LIMITS)) or _nothing(table)
    bounds = _Given()
    for name, read in _LIMITS.items():
        bounds.take(budget, name, name, read)
    if block.yes_no("strict"):
        _require_all(table, block, budget)
    merged = replace(start.policy.limits, **bounds.values)
    limits = tightened(merged, base.budget)
    origins = {**start.origins, **given.origins}
    for name in _LIMITS:
        is_agents = getattr(limits, name) != getattr(merged, name)
        place = base.origins[f"limits.{name}"] if is_agents else bounds.origins.get(name)
        origins[f"limits.{name}"] = place or start.origins[f"limits.{name}"]
    return PolicyRead(
        policy=replace(start.policy, limits=limits, **given.values),
        preset=start.preset,
        origins=origins,
        budget=replace(Limits(), **bounds.values),
    )


class _Given:
    """The values that a file gives, by field, and the place of each."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.origins: dict[str, str] = {}

    def take(self, table: Table, key: str, name: str, read: _Reader) -> None:
        """Read `key` if it is in `table`; a value that is wrong is noted there and not kept."""
        if key not in table:
            return
        before = len(table.problems.found)
        value = read(table, key)
        if len(table.problems.found) > before:
            return
        self.values[name] = value
        file = table.problems.file.rpartition("/")[2]
        group = f"{table.path}, " if table.path in {"settings", "skills"} else ""
        self.origins[name] = f"{group}{file}:{table.line(key)}"


def _preset(name: str) -> PolicyRead:
    names = (*_FIELDS, *(f"limits.{limit}" for limit in _LIMITS))
    return PolicyRead(policy=PRESETS[name], preset=name, origins=dict.fromkeys(names, f"preset {name}"))


def _kept(start: PolicyRead, base: PolicyRead) -> PolicyRead:
    """`start` with the fields of `base` that last."""
    values = {name: getattr(base.policy, name) for name in base.lasting}
    origins = {name: base.origins[name] for name in base.lasting}
    return replace(start, policy=replace(start.policy, **values), origins={**start.origins, **origins})


def _entries(table: Table, key: str) -> Mapping[str, Value]:
    """The entries of the table `key`; none if it is another thing, or absent."""
    value = table.entries.get(key)
    return value.content if value is not None and isinstance(value.content, dict) else {}


def _nothing(table: Table) -> Table:
    return Table({}, table.problems, ())


def _require_all(table: Table, block: Table, budget: Table) -> None:
    """Name what a strict policy lacks to be a complete object (M-13)."""
    given = {*block.entries, *({"max_steps"} if "steps" in table else ())}
    missing = [block.name(key) for key in STRICT_FIELDS if key not in given]
    missing += [table.name(f"budget.{key}") for key in _LIMITS if key not in budget]
    if missing:
        table.problems.add(block.line("strict"), f"{block.name('strict')} asks for all; missing: {', '.join(missing)}")


_Reader: TypeAlias = Callable[[Table, str], object]
"""Reads one key that is in a table. What is wrong is noted there, and what is returned then is not used."""


def _steps_or_3(warnings: Problems) -> _Reader:
    def read(table: Table, key: str) -> object:
        trial = Table({key: table.entries[key]}, Problems(file=table.problems.file), (key,), table.path)
        steps = trial.whole(key, low=0, high=_MAX_STEPS)
        warnings.found += [(line, f"{text}; it counts as {INVALID_STEPS}") for line, text in trial.problems.found]
        return INVALID_STEPS if trial.problems.found else steps

    return read


def _whole(low: int, high: int) -> _Reader:
    return lambda table, key: table.whole(key, low=low, high=high)


def _number(low: float, high: float) -> _Reader:
    return lambda table, key: table.number(key, low=low, high=high)


def _choice(options: object) -> _Reader:
    """One of the texts of a `Literal`."""
    return lambda table, key: table.choice(key, get_args(options))


def _yes_no(table: Table, key: str) -> object:
    return table.yes_no(key)


def _tokens(table: Table, key: str) -> object:
    if table.entries[key].content == NO_BOUND:
        return None
    if isinstance(table.entries[key].content, int | float):
        return table.whole(key, low=1, high=_MAX_COUNT)
    return table.refuse(key, f"must be a whole number from 1 to {_MAX_COUNT}, or {NO_BOUND}")


def _failures(table: Table, key: str) -> object:
    """Tools by name, each with a failure class."""
    classes = table.tables(key)
    inner = Table(classes, table.problems, tuple(classes), table.name(key))
    return {tool: inner.choice(tool, get_args(FailureClass)) for tool in classes}


def _order(table: Table, key: str) -> object:
    parts = tuple(table.texts(key) or ())
    if sorted(parts) != sorted(PROMPT_ORDER) and isinstance(table.entries[key].content, tuple):
        rule = f"{table.name(key)} must name each of {', '.join(PROMPT_ORDER)} once"
        table.problems.add(table.line(key), f"{rule}, not [{', '.join(parts)}]")
    return parts


_MAX_STEPS = 1_000
_MAX_COUNT = 1_000_000_000
_DAY = 86_400

_FIELDS: dict[str, _Reader] = {
    "protocol": _choice(Protocol),
    "action_form": _choice(ActionForm),
    "calls_per_step": _choice(CallsPerStep),
    "parallel_calls": _whole(1, 100),
    "max_steps": _whole(0, _MAX_STEPS),
    "cap_outcome": _choice(CapOutcome),
    "degrade": _choice(Degrade),
    "max_asks": _whole(1, 20),
    "retry_seconds": _number(0, 600),
    "longest_wait_seconds": _number(0, _DAY),
    "max_notices": _whole(0, _MAX_STEPS),
    "max_starts": _whole(1, 100),
    "tool_attempts": _whole(1, 20),
    "tool_retry_seconds": _number(0, 600),
    "failures": _failures,
    "repeat": _choice(Repeat),
    "remind_after": _whole(2, 100),
    "catalogue": _choice(Catalogue),
    "confirm_writes": _yes_no,
    "max_depth": _whole(0, 10),
    "max_history_turns": _whole(0, 10_000),
    "token_budget": _tokens,
    "keep_messages": _whole(1, 1_000),
    "estimator": _choice(Estimator),
    "summary": _choice(Summary),
    "memory_characters": _whole(0, 1_000_000),
    "memory_scope": _choice(MemoryScope),
    "result_characters": _whole(200, 10_000_000),
    "skills_mode": _choice(SkillsMode),
    "prompt_order": _order,
    "datetime_line": _yes_no,
    "prompt_snapshot": _yes_no,
    "store_reasoning": _choice(StoreReasoning),
    "model_timeout_seconds": _number(1, _DAY),
    "busy": _choice(Busy),
}
"""Every field of a policy but its limits."""

_LIMITS: dict[str, _Reader] = {
    "model_calls": _whole(1, _MAX_COUNT),
    "tool_calls": _whole(0, _MAX_COUNT),
    "total_steps": _whole(1, _MAX_COUNT),
    "write_calls": _whole(0, _MAX_COUNT),
    "input_bytes": _whole(1, _MAX_COUNT),
    "output_tokens": _whole(1, _MAX_COUNT),
    "total_tokens": _whole(1, 10**12),
    "deadline_seconds": _number(0.001, 31_536_000),
}
"""Every limit."""
