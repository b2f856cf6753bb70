"""Pure: whether a span says another figure of the same thing than the sentence that cites it.

It does where both have figures of one kind around the same words, and the span has none of the
sentence's. What may be derived, rounded, converted or compared does not contradict.
"""

# ruff: noqa: RUF001 - signs that look like others are what is read here
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise, product

from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.figures import Figure, figures, plain
from drift.evidence.sentence_ends import split_sentences
from drift.evidence.text import KnownWords, folded

MOST_CHARACTERS = 2_000
"""Of a text that is read for its figures."""
MOST_SPANS = 24
MOST_FIGURES = 20
"""Of a sentence or span; one with more is a table, which nothing is held against."""
MOST_COUNTED = 50
SAME_THING = 0.5
"""Share of the words of the shorter text, or clause, that the other has."""
ABOUT = 0.1
CONVERTED = 0.03
"""How far off a number may be that is said to be rounded, or stands for another unit."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+|[^\W\d_\u3040-\u30ff\u3400-\u9fff]{2,}")
_CLAUSE = re.compile(
    r"[,;:()|\n。；：！？!?—–]|\.\s"
    r"|\b(?:and|but|while|whereas|und|aber|oder|während|et|mais|tandis|y|pero|mientras)\b",
    re.IGNORECASE,
)
_WRAPPED = re.compile(r"[ \t]*\n[ \t]*(?=[^\W_A-Z])")
_SENTENCE_END = re.compile(r"[.!?。！？]\s*$")
_COMBINES = re.compile(
    r"\b(?:together|total\w*|sum|both|combined|average|mean|difference|than|most|least|highest|lowest"
    r"|largest|smallest|biggest|longest|shortest|cheapest|respectively|each|twice|half|double\w*"
    r"|zusammen|insgesamt|gesamt\w*|summe|beide\w*|durchschnitt\w*|als|höchste\w*|niedrigste\w*"
    r"|größte\w*|kleinste\w*|jeweils|ensemble|total\w*|somme|moyenne|que|juntos|suma|promedio)\b"
    r"|合計|合计|总共|总计|一共|共|平均|最",
    re.IGNORECASE,
)
_LOSS = re.compile(
    r"\b(?:loss\w*|lost|lose\w*|deficit|debt\w*|minus|below|negative|fell|fall\w*|drop\w*|down|decline\w*"
    r"|decreas\w*|verlust\w*|unter|gefallen|sank|perte\w*|pérdida\w*)\b|赤字|零下",
    re.IGNORECASE,
)
_EXTENT = re.compile(
    r"\s?(deep|long|wide|high|tall|thick|old|tief|lang|breit|hoch|dick|alt|de long|de large|de haut)\b",
    re.IGNORECASE,
)


_MORE = frozenset(
    "extra more other further additional another weitere weiterer andere neue new".split()
)
"""Words by which a number counts only what is added."""


@dataclass(frozen=True)
class _Read:
    """A text with its figures, and its words by the clause that they stand in."""

    text: str
    figures: tuple[Figure, ...]

    @cached_property
    def words(self) -> list[tuple[int, str]]:
        """Words of content outside of figures, with where they begin; pairs of ideographs."""
        blank, at = [], 0
        for one in self.figures:
            blank += [self.text[at : one.start], "\0" * (one.end - one.start)]
            at = max(at, one.end)
        text = "".join([*blank, self.text[at:]])
        found = []
        for match in _WORD.finditer(text):
            word = match[0]
            if "\u3040" <= word[0] <= "\u9fff":
                signs = [a + b for a, b in pairwise(word)] or [word]
                found += [(match.start() + n, sign) for n, sign in enumerate(signs)]
            elif (small := folded(word)) not in STOP_WORDS_OF_FOUR_LANGUAGES:
                found.append((match.start(), small))
        return found

    @cached_property
    def loses(self) -> bool:
        """Whether it speaks of a loss, which has a sign as a number and none in words."""
        return _LOSS.search(self.text) is not None

    @cached_property
    def known(self) -> KnownWords:
        return KnownWords(word for _, word in self.words)

    @cached_property
    def _clauses(self) -> list[tuple[int, int]]:
        """Where clauses stand; one without words belongs to the one before, else to the next."""
        ends = [
            one.end()
            for one in _CLAUSE.finditer(self.text)
            if not any(f.start < one.start() < f.end for f in self.figures)
        ]
        starts = [at for at, _ in self.words]
        clauses: list[tuple[int, int]] = []
        start = 0
        for end in [*ends, len(self.text)]:
            if bisect_left(starts, end) > bisect_left(starts, start):
                clauses.append((start, end))
            elif clauses and not _SENTENCE_END.search(self.text[max(0, start - 3) : start]):
                clauses[-1] = (clauses[-1][0], end)
            elif end < len(self.text):
                continue
            start = end
        return clauses or [(0, len(self.text))]

    def clause(self, figure: Figure) -> int:
        at = bisect_right(self._clauses, (figure.start, len(self.text) + 1)) - 1
        return max(at, 0)

    def around(self, figure: Figure) -> list[str]:
        start, end = self._clauses[self.clause(figure)]
        return [word for at, word in self.words if start <= at < end]

    def nearest(self, figure: Figure) -> str:
        """Return the word before a figure in its clause, else the one behind it."""
        start, end = self._clauses[self.clause(figure)]
        here = [(at, word) for at, word in self.words if start <= at < end]
        before = [word for at, word in here if at < figure.start]
        return before[-1] if before else here[0][1] if here else ""


_NOTHING = _Read("", ())


@lru_cache(maxsize=2_048)
def _read(text: str) -> _Read:
    said = _WRAPPED.sub(" ", plain(text))
    return _Read(said, figures(said))


def uncontradicted(text: str, spans: Sequence[str]) -> list[bool]:
    """Tell of each span that a text cites whether no figure of it contradicts a sentence of it.

    A sentence may combine what stands in several spans, and of several sentences of a text one may
    stand on a span that others do not; more than can be looked at in little time is not judged.
    """
    if len(text) > MOST_CHARACTERS or len(spans) > MOST_SPANS:
        return [True] * len(spans)
    said = [read for read in map(_read, split_sentences(text)) if read.figures]
    cited = [_read(span) if len(span) <= MOST_CHARACTERS else _NOTHING for span in spans]
    if not said:
        return [True] * len(spans)

    made = [_Made(one, cited) for one in said]
    kept = []
    for span in cited:
        against = [
            one
            for one, others in zip(said, made, strict=True)
            if _contradicts(one, span, others, alone=len(cited) == 1)
        ]
        kept.append(not against or any(_holds(one, span) for one in said if one not in against))
    return kept


def contradicts(sentence: str, span: str) -> bool:
    """Tell whether a span has other figures than the sentence for what both speak of."""
    return uncontradicted(sentence, [span]) == [False]


def have_other_figures(one: str, other: str) -> bool:
    """Tell whether each of two texts has a figure that the other lacks."""
    a, b = _read(one), _read(other)
    return _lacks(a, b) and _lacks(b, a)


def _lacks(one: _Read, other: _Read) -> bool:
    """Tell whether a text lacks a figure of another."""
    there = one.figures[:MOST_FIGURES]
    return any(
        not any(_is_same(f, figure, other, one) for figure in there)
        for f in other.figures[:MOST_FIGURES]
    )


def _holds(said: _Read, cited: _Read) -> bool:
    return any(_is_same(a, b, said, cited) for a, b in product(said.figures, cited.figures))


def _contradicts(said: _Read, cited: _Read, made: _Made, *, alone: bool) -> bool:
    if not cited.figures or max(len(said.figures), len(cited.figures)) > MOST_FIGURES:
        return False
    held = [
        one
        for one in said.figures
        if any(_is_same(one, other, said, cited) for other in cited.figures)
    ]
    return any(_is_contradicted(one, said, cited, made, held, alone=alone) for one in said.figures)


def _is_contradicted(
    one: Figure, said: _Read, cited: _Read, made: _Made, held: Sequence[Figure], *, alone: bool
) -> bool:
    """Tell whether a figure of a sentence is another one in a span that has these of it."""
    if one.is_negated or _is_one(one) or one in held:
        return False
    # What a span has for another clause, or of the same kind, it is cited for.
    if any(_is_comparable(one, h) or said.clause(h) != said.clause(one) for h in held):
        return False
    if not any(
        _is_comparable(one, other)
        and not (other.is_negated or _is_one(other))
        and _is_of_same(one, other, said, cited)
        for other in cited.figures
    ):
        return False
    if not alone and (_COMBINES.search(said.text) or _may_be_counted(one)):
        return False
    return not made.holds(one)


def _is_one(figure: Figure) -> bool:
    """Tell whether it is the number that articles are, too: `one of the cranes`."""
    return figure.readings == (1.0,) and not figure.kind


def _is_comparable(one: Figure, other: Figure) -> bool:
    kinds = one.kind.partition(":")[0], other.kind.partition(":")[0]
    if "date" in kinds or "time" in kinds or "version" in kinds:
        return kinds[0] == kinds[1]
    if all(kinds):
        degrees = {"celsius", "fahrenheit"}
        return kinds[0] == kinds[1] or set(kinds) <= degrees
    if one.nouns and other.nouns and not any(kinds):
        if not _MORE.isdisjoint((*one.nouns, *other.nouns)):
            return False
        known = KnownWords(map(folded, other.nouns))
        return any(known.has(folded(noun)) for noun in one.nouns)
    if one.label or other.label:
        return one.label == other.label and not any(kinds)
    return not (one.nouns or other.nouns)


def _is_of_same(one: Figure, other: Figure, said: _Read, cited: _Read) -> bool:
    """Tell whether two figures are of the same, by the words of the texts and of their clauses."""
    extents = [_EXTENT.match(read.text, f.end) for f, read in ((one, said), (other, cited))]
    if extents[0] and extents[1] and extents[0][1].casefold() != extents[1][1].casefold():
        return False
    if not said.words:
        return len(said.figures) == 1

    if not _overlap([word for _, word in said.words], cited.known):
        return False

    here, there = said.around(one), cited.around(other)
    near, far = KnownWords(here), KnownWords(there)
    if not _overlap(here, far):
        return False
    if not (far.has(said.nearest(one)) or near.has(cited.nearest(other))):
        return False
    # What the figure of the span is of, the sentence may speak of as well, in another clause.
    return not any(not near.has(word) and said.known.has(word) for word in there)


def _overlap(words: Sequence[str], known: KnownWords) -> bool:
    distinct = set(words)
    shared = sum(map(known.has, distinct))
    return shared >= SAME_THING * min(len(distinct), len(known.words)) > 0


def _is_same(one: Figure, other: Figure, said: _Read, cited: _Read) -> bool:
    """Tell whether two figures are one, written, rounded or measured another way."""
    if one.kind == "version" or other.kind == "version":
        a, b = sorted((one.written, other.written), key=len)
        return bool(a) and (a == b or b.startswith(f"{a}."))
    if one.dates and other.dates:
        return any(_agree(a, b) for a, b in product(one.dates, other.dates))
    if one.dates or other.dates:
        year, number = (one, other) if one.dates else (other, one)
        return year.dates[0][1:] == (0, 0) and float(year.dates[0][0]) in number.readings

    is_free = not (one.kind and other.kind)
    if not is_free and not _is_comparable(one, other):
        return False
    loses = said.loses or cited.loses
    return any(
        _meets(one, a, other, b, loses=loses) for a, b in product(one.readings, other.readings)
    )


def _agree(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a == b or not a or not b for a, b in pairs) and any(a and a == b for a, b in pairs)


def _meets(one: Figure, a: float, other: Figure, b: float, *, loses: bool) -> bool:
    if one.kind and other.kind and one.kind != other.kind:
        if "fahrenheit" not in {one.kind, other.kind}:
            return False  # another currency
        a, b = (_celsius(f, value) for f, value in ((one, a), (other, b)))
        return abs(a - b) < 1

    factor = one.factor / other.factor if one.kind and other.kind else 1.0
    rate = one.times / other.times if one.times and other.times else 1.0
    tolerance = max(one.precision * factor * rate, other.precision)
    if factor != 1 or rate not in {1.0, 12.0, 1 / 12, 4.0, 0.25}:
        tolerance = max(tolerance, CONVERTED * abs(b))
    if "money" not in one.kind and bool(one.precision) != bool(other.precision):
        tolerance = max(tolerance, 0.5 if abs(b) < 1000 else 0.0)
    a *= factor * rate
    if loses:
        a, b = abs(a), abs(b)

    low, high = a, (one.until or one.readings[0]) * factor * rate if one.until is not None else a
    least, most = b, other.until if other.until is not None else b
    if "~" in one.bound + other.bound:
        tolerance = max(tolerance, ABOUT * abs(b))
    if one.bound != other.bound or one.until is not None or other.until is not None:
        low, high = _bounded(one, low, high)
        least, most = _bounded(other, least, most)
    gap = max(low - most, least - high, 0.0)
    return gap <= 1e-9 * abs(b) or gap < tolerance


def _bounded(figure: Figure, low: float, high: float) -> tuple[float, float]:
    infinite = float("inf")
    return (-infinite if figure.bound == "<" else low, infinite if figure.bound == ">" else high)


def _celsius(figure: Figure, value: float) -> float:
    return (value - 32) * 5 / 9 if figure.kind == "fahrenheit" else value


class _Made:
    """The sums, differences, products, shares and means of the figures of a sentence and spans."""

    def __init__(self, said: _Read, spans: Sequence[_Read]) -> None:
        self._said = said
        self._spans = spans

    @cached_property
    def _made(self) -> list[tuple[float, float, float]]:
        """Each with the two numbers that it is made of, in order."""
        read = [f for span in self._spans for f in span.figures]
        every = {v for f in (*read, *self._said.figures) for v in _values(f)[:1]}
        known = sorted(every - {0.0, 1.0})[:MOST_FIGURES]
        numbers = [f.readings[0] for f in read if f.readings]
        total = sum(numbers)
        made = [(one, 0.0, 0.0) for one in (total, total / max(1, len(numbers)))]
        made = made if len(numbers) > 1 else []
        for a, b in product(known, known):
            made += ((c, a, b) for c in (a + b, a - b, a * b, a / b, 100 * a / b))
        return sorted(made)

    def holds(self, one: Figure) -> bool:
        """Tell whether a number is one that can be made of the others."""
        if one.kind in {"version", "time"}:
            return False
        for wanted in _values(one):
            room = 1e-6 * abs(wanted) + one.precision
            for value, *of in islice(self._made, bisect_left(self._made, (wanted - room,)), None):
                if value > wanted + room:
                    break
                if wanted not in of:
                    return True
        return False


def _values(figure: Figure) -> tuple[float, ...]:
    if figure.dates:
        return (float(figure.dates[0][0]),) if figure.dates[0][0] else ()
    return figure.readings


def _may_be_counted(one: Figure) -> bool:
    """Tell whether a number may count what several spans name."""
    return not (one.kind or one.label) and one.readings[0] <= MOST_COUNTED
