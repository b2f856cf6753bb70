"""Pure: a chunk's text with its sentences by number, and the sentence that words belong to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from drift.evidence.sentences import MAX_SPAN_CHARACTERS, spans
from drift.evidence.wording import CLOSE_ENOUGH, form, letters, pairs, similarity

CLOSE_BEGINNING = 0.6
"""Similarity (0..1) from which a few words are those that begin a sentence.

Of four words with a wrong one 84 % reach it, of those of another sentence of the chunk 3 %.
"""


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

    def numbers_of(self, span: str) -> str:
        """Return the numbers of the sentences that a span is made of, "4" or "4-5".

        A span that begins or ends within a sentence has none.
        """
        start = self.text.find(span)
        first = next((n for n, place in enumerate(self.spans, 1) if place[0] == start), 0)
        end = start + len(span)
        last = next((n for n, place in enumerate(self.spans, 1) if place[1] == end), 0)
        return named(first, last) if first and last else ""

    def begins(self, words: str, number: int) -> bool:
        """Tell whether words begin a sentence, up to form; they may go on behind it."""
        start, end = self._place(number)
        return start < end and self.form.startswith(form(words), start)

    def holds(self, words: str, number: int) -> bool:
        """Tell whether words stand in a sentence, up to form."""
        return self.form.find(form(words), *self._place(number)) >= 0

    def resembles(self, words: str, number: int) -> bool:
        """Tell whether words are nearly the beginning of a sentence, or all of it."""
        start, end = self.spans[number - 1]
        given, sentence = letters(words), letters(self.text[start:end])
        target = pairs(given)
        return any(
            similarity(pairs(known), target) >= enough
            for known, enough in (
                (sentence[: len(given)], CLOSE_BEGINNING),
                (sentence, CLOSE_ENOUGH),
            )
        )

    def _place(self, number: int) -> tuple[int, int]:
        return self.starts[number - 1], self.starts[number]

    def begun_by(self, words: str) -> Iterator[int]:
        """Yield the sentences that words begin, up to form."""
        wanted = form(words)
        if wanted in self.form:
            places = enumerate(pairwise(self.starts), 1)
            yield from (n for n, (a, b) in places if a < b and self.form.startswith(wanted, a))

    def nearest(self, words: str, number: int) -> int | None:
        """Return the sentence nearest to a number that words begin, else one that holds them."""
        found = list(self.begun_by(words)) or list(self._holding(form(words)))
        return min(found, key=lambda one: abs(one - number), default=None)

    def _holding(self, wanted: str) -> Iterator[int]:
        place = self.form.find(wanted)
        while place >= 0:
            number = bisect_right(self.starts, place)
            end = self.starts[number]
            if place + len(wanted) <= end:
                yield number
            place = self.form.find(wanted, end)


def named(first: int, last: int) -> str:
    """Return the numbers of sentences as a citation names them, "4" or "4-5"."""
    return str(first) if first == last else f"{first}-{last}"
