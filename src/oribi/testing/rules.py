"""The strict rules of each provider's wire: what a request must keep so that no server of its kind refuses it.

`FakeModelServer` answers 400 to a request that breaks one. Some rules are stricter than the provider itself and match
compatible servers seen in the field. Each broken rule is a sentence that begins with the rule's short name:

- all: `json` (valid UTF-8 JSON object; no lone surrogate, raw or escaped; no NaN or Infinity)
- openai: `messages`, `orphan-result`, `unanswered-call`, `repeated-result`, `call-id`, `arguments`, `name`,
  `empty-reply`, `empty-calls`, `input-part`, `schema`
- responses: `input`, `orphan-result`, `unanswered-call`, `repeated-result`, `call-id`, `arguments`, `name`,
  `empty-content`, `reasoning`, `input-part`, `schema`
- anthropic: `messages`, `first-user`, `orphan-result`, `unanswered-call`, `repeated-result`, `result-order`, `call-id`,
  `input`, `name`, `empty-content`, `blank-text`, `thinking`, `max-tokens`, `input-part`,
  `schema`
- gemini: `contents`, `orphan-result`, `unanswered-call`, `result-order`, `thought-signature`, `input-part`, `schema`
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from oribi.testing.rules_anthropic import broken_anthropic_rules
from oribi.testing.rules_gemini import broken_gemini_rules
from oribi.testing.rules_openai import broken_openai_rules
from oribi.testing.rules_responses import broken_responses_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oribi.core.calls import Json

Dialect: TypeAlias = Literal["openai", "responses", "anthropic", "gemini"]
"""The wires spoken: OpenAI chat completions, OpenAI Responses, Anthropic Messages, Gemini generateContent."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def broken_rules(dialect: Dialect, body: bytes, sent: Sequence[list[Json]] = ()) -> list[str]:
    """The strict rules that the request `body` breaks, one sentence each; empty for a well-formed request. Pure.

    `sent` holds the output items (Responses), content lists (Anthropic) or parts (Gemini) of earlier replies, against
    which reasoning, thinking blocks and thought signatures are compared; what is not in it is not compared.
    """
    try:
        request: Json = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
        if _has_lone_surrogate(request):
            return ["json: the body holds a lone surrogate"]
    except UnicodeDecodeError as error:
        return [f"json: the body is not UTF-8 ({error})"]
    except (ValueError, RecursionError) as error:
        return [f"json: the body is not JSON ({error})"]
    if not isinstance(request, dict):
        return ["json: the body is not an object"]
    match dialect:
        case "openai":
            return broken_openai_rules(request)
        case "responses":
            return broken_responses_rules(request, sent)
        case "anthropic":
            return broken_anthropic_rules(request, sent)
        case "gemini":
            return broken_gemini_rules(request, sent)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _has_lone_surrogate(value: Json) -> bool:
    match value:
        case str():
            return _SURROGATE.search(value) is not None
        case list():
            return any(_has_lone_surrogate(item) for item in value)
        case dict():
            return any(_has_lone_surrogate(key) or _has_lone_surrogate(item) for key, item in value.items())
        case _:
            return False
