"""What goes wrong with files, said so that a model can act on it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import NoReturn

from oribi.core.calls import Deny
from oribi.core.errors import OribiError


class FileError(OribiError):
    """A file tool cannot do what was asked; the text is for the model."""


class RefusedError(OribiError):
    """The jail forbids it; `deny` holds the rule and the reason."""

    def __init__(self, deny: Deny) -> None:
        super().__init__(deny.reason)
        self.deny = deny


class ChangedError(FileError):
    """A file was changed by someone else between reading and writing."""


def tell(error: OSError, path: str, suggest: Callable[[], str]) -> NoReturn:
    """Raise what `error`, met on the way to `path`, means; `suggest` adds what there is instead of a missing file.

    Raises:
        RefusedError: The way leads out of the jail, over a link, or to what is not a file.
        FileError: Anything else.

    """
    match error.errno:
        case errno.EXDEV:
            raise RefusedError(leads_out(path)) from error
        case errno.ELOOP:
            raise RefusedError(
                Deny(rule="files:link", reason=f"{path!r} is or passes a symbolic link that is not followed here")
            ) from error
        case errno.ENXIO:
            raise RefusedError(not_regular(path)) from error
        case errno.ENOENT:
            raise FileError(f"there is no {path!r}{suggest()}") from error
        case errno.ENOTDIR:
            raise FileError(f"a part of {path!r} is not a folder, or is a link that is not followed") from error
        case _:
            raise FileError(f"{path!r}: {error.strerror or error}") from error


def leads_out(path: str) -> Deny:
    """A symbolic link on the way to `path` leads out of the root."""
    return Deny(rule="files:outside", reason=f"{path!r} leads outside by a symbolic link; use a path without it")


def not_regular(path: str) -> Deny:
    """What stands at `path` must not be opened: it could block, or is no file at all."""
    return Deny(rule="files:special", reason=f"{path!r} is not a regular file (a pipe, socket or device)")
