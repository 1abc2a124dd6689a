"""A workspace on a small disk of its own, in a mount namespace: what the command line says and keeps. Prints JSON."""

import json
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
OUTCOMES: list[dict[str, object]] = []


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments, str(root)], check=True)


def oribi(*arguments: str) -> None:
    command = [sys.executable, "-m", "oribi", "--workspace", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    OUTCOMES.append({"code": done.returncode, "out": done.stdout, "err": done.stderr})


mount("-t", "tmpfs", "-o", "size=600k", "tmpfs")
agent = root / ".oribi" / "agents" / "ops" / "AGENT.md"
agent.parent.mkdir(parents=True)
agent.write_text("---\nname: ops\nmodel: scripted:ops.json\ntools: [list_dir, read_file]\n---\nYou are ops.\n")
(root / "notes.txt").write_text("All is well.\n")
calls = [{"calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]} for _ in range(3)]
(root / ".oribi" / "ops.json").write_text(json.dumps({"replies": [{"text": "one"}, *calls, {"text": "two"}]}))

oribi("run", "--agent", "ops", "--session", "kept", "first")
filler = root / "filler"
try:
    with filler.open("wb") as out:
        while True:
            out.write(bytes(1024))
            out.flush()
except OSError:
    pass
oribi("run", "--agent", "ops", "--session", "kept", "second")
oribi("trace", "kept", "--json")
filler.unlink()
oribi("run", "--agent", "ops", "--session", "kept", "second")
mount("-o", "remount,ro")
oribi("run", "--agent", "ops", "--session", "kept", "third")
oribi("trace", "kept", "--json")
print(json.dumps(OUTCOMES))
