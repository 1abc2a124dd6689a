"""Requests as bytes: each message is encoded once and kept, so that a step costs what it adds and one copy.

What makes that right: the messages of a session never change, are appended to, and are dropped from the front by
whole turns; and a piece depends only on its message, on the role before it, and on the scene (endpoint, model, tool
names). So the session's next body begins with the last one up to its tail, unless the head or the first message moved.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self, TypeAlias

from oribi.core.calls import CallId, JsonObject, ToolSpec
from oribi.core.messages import Message, ModelChoice, Reply
from oribi.core.prompt import Prompt
from oribi.models.endpoints import Endpoint
from oribi.models.names import WireNames
from oribi.ports import Request

Role: TypeAlias = Literal["start", "user", "assistant", "tool"]
"""Who spoke last on the wire: decides how the next piece begins.

`start`: nobody yet. `tool`: a tool, on a wire that keeps results apart from what a person says.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the pieces of a request depend on beside their messages."""

    endpoint: Endpoint
    names: WireNames
    model: str

    def is_own(self, reply: Reply) -> bool:
        """Whether `reply` came from this provider over this wire, so that its raw blocks may go back."""
        return reply.wire == self.endpoint.wire and reply.model.partition(":")[0] == self.endpoint.provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What stands before the messages, and what it was made of. `has_calls`: see `Codec.head`."""

    model: ModelChoice
    system: str
    tools: tuple[ToolSpec, ...]
    has_calls: bool
    output_schema: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """How one wire writes a prompt: a head, one piece per message (empty: left out), a tail.

    `head` gives the role that the first piece stands behind. `piece` gives the role after it, which is the one before
    when the piece is empty; whether it is empty depends on the message alone.
    """

    head: Callable[[Head, Scene], tuple[bytes, Role]]
    piece: Callable[[Message, Role, Scene], tuple[bytes, Role]]
    tail: Callable[[Role, Scene], bytes]


class Hasher(Protocol):
    """A running hash, as hashlib makes them."""

    def update(self, data: bytes | memoryview, /) -> None: ...
    def copy(self) -> Self: ...
    def hexdigest(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kept:
    """What the next request of the session takes over from this one.

    `ends[i]` is where message i ends, counted so that `origin` is where the messages begin in the body. `call_ids`
    says in which message of the session a call's id first stands; it grows, and is shared by the session's requests.
    """

    codec: Codec
    scene: Scene
    head: Head
    head_bytes: int
    first: int
    ends: array[int]
    origin: int
    role: Role
    last: Message | None
    hasher: Hasher
    call_ids: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EncodedRequest:
    """A request for one model call, ready to send.

    `prefix_bytes` is how much of `body` the session's next request begins with, as long as its head and its first
    message stay. `reply_index` is the place in the session that the reply will take; `other_calls` are ids
    that are not free for its calls, though no message sent has them.
    """

    body: bytes = field(repr=False)
    sha256: str
    choice: ModelChoice
    names: WireNames = field(repr=False)
    reply_index: int
    other_calls: frozenset[CallId]
    prefix_bytes: int
    kept: Kept = field(repr=False)

    @property
    def endpoint(self) -> Endpoint:
        """Where it goes."""
        return self.kept.scene.endpoint

    def has_call(self, call_id: str) -> bool:
        """Whether a message before the reply has a call of this id; also one that is no longer sent, if it was."""
        return call_id in self.other_calls or self.kept.call_ids.get(call_id, self.reply_index) < self.reply_index


def encode(codec: Codec, prompt: Prompt, endpoint: Endpoint, previous: Request | None) -> EncodedRequest:
    """The request for `prompt`: the same bytes with and without `previous`, only sooner with it."""
    old = previous if isinstance(previous, EncodedRequest) and previous.kept.codec is codec else None
    scene = _scene(prompt, endpoint, old)
    head = Head(
        model=prompt.model,
        system=prompt.system,
        tools=prompt.tools,
        has_calls=not prompt.tools and any(isinstance(message, Reply) and message.calls for message in prompt.messages),
        output_schema=prompt.output_schema if endpoint.dialect.structured_output else None,
    )
    if old is None or old.kept.scene != scene or not _continues(prompt, old.kept):
        draft = _start(codec, head, scene)
    elif old.kept.head == head and old.kept.first == prompt.first:
        draft = _extend(old)
    else:
        draft = _carry_over(prompt, head, scene, old)
    return _finish(codec, prompt, head, scene, draft)


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A body in the making: the parts so far and their hash, the messages in them, who spoke last."""

    parts: list[bytes | memoryview]
    hasher: Hasher
    head_bytes: int
    ends: array[int]
    origin: int
    role: Role
    call_ids: dict[str, int]


def _scene(prompt: Prompt, endpoint: Endpoint, old: EncodedRequest | None) -> Scene:
    if old is None or old.kept.head.tools != prompt.tools:
        return Scene(endpoint=endpoint, names=WireNames.of(prompt.tools), model=prompt.model.name)
    scene = old.kept.scene
    if scene.endpoint is endpoint and scene.model == prompt.model.name:
        return scene
    return Scene(endpoint=endpoint, names=scene.names, model=prompt.model.name)


def _continues(prompt: Prompt, kept: Kept) -> bool:
    """Whether the messages of `prompt` are the kept ones, perhaps without some in front, and perhaps more."""
    stays = kept.first + len(kept.ends) - prompt.first
    return (
        prompt.first >= kept.first
        and 0 < stays <= len(prompt.messages)
        and (prompt.messages[stays - 1] is kept.last or prompt.messages[stays - 1] == kept.last)
    )


def _start(codec: Codec, head: Head, scene: Scene) -> _Draft:
    text, role = codec.head(head, scene)
    return _Draft(
        parts=[text],
        hasher=hashlib.sha256(text),
        head_bytes=len(text),
        ends=array("q"),
        origin=0,
        role=role,
        call_ids={},
    )


def _extend(old: EncodedRequest) -> _Draft:
    kept = old.kept
    return _Draft(
        parts=[memoryview(old.body)[: old.prefix_bytes]],
        hasher=kept.hasher.copy(),
        head_bytes=kept.head_bytes,
        ends=kept.ends[:],
        origin=kept.origin,
        role=kept.role,
        call_ids=kept.call_ids,
    )


def _carry_over(prompt: Prompt, head: Head, scene: Scene, old: EncodedRequest) -> _Draft:
    """Take over the kept messages behind another head, or without the first ones.

    The first piece is written anew, since another role stands before it now; behind it nothing has changed.
    """
    kept = old.kept
    draft = _start(kept.codec, head, scene)
    draft.call_ids = kept.call_ids
    dropped = prompt.first - kept.first
    anew = 0
    piece = b""
    while not piece and dropped + anew < len(kept.ends):
        piece, draft.role = kept.codec.piece(prompt.messages[anew], draft.role, scene)
        anew += 1
    seam = kept.ends[dropped + anew - 1]
    rest = memoryview(old.body)[kept.head_bytes + seam - kept.origin : old.prefix_bytes]
    for part in (piece, rest):
        draft.parts.append(part)
        draft.hasher.update(part)
    draft.origin = seam - len(piece)
    draft.ends.extend([draft.origin] * (anew - 1))
    draft.ends.extend(kept.ends[dropped + anew - 1 :])
    draft.role = kept.role if piece else draft.role
    return draft


def _finish(codec: Codec, prompt: Prompt, head: Head, scene: Scene, draft: _Draft) -> EncodedRequest:
    """Add the messages that `draft` does not hold yet, and the tail."""
    end = draft.ends[-1] if draft.ends else draft.origin
    role = draft.role
    pieces: list[bytes] = []
    for message in prompt.messages[len(draft.ends) :]:
        piece, role = codec.piece(message, role, scene)
        pieces.append(piece)
        if isinstance(message, Reply):
            place = prompt.first + len(draft.ends)
            for call in message.calls:
                draft.call_ids.setdefault(call.id, place)
        end += len(piece)
        draft.ends.append(end)
    added = b"".join(pieces)
    draft.hasher.update(added)
    tail = codec.tail(role, scene)
    whole = draft.hasher.copy()
    whole.update(tail)
    body = b"".join((*draft.parts, added, tail))
    return EncodedRequest(
        body=body,
        sha256=whole.hexdigest(),
        choice=prompt.model,
        names=scene.names,
        reply_index=prompt.reply_index,
        other_calls=prompt.other_calls,
        prefix_bytes=len(body) - len(tail),
        kept=Kept(
            codec=codec,
            scene=scene,
            head=head,
            head_bytes=draft.head_bytes,
            first=prompt.first,
            ends=draft.ends,
            origin=draft.origin,
            role=role,
            last=prompt.messages[-1] if prompt.messages else None,
            hasher=draft.hasher,
            call_ids=draft.call_ids,
        ),
    )
