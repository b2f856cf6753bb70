"""Pure: which texts are nearly the same as one before them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

RUN_WORDS = 5
SAME_SHARE = 0.5
"""Of the runs of words that two texts have together; from here on the second says little new."""
END_CHARS = 1_500
"""A longer text is compared by so much of its beginning and of its end."""

_WORD = re.compile(r"\w+")
_Runs = frozenset[int]


def near_copies(texts: Iterable[str]) -> Iterator[bool]:
    """Tell of each text in turn whether it nearly repeats one before it that is no copy itself.

    Two texts are nearly the same when they share half of their runs of five words; a shorter text
    is no copy.
    """
    kept: list[_Runs] = []
    seen: set[int] = set()
    for text in texts:
        runs = _runs(text)
        # What all kept ones together hold too little of, none of them does.
        may_be = bool(runs) and len(runs & seen) >= SAME_SHARE * len(runs)
        is_copy = may_be and any(_are_alike(runs, other) for other in kept)
        if not is_copy:
            kept.append(runs)
            seen |= runs
        yield is_copy


def _are_alike(one: _Runs, other: _Runs) -> bool:
    both = len(one & other)
    return both >= SAME_SHARE * (len(one) + len(other) - both)


def _runs(text: str) -> _Runs:
    if len(text) > 2 * END_CHARS:
        text = f"{text[:END_CHARS]} {text[-END_CHARS:]}"
    words = _WORD.findall(text.casefold())
    return frozenset(map(hash, zip(*(words[start:] for start in range(RUN_WORDS)), strict=False)))
