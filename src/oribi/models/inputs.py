"""What comes with an input, for the wires: which of it a provider takes, and the words for what it does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, assert_never

from oribi.core.errors import ConfigError
from oribi.core.messages import FilePart, ImagePart, TextPart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oribi.core.messages import InputPart, ModelChoice, UserMessage
    from oribi.models.endpoints import Endpoint, Wire

_COMMON_IMAGES: Final = r"image/(?:png|jpeg|gif|webp)"
IMAGES: Final[dict[Wire, re.Pattern[str]]] = {
    "openai-chat": re.compile(_COMMON_IMAGES),
    "openai-responses": re.compile(_COMMON_IMAGES),
    "anthropic": re.compile(_COMMON_IMAGES),
    "gemini": re.compile(r"image/(?:png|jpeg|webp|heic|heif)"),
}
"""The media types of images that a wire takes."""

FILES: Final[dict[Wire, re.Pattern[str]]] = {
    "openai-chat": re.compile(r"application/pdf"),
    "openai-responses": re.compile(r"application/pdf"),
    "anthropic": re.compile(r"application/pdf"),
    "gemini": re.compile(r"application/pdf|audio/.+|video/.+"),
}
"""The media types of other files that a wire takes."""


def goes_to(part: InputPart, endpoint: Endpoint) -> bool:
    """Whether `part` can be sent to `endpoint` as what it is."""
    match part:
        case TextPart():
            return True
        case ImagePart(media_type=media_type):
            return endpoint.dialect.media and IMAGES[endpoint.wire].fullmatch(media_type) is not None
        case FilePart(media_type=media_type):
            return endpoint.dialect.media and FILES[endpoint.wire].fullmatch(media_type) is not None
        case _:
            assert_never(part)


def check_parts(parts: Iterable[InputPart], choice: ModelChoice, endpoint: Endpoint | None) -> None:
    """Refuse what the model's wire cannot carry. Without an `endpoint` only text can be sent.

    Raises:
        ConfigError: One of the parts cannot be sent to it.

    """
    for part in parts:
        if isinstance(part, TextPart) or (endpoint is not None and goes_to(part, endpoint)):
            continue
        if endpoint is None or not endpoint.dialect.media:
            takes = "only text files"
        else:
            takes = f"text files, {IMAGES[endpoint.wire].pattern} and {FILES[endpoint.wire].pattern}"
            takes = takes.replace("(?:", "(").replace("application/pdf", "PDF").replace(".+", "...")
        raise ConfigError(
            f"{part.name!r} ({part.media_type}) cannot be sent to {choice.ref!r}, which takes {takes}; "
            "leave it out, or choose another model"
        )


def in_words(part: InputPart) -> str:
    """A file of text as it is told to a model; of anything else that it was there, for a model that cannot see it."""
    if isinstance(part, TextPart):
        return f"File {part.name!r}:\n{part.text}"
    return f"[{part.name!r} ({part.media_type}) was attached here; it cannot be shown to you]"


def all_in_words(message: UserMessage) -> str:
    """`message` for a model that knows only text."""
    parts = [in_words(part) for part in message.parts]
    return "\n\n".join([*parts, message.text] if message.text or not parts else parts)


def data_url(part: ImagePart | FilePart) -> str:
    """The part's content within a URL."""
    return f"data:{part.media_type};base64,{part.data}"
