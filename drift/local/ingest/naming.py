"""Pure: what a topic is called: after a heading, a document, or a folder of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import count
from pathlib import PurePosixPath

from drift.core.names import shortened
from drift.local.ingest.code.languages import LANGUAGES
from drift.local.ingest.digests import Digest, Everywhere, most
from drift.local.ingest.prose import words

MOST_OF_A_TITLE = 90
_MOST_TOGETHER, _MOST_FILES = 2, 4
"""Documents that a topic is called after, where no one stands for it."""
_LEAST = 0.4
"""The share of a topic's chunks that a name stands for."""
_FITS = 0.3
"""The same of a heading, by the chunks that it or the topic has, both counted: half is the most."""
_PLACED = 0.1
"""The same of a document or a folder."""
_LEAST_OF_A_PART, _PART_FITS = 0.15, 0.15
"""Both shares of a heading that stands for a part, where none stands for all of it."""


def title_of(topic: Digest, everywhere: Everywhere, taken: Collection[str]) -> str:
    """Return what a topic is called that none beside it is."""
    names = dict.fromkeys(filter(None, _names(topic, everywhere)))
    free = (name for name in names if name not in taken)
    first = next(iter(names), "Other")
    numbered = (f"{first} ({number})" for number in count(2))
    return next(free, None) or next(name for name in numbered if name not in taken)


def _names(topic: Digest, everywhere: Everywhere) -> Iterator[str]:
    """Yield what a topic may be called, what a person would say first."""
    size = topic.titles.total()
    documents = [name for name, _ in most(topic.titles, _MOST_FILES)]
    is_code = bool(documents) and PurePosixPath(documents[0]).suffix in LANGUAGES
    place = next(_fitting(topic.titles + topic.folders, size, everywhere, _LEAST, _PLACED), "")
    heading = next(_fitting(topic.headings, size, everywhere, _LEAST, _FITS), "")
    others = list(_fitting(topic.headings, size, everywhere, _LEAST_OF_A_PART, _PART_FITS))
    if is_code:
        place = (place or documents[0]).removesuffix("/__init__.py")
        files = [PurePosixPath(name).name for name in documents]
        more = [heading, *others, place, *files] if place in topic.titles else [place, *files]
        yield from (_together(place, name) for name in more if name)
        yield from (_together(f"{place}: {files[0]}", name) for name in others)
    elif place in topic.titles:
        yield _together(place, heading)
        yield from (place, *others, *(_together(place, other) for other in others))
    else:
        yield from (heading, *others, place)

    yield place or "; ".join(
        shortened(name, MOST_OF_A_TITLE // 2) for name in documents[:_MOST_TOGETHER]
    )


def _together(place: str, name: str) -> str:
    """Return a name behind its place, or one of them where the other says no more."""
    own = {*words(name)} - {""}
    if name.lower() in place.lower() or (own and own <= {*words(place)}):
        return place
    if place.lower() in name.lower():
        return name
    name = shortened(name, MOST_OF_A_TITLE // 2)
    return f"{shortened(place, MOST_OF_A_TITLE - len(name) - 2)}: {name}"


def _fitting(
    names: Counter[str], size: int, everywhere: Everywhere, share: float, least: float
) -> Iterator[str]:
    """Yield the names that a share of a topic's chunks have and few besides, the best first."""
    fits = {
        name: number / (size + everywhere.names[name])
        for name, number in names.items()
        if number >= share * size and number >= least * (size + everywhere.names[name])
    }
    yield from sorted(fits, key=lambda name: (-fits[name], name))
