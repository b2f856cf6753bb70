"""Pure: texts compared: as words, by their letters, and as questions."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from drift.core.folding import as_typed
from drift.core.names import proper_names
from drift.core.stop_words import FILLERS
from drift.model.tree import Question

STEM_LETTERS = 4
SAME_WORDS = 0.75
"""Overlap of all content words (Jaccard) from which two questions ask for the same."""
SAME_TOPIC = 0.7
"""The same without names: a long name must not hide that one asks for a mother, one for a father,
or that one goes a step further than the other."""

_WORD = re.compile(r"\w+")
_ENDING_LETTERS = 3
_ASKING = frozenset("how when where who why".split())
"""Words that decide what is asked for; `what` and `which` go with any of them."""
_POSSESSIVE = re.compile(r"['’]s\b")
_LONGEST_WITHOUT_PLURAL = 3


# ----------------------------------------------------------------------------- words and letters


def folded(text: str) -> str:
    """Return a text without case and accents."""
    plain = unicodedata.normalize("NFKD", as_typed(text)).casefold()
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


_FORM = re.compile(
    r"[^\W_]+"
    r"|(?<![^\W_])-(?=\d)"  # -5
    r"|(?<=\d)[.,:/'-](?=\d)"  # 1.5, 9:30, 10-12
    r"|(?<=[^\W\d_])(?:\+\+|#)(?![^\W_])"  # C++, C#
)
_CUT = re.compile(r"(?<=\d)[.,:/'-]?\d|(?<=[^\W\d_])(?:\+\+|#)")
_CUT_BEFORE = re.compile(r"(?:\d[.,:/'-]?|(?<![^\W_])-)$")


def form(text: str) -> str:
    """Return what two ways to write the same words have in common: folded letters and digits.

    Signs that make another number or name of them stay: those of `-5`, `1.5`, `C#`.
    """
    plain = unicodedata.normalize("NFKD", text.replace("\u2212", "-")).casefold()
    return "".join(_FORM.findall(plain))


def places_of(words: str, text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield where words stand in a text, not where they cut a number or a name such as `C#`."""
    last = len(text) if end is None else end
    at = text.find(words, start, last) if words else -1
    while at >= 0:
        behind = at + len(words)
        cuts = behind < last and _CUT.match(text, behind)
        if not cuts and not (
            words[0].isdigit() and _CUT_BEFORE.search(text[max(start, at - 2) : at])
        ):
            yield at
        at = text.find(words, at + 1, last)


_NUMBER = re.compile(r"(?:(?<![^\W_])[-\u2212])?\d+(?:[.,']\d+)*")
_SIGNED = re.compile(r"\b[A-Za-z](?:\+\+|#)")
_GROUPED = re.compile(r"(-?\d{1,3})((?:[.,']\d{3})+)")
_NEGATIONS = frozenset(
    """
    cannot neither never no nobody none nor not nothing nowhere without
    kein keine keinen keiner keines nicht nichts nie niemals niemand ohne
    aucun aucune jamais ne pas rien sans
    nada nadie ninguna ninguno nunca sin
    """.split()
)


def negates(text: str) -> bool:
    """Tell whether a text denies something, by its words."""
    words = map(folded, _WORD.findall(text))
    return not _NEGATIONS.isdisjoint(words) or "n't" in text or "n\u2019t" in text


def says_otherwise(words: str, text: str) -> bool:
    """Tell whether words hold a number that a text lacks, or deny or name what it does not."""
    if not _numbers(words) <= _numbers(text) or negates(words) != negates(text):
        return True
    signed, there = set(_SIGNED.findall(words)), set(_SIGNED.findall(text))
    return not signed <= there or any(re.search(rf"\b{n[0]}\b(?![+#])", words) for n in there)


def _numbers(text: str) -> frozenset[str]:
    found = (number.replace("\u2212", "-") for number in _NUMBER.findall(text))
    return frozenset(
        re.sub("[.,']", "", number) if _GROUPED.fullmatch(number) else number for number in found
    )


class KnownWords:
    """Folded words, in which others are looked up as they are and with another ending."""

    def __init__(self, words: Iterable[str]) -> None:
        """Take the words."""
        self.words = frozenset(words)
        self._by_beginning: defaultdict[str, list[str]] = defaultdict(list)
        for word in self.words:
            self._by_beginning[word[:STEM_LETTERS]].append(word)

    def has(self, word: str) -> bool:
        """Whether a word is known, or one that begins alike up to endings of three letters."""
        if word in self.words:
            return True
        if len(word) < STEM_LETTERS or not word.isalpha():
            return False
        for other in self._by_beginning.get(word[:STEM_LETTERS], ()):
            shared = max(STEM_LETTERS, len(word) - _ENDING_LETTERS, len(other) - _ENDING_LETTERS)
            if len(other) >= shared and word.startswith(other[:shared]):
                return True
        return False


def pairs(text: str) -> Counter[tuple[str, str]]:
    """Count the pairs of characters that stand beside each other, white space and case apart."""
    plain = f" {' '.join(text.casefold().split())} "
    return Counter(pairwise(plain))


def similarity(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    """Return the Sørensen-Dice coefficient (Dice 1945) of character pairs, 0 to 1."""
    return 2 * (one & other).total() / (one.total() + other.total())


# -------------------------------------------------------------------------------------- questions


def is_repeated(one: Question, other: Question) -> bool:
    """Tell whether two questions ask for the same.

    One that is searched with a hint asks the same as one that has the hint's words of its own. Two
    of these are told apart by their own words alone, because they may share a long hint.
    """
    if one.beside != other.beside:
        return False
    if bool(one.hint) != bool(other.hint) and is_same_question(searched(one), searched(other)):
        return True
    return is_same_question(one.text, other.text)


def is_asked_again(question: Question, parent: Question | None) -> bool:
    """Tell whether a question is its parent's, asked another way."""
    return parent is not None and (question.text, question.beside) == (parent.text, parent.beside)


def searched(question: Question) -> str:
    """Return the words that a question is searched with."""
    return f"{question.text} {question.hint}".strip()


def is_same_question(one: str, other: str) -> bool:
    """Tell whether two questions are near-duplicates by their content words.

    They are none when each has a name or a number that the other lacks, or when one asks where and
    the other when.
    """
    a, b = content_words(one), content_words(other)
    if not a or not b:
        return one.casefold().strip() == other.casefold().strip()

    names, others = _names(one) & a, _names(other) & b
    asks, asks_too = (_ASKING.intersection(_WORD.findall(text.casefold())) for text in (one, other))
    if (names - b and others - a) or (asks and asks_too and not asks & asks_too):
        return False

    named = names | others
    return _overlap(a, b) >= SAME_WORDS and _overlap(a - named, b - named) >= SAME_TOPIC


def content_words(text: str) -> frozenset[str]:
    """Return a text's words without fillers, case, punctuation, possessives and the plural's s."""
    words = _WORD.findall(_POSSESSIVE.sub("", text.casefold()))
    return frozenset(_singular(word) for word in words if word not in FILLERS)


def _singular(word: str) -> str:
    is_plural = len(word) > _LONGEST_WITHOUT_PLURAL and word[-1] == "s" and word[-2] != "s"
    return word[:-1] if is_plural else word


def _names(text: str) -> frozenset[str]:
    return content_words(" ".join([*proper_names(text), *re.findall(r"\b\d+\b", text)]))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0
