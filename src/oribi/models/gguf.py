"""GGUF files: the few facts of the header that decide how a local model is asked. No weights are read.

The layout is that of llama.cpp's GGUF specification, versions 2 and 3: magic, version, counts, then keys with typed
values, little-endian.
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oribi.core.errors import ConfigError

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)
TEMPLATE_KEY: Final = b"tokenizer.chat_template"

STRING: Final = 8
ARRAY: Final = 9
SIZES: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of each value type that has a fixed size."""

TAGS: Final = re.compile(r"\{[%{](.*?)[%}]\}", re.DOTALL)
TOOLS: Final = re.compile(r"\btools\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufFile:
    """A model file. `chat_template` is the Jinja text that writes its conversations; empty when it has none."""

    path: Path
    chat_template: str

    @property
    def makes_tool_calls(self) -> bool:
        """Whether the model was taught a form of tool call: its template reads the variable `tools`."""
        return any(TOOLS.search(tag) for tag in TAGS.findall(self.chat_template))


def read_gguf(path: Path) -> GgufFile:
    """The header of the GGUF file at `path`.

    Raises:
        ConfigError: There is no such file, it cannot be read, or it is no GGUF file of a version we know.

    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return GgufFile(path=path, chat_template=_chat_template(text))
    except FileNotFoundError:
        raise ConfigError(f"no model file at {str(path)!r}; write the model as 'local:/path/to/model.gguf'") from None
    except OSError as error:
        raise ConfigError(f"the model file {str(path)!r} cannot be read: {error.strerror}") from error
    except (ValueError, struct.error) as error:
        problem = "it ends within its header" if isinstance(error, struct.error) else error
        raise ConfigError(
            f"{str(path)!r} is not a whole GGUF model file ({problem}); download it again, or convert the model to GGUF"
        ) from error


def _chat_template(text: mmap.mmap) -> str:
    if text[:4] != MAGIC:
        raise ValueError(f"it begins with {text[:4]!r}, not {MAGIC!r}")
    version, _, keys = struct.unpack_from("<IQQ", text, 4)
    if version not in VERSIONS:
        raise ValueError(f"its version is {version}; known are {VERSIONS}")
    place = 24
    for _ in range(keys):
        start, place = _string(text, place)
        key = text[start:place]
        (kind,) = struct.unpack_from("<I", text, place)
        place += 4
        if key == TEMPLATE_KEY and kind == STRING:
            start, place = _string(text, place)
            return text[start:place].decode("utf-8", "replace")
        place = _behind(text, place, kind)
        if place > len(text):
            raise ValueError("it ends within its header")
    return ""


def _string(text: mmap.mmap, place: int) -> tuple[int, int]:
    """Where the string at `place` begins and ends."""
    (length,) = struct.unpack_from("<Q", text, place)
    end = place + 8 + length
    if end > len(text):
        raise ValueError("it ends within its header")
    return place + 8, end


def _behind(text: mmap.mmap, place: int, kind: int) -> int:
    """Where the value of `kind` at `place` ends."""
    if kind == STRING:
        return _string(text, place)[1]
    if kind != ARRAY:
        if kind not in SIZES:
            raise ValueError(f"it holds a value of unknown type {kind}")
        return place + SIZES[kind]
    inner, count = struct.unpack_from("<IQ", text, place)
    place += 12
    if inner in SIZES:
        return place + SIZES[inner] * count
    if count > len(text):
        raise ValueError(f"it holds an array of {count} values, more than it has bytes")
    for _ in range(count):
        place = _behind(text, place, inner)
    return place
