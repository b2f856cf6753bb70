"""Pure: whether a span says another figure of the same thing than the sentence that cites it.

It does where both have figures of one kind around the same words, and the span has none of the
sentence's. A figure that may be derived, rounded, converted or compared does not contradict.
"""

# ruff: noqa: RUF001 - signs that look like others are what is read here
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from drift.core.folding import UNSPACED
from drift.core.sentence_ends import split_sentences
from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.figure_text import plain
from drift.evidence.figures import Figure, figures, without
from drift.evidence.same_figures import Made, are_comparable, are_same, is_one
from drift.evidence.text import KnownWords, folded


class _Bounds(NamedTuple):
    """The most that is read in little time."""

    characters: int = 2_000
    """Of a sentence or span."""
    spans: int = 24
    figures: int = 20
    """Of a sentence or span; one with more is a table, which nothing is held against."""


_MOST = _Bounds()
_CLAUSE = re.compile(
    r"[,;:()|\n。；：！？!?—–]|\.\s"
    r"|\b(?:and|but|while|whereas|und|aber|oder|während|et|mais|tandis|y|pero|mientras)\b",
    re.IGNORECASE,
)
_COMBINES = re.compile(
    r"\b(?:together|total\w*|sum|both|combined|average|mean|difference|than|most|least|highest|lowest"
    r"|largest|smallest|biggest|longest|shortest|cheapest|respectively|each|twice|half|double\w*"
    r"|zusammen|insgesamt|gesamt\w*|summe|beide\w*|durchschnitt\w*|als|höchste\w*|niedrigste\w*"
    r"|größte\w*|kleinste\w*|jeweils|ensemble|total\w*|somme|moyenne|que|juntos|suma|promedio)\b"
    r"|合計|合计|总共|总计|一共|共|平均|最",
    re.IGNORECASE,
)
_EXTENT = re.compile(
    r"\s?(deep|long|wide|high|tall|thick|old|tief|lang|breit|hoch|dick|alt|de long|de large"
    r"|de haut)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _FigureText:
    """A text with its figures, and its words by the clause that they stand in."""

    text: str
    figures: tuple[Figure, ...]

    @cached_property
    def words(self) -> list[tuple[int, str]]:
        """Words of content outside of figures, with where they begin; pairs of unspaced letters."""
        text = without(self.text, [(one.start, one.end) for one in self.figures])
        found = []
        for match in re.finditer(rf"(?P<unspaced>[{UNSPACED}]+)|[^\W\d_{UNSPACED}]{{2,}}", text):
            word = match[0]
            if match["unspaced"]:
                signs = [a + b for a, b in pairwise(word)] or [word]
                found += [(match.start() + n, sign) for n, sign in enumerate(signs)]
            elif (small := folded(word)) not in STOP_WORDS_OF_FOUR_LANGUAGES:
                found.append((match.start(), small))
        return found

    @cached_property
    def loses(self) -> bool:
        """Whether it speaks of a loss, which has a sign as a number and none in words."""
        found = re.search(
            r"\b(?:loss\w*|lost|lose\w*|deficit|debt\w*|minus|below|negative|fell|fall\w*|drop\w*"
            r"|down|decline\w*|decreas\w*|verlust\w*|unter|gefallen|sank|perte\w*|pérdida\w*)\b"
            r"|赤字|零下",
            self.text,
            re.IGNORECASE,
        )
        return found is not None

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
            elif clauses and not re.search(
                r"[.!?。！？]\s*$", self.text[max(0, start - 3) : start]
            ):
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


@lru_cache(maxsize=2_048)
def _read(text: str) -> _FigureText:
    said = re.sub(r"(?<![ \t])[ \t]*+\n[ \t]*+(?=[^\W_A-Z])", " ", plain(text))
    return _FigureText(said, figures(said))


def uncontradicted(text: str, spans: Sequence[str]) -> list[bool]:
    """Tell of each span that a text cites whether no figure of it contradicts a sentence of it.

    A sentence may combine figures of several spans, and of several sentences of a text one may
    stand on a span that others do not; more than can be looked at in little time is not judged.
    """
    if len(text) > _MOST.characters or len(spans) > _MOST.spans:
        return [True] * len(spans)
    said = [read for read in map(_read, split_sentences(text)) if read.figures]
    cited = [_read(span if len(span) <= _MOST.characters else "") for span in spans]
    if not said:
        return [True] * len(spans)

    every = [figure for span in cited for figure in span.figures]
    made = [Made(one.figures, every) for one in said]
    kept = []
    for span in cited:
        against = [
            one
            for one, others in zip(said, made, strict=True)
            if _contradicts(one, span, others, alone=len(cited) == 1)
        ]
        kept.append(not against or any(_held(one, span) for one in said if one not in against))
    return kept


def _held(said: _FigureText, cited: _FigureText) -> list[Figure]:
    """Return the figures of a sentence that a span has as well."""
    loses = said.loses or cited.loses
    return [
        one
        for one in said.figures
        if any(are_same(one, other, loses=loses) for other in cited.figures)
    ]


def _contradicts(said: _FigureText, cited: _FigureText, made: Made, *, alone: bool) -> bool:
    """Tell whether a span, the only one or not, has another figure than a sentence."""
    if not cited.figures or max(len(said.figures), len(cited.figures)) > _MOST.figures:
        return False
    held = _held(said, cited)
    may_combine = not alone and _COMBINES.search(said.text) is not None
    return any(
        not (may_combine or (not alone and _may_be_counted(one)) or made.holds(one))
        for one in said.figures
        if one not in held and _is_another(one, said, cited, held)
    )


def _is_another(one: Figure, said: _FigureText, cited: _FigureText, held: Sequence[Figure]) -> bool:
    """Tell whether a figure of a sentence is another one in a span that has these of it."""
    if one.is_negated or is_one(one):
        return False
    # A span is cited for a figure that it has of the same kind, or for another clause.
    if any(are_comparable(one, h) or said.clause(h) != said.clause(one) for h in held):
        return False
    return any(
        are_comparable(one, other)
        and not (other.is_negated or is_one(other))
        and _is_of_same(one, other, said, cited)
        for other in cited.figures
    )


def _is_of_same(one: Figure, other: Figure, said: _FigureText, cited: _FigureText) -> bool:
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
    # The sentence may speak of the span's thing as well, in another clause.
    return not any(not near.has(word) and said.known.has(word) for word in there)


def _overlap(words: Sequence[str], known: KnownWords) -> bool:
    distinct = set(words)
    shared = sum(map(known.has, distinct))
    # Half of the words of the shorter text, or clause.
    return shared >= 0.5 * min(len(distinct), len(known.words)) > 0


def _may_be_counted(one: Figure) -> bool:
    """Tell whether a number may count the things of several spans."""
    most = 50
    return not (one.kind or one.label) and one.readings[0] <= most
