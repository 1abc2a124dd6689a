"""The loop policy: everything the founding documents do differently, as one frozen value per turn (M-18).

The fields follow the table of resolutions C-1 to C-27; `PRESETS` are the four dialects. Nothing here acts: `decide`,
`build_prompt` and the acts read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from oribi.core.budget import Limits
from oribi.core.calls import FailureClass

Protocol: TypeAlias = Literal["native", "json_action"]
"""How a model asks for tools: with the calls of its wire, or with one JSON object a step (C-1)."""

ActionForm: TypeAlias = Literal["type", "action"]
"""Which shape of a JSON action the model is told: `{"type","input"}` or `{"thought","action","action_input"}`."""

CallsPerStep: TypeAlias = Literal["many", "one"]
"""How many calls of one reply may run (C-2)."""

CapOutcome: TypeAlias = Literal["last_response", "fixed_text", "final_only"]
"""What a turn that uses all its steps gives back: its last words, a fixed text, or an answer made in the last step."""

Repeat: TypeAlias = Literal["allow", "remind", "block", "finalize"]
"""What becomes of a call that was made before in the turn (C-8)."""

Degrade: TypeAlias = Literal["none", "wrap_up"]
"""Whether a turn that cannot go on, but has found something, may once ask for an answer from that (C-7, M-36)."""

Estimator: TypeAlias = Literal["chars4", "cjk_aware"]
"""How tokens are estimated: four characters each, or one token for each character of Chinese, Japanese and Korean."""

Summary: TypeAlias = Literal["off", "extractive"]
"""Whether what was trimmed leaves its first words behind."""

MemoryScope: TypeAlias = Literal["agent", "global", "principal"]
"""Whose memory a prompt holds: the agent's (else the workspace's), the workspace's, or that of the person (C-12)."""

SkillsMode: TypeAlias = Literal["pointer", "inline"]
"""`pointer`: name, description and path (O-15). `inline`: the bodies too (Y-5)."""

PromptPart: TypeAlias = Literal["instructions", "bootstrap", "skills"]
"""The parts of the system text whose order is free (C-14). Memory and the date always come after them."""

Catalogue: TypeAlias = Literal["listed", "for_reasoning"]
"""Which of an agent's tools a turn has: all it lists, or those of them that declare themselves for reasoning (M-25)."""

Busy: TypeAlias = Literal["queue", "refuse", "steer", "interrupt"]
"""What becomes of an input for a session whose turn is under way: it waits, is refused, joins the turn, or ends it."""

StoreReasoning: TypeAlias = Literal["never", "turn", "history"]
"""How long a model's private reasoning is kept."""

PROMPT_ORDER: tuple[PromptPart, ...] = ("instructions", "bootstrap", "skills")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPolicy:
    """How a turn loops.

    Protocol. `protocol` and `action_form` (C-1); `calls_per_step`, and how many calls of tools that are declared
    parallel-safe may run at once, `parallel_calls` (C-2, default 1: in order, Y-13).

    Ends. `max_steps`: model decisions per turn, whatever comes of them (C-3, O-26, default 10); 0 asks for one plain
    answer without tools (M-12, M-43). `cap_outcome`: what the last of them is for (C-4). `degrade`: see there (C-7).
    `max_asks`: times one step may ask the model when calls fail in a transient way or are cut off (C-7, default
    4: the call and three more). `retry_seconds`: the first wait before asking again, doubled each time, with up to a
    quarter more; a provider's Retry-After comes first, up to `longest_wait_seconds` (default 60): if it asks for more,
    the turn ends and says so. `max_notices`: times in a row the model is told that its answer is empty, is no action,
    or does not fit the output schema (default 2).

    Tools. `max_starts`: times one call of a repeatable tool may be started when it is cut off again and again (G1,
    default 3). `tool_attempts`: times a call whose failure may pass is tried, if its tool may be repeated (C-5, default
    1: not again); the first wait is `tool_retry_seconds`, doubled each time. `failures`: the class of a tool's
    failures, by its name, in place of its own (C-6). `repeat` and `remind_after` (C-8): a call that was made before in
    the turn is allowed, is allowed and the model reminded from the time number `remind_after` on, is refused, or is
    refused and the turn wrapped up. `catalogue` (M-25). `confirm_writes`: calls that change something need a person's
    confirmation. `max_depth`: how deep turns may be nested by delegation (C-24, default 2; 0: not at all).

    Context. `max_history_turns`: earlier turns sent (O-28, default 20). `token_budget`: estimated tokens of the
    messages that are sent, None for no bound; over it, the oldest groups are left out, down to `keep_messages` messages
    (C-9, T-16). `estimator` (C-10), `summary`. `memory_characters`: cap of the archive part of MEMORY.md (O-12).
    `memory_scope` (C-12). `result_characters`: cap of one tool result. `skills_mode` (C-13), `prompt_order` (C-14).
    `datetime_line`: end the system text with the date and time at which the turn started (Y-5, C-16).
    `prompt_snapshot`: read the prompt's files once, when the turn starts, and not before each step (C-23).
    `store_reasoning`: what is kept of a model's private reasoning and of the exact blocks it came in (C-19). `never`:
    nothing. `turn` (default): all as long as the turn is open, then only what was sent back within it: the blocks of
    replies that something followed, and with calls, on openai-chat, their readable reasoning, which that wire wants
    back. `history`: all, for good.

    Envelope. `limits`; `model_timeout_seconds`: the longest one model call may take (default 600). `busy`: what becomes
    of an input that comes while a turn of the session is under way: `queue` (default) lets it wait, `refuse` says so,
    `steer` adds it to that turn, `interrupt` ends that turn first.
    """

    protocol: Protocol = "native"
    action_form: ActionForm = "type"
    calls_per_step: CallsPerStep = "many"
    parallel_calls: int = 1

    max_steps: int = 10
    cap_outcome: CapOutcome = "last_response"
    degrade: Degrade = "none"
    max_asks: int = 4
    retry_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    max_notices: int = 2

    max_starts: int = 3
    tool_attempts: int = 1
    tool_retry_seconds: float = 0.5
    failures: dict[str, FailureClass] = field(default_factory=dict[str, FailureClass])
    repeat: Repeat = "allow"
    remind_after: int = 3
    catalogue: Catalogue = "listed"
    confirm_writes: bool = False
    max_depth: int = 2

    max_history_turns: int = 20
    token_budget: int | None = None
    keep_messages: int = 4
    estimator: Estimator = "cjk_aware"
    summary: Summary = "off"
    memory_characters: int = 4_000
    memory_scope: MemoryScope = "agent"
    result_characters: int = 30_000
    skills_mode: SkillsMode = "pointer"
    prompt_order: tuple[PromptPart, ...] = PROMPT_ORDER
    datetime_line: bool = True
    prompt_snapshot: bool = False
    store_reasoning: StoreReasoning = "turn"

    limits: Limits = field(default_factory=Limits)
    model_timeout_seconds: float = 600.0
    busy: Busy = "queue"


def _game(*, steps: int, timeout_seconds: float, limits: Limits, writes: bool = False) -> LoopPolicy:
    """What the game assistant's workflows share (M-1 to M-40)."""
    return LoopPolicy(
        protocol="json_action",
        calls_per_step="one",
        max_steps=steps,
        cap_outcome="final_only",
        degrade="wrap_up",
        max_asks=1,
        max_notices=steps,
        repeat="finalize",
        catalogue="listed" if writes else "for_reasoning",
        confirm_writes=writes,
        max_depth=1 if writes else 0,
        datetime_line=False,
        prompt_snapshot=True,
        store_reasoning="never",
        limits=limits,
        model_timeout_seconds=timeout_seconds,
    )


def _game_limits(model: int, tools: int, total: int, seconds: float, *, writes: int | None = 0) -> Limits:
    return Limits(
        model_calls=model,
        tool_calls=tools,
        total_steps=total,
        write_calls=writes,
        input_bytes=65_536,
        output_tokens=1_536,
        total_tokens=262_144,
        deadline_seconds=seconds,
    )


PRESETS: dict[str, LoopPolicy] = {
    "standard": LoopPolicy(),
    "persistent": LoopPolicy(cap_outcome="fixed_text", tool_attempts=3, skills_mode="inline"),
    "compact": LoopPolicy(
        protocol="json_action",
        action_form="action",
        calls_per_step="one",
        max_steps=6,
        cap_outcome="fixed_text",
        max_asks=1,
        max_notices=6,
        token_budget=1_000,
        estimator="chars4",
        datetime_line=False,
    ),
    "reasoning": _game(steps=3, timeout_seconds=12.0, limits=_game_limits(4, 8, 14, 60.0)),
    "question": _game(steps=6, timeout_seconds=20.0, limits=_game_limits(6, 9, 20, 90.0)),
    "free": _game(steps=6, timeout_seconds=30.0, limits=_game_limits(6, 16, 32, 90.0, writes=None), writes=True),
}
"""Named policies: `standard` (OryxOS), `persistent` (YokeOS), `compact` (ToyAgent), and the workflows of the game
assistant: `reasoning`, `question`, `free` (M-7)."""

GAME_PRESETS = frozenset({"reasoning", "question", "free"})
"""The presets whose step count falls back to 3, with a warning, when it is not a number (M-12)."""
