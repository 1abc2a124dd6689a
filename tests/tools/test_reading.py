"""`read_file` and `list_dir`: pages, long lines, odd bytes, and what is said about what is not shown."""

from pathlib import Path

import pytest

from tests.tools.bench import Bench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_small_file_is_shown_as_it_is(bench: Bench) -> None:
    for content in ("one\ntwo\n", "no line end", "\n\n", "\u2028 odd \x0b breaks \x85\n"):
        bench.write("a.txt", content)
        assert await bench.text("read_file", path="a.txt") == content


async def test_a_page_says_what_is_left_and_how_to_go_on(bench: Bench) -> None:
    bench.write("a.txt", "".join(f"line {number}\n" for number in range(1, 11)))
    assert await bench.text("read_file", path="a.txt", offset=3, limit=2) == (
        "line 3\nline 4\n[lines 3-4 of 10; read_file(path='a.txt', offset=5) goes on]"
    )
    assert await bench.text("read_file", path="a.txt", offset=9) == "line 9\nline 10\n"
    assert await bench.failure("read_file", path="a.txt", offset=11) == (
        "offset 11 is past the end: 'a.txt' has 10 lines"
    )


async def test_pages_join_to_the_whole_file_whatever_the_cap(bench: Bench) -> None:
    """A huge file is read in parts, each within the cap of a result, and nothing is lost between them."""
    content = "".join(f"{number:05} {'x' * (number % 300)}\n" for number in range(3_000))
    bench.write("big.log", content)
    bench.cap(5_000)
    pages: list[str] = []
    offset: int | None = 1
    while offset is not None:
        page = await bench.text("read_file", path="big.log", offset=offset)
        assert len(page) <= 5_000
        body, marker, note = page.rpartition("[lines ")
        pages.append(body if marker else page)
        offset = int(note.partition("offset=")[2].partition(")")[0]) if marker else None
    assert "".join(pages) == content
    assert len(pages) > 50


async def test_a_long_line_is_cut_and_can_be_read_on(bench: Bench) -> None:
    line = "".join(f"{number:06}," for number in range(10_000))
    bench.write("wide.csv", f"head\n{line}\ntail\n")
    bench.cap(10_000)
    page = await bench.text("read_file", path="wide.csv")
    assert page.startswith(f"head\n{line[:2_000]} [68,001 more characters in this line; column=2001 ")
    assert page.endswith("\ntail\n")
    read, column = "", 1
    while True:
        page = await bench.text("read_file", path="wide.csv", offset=2, column=column, limit=1)
        assert len(page) <= 10_000
        body, marker, note = page.partition(" [")
        if column > 1 and not marker:
            read += body
            break
        read += body if marker else page
        column = int(note.partition("column=")[2].partition(" ")[0])
    assert read.startswith(line)


async def test_bytes_that_are_not_utf8_are_replaced_and_said(bench: Bench) -> None:
    bench.write("latin1.txt", b"caf\xe9 menu\nok\n")
    assert await bench.text("read_file", path="latin1.txt") == (
        "caf\N{REPLACEMENT CHARACTER} menu\nok\n[bytes that are not UTF-8 are shown as \N{REPLACEMENT CHARACTER}]"
    )


async def test_a_binary_file_is_named_as_such(bench: Bench) -> None:
    bench.write("a.bin", b"\x7fELF\0\0" * 100)
    bench.write("wide.txt", "hello".encode("utf-16"))
    assert await bench.failure("read_file", path="a.bin") == (
        "'a.bin' is binary (600 bytes); read_file shows UTF-8 text only"
    )
    assert "perhaps UTF-16 text" in await bench.failure("read_file", path="wide.txt")


async def test_a_nul_far_inside_a_text_is_made_harmless(bench: Bench) -> None:
    bench.write("late.txt", b"x\n" * 10_000 + b"a\0b\n")
    assert (await bench.text("read_file", path="late.txt", offset=10_001)).startswith("a\N{REPLACEMENT CHARACTER}b")


async def test_line_ends_of_windows_and_a_byte_order_mark_are_left_out(bench: Bench) -> None:
    bench.write("dos.txt", b"\xef\xbb\xbfa\r\nb\r\n")
    assert await bench.text("read_file", path="dos.txt") == "a\nb\n[lines end in CRLF]"


async def test_an_empty_file_is_called_empty(bench: Bench) -> None:
    bench.write("empty.txt", "")
    assert await bench.text("read_file", path="empty.txt") == "(the file is empty)"


async def test_a_large_file_is_read_too(bench: Bench) -> None:
    bench.write("big.txt", "line of text\n" * 400_000)
    page = await bench.text("read_file", path="big.txt", offset=399_999)
    assert page == "line of text\nline of text\n"
    page = await bench.text("read_file", path="big.txt")
    assert len(page) <= 30_000
    assert "of 400,000; read_file(path='big.txt', offset=" in page


async def test_list_dir_names_what_is_there(bench: Bench) -> None:
    bench.write("b/x.txt", "1")
    bench.write("a.txt", "12345" * 1_000)
    bench.write(".env", "SECRET")
    bench.write("new\nline", "")
    bench.root.joinpath("link").symlink_to("a.txt")
    assert await bench.text("list_dir") == (
        ".env  6  (not for tools)\n.oribi/\na.txt  5,000\nb/\nlink  (link)\n'new\\nline'  0"
    )
    assert await bench.text("list_dir", path="b") == "x.txt  1"
    bench.root.joinpath("void").mkdir()
    assert await bench.text("list_dir", path="void") == "('void' is empty)"


async def test_a_long_folder_is_cut_with_a_count(bench: Bench) -> None:
    for number in range(200):
        bench.write(f"many/{number:03}.txt", "")
    bench.cap(1_000)
    listed = await bench.text("list_dir", path="many")
    assert len(listed) <= 1_000
    lines = listed.splitlines()
    assert lines[0] == "000.txt  0"
    assert lines[-1].startswith(f"[{200 - len(lines) + 1} more names; glob(")
