"""Attachments: files that come with an input, read once and kept as text or base64, so that a session needs no file."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from oribi.core.errors import ConfigError
from oribi.core.messages import FilePart, ImagePart, InputPart, TextPart

if TYPE_CHECKING:
    from collections.abc import Iterable

Attachment: TypeAlias = Path | InputPart
"""A file to read, or what was read already."""

MOST_BYTES: Final = 20_000_000
"""The size of one attachment; providers take about that much in a whole request."""

IMAGES: Final = {
    ".gif": ("image/gif", b"GIF8"),
    ".heic": ("image/heic", b""),
    ".heif": ("image/heif", b""),
    ".jpeg": ("image/jpeg", b"\xff\xd8\xff"),
    ".jpg": ("image/jpeg", b"\xff\xd8\xff"),
    ".png": ("image/png", b"\x89PNG\r\n\x1a\n"),
    ".webp": ("image/webp", b"RIFF"),
}
"""Images by the end of their name: the media type, and how such a file begins, where that is one way."""

FILES: Final = {
    ".flac": ("audio/flac", b"fLaC"),
    ".m4a": ("audio/mp4", b""),
    ".mov": ("video/quicktime", b""),
    ".mp3": ("audio/mpeg", b""),
    ".mp4": ("video/mp4", b""),
    ".ogg": ("audio/ogg", b"OggS"),
    ".pdf": ("application/pdf", b"%PDF-"),
    ".wav": ("audio/wav", b"RIFF"),
    ".webm": ("video/webm", b"\x1aE\xdf\xa3"),
}
"""Other files by the end of their name, in the same way."""

PDF_SLACK: Final = 1024
"""A PDF may begin with so many other bytes."""


def as_parts(attachments: Iterable[Attachment]) -> tuple[InputPart, ...]:
    """What is to be sent for `attachments`. The kind of a file is told by the end of its name; the rest has to be text.

    Raises:
        ConfigError: A file cannot be read, is too large, or is of no kind that can be sent.

    """
    return tuple(_read(one) if isinstance(one, Path) else _checked(one) for one in attachments)


def _read(path: Path) -> InputPart:
    shown = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"attachment {shown!r} cannot be read ({error.strerror}); name a file") from error
    except ValueError as error:  # a NUL in the name
        raise ConfigError(f"attachment {shown!r} cannot be read ({error}); name a file") from error
    if len(content) > MOST_BYTES:
        raise _too_large(shown)
    if not content:
        raise ConfigError(f"attachment {shown!r} is empty; name a file with something in it")
    ending, name = path.suffix.lower(), _clean(path.name)
    if ending in IMAGES:
        media_type = _media_type(shown, content, *IMAGES[ending])
        return ImagePart(name=name, media_type=media_type, data=b64encode(content).decode())
    if ending in FILES:
        media_type = _media_type(shown, content, *FILES[ending])
        return FilePart(name=name, media_type=media_type, data=b64encode(content).decode())
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        endings = ", ".join(sorted([*IMAGES, *FILES]))
        raise ConfigError(f"attachment {shown!r} is neither text in UTF-8 nor a file of a known kind: {endings}")
    return TextPart(name=name, text=text)


def _media_type(shown: str, content: bytes, media_type: str, beginning: bytes) -> str:
    """`media_type`, if the content begins as such a file does: a provider would refuse every later turn as well."""
    head = content[:PDF_SLACK] if media_type == "application/pdf" else content[: len(beginning)]
    if beginning not in head:
        raise ConfigError(f"attachment {shown!r} does not hold {media_type}, as its name says; give it its right name")
    return media_type


def _checked(part: InputPart) -> InputPart:
    match part:
        case TextPart(name=name, text=text):
            if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
                raise _too_large(name)
            return TextPart(name=_clean(name), text=_clean(text))
        case ImagePart(name=name, media_type=media_type, data=data):
            return ImagePart(name=_clean(name), media_type=media_type, data=_base64(name, data))
        case FilePart(name=name, media_type=media_type, data=data):
            return FilePart(name=_clean(name), media_type=media_type, data=_base64(name, data))
        case _:
            assert_never(part)


def _base64(name: str, data: str) -> str:
    try:
        content = b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(f"attachment {name!r}: its data is not base64 ({error})") from error
    if not content:
        raise ConfigError(f"attachment {name!r} is empty; give it some data")
    if len(content) > MOST_BYTES:
        raise _too_large(name)
    return data


def _too_large(name: str) -> ConfigError:
    return ConfigError(f"attachment {name!r} is larger than {MOST_BYTES // 1_000_000} MB; send a part of it")


def _clean(text: str) -> str:
    """Without lone surrogates, which neither the journal nor a provider takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
