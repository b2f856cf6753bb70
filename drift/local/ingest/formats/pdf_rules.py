"""The straight lines that are drawn on a page of a PDF."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_float, c_int

from pypdfium2 import PdfPage, raw

from drift.local.ingest.formats.pdf_layout import Box

_MOST_OBJECTS, _MOST_RULES, _MOST_POINTS = 20_000, 2_000, 200
_THICKEST, _SHORTEST = 3.0, 4.0


def rules_of(page: PdfPage) -> list[Box]:
    """Return the lines of a page that stand upright or level; none where there are very many."""
    found: list[Box] = []
    rotation, count, of = page.get_rotation(), raw.FPDFPage_CountObjects(page), page.raw
    read, kind_of = raw.FPDFPage_GetObject, raw.FPDFPageObj_GetType
    for number in range(count if count <= _MOST_OBJECTS else 0):
        drawn = read(of, number)
        if kind_of(drawn) == raw.FPDF_PAGEOBJ_PATH:
            found += (box.turned(rotation) for box in _straight(drawn))
        if len(found) > _MOST_RULES:
            return []
    return found


def _straight(drawn: object) -> Iterator[Box]:
    """Yield the upright and level lines of a path; one that is thin is a line itself."""
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    if not raw.FPDFPageObj_GetBounds(drawn, left, bottom, right, top):
        return
    box = Box(left.value, bottom.value, right.value, top.value)
    sides = sorted((box.right - box.left, box.top - box.bottom))
    if sides[0] <= _THICKEST:
        yield from [box] * (sides[1] > _SHORTEST)
        return

    fill, is_drawn = c_int(), c_int()
    raw.FPDFPath_GetDrawMode(drawn, fill, is_drawn)
    count = raw.FPDFPath_CountSegments(drawn)
    if not is_drawn.value or not 1 < count <= _MOST_POINTS:
        return
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(drawn, matrix)
    begun = before = (0.0, 0.0)
    x, y = c_float(), c_float()
    for number in range(count):
        segment = raw.FPDFPath_GetPathSegment(drawn, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        at = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            begun = at
        ends = [(before, at)] * (kind == raw.FPDF_SEGMENT_LINETO)
        ends += [(at, begun)] * bool(raw.FPDFPathSegment_GetClose(segment))
        for one, other in ends:
            wide, high = abs(one[0] - other[0]), abs(one[1] - other[1])
            if min(wide, high) < 1 and max(wide, high) > _SHORTEST:
                yield Box.around([Box(*one, *one), Box(*other, *other)])
        before = at
