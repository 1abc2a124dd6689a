"""A full or a read-only disk: a message that says what to do, an exit code, and nothing acknowledged is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_a_full_and_then_a_read_only_disk(tmp_path: Path) -> None:
    script = str(Path(__file__).parent / "small_disk.py")
    command = ["unshare", "--map-root-user", "--mount", sys.executable, script, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "unshare:" in run.stderr:
        pytest.skip(f"this machine allows no mount namespace: {run.stderr.strip()}")
    assert run.returncode == 0, run.stderr
    first, full, kept, again, read_only, still_kept = json.loads(run.stdout)
    assert (first["code"], first["out"]) == (0, "one\n")
    assert full["code"] == 3
    assert "the disk is full" in full["err"]
    assert "Traceback" not in full["err"] + read_only["err"]
    [turn] = [turn for turn in json.loads(kept["out"])["turns"] if turn["input"] == "first"]
    assert turn["text"] == "one"
    assert (again["code"], again["out"]) == (0, "two\n"), again["err"]
    assert read_only["code"] == 3
    assert "writable" in read_only["err"]
    assert still_kept["code"] == 0
    assert json.loads(still_kept["out"])["turns"][0]["text"] == "one"
