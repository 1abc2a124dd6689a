"""Who gives a command: the name that is recorded beside what they decided."""

from __future__ import annotations

import getpass
import os


def user_name() -> str:
    """The user's name; their number where it has none, as in many containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
