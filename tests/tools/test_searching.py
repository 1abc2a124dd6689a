"""`glob` and `grep`: what they find, count and leave out, and that no expression can hang them."""

import os
import time
from pathlib import Path

import anyio
import pytest

from oribi.core.calls import Failed
from tests.tools.bench import INVOCATION, Bench, call_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.write("src/a.py", "import os\nprint('hi')\n")
    bench.write("src/deep/b.py", "import sys\n")
    bench.write("docs/x.md", "# Import\nimport nothing\n")
    bench.write("app.log", "ok\nok\nerror 502\nok\nok\nerror 502\nerror 500\n")
    bench.write(".env", "import=SECRET\n")
    bench.write(".git/config", "import\n")
    bench.write(".oribi/notes.txt", "import\n")
    bench.write("node_modules/m/index.js", "import\n")
    bench.write("photo.jpg", b"\xff\xd8\0\0import\n")
    return bench


async def test_glob_finds_files_in_order(bench: Bench) -> None:
    assert await bench.text("glob", pattern="**/*.py") == "src/a.py\nsrc/deep/b.py"
    assert await bench.text("glob", pattern="*.py", path="src") == "src/a.py"
    assert await bench.text("glob", pattern="**/*.{md,log}") == "app.log\ndocs/x.md"
    assert await bench.text("glob", pattern="*.rs") == "(no file below '.' matches '*.rs')"


async def test_glob_leaves_out_secrets_links_and_the_workspace(bench: Bench) -> None:
    outside = bench.root.parent / f"{bench.root.name}-outside"
    outside.mkdir()
    (outside / "z.py").write_text("")
    (bench.root / "link").symlink_to(outside)
    (bench.root / "z.py").symlink_to(outside / "z.py")
    assert await bench.text("glob", pattern="**") == "app.log\ndocs/x.md\nphoto.jpg\nsrc/a.py\nsrc/deep/b.py"
    assert await bench.text("glob", pattern="**", path=".oribi") == ".oribi/notes.txt"
    assert await bench.text("glob", pattern="**/*.js", path="node_modules") == "node_modules/m/index.js"


async def test_glob_says_what_it_left_out(bench: Bench) -> None:
    for number in range(300):
        bench.write(f"many/file-{number:03}.txt", "")
    bench.cap(2_000)
    found = await bench.text("glob", pattern="many/*")
    assert len(found) <= 2_000
    shown = found.count("many/file-")
    assert found.endswith(f"[{300 - shown} more files; a narrower pattern or path shows them]")


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "~/*", "a/../../*"])
async def test_glob_wants_relative_patterns(pattern: str, bench: Bench) -> None:
    assert "must be relative" in await bench.failure("glob", pattern=pattern)


async def test_grep_shows_matches_with_their_place(bench: Bench) -> None:
    assert await bench.text("grep", pattern="^import") == (
        "docs/x.md:2:import nothing\nsrc/a.py:1:import os\nsrc/deep/b.py:1:import sys\n"
        "[3 matching lines in 3 of 4 files; 1 binary file left out]"
    )
    assert await bench.text("grep", pattern="import", glob="*.py", ignore_case=True) == (
        "src/a.py:1:import os\nsrc/deep/b.py:1:import sys\n[2 matching lines in 2 of 2 files]"
    )
    assert await bench.text("grep", pattern="import", glob="src/*.py") == (
        "src/a.py:1:import os\n[1 matching line in 1 of 1 file]"
    )
    assert await bench.text("grep", pattern="IMPORT") == (
        "[no line matches 'IMPORT' in 4 files below '.'; 1 binary file left out]"
    )


async def test_grep_shows_context_once(bench: Bench) -> None:
    assert await bench.text("grep", pattern="50[02]$", path="app.log", context=1) == (
        "app.log-2-ok\napp.log:3:error 502\napp.log-4-ok\napp.log-5-ok\napp.log:6:error 502\napp.log:7:error 500\n"
        "[3 matching lines in 1 of 1 file]"
    )
    bench.write("gap.txt", "x\n1\n2\n3\n4\nx\n")
    assert await bench.text("grep", pattern="x", path="gap.txt", context=1) == (
        "gap.txt:1:x\ngap.txt-2-1\n--\ngap.txt-5-4\ngap.txt:6:x\n[2 matching lines in 1 of 1 file]"
    )


async def test_grep_counts_what_it_does_not_show(bench: Bench) -> None:
    bench.write("big.log", "".join(f"{number} error\n" for number in range(5_000)))
    found = await bench.text("grep", pattern="error", path="big.log", max_matches=2)
    assert found == (
        "big.log:1:0 error\nbig.log:2:1 error\n"
        "[5,000 matching lines in 1 of 1 file; 4,998 more matching lines not shown: narrow the search]"
    )
    bench.cap(2_000)
    found = await bench.text("grep", pattern="error", path="big.log", max_matches=1_000)
    assert len(found) <= 2_000
    assert "[5,000 matching lines in 1 of 1 file; " in found


async def test_grep_cuts_long_lines_and_reads_odd_bytes(bench: Bench) -> None:
    bench.write("wide.txt", "needle" + "x" * 3_000_000 + "\nneedle\n")
    bench.write("odd.txt", b"n\xffeedle\r\nneedle \xff\r\n")
    found = await bench.text("grep", pattern="needle")
    assert "wide.txt:2:needle" in found
    assert "odd.txt:2:needle \N{REPLACEMENT CHARACTER}\n" in found
    assert len(found) < 2_000


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*a){20}$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
async def test_no_expression_hangs_grep(pattern: str, bench: Bench) -> None:
    """Expressions come from a model: those that take a backtracking engine years end in linear time."""
    bench.write("evil.txt", "a" * 20_000 + "!\n")
    started = time.process_time()
    await bench.text("grep", pattern=pattern, path="evil.txt")
    assert time.process_time() - started < 5


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1", "a{1000}{1000}{1000}"])
async def test_an_expression_that_cannot_be_used_is_explained(pattern: str, bench: Bench) -> None:
    told = await bench.failure("grep", pattern=pattern)
    assert told.startswith(f"the regular expression {pattern!r} cannot be used: ")


async def test_grep_does_not_read_denied_files(bench: Bench) -> None:
    assert "SECRET" not in await bench.text("grep", pattern="SECRET|import")
    assert ".env" in await bench.failure("grep", pattern="SECRET", path=".env")


async def test_a_search_stops_at_its_timeout(bench: Bench) -> None:
    for number in range(50):
        bench.write(f"many/{number}.txt", "a\n" * 20_000)
    spec = bench.catalogue["grep"]
    fast = type(spec)(name="grep", description="", parameters=spec.parameters, effect="pure", timeout_seconds=0.05)
    started = time.monotonic()
    result = await bench.toolbox.run(call_of("grep", {"pattern": "b"}), fast, INVOCATION)
    assert result == Failed(text="timed out after 0.05 seconds", retryable=True)
    assert time.monotonic() - started < 2


async def test_other_sessions_go_on_during_a_search(bench: Bench) -> None:
    for number in range(20):
        bench.write(f"many/{number}.txt", "a\n" * 20_000)
    ticks = 0
    async with anyio.create_task_group() as group:

        async def tick() -> None:
            nonlocal ticks
            while True:
                await anyio.sleep(0.001)
                ticks += 1

        group.start_soon(tick)
        await bench.text("grep", pattern="b", path="many")
        group.cancel_scope.cancel()
    assert ticks >= 5


async def test_a_pipe_in_the_way_does_not_stop_a_search(bench: Bench) -> None:
    os.mkfifo(bench.root / "src" / "pipe")
    assert "src/a.py:1:import os" in await bench.text("grep", pattern="import", path="src")
