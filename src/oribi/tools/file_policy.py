"""Which files tools may read and write: a declarative policy and a pure judge over it. Deny wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oribi.core.calls import Deny
from oribi.tools.patterns import compile_patterns

Access: TypeAlias = Literal["read", "write"]

SECRETS: tuple[str, ...] = (
    "**/.env*",
    "**/*.pem",
    "**/*.key",
    "**/*.p12",
    "**/*.pfx",
    "**/id_rsa",
    "**/id_dsa",
    "**/id_ecdsa",
    "**/id_ed25519",
    "**/.ssh",
    "**/.gnupg",
    "**/.netrc",
    "**/.pgpass",
    "**/.git-credentials",
    "**/.git/config",
    "**/oribi.db*",
    "**/oribi.lock",
)
"""Never read and never written, whatever an agent's policy says; the journal is among them, for it holds everything."""

PROTECTED: tuple[str, ...] = (
    "**/.git",
    "**/AGENT.md",
    "**/oribi.toml",
    "**/mcp.json",
    "**/.mcp.json",
    "**/USER.md",
)
"""Never written, so that no agent can widen its own rights or plant a program that Git runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePolicy:
    """What may be touched below the root, every path relative to it.

    `read` and `write` are folders (or files); an empty tuple allows nothing. `deny` holds further patterns for both.
    `workspace` is the folder with agents, settings and journal: of it, only `output` can be written. Only the runtime's
    own writes (memory, notifications) turn `is_guarded` off, for a policy that allows exactly one file.
    """

    read: tuple[str, ...] = (".",)
    write: tuple[str, ...] = (".",)
    deny: tuple[str, ...] = ()
    workspace: str = ".oribi"
    is_guarded: bool = True

    @property
    def output(self) -> str:
        """The folder of the workspace that tools may write."""
        return f"{self.workspace}/output"


def judge_access(policy: FilePolicy, access: Access, parts: Sequence[str]) -> Deny | None:
    """Why `policy` forbids this access to the path `parts` (relative to the root), or None. Letter case is ignored."""
    folded = [part.casefold() for part in parts]
    path = "/".join(parts) or "."
    pattern = compile_patterns(SECRETS + policy.deny).find(folded)
    if pattern is not None:
        return Deny(
            rule=f"files:deny {pattern}",
            reason=f"{path!r} matches {pattern!r}, which no tool may {access}; ask the user for what it says",
        )
    if access == "write" and policy.is_guarded:
        denied = _judge_protected(policy, folded, path)
        if denied is not None:
            return denied
    roots = policy.read if access == "read" else policy.write
    if not any(_is_below(folded, root) for root in roots):
        allowed = ", ".join(repr(root) for root in roots) or "nothing"
        return Deny(
            rule=f"files:{access}",
            reason=f"{path!r} is not where this agent may {access}; it may {access} below: {allowed}",
        )
    return None


def _judge_protected(policy: FilePolicy, folded: Sequence[str], path: str) -> Deny | None:
    pattern = compile_patterns(PROTECTED).find(folded)
    if pattern is not None:
        return Deny(
            rule=f"files:protected {pattern}",
            reason=f"{path!r} is protected: no tool may change agents, settings or Git's own files; "
            f"write a proposal to '{policy.output}/' instead",
        )
    if _is_below(folded, policy.workspace) and not _is_below(folded, policy.output):
        return Deny(
            rule="files:protected workspace",
            reason=f"{path!r} is in the workspace's own folder; write to '{policy.output}/' or outside "
            f"'{policy.workspace}/', and use save_memory to remember something",
        )
    return None


def _is_below(folded: Sequence[str], root: str) -> bool:
    """Whether the path is `root` or lies in it, compared by whole names."""
    names = [name.casefold() for name in root.split("/") if name not in {"", "."}]
    return list(folded[: len(names)]) == names
