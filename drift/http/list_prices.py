"""Pure: the packaged prices, those that OpenAI lists for its standard service.

From pydantic/genai-prices (MIT) as it was on `date`, prices/providers/openai.yml; docs/prices.md
says which of them a second list agrees with. Names are those that the list has for a model, each as
a provider reports it.
"""

from __future__ import annotations

from typing import Any, Final

from drift.search.prices import Prices

_LONG: Final = {"longest_prompt": 272_000}
"""Longer prompts cost more."""

_BY_NAMES: Final[dict[tuple[str, ...], dict[str, Any]]] = {
    ("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"): {
        "prompt": 2.5,
        "cached": 1.25,
        "completion": 10,
    },
    ("gpt-4o-mini", "gpt-4o-mini-2024-07-18"): {
        "prompt": 0.15,
        "cached": 0.075,
        "completion": 0.6,
    },
    ("gpt-4.1", "gpt-4.1-2025-04-14"): {"prompt": 2, "cached": 0.5, "completion": 8},
    ("gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"): {"prompt": 0.4, "cached": 0.1, "completion": 1.6},
    ("gpt-4.1-nano", "gpt-4.1-nano-2025-04-14"): {
        "prompt": 0.1,
        "cached": 0.025,
        "completion": 0.4,
    },
    ("gpt-5", "gpt-5-2025-08-07"): {"prompt": 1.25, "cached": 0.125, "completion": 10},
    ("gpt-5-mini", "gpt-5-mini-2025-08-07"): {"prompt": 0.25, "cached": 0.025, "completion": 2},
    ("gpt-5-nano", "gpt-5-nano-2025-08-07"): {"prompt": 0.05, "cached": 0.005, "completion": 0.4},
    ("gpt-5.1", "gpt-5.1-2025-11-13"): {"prompt": 1.25, "cached": 0.125, "completion": 10},
    ("gpt-5.2", "gpt-5.2-2025-12-11"): {"prompt": 1.75, "cached": 0.175, "completion": 14},
    ("gpt-5.4", "gpt-5.4-2026-03-05"): {
        "prompt": 2.5,
        "cached": 0.25,
        "completion": 15,
        **_LONG,
    },
    ("gpt-5.4-mini", "gpt-5.4-mini-2026-03-17"): {
        "prompt": 0.75,
        "cached": 0.075,
        "completion": 4.5,
    },
    ("gpt-5.4-nano", "gpt-5.4-nano-2026-03-17"): {
        "prompt": 0.2,
        "cached": 0.02,
        "completion": 1.25,
    },
    # This list has one price for all lengths, the second a higher one for long prompts.
    ("gpt-5.5", "gpt-5.5-2026-04-23"): {"prompt": 5, "cached": 0.5, "completion": 30, **_LONG},
    ("gpt-5.6", "gpt-5.6-sol"): {
        "prompt": 5,
        "cached": 0.5,
        "cache_write": 6.25,
        "completion": 30,
        **_LONG,
    },
    ("gpt-5.6-terra",): {
        "prompt": 2,
        "cached": 0.2,
        "cache_write": 2.5,
        "completion": 12,
        **_LONG,
    },
    ("gpt-5.6-luna",): {
        "prompt": 0.2,
        "cached": 0.02,
        "cache_write": 0.25,
        "completion": 1.2,
        **_LONG,
    },
    ("text-embedding-3-small",): {"prompt": 0.02},
    ("text-embedding-3-large",): {"prompt": 0.13},
}

LIST_PRICES: Final = Prices.model_validate(
    {
        "currency": "USD",
        "date": "2026-08-21",
        "models": {name: price for names, price in _BY_NAMES.items() for name in names},
    }
)
"""By name; read once, when the module is imported."""
