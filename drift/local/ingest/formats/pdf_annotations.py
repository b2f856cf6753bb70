"""What is filled in and linked on a page of a PDF: values of a form, and what links lead to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ctypes import POINTER, Array, c_int, c_ushort, cast, create_string_buffer
from typing import NamedTuple

from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from drift.local.ingest.formats.pdf_layout import Box, PageLine

_MOST = 2_000
_LONGEST = 20_000
_ADDRESS = re.compile(r"(?:https?://|mailto:|ftp://)[^\s<>\\]{1,2000}")
_WRITTEN = {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
_MARKED = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
_MARK = "\u2612"


class Field(NamedTuple):
    """A field of a form that is filled in, and what it is called."""

    box: Box
    name: str
    value: str


class Link(NamedTuple):
    """A link out of the document: where it stands, its words on one line, and its address."""

    box: Box
    words: str
    address: str


def fields(document: PdfDocument, page: PdfPage) -> Iterator[Field]:
    """Yield what is filled in on a page of a document whose forms are begun."""
    form = document.formenv
    count = raw.FPDFPage_GetAnnotCount(page) if form else 0
    for number in range(min(count, _MOST)):
        note = raw.FPDFPage_GetAnnot(page, number)
        try:
            if raw.FPDFAnnot_GetSubtype(note) != raw.FPDF_ANNOT_WIDGET:
                continue
            kind = raw.FPDFAnnot_GetFormFieldType(form, note)
            name = _told(raw.FPDFAnnot_GetFormFieldAlternateName, form, note)
            name = name or _told(raw.FPDFAnnot_GetFormFieldName, form, note)
            value = ""
            if kind in _WRITTEN:
                value = _told(raw.FPDFAnnot_GetFormFieldValue, form, note)
            elif kind in _MARKED and raw.FPDFAnnot_IsChecked(form, note):
                value = _MARK
            place = raw.FS_RECTF()
            if value and raw.FPDFAnnot_GetRect(note, place):
                box = Box(place.left, place.bottom, place.right, place.top)
                yield Field(box.turned(page.get_rotation()), name, value)
        finally:
            raw.FPDFPage_CloseAnnot(note)


def label_of(field: Field, lines: list[PageLine]) -> int | None:
    """Return the number of the line that a field belongs to: left of it, or beside a mark."""
    beside: list[tuple[float, int]] = []
    for number, line in enumerate(lines):
        if line.parts and line.start >= 0 and field.box.bottom < line.box.middle < field.box.top:
            left, right = field.box.left - line.box.right, line.box.left - field.box.right
            if left > -line.size:
                beside.append((left, number))
            elif field.value == _MARK and right > -line.size:
                beside.append((right, number))
    return min(beside, default=(0, None))[1]


def links(document: PdfDocument, page: PdfPage, text_page: PdfTextPage) -> Iterator[Link]:
    """Yield the links of a page that lead out of the document, an address once.

    Words that say the address themselves are left out.
    """
    place, link, area, of = c_int(0), raw.FPDF_LINK(), raw.FS_RECTF(), page.raw
    seen: set[str] = set()
    for _ in range(_MOST):
        if not raw.FPDFLink_Enumerate(of, place, link):
            return
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        said = create_string_buffer(2_048)
        length = raw.FPDFAction_GetURIPath(document, action, said, len(said))
        address = said.raw[: max(length - 1, 0)].decode("utf-8", errors="replace")
        if length > len(said) or address in seen or not _ADDRESS.fullmatch(address):
            continue
        seen.add(address)
        raw.FPDFLink_GetAnnotRect(link, area)
        box = Box(area.left, area.bottom, area.right, area.top)
        words = text_page.get_text_bounded(*box).split("\r\n")[0].strip()
        if words and words.strip("/<>") not in address:
            safe = address.replace("(", "%28").replace(")", "%29")
            yield Link(box.turned(page.get_rotation()), words, safe)


def _told(read: Callable[..., int], *of: object) -> str:
    """Return what a function of pdfium writes as UTF-16, on one line."""
    size = min(read(*of, None, 0), 2 * _LONGEST)
    if size <= 2:  # noqa: PLR2004 - bytes of its end
        return ""
    held: Array[c_ushort] = (c_ushort * ((size + 1) // 2))()
    if read(*of, cast(held, POINTER(c_ushort)), size) > size:
        return ""
    return " ".join(bytes(held)[: size - 2].decode("utf-16-le", errors="replace").split())
