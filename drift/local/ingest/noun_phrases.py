"""Pure: terms that are written like other words, found by how they are used.

A term recurs, stands where a noun stands (after an article or a preposition, before the end of a
phrase), and its words keep together; a single word also gathers in few chunks, as topics do.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from drift.core.stop_words import PROSE_STOP_WORDS
from drift.local.ingest.plain_words import BEFORE_NOUNS, COMMON_WORDS, GENERAL_WORDS
from drift.local.ingest.prose import singular

LONGEST_PHRASE = 3
FEWEST_CHUNKS = 2

_WORD = re.compile(r"[^\W\d_]\w*(?:[-'’]\w+)*|[^\w\s]|\d\S*")
_NO_LAST_WORD = re.compile(r".*(?:ly|ic|ical|ous|ful|able|ible|ed|less|'s)$")
_SHORTEST_ALONE, _SHORTEST_LAST = 6, 3
_FEWEST_USES, _FEWEST_USES_ALONE, _FEWEST_USES_OF_GENERAL = 3, 5, 6

_PHRASE_AS_NOUN, _PHRASE_ENDS = 0.3, 0.4
"""The least shares of uses after a word that nouns follow, and before a boundary."""

_WORD_AS_NOUN, _WORD_ENDS, _WORD_AS_BOTH = 0.15, 0.38, 0.75
"""For a single word the least of each share, and of both together."""

_ING_AS_NOUN, _ING_ENDS = 0.25, 0.75
_LAST_AS_NOUN = 0.06
"""The least share of uses as a noun of a phrase's last word alone: no verb, that is."""

_TOGETHER, _TOGETHER_TWICE = 12.0, 100.0
"""How many times as often as by chance the words of a phrase meet, for each word after the first.

More for a phrase that is used only twice.
"""

_GATHERED = 0.99
"""In how many times as many chunks a word would stand if its uses were spread by chance."""

_NEVER = PROSE_STOP_WORDS | COMMON_WORDS


class Usage:
    """How words are used in all chunks: counts of one to three words in a row, by key.

    `plain` counts words as they are written in lower case.
    """

    def __init__(self, chunks: Iterable[Iterable[str]]) -> None:
        """Count what the chunks hold, each given as its sentences."""
        self.plain: Counter[str] = Counter()
        self._read = 0
        self._words: Counter[str] = Counter()
        self._uses: Counter[str] = Counter()
        self._as_noun: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()
        self._chunks: Counter[str] = Counter()
        for sentences in chunks:
            seen: set[str] = set()
            for sentence in sentences:
                self._count(_WORD.findall(sentence), seen)
            self._chunks.update(seen)
            self._read += 1

    def terms(self) -> frozenset[str]:
        """Return the keys of the terms that recur."""
        return frozenset((*self._phrases(), *self._single_words()))

    def _count(self, tokens: Sequence[str], seen: set[str]) -> None:
        """Count the words of a sentence, and what ends with one in lower case."""
        lowered = [token.lower().replace("’", "'") for token in tokens]
        fits = [word[0].isalpha() and word not in _NEVER for word in lowered]
        self._words.update(word for word, fit in zip(lowered, fits, strict=True) if fit)
        for at, token in enumerate(tokens):
            if not fits[at] or token[0].isupper():
                continue

            self.plain[token] += 1
            last, ends = singular(lowered[at]), at + 1 == len(tokens) or not fits[at + 1]
            for start in range(at, max(-1, at - LONGEST_PHRASE), -1):
                if not fits[start]:
                    break
                key = " ".join([*lowered[start:at], last])
                seen.add(key)
                self._uses[key] += 1
                self._ends[key] += ends
                self._as_noun[key] += not start or lowered[start - 1] in BEFORE_NOUNS

    def _phrases(self) -> Iterator[str]:
        """Yield the phrases whose words keep together."""
        every = sum(self._words.values())
        for key, uses in self._uses.items():
            if " " not in key or not self._stands_as_noun(key, _PHRASE_AS_NOUN, _PHRASE_ENDS):
                continue

            first, *_, last = parts = key.split()
            if first.endswith("ly") or not _can_end(last):
                continue
            if uses < _FEWEST_USES_OF_GENERAL and GENERAL_WORDS.issuperset(parts):
                continue

            alone = self._uses[last]
            if 2 * uses < alone and self._as_noun[last] < _LAST_AS_NOUN * alone:
                continue
            if self._keeps_together(uses, parts, every):
                yield key

    def _keeps_together(self, uses: int, parts: Sequence[str], every: int) -> bool:
        """Tell whether the words meet far more often than by chance, or are seldom apart."""
        alone = [self._words[part] or self._uses[part] for part in parts]
        least = _TOGETHER if uses >= _FEWEST_USES else _TOGETHER_TWICE
        by_chance = math.prod(alone) / every ** (len(parts) - 1)
        return uses >= least ** (len(parts) - 1) * by_chance or (
            uses >= _FEWEST_USES and 2 * uses >= max(alone)
        )

    def _single_words(self) -> Iterator[str]:
        """Yield the words that gather in fewer chunks than chance would spread them over."""
        for key, uses in self._uses.items():
            if (
                uses >= _FEWEST_USES_ALONE
                and " " not in key
                and len(key) >= _SHORTEST_ALONE
                and key not in GENERAL_WORDS
                and _can_end(key)
                and self._stands_as_noun(key, *_least_shares(key))
                and self._as_noun[key] + self._ends[key] >= _WORD_AS_BOTH * uses
            ):
                by_chance = self._read * (1 - math.exp(-uses / self._read))
                if by_chance >= _GATHERED * self._chunks[key]:
                    yield key

    def _stands_as_noun(self, key: str, as_noun: float, ends: float) -> bool:
        uses = self._uses[key]
        return (
            self._chunks[key] >= FEWEST_CHUNKS
            and self._as_noun[key] >= as_noun * uses
            and self._ends[key] >= ends * uses
        )


def _least_shares(word: str) -> tuple[float, float]:
    return (_ING_AS_NOUN, _ING_ENDS) if word.endswith("ing") else (_WORD_AS_NOUN, _WORD_ENDS)


def _can_end(word: str) -> bool:
    return len(word) >= _SHORTEST_LAST and not _NO_LAST_WORD.match(word)
