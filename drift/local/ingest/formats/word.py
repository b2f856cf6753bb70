"""Word documents: headings, paragraphs, lists and tables in their order, pages as Word cut them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docx import Document
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml.etree import LxmlError

from drift.local.ingest.formats import DamagedError, Growth, Read
from drift.local.ingest.formats.packages import opened
from drift.local.ingest.formats.tables import as_text

_HEADING = re.compile(r"Heading (\d)")
_TEXT, _TAB, _BREAK = qn("w:t"), qn("w:tab"), qn("w:br")
_PAGE_AS_CUT = qn("w:lastRenderedPageBreak")
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
"""What older programs show in the place of what stands beside it."""


def read_word(content: bytes) -> Read:
    """Return the text of a document; what was deleted, heads and notes of pages are left out."""
    try:
        document = Document(opened(content))
        body = document.element.body
        # Word notes where its pages ended; only without that, breaks that people made are counted.
        page = _PAGE_AS_CUT if next(body.iter(_PAGE_AS_CUT), None) is not None else _BREAK
        parts = list(Growth.of(content).seen(_parts(document, page)))
        title = document.core_properties.title or ""
    except (OpcError, LxmlError, KeyError, ValueError, AttributeError) as error:
        raise DamagedError(f"is no Word document that can be read ({error})") from error

    text = "\n\n".join(parts)
    return Read(text, title, has_pages="\f" in text)


def _parts(document: Any, page: str) -> Iterator[str]:  # noqa: ANN401 - it has no public type
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            if text := as_text(_rows(block, page)):
                yield text
        elif said := _said(block._p, page).strip(" \t\n"):  # noqa: SLF001 - its element
            yield _marked(block, said)


def _marked(paragraph: Paragraph, said: str) -> str:
    style = paragraph.style.name or "" if paragraph.style else ""
    heading = _HEADING.fullmatch(style)
    if heading or style == "Title":
        breaks, words = "\f" * said.count("\f"), " ".join(said.replace("\f", " ").split())
        level = int(heading[1]) if heading else 1
        marked = f"{'#' * min(level, 6)} {words}" if words else ""
        return f"{breaks}\n\n{marked}" if breaks else marked
    if style.startswith("List") or paragraph._p.find(f"{qn('w:pPr')}/{qn('w:numPr')}") is not None:  # noqa: SLF001 - its element
        return f"- {said}"
    return said


def _rows(table: Table, page: str) -> Iterator[list[str]]:
    for row in table._tbl.tr_lst:  # noqa: SLF001 - rows of cells as they are stored, in linear time
        yield [_said(cell, page) for cell in row.tc_lst]


def _said(element: Any, page: str) -> str:  # noqa: ANN401 - an element of XML
    """Return the text in an element, with a form feed where a page begins."""
    parts: list[str] = []
    waiting = [element]
    while waiting:
        one = waiting.pop()
        if one.tag == _FALLBACK:
            continue
        is_page = one.tag == page and (page != _BREAK or one.get(qn("w:type")) == "page")
        if one.tag == _TEXT:
            parts.append(one.text or "")
        elif is_page:
            parts.append("\f")
        elif one.tag in {_TAB, _BREAK} and one.getparent().tag == qn("w:r"):
            parts.append("\t" if one.tag == _TAB else "\n")
        elif one.tag == qn("w:p") and parts:
            parts.append("\n")
        waiting.extend(reversed(one))

    return "".join(parts)
