"""Pure: how near a node has to be to a question, as a raw cosine.

No number fits every model and every project, so it is measured: a node is near enough where it is
nearer than the project's nodes come to questions about something else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from hashlib import sha256

PAIRS = 2000
UNRELATED = (
    "How long should bread dough rest before it is baked?",
    "Who won the football world championship of 1998?",
    "Which medicine helps against a migraine?",
    "How is a limited company registered?",
    "At what rate are capital gains taxed?",
    "How often does an orchid need water?",
    "Which wine goes well with salmon?",
    "How is the tyre of a bicycle changed?",
    "When is a cancelled flight refunded?",
    "Who composed the Goldberg Variations?",
    "How far is the Moon from the Earth?",
    "What does a default value of a function cost?",
    "Which birds spend the winter in Africa?",
    "How is a broken heart valve repaired?",
    "When was the treaty of Westphalia signed?",
    "What is the boiling point of ethanol?",
    "How do I return a pair of shoes?",
    "Which chord follows the dominant?",
    "How is the area of a triangle found?",
    "Who may vote in a general election?",
)
"""Questions of twenty subjects. A project may be about some of them, and not about most."""
LEAST_TEXTS = 100
"""Of fewer texts the nearest pair of a hundred is an accident: they have no threshold."""


def pairs(number: int = PAIRS) -> list[list[float]]:
    """Return the same pairs of two places among texts each time, as shares of their number."""
    return [list(_two_shares(at)) for at in range(number)]


def _two_shares(at: int) -> tuple[float, float]:
    digest = sha256(f"pair {at}".encode()).digest()
    first, second = (int.from_bytes(digest[i : i + 6], "big") / 2**48 for i in (0, 6))
    return first, second


def unrelated(nearest: Iterable[float]) -> float | None:
    """Return the cosine that 17 of 20 of UNRELATED do not exceed to their nearest node."""
    return reached(nearest, 0.85)


def reached(cosines: Iterable[float], share: float) -> float | None:
    """Return the smallest of the numbers that this share of them does not exceed."""
    usable = sorted(cosine for cosine in cosines if math.isfinite(cosine))
    return usable[math.ceil(share * len(usable)) - 1] if usable else None
