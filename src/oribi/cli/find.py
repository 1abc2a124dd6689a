"""Finding what a person named: a session by its id or the beginning of one, the agent that is meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oribi.cli.wording import counted
from oribi.core.calls import SessionId
from oribi.core.errors import ConfigError

if TYPE_CHECKING:
    from oribi.app import App
    from oribi.journal.sqlite import SessionRow

MOST_SESSIONS = 100_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")
_BEGINNING = re.compile(r"[a-z2-7]{3,7}")
"""The beginning of an id that `oribi` made up."""


def all_sessions(app: App, limit: int = MOST_SESSIONS) -> list[SessionRow]:
    """The sessions, the last used first; none when there is no journal yet."""
    return app.sessions(limit) if app.workspace.database.exists() else []


def find_session(app: App, text: str | None) -> SessionId:
    """The session with the id `text`, or the one whose id begins so; None means the last used one.

    Raises:
        ConfigError: There is none, or there are several.

    """
    rows = all_sessions(app, 1 if text is None else MOST_SESSIONS)
    if not rows:
        raise ConfigError("this workspace has no sessions yet; `oribi run` begins one")
    if text is None:
        return rows[0].session_id
    found = [row.session_id for row in rows if row.session_id.startswith(text)]
    if text in found:
        return SessionId(text)
    if len(found) > 1:
        listed = ", ".join(found[:5]) + (", ..." if len(found) > 5 else "")  # noqa: PLR2004 - enough to see the rule
        raise ConfigError(f"{counted(len(found), 'session')} begin with {text!r}: {listed}; give more of the id")
    if not found:
        raise ConfigError(f"no session {text!r}; `oribi sessions list` shows them")
    return found[0]


def session_to_continue(app: App, name: str) -> tuple[str, SessionRow | None]:
    """The session that `--session NAME` means, and its row; no row: a new one begins under that name.

    The beginning of an id counts only for ids that Oribi made, so that a name of one's own is never taken for another.

    Raises:
        ConfigError: The name cannot be one, or it begins several ids.

    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} cannot name a session; use letters, digits and . _ : @ -, at most 100")
    rows = {row.session_id: row for row in all_sessions(app)}
    if (row := rows.get(SessionId(name))) is not None:
        return name, row
    if _BEGINNING.fullmatch(name) and any(_is_made_up(other) and other.startswith(name) for other in rows):
        found = find_session(app, name)
        return found, rows[found]
    return name, None


def choose_agent(app: App, given: str | None, session: SessionRow | None) -> str:
    """The agent of a turn: the one given, else the session's, else the workspace's default.

    Raises:
        ConfigError: The session belongs to another agent than the one given.

    """
    if session is None:
        return given or app.config.default_agent
    if given not in {None, session.agent}:
        raise ConfigError(
            f"session {session.session_id!r} belongs to the agent {session.agent!r}, not to {given!r}; "
            "leave out --agent, or begin another session"
        )
    return session.agent


def _is_made_up(session_id: str) -> bool:
    return re.fullmatch(r"[a-z2-7]{8}", session_id) is not None
