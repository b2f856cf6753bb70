"""Pure: the tables of a page as lines, and what is only laid out as a table as its blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from drift.local.ingest.formats.escaping import escaped
from drift.local.ingest.formats.tables import Cell, lines, spread

MOST_SPANNED = 65_534
"""Rows, as browsers have it."""
_HEADING = re.compile(r"#{1,6} ")


@dataclass(slots=True)
class PageBlock:
    """What stands on its own on a page: a heading, paragraph, item, row or code, as Markdown.

    `place` is `main` or `article` within such an element, and `linked` the share of its characters
    that are links.
    """

    text: str
    place: str = ""
    is_bar: bool = False
    linked: float = 0.0

    @property
    def heading(self) -> str:
        """The words of a heading; empty for any other block."""
        found = _HEADING.match(self.text)
        return self.text[found.end() :] if found else ""

    @property
    def stands_alone(self) -> bool:
        """True for a heading and for code, which are no part of a line."""
        return bool(self.heading) or self.text.startswith("```")


@dataclass(slots=True)
class _PageCell:
    """A cell with all blocks in it."""

    is_head: bool
    across: int
    down: int
    blocks: list[PageBlock] = field(default_factory=list)

    def value(self) -> str:
        """Return what it says on one line; rows of a table in it have commas."""
        if len(self.blocks) == 1:
            return _bare(self.blocks[0].text)
        parts = [_bare(block.text) for block in self.blocks]
        is_items = all(block.text.startswith(("- ", "| ")) for block in self.blocks[1:])
        return ("; " if is_items else " ").join(parts)


def _bare(text: str) -> str:
    if text.startswith("| ") and text.endswith(" |"):
        return text[2:-2].replace(" | ", ", ")
    return text.removeprefix("- ").removeprefix("\\")


@dataclass(slots=True)
class PageTable:
    """A table while it is read; `outer` are the blocks among which it stands."""

    outer: list[PageBlock]
    is_layout: bool = False
    _around: list[PageBlock] = field(default_factory=list)
    _rows: list[list[_PageCell]] = field(default_factory=list)
    _in_head: bool = False

    def begin(
        self, tag: str, attributes: Mapping[str, str | None], sink: list[PageBlock]
    ) -> list[PageBlock]:
        """See the beginning of an element; return where the blocks in it go."""
        if tag in {"thead", "tbody", "tfoot"}:
            self._in_head = tag == "thead"
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            if not self._rows:
                self._rows.append([])
            down = _span(attributes, "rowspan", MOST_SPANNED) or MOST_SPANNED
            is_head = tag == "th" or self._in_head
            cell = _PageCell(is_head, _span(attributes, "colspan", 1_000), down)
            self._rows[-1].append(cell)
            return cell.blocks
        else:
            return self._around if tag == "table" else sink
        return self._around

    def end(self, tag: str) -> list[PageBlock]:
        """See the end of a cell, a row or the heads; return where blocks behind it go."""
        if tag == "thead":
            self._in_head = False
        return self._around

    def read(self) -> Iterator[PageBlock]:
        """Yield what stands around the rows, then these: as lines, or as the blocks in them."""
        yield from self._around
        rows = [row for row in self._rows if any(cell.blocks for cell in row)]
        if self.is_layout or _is_layout(rows):
            for row in rows:
                yield from _laid_out(row)
            return

        every = [block for row in rows for cell in row for block in cell.blocks]
        linked = sum(b.linked * len(b.text) for b in every) / (sum(len(b.text) for b in every) or 1)
        for line in _lines(rows):
            said = line if line.startswith("| ") else escaped(line)
            yield PageBlock(said, every[0].place, is_bar=every[0].is_bar, linked=linked)


def _span(attributes: Mapping[str, str | None], name: str, most: int) -> int:
    told = (attributes.get(name) or "").strip()
    return min(int(told), most) if told.isdecimal() and len(told) < len("10000000") else 1


def _is_layout(rows: list[list[_PageCell]]) -> bool:
    """Tell whether a table only places its blocks: it has headings, code or long texts."""
    if max(map(len, rows), default=0) <= 1:
        return True
    cells = [cell for row in rows for cell in row]
    has_heads = any(cell.is_head for cell in cells)
    return any(block.stands_alone for cell in cells for block in cell.blocks) or (
        not has_heads and any(len(cell.blocks) > 1 for cell in cells)
    )


def _laid_out(row: list[_PageCell]) -> Iterator[PageBlock]:
    filled = [cell.blocks for cell in row if cell.blocks]
    is_line = len(filled) > 1 and all(len(blocks) == 1 for blocks in filled)
    if is_line and not any(blocks[0].stands_alone for blocks in filled):
        first = filled[0][0]
        said = " | ".join(blocks[0].text for blocks in filled)
        linked = sum(blocks[0].linked for blocks in filled) / len(filled)
        yield PageBlock(said, first.place, is_bar=first.is_bar, linked=linked)
        return
    for blocks in filled:
        yield from blocks


def _lines(rows: list[list[_PageCell]]) -> Iterator[str]:
    heads = sum(1 for _ in takewhile(lambda row: all(cell.is_head for cell in row), rows))
    is_keyed = all(row[0].is_head and not any(c.is_head for c in row[1:]) for row in rows)
    grid = spread([Cell(cell.value(), cell.across, cell.down) for cell in row] for row in rows)
    if is_keyed and not heads:
        return lines(grid, 0, by_first=True)
    return lines(grid, heads if heads < len(rows) and heads else None)
