"""Workbooks: a sheet below its name, a row on its line with the heads of its columns."""

from __future__ import annotations

from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from drift.local.ingest.formats import DamagedError, Growth, Read
from drift.local.ingest.formats.extents import require_near
from drift.local.ingest.formats.packages import opened
from drift.local.ingest.formats.tables import as_text


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
