"""Attachments: read once, recorded with the input, and sent again from the journal alone."""

import json
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.app import App
from oribi.attachments import MOST_BYTES, as_parts
from oribi.core.ends import Completed
from oribi.core.errors import ConfigError
from oribi.core.events import ModelAsked, TurnStarted
from oribi.core.messages import FilePart, ImagePart, InputPart, TextPart
from oribi.testing import FakeModelServer

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 8
AGENT = "---\nname: ops\ndescription: Looks.\nmodel: {model}\n---\nYou are ops.\n"
SETTINGS = '[providers.fake]\nbase_url = "{url}/v1"\nwire = "{wire}"\n'


def make(root: Path, *, model: str = "fake:m", url: str = "http://127.0.0.1:9", wire: str = "openai-chat") -> Path:
    init_workspace(root)
    folder = root / ".oribi" / "agents" / "ops"
    folder.mkdir(exist_ok=True)
    (folder / "AGENT.md").write_text(AGENT.format(model=model))
    (root / ".oribi" / "oribi.toml").write_text(SETTINGS.format(url=url, wire=wire))
    (root / "cat.png").write_bytes(PNG)
    (root / "bill.PDF").write_bytes(PDF)
    (root / "note.md").write_text("# Note\n")
    return root


def started(app: App, session_id: str) -> list[TurnStarted]:
    return [record.event for record in app.records(session_id) if isinstance(record.event, TurnStarted)]


def test_the_kind_of_a_file_is_told_by_the_end_of_its_name(tmp_path: Path) -> None:
    root = make(tmp_path)
    (root / "sound.mp3").write_bytes(b"ID3")
    (root / "LICENSE").write_bytes(b"\xef\xbb\xbfFree \xc3\xa9")
    parts = as_parts([root / name for name in ("cat.png", "bill.PDF", "note.md", "sound.mp3", "LICENSE")])
    assert parts == (
        ImagePart(name="cat.png", media_type="image/png", data=b64encode(PNG).decode()),
        FilePart(name="bill.PDF", media_type="application/pdf", data=b64encode(PDF).decode()),
        TextPart(name="note.md", text="# Note\n"),
        FilePart(name="sound.mp3", media_type="audio/mpeg", data=b64encode(b"ID3").decode()),
        TextPart(name="LICENSE", text="Free é"),
    )


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("gone.png", None, r"cannot be read \(No such file or directory\); name a file"),
        (".", None, r"cannot be read \(Is a directory\); name a file"),
        ("a\0b", None, "cannot be read .*null.*; name a file"),
        ("empty.md", b"", "is empty; name a file with something in it"),
        ("photo.png", b"\xff\xd8\xff\xe0", "does not hold image/png, as its name says; give it its right name"),
        ("page.pdf", b"<html>", "does not hold application/pdf, as its name says"),
        ("data.bin", b"\x00\x01", r"is neither text in UTF-8 nor a file of a known kind: \.flac, \.gif"),
        ("latin.txt", b"caf\xe9", "is neither text in UTF-8 nor a file of a known kind"),
        ("big.txt", b"x" * (MOST_BYTES + 1), "is larger than 20 MB; send a part of it"),
    ],
)
def test_a_file_that_cannot_be_sent_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes | None, error: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=error) as caught:
        as_parts([tmp_path / name])
    assert repr(str(tmp_path / name)) in str(caught.value)


@pytest.mark.parametrize(
    ("part", "error"),
    [
        (ImagePart(name="a.png", media_type="image/png", data="no!"), "attachment 'a.png': its data is not base64"),
        (FilePart(name="a.pdf", media_type="application/pdf", data=""), "attachment 'a.pdf' is empty"),
        (TextPart(name="a.md", text="é" * MOST_BYTES), "attachment 'a.md' is larger than 20 MB"),
    ],
)
def test_a_part_that_a_program_made_is_held_to_the_same(part: InputPart, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        as_parts([part])


def test_a_part_is_stored_without_what_no_store_takes() -> None:
    assert as_parts([TextPart(name="\ud800", text="\ud83d\ude00 \udc00")]) == (
        TextPart(name="\ufffd", text="😀 \ufffd"),
    )


@pytest.mark.anyio
@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
async def test_the_same_bytes_are_sent_once_the_session_is_opened_again_and_the_files_are_gone(
    tmp_path: Path, wire: str
) -> None:
    """O-17, Y-9, Y-12: the journal alone is enough; the hash in it is that of the bytes on the socket."""
    async with FakeModelServer(["A cat.", "Still a cat.", "And then?"]) as server:
        root = make(tmp_path, url=server.base_url, wire=wire)
        files = [root / "cat.png", root / "bill.PDF", root / "note.md"]
        async with oribi.open(root) as app:
            first = await app.run("ops", "What is it?", attachments=files)
        for file in files:
            file.unlink()
        async with oribi.open(root) as app:
            second = await app.run("ops", "Sure?", session_id=first.session_id)
        async with oribi.open(root) as app:
            await app.run("ops", "Well.", session_id=first.session_id)
            records = app.records(first.session_id)
    assert (first.end, second.end) == (Completed(text="A cat."), Completed(text="Still a cat."))
    assert [request.broken for request in server.requests] == [(), (), ()]
    bodies = [request.body for request in server.requests]
    assert all(b64encode(content) in body for body in bodies for content in (PNG, PDF))
    inputs = bodies[0].partition(b"What is it?")[0].rpartition(b64encode(PDF))[0]
    assert all(body.startswith(inputs) for body in bodies)
    import hashlib

    asked = [record.event.request for record in records if isinstance(record.event, ModelAsked)]
    assert [one.sha256 for one in asked] == [hashlib.sha256(body).hexdigest() for body in bodies]


@pytest.mark.anyio
async def test_a_large_attachment_is_stored_once_and_apart(tmp_path: Path) -> None:
    """A session that gets the same file twice holds it once; the views show what the person wrote."""
    import sqlite3

    root = make(tmp_path, model="scripted:ops.json")
    (root / ".oribi" / "ops.json").write_text(json.dumps({"replies_tail": {"text": "You said: {input}"}}))
    async with oribi.open(root) as app:
        first = await app.run("ops", "Look.", attachments=[root / "cat.png"])
        again = await app.run("ops", "Again.", session_id=first.session_id, attachments=[root / "cat.png"])
        inputs = [event.input for event in started(app, first.session_id)]
    assert again.end == Completed(text="You said: Again.")
    assert [(one.text, one.parts) for one in inputs] == [(text, inputs[0].parts) for text in ("Look.", "Again.")]
    connection = sqlite3.connect(root / ".oribi" / "oribi.db")
    data = b64encode(PNG)
    assert connection.execute("SELECT count(*) FROM blobs WHERE CAST(body AS BLOB) = ?", (data,)).fetchall() == [(1,)]
    sizes = connection.execute("SELECT max(length(payload)) FROM events WHERE type = 'TurnStarted'").fetchone()
    said = connection.execute("SELECT content FROM messages WHERE role = 'user' ORDER BY seq").fetchall()
    connection.close()
    assert sizes[0] < len(data)
    assert said == [("Look.",), ("Again.",)]


@pytest.mark.anyio
async def test_what_the_model_cannot_take_is_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    root = make(tmp_path, wire="anthropic")
    sound = FilePart(name="a.mp3", media_type="audio/mpeg", data="SUQz")
    async with oribi.open(root) as app:
        with pytest.raises(ConfigError, match=r"'a.mp3' \(audio/mpeg\) cannot be sent to 'fake:m', which takes text"):
            await app.run("ops", "Listen.", attachments=[sound])
        with pytest.raises(ConfigError, match="does-not-exist"):
            await app.run("ops", "Look.", attachments=[root / "does-not-exist.png"])
        with pytest.raises(ConfigError, match=r"cannot be sent"):
            async with app.stream("ops", "Listen.", attachments=[replace(sound, name="b.mp3")]) as stream:
                [_ async for _ in stream]
        assert app.sessions() == []


@pytest.mark.anyio
async def test_a_session_with_an_image_goes_on_with_a_model_that_sees_none(tmp_path: Path) -> None:
    async with FakeModelServer(["A cat.", "I cannot see it."]) as server:
        root = make(tmp_path, url=server.base_url)
        async with oribi.open(root) as app:
            first = await app.run("ops", "What is it?", attachments=[root / "cat.png"])
        settings = SETTINGS.format(url=server.base_url, wire="openai-chat") + "dialect = { media = false }\n"
        (root / ".oribi" / "oribi.toml").write_text(settings)
        async with oribi.open(root) as app:
            second = await app.run("ops", "Sure?", session_id=first.session_id)
    assert second.end == Completed(text="I cannot see it.")
    seen: list[dict[str, Any]] = json.loads(server.requests[1].body)["messages"]
    assert seen[1]["content"][0]["text"] == "['cat.png' (image/png) was attached here; it cannot be shown to you]"
    assert server.requests[1].broken == ()
