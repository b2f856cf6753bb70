"""Pure: the same words in two ways to write them, and how near others are.

The form of words is what stays when case, accents, quotes, punctuation and white space are apart.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import islice, pairwise

from drift.evidence.sentences import sentences

_QUOTES = str.maketrans(
    "\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019\u201a`\u00b4", "\"\"\"\"\"'''''"
)
"""Typographic quotes to plain ones."""
MAX_SENTENCES_COMPARED = 200
CLOSE_ENOUGH = 0.75
"""Similarity (0..1, see `similarity`) from which words stand for others."""


def form(text: str) -> str:
    """Return what two ways to write the same words have in common."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(filter(str.isalnum, plain))


def letters(text: str) -> str:
    """Return the words of a text in their form, one space between them."""
    return " ".join(filter(None, map(form, text.split())))


def pairs(text: str) -> Counter[tuple[str, str]]:
    """Count the pairs of characters that stand beside each other, white space and case apart."""
    plain = f" {' '.join(text.casefold().split())} "
    return Counter(pairwise(plain))


def similarity(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    """Return the Sørensen-Dice coefficient (Dice 1945) of character pairs, 0 to 1.

    Unlike an alignment, it takes time in proportion to the texts, whatever they are.
    """
    return 2 * (one & other).total() / (one.total() + other.total())


def verbatim(span: str, text: str) -> str:
    """Return the text's own words for a span; empty when nothing in the text is close enough.

    A span that stands in the text is returned as it is. Else white space, case and quotes may
    differ, and else the closest sentence is returned.
    """
    if span.strip() and span in text:
        return span
    return _equal_up_to_form(span, text) or closest_sentence(span, text, CLOSE_ENOUGH)


def _equal_up_to_form(span: str, text: str) -> str:
    wanted, _ = _plain(span)
    if not wanted:
        return ""
    flat, origin = _plain(text)
    start = flat.find(wanted)
    if start < 0:
        return ""
    return text[origin[start] : origin[start + len(wanted) - 1] + 1]


def _plain(text: str) -> tuple[str, list[int]]:
    """Return the text without case, quote styles and runs of white space.

    Beside it, return where each of its characters stands in the text.
    """
    characters: list[str] = []
    origin: list[int] = []
    for position, character in enumerate(text.translate(_QUOTES)):
        if character.isspace():
            if characters and characters[-1] != " ":
                characters.append(" ")
                origin.append(position)
            continue
        for folded in character.casefold():
            characters.append(folded)
            origin.append(position)
    while characters and characters[-1] == " ":
        characters.pop()
        origin.pop()
    return "".join(characters), origin


def closest_sentence(wanted: str, text: str, at_least: float = 0.0) -> str:
    """Return the sentence of a text that is most similar to `wanted`.

    It is empty when none reaches `at_least`.
    """
    target = pairs(wanted)
    best, best_score = "", at_least
    for sentence in islice(sentences(text), MAX_SENTENCES_COMPARED):
        score = similarity(pairs(sentence), target)
        if score > best_score or (score == best_score and not best):
            best, best_score = sentence, score
    return best
