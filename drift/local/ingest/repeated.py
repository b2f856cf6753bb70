"""Pure: chunks whose text stands in several documents: menus, forms, notices and footers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from drift.graph.writing.records import ChunkRecord
from drift.local.ingest.prose import is_prose

FEWEST, FEWEST_OF_PROSE = 2, 3
"""Documents in which a line stands that is repeated; a sentence may well be quoted once."""
MOST_OWN = 0.4
"""Of a chunk that is repeated, by characters."""
LEAST_OWN, LEAST_OWN_OF_A_VERSION = 0.1, 0.5
"""Chunks of its own that a document has; with fewer it is a copy, or a version of its namesake."""

_DIGITS = re.compile(r"\d+")


def repeated(chunks: Sequence[ChunkRecord], sizes: Mapping[str, int]) -> set[str]:
    """Return the ids of the chunks that say what other documents say too, beside what is theirs.

    Chunks stand document by document, and `sizes` are how many each document has. What copies and
    versions share is no such text: it is what they are about. Neither is prose of which most of a
    document consists.
    """
    everywhere = _standing(chunks, sizes)
    shared = Counter(one.document_id for one in chunks if _is_repeated(one.text, everywhere))
    named = {one.document_id: _DIGITS.sub("", one.title).casefold() for one in chunks}
    of_name = Counter(named.values())
    own = {one: 1 - shared[one] / size for one, size in sizes.items()}
    distinct = {one for one, share in own.items() if share >= LEAST_OWN_OF_A_VERSION}
    namesakes = {one for one, name in named.items() if of_name[name] > 1}
    pages = {one for one, share in own.items() if share >= LEAST_OWN} - (namesakes - distinct)

    of_pages, of_distinct = _standing(chunks, pages), _standing(chunks, distinct)
    return {
        one.id
        for one in chunks
        if _is_repeated(one.text, of_pages)
        and (not is_prose(one.text) or _is_repeated(one.text, of_distinct, FEWEST_OF_PROSE))
    }


def _standing(chunks: Sequence[ChunkRecord], documents: Collection[str]) -> Counter[int]:
    """Return in how many of the documents each line stands."""
    stands: Counter[int] = Counter()
    for document, own in groupby(chunks, key=lambda one: one.document_id):
        if document in documents:
            stands.update({line for chunk in own for line, _ in _lines(chunk.text)})
    return stands


def _is_repeated(text: str, stands: Mapping[int, int], fewest: int = FEWEST) -> bool:
    lengths = [(length, stands[line] >= fewest) for line, length in _lines(text)]
    again = sum(length for length, is_again in lengths if is_again)
    return again > (1 - MOST_OWN) * sum(length for length, _ in lengths)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield a number for each line with letters, the same for the same words, and its length."""
    for line in text.split("\n"):
        words = " ".join(line.split()).casefold()
        if any(map(str.isalpha, words)):
            yield hash(words), len(words)
