"""Pure: where words of a PDF's page stand: in rows, in blocks of rows and in columns of these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from drift.local.ingest.formats.pdf_layout import Box, LinePart, PageLine

Row = list[LinePart]

_NEAR, _NEAR_RULED = 1.8, 4.0
"""Times the size of letters: rows of a table are not further apart, without and with a rule."""
_PAGE = re.compile(r"\d{1,4}(?: ?(?:/|of) ?\d{1,4})?|[ivxl]{1,6}")
_LEAST_PARTED = 2
_AWAY = 0.9
"""Times the size of letters: from a running head to a table."""


def parted_lines(lines: Sequence[PageLine], frame: Sequence[int], size: float) -> set[int]:
    """Return the lines of a frame that may be of a table, wherever rules may be."""
    parts = [LinePart(box, "", number, 0) for number in frame for box in lines[number].parts]
    blocks = blocks_of(rows_of(parts), None, size)
    may_be = (
        block
        for block in blocks
        if sum(len(row) > 1 for row in block) >= max(_LEAST_PARTED, 0.2 * len(block))
    )
    return {one.line for block in may_be for row in block for one in row}


def rows_of(pieces: Sequence[LinePart]) -> list[Row]:
    """Return the pieces that stand beside each other, from top to bottom and from the left."""
    rows: list[Row] = []
    low = high = 0.0
    for piece in sorted(pieces, key=lambda one: -one.box.middle):
        box = piece.box
        shared = min(high, box.top) - max(low, box.bottom)
        if rows and shared >= min(high - low, box.top - box.bottom) / 2:
            rows[-1].append(piece)
            low, high = min(low, box.bottom), max(high, box.top)
        else:
            rows.append([piece])
            low, high = box.bottom, box.top
    return [sorted(row, key=lambda one: one.box.left) for row in rows]


def without_edges(rows: list[Row], size: float) -> list[Row]:
    """Return rows without a first and a last one that hold the page's number, away from all."""
    for edge, beside in ((0, 1), (-1, -2)):
        if len(rows) > 1 and any(_PAGE.fullmatch(one.text) for one in rows[edge]):
            above, below = (rows[edge], rows[beside])[:: 1 - 2 * (edge < 0)]
            if bottom_of(above) - top_of(below) > _AWAY * size:
                rows = rows[1:] if edge == 0 else rows[:-1]
    return rows


def bottom_of(row: Row) -> float:
    """Return how low a row goes."""
    return min(one.box.bottom for one in row)


def top_of(row: Row) -> float:
    """Return how high a row goes."""
    return max(one.box.top for one in row)


def blocks_of(
    rows: Sequence[Row], heights: Sequence[float] | None, size: float
) -> Iterator[list[Row]]:
    """Yield rows that stand below each other and may be one table, if told how high rules are."""
    block: list[Row] = []
    parted: Row = []
    for row in rows:
        if block and not _is_next(block[-1], parted, row, heights, size):
            yield block
            block = []
        if len(row) > 1:
            parted = row
        if block or len(row) > 1:
            block.append(row)
    if block:
        yield block


def _is_next(
    above: Row, parted: Row, row: Row, heights: Sequence[float] | None, size: float
) -> bool:
    """Tell whether a row may be of the table; one piece must stand within a column of `parted`."""
    low, high = top_of(row), bottom_of(above)
    if high - low > _NEAR * size:
        is_ruled = heights is None or any(low - 1 <= height <= high + 1 for height in heights)
        if not is_ruled or high - low > _NEAR_RULED * size:
            return False
    if len(row) > 1:
        return True
    box = row[0].box
    begun = sum(one.box.left <= box.left + size / 2 for one in parted)
    return begun == len(parted) or (begun > 0 and box.right < parted[begun].box.left)


def columns_of(parted: Sequence[Row], gutter: float) -> list[tuple[float, float]]:
    """Return where columns stand: words that stand over several of other rows are of none."""
    over: list[Box] = []
    for row in parted:
        for one in row:
            wide = sum(
                sum(
                    min(b.box.right, one.box.right) - max(b.box.left, one.box.left) > 1
                    for b in other
                )
                > 1
                for other in parted
                if len(other) > len(row)
            )
            if wide <= max(0.3 * len(parted), 1):
                over.append(one.box)
    out: list[tuple[float, float]] = []
    for box in sorted(over):
        if out and box.left <= out[-1][1] + gutter:
            out[-1] = (out[-1][0], max(out[-1][1], box.right))
        else:
            out.append((box.left, box.right))
    return out


def rules_over(block: Sequence[Row], level: Sequence[Box]) -> list[float]:
    """Return the heights at which rules stand over half of a block, from the top."""
    left = min(one.box.left for row in block for one in row)
    right = max(one.box.right for row in block for one in row)
    high, low = top_of(block[0]), bottom_of(block[-1])
    margin = 1.5 * (high - low) / len(block)
    near = [
        rule
        for rule in level
        if low - margin < rule.middle < high + margin and rule.right > left and rule.left < right
    ]
    out: list[float] = []
    wide = at = before = 0.0
    for rule in near:
        if before - rule.middle > 2 or not wide:  # noqa: PLR2004 - points
            wide, at = 0.0, rule.middle
        before = rule.middle
        was, wide = wide, wide + min(rule.right, right) - max(rule.left, left)
        if was < (right - left) / 2 <= wide:
            out.append(at)
    return out
