"""When a call is the same as another: its tool's own key, else its name and its arguments in one canonical form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from oribi.core.calls import Malformed

if TYPE_CHECKING:
    from oribi.core.calls import Allow, ToolCall


def key_of(call: ToolCall, verdict: Allow) -> str:
    """What makes `call` the same call as another within a turn (C-8, M-23)."""
    if verdict.key is not None:
        return f"{call.name}#{verdict.key}"
    if isinstance(call.arguments, Malformed):
        return f"{call.name}!{call.arguments.text}"
    return f"{call.name}{json.dumps(call.arguments, sort_keys=True, ensure_ascii=False, separators=(',', ':'))}"
