"""Pure: entities by rules, without a model: headings, identifiers and terms that recur."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from drift.local.ingest.chunking import PATH_SEPARATOR
from drift.local.ingest.graph_records import ChunkRecord
from drift.local.ingest.noun_phrases import Usage
from drift.local.ingest.page_text import all_readable, line_key, readable
from drift.local.ingest.prose import Sentence, sentences
from drift.local.ingest.terms import (
    Term,
    Vocabulary,
    candidates,
    code_term,
    heading_term,
    known_phrases,
)

MAX_ENTITIES_A_CHUNK = 12
HUB_SHARE, HUB_CHUNKS = 0.2, 50
"""An entity in more than this share of the chunks, and in more than this many, is dropped: it
would connect everything with everything."""

MAX_DESCRIPTION_CHARS = 300

_OWN_HEADING = 2.0
_HEADINGS_READ = 2
_MOST_PLAIN = 0.5
_SHORTEST_PLAIN_WORD = 6
_IDENTIFIER = re.compile(r"[A-Za-z_](?=\w*(?:\.|_\w))\w*(?:\.\w+)*(?:\([^()]*\))?|\w+\([^()]*\)")
_SUBTITLE = re.compile(r" [—–-] |: ")
_QUOTES = re.compile(r"[\"“”`]")
_NUMBERING = re.compile(
    r"^(?:(?:chapter|part|section|appendix|step)\s+(?:\d+|[ivxlc]+|[a-z])\b\s*[:.—–-]?\s+(?=\w)"
    r"|\(\w{1,2}\)\s+|\d+(?:\.\d+)*[.)]?\s+|[a-z]\.\s+)",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"[^ ,.;]{0,4}(?: (?:statement|method|function|object|keyword|operator)s?)?,?"
    r" (?:is|are|was|were|means|refers? to|denotes?|returns?|defines?|describes?|provides?)\b"
    r"(?P<article> (?:an?|the|used|any)\b)?"
)
_EARLY = 40


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence, and the keys of the entities it mentions."""

    text: str
    whole: bool
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A chunk as it was read: its sentences, and the weight of each entity in it."""

    chunk: ChunkRecord
    sentences: tuple[ReadSentence, ...]
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity with its weight in each chunk that mentions it, by the chunk's place."""

    key: str
    title: str
    description: str
    chunks: Mapping[int, float]


def read_chunks(
    chunks: Sequence[ChunkRecord],
) -> tuple[tuple[Reading, ...], tuple[FoundEntity, ...]]:
    """Return every chunk as read, and every entity found, ordered by key."""
    texts, shared = all_readable(chunks)
    marked = [_marked(text) for text in texts]
    usage = Usage((m.sentence.text for m in of_chunk) for of_chunk in marked)
    names = _Names(chunks, usage, shared)
    vocabulary = names.vocabulary(chain.from_iterable(marked))
    read = [names.read(of_chunk, vocabulary) for of_chunk in marked]

    counts = list(map(_count, read, names.headings))
    certain = names.of_headings | names.full
    weights = _best_of_each_chunk(counts, names.headings, _kept(counts, certain))
    readings = tuple(
        Reading(chunk, _only_kept(of_chunk, weight), weight)
        for chunk, of_chunk, weight in zip(chunks, read, weights, strict=True)
    )

    return readings, _found(readings, names)


class _Marked(NamedTuple):
    """A sentence with what looks like a name in it."""

    sentence: Sentence
    terms: tuple[Term, ...]


def _marked(text: str) -> list[_Marked]:
    return [_Marked(s, tuple(candidates(s.text))) for s in sentences(text)]


class _Names:
    """Which keys there are, and how each is written."""

    def __init__(self, chunks: Sequence[ChunkRecord], usage: Usage, shared: frozenset[str]) -> None:
        self.shared = shared
        self.terms = usage.terms()
        self.plain = usage.plain
        self.capitals: Counter[str] = Counter()
        self.full: set[str] = set()
        self.surfaces: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.headings = [self._of_heading(chunk.heading) for chunk in chunks]
        self.of_headings = set(chain.from_iterable(self.headings))

    def _of_heading(self, heading: str) -> tuple[str, ...]:
        """Return the keys of the innermost headings, innermost first."""
        keys: list[str] = []
        for title in reversed(heading.split(PATH_SEPARATOR)):
            if line_key(title) in self.shared:
                continue

            bare = _QUOTES.sub("", _NUMBERING.sub("", readable(title))).strip(" .:")
            identifier = _IDENTIFIER.fullmatch(bare)
            named = _SUBTITLE.split(bare, maxsplit=1)[0]
            term = code_term(bare) if identifier else heading_term(named)
            if term and term.key not in keys:
                keys.append(term.key)
                self.surfaces[term.key][term.surface] += 1

        return tuple(keys[:_HEADINGS_READ])

    def vocabulary(self, every: Iterable[_Marked]) -> Vocabulary:
        """Return the phrases to look for as plain words.

        They are headings, terms marked anywhere, and terms that recur.
        """
        marked: set[str] = set()
        for sentence, terms in every:
            for term in terms:
                if term.plain:
                    marked.add(term.key)
                elif term.lone:
                    self.capitals[term.key] += 1
                if sentence.whole and term.plain and term.surface.istitle():
                    self.full.add(term.key)

        return Vocabulary(
            self.terms.union(
                key
                for key in marked | self.of_headings
                if " " in key or (key.isalpha() and len(key) >= _SHORTEST_PLAIN_WORD)
            )
        )

    def _is_a_word(self, term: Term) -> bool:
        """Tell whether a capital stands before a word that is written without one as well."""
        return term.lone and self.plain[term.key.lower()] > _MOST_PLAIN * self.capitals[term.key]

    def read(self, of_chunk: Iterable[_Marked], vocabulary: Vocabulary) -> tuple[ReadSentence, ...]:
        """Return the sentences of a chunk with their keys."""
        return tuple(self._read(marked, vocabulary) for marked in of_chunk)

    def _read(self, marked: _Marked, vocabulary: Vocabulary) -> ReadSentence:
        """Return the sentence with its keys, and remember how they were written."""
        sentence, keys = marked.sentence, set()
        for term in (*marked.terms, *known_phrases(sentence.text, vocabulary)):
            if self._is_a_word(term):
                continue
            keys.add(term.key)
            self.surfaces[term.key][term.surface] += 1

        return ReadSentence(sentence.text, sentence.whole, frozenset(keys))

    def titles(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the spelling of each key that is used most often, once all is read."""
        return {
            key: min(
                self.surfaces[key].items(), key=lambda item: (-item[1], len(item[0]), item[0])
            )[0]
            for key in keys
        }


def _count(of_chunk: Iterable[ReadSentence], headings: Iterable[str]) -> Counter[str]:
    """Return how often a chunk mentions each key, its headings included."""
    keys = chain.from_iterable(sentence.keys for sentence in of_chunk)
    return Counter(chain(keys, headings))


def _kept(counts: Sequence[Counter[str]], certain: set[str]) -> dict[str, float]:
    """Return the inverse document frequency of what recurs or is certain, without the hubs."""
    seen_in = Counter(chain.from_iterable(counts))
    most = max(HUB_CHUNKS, HUB_SHARE * len(counts))
    return {
        key: math.log(1 + len(counts) / count)
        for key, count in seen_in.items()
        if (count > 1 or key in certain) and count <= most
    }


def _best_of_each_chunk(
    counts: Sequence[Counter[str]], headings: Sequence[Sequence[str]], idf: Mapping[str, float]
) -> list[dict[str, float]]:
    """Return the best entities of each chunk by tf-idf; its own heading counts double."""
    best = []
    for counted, titles in zip(counts, headings, strict=True):
        scored = [
            (-(1 + math.log(count)) * idf[key] * (_OWN_HEADING if key in titles[:1] else 1.0), key)
            for key, count in counted.items()
            if key in idf
        ]
        best.append({key: -score for score, key in sorted(scored)[:MAX_ENTITIES_A_CHUNK]})

    return best


def _only_kept(
    of_chunk: Iterable[ReadSentence], weights: Mapping[str, float]
) -> tuple[ReadSentence, ...]:
    return tuple(
        ReadSentence(sentence.text, sentence.whole, sentence.keys & weights.keys())
        for sentence in of_chunk
    )


def _found(readings: Sequence[Reading], names: _Names) -> tuple[FoundEntity, ...]:
    places: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for place, reading in enumerate(readings):
        for key, weight in reading.weights.items():
            places[key][place] = weight

    titles = names.titles(places)
    descriptions: dict[str, tuple[float, str]] = {}
    for reading in readings:
        for sentence in reading.sentences:
            for key in sentence.keys if sentence.whole else ():
                rated = (_describes(sentence.text, key, titles[key]), sentence.text)
                if rated[0] > descriptions.get(key, (0.0, ""))[0]:
                    descriptions[key] = rated

    return tuple(
        FoundEntity(key, titles[key], _description(key, descriptions, readings[min(at)].chunk), at)
        for key, at in sorted(places.items())
    )


def _describes(sentence: str, key: str, title: str) -> float:
    """Rate how much a sentence defines an entity.

    It does so when it names the entity early, before a defining verb, and is not long.
    """
    lowered = sentence.lower()
    at = min(
        (place for name in (title, key) if (place := lowered.find(name.lower())) >= 0),
        default=len(lowered),
    )
    verb = _DEFINES.match(sentence, at + len(key))
    early = max(0.0, 1.0 - at / _EARLY) * 1.5
    short = 1.0 if len(sentence) <= MAX_DESCRIPTION_CHARS else 0.1

    return ((2.0 + (verb["article"] is not None) if verb else 0.0) + early + 0.5) * short


def _description(
    key: str, descriptions: Mapping[str, tuple[float, str]], first: ChunkRecord
) -> str:
    text = descriptions[key][1] if key in descriptions else f"Mentioned under {first.heading}."
    if len(text) <= MAX_DESCRIPTION_CHARS:
        return text
    return text[: MAX_DESCRIPTION_CHARS - 1].rsplit(" ", 1)[0] + "…"
