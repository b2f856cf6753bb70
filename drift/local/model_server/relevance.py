"""How well a line answers a question: what it means, and which rare words of the question it has.

Words are compared without their endings, and scripts that write no spaces by pairs of characters,
so that no language needs rules of its own.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.text import says_otherwise, tokens
from drift.llm.local_embedding import vector

MEANING = 0.4
"""Share of the cosine in a score; the rest is the share of the question's words that are found."""
AROUND = 0.3
"""What a word counts that stands only in the headings of a line or the title of its document."""
ON_TOPIC = 0.27
"""Cosine below which the best line is of another topic, whichever words it shares."""
LINK = 0.8
"""What a rare word shared with a chosen line adds while words of the question are still open."""
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


@lru_cache(maxsize=50_000)
def terms(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about, in small letters without accents."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        small = word.casefold()
        if _UNSPACED_RUN.match(word):
            found.update("".join(pair) for pair in pairwise(word))
        elif small not in STOP_WORDS_OF_FOUR_LANGUAGES and (len(word) > 1 or not word.islower()):
            found.add(_ACCENT.sub("", unicodedata.normalize("NFD", small)).strip("_"))

    return frozenset(found)


def forms(words: Iterable[str]) -> dict[str, str]:
    """Return for each word the one that stands for all its forms: the first in the alphabet."""
    found: dict[str, str] = {}
    first = ""

    for word in sorted(words):
        shared = max(STEM, len(first) - ENDING, len(word) - ENDING)
        if not word.isalpha() or word[:shared] != first[:shared]:
            first = word
        found[word] = first

    return found


def choose(
    question: str, texts: Sequence[str], around: Sequence[str], most: int
) -> list[tuple[int, float]]:
    """Return the places and scores of the texts to quote, the best one first.

    None when the best one is of another topic. Each next one answers by itself, or goes on from
    those before it: it shares a rare word with them that the question does not have, while words
    of the question are still open. So the second note of two that answer together is found.
    """
    words = terms(question)
    form = forms(words.union(*map(terms, texts), *map(terms, around)))
    asked = {form[word] for word in words}
    inside = [_forms_in(text, form, words) for text in texts]
    told = [_forms_in(text, form, words) | own for text, own in zip(around, inside, strict=True)]
    rarity = _rarity(told)
    raw = {term: 0.1 + rarity.get(term, 1.0) for term in sorted(asked)}
    weights = {term: weight / sum(raw.values()) for term, weight in raw.items()}

    meant = [max(0.0, float(vector(question) @ vector(text))) for text in texts]
    left = {}
    for at in range(len(texts)):
        near = {
            t: w if t in inside[at] else AROUND * w for t, w in weights.items() if t in told[at]
        }
        left[at] = MEANING * meant[at] + (1 - MEANING) * sum(near.values())

    links = [0.0] * len(texts)
    chosen: list[tuple[int, float]] = []

    while left and len(chosen) < most:
        missing = LINK * sum(weights.values())
        best = max(left, key=lambda at: (left[at] + links[at] * missing, -at))
        if not chosen and meant[best] < ON_TOPIC:
            break

        chosen.append((best, left[best] + links[best] * missing))
        weights = {term: weight for term, weight in weights.items() if term not in told[best]}
        left = {at: score for at, score in left.items() if not alike(texts[at], texts[best])}
        for at in left:
            shared = (inside[at] & told[best] | told[at] & inside[best]) - asked
            links[at] = max([links[at], *(rarity[term] for term in shared)])

    return chosen


def affinity(question: str, text: str) -> float:
    """Return how close a longer text is to a question, 0 to 1; all its words count the same."""
    asked, told = terms(question), terms(text)
    form = forms(asked | told)
    told_forms = {form[term] for term in told}
    shared = sum(form[term] in told_forms for term in asked) / max(1, len(asked))
    return MEANING * max(0.0, float(vector(question) @ vector(text))) + (1 - MEANING) * shared


def alike(one: str, other: str) -> bool:
    """Tell whether two lines say the same: one holds the other, or both mean the same.

    Lines with other figures do not, nor does one that denies what the other says.
    """
    a, b = tokens(one), tokens(other)
    if says_otherwise(a, b) and says_otherwise(b, a):
        return False
    return one in other or other in one or float(vector(one) @ vector(other)) >= SAME


def _forms_in(text: str, form: Mapping[str, str], asked: frozenset[str]) -> frozenset[str]:
    """Return the words of a text as their forms, with the asked words that its compounds end in."""
    words = terms(text)
    ends = (term for term in asked for word in words if _is_compound(word, term))
    return frozenset(form[term] for term in (*words, *ends))


def _is_compound(word: str, end: str) -> bool:
    """Tell whether a word is made of another one and any form of `end`: `Zugseile` of `Seil`."""
    at = word.rfind(end)
    return len(end) >= STEM and at >= HEAD and len(word) - at - len(end) <= ENDING


def _rarity(told: Sequence[Iterable[str]]) -> dict[str, float]:
    """Return how rare each word is: 1 where it stands once, towards 0 where it is everywhere."""
    counts = Counter(term for words in told for term in words)
    most = math.log(1 + len(told))
    return {term: math.log((1 + len(told)) / count) / most for term, count in counts.items()}
