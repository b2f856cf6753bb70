"""Workbooks and CSV: a sheet below its name, a row on its line with the heads of its columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import islice

from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from drift.indexing.documents import Skipped, text_of
from drift.local.ingest.formats import DamagedError, Growth, NoDocumentError, Read
from drift.local.ingest.formats.encodings import decoded
from drift.local.ingest.formats.extents import require_near
from drift.local.ingest.formats.packages import opened
from drift.local.ingest.formats.tables import as_text

_DELIMITERS = ",;\t|"
_SAMPLE_CHARACTERS = 65_536
_SAMPLE_ROWS = 20

# The limit counts for all who read CSV in this process, so it is never a single file's.
csv.field_size_limit(2**31 - 1)


def read_workbook(content: bytes) -> Read:
    """Return the visible sheets of a workbook; formulas are their values."""
    parts: list[str] = []
    growth = Growth.of(content)
    try:
        with CalamineWorkbook.from_filelike(opened(content, require_near)) as book:
            shown = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == SheetVisibleEnum.Visible
                and sheet.typ == SheetTypeEnum.WorkSheet
            ]
            for name in shown:
                sheet = book.get_sheet_by_name(name)
                if text := as_text(sheet.iter_rows(), growth):
                    parts.append(f"# {name}\n\n{text}")
    except CalamineError as error:
        raise DamagedError(f"is damaged, or not what its ending says ({error})") from error

    return Read("\n\n".join(parts))


def read_csv(content: bytes) -> Read:
    """Return the rows of a table that is text, however it is delimited."""
    found = text_of(content, "", decoded)
    if isinstance(found, Skipped):
        raise NoDocumentError(found.reason)
    text, note = found
    return Read(as_text(_rows(text, _delimiter(text)), Growth.of(content)), note=note)


def _rows(text: str, delimiter: str) -> Iterator[Sequence[str]]:
    return csv.reader(StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(text: str) -> str:
    """Return the sign that cuts the most of the first lines into the same number of values."""
    sample = text[:_SAMPLE_CHARACTERS]

    def agreeing(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in islice(_rows(sample, delimiter), _SAMPLE_ROWS)]
        wide = max((width for width in widths if width > 1), key=widths.count, default=1)
        return widths.count(wide) if wide > 1 else 0, wide

    return max(_DELIMITERS, key=agreeing)
