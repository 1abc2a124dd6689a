"""Writing files: whole or not at all, with their mode, beside others who write."""

import os
import resource
import signal
import stat
import threading
from pathlib import Path

import pytest

from oribi.core.calls import Denied
from oribi.tools.file_errors import ChangedError, FileError
from oribi.tools.file_policy import FilePolicy
from oribi.tools.jail import Jail
from tests.tools.bench import Bench

pytestmark = pytest.mark.anyio


async def test_write_makes_folders_and_replaces_whole_files(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert await bench.text("write_file", path="a/b/c.txt", content="é\n") == "made 'a/b/c.txt': 2 characters"
    assert (tmp_path / "a/b/c.txt").read_bytes() == "é\n".encode()
    assert await bench.text("write_file", path="a/b/c.txt", content="") == "replaced 'a/b/c.txt': 0 characters"
    assert (tmp_path / "a/b/c.txt").read_bytes() == b""
    assert os.listdir(tmp_path / "a/b") == ["c.txt"]  # noqa: PTH208 - nothing beside it is left


async def test_line_ends_are_written_as_they_are(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.text("write_file", path="x.txt", content="a\r\nb\nc\r")
    await bench.text("append_file", path="x.txt", content="d\r\n")
    assert (tmp_path / "x.txt").read_bytes() == b"a\r\nb\nc\rd\r\n"


async def test_what_cannot_be_stored_is_replaced(tmp_path: Path) -> None:
    """The model escaped half an emoji, or a NUL."""
    bench = Bench(tmp_path)
    await bench.text("write_file", path="x.txt", content="bad \ud83d, good \ud83c\udf78")
    assert (tmp_path / "x.txt").read_text() == "bad \N{REPLACEMENT CHARACTER}, good \N{COCKTAIL GLASS}"
    assert await bench.text("write_file", path="x.txt", content="a\0b") == (
        "replaced 'x.txt': 3 characters; characters that cannot be stored were replaced"
    )
    assert (tmp_path / "x.txt").read_text() == "a\N{REPLACEMENT CHARACTER}b"


async def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    script = bench.write("run.sh", "echo old\n")
    script.chmod(0o750)
    await bench.text("write_file", path="run.sh", content="echo new\n")
    await bench.text("edit_file", path="run.sh", old="new", new="newer")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750


async def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("fixed.txt", "keep").chmod(0o444)
    assert "is read-only (mode 444)" in await bench.failure("write_file", path="fixed.txt", content="x")
    assert (tmp_path / "fixed.txt").read_text() == "keep"


async def test_a_folder_is_not_written(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "d").mkdir()
    for tool in ("write_file", "append_file"):
        assert "'d'" in await bench.failure(tool, path="d", content="x")
        assert "name a file in it" in await bench.failure(tool, path=".", content="x")


async def test_a_link_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("a.txt", "a")
    (tmp_path / "link").symlink_to("a.txt")
    result = await bench.call("write_file", path="link", content="x")
    assert result == Denied(
        rule="files:link", reason="'link' is a symbolic link; write to the file it points to by its own name"
    )


async def test_append_adds_to_the_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert await bench.text("append_file", path="logs/a.txt", content="1\n") == "made 'logs/a.txt': 2 characters"
    assert await bench.text("append_file", path="logs/a.txt", content="2\n") == "added to 'logs/a.txt': 2 characters"
    assert (tmp_path / "logs/a.txt").read_text() == "1\n2\n"


@pytest.mark.parametrize(
    "path", [".oribi/agents/ops/AGENT.md", ".oribi/oribi.toml", ".git/hooks/pre-commit", "USER.md"]
)
async def test_no_tool_writes_what_grants_rights(path: str, tmp_path: Path) -> None:
    """O-21: also when the file is not there yet."""
    bench = Bench(tmp_path)
    for tool, arguments in (
        ("write_file", {"content": "x"}),
        ("append_file", {"content": "x"}),
        ("edit_file", {"old": "a", "new": "b"}),
    ):
        result = await bench.call(tool, path=path, **arguments)
        assert isinstance(result, Denied)
        assert result.rule.startswith("files:protected ")
    assert not (tmp_path / path).exists()


async def test_edit_replaces_what_occurs_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("a.py", "x = 1\ny = 2\n")
    assert await bench.text("edit_file", path="a.py", old="x = 1", new="x = 3") == "edited 'a.py': 1 replacement"
    assert (tmp_path / "a.py").read_text() == "x = 3\ny = 2\n"


async def test_edit_says_how_often_a_text_occurs(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("a.txt", "a\nb\na\na\n")
    assert await bench.failure("edit_file", path="a.txt", old="a", new="c") == (
        "the text in `old` occurs 3 times in 'a.txt', first in lines 1, 3, 4; "
        "give more of what stands around it, or set replace_all"
    )
    assert await bench.text("edit_file", path="a.txt", old="a", new="c", replace_all=True) == (
        "edited 'a.txt': 3 replacements"
    )
    assert (tmp_path / "a.txt").read_text() == "c\nb\nc\nc\n"


async def test_edit_says_why_nothing_matches(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("a.txt", "if x:\n\treturn\n")
    bench.write("latin.txt", b"caf\xe9")
    assert await bench.failure("edit_file", path="a.txt", old="nope", new="c") == (
        "'a.txt' does not hold the text in `old`; read the file again"
    )
    assert "but for white space" in await bench.failure("edit_file", path="a.txt", old="if x:\n    return", new="c")
    assert "same text" in await bench.failure("edit_file", path="a.txt", old="if", new="if")
    assert "there is no 'b.txt'" in await bench.failure("edit_file", path="b.txt", old="if", new="of")
    assert "is not UTF-8 (byte 3)" in await bench.failure("edit_file", path="latin.txt", old="caf", new="tea")
    assert (tmp_path / "latin.txt").read_bytes() == b"caf\xe9"


async def test_edit_keeps_the_line_ends_of_the_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("dos.txt", b"a\r\nb\r\nc\r\n")
    await bench.text("edit_file", path="dos.txt", old="a\nb", new="x\ny\nz")
    assert (tmp_path / "dos.txt").read_bytes() == b"x\r\ny\r\nz\r\nc\r\n"


async def test_an_edit_cannot_fill_the_memory(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("a.txt", "a" * 100_000)
    told = await bench.failure("edit_file", path="a.txt", old="a", new="b" * 1_000, replace_all=True)
    assert "would grow over" in told


def test_a_change_by_someone_else_is_not_lost(tmp_path: Path) -> None:
    """The change is made again on what the other wrote."""
    file = tmp_path / "a.txt"
    file.write_text("1\n")
    seen: list[bytes] = []

    def change(content: bytes) -> bytes:
        if not seen:
            file.write_text("1\n2 from another\n")
        seen.append(content)
        return content + b"mine\n"

    Jail(tmp_path, FilePolicy()).change("a.txt", change)
    assert seen == [b"1\n", b"1\n2 from another\n"]
    assert file.read_text() == "1\n2 from another\nmine\n"


def test_a_file_that_keeps_changing_is_given_up(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("0")

    def change(content: bytes) -> bytes:
        file.write_bytes(content + b"!")
        return content

    with pytest.raises(ChangedError, match="keeps being changed"):
        Jail(tmp_path, FilePolicy()).change("a.txt", change)


def test_a_reader_sees_the_old_content_or_the_new(tmp_path: Path) -> None:
    jail = Jail(tmp_path, FilePolicy())
    jail.replace("a.txt", b"a" * 100_000)
    is_over = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not is_over.is_set():
            content = (tmp_path / "a.txt").read_bytes()
            seen.add(content[:1] + b"%d" % len(content) + content[-1:])

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        jail.replace("a.txt", b"b" * 50_000)
        jail.replace("a.txt", b"a" * 100_000)
    is_over.set()
    reader.join()
    assert seen <= {b"a100000a", b"b50000b"}


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    """The file is cut off in its middle by the operating system's limit on file sizes, as on a full disk."""
    jail = Jail(tmp_path, FilePolicy())
    jail.replace("a.txt", b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))
    try:
        for write in (jail.replace, jail.append):
            with pytest.raises(FileError, match=r"'a\.txt': File too large"):
                write("a.txt", b"n" * 4_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "old"}


def test_the_largest_file_has_a_bound(tmp_path: Path) -> None:
    huge = tmp_path / "huge.bin"
    with huge.open("wb") as file:
        file.truncate(60_000_000)
    with pytest.raises(FileError, match="has 60,000,000 bytes, the most is 50,000,000"):
        Jail(tmp_path, FilePolicy()).read("huge.bin")
