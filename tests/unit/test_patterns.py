"""No regular expression of the deployed package takes a time that grows like a square."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable

import pytest

from tests.unit.deployed_patterns import Asked, deployed_patterns
from tests.unit.hostile_texts import hostile_texts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400, func_only=True)]

FIRST, SHORT, LONG = (20, 40), 250, 1_000
"""Texts that are tried: more of one are only where the time may grow too fast."""
LENGTHS = (20, 30, 40, 60, 125, 250, 500, 1_000, 4_000, 8_000, 16_000)
FREE_S = 3e-4
"""A text of `LONG` that is read in less says nothing."""
FLOOR_S = 0.02
"""So long a text is made longer; what stays below that at the longest one is fast enough."""
STEEPEST = 1.6
"""The power of the length that the time may grow by, where a square is 2."""
SHORT_TEXTS = {"drift.indexing.blocks._LINK", "drift.indexing.blocks._MARKUP"}
"""Patterns that are asked of a heading that was cut to 200 characters before."""


def seconds(pattern: re.Pattern[str], method: str, text: str, times: int = 3) -> float:
    """Return the least processor time that asking takes."""
    found = []
    for _ in range(times):
        start = time.thread_time()
        if method in {"match", "fullmatch", "search"}:
            getattr(pattern, method)(text)
        else:
            pattern.sub("", text)
        found.append(time.thread_time() - start)
    return min(found)


def power(before: tuple[int, float], now: tuple[int, float]) -> float:
    """Return by which power of the length the time has grown."""
    return math.log(max(now[1], 1e-9) / max(before[1], 1e-9)) / math.log(now[0] / before[0])


def is_square(pattern: re.Pattern[str], method: str, text: Callable[[int], str]) -> bool:
    """Tell whether the time grows like a square of the text, or faster."""

    def timed(length: int, times: int = 3) -> tuple[int, float]:
        return length, seconds(pattern, method, text(length), times)

    if not any(timed(length, 1)[1] > FREE_S for length in FIRST):
        long = timed(LONG, 1)
        if long[1] < FREE_S or power(timed(SHORT), long) < STEEPEST - 0.2:
            return False

    grown = [timed(LENGTHS[0])]
    for length in LENGTHS[1:]:
        grown.append(timed(length))
        last = power(grown[-2], grown[-1])
        if grown[-1][1] > FLOOR_S:
            return last > STEEPEST and (len(grown) == 2 or power(grown[-3], grown[-2]) > STEEPEST)
        if length > LONG and last < STEEPEST:
            return False
    return False


def slow_text(asked: Asked) -> str | None:
    """Return a text and a method by which a pattern takes too long; None for none."""
    methods = {one if one in {"match", "fullmatch", "search"} else "" for one in asked.methods}
    for text in hostile_texts(asked.pattern) if methods else ():
        for method in methods:
            if is_square(asked.pattern, method, text):
                return f"{min(asked.places)}.{method or 'finditer'}: {text(12)!r} …"
    return None


def test_every_pattern_is_linear_in_what_it_reads() -> None:
    slow = [slow_text(asked) for asked in deployed_patterns() if not asked.places <= SHORT_TEXTS]
    assert len(slow) > 200, "the patterns are found"
    assert list(filter(None, slow)) == []


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\W*(K\d+)(?:[.:#]|,?\s+)(\d[\d\s,-]*)\W*", "fullmatch"),
        (r"<\|channel\|>\s*(\w*)[^<]*<\|message\|>", "finditer"),
        (r"\s+$", "search"),
        (r"[a-z]+[-]", "sub"),
        (r"(?:a|b|ab)*c", "match"),
        (r"\(.*?\)", "finditer"),
    ],
)
def test_a_pattern_that_is_not_is_found(pattern: str, method: str) -> None:
    assert slow_text(Asked(re.compile(pattern), {"here"}, {method}))
