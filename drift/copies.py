"""Pure: which texts are nearly the same as one before them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

RUN_WORDS = 5
SAME_SHARE = 0.5
"""Of the runs of words that two texts have together; from here on the second says little new."""
MAX_WORDS = 2000
"""Words of a text that are compared, from its beginning."""

_WORD = re.compile(r"\w+")
_Run = tuple[str, ...]


def near_copies(texts: Iterable[str]) -> Iterator[bool]:
    """Tell of each text in turn whether it nearly repeats one before it that is no copy itself.

    Two texts are nearly the same when they share half of their runs of five words; a shorter text
    is no copy.
    """
    holders: defaultdict[_Run, list[int]] = defaultdict(list)
    sizes: list[int] = []
    for text in texts:
        runs = _runs(text)
        shared = Counter(holder for run in runs for holder in holders.get(run, ()))
        is_copy = any(
            both >= SAME_SHARE * (len(runs) + sizes[holder] - both)
            for holder, both in shared.items()
        )
        if not is_copy:
            for run in runs:
                holders[run].append(len(sizes))
            sizes.append(len(runs))
        yield is_copy


def _runs(text: str) -> frozenset[_Run]:
    words = [found[0] for found in _first(_WORD.finditer(text.casefold()))]
    return frozenset(zip(*(words[start:] for start in range(RUN_WORDS)), strict=False))


def _first(found: Iterable[re.Match[str]]) -> Iterator[re.Match[str]]:
    return (match for match, _ in zip(found, range(MAX_WORDS), strict=False))
