"""The file system under the database: one that several hosts can share is refused, because SQLite's log needs one host.

Refused is only what surely is a network file system. What a container or a virtual machine gets from its own host
(overlay, virtiofs, 9p over virtio or a pipe) is not: nobody else mounts the same memory there.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from oribi.core.errors import JournalError

NETWORK = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "openafs", "coda", "ceph", "glusterfs", "lustre"),
        *("beegfs", "gpfs", "orangefs", "pvfs2", "ocfs2", "gfs2", "pnfs", "acfs", "davfs", "webdav", "afpfs"),
        *("fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.goofys", "fuse.glusterfs", "fuse.ceph"),
        *("fuse.davfs", "fuse.curlftpfs", "fuse.juicefs", "fuse.cvmfs", "fuse.afp", "fuse.smbnetfs", "fuse.gvfsd-fuse"),
        *("fuse.beegfs", "fuse.lustre", "fuse.seaweedfs", "fuse.moosefs", "fuse.mfs", "fuse.lizardfs", "fuse.blobfuse"),
        *("fuse.blobfuse2", "fuse.mount-s3"),
    }
)
"""Types, as Linux names them, that several hosts can write at once."""

MAGIC = {
    0x6969: "nfs",
    0x517B: "smbfs",
    0xFF534D42: "cifs",
    0xFE534D42: "smb3",
    0x564C: "ncpfs",
    0x5346414F: "afs",
    0x6B414653: "afs",
    0x73757245: "coda",
    0x00C36400: "ceph",
    0x0BD00BD0: "lustre",
    0x19830326: "beegfs",
    0x47504653: "gpfs",
    0x7461636F: "ocfs2",
    0x01161970: "gfs2",
}
"""`f_type` of statfs for some of them, where the list of mounts cannot be read."""

_MOUNTS = Path("/proc/self/mountinfo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A mounted file system: its `type`, where it stands, what it comes from, and its options."""

    type: str
    point: str
    source: str = ""
    options: tuple[str, ...] = ()

    @property
    def is_network(self) -> bool:
        """Whether it surely is one that several hosts can share."""
        return self.type in NETWORK or (self.type == "9p" and bool({"trans=tcp", "trans=rdma"} & set(self.options)))


def require_local(path: Path) -> None:
    """Refuse a database `path`, which need not be there yet, on a network file system.

    Raises:
        JournalError: It is on one; the text names it and the remedy.

    """
    mount = mount_of(path)
    if mount is not None and mount.is_network:
        origin = f" of {mount.source}" if mount.source not in {"", "none"} else ""
        raise JournalError(
            f"the journal {path} would be on a network file system ({mount.type}{origin}, mounted at {mount.point}): "
            "its log works on one host only, and writes could be lost. Move the workspace to a local disk, "
            "or let ORIBI_HOME name a workspace on one"
        )


def mount_of(path: Path, *, mounts: str | None = None) -> Mount | None:
    """The file system on which `path` is or would be; None when it cannot be found out.

    `mounts` is the text of a mountinfo file (proc(5)), by default this process's own.
    """
    folder = _existing(path)
    if mounts is None:
        if sys.platform != "linux":
            return None
        try:
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return _by_magic(folder)
    return _by_prefix(str(folder), mounts)


def _existing(path: Path) -> Path:
    """The nearest folder above `path` that is there, without symbolic links."""
    resolved = path.resolve()
    return next((folder for folder in resolved.parents if folder.exists()), resolved)


def _by_prefix(folder: str, mounts: str) -> Mount | None:
    """The mount with the longest mount point around `folder`; of several at one place, the last hides the others."""
    found: Mount | None = None
    for line in mounts.splitlines():
        mount = _parse(line)
        if mount is None or (found is not None and len(mount.point) < len(found.point)):
            continue
        if folder == mount.point or folder.startswith(mount.point.rstrip("/") + "/"):
            found = mount
    return found


def _parse(line: str) -> Mount | None:
    """One line of mountinfo: `36 35 98:0 /root /point rw master:1 - type source rw,option`."""
    before, dash, after = line.partition(" - ")
    fields, rest = before.split(" "), after.split(" ")
    if not dash or len(fields) < 6 or len(rest) < 2:  # noqa: PLR2004 - the fields that every line has
        return None
    options = tuple(rest[2].split(",")) if len(rest) > 2 else ()  # noqa: PLR2004 - the third is the options
    return Mount(type=rest[0], point=_plain(fields[4]), source=_plain(rest[1]), options=options)


def _plain(text: str) -> str:
    r"""A name as it is: a space, tab, line break or backslash stands as `\040` and the like."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _by_magic(folder: Path) -> Mount | None:
    """By the number that statfs gives: its structure begins with the type, a C long, on every Linux but s390."""
    import ctypes
    import os

    buffer = (ctypes.c_long * 64)()
    if ctypes.CDLL(None, use_errno=True).statfs(os.fsencode(folder), buffer) != 0:
        return None
    name = MAGIC.get(buffer[0] & 0xFFFFFFFF)
    return None if name is None else Mount(type=name, point=str(folder))
