"""The audit: what is edited, missing, out of order or cut off is named, by a script that stands alone."""

import dataclasses
import json
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oribi.core.calls import CallId, Json, SessionId, ToolCall
from oribi.core.ends import TurnEnd
from oribi.core.errors import JournalError, OribiError
from oribi.core.events import AnswerChecked, Event, ModelAsked, ModelReplied
from oribi.core.messages import Reply
from oribi.journal import verify_journal
from oribi.journal.audit import export_lines, write_anchor
from oribi.journal.prune import prune
from oribi.journal.sqlite import SqliteJournal
from oribi.journal.verify_journal import read_anchors, report_text, verify
from tests.journal.audited import (
    SESSIONS,
    append,
    copy_of,
    go_on,
    leave_last_turn_open,
    places,
    record,
    rows_of,
    tamper,
)
from tests.samples import REFERENCE, SAMPLES

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
    "turn_id": st.sampled_from(["t9", "t2x", "", b"t1"]),
    "type": st.sampled_from(["InterruptAsked", "ModelReplied ", b"ModelReplied"]),
    "version": st.sampled_from([0, 2, 99]),
    "at": st.integers(0, 1_000),
    "payload": st.sampled_from(["{}", '{"text":"x"}', "not JSON", "", b"{}"]),
    "prev_hash": st.binary(min_size=32, max_size=32).filter(any),  # zeros are what stands in the first row
    "hash": st.binary(min_size=0, max_size=32),
    "erased": st.binary(min_size=32, max_size=32) | st.just("a text"),
}


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    count = leave_last_turn_open(path)
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


def test_a_turn_that_is_none_is_told_from_an_empty_one(path: Path) -> None:
    tamper(path, "UPDATE events SET turn_id = '' WHERE session_id = 's1' AND seq = 1")
    tamper(path, "UPDATE events SET turn_id = CAST(turn_id AS BLOB) WHERE session_id = 's2' AND seq = 2")
    assert places(verify(path)) == [("s1", 1), ("s2", 2)]


def test_a_row_edited_with_its_hash_breaks_the_chain_behind_it(path: Path) -> None:
    last = rows_of(path)
    for name, seq in (("s1", 3), ("s2", last)):
        row = _row(path, name, seq)
        edited = dataclasses.replace(row, at=row.at + 1)
        statement = "UPDATE events SET at = ?, hash = ? WHERE session_id = ? AND seq = ?"
        tamper(path, statement, edited.at, verify_journal.row_hash(edited), name, seq)
    assert [(each.session_id, each.seq, each.kind) for each in verify(path).findings] == [
        ("s1", 4, "reordered"),
        ("s2", last, "wrong head"),
    ]
    journal = SqliteJournal(path, read_only=True)
    with pytest.raises(JournalError, match="record 4 was edited"):
        journal.read(SessionId("s1"))
    journal.close()


def _row(path: Path, session_id: str, seq: int) -> verify_journal.Row:
    source = verify_journal.Database(path)
    [session] = [each for each in source.sessions() if each.session_id == session_id]
    [found] = [row for row in session.rows if row.seq == seq]
    source.close()
    return found


def test_a_text_that_is_no_text_any_more_is_an_edit(path: Path) -> None:
    """Bytes that are no UTF-8, and bytes in the place of a text, are named like any edit; nothing stops the audit."""
    tamper(path, "UPDATE events SET payload = CAST(payload AS BLOB) WHERE session_id = 's1' AND seq = 2")
    tamper(path, "UPDATE events SET payload = CAST(X'7B22FF227D' AS TEXT) WHERE session_id = 's2' AND seq = 3")
    assert places(verify(path)) == [("s1", 2), ("s2", 3)]
    assert script(str(path)).returncode == 1
    journal = SqliteJournal(path, read_only=True)
    for name in SESSIONS:
        with pytest.raises(JournalError, match="was edited"):
            journal.read(SessionId(name))
    journal.close()


def test_the_audit_sees_one_moment_while_others_write(path: Path) -> None:
    source = verify_journal.Database(path)
    first = next(source.sessions())
    program = f"import anyio, pathlib, tests.journal.audited as it; anyio.run(it.go_on, pathlib.Path({str(path)!r}))"
    root = Path(__file__).parent.parent.parent
    subprocess.run([sys.executable, "-c", program], check=True, cwd=root, capture_output=True)
    assert first.head is not None
    assert len(list(first.rows)) == first.head[0]
    source.close()
    assert rows_of(path) > first.head[0]
    assert verify(path).findings == []


async def test_what_a_model_or_a_user_wrote_is_never_taken_for_a_reference(path: Path) -> None:
    """Otherwise a model could make a journal look damaged."""
    nasty: dict[str, Json] = {"$text": "0" * 64, "deep": [{"$json": "0" * 64}], "more": {"$erasable": "0" * 64}}
    call = ToolCall(id=CallId("c1"), name="look", arguments={"deep": nasty})
    replied = ModelReplied(step=1, attempt=1, reply=Reply(text="", calls=(call,)))
    asked = ModelAsked(step=1, attempt=1, request=REFERENCE)
    await append(path, "s3", *SAMPLES[:2], asked, replied, AnswerChecked(step=1, value=[nasty]))
    assert verify(path).findings == []


def test_the_verifier_knows_which_fields_hold_json_of_others() -> None:
    """The script cannot ask the codec, so its list is held against it here; no other field has such a name."""
    others: set[str] = set()
    found: set[str] = set()
    left: list[Any] = [*get_args(Event), *get_args(TurnEnd)]
    seen: set[Any] = set()
    while left:
        hint = left.pop()
        if hint in seen:
            continue
        seen.add(hint)
        if not is_dataclass(hint):
            left += get_args(getattr(hint, "__value__", hint))
            continue
        hints = get_type_hints(hint, localns={"Json": Json})
        for each in fields(hint):
            if each.metadata.get("erasable"):
                continue
            members = get_args(hints[each.name])
            is_json = any(get_origin(one) in {dict, list} for one in (hints[each.name], *members))
            (found if is_json else others).add(each.name)
            left += [] if is_json else [hints[each.name]]
    assert found == verify_journal.USERS_JSON
    assert not found & others


def test_two_anchors_of_one_row_are_both_held_against_it(path: Path, tmp_path: Path) -> None:
    """A chain rewritten between two anchors fits the second, and not the first."""
    anchor = tmp_path / "elsewhere"
    write_anchor(path, anchor, at="2026-01-01T00:00:00+00:00")
    [first] = read_anchors(anchor)
    other = {"s1": [first["heads"]["s1"][0], "ab" * 32]}
    edited = {"at": "2025", "heads": other, "sha256": verify_journal.anchor_hash("2025", other)}
    assert places(verify(path, [first, edited])) == places(verify(path, [edited, first])) == [("s1", rows_of(path))]


def test_an_anchor_cut_off_by_a_power_cut_does_not_spoil_the_next(path: Path, tmp_path: Path) -> None:
    anchor = tmp_path / "elsewhere"
    anchor.write_text('{"at":"2026')
    write_anchor(path, anchor, at="2026-01-01T00:00:00+00:00")
    assert len(anchor.read_text().splitlines()) == 2
    with pytest.raises(ValueError, match="line 1 of"):
        read_anchors(anchor)


def test_a_session_pruned_after_its_anchor_is_said_to_be(path: Path, tmp_path: Path) -> None:
    anchor = tmp_path / "elsewhere"
    write_anchor(path, anchor, at="2026-01-01T00:00:00+00:00")
    assert len(prune(path, before=2**62).sessions) == 2
    findings = verify(path, read_anchors(anchor)).findings
    assert [finding.kind for finding in findings] == ["missing session"] * 2
    assert "pruned.jsonl beside it says that it was pruned" in findings[0].message


def test_an_export_hides_nothing_that_is_wrong(path: Path, tmp_path: Path) -> None:
    tamper(path, "DELETE FROM session_heads WHERE id = 's1'")
    tamper(path, "UPDATE events SET payload = 'not JSON' WHERE session_id = 's2' AND seq = 4")
    export = tmp_path / "export.jsonl"
    export.write_text("".join(export_lines(path, [])))
    assert [(each.session_id, each.kind) for each in verify(export).findings] == [
        ("s1", "missing head"),
        ("s2", "edited"),
    ]


def test_rows_of_a_newer_version_ask_for_an_upgrade_and_lost_rows_for_a_backup(path: Path) -> None:
    last = rows_of(path)
    newer = dataclasses.replace(_row(path, "s1", last), version=2)
    statement = "UPDATE events SET version = 2, hash = ? WHERE session_id = 's1' AND seq = ?"
    tamper(path, statement, verify_journal.row_hash(newer), last)
    tamper(path, "DELETE FROM events WHERE session_id = 's2' AND seq = ?", last)
    journal = SqliteJournal(path, read_only=True)
    with pytest.raises(JournalError, match=rf"record {last} .* by a newer Oribi .* upgrade Oribi"):
        journal.read(SessionId("s1"))
    with pytest.raises(JournalError, match=rf"records {last} to {last} are missing at the end"):
        journal.read(SessionId("s2"))
    with pytest.raises(JournalError, match="are missing at the end"):
        journal.read(SessionId("s2"), after=last - 1)
    journal.close()
    assert [finding.kind for finding in verify(path).findings] == ["newer", "truncated"]


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("UPDATE session_heads SET erased_at = 1 WHERE id = 's1'", ("s1", 0, "wrong head")),
        ("UPDATE session_heads SET head = 'x' WHERE id = 's1'", ("s1", 14, "wrong head")),
        ("UPDATE session_heads SET seq = 'x' WHERE id = 's1'", ("s1", 14, "wrong head")),
        ("UPDATE turns SET agent = 'x' WHERE session_id = 's1' AND turn_id = 't1'", ("s1", 2, "wrong index")),
        ("UPDATE turns SET started_at = 1 WHERE session_id = 's1' AND turn_id = 't1'", ("s1", 2, "wrong index")),
        ("UPDATE turns SET ended_at = 1 WHERE session_id = 's1' AND turn_id = 't1'", ("s1", 2, "wrong index")),
        ("UPDATE events SET hash = CAST(hash AS TEXT) WHERE session_id = 's1' AND seq = 3", ("s1", 3, "edited")),
        (
            "UPDATE events SET payload = CAST(X'7B22FF227D' AS TEXT) WHERE session_id = 's1' AND seq = 3",
            ("s1", 3, "edited"),
        ),
        ("UPDATE blobs SET body = CAST(body AS BLOB)", ("s1", 2, "edited content")),
    ],
)
def test_what_is_wrong_in_any_column_is_named_in_an_export_too(
    path: Path, tmp_path: Path, sql: str, found: tuple[str, int, str]
) -> None:
    tamper(path, sql)
    export = tmp_path / "export.jsonl"
    export.write_text("".join(export_lines(path, [])))
    for report in (verify(path), verify(export)):
        first = report.findings[0]
        assert (first.session_id, first.seq, first.kind) == found
