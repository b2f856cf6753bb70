"""Pure: tables of a page by where its words stand, ruled or not, and columns of running text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Self

from drift.local.ingest.formats import column_heads
from drift.local.ingest.formats.pdf_layout import LEADERS, Box, LinePart
from drift.local.ingest.formats.pdf_rows import (
    Row,
    blocks_of,
    bottom_of,
    columns_of,
    rows_of,
    rules_over,
    top_of,
    without_edges,
)

_MOST_ROWS, _MOST_PIECES, _MOST_COLUMNS = 300, 1_500, 40
_LOOKED_AT = 10
_LEAST_ROWS, _MOST_HEADS, _LEAST_PARTED = 3, 3, 0.2
_NUMBER = re.compile(r"[^\w\s]?\s?\d[\d\s.,:/%-]*\S?")
_TYPED = re.compile(r"tt\d|mon[ol]|courier|consol|typewr", re.IGNORECASE)
_GUTTER = 0.4
"""Times the size of letters: between columns."""
_SENTENCE = 4
"""Words of a line of running text, at least."""
_SAME = 6.0
"""Points by which the columns of a table's next page may stand elsewhere."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values, of which the first `heads` are heads."""

    rows: list[list[str]]
    heads: int
    columns: tuple[tuple[float, float], ...]
    lines: frozenset[int]

    def goes_on(self, other: Table) -> bool:
        """Tell whether another one, of the page before, has the same columns."""
        return len(self.columns) == len(other.columns) and all(
            min(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(sum(a) - sum(b)) / 2) < _SAME
            for a, b in zip(self.columns, other.columns, strict=True)
        )

    def after(self, other: Table) -> Table:
        """Return it with the heads of the part before it, which may stand here again."""
        heads = other.rows[: other.heads]
        rows = self.rows if self.rows[: len(heads)] == heads else heads + self.rows
        return Table(rows, other.heads or self.heads, self.columns, self.lines)


@dataclass(frozen=True, slots=True)
class Columns:
    """Running text that was written across its columns: the lines of each, in turn."""

    texts: list[str]
    lines: frozenset[int]


def found_in(
    pieces: Sequence[LinePart],
    rules: Sequence[Box],
    size: float,
    font: Callable[[LinePart], str],
    before: Table | None,
) -> Iterator[Table | Columns]:
    """Yield what stands in columns among the pieces of one frame of a page.

    A table that ends the page `before` tells what goes on from it.
    """
    level = sorted(
        (rule for rule in rules if rule.right - rule.left > rule.top - rule.bottom),
        key=lambda rule: -rule.top,
    )
    heights = [rule.middle for rule in level]
    for block in blocks_of(without_edges(rows_of(pieces), size), heights, size):
        grid = _Grid.of(block, level, size)
        if grid is None:
            continue
        if texts := grid.running(size):
            yield Columns(texts, grid.lines)
        elif found := grid.table(font, before):
            yield found


@dataclass(slots=True)
class _Grid:
    """A block of rows whose pieces stand in columns, and the rules that part its rows."""

    rows: list[Row]
    columns: list[tuple[float, float]]
    rules: list[float]
    parts: list[int] = field(init=False)
    """For each row, how many rules stand between it and the first."""
    is_each: bool = field(init=False)
    """Whether a rule stands below each row, maybe of several lines."""

    def __post_init__(self) -> None:
        middles = [(top_of(row) + bottom_of(row)) / 2 for row in self.rows]
        self.parts = [sum(middle < rule < middles[0] for rule in self.rules) for middle in middles]
        begun = sum(row[0].box.left < self.columns[0][1] for row in self.rows)
        self.is_each = self.parts[-1] + 1 >= max(0.75 * begun, 2)

    @classmethod
    def of(cls, block: list[Row], level: Sequence[Box], size: float) -> Self | None:
        """Return the grid of a block; None where its pieces stand in no columns."""
        parted = [row for row in block if len(row) > 1]
        if len(block) > _MOST_ROWS or sum(map(len, block)) > _MOST_PIECES:
            return None
        columns = columns_of(parted, _GUTTER * size)
        if not 1 < len(columns) <= _MOST_COLUMNS:
            return None
        rules = rules_over(block, level)
        while len(block[-1]) == 1 and block[-1][0].box.left < columns[1][0] - 1:
            if any(rule < bottom_of(block[-1]) for rule in rules):
                break
            block = block[:-1]
        is_ruled = len(rules) > 1
        is_enough = len(parted) >= max(_LEAST_ROWS - is_ruled, _LEAST_PARTED * len(block))
        is_contents = any(LEADERS.search(" ".join(one.text for one in row)) for row in block)
        return cls(block, columns, rules) if is_enough and not is_contents else None

    @property
    def lines(self) -> frozenset[int]:
        return frozenset(one.line for row in self.rows for one in row)

    def running(self, size: float) -> list[str]:
        """Return the lines of each column where all are running text; none for a table."""
        if self.rules or len(self.rows) < _LEAST_ROWS:
            return []
        out: list[str] = []
        for left, right in self.columns:
            within = [one for row in self.rows for one in row if left <= one.box.left < right]
            wide = median(one.box.right - one.box.left for one in within)
            small = sum(one.text[:1].islower() for one in within)
            is_text = median(len(one.text.split()) for one in within) >= _SENTENCE
            if not is_text or wide < 0.7 * (right - left) or small < 0.4 * (len(within) - 1):
                return []
            if right - left < 8 * size:
                return []
            out += [one.text for one in within]
        return out

    def table(self, font: Callable[[LinePart], str], before: Table | None) -> Table | None:
        """Return the block as a table; None where nothing says that it is one."""
        first = self._head_rows(font)
        pieces = [one for row in self.rows for one in row]
        are_typed = (bool(_TYPED.search(font(one))) for one in pieces)
        if not self.is_each and sum(are_typed) > len(pieces) / 2:
            return None
        values = [self._values(row) for row in self.rows]
        rows = self._merged(values, first)
        if self.is_each and all(rows[0]) and not first:
            first = not any(map(_NUMBER.fullmatch, rows[0]))
            is_named = all(one[0].isupper() and one[-1] != "." for one in rows[0])
            first = first and (is_named or len(self.columns) > 2)  # noqa: PLR2004
        heads = 1 if first else 0
        if not first:
            begun, end, names = column_heads.find(rows[:_LOOKED_AT])
            below = [one for row in rows[end : end + 1] for one in row]
            has_numbers = any(one[:1].isdigit() or column_heads.is_number(one) for one in below)
            heads = end if names and not begun and has_numbers else 0
        made = Table(rows, heads, tuple(self.columns), self.lines)
        if not heads and not self.is_each and not (before and made.goes_on(before)):
            # Words and what they mean, a formula or lines that stand wide: they say it themselves.
            filled = sum(bool(one) for row in rows for one in row)
            spread = sum(map(len, values)) - sum(row.count("") for row in values) - len(pieces)
            if (
                len(self.columns) == 2  # noqa: PLR2004
                or len(rows) <= _LEAST_ROWS
                or filled < 0.6 * len(rows) * len(self.columns)
                or spread > 0.2 * len(pieces)
            ):
                return None
        return made

    def _values(self, row: Row) -> list[str]:
        """Return what a row says in each column; words over several are said in each of them."""
        out = [""] * len(self.columns)
        for one in row:
            places = [
                n
                for n, (left, right) in enumerate(self.columns)
                if min(right, one.box.right) - max(left, one.box.left) > min(2, right - left) / 2
            ] or [0]
            for n in places[:1] if len(row) == 1 else places:
                out[n] = f"{out[n]} {one.text}".strip()
        return out

    def _head_rows(self, font: Callable[[LinePart], str]) -> int:
        """Return how many of the rows are heads: above the first rule, or of a font of their own.

        Heads name each column, the first one maybe not.
        """
        first = self.parts.index(1) if 1 in self.parts else 0
        if not 0 < first <= _MOST_HEADS or self.is_each:
            fonts = [{font(one) for one in row} for row in self.rows[:3]]
            first = int(len(fonts[0]) == 1 and not fonts[0] & set().union(*fonts[1:]))
        named = map(any, zip(*map(self._values, self.rows[:first]), strict=True))
        return (
            first if all(list(named)[1:]) and any(len(row) > 1 for row in self.rows[:first]) else 0
        )

    def _merged(self, values: Sequence[list[str]], first: int) -> list[list[str]]:
        """Return rows of the table, each of one line or more; rules tell them apart, if any do."""
        out: list[list[str]] = []
        for n, row in enumerate(values):
            filled = [one for one in row if one]
            if self.is_each and n > first:
                is_new = self.parts[n] > self.parts[n - 1]
            elif n > first:
                has_number = any(map(_NUMBER.fullmatch, filled)) and len(filled) > 1
                is_rest = len(filled) == 1 and filled[0][:1].islower()
                is_new = has_number or (bool(row[0]) and not is_rest)
            else:
                is_new = n in {0, first}
            if is_new:
                out.append(row)
            else:
                out[-1] = [f"{a} {b}".strip() for a, b in zip(out[-1], row, strict=True)]
        return out
