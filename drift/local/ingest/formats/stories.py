"""A text of paragraphs and tables in XML, whatever its elements are called, as Markdown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from drift.local.ingest.formats.escaping import escaped
from drift.local.ingest.formats.packages import Element, every, local
from drift.local.ingest.formats.tables import MOST_CELL_CHARACTERS, Cell, as_text, spread

_NEW_PAGE = "\x01"
"""A sign that XML cannot hold, in the place of a form feed, which no row of a table keeps."""


@dataclass(frozen=True, slots=True)
class Style:
    """What a style of paragraphs or words means; a `level` is that of a heading, from 1."""

    level: int = 0
    is_title: bool = False
    is_item: bool = False
    is_hidden: bool = False


@dataclass(slots=True)
class Said:
    """The text in an element, the notes on it, and what stands in boxes beside it."""

    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)


class Story(ABC):
    """One document as it is read; `left` counts what is left out."""

    def __init__(self) -> None:
        """Begin before any title is found."""
        self.title = ""
        self.left: Counter[str] = Counter()

    @abstractmethod
    def said(self, element: Element) -> Said:
        """Return what an element says, without what no reader sees."""

    @abstractmethod
    def style(self, paragraph: Element) -> Style:
        """Return what the style of a paragraph means."""

    @abstractmethod
    def breaks_before(self, paragraph: Element) -> bool:
        """Tell whether somebody has a paragraph begin a page."""

    @abstractmethod
    def cells(self, table: Element) -> list[list[Cell]]:
        """Return the cells of a table by its rows, with their elements as values."""

    @abstractmethod
    def beside(self, one: Element, name: str) -> Iterable[str] | None:
        """Return the blocks of what is no paragraph; None for what has them within itself."""

    @abstractmethod
    def is_left_out(self, one: Element, name: str) -> bool:
        """Tell whether nothing in an element is read, and count it."""

    def blocks(self, element: Element) -> Iterator[str]:
        """Yield the paragraphs and tables in an element."""
        waiting = [*reversed(element)]
        while waiting:
            one = waiting.pop()
            name = local(one)
            if self.is_left_out(one, name):
                continue
            if name in {"p", "h"}:
                yield from self._paragraph(one)
            elif name in {"tbl", "table"}:
                yield from self.table(one)
            elif (found := self.beside(one, name)) is not None:
                yield from found
            else:
                waiting += reversed(one)

    def _paragraph(self, paragraph: Element) -> Iterator[str]:
        said, style = self.said(paragraph), self.style(paragraph)
        text = "".join(said.parts)
        words = text.strip(" \t\n\f")
        breaks = text[: text.find(words) if words else None].count("\f")
        breaks += self.breaks_before(paragraph)
        yield from ["\f" * breaks] * bool(breaks)
        if style.level and words:
            words = " ".join(words.split())
            yield f"{'#' * style.level} {words}"
            self.title = self.title or (words if style.is_title else "")
            yield from said.notes
        elif words or said.notes:
            marked = [("- " if style.is_item else "") + escaped(words)] * bool(words)
            yield "\n".join((*marked, *said.notes))
        yield from said.behind

    def whole(self, element: Element) -> str:
        """Return all that an element says, with a line feed between what stands apart."""
        said = self.said(element)
        return "\n".join(("".join(said.parts), *said.notes, *said.behind))

    def table(self, table: Element) -> Iterator[str]:
        """Yield a table with its pages, and behind it what is laid out in its cells."""
        rows = self.cells(table)
        breaks: list[int] = []
        behind: list[str] = []
        is_layout = all(sum(any(_words(cell.value)) for cell in row) < 2 for row in rows)  # noqa: PLR2004
        for row in rows:
            breaks.append(0)
            for cell in row:
                element, cell.value = cell.value, ""
                if is_layout or self._is_document(element):
                    behind += self.blocks(element) if element is not None else ()
                else:
                    cell.value = said = self.whole(element)
                    breaks[-1] = max(breaks[-1], said.count("\f"))
        first = breaks[0] if breaks else 0
        yield from ["\f" * first] * bool(first)
        text = as_text(_with_pages(spread(rows), [0, *breaks[1:]][: len(rows)]))
        yield from [text.replace(_NEW_PAGE, "\f")] * bool(text)
        yield from behind

    def _is_document(self, cell: Element) -> bool:
        """Tell whether a cell holds a document of its own, with headings or beyond all values."""
        return sum(map(len, _words(cell))) > MOST_CELL_CHARACTERS or any(
            self.style(one).level for one in every(cell, "p", "h")
        )


def _words(cell: Element) -> Iterator[str]:
    return filter(str.strip, [] if cell is None else cell.itertext())


def within(table: Iterable[str]) -> str:
    """Return a table as it stands in a cell of another."""
    rows = (row.strip("| ").replace(" | ", "; ") for part in table for row in part.split("\n"))
    return " / ".join(filter(None, rows))


def _with_pages(rows: Iterator[list[object]], breaks: Iterable[int]) -> Iterator[list[object]]:
    for row, count in zip(rows, breaks, strict=True):
        if count:
            yield [_NEW_PAGE * count]
        yield row
