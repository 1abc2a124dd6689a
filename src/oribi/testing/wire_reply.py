"""Exact answers of a provider: bodies, streams write by write, cuts. What `FakeModelServer` can be told to send."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from oribi.core.calls import Json

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonBody:
    """A body in the plain form of the wire.

    With status 200 a request for a stream gets the same content as a well-formed stream, unless `as_is`. `raw` is the
    exact text to send, for escapes that a JSON writer would change; its `value` is what it parses to.
    """

    value: Json
    raw: str | None = None
    as_is: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBody:
    """Any text as the whole body."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Server-sent events: each bytes object is one write, flushed before the next; a number is a pause in seconds.

    `close`: `clean` ends the body properly, `abort` resets the connection in mid-body, `hang` stays open, silent.
    """

    writes: tuple[bytes | float, ...]
    close: Literal["clean", "abort", "hang"] = "clean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The connection is reset before any byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """The connection stays open and nothing comes, not even a status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """Nothing listens, from the answer before on, for `seconds`; when nothing follows in the script, for good."""

    seconds: float = 0.5


WireContent: TypeAlias = JsonBody | TextBody | Stream | Cut | Silence | Refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class WireReply:
    """One exact answer.

    `delay_seconds` passes before the first byte. With `below_bytes` the reply is only for a request body shorter than
    that; a longer one gets `otherwise` and the reply stays for the next request.
    """

    content: WireContent
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay_seconds: float = 0.0
    below_bytes: int | None = None
    otherwise: WireReply | None = None

    def describe(self) -> str:
        """A few words that tell this reply from others."""
        return f"{type(self.content).__name__}, status {self.status}"
