"""Pure: pages of a text, between form feeds, without what stands on every one of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

_LINES_AT_AN_EDGE = 2
_LEAST_PAGES = 3


def joined(pages: Sequence[str]) -> str:
    """Return pages as one text; what a page begins with goes on where the one before ended."""
    parts: list[str] = []
    for number, page in enumerate(pages):
        body = page.strip("\n")
        if number:
            parts.append("\n\n\f\n\n" if body.startswith("#") else "\n\f")
        parts.append(body)
    return "".join(parts)


def without_running_heads(pages: Sequence[str]) -> list[str]:
    """Return pages in which heads, feet and page numbers, alike on many, are empty lines."""
    if len(pages) < _LEAST_PAGES:
        return list(pages)

    split = [page.split("\n") for page in pages]
    seen: Counter[tuple[bool, str]] = Counter()
    for lines in split:
        seen.update({(is_top, key) for _, is_top, key in _edges(lines)})

    # Of the pages, on which a line at the edge is a running head; left and right ones may differ.
    least = max(_LEAST_PAGES, 0.3 * len(pages))
    for lines in split:
        for place, is_top, key in list(_edges(lines)):
            if seen[is_top, key] >= least:
                lines[place] = ""
    return ["\n".join(lines) for lines in split]


def _edges(lines: Sequence[str]) -> Iterator[tuple[int, bool, str]]:
    """Yield the place of each line at the top or the bottom, which of them, and what it says."""
    places = range(len(lines))
    for is_top, inwards in ((True, places), (False, reversed(places))):
        filled = (place for place in inwards if lines[place].strip())
        for place in islice(filled, _LINES_AT_AN_EDGE):
            yield place, is_top, re.sub(r"\d+", "0", " ".join(lines[place].split())).casefold()
