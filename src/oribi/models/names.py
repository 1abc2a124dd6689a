"""Tool names on the wire: providers take letters, digits, `_` and `-`, at most 64; ours may be `server/tool`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

from oribi.core.calls import ToolSpec

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
UNFIT: Final = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class WireNames:
    """The names of one catalogue, both ways. They do not depend on the order of its tools."""

    to_wire: dict[str, str]
    from_wire: dict[str, str]

    @classmethod
    def of(cls, tools: Sequence[ToolSpec]) -> Self:
        """The names for `tools`: a fit name stays, an unfit one is changed, with a hash where two would meet."""
        names = {tool.name for tool in tools}
        to_wire = {name: name for name in names if NAME.fullmatch(name)}
        taken = Counter(fit_name(name) for name in names)
        for name in names - to_wire.keys():
            fit = fit_name(name)
            to_wire[name] = fit if taken[fit] == 1 else _hashed(fit, name)
        return cls(to_wire=to_wire, from_wire={fit: name for name, fit in to_wire.items()})

    def wire(self, name: str) -> str:
        """How `name` is written on the wire; also for a tool that is gone or never was."""
        return self.to_wire.get(name) or fit_name(name)

    def ours(self, name: str) -> str:
        """The tool that the model means by `name`; a name that is not in the catalogue is kept as it came."""
        return self.from_wire.get(name, name)


def fit_name(name: str) -> str:
    """`name` as every wire accepts it: `server/tool` becomes `server__tool`, other odd characters `_`."""
    fit = UNFIT.sub("_", name.replace("/", "__"))
    return _hashed(fit, name) if len(fit) > LONGEST else fit or "unnamed"


def _hashed(fit: str, name: str) -> str:
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{fit[: LONGEST - 11]}_{digest}"
