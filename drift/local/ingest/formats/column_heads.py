"""Pure: which of a table's first rows are its heads, by the types of what stands below them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

Row = Sequence[str]

_LONGEST_CODE, _LEAST_COUNTED, _LEAST_ROWS = 60, 3, 3
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
_YEAR = re.compile(r"(?:1[89]|2[01])\d\d(?:[/–-]\d\d(?:\d\d)?)?")
_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:\D.*)?")
_SIGNS = r"[\s\d.,:%‰+$€£¥()'’/–-]"
_NUMBER = re.compile(rf"(?:[A-Z]{{3}}\s?)?{_SIGNS}*\d{_SIGNS}*(?:[A-Z]{{3}})?")
_NUMBERS = {"number", "year", "date"}


def kind(value: str) -> str:
    """Return what a value is: a number, a year, words, or the shape of what has words and digits.

    Shapes keep the signs: `room 4` and `room 12` are alike, `room 4` and `4 boats` are not.
    """
    if not value:
        return ""
    if len(value) > _LONGEST_CODE:
        return "text"
    if not _DIGITS.search(value):
        return "address" if "@" in value or "://" in value else "words"
    for name, pattern in (("year", _YEAR), ("date", _DATE), ("number", _NUMBER)):
        if pattern.fullmatch(value):
            return name
    return _DIGITS.sub("0", _LETTERS.sub("a", value))


def is_number(value: str) -> bool:
    """Tell whether a value is a number, a year or a date."""
    return kind(value) in _NUMBERS


def find(rows: Sequence[Row], known: int | None = None) -> tuple[int, int, list[str]]:
    """Return where a table's heads begin, where they end, and the columns' names.

    There are no names where the rows are alike, or none are `known` to be heads.
    """
    if known is not None:
        start = next((n for n, row in enumerate(rows[:known]) if len(row) > 1), known)
        return start, known, joined(rows[start:known])

    if are_keys(rows):
        return 0, 0, []
    width = max((sum(map(bool, row)) for row in rows), default=0)
    place = next((n for n, row in enumerate(rows) if 2 * sum(map(bool, row)) > width > 1), None)
    if place is None or not rows[place + 1 :]:
        return 0, 0, []
    for upper in (place, place - 1):
        two, below = rows[max(upper, 0) : upper + 2], rows[upper + 2 :]
        if upper >= 0 and below and _are_two_lines(*two):
            is_same = two[0][:1] == two[1][:1]
            if _vote(two[1], below) >= (0 if is_same else 1):
                return upper, upper + 2, joined([_carried(*two), two[1]])

    vote = _vote(rows[place], rows[place + 1 :])
    if vote > 0 or (vote == 0 and _NUMBERS.isdisjoint(map(kind, rows[place]))):
        return place, place + 1, joined(rows[place : place + 1])
    return place, place, []


def are_keys(rows: Sequence[Row]) -> bool:
    """Tell whether the first of two columns names what is in the other, of no common type."""
    keys = [row[0] for row in rows]
    if {len(row) for row in rows} != {2} or len({*keys}) != len(keys) or len(keys) < _LEAST_ROWS:
        return False
    kinds = ["number" if (of := kind(row[1])) in _NUMBERS else of for row in rows[1:]]
    return {kind(key) for key in keys} == {"words"} and 2 * max(map(kinds.count, kinds)) <= len(
        kinds
    )


def joined(heads: Sequence[Row]) -> list[str]:
    """Return the name of each column, of heads of several lines; what spans them counts once."""
    width = max(map(len, heads), default=0)
    columns = ([row[n] for row in heads if n < len(row) and row[n]] for n in range(width))
    return [" ".join(dict.fromkeys(column)).rstrip(":") for column in columns]


def _are_two_lines(upper: Row, lower: Row) -> bool:
    """Tell whether what stands above spans what is below: it repeats itself, or has gaps."""
    if not upper or not lower or not _NUMBERS.isdisjoint(set(map(kind, upper)) - {"year"}):
        return False
    has_gaps = any(low and not high for high, low in zip(upper[1:], lower[1:], strict=False))
    repeats = any(a and a == b for a, b in pairwise(upper))
    is_corner = upper[0] == lower[0] or bool(upper[0]) != bool(lower[0])
    return is_corner and (has_gaps or repeats)


def _carried(upper: Row, lower: Row) -> list[str]:
    """Return heads with those repeated that span several columns of the line below."""
    out: list[str] = []
    for number, below in enumerate(lower):
        said = upper[number] if number < len(upper) else ""
        out.append(said or (out[-1] if below and number > 1 else ""))
    return out


def _vote(head: Row, below: Sequence[Row]) -> int:
    """Return how many columns more say that a row is the head of those below than deny it."""
    kinds = [kind(value) for value in head]
    counted = [
        int(value)
        for value, of in zip(head, kinds, strict=True)
        if of == "number" and value.isascii() and value.isdigit() and len(value) < _LONGEST_CODE
    ]
    steps = {b - a for a, b in pairwise(counted)}
    if len(counted) >= _LEAST_COUNTED and steps == {1} and kinds[0] in {"", "words"}:
        kinds = ["count" if of == "number" else of for of in kinds]
    vote = 0
    for column, (value, of) in enumerate(zip(head, kinds, strict=True)):
        values = [row[column] for row in below if column < len(row) and row[column]]
        if value and values:
            vote += _of_column(value, of, values)
    return vote


def _of_column(value: str, of: str, values: Sequence[str]) -> int:
    kinds = [kind(one) for one in values]
    alike = 2 * kinds.count(of) >= len(kinds)
    if of in {"words", "text"}:
        others = len(kinds) - kinds.count("words") - kinds.count("text")
        is_alike = value in values or (of == "text" and alike)
        return -1 if is_alike else int(2 * others > len(kinds))
    if of in {"number", "address"} or alike:
        return -1
    are_numbers = 2 * sum(one in _NUMBERS for one in kinds) > len(kinds)
    return int(are_numbers or of == "count" or (of == "year" and "words" in kinds))
