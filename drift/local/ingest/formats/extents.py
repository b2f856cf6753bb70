"""Pure: how far the values of a sheet stand apart, before a parser takes room for all between them.

It is read of the XML of workbooks and open sheets by its tags alone, as python-calamine counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from drift.local.ingest.formats import NoDocumentError

MOST_PLACES = 10_000_000
"""Between the first and the last row and column of a sheet's values, about 32 bytes each."""

_LONGEST_TAG = 65_536
_TAG = re.compile(
    rb"<(?:\w+:)?(row|c|table|table-row|table-cell|covered-table-cell)((?:\s[^<>]*)?)>"
)
_PLACE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]*)([0-9]{1,10})[\"']")
_PLACED = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"(?:[^<>]*[^/<>])?>')
_REPEATED = re.compile(rb"number-(?:rows|columns)-repeated\s*=\s*[\"']\s*([0-9]{1,10})\s*[\"']")


class Extent:
    """Where the values of one sheet begin and end, as rows and columns from 0."""

    def __init__(self) -> None:
        """Begin a sheet."""
        self._row, self._column, self._repeated = -1, -1, 1
        self._rows = self._columns = (1 << 40, -1)

    def see(self, tag: bytes, attributes: bytes) -> None:
        """Go on with a tag; NoDocumentError as soon as the sheet is too large."""
        if tag in {b"row", b"c"}:
            self._see_place(tag, attributes)
        else:
            self._see_repeated(tag, attributes)

    def has_seen(self, text: bytes, end: int) -> bool:
        """Tell whether a text holds cells alone that say their place, and see them at once."""
        said = text.count(b'<c r="', 0, end)
        if not said or said != text.count(b"<c", 0, end) or text.find(b":c", 0, end) >= 0:
            return False
        found = set(_PLACED.findall(text, 0, end))
        columns = [column_number(letters) - 1 for letters in {letters for letters, _ in found}]
        rows = [int(number) - 1 for number in {number for _, number in found}]
        if rows:
            self._row = max(rows)
            self._take(min(rows), min(columns))
            self._take(self._row, max(columns))
        return True

    def _see_place(self, tag: bytes, attributes: bytes) -> None:
        place = _PLACE.search(attributes)
        if tag == b"row":
            self._row, self._column = int(place[2]) - 1 if place else self._row + 1, -1
            return

        self._column = column_number(place[1]) - 1 if place else self._column + 1
        if not attributes.endswith(b"/"):  # one that only looks otherwise has no value
            self._take(int(place[2]) - 1 if place else self._row, self._column)

    def _see_repeated(self, tag: bytes, attributes: bytes) -> None:
        found = _REPEATED.search(attributes)
        times = int(found[1]) if found else 1
        if tag == b"table-row":
            self._row, self._repeated, self._column = self._row + times, times, -1
        else:
            self._column += times
            if b"office:" in attributes or b"formula" in attributes:
                self._take(self._row - self._repeated + 1, self._column - times + 1)
                self._take(self._row, self._column)

    def _take(self, row: int, column: int) -> None:
        self._rows = min(row, self._rows[0]), max(row, self._rows[1])
        self._columns = min(column, self._columns[0]), max(column, self._columns[1])
        height, width = (last - first + 1 for first, last in (self._rows, self._columns))
        if height * width > MOST_PLACES:
            raise NoDocumentError(
                f"has values that stand {height:,} rows and {width:,} columns apart, over "
                f"{MOST_PLACES:,} cells: take out what stands far from the rest"
            )


def require_near(chunks: Iterator[bytes]) -> None:
    """Read one part of a file; NoDocumentError where it is a sheet that spans too many cells."""
    extent, rest = Extent(), b""
    for chunk in chunks:
        text = rest + chunk
        cut = text.rfind(b"<")
        rest = text[cut:] if cut >= 0 and len(text) - cut < _LONGEST_TAG else b""
        if extent.has_seen(text, max(cut, 0)):
            continue
        for tag, attributes in _TAG.findall(text, 0, max(cut, 0)):
            if tag == b"table":
                extent = Extent()
            extent.see(tag, attributes)


def column_number(letters: bytes) -> int:
    """Return which column a name means, from 1: `AB` is 28."""
    number = 0
    for letter in letters.upper()[:8]:
        number = 26 * number + letter - 64
    return number


def column_name(number: int) -> str:
    """Return what a column is called, from 1: 28 is `AB`."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(65 + letter) + name
    return name
