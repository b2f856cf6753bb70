"""Pure: names that a question asks about and no text shows.

The rule is strict, because a false alarm refuses a question that can be answered: names are
misspelt, inflected and transliterated, and a question may be in another language than the texts.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice

from drift.core.stop_words import ASKING_WORDS, MONTHS_AND_DAYS, STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.text import KnownWords, folded

_MIN_LETTERS = 4
_ENDING_LETTERS = 3

_WORD = re.compile(r"[^\W_]+(?:['\u2019.&-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_BREAK = re.compile(r"[,;:.?!()\[\]\"\u201c\u201d\u201e\u00ab\u00bb]")
_BEGINS_ANEW = re.compile(r"(?:^|[.?!:][\"'\u201d\u2019)]*\s+)[\"'\u201c\u2018\u201e\u00ab(]*$")
_COMMON = STOP_WORDS_OF_FOUR_LANGUAGES | ASKING_WORDS
_GERMAN = frozenset(
    """
    auf aus bei das dem den der des ein eine einem einen einer eines für ist mit nach nicht oder
    sind und vom von wann warum welche welchem welchen welcher welches wer werden wie wo wurde
    wurden zum zur
    """.split()
)
"""Two of them make a question German, where every noun begins with a capital."""
_BEGINS_GERMAN = frozenset(
    """
    beschreibe darf erkläre erläutere gab gibt haben hat hatte ist kann können muss müssen nenne
    sind soll sollen wann warum welche welchem welchen welcher welches wem wen wer werden weshalb
    wessen wie wieso wieviel wird wo wofür woher wohin womit woran worauf woraus worin worum wovon
    wozu wurde wurden
    """.split()
)
"""One of them begins a German question, and none in another language."""


@dataclass(frozen=True, slots=True)
class _Name:
    words: tuple[str, ...]
    start: int
    end: int


def unseen_name(question: str, shown: Iterable[str]) -> str:
    """Return the first name of a question that stands in none of these texts; else nothing.

    A name is a run of words in capitals within a sentence. It is unseen when none of its words, no
    word with the same beginning, no similar word and not its initials stand in the texts, while
    most of the other words of the question do.
    """
    return _first(question, shown, _names(question), _COMMON, _ShownWords.hold)


def lacking_name(question: str, shown: Iterable[str]) -> str:
    """Return the first name of a question whose last word stands in none of these texts.

    They may have a part of it, as "David Howard" where David Howard Thornton is asked for: what
    they say is of another. A false alarm only ends a search early, so more is a name than for
    `unseen_name`, and less is another spelling.
    """
    names = _names(question, in_titles=False)
    return _first(question, shown, names, frozenset(), _ShownWords.hold_end)


def _first(
    question: str,
    shown: Iterable[str],
    names: Iterable[_Name],
    apart: frozenset[str],
    hold: Callable[[_ShownWords, _Name], bool],
) -> str:
    """Return the first of the names that the texts do not hold, if they speak one language."""
    asked = list(islice(names, 12))
    if not asked:
        return ""

    texts = _ShownWords(shown)
    if not _is_in_their_language(question, asked, texts.words, apart):
        return ""
    return next((" ".join(name.words) for name in asked if not hold(texts, name)), "")


# ------------------------------------------------------------------------- the names of a question


def _names(question: str, *, in_titles: bool = True) -> Iterator[_Name]:
    """Yield names; where many capitals may be a title's style, only unless it is `in_titles`."""
    words = [match[0] for match in _WORD.finditer(question)]
    capitals = [word for word in words if word[0].isupper()]
    # Of a question's words: with more, capitals are its style and tell no names.
    is_title = len(capitals) > 0.6 * len(words)
    if not in_titles:
        is_title = any(
            word.casefold() in _COMMON or word[1:].isupper()
            for word in words[1:]
            if word in capitals
        )
    if not words or is_title:
        return

    # In German nouns are written in capitals, so that they tell no names.
    small = [word.casefold() for word in words]
    if small[0] in _BEGINS_GERMAN or len(_GERMAN.intersection(small)) > 1:
        return

    for run in _runs(question):
        start, end = run[0].start(), run[-1].end()
        name = _Name(tuple(_POSSESSIVE.sub("", match[0]) for match in run), start, end)
        if not (_is_aside(question, name) or _is_too_common(name)):
            yield name


def _runs(question: str) -> Iterator[list[re.Match[str]]]:
    run: list[re.Match[str]] = []
    end = 0
    for match in _WORD.finditer(question):
        begins = _BEGINS_ANEW.search(question, end, match.start())
        breaks = _BREAK.search(question, end, match.start())
        end = match.end()
        common = _POSSESSIVE.sub("", match[0]).casefold() in _COMMON
        is_name = match[0][0].isupper() and not begins and not common
        if run and (breaks or not is_name):
            yield run
            run = []
        if is_name:
            run.append(match)

    if run:
        yield run


def _is_aside(question: str, name: _Name) -> bool:
    """Whether a name stands in brackets or quotes, or is that of a source."""
    before = question[: name.start]
    in_brackets = before.count("(") > before.count(")")
    in_quotes = before.count('"') % 2 or before.count("\u201c") > before.count("\u201d")
    of_source = re.search(
        r"(?:according to|laut|gem\u00e4\u00df|wikipedia|\b(?:article|book|chapter|corpus|dataset"
        r"|document|documentation|documents|film|guide|journal|magazine|manual|movie|newspaper"
        r"|novel|novella|page|paper|play|poem|report|series|song|story|study|text|textbook|website"
        r"|wiki))\s+(?:the\s+|on\s+|of\s+|by\s+|titled\s+|called\s+|entitled\s+|named\s+)*$",
        before,
        re.IGNORECASE,
    )
    return bool(in_brackets or in_quotes or of_source)


def _is_too_common(name: _Name) -> bool:
    calendar = MONTHS_AND_DAYS.union("spring summer autumn fall winter easter christmas".split())
    letters = [folded(word) for word in name.words if folded(word) not in calendar]
    # How words for peoples and their languages end, which a text may say by another word.
    if not letters or (len(letters) == 1 and re.search(r"(?:an|ish|ese|ch|ic)$", letters[0])):
        return True
    has_digit = any(map(str.isdigit, "".join(letters)))
    return not has_digit and max(map(len, letters)) < _MIN_LETTERS


# ------------------------------------------------------------------------------- what texts hold


class _ShownWords:
    """The words of the shown texts, in which names are looked up."""

    def __init__(self, shown: Iterable[str]) -> None:
        joined = "\n".join(shown)
        parts = _PART.findall(folded(joined))
        self.words = SpeltWords(parts)
        self._squeezed = "".join(parts)
        capitals = [part for part in _PART.findall(joined) if part[0].isupper()]
        self._initials = "".join(part[0] for part in capitals).casefold()
        self._capitals = SpeltWords(map(folded, capitals))

    def hold(self, name: _Name) -> bool:
        """Whether anything in the texts may be this name."""
        parts = [part for word in name.words for part in _PART.findall(folded(word))]
        short = "".join(part[0] for part in parts)
        whole = "".join(parts)
        if whole in self._squeezed or (len(parts) > 1 and short in self.words.words):
            return True
        if name.words[0].isupper() and whole in self._initials:
            return True

        least = _MIN_LETTERS if any(map(str.isdigit, parts)) else 2
        long = [part for part in parts if len(part) >= least]
        return any(self.words.has(part) or self.words.has_similar(part) for part in long)

    def hold_end(self, name: _Name) -> bool:
        """Whether the last word of a name stands here, as it is or as a name spelt alike."""
        short = "".join(folded(word)[:1] for word in name.words)
        if len(short) > 1 and short in self.words.words:
            return True
        return any(
            part in self.words.words
            or self._capitals.has(part)
            or self._capitals.has_similar(part, 0.8)  # this only ends a search early
            for part in _PART.findall(folded(name.words[-1]))
        )


class SpeltWords(KnownWords):
    """Words in which others are looked up in another spelling, too."""

    @cached_property
    def _of_length(self) -> dict[int, list[tuple[int, str]]]:
        """Words by their length, with their letters as bits: most cannot be like another."""
        found = defaultdict(list)
        for word in self.words:
            if len(word) >= _MIN_LETTERS - 1:
                found[len(word)].append((_letters(word), word))
        return found

    def has_similar(self, word: str, least: float = 0.66) -> bool:
        """Whether a word may be misspelt here, or written in another way.

        `least` is the similarity (0..1, of Ratcliff and Obershelp) of two spellings of one name.
        """
        if len(word) < _MIN_LETTERS or not word.isalpha():
            return False

        matcher = SequenceMatcher(None, "", word, autojunk=False)
        for one in self.like(word, least):
            matcher.set_seq1(one)
            if matcher.quick_ratio() >= least and matcher.ratio() >= least:
                return True
        return False

    def like(self, word: str, least: float) -> Iterator[str]:
        """Yield the words of about its length that may have letters enough in common with it."""
        own, length = _letters(word), len(word)
        for other in range(length - _ENDING_LETTERS, length + _ENDING_LETTERS + 1):
            common = math.ceil(least * (length + other) / 2 - 1e-9)
            apart, strange = length - common, other - common
            for letters, one in self._of_length.get(other, ()):
                is_near = (own & ~letters).bit_count() <= apart
                if is_near and (letters & ~own).bit_count() <= strange:
                    yield one


def _letters(word: str) -> int:
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _is_in_their_language(
    question: str, names: Sequence[_Name], known: KnownWords, apart: frozenset[str]
) -> bool:
    """Whether half of the question's words, its names and common words apart, are in the texts."""
    named = {folded(part) for name in names for word in name.words for part in _PART.findall(word)}
    words = {folded(word) for word in _PART.findall(question) if word.casefold() not in apart}
    others = [word for word in words - named if word.isalpha()]
    return bool(others) and sum(map(known.has, others)) >= 0.5 * len(others)
