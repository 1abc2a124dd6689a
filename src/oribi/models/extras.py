"""Models from optional packages: `local:` files, and the providers that a library reaches for us.

Nothing here imports such a package until an agent chooses a model that needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from oribi.core.messages import ModelChoice
from oribi.models.foreign import PROVIDERS, ForeignModels
from oribi.models.local import PROVIDER as LOCAL
from oribi.models.local import LocalModels, LocalOptions
from oribi.models.via_pydantic_ai import WIRE
from oribi.ports import Model

EXTRA_WIRES: Final[Mapping[str, str]] = {LOCAL: "openai-chat", **dict.fromkeys(PROVIDERS, WIRE)}
"""Providers that need an extra package, and the wire that their `ModelChoice` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraModels:
    """The models of `EXTRA_WIRES` for one application. `makers` is for `HttpModels`. Close it when done."""

    makers: Mapping[str, Callable[[ModelChoice], Model]]
    local: LocalModels = field(repr=False)
    foreign: ForeignModels = field(repr=False)

    async def close(self) -> None:
        """Stop the local servers, and close the connections to the providers."""
        await self.local.close()
        await self.foreign.close()


def extra_models(
    folder: Path,
    secret: Callable[[str], str | None],
    *,
    configured: Collection[str] = (),
    local: LocalOptions | None = None,
    idle_seconds: float = 120.0,
) -> ExtraModels:
    """The models from optional packages, by provider.

    Model files are named relative to `folder`. `secret` gives the value of an environment variable, or None. Providers
    in `configured` are left out: a person has said in oribi.toml where they are and which wire they speak.
    """
    local_models = LocalModels(folder, local, idle_seconds=idle_seconds)
    foreign = ForeignModels(secret, idle_seconds=idle_seconds)
    makers: dict[str, Callable[[ModelChoice], Model]] = {LOCAL: local_models.get}
    makers |= dict.fromkeys(PROVIDERS, foreign.get)
    return ExtraModels(
        makers={name: make for name, make in makers.items() if name not in configured},
        local=local_models,
        foreign=foreign,
    )
