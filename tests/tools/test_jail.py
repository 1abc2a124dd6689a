"""The file jail over real files: links, hard links, pipes, odd names and races, with both ways of opening."""

import errno
import json
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from oribi.core.calls import Denied, Deny, Failed, Succeeded
from oribi.tools.file_errors import FileError, RefusedError
from oribi.tools.file_policy import FilePolicy
from oribi.tools.jail import Jail
from oribi.tools.openat import OpenBelow, best_open_below, open_by_kernel, open_by_walking
from tests.tools.bench import Bench, everything_below

CASES: dict[str, Any] = json.loads(Path(__file__).with_name("file_cases.json").read_text())

WAYS = pytest.mark.parametrize("way", [open_by_kernel, open_by_walking])

pytestmark = pytest.mark.anyio


def filled(text: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        text = text.replace("${" + name + "}", value)
    return text


def set_up(step: dict[str, str], places: dict[str, str]) -> None:
    filled_in = {key: filled(value, places) for key, value in step.items()}
    match filled_in:
        case {"file": path, "text": text}:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text)
        case {"symlink": path, "to": target}:
            Path(path).symlink_to(target)
        case {"hardlink": path, "to": target}:
            Path(path).hardlink_to(target)
        case {"fifo": path}:
            os.mkfifo(path)
        case {"git": path}:
            (Path(path) / ".git").mkdir()
            (Path(path) / ".git" / "config").write_text("[core]\n")
        case _:
            raise AssertionError(step)


def policy_of(case: dict[str, Any], places: dict[str, str]) -> FilePolicy:
    rules: dict[str, list[str]] = dict(CASES["policy"])
    for key, value in case.get("policy_patch", {}).items():
        rules[key.removeprefix("paths.")] = value
    read, write = (
        tuple(os.path.relpath(filled(path, places), places["WS"]) for path in rules[key]) for key in ("read", "write")
    )
    return FilePolicy(read=read, write=write, deny=tuple(rules["deny"]))


@WAYS
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES["cases"]])
async def test_attack_on_files(case: dict[str, Any], way: OpenBelow, tmp_path: Path) -> None:
    """O-21, C-18: allowed calls work, all others are refused, and what must never come out does not."""
    places = {"WS": str(tmp_path / "ws"), "OUTSIDE": str(tmp_path / "outside")}
    (tmp_path / "ws").mkdir()
    for step in (*CASES["fixture"], *case["setup"]):
        set_up(step, places)
    bench = Bench(tmp_path / "ws", policy=policy_of(case, places), open_below=way)
    before = everything_below(tmp_path)
    result = await bench.call(case["tool"], **{key: filled(value, places) for key, value in case["input"].items()})
    verdict = "allow" if isinstance(result, Succeeded) else "deny"
    assert verdict in case["expect"], result
    assert isinstance(result, Succeeded | Denied | Failed)
    for canary in case["never"]:
        if not canary.startswith("write:"):
            assert canary not in str(result)
    if verdict == "deny":
        assert everything_below(tmp_path) == before


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with every kind of link in it, and secrets beside it."""
    root, out = tmp_path / "ws", tmp_path / "out"
    for path, text in {
        root / "ok.txt": "inside",
        root / "..data" / "file": "inside",
        root / "a b" / "é.txt": "inside",
        root / "a" / "k": "inside",
        root / "~backup.txt": "inside",
        out / "secret": "CANARY",
        tmp_path / "ws-sibling" / "secret": "CANARY",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "flink").symlink_to(out / "secret")
    (root / "dlink").symlink_to(out)
    (root / "chain1").symlink_to("chain2")
    (root / "chain2").symlink_to(out / "secret")
    (root / "dangling").symlink_to(out / "created")
    (root / "inlink").symlink_to("ok.txt")
    (root / "up").symlink_to("../out/secret")
    (root / "self").symlink_to("/proc/self/root")
    (root / "loop").symlink_to("loop")
    return root


READS_REFUSED = [
    "../out/secret",
    "{out}/secret",
    "{ws}/../out/secret",
    "./a/../../out/secret",
    "a/./../../out/secret",
    "{ws}-sibling/secret",
    "flink",
    "dlink/secret",
    "dlink/../secret",
    "chain1",
    "up",
    "loop",
    "self{out}/secret",
    "file://{out}/secret",
    "..\\out\\secret",
    "~/../{out}/secret",
    "{ws}//..//out//secret",
    "/proc/self/cwd/../out/secret",
    "/proc/self/root{out}/secret",
    "ok.txt\0/../../out/secret",
    "ok.txt\0",
    "ok.txt/x",
    "bad\ud83d",
    "x" * 5_000,
    "x/" * 5_000,
]


@WAYS
@pytest.mark.parametrize("path", READS_REFUSED)
async def test_no_way_of_writing_a_path_leads_out(path: str, way: OpenBelow, project: Path) -> None:
    bench = Bench(project, open_below=way)
    written = path.format(ws=project, out=project.parent / "out")
    for tool in ("read_file", "grep", "list_dir"):
        arguments = {"path": written} | ({"pattern": "."} if tool == "grep" else {})
        told = await bench.failure(tool, **arguments)
        assert "CANARY" not in told
        assert len(told) < 12_000
        told.encode()


@pytest.mark.parametrize("path", ["ok.txt", "./ok.txt", "a/../ok.txt", "{ws}/ok.txt", "{ws}/./a/../ok.txt", "inlink"])
async def test_every_way_of_writing_a_path_inside_works(path: str, project: Path) -> None:
    assert await Bench(project).text("read_file", path=path.format(ws=project)) == "inside"


@WAYS
@pytest.mark.parametrize("path", ["..data/file", "a b/é.txt", "~backup.txt"])
async def test_odd_names_are_names(path: str, way: OpenBelow, project: Path) -> None:
    assert await Bench(project, open_below=way).text("read_file", path=path) == "inside"


async def test_a_root_reached_by_a_link_knows_both_its_names(project: Path) -> None:
    other = project.parent / "other-name"
    other.symlink_to(project)
    bench = Bench(other)
    assert await bench.text("read_file", path=f"{other}/ok.txt") == "inside"
    assert await bench.text("read_file", path=f"{project}/ok.txt") == "inside"


@WAYS
@pytest.mark.parametrize("tool", ["write_file", "append_file"])
@pytest.mark.parametrize(
    "path",
    [
        "../out/new",
        "{out}/new",
        "{ws}-sibling/new",
        "dlink/new",
        "dangling",
        "flink",
        "dlink/sub/new",
        "a/../../out/new",
    ],
)
async def test_no_write_leads_out(path: str, tool: str, way: OpenBelow, project: Path) -> None:
    bench = Bench(project, open_below=way)
    before = everything_below(project.parent)
    await bench.failure(tool, path=path.format(ws=project, out=project.parent / "out"), content="W")
    assert everything_below(project.parent) == before


@WAYS
async def test_a_link_made_between_two_calls_is_not_followed(way: OpenBelow, project: Path) -> None:
    bench = Bench(project, open_below=way)
    await bench.text("write_file", path="x/y.txt", content="1")
    (project / "x" / "y.txt").unlink()
    (project / "x").rmdir()
    (project / "x").symlink_to(project.parent / "out")
    await bench.failure("write_file", path="x/z.txt", content="2")
    assert not (project.parent / "out" / "z.txt").exists()


async def test_a_link_inside_cannot_rename_a_denied_file(project: Path) -> None:
    (project / ".env").write_text("TOKEN=CANARY")
    (project / "notes.txt").symlink_to(".env")
    (project / "hooks").symlink_to(".git/hooks")
    (project / ".git" / "hooks").mkdir(parents=True)
    bench = Bench(project)
    result = await bench.call("read_file", path="notes.txt")
    assert isinstance(result, Denied)
    assert result.rule == "files:deny **/.env*"
    result = await bench.call("write_file", path="hooks/pre-commit", content="#!/bin/sh")
    assert isinstance(result, Denied)
    assert result.rule == "files:protected **/.git"
    assert list((project / ".git" / "hooks").iterdir()) == []


async def test_a_denied_file_does_not_hide_behind_a_name_too_long_to_tell(project: Path) -> None:
    """The kernel opens it through links, but cannot say what it is called: that is a refusal."""
    names = [f"{number:02}{'d' * 200}" for number in range(30)]
    folder = os.open(project, os.O_RDONLY | os.O_DIRECTORY)
    for name in names:
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder = inner
    secret = os.open(".env", os.O_WRONLY | os.O_CREAT, dir_fd=folder)
    os.write(secret, b"CANARY")
    os.close(secret)
    os.symlink(".env", "plain.txt", dir_fd=folder)
    os.close(folder)
    (project / "link0").symlink_to("/".join(names[:10]))
    (project / "link1").symlink_to("/".join(["link0", *names[10:20]]))
    path = "/".join(["link1", *names[20:], "plain.txt"])
    assert (project / path).read_text() == "CANARY"
    told = await Bench(project).failure("read_file", path=path)
    assert "File name too long" in told


async def test_a_link_inside_cannot_widen_what_may_be_read(project: Path) -> None:
    (project / "out").mkdir()
    (project / "out" / "x").symlink_to("../ok.txt")
    result = await Bench(project, policy=FilePolicy(read=("out",))).call("read_file", path="out/x")
    assert isinstance(result, Denied)
    assert result.rule == "files:read"


@WAYS
async def test_pipes_sockets_and_hard_links_are_neither_read_nor_written(way: OpenBelow, project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "hard").hardlink_to(project.parent / "out" / "secret")
    bench = Bench(project, open_below=way)
    for tool, arguments in (
        ("read_file", {}),
        ("append_file", {"content": "x"}),
        ("edit_file", {"old": "CANARY", "new": "x"}),
    ):
        for path in ("pipe", "hard"):
            result = await bench.call(tool, path=path, **arguments)
            assert isinstance(result, Denied), (tool, path, result)
            assert result.rule in {"files:special", "files:hard-link"}
    assert (project.parent / "out" / "secret").read_text() == "CANARY"
    await bench.text("write_file", path="hard", content="mine")
    assert (project.parent / "out" / "secret").read_text() == "CANARY"


async def test_a_hard_link_where_an_agent_cannot_write_is_read(project: Path) -> None:
    """Package stores link their files; nobody but the operator can have made these."""
    (project / "copy.txt").hardlink_to(project / "ok.txt")
    assert await Bench(project, policy=FilePolicy(write=("out",))).text("read_file", path="copy.txt") == "inside"


@WAYS
def test_a_nul_never_shortens_a_path(way: OpenBelow, project: Path) -> None:
    """C would open what stands before the NUL."""
    folder = os.open(project, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(OSError, match="NUL"):
            way(folder, ("ok.txt\0.png",), os.O_RDONLY, 0)
    finally:
        os.close(folder)


@WAYS
@pytest.mark.parametrize("path", ["flink", "dlink/secret", "chain1", "up", "self/etc/passwd", "a/../../out/secret"])
def test_neither_way_of_opening_leads_out_by_itself(path: str, way: OpenBelow, project: Path) -> None:
    """Before anything is judged again."""
    folder = os.open(project, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is checked below
            way(folder, path.split("/"), os.O_RDONLY, 0)
        assert caught.value.errno in {errno.EXDEV, errno.ELOOP, errno.ENOTDIR}
    finally:
        os.close(folder)


def test_this_machine_opens_by_the_kernel() -> None:
    """Else the tests of `open_by_kernel` would prove nothing about what is used."""
    assert best_open_below() is open_by_kernel


@contextmanager
def swapping(project: Path) -> Generator[None]:
    """A thread that makes `d` a folder and a link to the outside in turn, as fast as it can."""
    (project / "real").mkdir()
    (project / "real" / "secret").write_text("inside")
    (project / "link").symlink_to(project.parent / "out")
    target = project / "d"
    (project / "real").rename(target)
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            target.rename(project / "real")
            (project / "link").rename(target)
            target.rename(project / "link")
            (project / "real").rename(target)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        yield
    finally:
        is_over.set()
        swapper.join()


@pytest.mark.slow
@WAYS
def test_a_swapped_folder_never_leaks(way: OpenBelow, project: Path) -> None:
    """Looking at a path and opening it after loses this race, which the next test proves."""
    jail = Jail(project, FilePolicy(), open_below=way)
    read: list[bytes] = []
    refused = 0
    with swapping(project):
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            try:
                read.append(jail.read("d/secret"))
            except (FileError, RefusedError):
                refused += 1
    assert set(read) == {b"inside"}
    assert refused > 0


@pytest.mark.slow
@WAYS
def test_a_swapped_folder_is_never_written_through(way: OpenBelow, project: Path) -> None:
    jail = Jail(project, FilePolicy(), open_below=way)
    outside = everything_below(project.parent / "out")
    written = refused = 0
    with swapping(project):
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            try:
                jail.change("d/secret", lambda content: content)
                written += 1
            except (FileError, RefusedError):
                refused += 1
    assert written > 0
    assert refused > 0
    assert everything_below(project.parent / "out") == outside


@pytest.mark.slow
def test_the_race_is_real(project: Path) -> None:
    """Without the jail, the same swapping thread gets the secret out."""

    def read_naively() -> str:
        path = project / "d" / "secret"
        return path.read_text() if path.resolve().is_relative_to(project.resolve()) else ""

    has_leaked = False
    with swapping(project):
        until = time.monotonic() + 20
        while not has_leaked and time.monotonic() < until:
            try:
                has_leaked = read_naively() == "CANARY"
            except OSError:
                continue
    assert has_leaked


async def test_errors_name_the_path_and_what_there_is_instead(project: Path) -> None:
    bench = Bench(project)
    assert await bench.failure("read_file", path="okk.txt") == "there is no 'okk.txt'; in '.' there is: 'ok.txt'"
    assert await bench.failure("read_file", path="zzz/x.txt") == "there is no 'zzz/x.txt'; there is no folder 'zzz'"
    assert await bench.failure("read_file", path="a") == "'a' is a folder; list_dir shows what is in it"
    assert await bench.failure("list_dir", path="ok.txt") == (
        "a part of 'ok.txt' is not a folder, or is a link that is not followed"
    )
    assert await bench.failure("read_file", path="../x") == (
        f"'../x' is outside {str(project)!r}; use a path relative to that folder"
    )


def test_judging_touches_no_file(tmp_path: Path) -> None:
    jail = Jail(tmp_path / "not-there", FilePolicy())
    assert jail.judge("read", "a/b.txt") is None
    assert isinstance(jail.judge("read", "../b.txt"), Deny)
