"""Pure: how near a node has to be to a question, as a raw cosine.

No number fits every model, so it is measured: as near as one of a hundred random pairs of the
project's own texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256

PAIRS = 2000
SHARE = 0.99
LEAST_TEXTS = 100
"""Of fewer texts the nearest pair of a hundred is an accident: they have no threshold."""


def pairs(number: int = PAIRS) -> list[list[float]]:
    """Return pairs of two places among the texts, as shares of their number from 0 to below 1.

    They are the same each time.
    """
    return [list(_two_shares(at)) for at in range(number)]


def _two_shares(at: int) -> tuple[float, float]:
    digest = sha256(f"pair {at}".encode()).digest()
    first, second = (int.from_bytes(digest[i : i + 6], "big") / 2**48 for i in (0, 6))
    return first, second


def measured(cosines: Sequence[float], texts: int) -> float | None:
    """Return the 99th percentile of the cosines of random pairs; None for too few texts.

    It is the smallest of them that at least 99 of 100 do not exceed.
    """
    usable = sorted(cosine for cosine in cosines if math.isfinite(cosine))
    if texts < LEAST_TEXTS or not usable:
        return None
    return usable[math.ceil(SHARE * len(usable)) - 1]


def floor(cosines: Sequence[float], texts: int) -> float | None:
    """Return the 1st percentile of the cosines of random pairs; None for too few texts.

    It is the largest of them that at least 99 of 100 reach.
    """
    highest = measured([-cosine for cosine in cosines], texts)
    return None if highest is None else -highest
