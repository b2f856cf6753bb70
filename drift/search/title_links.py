"""Pure: the documents that a question names by their titles, and those that their texts lead to.

A title that stands in a text leads to the one document about it, and so does a link, where the
mention of an entity leads to everything that mentions it too. Questions over two documents are
often made of such links, and so are handbooks and wikis.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from drift.core import hyperlinks
from drift.core.names import document_key, normalised_title, plain_text
from drift.core.sentence_ends import split_sentences
from drift.core.stop_words import ASKING_WORDS, STOP_WORDS
from drift.model.graph import NAMELESS, Chunk, Via, document_of

SEEDS = 3
"""The best chunks, whose texts lead on beside those of the documents that are named."""
COMMON_SHARE = 0.25
"""Of the documents found: a title that stands in more of them leads nowhere."""
MEETS = 0.3
"""The share, by rarity, of the question's other words that a sentence of one of the best chunks
holds, for the title in it to lead. Sentences of documents that are named need none."""
MOST_NAMED, MOST_LINKED = 4, 5
"""Documents of which the best chunk leads."""
OWN_MEETS = 0.1
"""The same share that the linked document needs of its own where the sentence has none of it."""
STEM_LETTERS = 5  # `directed` meets `director`
_STEMLESS = STOP_WORDS | ASKING_WORDS


def linked(chunk: Chunk) -> Iterator[tuple[str, str]]:
    """Yield the words of each link of a chunk, and the id of the other document it leads to."""
    told_by = chain(hyperlinks.links_in(chunk.text), chunk.links)
    for words, told in islice(told_by, hyperlinks.MOST_OF_A_CHUNK):
        id_ = hyperlinks.document_at(hyperlinks.target_of(told), chunk.document_id)
        if id_ not in {"", chunk.document_id}:
            yield words, id_


def led_by_titles(question: str, best_first: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks, those first to which titles lead, with the score of the best.

    These are the best chunk of each document that is named, then of those that they or the three
    best chunks name or link to.
    """
    links = _Links.among(question, best_first)
    leading = {chunk.id: (chunk, via) for chunk, via in links.leading(best_first[:SEEDS])}
    first = (
        replace(chunk, score=best_first[0].score, via=tuple(dict.fromkeys((*chunk.via, via))))
        for chunk, via in leading.values()
    )
    return (*first, *(chunk for chunk in best_first if chunk.id not in leading))


@dataclass(frozen=True, slots=True)
class _Links:
    """The best chunk of each document, by its title too, and a question's words by rarity."""

    first: Mapping[str, Chunk]
    common: frozenset[str]
    titled: Mapping[str, Chunk]
    titles: re.Pattern[str]
    named: Sequence[str]
    words: Mapping[str, float]

    @classmethod
    def among(cls, question: str, best_first: Sequence[Chunk]) -> _Links:
        first: dict[str, Chunk] = {}
        for chunk in best_first:
            first.setdefault(document_of(chunk), chunk)
        keys = {one: document_key(chunk.document_name) for one, chunk in first.items()}
        repeats = Counter(keys.values())
        titled = {keys[one]: chunk for one, chunk in first.items() if repeats[keys[one]] == 1}
        for nothing in ("", NAMELESS):
            titled.pop(nothing, None)

        texts = [(document_of(chunk), plain_text(chunk.text)) for chunk in best_first]
        titles = _any_of(titled)
        holding = {(key, document) for document, text in texts for key in titles.findall(text)}
        held = Counter(key for key, _ in holding)
        most = max(2, COMMON_SHARE * len(first))
        rare = {key: chunk for key, chunk in titled.items() if held[key] <= most}
        links = {(to, document_of(chunk)) for chunk in best_first for _, to in linked(chunk)}
        leading = Counter(to for to, _ in links)
        common = frozenset(to for to, documents in leading.items() if documents > most)

        asked = plain_text(question)
        titles = _any_of(rare)
        named = tuple(k for k in dict.fromkeys(titles.findall(asked)) if _is_meant(k, question))
        words = _stems(asked) - {stem for key in named for stem in _stems(key)}
        counts = Counter(word for _, text in texts for word in _stems(text) & words)
        rarity = {word: math.log(1 + (len(texts) + 0.5) / (counts[word] + 0.5)) for word in words}
        return cls(first, common, rare, titles, named, rarity)

    def leading(self, best: Sequence[Chunk]) -> Iterator[tuple[Chunk, Via]]:
        """Yield the chunks of documents named, then of those linked, the likeliest first."""
        named = [self.titled[key] for key in self.named]
        named = sorted(named, key=lambda chunk: -chunk.score)[:MOST_NAMED]
        yield from ((chunk, "title") for chunk in named)

        scores: dict[str, float] = {}
        own: dict[str, float] = {}
        for rank, seed in enumerate((*named, *best)):
            links = {plain_text(words): to for words, to in linked(seed) if to in self.first}
            words = _any_of(
                said
                for said, to in links.items()
                if len(said) >= hyperlinks.FEWEST_CHARACTERS and to not in self.common
            )
            for sentence in map(plain_text, split_sentences(seed.text)):
                meets = self._meets(sentence)
                if rank >= len(named) and meets < MEETS:
                    continue
                titled = (document_of(self.titled[key]) for key in self.titles.findall(sentence))
                for one in (*titled, *(links[found] for found in words.findall(sentence))):
                    if one not in own:
                        own[one] = self._meets(plain_text(self.first[one].text))
                    if meets or own[one] >= OWN_MEETS:
                        score = meets + own[one] / 2 + 0.3 / (1 + rank)
                        scores[one] = max(scores.get(one, 0.0), score)

        further = [one for one in scores if self.first[one] not in (*named, *best)]
        for one in sorted(further, key=lambda one: (-scores[one], one))[:MOST_LINKED]:
            yield self.first[one], "link"

    def _meets(self, plain: str) -> float:
        held = self.words.keys() & _stems(plain)
        return sum(map(self.words.__getitem__, held)) / (sum(self.words.values()) or 1.0)


def _is_meant(key: str, question: str) -> bool:
    """Tell whether a question means a title, and not the word that it is.

    One of a single word stands in a capital, unless nothing in the question does.
    """
    capitals = [word for word in question.split() if next(filter(str.isalnum, word), "").isupper()]
    return not (capitals and key.isalpha()) or key in map(normalised_title, capitals)


def _any_of(titles: Iterable[str]) -> re.Pattern[str]:
    """Return what finds titles that stand as whole words, of two that overlap the longer."""
    longest_first = sorted(titles, key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first)) if longest_first else "(?!)"
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)")


def _stems(plain: str) -> set[str]:
    words = set(re.findall(r"\w+", plain)) - _STEMLESS
    return {word[:STEM_LETTERS] for word in words}
