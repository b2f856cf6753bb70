"""How well a line answers a question.

What it means and which of the question's rare words it holds.

Words are compared without their endings, and scripts that write no spaces by pairs of characters,
so that no language needs rules of its own.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from drift.offline.model_server.embedding import Matrix, vector
from drift.offline.model_server.lines import Line, lines
from drift.words import STOP_WORDS_OF_FOUR_LANGUAGES

MEANING = 0.4
"""Share of the cosine in a score; the rest is the share of the question's words that are found."""
AROUND = 0.3
"""What a word counts that stands not in a line but in its headings or the title of its document."""
ON_TOPIC = 0.27
"""Cosine under which the best line is of another topic, whichever words it shares with the
question."""
LINK = 0.8
"""What a rare word shared with a chosen line adds, as far as that line leaves words of the question
open."""
SAME = 0.9
"""Cosine from which two lines say the same."""

STEM = 4
"""Letters that the forms of one word share at least."""
ENDING = 3
"""Letters in which the forms of one word differ at most, at their end."""
HEAD = 3
"""Letters that stand before the last part of a compound at least."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]")
_ACCENT = re.compile("[\u0300-\u036f]")
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+(?:[-.:/]\d+)*")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to search: its lines belong to `id`, `title` says what it is about."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A line with the chunk it stands in, how well it answers (0 to 1), and where it stands among all lines."""

    line: Line
    chunk_id: str
    score: float
    place: int


@lru_cache(maxsize=50_000)
def terms(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about, in small letters without accents."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        if _UNSPACED_RUN.match(word):
            found.update("".join(pair) for pair in pairwise(word))
        elif word.casefold() not in STOP_WORDS_OF_FOUR_LANGUAGES and (
            len(word) > 1 or not word.islower()
        ):
            found.add(_ACCENT.sub("", unicodedata.normalize("NFD", word.casefold())).strip("_"))
    return frozenset(found)


def forms(words: Iterable[str]) -> dict[str, str]:
    """Return for each word the one that stands for all its forms.

    The first of them in the alphabet.
    """
    found: dict[str, str] = {}
    first = ""

    for word in sorted(words):
        shared = max(STEM, len(first) - ENDING, len(word) - ENDING)
        if not word.isalpha() or word[:shared] != first[:shared]:
            first = word
        found[word] = first

    return found


def _forms_in(text: str, form: Mapping[str, str], asked: frozenset[str]) -> frozenset[str]:
    """Return the words of a text as their forms, with the asked words that its compounds end in."""
    own = terms(text)
    ends = (term for term in asked for word in own if _is_compound(word, term))
    return frozenset(form[term] for term in (*own, *ends))


def _is_compound(word: str, end: str) -> bool:
    """Tell whether a word is made of another one and of `end`, in any of its forms.

    `Zugseile` of `Seil`.
    """
    at = word.rfind(end)
    return len(end) >= STEM and at >= HEAD and len(word) - at - len(end) <= ENDING


def search(question: str, passages: Sequence[Passage], most: int) -> list[Found]:
    """Return the lines that together answer a question, best first, at most `most`."""
    places = [(p, line) for p in passages for line in lines(p.text)]
    around = [f"{p.title} {line.under}" for p, line in places]
    chosen = choose(question, [line.text for _, line in places], around, most)
    return [Found(places[at][1], places[at][0].id, score, at) for at, score in chosen]


def choose(
    question: str, texts: Sequence[str], around: Sequence[str], most: int
) -> list[tuple[int, float]]:
    """Return the places and scores of the texts to quote, the best one first.

    None when that is of another topic.

    Each next one answers by itself, or goes on from those before it: it shares a rare word with
    them that the question does not have, while words of the question are left open. So the second
    note of two that answer together is found.
    """
    words = terms(question)
    form = forms(words.union(*map(terms, texts), *map(terms, around)))
    asked = frozenset(form[word] for word in words)
    own = [_forms_in(text, form, words) for text in texts]
    near = [_forms_in(text, form, words) - mine for text, mine in zip(around, own, strict=True)]
    rarity = _rarity([mine | other for mine, other in zip(own, near, strict=True)])
    weights = _weights(asked, rarity)
    meant = [MEANING * _cosine(vector(question), text) for text in texts]
    links = [0.0] * len(texts)
    covered: set[str] = set()
    left, chosen = set(range(len(texts))), list[tuple[int, float]]()
    while left and len(chosen) < most:
        missing = LINK * sum(weight for term, weight in weights.items() if term not in covered)
        gains = {
            at: (
                meant[at]
                + (1 - MEANING) * _covered(weights, own[at], near[at])
                + links[at] * missing
            )
            for at in left
        }
        best = max(gains, key=lambda at: (gains[at], -at))
        if not chosen and meant[best] < MEANING * ON_TOPIC:
            return []
        chosen.append((best, gains[best]))
        known = own[best] | near[best]
        covered |= known
        left = {at for at in left if not alike(texts[at], texts[best])}
        for at in left:
            shared = (own[at] & known | near[at] & own[best]) - asked
            links[at] = max(
                links[at], max((rarity[term] for term in shared if _tells(term)), default=0.0)
            )
    return chosen


def affinity(question: str, text: str) -> float:
    """Return how close a longer text is to a question, from 0 to 1.

    All words of the question count the same.
    """
    asked, told = terms(question), terms(text)
    form = forms(asked | told)
    told_forms = {form[term] for term in told}
    shared = sum(form[term] in told_forms for term in asked) / len(asked) if asked else 0.0
    return MEANING * _cosine(vector(question), text) + (1 - MEANING) * shared


def alike(one: str, other: str) -> bool:
    """Tell whether two lines say the same: one holds the other, or both mean the same."""
    return one in other or other in one or float(vector(one) @ vector(other)) >= SAME


def _cosine(asked: Matrix, text: str) -> float:
    return max(0.0, float(asked @ vector(text)))


def _tells(term: str) -> bool:
    """Tell whether a word may lead from line to line.

    Short ones are articles and prepositions of some language.
    """
    return len(term) >= STEM or bool(_UNSPACED_RUN.match(term)) or any(map(str.isdigit, term))


def _rarity(found: Sequence[Iterable[str]]) -> dict[str, float]:
    """Return how rare each word is.

    1 where it stands once, towards 0 where it stands everywhere.
    """
    counts = Counter(term for own in found for term in own)
    most = math.log(1 + len(found))
    return {term: math.log((1 + len(found)) / count) / most for term, count in counts.items()}


def _weights(asked: Iterable[str], rarity: Mapping[str, float]) -> dict[str, float]:
    """Return how much each word of a question counts: rare words more, absent ones most.

    They add up to 1.
    """
    raw = {term: (0.1 + rarity.get(term, 1.0)) for term in sorted(asked)}
    total = sum(raw.values()) or 1.0
    return {term: weight / total for term, weight in raw.items()}


def _covered(weights: Mapping[str, float], own: frozenset[str], around: frozenset[str]) -> float:
    return sum(
        w * (1.0 if t in own else AROUND if t in around else 0.0) for t, w in weights.items()
    )
