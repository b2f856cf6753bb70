"""Pure: what a topic holds, counted; of that its name and its summary are made."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields
from heapq import nsmallest
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Self

from drift.core.names import shortened
from drift.graph.writing.records import ChunkRecord
from drift.indexing.chunking import PATH_SEPARATOR
from drift.local.ingest.code.languages import LANGUAGES
from drift.local.ingest.headings import telling
from drift.local.ingest.prose import sentences, spellings, words

KNOWLEDGE_VERSION = "10"
"""A change of the rules makes the next run find all topics of a project anew."""

MAX_SENTENCE, MOST_OF_A_NAME = 300, 80
"""Characters."""
CENTRAL_CHUNKS = 12
"""Chunks nearest to a topic's centroid, of which its sentences are."""

MOST_WORDS, MOST_PAIRS, MOST_HEADINGS = 300, 100, 60
"""Of a digest."""

_COUNTED = ("words", "pairs", "spread", "titles", "headings", "folders")
_FEWEST_OF_A_PAIR = 3
_IS_PUBLIC = re.compile(r"(?!_|test|Test)\w+\Z")
_HAS_WORDS = re.compile(r"[^\W\d_]{3}")
_LEANING = frozenset(
    (
        *("he", "she", "it", "they", "we", "i", "you", "this", "that", "these", "those", "his"),
        *("her", "their", "its", "thus", "hence", "however", "but", "and", "so", "then", "also"),
        *("moreover", "therefore", "here", "there", "such", "nevertheless", "yes", "no"),
    )
)
"""Words with which a sentence leans on what stands before it."""


@dataclass(slots=True)
class Digest:
    """The counts of a topic: of words and pairs of words, and its best sentences.

    `spread` counts the chunks that a word stands in, `titles`, `headings` and `folders` those that
    stand under each. `spelled` are words as its most central chunks write them, `whole` counts the
    whole sentences of `central` chunks. The most frequent are kept, so that it is small enough to
    be stored beside the topic. `rules` are those by which that was found.
    """

    rules: str = KNOWLEDGE_VERSION
    words: Counter[str] = field(default_factory=Counter)
    pairs: Counter[str] = field(default_factory=Counter)
    spread: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    headings: Counter[str] = field(default_factory=Counter)
    folders: Counter[str] = field(default_factory=Counter)
    spelled: dict[str, str] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    central: int = 0
    whole: int = 0

    @property
    def says(self) -> bool:
        """True where it has enough sentences to say what it is about."""
        return self.whole >= self.central

    def add(self, other: Digest) -> None:
        """Take in what a topic below holds; its best sentence stands for it."""
        for name in _COUNTED:
            getattr(self, name).update(getattr(other, name))
        self.spelled |= other.spelled
        self.sentences += other.sentences[:1]
        self.central += 1
        self.whole += other.says

    def to_json(self) -> str:
        """Return it as it is stored."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps(held, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, stored: str) -> Self:
        """Return what was stored."""
        read = json.loads(stored)
        return cls(**{**read, **{name: Counter(read[name]) for name in _COUNTED}})


def is_current(stored: str) -> bool:
    """Tell whether the topic of a stored digest was found by the rules of today."""
    return stored.startswith(f'{{"rules":"{KNOWLEDGE_VERSION}",')


def digest(chunks: Sequence[ChunkRecord]) -> Digest:
    """Return the contents of a topic with these chunks, the nearest to its centroid first."""
    held = Digest()
    before: set[str] = set()
    for chunk in chunks:
        # A line counts once: neither a footer nor a copy makes its words frequent.
        lines = [line for line in chunk.text.split("\n") if line not in before]
        before.update(lines)
        read = words("\n".join(lines))
        held.words.update(filter(None, read))
        held.pairs.update(f"{a} {b}" for a, b in pairwise(read) if a and b)
        held.spread.update(set(read))
        held.titles[document_name(chunk)] += 1
        held.headings.update(_headings(chunk))
        path = "" if "://" in chunk.document_id else chunk.document_id
        held.folders.update(map(str, list(PurePosixPath(path).parents)[:-1]))

    held.words = Counter(dict(most(held.words, MOST_WORDS)))
    held.spread = Counter({word: held.spread[word] for word in held.words})
    held.headings = Counter(dict(most(held.headings, MOST_HEADINGS)))
    pairs = most(held.pairs, MOST_PAIRS)
    held.pairs = Counter({pair: number for pair, number in pairs if number >= _FEWEST_OF_A_PAIR})
    central = chunks[:CENTRAL_CHUNKS]
    spelled = spellings(" ".join(chunk.text for chunk in central))
    held.spelled = {word: spelling for word, spelling in spelled.items() if word in held.words}
    whole = [s.text for chunk in central for s in sentences(chunk.text) if s.whole]
    held.sentences = list(filter(_stands_alone, whole))
    held.central, held.whole = len(central), len(whole)
    return held


def most(counts: Counter[str], number: int) -> list[tuple[str, int]]:
    """Return so many of the most frequent, in an order that is the same on every run."""
    return nsmallest(number, counts.items(), key=lambda item: (-item[1], item[0]))


def document_name(chunk: ChunkRecord) -> str:
    """Return what a chunk's document is called: its path, where it has the title of its file.

    A number gives way to a heading with words.
    """
    path = chunk.document_id
    title = path if chunk.title == PurePosixPath(path).name else chunk.title
    return next(iter(_with_words((title, *chunk.heading.split(PATH_SEPARATOR)))), _cut(title))


def _headings(chunk: ChunkRecord) -> set[str]:
    """Return the headings above a chunk that say what it is about; of code what it is part of."""
    path = chunk.heading.split(PATH_SEPARATOR)
    if PurePosixPath(chunk.document_id).suffix in LANGUAGES:
        return {path[0]} if _IS_PUBLIC.match(path[0]) else set()
    return {_cut(told) for heading in path if (told := telling(heading))} - {document_name(chunk)}


def _with_words(names: Iterable[str]) -> list[str]:
    return [_cut(name) for name in names if _HAS_WORDS.search(name) and "://" not in name]


def _cut(name: str) -> str:
    return shortened(name, MOST_OF_A_NAME).strip(" :-–—|#*")


def _stands_alone(sentence: str) -> bool:
    first = sentence.split(" ", 1)[0].strip("\"“'‘(*,").lower()
    return len(sentence) <= MAX_SENTENCE and first not in _LEANING


@dataclass(frozen=True, slots=True)
class Everywhere:
    """What all topics of a project hold: how rare a word is, and the chunks that a name has."""

    rarity: dict[str, float]
    names: Counter[str]

    @classmethod
    def of(cls, topics: Collection[Digest]) -> Self:
        """Count what the topics hold together."""
        total: Counter[str] = Counter()
        names: Counter[str] = Counter()
        for topic in topics:
            total.update(topic.words)
            for counted in (topic.titles, topic.headings, topic.folders):
                names.update(counted)
        size = total.total() / max(1, len(topics))
        return cls({word: math.log1p(size / count) for word, count in total.items()}, names)
