"""Workbooks: a sheet below its name, a row on its line with the heads of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import chain

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from drift.local.ingest.formats import DamagedError, Growth, Read
from drift.local.ingest.formats.extents import column_name, require_near
from drift.local.ingest.formats.office import core_properties, note_on
from drift.local.ingest.formats.packages import Package
from drift.local.ingest.formats.tables import as_text
from drift.local.ingest.formats.workbook_parts import ToldRow, WorkbookParts

_MOST_PADDED = 64
_FREE_MERGED, _MERGED_A_ROW = 1_000_000, 1_000
"""Characters by which merged cells may repeat their values: of a sheet, and more for each row."""
_NAMED = 5
Range = tuple[tuple[int, int], tuple[int, int]]


def read_workbook(content: bytes) -> Read:
    """Return what is shown of a workbook; formulas are their values where these are stored."""
    parts: list[str] = []
    growth = Growth.of(content)
    try:
        package = Package(content, require_near)
        told = WorkbookParts(package)
        whole = package.intact() if package.damaged else content
        with CalamineWorkbook.from_filelike(BytesIO(whole)) as book:
            left = Counter[str]()
            formulas: list[str] = []
            for one in book.sheets_metadata:
                if one.visible != SheetVisibleEnum.Visible:
                    left["hidden sheets"] += 1
                elif one.typ == SheetTypeEnum.WorkSheet:
                    sheet = _Sheet(book.get_sheet_by_name(one.name), told, left, formulas)
                    left["charts"] += told.count_charts(one.name)
                    if text := as_text(sheet.rows(), growth):
                        parts.append(f"# {one.name}\n\n{text}")
    except CalamineError as error:
        raise DamagedError(f"is damaged, or not what its ending says ({error})") from error

    cells = ", ".join(formulas[:_NAMED]) + (" and others" if len(formulas) > _NAMED else "")
    bare = f"{len(formulas):,} formulas have no value stored and stand as written: {cells}"
    title, own = core_properties(package)
    notes = (note_on(left + package.damaged), bare if formulas else "")
    return Read("\n\n".join(parts), title, note="; ".join(filter(None, notes)), own=own)


class _Sheet:
    """One sheet as it is shown; what is not is counted in `left`."""

    def __init__(
        self, sheet: CalamineSheet, told: WorkbookParts, left: Counter[str], formulas: list[str]
    ) -> None:
        self._sheet, self._left, self._formulas = sheet, left, formulas
        start = sheet.start or (0, 0)
        self._padded = [""] * (start[1] if start[1] <= _MOST_PADDED else 0)
        self._first = start[1] - len(self._padded)
        self._told = told.rows(sheet.name)
        self._comments = told.comments(sheet.name)
        hidden = {column - self._first for column in told.hidden_columns(sheet.name)}
        width = len(self._padded) + sheet.width
        self._hidden = [n for n in sorted(hidden, reverse=True) if 0 <= n < width]
        left["hidden columns"] += len(self._hidden)

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the rows that are shown, each with the comments on its cells below it."""
        is_ahead, told = -1, ToldRow()
        merged = _Merged(self._sheet.merged_cell_ranges or (), self._first)
        for number, values in enumerate(self._sheet.iter_rows()):
            while is_ahead < number:
                is_ahead, told = next(self._told, (1 << 40, ToldRow()))
            row: list[object] = [*self._padded, *values]
            if is_ahead == number:
                self._apply(number, told, row)
            merged.fill(number, row)
            if is_ahead == number and told.is_hidden:
                self._left["hidden rows"] += any(value != "" for value in row)
                continue
            yield from self._shown(number, row)

        for number, below in chain([(is_ahead, told)], self._told):
            if number >= self._sheet.total_height and below.formulas:  # below all values
                row = []
                self._apply(number, below, row)
                yield from () if below.is_hidden else self._shown(number, row)

    def _apply(self, number: int, told: ToldRow, row: list[object]) -> None:
        for column, shown in told.shown.items():
            value = row[column - self._first] if 0 <= column - self._first < len(row) else None
            if isinstance(value, float):
                row[column - self._first] = shown(value)
        for column, formula in told.formulas.items():
            if (place := column - self._first) >= 0:
                row += [""] * (place + 1 - len(row))
                row[place] = formula
                self._formulas.append(
                    f"{column_name(column + 1)}{number + 1} of {self._sheet.name}"
                )

    def _shown(self, number: int, row: list[object]) -> Iterator[Sequence[object]]:
        for column in self._hidden:
            del row[column : column + 1]
        yield row
        yield from ([remark] for remark in self._comments.get(number, ()))


class _Merged:
    """The merged cells of a sheet, whose value each of their places has."""

    def __init__(self, ranges: Sequence[Range], first: int) -> None:
        self._waiting = sorted(ranges, reverse=True)
        self._first, self._room = first, _FREE_MERGED
        self._open: list[tuple[slice, int, object]] = []

    def fill(self, number: int, row: list[object]) -> None:
        """Fill this row; a title that spans it from the first column on is said once."""
        self._room += _MERGED_A_ROW
        while self._waiting and self._waiting[-1][0][0] <= number:
            (begin, left), (end, right) = self._waiting.pop()
            place = slice(left - self._first, min(right - self._first + 1, len(row)))
            if begin < number or not 0 <= place.start < place.stop or row[place.start] == "":
                continue
            is_title = begin == end and not any(v != "" for v in row[: place.start])
            if is_title and not any(value != "" for value in row[place.start + 1 :]):
                row[:] = [row[place.start]]
            else:
                self._open.append((place, end, row[place.start]))

        still = []
        for place, end, value in self._open:
            width = place.stop - place.start
            self._room -= width * (1 + len(str(value)))
            if number <= end and self._room > 0:
                row[place] = [value] * width
                still.append((place, end, value))
        self._open = still
