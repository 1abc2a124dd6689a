"""`oribi db`: what it prints, where, and with which exit code."""

from pathlib import Path

import apsw

from oribi.journal.database import execute
from oribi.journal.sqlite import SqliteJournal
from tests.cli.program import Program

SCRIPT = "replies:\n- text: one\n- text: two\n"


def sql(program: Program, statement: str) -> None:
    connection = apsw.Connection(str(program.home / "oribi.db"))
    execute(connection, statement)
    connection.close()


def test_check_backup_and_vacuum_of_a_real_workspace(program: Program) -> None:
    program.set_up(SCRIPT)
    assert program.run("run", "--session", "s1", "hi").code == 0
    checked = program.run("db", "check")
    assert (checked.code, checked.out.splitlines()[-1]) == (0, "no problems")
    made = program.run("db", "backup")
    assert made.code == 0
    copy = SqliteJournal(Path(made.out.strip()), read_only=True)
    assert [row.session_id for row in copy.sessions()] == ["s1"]
    copy.close()
    again = program.run("db", "backup", "--to", made.out.strip())
    assert (again.code, again.out) == (3, "")
    assert "nothing was overwritten" in again.err
    shrunk = program.run("db", "vacuum", "--json").json
    assert shrunk["bytes_after"] <= shrunk["bytes_before"]
    assert program.run("db", "migrate").out.endswith("already; nothing to do\n")


def test_check_of_an_edited_journal_says_so_and_exits_with_1(program: Program) -> None:
    program.set_up(SCRIPT)
    program.run("run", "--session", "s1", "hi")
    sql(program, "UPDATE events SET payload = replace(payload, 'one', 'two') WHERE type = 'ModelReplied'")
    checked = program.run("db", "check", "--json")
    assert checked.code == 1
    assert "session s1: record" in checked.json["problems"][0]


def test_prune_deletes_only_when_told_to(program: Program) -> None:
    program.set_up(SCRIPT)
    program.run("run", "--session", "s1", "hi")
    assert program.run("db", "prune", "--older", "1", "--yes", "--json").json["sessions"] == []
    planned = program.run("db", "prune", "--older", "0", "--dry-run")
    assert (planned.code, planned.out.splitlines()[1].split()[0]) == (0, "s1")
    assert "would be deleted" in planned.err
    unasked = program.run("db", "prune", "--older", "0")
    assert unasked.code == 2
    assert "--yes" in unasked.err
    assert [row["session_id"] for row in program.run("sessions", "list", "--json").json] == ["s1"]
    done = program.run("db", "prune", "--older", "0", "--yes")
    assert done.code == 0
    assert "1 session" in done.err
    assert program.run("sessions", "list", "--json").json == []
