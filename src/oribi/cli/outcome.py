"""The outcome of a turn as one JSON object, for scripts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from oribi.cli.wording import json_page
from oribi.core.ends import Completed, facts

if TYPE_CHECKING:
    from oribi.cli.tracing import TurnTrace
    from oribi.core.ends import TurnEnd


def outcome_json(trace: TurnTrace, end: TurnEnd, text: str) -> str:
    """How a turn came out, with the calls it made; token counts are null when the provider did not report them.

    `text` is what a person is shown. `value` is the answer parsed, where it had to fit a schema. `wrap_up` is why the
    turn was wrapped up before it was done, null when it was not.
    """
    known = facts(end)
    return json_page(
        {
            "session_id": trace.session_id,
            "turn_id": trace.turn_id,
            "agent": trace.agent,
            "model": trace.model,
            "mode": trace.mode,
            "end": known.label,
            "exit_code": known.exit_code,
            "text": text,
            "value": end.value if isinstance(end, Completed) else None,
            "wrap_up": trace.wrap_up,
            "steps": len(trace.steps),
            "model_calls": trace.model_calls,
            "tool_calls": trace.tool_calls,
            "input_tokens": trace.input_tokens,
            "output_tokens": trace.output_tokens,
            "seconds": trace.seconds,
            "calls": [asdict(call) for call in trace.calls],
        }
    )
