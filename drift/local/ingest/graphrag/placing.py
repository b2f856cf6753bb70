"""Pure: where the chunks of a GraphRAG index stand in the texts that they were cut from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MOST_SEARCHES = 20
"""Texts that are looked for in all of a document; others only where they are expected."""
_SLACK = 1000
_WINDOW = 10
_MOST_PREPENDED = 20
_PREPENDED = re.compile(r"[^\n:]{1,100}: [^\n]*\.\n")


def placed(texts: Iterable[str], document: str) -> Iterator[tuple[str, int | None]]:
    """Yield each text as its document has it, and where it begins; None for one not found there.

    They stand in their order and overlap. What GraphRAG has put before a text, such as its
    document's title, is left out, and so are the halves of letters at its ends.
    """
    begin = end = searches = 0
    for text in texts:
        slices = list(_slices(text))
        found = next(_found(slices, document, begin, end + len(text) + _SLACK), None)
        if found is None and document and searches < MOST_SEARCHES:
            searches += 1
            found = next(_found(slices[:1] + slices[-1:], document, 0, len(document)), None)

        if found is None:
            # The next one stands behind it, wherever it has been.
            end += len(text)
            begin = max(begin, end - _WINDOW * len(text))
            yield text, None
        else:
            own, begin = found
            end = begin + len(own)
            yield own, begin


def _found(
    slices: Iterable[str], document: str, first: int, last: int
) -> Iterator[tuple[str, int]]:
    for own in slices:
        if (at := document.find(own, first, last)) >= 0:
            yield own, at


def _slices(text: str) -> Iterator[str]:
    """Yield what of a text may stand in its document, the longest first."""
    own = text.strip("\ufffd")
    yield own
    for _ in range(_MOST_PREPENDED):
        line = _PREPENDED.match(own)
        if line is None:
            return
        own = own[line.end() :].strip("\ufffd")
        if own.strip():
            yield own
