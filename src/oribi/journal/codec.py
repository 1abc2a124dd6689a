"""Events to JSON and back. Large parts are stored once, apart, by content hash.

A payload is the event's fields as a JSON object. Rules:
- A member of a union of classes carries its class name under `$type`.
- A text, or a JSON value, that takes more than `APART_BYTES` is put apart as a blob: `{"$text": sha256}` or
  `{"$json": sha256}` stands in its place.
- A field marked erasable is always put apart, with a salt, as `{"$erasable": sha256}`: its content can be erased, and
  neither the chain breaks nor does the hash that stays give a short text away. Erased content reads as the default.
- A field whose value is None, `""` or `()` and whose default is the same is left out: such defaults never change.
"""

from __future__ import annotations

import hashlib
import secrets
import types
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from oribi.core.calls import Json
from oribi.core.errors import JournalError
from oribi.core.events import Event, SessionOpened
from oribi.core.mail import Mail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

APART_BYTES = 1024
VERSION = 1
"""The version written into each row; raised when a payload's shape changes in a way readers must know."""

Raw: TypeAlias = Any  # a decoded JSON value, before it is an event
Apart: TypeAlias = "Callable[[bytes], str]"
"""Stores a blob and returns its SHA-256 (hex)."""
Fetch: TypeAlias = "Callable[[str], bytes]"
Encode: TypeAlias = "Callable[[Any, Apart], Raw]"
Decode: TypeAlias = "Callable[[Raw, Fetch], Any]"

_dumps = msgspec.json.Encoder().encode
_loads = msgspec.json.Decoder().decode


class MissingContentError(JournalError):
    """A blob is not there: it was erased, or lost."""


def encode_event(event: Event) -> tuple[bytes, dict[str, bytes]]:
    """The payload of `event`, and the blobs it refers to, by hash."""
    blobs: dict[str, bytes] = {}
    return _dumps(_codec(type(event))[0](event, _apart_into(blobs))), blobs


def encode_mail(mail: Mail, opening: SessionOpened) -> tuple[bytes, dict[str, bytes]]:
    """The payload of a letter in the inbox, and the blobs it refers to, by hash."""
    blobs: dict[str, bytes] = {}
    parts = {"mail": mail, "opening": opening}
    encoded = {name: _codec(type(part))[0](part, _apart_into(blobs)) for name, part in parts.items()}
    return _dumps(encoded), blobs


def _apart_into(blobs: dict[str, bytes]) -> Apart:
    """Puts blobs into `blobs`, by hash."""

    def put_apart(body: bytes) -> str:
        digest = hashlib.sha256(body).hexdigest()
        blobs[digest] = body
        return digest

    return put_apart


def decode_mail(kind: str, payload: bytes | str, fetch: Fetch) -> tuple[Mail, SessionOpened]:
    """The mail stored as `payload`, and how its session begins.

    Raises:
        JournalError: It cannot be read.

    """
    try:
        raw = _loads(payload)
        mail = _codec(MAIL_TYPES[kind])[1](raw["mail"], fetch)
        return cast("Mail", mail), cast("SessionOpened", _codec(SessionOpened)[1](raw["opening"], fetch))
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(f"stored mail ({kind}) cannot be read ({type(error).__name__}: {error})") from error


def decode_event(type_name: str, payload: bytes | str, fetch: Fetch) -> Event:
    """The event stored as `payload`; `fetch` returns a blob by hash.

    Raises:
        JournalError: The type is unknown or the payload does not fit it.

    """
    cls = EVENT_TYPES.get(type_name)
    if cls is None:
        raise JournalError(f"unknown event type {type_name!r}: it was written by a newer Oribi; upgrade to read it")
    _, decode = _codec(cls)
    try:
        return cast("Event", decode(_loads(payload), fetch))
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(f"a stored {type_name} cannot be read ({type(error).__name__}: {error})") from error


EVENT_TYPES: Mapping[str, type] = {cls.__name__: cls for cls in get_args(Event)}
MAIL_TYPES: Mapping[str, type] = {cls.__name__: cls for cls in get_args(Mail)}


@cache
def _codec(hint: Any) -> tuple[Encode, Decode]:
    """The pair of functions for one type hint, made once."""
    origin = get_origin(hint)
    if is_dataclass(hint):
        return _dataclass_codec(cast("type", hint))
    if hint is str:
        return _encode_text, _decode_text
    if origin in (Union, types.UnionType):
        return _union_codec(get_args(hint))
    if origin is tuple:
        return _tuple_codec(get_args(hint)[0])
    if origin is dict or isinstance(hint, str):
        return _encode_json, _decode_json
    if hasattr(hint, "__supertype__"):
        return _codec(hint.__supertype__)
    return (lambda value, _: value), (lambda raw, _: raw)


def _dataclass_codec(cls: type) -> tuple[Encode, Decode]:
    hints = get_type_hints(cls, localns={"Json": Json})  # the recursive alias, wherever the class stands
    plan = [
        (
            f.name,
            f.default,
            *(_erasable_codec(f.default) if f.metadata.get("erasable") else _codec(_json_hint(hints[f.name]))),
        )
        for f in fields(cls)
    ]

    def encode(value: Any, apart: Apart) -> Raw:
        raw: dict[str, Any] = {}
        for name, default, encode_field, _ in plan:
            part = getattr(value, name)
            if default is not MISSING and part == default and (part is None or part in ("", ())):
                continue
            raw[name] = encode_field(part, apart)
        return raw

    def decode(raw: Raw, fetch: Fetch) -> Any:
        return cls(**{name: decode_field(raw[name], fetch) for name, _, _, decode_field in plan if name in raw})

    return encode, decode


def _erasable_codec(default: Any) -> tuple[Encode, Decode]:
    def encode(value: Any, apart: Apart) -> Raw:
        return {"$erasable": apart(_dumps({"salt": secrets.token_hex(8), "value": value}))}

    def decode(raw: Raw, fetch: Fetch) -> Any:
        try:
            return _loads(fetch(raw["$erasable"]))["value"]
        except MissingContentError:  # erased
            return default

    return encode, decode


def _json_hint(hint: Any) -> Any:
    """`Json` and `JsonObject` are recursive aliases: any union with a dict of them is one JSON value."""
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()
    if any(get_origin(member) is list for member in members):
        return dict[str, Any]
    return hint


def _union_codec(members: tuple[Any, ...]) -> tuple[Encode, Decode]:
    classes = {cast("type", member).__name__: member for member in members if is_dataclass(member)}
    others = [member for member in members if member is not type(None) and not is_dataclass(member)]
    if not classes:
        encode_one, decode_one = _codec(others[0])
        return (
            lambda value, apart: None if value is None else encode_one(value, apart),
            lambda raw, fetch: None if raw is None else decode_one(raw, fetch),
        )

    def encode(value: Any, apart: Apart) -> Raw:
        name = type(value).__name__
        if name in classes:
            return {"$type": name, **_codec(classes[name])[0](value, apart)}
        return None if value is None else _codec(others[0])[0](value, apart)

    def decode(raw: Raw, fetch: Fetch) -> Any:
        if isinstance(raw, dict) and "$type" in raw:
            return _codec(classes[cast("str", raw["$type"])])[1](raw, fetch)
        return None if raw is None else _codec(others[0])[1](raw, fetch)

    return encode, decode


def _tuple_codec(member: Any) -> tuple[Encode, Decode]:
    encode_one, decode_one = _codec(member)
    apart_whole = is_dataclass(member)  # a turn's catalogue is the same turn after turn: one blob, not many

    def encode(value: Any, apart: Apart) -> Raw:
        raw = [encode_one(one, _never_apart if apart_whole else apart) for one in value]
        return _encode_json(raw, apart) if apart_whole else raw

    def decode(raw: Raw, fetch: Fetch) -> Any:
        items = _decode_json(raw, fetch) if apart_whole else raw
        return tuple(decode_one(one, fetch) for one in items)

    return encode, decode


def _encode_text(value: str, apart: Apart) -> Raw:
    if len(value) * 4 <= APART_BYTES or apart is _never_apart:
        return value
    body = value.encode()
    return {"$text": apart(body)} if len(body) > APART_BYTES else value


def _decode_text(raw: Raw, fetch: Fetch) -> str:
    return raw if isinstance(raw, str) else fetch(raw["$text"]).decode()


def _encode_json(value: Any, apart: Apart) -> Raw:
    as_is = _is_marked(value)  # our own marks begin with a dollar sign; a user's key that does must not pass for one
    whole: Raw = {"$as_is": value} if as_is else value
    if apart is _never_apart:
        return whole
    body = _dumps(whole)
    return {"$json": apart(body)} if len(body) > APART_BYTES else whole


def _decode_json(raw: Raw, fetch: Fetch) -> Any:
    value: Raw = _loads(fetch(raw["$json"])) if _is_marked(raw) and "$json" in raw else raw
    return value["$as_is"] if _is_marked(value) and "$as_is" in value else value


def _is_marked(value: Any) -> bool:
    return isinstance(value, dict) and any(key.startswith("$") for key in cast("dict[str, Any]", value))


def _never_apart(body: bytes) -> str:
    raise AssertionError(body)  # a marker: compared by identity, never called
