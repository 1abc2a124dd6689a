"""GGUF headers: what decides how a model is asked, and files that are none."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from oribi.core.errors import ConfigError
from oribi.models.gguf import read_gguf
from tests.models.gguf_files import count_key, header, list_key, model_file, string, text_key


@pytest.mark.parametrize(
    ("template", "makes_tool_calls"),
    [
        ("{% if tools %}{{ tools | tojson }}{% endif %}{{ messages }}", True),
        ("{%- for tool in tools %}{{ tool }}{% endfor %}", True),
        ("You have no tools. {% for message in messages %}{{ message.content }}{% endfor %}", False),
        ("", False),
    ],
)
def test_a_template_that_reads_the_tools_makes_tool_calls(
    tmp_path: Path, template: str, *, makes_tool_calls: bool
) -> None:
    file = read_gguf(model_file(tmp_path, template))
    assert file.chat_template == template
    assert file.makes_tool_calls is makes_tool_calls


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "not a whole GGUF", id="empty"),
        pytest.param(b"PK\x03\x04 a zip", "begins with", id="another format"),
        pytest.param(header(version=1), "version is 1", id="an old version"),
        pytest.param(header(count_key("a", 1))[:-2], "ends within", id="cut in a number"),
        pytest.param(
            header(count_key("a", 1), text_key("tokenizer.chat_template", "x" * 50))[:-20],
            "ends within",
            id="cut in a text",
        ),
        pytest.param(header(list_key("a", ["x"]))[:-3], "ends within", id="cut in a list"),
        pytest.param(
            header(string("a") + struct.pack("<IIQ", 9, 8, 2**60)), "more than it has", id="a list without end"
        ),
        pytest.param(header(string("a") + struct.pack("<I", 77)), "unknown type 77", id="an unknown type"),
    ],
)
def test_a_file_that_is_no_model_is_refused_with_its_name_and_the_reason(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=words) as caught:
        read_gguf(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model file at"):
        read_gguf(tmp_path / "gone.gguf")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_gguf(tmp_path)
