"""The exit codes of `oribi`, in one table; those of turn ends come from `oribi.core.ends`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from oribi.core.ends import (
    BudgetSpent,
    Completed,
    ContextExhausted,
    DeadlinePassed,
    Interrupted,
    MaxSteps,
    ModelFailed,
    Revoked,
    ToolFailed,
    Unfinished,
    facts,
)

PROBLEMS: Final = 1
USAGE: Final = 2
JOURNAL: Final = 3
BUSY: Final = 4
FAILED_OUTPUT: Final = 74
UNEXPECTED: Final = 70
HUNG_UP: Final = 129
INTERRUPTED: Final = facts(Interrupted(by="")).exit_code
CLOSED_PIPE: Final = 141
TERMINATED: Final = 143
MODEL_FAILED: Final = facts(ModelFailed(kind="network", message="")).exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """One exit code: a short `name` and its `meaning` in a sentence."""

    code: int
    name: str
    meaning: str


EXITS: tuple[Exit, ...] = (
    Exit(
        code=facts(Completed(text="")).exit_code,
        name="completed",
        meaning="The turn ended with an answer, or the command did what it was asked.",
    ),
    Exit(
        code=PROBLEMS,
        name="problems",
        meaning="`agents validate`, `agents lock --check`, `audit verify`, `db check`, `replay` or `test` found "
        "something.",
    ),
    Exit(
        code=USAGE,
        name="usage",
        meaning="The command line, a setting or a file is wrong: unknown option, agent, tool, provider or session, "
        "missing key, malformed AGENT.md, no workspace.",
    ),
    Exit(
        code=JOURNAL,
        name="journal",
        meaning="The journal cannot be used: maintenance has it alone, it is damaged, from a newer version, or cannot "
        "be written.",
    ),
    Exit(code=BUSY, name="busy", meaning="A turn of the session is under way, and the input was not to wait."),
    Exit(
        code=facts(MaxSteps(limit=1, text="")).exit_code,
        name="max_steps",
        meaning="The turn used all its steps without an answer.",
    ),
    Exit(
        code=facts(BudgetSpent(limit="", text="")).exit_code,
        name="budget_spent",
        meaning="A limit of the turn's budget was spent.",
    ),
    Exit(code=facts(DeadlinePassed(text="")).exit_code, name="deadline_passed", meaning="The turn's time was up."),
    Exit(
        code=facts(ContextExhausted(message="")).exit_code,
        name="context_exhausted",
        meaning="The conversation no longer fits the model's context window.",
    ),
    Exit(
        code=facts(Revoked(what="")).exit_code,
        name="revoked",
        meaning="Something the turn depended on was withdrawn.",
    ),
    Exit(
        code=MODEL_FAILED,
        name="model_failed",
        meaning="The model could not be asked: unreachable, refused the key or the request, overloaded.",
    ),
    Exit(
        code=facts(ToolFailed(tool="", message="")).exit_code,
        name="tool_failed",
        meaning="A call failed that its turn could not go on without, or that was a command.",
    ),
    Exit(
        code=facts(Unfinished(reason="")).exit_code,
        name="unfinished",
        meaning="The turn had to be wrapped up, and no answer came of it; stdout has what was found.",
    ),
    Exit(code=UNEXPECTED, name="unexpected", meaning="An error nobody foresaw; `--verbose` shows where."),
    Exit(code=FAILED_OUTPUT, name="failed_output", meaning="Stdout could not be written; the journal has the answer."),
    Exit(code=HUNG_UP, name="hung_up", meaning="SIGHUP stopped the turn: its terminal went away."),
    Exit(code=INTERRUPTED, name="interrupted", meaning="Ctrl-C (SIGINT) or a request stopped the turn."),
    Exit(code=CLOSED_PIPE, name="closed_pipe", meaning="The reader of stdout went away, and the turn was stopped."),
    Exit(code=TERMINATED, name="terminated", meaning="SIGTERM stopped the turn."),
)
