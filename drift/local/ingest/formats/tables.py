"""Pure: tables as lines: each row on its own, every value behind the head of its column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from drift.local.ingest.formats import Growth

MOST_CELL_CHARACTERS = 10_000
MOST_HEAD_CHARACTERS = 100
_FREE, _HEADS_A_VALUE = 10_000, 10
"""Characters of heads that a table may have anyhow, and for each character of its values: beyond
that they are cut further, so that a table does not become many times as long by its heads."""

_LOOKED_AT = 10
"""Rows among which the head of a table is looked for."""

_ROW = re.compile(r" {0,3}\|.*\|[ \t]*$")
_LINE_BELOW_HEAD = re.compile(r" {0,3}\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
_NUMBER = re.compile(r"[\s\d.,:%+€$£()/-]*\d[\s\d.,:%+€$£()/-]*")


def cell(value: object) -> str:
    """Return a value on one line, at most 10,000 characters of it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else " ".join(str(value)[:MOST_CELL_CHARACTERS].split())


def lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a table's rows as `| head: value | head: value |`; a row of one value is that alone.

    The head is the first row of two values and more, if none of them is a number.
    """
    every = ([cell(value) for value in row] for row in rows)
    filled = (row for row in every if any(row))
    first = list(islice(filled, _LOOKED_AT))
    place = next((n for n, row in enumerate(first) if sum(map(bool, row)) > 1), None)
    head: list[str] = []
    if place is not None and place + 1 < len(first):
        likely = first[place]
        is_head = not any(map(_NUMBER.fullmatch, likely))
        head = [words[:MOST_HEAD_CHARACTERS] for words in likely] if is_head else []

    room = _FREE
    for number, row in enumerate(chain(first, filled)):
        is_below = bool(head) and place is not None and number > place
        values = [(column, value) for column, value in enumerate(row) if value]
        room += _HEADS_A_VALUE * sum(1 + len(value) for _, value in values)
        most = room // len(values)
        heads = [head[column][:most] if column < len(head) else "" for column, _ in values]
        heads = heads if is_below else [""] * len(values)
        room -= sum(map(len, heads))
        said = [
            f"{name}: {value}" if name else value
            for name, (_, value) in zip(heads, values, strict=True)
        ]
        yield f"| {' | '.join(said)} |" if len(values) > 1 or is_below else said[0]


def as_text(rows: Iterable[Sequence[object]], growth: Growth | None = None) -> str:
    """Return a table as Markdown; each row is a paragraph, so that none is cut."""
    return "\n\n".join(growth.seen(lines(rows)) if growth else lines(rows))


def with_heads(markdown: str) -> str:
    """Return Markdown whose tables have the head of its column before each value."""
    out: list[str] = []
    table: list[list[str]] = []
    said = markdown.split("\n")
    for number, line in enumerate(said):
        if _ROW.fullmatch(line) and (table or _begins_table(said, number)):
            if not _LINE_BELOW_HEAD.fullmatch(line):
                table.append([part.strip() for part in line.strip()[1:-1].split("|")])
            continue
        if table:
            out += [as_text(table), ""]
            table = []
        out.append(line)

    if table:
        out.append(as_text(table))
    return "\n".join(out)


def _begins_table(said: Sequence[str], number: int) -> bool:
    return number + 1 < len(said) and bool(_LINE_BELOW_HEAD.fullmatch(said[number + 1]))


@dataclass(slots=True)
class HtmlTable:
    """A table of a page, as far as each of its rows is one line; they are parts from `at` on."""

    at: int
    _heads: int = 0
    _is_layout: bool = False
    _cells: list[int] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def begin_cell(self, at: int, *, is_head: bool) -> None:
        """See a cell, whose words begin at this place of the line."""
        self._cells.append(at)
        self._heads += is_head and not self._rows

    def end_line(self, line: Sequence[str]) -> None:
        """See a line that says something: a row, a caption, or a block inside of a cell."""
        if self._cells:
            ends = (*(at - 1 for at in self._cells[1:]), len(line))
            self._rows.append(["".join(line[a:b]) for a, b in zip(self._cells, ends, strict=True)])
        elif self._rows:
            self._is_layout = True
        else:
            self.at += 1

    def begin_line(self) -> None:
        """Forget the cells of the line before."""
        self._cells.clear()

    def lines(self) -> list[str]:
        """Return the rows, each value behind its head; none where the first row is no head."""
        has_heads = bool(self._rows) and self._heads == len(self._rows[0])
        return list(lines(self._rows)) if has_heads and not self._is_layout else []
