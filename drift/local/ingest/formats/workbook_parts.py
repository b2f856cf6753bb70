"""What a workbook says beside the values of its cells: how they look, what is hidden, comments.

It is read of the parts of `.xlsx`; open sheets have none of them, and nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import groupby

from drift.local.ingest.formats.extents import column_number
from drift.local.ingest.formats.number_formats import BUILT_IN, Shown, shown_by
from drift.local.ingest.formats.office import comment
from drift.local.ingest.formats.packages import Element, Package, every, said_of

_PLACE = re.compile(rb"\br=\"([A-Z]{1,3})([0-9]{1,7})\"")
_PREFIX = re.compile(rb"<((?:\w+:)?)sheetData\b")
_NUMBER = re.compile(rb"\br=\"([0-9]{1,7})\"")
_STYLE = re.compile(rb"\bs=\"([0-9]+)\"")
_COLUMN = re.compile(rb"<(?:\w+:)?col\s[^<>]*\bhidden=\"(?:1|true)\"[^<>]*>")
_BOUND = re.compile(rb"\b(?:min|max)=\"([0-9]{1,5})\"")
_HIDDEN_ROW = rb"<N?row\b(?P<row>[^<>]*\bhidden=\"(?:1|true)\"[^<>]*)>"
_WITHOUT_VALUE = (
    rb"<N?c\b(?P<bare>[^<>/]*)><N?f\b[^<>]*?(?:/>|>(?P<formula>[^<]*)</N?f>)"
    rb"(?:<N?v\s*/>|<N?v></N?v>)?</N?c>"
)
_OF_STYLE = rb"<N?c\b(?P<cell>[^<>]*\bs=\"(?:%s)\"[^<>]*)>"
_THREADED = re.compile(r"\[Threaded comment].*?Comment:\s*", re.DOTALL)
_MOST_COLUMNS, _MOST_SOUGHT = 16_384, 50


@dataclass(slots=True)
class ToldRow:
    """What is told of a row: whether it is hidden, how numbers look, formulas without a value."""

    is_hidden: bool = False
    shown: dict[int, Shown] = field(default_factory=dict)
    formulas: dict[int, str] = field(default_factory=dict)


class WorkbookParts:
    """The parts of a workbook, by the names of its sheets."""

    def __init__(self, package: Package) -> None:
        """Read what counts for all sheets."""
        self._package = package
        book = package.part("officeDocument")
        root, parts = package.xml(book, is_needed=True), package.related(book)
        self._sheets = {
            one.get("name", ""): parts[said_of(one, "id")].name
            for one in every(root, "sheet")
            if said_of(one, "id") in parts
        }
        styles = [one.name for one in parts.values() if one.kind == "styles"]
        self._shown = _shown(package.xml(styles[0])) if styles else {}

    def comments(self, sheet: str) -> dict[int, list[str]]:
        """Return what people remarked on cells, by rows from 0."""
        out: dict[int, list[str]] = {}
        for part in self._package.related(self._sheets.get(sheet, "")).values():
            root = self._package.xml(part.name) if part.kind == "comments" else None
            authors = [_text(one) for one in every(root, "author")]
            for one in every(root, "comment"):
                cell, number = one.get("ref", ""), one.get("authorId", "")
                place = _PLACE.fullmatch(f'r="{cell}"'.encode())
                known = number[:6].isdecimal() and int(number[:6]) < len(authors)
                author = authors[int(number[:6])] if known else ""
                author = "" if author.startswith("tc=") else author
                said = _THREADED.sub("", _text(one))
                if place and said:
                    remarks = out.setdefault(int(place[2]) - 1, [])
                    remarks.append(comment(author, said, cell))
        return out

    def count_charts(self, sheet: str) -> int:
        """Return how many charts stand on a sheet."""
        related = self._package.related
        parts = related(self._sheets.get(sheet, "")).values()
        drawn = [part.name for part in parts if part.kind == "drawing"]
        return sum(one.kind == "chart" for name in drawn for one in related(name).values())

    def hidden_columns(self, sheet: str) -> set[int]:
        """Return the columns that are not shown, from 0."""
        content = self._package.content(self._sheets.get(sheet, ""))
        out: set[int] = set()
        for tag in _COLUMN.findall(content[: max(0, content.find(b"sheetData>"))]):
            bounds = [min(int(one), _MOST_COLUMNS) for one in _BOUND.findall(tag)]
            out.update(range(min(bounds, default=1) - 1, max(bounds, default=0)))
        return out

    def rows(self, sheet: str) -> Iterator[tuple[int, ToldRow]]:
        """Yield those rows, from 0, of which something is told."""
        content = self._package.content(self._sheets.get(sheet, ""))
        patterns = [_HIDDEN_ROW, _WITHOUT_VALUE]
        if self._shown:
            are_few = len(self._shown) <= _MOST_SOUGHT
            patterns.append(_OF_STYLE % (b"|".join(self._shown) if are_few else b"[0-9]+"))
        prefix = _PREFIX.search(content)
        told = re.compile(b"|".join(patterns).replace(b"N?", prefix[1] if prefix else b""))
        placed = ((_row(found), found) for found in told.finditer(content))
        for number, group in groupby(placed, key=lambda one: one[0]):
            row = ToldRow()
            for _, found in group:
                self._tell(row, found)
            yield number, row

    def _tell(self, row: ToldRow, found: re.Match[bytes]) -> None:
        place = _PLACE.search(found["bare"] or found.groupdict().get("cell") or b"")
        if found["row"] is not None:
            row.is_hidden = True
        elif place and found["bare"] is not None:
            formula = unescape((found["formula"] or b"").decode(errors="replace"))
            row.formulas[column_number(place[1]) - 1] = f"={formula}"
        elif place and (style := _STYLE.search(found["cell"])) and style[1] in self._shown:
            row.shown[column_number(place[1]) - 1] = self._shown[style[1]]


def _row(found: re.Match[bytes]) -> int:
    place = _NUMBER.search(found["row"] or b"") or _PLACE.search(found[0])
    return int(place[place.lastindex or 1]) - 1 if place else -1


def _shown(styles: Element) -> dict[bytes, Shown]:
    """Return by its number each style by which a number gets a sign."""
    formats = {str(number): code for number, code in BUILT_IN.items()}
    formats |= {
        one.get("numFmtId", ""): one.get("formatCode", "") for one in every(styles, "numFmt")
    }
    found = {number: shown_by(code) for number, code in formats.items()}
    styled = (one for cells in every(styles, "cellXfs") for one in cells)
    numbered = (
        (str(n).encode(), found.get(one.get("numFmtId", ""))) for n, one in enumerate(styled)
    )
    return {number: shown for number, shown in numbered if shown}


def _text(element: Element) -> str:
    return " ".join("".join(one.text or "" for one in element.iter("{*}t", "{*}author")).split())
