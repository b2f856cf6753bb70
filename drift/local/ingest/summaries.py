"""Pure: what a community is about, in its own most central sentences, without a model."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from drift.local.ingest.communities import Group
from drift.local.ingest.entities import FoundEntity, Reading
from drift.local.ingest.page_text import readable
from drift.local.ingest.prose import words
from drift.local.ingest.said import may_state

MAX_SUMMARY_CHARS = 1200
TITLE_ENTITIES = 3
CENTRAL_ENTITIES = 8
MAX_SENTENCES = 4

_MAX_SENTENCE = 300
_TOO_ALIKE = 0.5
_MAX_TITLE_CHARS = 160
_SENTENCES_BEFORE_NAMES = 2
_OF_A_NAME = 0.5
"""What a sentence gains for each of the two central entities that it names."""

_LEANS = 0.5
"""What counts of a sentence that begins with a word for what stands before it."""

_LEANING = frozenset(
    (
        *("he", "she", "it", "they", "we", "i", "you", "this", "that", "these", "those", "his"),
        *("her", "their", "its", "thus", "hence", "however", "but", "and", "so", "then", "once"),
        *("also", "moreover", "therefore", "here", "there", "such", "nevertheless", "yes", "no"),
    )
)
_NO_NAME = 0.5
"""What counts, for a title, of a word in small letters or with a digit first."""


Weights = defaultdict[str, float]


@dataclass(frozen=True, slots=True)
class Summary:
    """A community's title, its text, and the sentences in it, best first."""

    title: str
    text: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    vector: Mapping[str, float]
    keys: frozenset[str]


def summarise(
    groups: Sequence[Group], readings: Sequence[Reading], entities: Iterable[FoundEntity]
) -> tuple[Summary, ...]:
    """Return one summary a community, in the order of `groups`.

    That of a parent is made of its children's best sentences.
    """
    titles = {entity.key: entity.title for entity in entities}
    vectors = _vectors(readings)
    central: dict[int, Weights] = {}
    made: dict[int, Summary] = {}

    # Children come before their parents.
    for group in reversed(groups):
        central[group.id] = _central(group, readings, central)
        ranked = sorted(central[group.id].items(), key=lambda item: (-item[1], item[0]))
        names = [titles[key] for key, _ in ranked]

        texts = _texts(group, readings, made)
        about_most = {key for key, _ in ranked[:CENTRAL_ENTITIES]}
        chosen = _most_central((vectors[text] for text in texts if text in vectors), about_most)
        first = readings[group.chunks[0]].chunk if group.chunks else None
        if not chosen and first:
            chosen = [
                " ".join((readable(first.text).strip() or first.text).split())[:_MAX_SENTENCE]
            ]

        fallback = first.heading if first and first.heading else "Other"
        best = [titles[key] for key, _ in sorted(ranked, key=lambda item: -_of_title(item, titles))]
        title = (", ".join(_distinct(best, TITLE_ENTITIES)) or fallback)[:_MAX_TITLE_CHARS]
        about = [made[child].title for child in group.children]
        made[group.id] = Summary(title, _compose(title, names, about, chosen), tuple(chosen))

    return tuple(made[group.id] for group in groups)


def _of_title(weighed: tuple[str, float], titles: Mapping[str, str]) -> float:
    """Weigh an entity for a title: names before words, and numbers last."""
    key, weight = weighed
    title = titles[key]
    named = not title[0].isdigit() and (" " in title or not title.islower())
    return weight if named else weight * _NO_NAME


def _texts(group: Group, readings: Sequence[Reading], made: Mapping[int, Summary]) -> Iterator[str]:
    """Yield the sentences that a summary may have: those of the children, else of the chunks."""
    for child in group.children:
        yield from made[child].sentences
    if not group.children:
        for place in group.chunks:
            yield from (sentence.text for sentence in readings[place].sentences)


def _central(group: Group, readings: Sequence[Reading], central: Mapping[int, Weights]) -> Weights:
    """Weigh a community's entities by its chunks; a parent adds up its children."""
    total: Weights = defaultdict(float)
    members = set(group.entities)
    for place in group.chunks:
        for key, weight in readings[place].weights.items():
            if key in members:
                total[key] += weight

    for key in members:
        total[key] += 0

    for child in group.children:
        for key, weight in central[child].items():
            total[key] += weight

    return total


def _distinct(names: Iterable[str], most: int) -> list[str]:
    """Return at most so many names, without those that repeat the words of a better one."""
    kept: dict[str, set[str]] = {}
    for name in names:
        said = set(words(name))
        if not any(said and (said <= other or other <= said) for other in kept.values()):
            kept[name] = said
        if len(kept) == most:
            break

    return list(kept)


def _vectors(readings: Sequence[Reading]) -> dict[str, _Candidate]:
    """Return the tf-idf vector, of length one, of each whole sentence that may say something."""
    usable = {
        s.text: s.keys
        for reading in readings
        for s in reading.sentences
        if s.whole and len(s.text) <= _MAX_SENTENCE and may_state(s.text)
    }
    bags = {text: Counter(words(text)) for text in usable}
    spread = Counter(word for bag in bags.values() for word in bag)
    found = {}
    for text, bag in bags.items():
        raw = {word: count * math.log(1 + len(bags) / spread[word]) for word, count in bag.items()}
        length = math.sqrt(sum(value * value for value in raw.values())) or 1.0
        vector = {word: value / length for word, value in raw.items()}
        found[text] = _Candidate(text, vector, usable[text])

    return found


def _most_central(candidates: Iterable[_Candidate], names: AbstractSet[str]) -> list[str]:
    """Return the sentences closest to the centre of all, none too like another.

    Those that name central entities come before those that lean on what stands before them.
    """
    pool = {candidate.text: candidate for candidate in candidates}
    centre: Weights = defaultdict(float)
    for candidate in pool.values():
        for word, weight in candidate.vector.items():
            centre[word] += weight

    ranked = sorted(pool.values(), key=lambda c: (-_tells(c, centre, names), c.text))
    chosen: list[_Candidate] = []
    for candidate in ranked:
        if all(_likeness(candidate, other) < _TOO_ALIKE for other in chosen):
            chosen.append(candidate)
            if len(chosen) == MAX_SENTENCES:
                break

    return [candidate.text for candidate in chosen]


def _tells(candidate: _Candidate, centre: Mapping[str, float], names: AbstractSet[str]) -> float:
    """Rate how much a sentence says of what is central."""
    near = sum(value * centre[word] for word, value in candidate.vector.items())
    named = 1 + _OF_A_NAME * min(2, len(candidate.keys & names))
    first = candidate.text.split(" ", 1)[0].strip("\"“'‘(*,").lower()
    return near * named * (_LEANS if first in _LEANING else 1.0)


def _likeness(a: _Candidate, b: _Candidate) -> float:
    return sum(value * b.vector.get(word, 0.0) for word, value in a.vector.items())


def _compose(title: str, names: Sequence[str], about: Sequence[str], chosen: Sequence[str]) -> str:
    """Write the lines that fit: title, the best sentences, entities, parts, more sentences."""
    lists = [f"Central: {', '.join(names[:CENTRAL_ENTITIES])}."] if names else []
    lists += [f"Parts: {'; '.join(about[:CENTRAL_ENTITIES])}."] if about else []
    named = "\n".join(lists)[: MAX_SUMMARY_CHARS // 2 - _MAX_TITLE_CHARS]
    room = MAX_SUMMARY_CHARS - len(title) - len(named) - 1
    kept = []
    for sentence in chosen:
        if len(sentence) + 1 <= room:
            kept.append(sentence)
            room -= len(sentence) + 1

    before, after = kept[:_SENTENCES_BEFORE_NAMES], kept[_SENTENCES_BEFORE_NAMES:]
    return "\n".join(line for line in (title, *before, named, *after) if line)
