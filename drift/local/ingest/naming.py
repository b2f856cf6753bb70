"""Pure: what a topic is called: its document or folder, and a heading or terms of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from drift.core.names import shortened
from drift.local.ingest.code.languages import LANGUAGES
from drift.local.ingest.digests import Digest, Everywhere, most
from drift.local.ingest.prose import words

MOST_OF_A_TITLE = 160
TERMS = 3
_LEAST = 0.4
"""The share of a topic's chunks that a name stands for."""
_FITS = 0.3
"""The same of a heading, by the chunks that it or the topic has, both counted: half is the most."""
_BOTH = 0.7
"""The same of two documents together."""
_LEAST_OF_A_TERM = 0.3
_FEWEST = 2
"""Terms that say what a topic is about, where nothing else does."""
_SHORTEST = 3
"""Letters of a word that is no abbreviation."""


def title_of(topic: Digest, everywhere: Everywhere, terms: Sequence[str]) -> str:
    """Return what a topic is called, whose best `terms` stand first."""
    size = topic.titles.total()
    documents = most(topic.titles, TERMS)
    named = [name for name, _ in documents]
    place = _best(topic.titles + topic.folders, size, everywhere)
    if not place and sum(number for _, number in documents[:2]) >= _BOTH * size:
        place = "; ".join(named[:2])

    if named and PurePosixPath(named[0]).suffix in LANGUAGES:
        more = [PurePosixPath(name).name for name in named]
    else:
        heading = _best(topic.headings, size, everywhere, _FITS)
        said = {*words(heading)}
        is_new = 2 * len(said - {*words(place)}) > len(said)
        more = [heading] if is_new else _telling(topic, size, terms)

    more = [one for one in more if one.lower() not in place.lower()]
    if not place and len(more) < _FEWEST:
        place, more = "; ".join(named[:2]), []
    told = ": ".join(filter(None, (place, ", ".join(more[:TERMS]))))
    return shortened(told, MOST_OF_A_TITLE) or "Other"


def _best(names: Counter[str], size: int, everywhere: Everywhere, least: float = 0.0) -> str:
    """Return the name that fits a topic of a size best, if one does: few chunks have it besides."""
    fits = {
        name: number / (size + everywhere.names[name])
        for name, number in names.items()
        if number >= _LEAST * size and number >= least * (size + everywhere.names[name])
    }
    return min(fits, key=lambda name: (-fits[name], name), default="")


def _telling(topic: Digest, size: int, terms: Sequence[str]) -> list[str]:
    """Return the terms that stand in more than a few chunks, first those that names have too."""
    named: Counter[str] = Counter()
    for name, number in (*topic.titles.items(), *topic.headings.items()):
        named.update(dict.fromkeys({*words(name)}, number))

    def is_telling(word: str) -> bool:
        is_word = len(word) >= _SHORTEST or word.isupper()
        return is_word and topic.spread[word.lower()] >= _LEAST_OF_A_TERM * size

    def is_named(term: str) -> bool:
        return all(named[word] >= _LEAST_OF_A_TERM * size for word in words(term))

    telling = [term for term in terms if all(map(is_telling, term.split()))]
    return sorted(telling, key=lambda term: not is_named(term))
