"""Pure: a chunk's text with its sentences by number, and those that a model's words mean."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise
from typing import NamedTuple
from unicodedata import category

from drift.core.sentence_ends import STOPS
from drift.evidence.figure_text import any_of
from drift.evidence.figure_words import CARDINALS
from drift.evidence.prose_sentences import MAX_SPAN_CHARACTERS
from drift.evidence.sentences import spans
from drift.evidence.text import form, pairs, places_of, says_otherwise, similarity, tokens

MAX_RUN = 3  # sentences that one span may hold
NOWHERE = 0  # stands for the number of a sentence of another chunk; sentences are numbered from 1
CLOSE_ENOUGH = 0.75  # similarity (0..1) from which words stand for others

_NUMBER = rf"(?:\d+|\b(?:{any_of(filter(CARDINALS.get, CARDINALS))})\b)"
_SAID = re.compile(
    rf"\b(?P<handle>[^\W\d_]\d+)\b(?<!\bs\d)(?<!\bs\d\d)(?<!\bs\d\d\d)"
    rf"|(?P<first>{_NUMBER})"
    rf"(?:\s*+(?:-|\u2013|\u2014|\.\.++|\bto\b|\bthrough\b|\bbis\b)\s*+(?:sentences?|s)?[\s.]*+(?P<last>{_NUMBER}))?",
    re.IGNORECASE,
)


class Run(NamedTuple):
    """Consecutive sentences, from a first number to a last."""

    first: int
    last: int


def runs(said: str, chunk: str = "") -> tuple[Run, ...]:
    """Return the sentences that are named, as at most three runs of at most three, in order.

    `chunk` is the handle that they are numbered in: `K3.4` names no sentence of K5.
    """
    numbers = sorted(set(islice(_numbers(said, chunk), 50)))
    if len(numbers) > 1 and numbers[0] == NOWHERE:
        del numbers[0]

    found: list[Run] = []
    for number in numbers:
        first, last = found[-1] if found else (0, 0)
        if found and number == last + 1 and number - first < MAX_RUN:
            found[-1] = Run(first, number)
        else:
            found.append(Run(number, number))

    return tuple(found[:3])  # spans that one reply may name


def _numbers(said: str, chunk: str) -> Iterator[int]:
    own = re.fullmatch(r"\W*([^\W\d_]\d+)\W*", chunk)
    is_here = True
    for named in _SAID.finditer(said):
        if handle := named["handle"]:
            is_here = own is None or handle.casefold() == own[1].casefold()
            continue
        first = _read(named["first"])
        last = _read(named["last"]) if named["last"] else first
        first, last = min(first, last), max(first, last)
        for number in range(first, min(last, first + MAX_RUN - 1) + 1):
            yield number if is_here else NOWHERE


def _read(number: str) -> int:
    return CARDINALS[number.lower()] if number.isalpha() else int(number[:9])


# ---------------------------------------------------------------------------- sentences by number


@dataclass(frozen=True, slots=True)
class NumberedText:
    """A text, its sentences numbered from 1, and the form of them all, one behind the other.

    `spans` say where a sentence stands in the text, `starts` where it begins in the form; the last
    of these is the form's end.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    form: str
    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> NumberedText:
        """Number the sentences of a text."""
        found = spans(text)
        forms = [form(text[start:end]) for start, end in found]
        return cls(text, found, "".join(forms), (0, *accumulate(map(len, forms))))

    @property
    def last(self) -> int:
        """The number of the last sentence, 0 where there is none."""
        return len(self.spans)

    def part(self, first: int, last: int) -> str:
        """Return the text of sentences first to last as it stands there; "" when it is too long."""
        start, end = self.spans[first - 1][0], self.spans[last - 1][1]
        return self.text[start:end] if end - start <= MAX_SPAN_CHARACTERS else ""

    def numbers_of(self, start: int, end: int) -> str:
        """Return the numbers of the sentences from start to end, "4" or "4-5"; "" of other text."""
        first = next((n for n, place in enumerate(self.spans, 1) if place[0] == start), 0)
        last = next((n for n, place in enumerate(self.spans, 1) if place[1] == end), 0)
        return named(first, last) if first and last else ""

    def begins(self, words: str, number: int) -> bool:
        """Tell whether words begin a sentence, up to form; they may go on behind it."""
        start, end = self._place(number)
        return start < end and self._starts(form(words), start)

    def is_spelt(self, words: str, number: int) -> bool:
        """Tell whether words begin a sentence with the same letters and the same runs of digits.

        Other signs may stand between these: `104 9` for `104.9`.
        """
        (said, numbers), (here, others) = map(_spelling, (words, self._sentence(number)))
        return bool(said) and here.startswith(said) and others[: len(numbers)] == numbers

    def holds(self, words: str, number: int) -> bool:
        """Tell whether words stand in a sentence, up to form."""
        wanted, place = form(words), self._place(number)
        return next(places_of(wanted, self.form, *place), -1) >= 0 and self._has(words, number)

    def _has(self, words: str, number: int) -> bool:
        """Tell whether the first of these words, whole, is one of a sentence."""
        return tokens(words)[0] in tokens(self._sentence(number))

    def is_written(self, words: str, number: int, *, whole: bool = False) -> bool:
        """Tell whether words begin a sentence letter by letter, or are the whole of it."""
        here, said = (
            " ".join(text.split()).rstrip(STOPS) for text in (self._sentence(number), words)
        )
        return said.startswith(here) or (not whole and here.startswith(said))

    def resembles(self, words: str, number: int) -> bool:
        """Tell whether words are nearly the beginning of a sentence, or all of it.

        They are neither with another number or a denial.
        """
        said, here = tokens(words), tokens(self._sentence(number))
        target = pairs(" ".join(said))
        # The last of the words may stand a few words further on or before.
        ends = range(max(1, len(said) - 2), len(said) + 4)
        end = next((end for end in ends if here[end - 1 : end] == said[-1:]), len(said))
        # 0.6: of four words with a wrong one 84 % reach it, of those of another sentence 3 %.
        return any(
            similarity(pairs(" ".join(part)), target) >= least and not says_otherwise(said, part)
            for part, least in ((here[:end], 0.6), (here, CLOSE_ENOUGH))
        )

    def _sentence(self, number: int) -> str:
        start, end = self.spans[number - 1]
        return self.text[start:end]

    def _place(self, number: int) -> tuple[int, int]:
        return self.starts[number - 1], self.starts[number]

    def begun_by(self, words: str, near: int = 0) -> Iterator[int]:
        """Yield some sentences that words begin, up to form: as written first, then the nearest."""
        wanted = form(words)
        if wanted in self.form:
            places = enumerate(pairwise(self.starts), 1)
            found = [n for n, (a, b) in places if a < b and self._starts(wanted, a)]
            found = sorted(found, key=lambda n: abs(n - near))[:50]
            yield from sorted(found, key=lambda n: not self.is_written(words, n))

    def _starts(self, wanted: str, start: int) -> bool:
        """Tell whether the form goes on so, up to the end of a sentence or of a number."""
        end = start + len(wanted)
        at = bisect_left(self.starts, end)
        behind = self.starts[at] if at < len(self.starts) else len(self.form)
        return next(places_of(wanted, self.form[start:behind], 0), -1) == 0

    def nearest(self, words: str, number: int) -> int | None:
        """Return the sentence nearest to a number that words begin, else one that holds them."""
        held = sorted(self._holding(words), key=lambda one: abs(one - number))
        found = chain(self.begun_by(words, number), (n for n in held if self._has(words, n)))
        return next(found, None)

    def _holding(self, words: str) -> set[int]:
        wanted = form(words)
        places = ((at, bisect_right(self.starts, at)) for at in places_of(wanted, self.form))
        return {number for at, number in places if at + len(wanted) <= self.starts[number]}

    def verbatim(self, words: str) -> str:
        """Return the text's own words for a model's; empty when nothing is close enough.

        White space, case and quotes may differ, and else the closest sentence is returned.
        """
        if words.strip() and next(places_of(words, self.text, whole=True), -1) >= 0:
            return words

        wanted, _ = _plain(words)
        flat, origin = _plain(self.text)
        start = next(places_of(wanted, flat, whole=True), -1)
        if start < 0:
            return self.closest(words, CLOSE_ENOUGH)

        return self.text[origin[start] : origin[start + len(wanted) - 1] + 1]

    def closest(self, wanted: str, at_least: float = 0.0) -> str:
        """Return the sentence that is most similar to `wanted`; none that is under `at_least`.

        Where that asks for anything, none that says another number, or denies it.
        """
        target = pairs(wanted)
        said = tokens(wanted)
        best, best_score = "", at_least
        for start, end in self.spans[:200]:
            sentence = self.text[start:end]
            score = similarity(pairs(sentence), target)
            if at_least and score >= best_score and says_otherwise(said, tokens(sentence)):
                continue
            if score > best_score or (score == best_score and not best):
                best, best_score = sentence, score

        return best


def named(first: int, last: int) -> str:
    """Return the numbers of sentences as a citation names them, "4" or "4-5"."""
    return str(first) if first == last else f"{first}-{last}"


def _spelling(text: str) -> tuple[str, list[str]]:
    """Return the letters of a text with the marks on them, and its runs of digits."""
    kept = (s for s in text.casefold() if s.isalnum() or s in "+#%" or category(s)[0] == "M")
    return "".join(kept), re.findall(r"\d+", text)


def _plain(text: str) -> tuple[str, list[int]]:
    """Return a text without case, quote styles and runs of space, and where each letter stood."""
    plain_quotes = str.maketrans(
        "\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019\u201a`\u00b4", "\"\"\"\"\"'''''"
    )
    flat = [
        (letter, at)
        for at, sign in enumerate(text.translate(plain_quotes))
        for letter in (" " if sign.isspace() else sign.casefold())
    ]
    kept = [one for before, one in pairwise([(" ", 0), *flat]) if before[0] + one[0] != "  "]
    return "".join(letter for letter, _ in kept).rstrip(" "), [at for _, at in kept]
