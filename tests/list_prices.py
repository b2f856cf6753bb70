"""Writes drift/http/list_prices.json from genai-prices, as `make prices` does.

The file has the shape of PRICES, so that one code reads both. The package is not deployed: loading
it takes 0.4 seconds of processor time, and a search looks for two models of its 1,800.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ClauseEquals, ClauseOr, ModelInfo, TieredPrices

from drift.http.wiring import LIST_PRICES

NAMES = re.compile(
    r"(gpt-(4o|4\.1|5(\.\d)?)(-mini|-nano|-sol|-terra|-luna)?|text-embedding-3-(small|large))"
    r"(-\d{4}-\d\d-\d\d)?"
)
"""Models that a search can use, and their dated names."""
KINDS = {
    "input_mtok": "prompt",
    "cache_read_mtok": "cached",
    "cache_write_mtok": "cache_write",
    "output_mtok": "completion",
}


def models(day: datetime) -> dict[str, dict[str, float]]:
    """Return the prices of a day by the names that the list has for a model word for word."""
    (openai,) = (one for one in get_snapshot().providers if one.id == "openai")
    found = {}
    for model in openai.models:
        found |= dict.fromkeys(_names(model), _price(model, day))
    return dict(sorted(found.items()))


def _names(model: ModelInfo) -> list[str]:
    clauses = model.match.or_ if isinstance(model.match, ClauseOr) else [model.match]
    words = [one.equals for one in clauses if isinstance(one, ClauseEquals)]
    return list(filter(NAMES.fullmatch, words))


def _price(model: ModelInfo, day: datetime) -> dict[str, float]:
    """Return a price; where longer prompts cost more, that of shorter ones."""
    price: dict[str, float] = {}
    for name, kind in KINDS.items():
        amount: Any = getattr(model.get_prices(day), name, None)
        if isinstance(amount, TieredPrices):
            price["longest_prompt"] = amount.tiers[0].start
            amount = amount.base
        if amount is not None:
            price[kind] = float(amount)
    return price


if __name__ == "__main__":
    today = datetime.now(UTC)
    rows = ",\n".join(f"  {json.dumps(n)}: {json.dumps(p)}" for n, p in models(today).items())
    head = f'"currency": "USD", "date": "{today:%Y-%m-%d}"'
    LIST_PRICES.write_text(f'{{{head}, "models": {{\n{rows}\n}}}}\n', encoding="utf-8")
