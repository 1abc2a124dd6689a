"""What models cost, from the bundled price list of genai-prices."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens; None where the list does not say. Prices with tiers show the first tier."""

    input: Decimal | None
    output: Decimal | None
    cached_input: Decimal | None


def price_of(provider: str, model: str, at: datetime) -> Price | None:
    """The listed price of a model at a time (with a zone), None when the list does not know it, as for local models."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    prices = found.get_prices(at)
    return Price(
        input=_first_tier(prices.input_mtok),
        output=_first_tier(prices.output_mtok),
        cached_input=_first_tier(prices.cache_read_mtok),
    )


def _first_tier(price: object) -> Decimal | None:
    base = getattr(price, "base", price)
    return base if isinstance(base, Decimal) else None
