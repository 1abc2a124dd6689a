"""A journal on a network file system is refused by name; what one host has for itself is not (G11)."""

import os
import subprocess
from pathlib import Path

import pytest

from oribi.core.errors import JournalError
from oribi.journal import filesystem
from oribi.journal.filesystem import Mount, mount_of, require_local
from oribi.journal.sqlite import SqliteJournal

MOUNTS = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
40 27 0:40 / /home rw,relatime shared:2 - nfs4 files:/export/home rw,vers=4.2,addr=192.0.2.1
41 40 254:1 / /home/ann/local rw,relatime - xfs /dev/vdb rw
42 27 0:42 / /homes rw - btrfs /dev/vdc rw
43 27 0:43 / /mnt/with\\040space rw - fuse.sshfs ann@host:/srv rw,user_id=1000
44 27 0:44 / /twice rw - nfs old:/ rw
45 44 0:45 / /twice rw - tmpfs tmpfs rw
46 27 0:46 / /share rw master:3 propagate_from:2 - cifs //nas/share rw,vers=3.0
47 27 0:47 / /vm rw - 9p root rw,trans=virtio
48 27 0:48 / /far rw - 9p 192.0.2.9 rw,trans=tcp,port=564
49 27 0:49 / /kata rw - virtiofs kataShared rw
50 27 0:50 / /box rw - overlay overlay rw,lowerdir=/a
a line that is none
"""


def parent(path: Path) -> Path:
    return path.parent


@pytest.mark.parametrize(
    ("path", "type_"),
    [
        ("/srv/oribi.db", "ext4"),
        ("/home/ann/.oribi/oribi.db", "nfs4"),
        ("/home/ann/local/.oribi/oribi.db", "xfs"),
        ("/homes/ann/oribi.db", "btrfs"),
        ("/mnt/with space/oribi.db", "fuse.sshfs"),
        ("/twice/oribi.db", "tmpfs"),
        ("/share/deep/oribi.db", "cifs"),
        ("/vm/oribi.db", "9p"),
    ],
)
def test_the_mount_that_a_path_is_on_is_found(path: str, type_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "_existing", parent)
    mount = mount_of(Path(path), mounts=MOUNTS)
    assert mount is not None
    assert mount.type == type_


@pytest.mark.parametrize("point", ["/home", "/mnt/with space", "/share", "/far"])
def test_g11_a_network_file_system_is_refused_by_name_and_with_the_remedy(
    point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mountinfo text says that the folder of this test is on one."""
    line = next(line for line in MOUNTS.splitlines() if f" {point.replace(' ', chr(92) + '040')} " in line)
    moved = line.replace(line.split(" ")[4], str(tmp_path).replace(" ", "\\040"))
    mounts = tmp_path / "mountinfo"
    mounts.write_text(moved + "\n")
    monkeypatch.setattr(filesystem, "_MOUNTS", mounts)
    type_, source = moved.partition(" - ")[2].split(" ")[:2]
    path = tmp_path / "not-there-yet" / "oribi.db"
    with pytest.raises(JournalError) as caught:
        require_local(path)
    for part in (str(path), f"network file system ({type_} of {source}, mounted at {tmp_path})", "local disk"):
        assert part in str(caught.value)
    path.parent.mkdir()
    with pytest.raises(JournalError, match="network file system"):
        SqliteJournal(path)
    assert list(path.parent.iterdir()) == []  # nothing was made there


@pytest.mark.parametrize("type_", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "virtiofs", "apfs", "fuseblk"])
def test_what_one_host_has_for_itself_is_not_refused(type_: str) -> None:
    assert not Mount(type=type_, point="/").is_network


def test_9p_is_refused_over_a_network_only() -> None:
    assert not Mount(type="9p", point="/", options=("rw", "trans=virtio")).is_network
    assert not Mount(type="9p", point="/", options=("rw", "trans=fd")).is_network
    assert Mount(type="9p", point="/", options=("rw", "trans=tcp")).is_network


def test_a_link_is_followed_to_where_the_journal_would_be(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (tmp_path / "link").symlink_to(there)
    mounts = f"1 0 0:1 / / rw - ext4 d rw\n2 1 0:2 / {there.resolve()} rw - nfs files:/ rw\n"
    mount = mount_of(tmp_path / "link" / "oribi.db", mounts=mounts)
    assert mount is not None
    assert mount.is_network


def test_this_machine_is_understood(tmp_path: Path) -> None:
    """The real list of mounts: the journal of a test is on the mount that the kernel says it is on."""
    mount = mount_of(tmp_path / "oribi.db")
    assert mount is not None
    assert os.stat(mount.point).st_dev == tmp_path.stat().st_dev  # noqa: PTH116 - the point of a mount, as it is
    require_local(tmp_path / "oribi.db")


def test_without_the_list_of_mounts_the_kernel_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "_MOUNTS", tmp_path / "none")
    assert mount_of(tmp_path / "oribi.db") is None  # not one of those that are refused
    magic = subprocess.run(["stat", "-f", "-c", "%t", str(tmp_path)], capture_output=True, text=True, check=True)
    monkeypatch.setitem(filesystem.MAGIC, int(magic.stdout, 16), "nfs")
    with pytest.raises(JournalError, match="network file system"):
        require_local(tmp_path / "oribi.db")
