"""Pure: whether two figures are one, written or measured another way, or one made of others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import islice, product

from drift.evidence.figures import Figure
from drift.evidence.text import KnownWords, folded


def is_one(figure: Figure) -> bool:
    """Tell whether it is the number that articles are, too: `one of the cranes`."""
    return figure.readings == (1.0,) and not figure.kind


def are_comparable(one: Figure, other: Figure) -> bool:
    """Tell whether two figures measure or count one kind of thing."""
    kinds = one.kind.partition(":")[0], other.kind.partition(":")[0]
    if "date" in kinds or "time" in kinds or "version" in kinds:
        return kinds[0] == kinds[1]
    if all(kinds):
        degrees = {"celsius", "fahrenheit"}
        return kinds[0] == kinds[1] or set(kinds) <= degrees
    if one.nouns and other.nouns and not any(kinds):
        more = "extra more other further additional another weitere weiterer andere neue new"
        if not {*one.nouns, *other.nouns}.isdisjoint(more.split()):
            return False  # one of them counts only an addition
        known = KnownWords(map(folded, other.nouns))
        return any(known.has(folded(noun)) for noun in one.nouns)
    if one.label or other.label:
        return one.label == other.label and not any(kinds)
    return not (one.nouns or other.nouns)


def are_same(one: Figure, other: Figure, *, loses: bool = False) -> bool:
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
    if not is_free and not are_comparable(one, other):
        return False
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
        tolerance = max(tolerance, 0.03 * abs(b))
    if "money" not in one.kind and bool(one.precision) != bool(other.precision):
        tolerance = max(tolerance, 0.5 if abs(b) < 1_000 else 0.0)  # noqa: PLR2004
    a *= factor * rate
    if loses:
        a, b = abs(a), abs(b)

    low, high = a, (one.until or one.readings[0]) * factor * rate if one.until is not None else a
    least, most = b, other.until if other.until is not None else b
    if "~" in one.bound + other.bound:
        tolerance = max(tolerance, 0.1 * abs(b))
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


class Made:
    """The sums, differences, products, shares and means of the figures of a sentence and spans."""

    def __init__(self, said: Sequence[Figure], cited: Sequence[Figure]) -> None:
        """Take the figures of a sentence, and of all spans that it cites."""
        self._said = said
        self._cited = cited

    @cached_property
    def _made(self) -> list[tuple[float, float, float]]:
        """Each with the two numbers that it is made of, in order."""
        every = {v for f in (*self._cited, *self._said) for v in _ends(f)}
        known = sorted(every - {0.0, 1.0})[:20]
        numbers = [f.readings[0] for f in self._cited if f.readings]
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


def _ends(figure: Figure) -> tuple[float, ...]:
    """Return a number in its likeliest reading, and the other end of a range."""
    return (*_values(figure)[:1], *(() if figure.until is None else (figure.until,)))


def _values(figure: Figure) -> tuple[float, ...]:
    if figure.dates:
        return (float(figure.dates[0][0]),) if figure.dates[0][0] else ()
    return figure.readings
