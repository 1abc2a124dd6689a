"""The audit: what is edited, missing, out of order or cut off is named, by a script that stands alone."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oribi.core.calls import SessionId
from oribi.core.errors import JournalError, OribiError
from oribi.journal import verify_journal
from oribi.journal.audit import export_lines, write_anchor
from oribi.journal.sqlite import SqliteJournal
from oribi.journal.verify_journal import read_anchors, report_text, verify
from tests.journal.audited import SESSIONS, copy_of, go_on, places, record, rows_of, tamper

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audit") / "oribi.db"
    anyio.run(record, path)
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    return copy_of(original, tmp_path)


def script(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The verifier by itself: without our package, without any site packages."""
    source = Path(verify_journal.__file__)
    command = [sys.executable, "-I", "-S", str(source), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_an_untouched_journal_verifies(path: Path) -> None:
    report = verify(path)
    assert (report.sessions, report.rows, report.findings) == (2, 2 * rows_of(path), [])
    assert script(str(path)).stdout == report_text(report)


COLUMNS = {
    "turn_id": st.sampled_from(["t9", "t2x", ""]),
    "type": st.sampled_from(["InterruptAsked", "ModelReplied "]),
    "version": st.sampled_from([0, 2, 99]),
    "at": st.integers(0, 1_000),
    "payload": st.sampled_from(["{}", '{"text":"x"}', "not JSON", ""]),
    "prev_hash": st.binary(min_size=32, max_size=32),
    "hash": st.binary(min_size=0, max_size=32),
    "erased": st.binary(min_size=32, max_size=32),
}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_edit_deletion_exchange_or_truncation_is_named(original: Path, tmp_path: Path, data: st.DataObject) -> None:
    """G6: at its row, in its session, and nowhere else; and the runtime refuses to read what the audit names."""
    path = copy_of(original, tmp_path)
    count = rows_of(path)
    name = data.draw(st.sampled_from(SESSIONS))
    seq = data.draw(st.integers(1, count))
    match data.draw(st.sampled_from(["edit", "delete", "swap", "truncate", "insert", "move"])):
        case "edit":
            column = data.draw(st.sampled_from(sorted(COLUMNS)))
            value = data.draw(COLUMNS[column])
            tamper(path, f"UPDATE events SET {column} = ? WHERE session_id = ? AND seq = ?", value, name, seq)  # noqa: S608
            wanted = seq
        case "delete":
            tamper(path, "DELETE FROM events WHERE session_id = ? AND seq = ?", name, seq)
            wanted = seq
        case "swap":
            other = data.draw(st.integers(1, count).filter(lambda each: each != seq))
            for was, now in ((seq, -1), (other, seq), (-1, other)):
                tamper(path, "UPDATE events SET seq = ? WHERE session_id = ? AND seq = ?", now, name, was)
            wanted = min(seq, other)
        case "truncate":
            tamper(path, "DELETE FROM events WHERE session_id = ? AND seq >= ?", name, seq)
            wanted = seq
        case "insert":
            tamper(
                path,
                "INSERT INTO events SELECT session_id, ?, turn_id, type, version, at, payload, prev_hash, hash, erased "
                "FROM events WHERE session_id = ? AND seq = ?",
                count + 1,
                name,
                seq,
            )
            wanted = count + 1
        case _:
            other = "s2" if name == "s1" else "s1"
            tamper(path, "DELETE FROM events WHERE session_id = ? AND seq = ?", other, seq)
            tamper(path, "UPDATE events SET session_id = ? WHERE session_id = ? AND seq = ?", other, name, seq)
            found = places(verify(path))
            assert sorted(found) == [("s1", seq), ("s2", seq)]
            return
    assert places(verify(path)) == [(name, wanted)]
    journal = SqliteJournal(path, read_only=True)
    with pytest.raises(OribiError):
        journal.read(SessionId(name))
    assert len(journal.read(SessionId("s2" if name == "s1" else "s1"))) == count
    journal.close()


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("UPDATE blobs SET body = body || 'x'", "edited content"),
        ("DELETE FROM blobs", "missing content"),
        ("DELETE FROM session_heads WHERE id = 's1'", "missing head"),
        ("UPDATE session_heads SET head = zeroblob(32) WHERE id = 's1'", "wrong head"),
        ("UPDATE session_heads SET seq = seq - 1 WHERE id = 's1'", "wrong head"),
        ("UPDATE turns SET turn_end = 'MaxSteps' WHERE session_id = 's1'", "wrong index"),
        ("DELETE FROM turns WHERE session_id = 's1'", "wrong index"),
        ("INSERT INTO turns VALUES ('s1', 't9', 'ops', 1, 1, NULL, NULL, '')", "wrong index"),
        ("DELETE FROM events WHERE session_id = 's1'", "truncated"),
    ],
)
def test_what_hangs_on_the_chain_is_checked_too(path: Path, sql: str, kind: str) -> None:
    tamper(path, sql)
    assert {finding.kind for finding in verify(path).findings} == {kind}
    alone = script(str(path))
    assert (alone.returncode, alone.stdout) == (1, report_text(verify(path)))


def test_a_chain_cut_off_or_rewritten_with_its_head_is_found_by_an_anchor(path: Path, tmp_path: Path) -> None:
    """Whoever can rewrite the whole file can make it consistent; not with what was written down elsewhere."""
    anchor = tmp_path / "elsewhere"
    assert write_anchor(path, anchor, at="2026-01-01T00:00:00+00:00") == 2
    anchors = read_anchors(anchor)
    assert verify(path, anchors).findings == []
    count = rows_of(path)
    tamper(path, "DELETE FROM events WHERE session_id = 's1' AND seq = ?", count)
    tamper(path, "UPDATE session_heads SET seq = ?, head = (SELECT hash FROM events WHERE session_id = 's1' "
           "ORDER BY seq DESC LIMIT 1) WHERE id = 's1'", count - 1)  # fmt: skip
    tamper(path, "UPDATE turns SET turn_end = NULL WHERE session_id = 's1' AND turn_id = 't2'")
    assert verify(path).findings == [], "by itself the file tells nothing"
    assert places(verify(path, anchors)) == [("s1", count)]
    assert script(str(path), "--anchor", str(anchor)).returncode == 1
    tamper(path, "DELETE FROM events WHERE session_id = 's1'")
    tamper(path, "DELETE FROM turns WHERE session_id = 's1'")
    tamper(path, "DELETE FROM session_heads WHERE id = 's1'")
    assert [finding.kind for finding in verify(path, anchors).findings] == ["missing session"]


def test_an_anchor_that_was_edited_is_refused(path: Path, tmp_path: Path) -> None:
    anchor = tmp_path / "elsewhere"
    write_anchor(path, anchor, at="2026-01-01T00:00:00+00:00")
    anchor.write_text(anchor.read_text().replace("2026", "2025"))
    with pytest.raises(ValueError, match=r"line 1 .* is no anchor"):
        read_anchors(anchor)
    assert script(str(path), "--anchor", str(anchor)).returncode == 2


async def test_a_journal_that_goes_on_still_fits_its_anchors(path: Path, tmp_path: Path) -> None:
    anchor = tmp_path / "elsewhere"
    write_anchor(path, anchor, at="2026-01-01T00:00:00+00:00")
    await go_on(path)
    write_anchor(path, anchor, at="2026-01-02T00:00:00+00:00")
    assert verify(path, read_anchors(anchor)).findings == []


def test_an_export_verifies_as_the_database_does(path: Path, tmp_path: Path) -> None:
    export = tmp_path / "export.jsonl"
    export.write_text("".join(export_lines(path, [])))
    assert verify(export) == verify(path)
    one = tmp_path / "one.jsonl"
    one.write_text("".join(export_lines(path, ["s2"])))
    assert (verify(one).sessions, verify(one).findings) == (1, [])
    lines = export.read_text().splitlines()
    at = next(index for index, line in enumerate(lines) if json.loads(line)["kind"] == "event" and index > 3)
    export.write_text("\n".join([*lines[:at], lines[at].replace('"at":', '"at":1'), *lines[at + 1 :]]))
    assert script(str(export)).returncode == 1
    with pytest.raises(JournalError, match="no session 'nope'"):
        list(export_lines(path, ["nope"]))


def test_what_is_no_journal_cannot_be_verified(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("something else")
    for arguments in ([str(tmp_path / "x")], [str(tmp_path / "gone")], [], ["a", "b", "c"]):
        done = script(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
