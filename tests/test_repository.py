"""What the checkout promises to a machine that has only Python, make and a package index."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-uv.lock"]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_index_and_no_machine(name: str) -> None:
    found = re.findall(r"^.*(?:://|file:|index-url|find-links|^/).*$", _read(name), re.MULTILINE)
    assert found == []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_every_package_with_a_hash(name: str) -> None:
    entries = re.findall(r"^[a-z0-9].*(?:\n {4}--hash.*)*", _read(name), re.MULTILINE)
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_users_and_developers_get_the_same_versions() -> None:
    assert _pins("requirements.lock").items() <= _pins("requirements-dev.lock").items()


def _pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9][\w.-]*)(?:\[.*\])?==(\S+)", _read(name), re.MULTILINE))


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
