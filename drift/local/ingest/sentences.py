"""Pure: where the sentences of a text end."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ABBREVIATIONS = (
    r"(?<!\b\w\.)"  # `z. B.`
    r"(?<!\b[A-ZÄÖÜ][a-zäöü]\.)"  # `Dr.`
    r"(?<!\b\d\d\.)"  # `17. Januar`
    r"(?<!\b[Nn]o\.)(?<!\bca\.)(?<!bzw\.)(?<!etc\.)(?<!vs\.)"
)
_CLOSING = r"[\"'”’»)\]*_`]*"
_LOWER_CASE = "a-zß-ÿа-я"

SENTENCE_END = re.compile(
    rf"(?<=[.!?…؟]){_ABBREVIATIONS}{_CLOSING}\s+(?![{_LOWER_CASE}])"
    r"|(?<=[。！？।])"
)
"""What stands between two sentences: closing quotes and brackets, and white space."""


def split_sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph as slices of it, with the quotes that close them."""
    start = 0
    for end in SENTENCE_END.finditer(paragraph):
        if piece := paragraph[start : end.end()].strip():
            yield piece
        start = end.end()

    if last := paragraph[start:].strip():
        yield last
