"""Pure: tables as lines: each row on its own, every value behind the head of its column.

Spans are filled before anything is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from drift.local.ingest.formats import Growth, column_heads

MOST_CELL_CHARACTERS = 10_000
MOST_HEAD_CHARACTERS = 100
_FREE, _HEADS_A_VALUE = 10_000, 10
"""Characters of heads that a table may have anyhow, and for each character of its values: beyond
that they are cut further, so that a table does not become many times as long by its heads."""

MOST_ACROSS = 1_000
_FREE_SPANS = 100_000
"""Characters by which spans may repeat values anyhow; as with heads, ten more for each of them."""

_LOOKED_AT = 20
"""Rows among which the head of a table is looked for."""


@dataclass(slots=True)
class Cell:
    """One cell of a table, and how many columns and rows it covers."""

    value: object
    across: int = 1
    down: int = 1


def spread(rows: Iterable[Iterable[Cell]]) -> Iterator[list[object]]:
    """Yield rows of values in which each place that a cell covers repeats its value.

    A cell that is alone in its row, from the first column on, is a title: it is said once.
    """
    room, covered = _FREE_SPANS, dict[int, tuple[object, int, int]]()

    for row in rows:
        out: list[object] = []
        begun: dict[int, tuple[object, int, int]] = {}
        cells = list(row)
        for cell in (*cells, None):
            while (above := covered.get(len(out))) and room >= above[2]:
                value, left, size = above
                room -= size
                if left > 1:
                    begun[len(out)] = value, left - 1, size
                out.append(value)
            if cell is None:
                break
            size = 1 + (len(cell.value) if isinstance(cell.value, str) else 0)
            room += _HEADS_A_VALUE * size
            first, across = len(out), max(1, min(cell.across, MOST_ACROSS, 1 + room // size))
            room -= size * (across - 1)
            out += [cell.value] * across
            if cell.down > 1:
                span = cell.value, cell.down - 1, size
                begun.update(dict.fromkeys(range(first, len(out)), span))
        is_title = not covered and bool(cells) and all(c.value in {None, ""} for c in cells[1:])
        covered = begun
        yield [cells[0].value] if is_title and cells[0].across > 1 else out


def cell(value: object) -> str:
    """Return a value on one line, at most 10,000 characters of it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else " ".join(str(value)[:MOST_CELL_CHARACTERS].split())


def lines(
    rows: Iterable[Sequence[object]], heads: int | None = None, *, by_first: bool = False
) -> Iterator[str]:
    """Yield a table's rows as `| head: value | head: value |`; a row of one value is that alone.

    The first `heads` rows are heads; None finds them by their types. With 0, or where none is
    found, columns are counted, or the first of them names the others of its row (`by_first`). A
    table of one row or one column has no heads, and a row with one place stands alone.
    """
    every = ([cell(value) for value in row] for row in rows)
    known = [row for row in islice(every, heads or 0) if any(row)]
    filled = (row for row in every if any(row))
    first = [*known, *islice(filled, _LOOKED_AT)]
    start, place, names = column_heads.find(first, None if heads is None else len(known))
    is_table = len(first) - start > 1 and any(sum(map(bool, row)) > 1 for row in first[start:])
    by_first = not any(names) and (by_first or column_heads.are_keys(first[place:]))

    yield from map(_line, first[:start])
    if any(names):
        yield _line(names)
    names = [one[:MOST_HEAD_CHARACTERS] for one in names]
    room = _FREE
    for row in chain(first[place:], filled):
        values = [(column, value) for column, value in enumerate(row) if value]
        room += _HEADS_A_VALUE * sum(1 + len(value) for _, value in values)
        most = room // len(values)
        if not is_table or len(row) == 1 or (len(values) == 1 and not any(names)):
            yield _line(row)
            continue
        if by_first and row[0]:
            said = [(row[0], value) for _, value in values[1:]]
        elif names:
            said = [(names[n] if n < len(names) else "", value) for n, value in values]
        else:
            said = [(f"column {n + 1}", value) for n, value in values]
        said = [(name[:most], value) for name, value in said]
        room -= sum(len(name) for name, _ in said)
        yield f"| {' | '.join([f'{n}: {value}' if n else value for n, value in said])} |"


def _line(row: Sequence[str]) -> str:
    values = [value for value in row if value]
    return f"| {' | '.join(values)} |" if len(values) > 1 else values[0]


def as_text(
    rows: Iterable[Sequence[object]], growth: Growth | None = None, heads: int | None = None
) -> str:
    """Return a table as Markdown; each row is a paragraph, so that none is cut."""
    said = lines(rows, heads)
    return "\n\n".join(growth.seen(said) if growth else said)
