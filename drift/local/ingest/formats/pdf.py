"""PDF: the text of each page; headings are those of its outline."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from typing import NamedTuple, Self

from pypdfium2 import PdfBookmark, PdfDocument, PdfiumError

from drift.core.folding import as_typed
from drift.indexing.pages import joined, without_running_heads
from drift.local.ingest.formats import DamagedError, Growth, NoDocumentError, Read
from drift.local.ingest.formats.titles import own_title

_PASSWORD = "password"  # noqa: S105 - a word of pdfium's message
_MOST_HEADINGS = 5_000
_FREE_PAGES, _BYTES_A_PAGE = 1_000, 20
"""Pages that any file may have, and one more for so many bytes: a page may be named many times."""


def read_pdf(content: bytes) -> Read:
    """Return the text of all pages in their order; nothing is read of pictures."""
    try:
        with closing(PdfDocument(content)) as document:
            if len(document) > (most := _FREE_PAGES + len(content) // _BYTES_A_PAGE):
                raise NoDocumentError(f"has {len(document):,} pages, more than {most:,}")
            outline = [_Entry.of(mark) for mark in islice(document.get_toc(), _MOST_HEADINGS)]
            headings = _headings(outline)
            found = (_page(document, n, headings.get(n, {})) for n in range(len(document)))
            pages = list(Growth.of(content).seen(found))
            title = document.get_metadata_dict().get("Title", "")
    except PdfiumError as error:
        reason = str(error).lower()
        if _PASSWORD in reason:
            raise NoDocumentError("has a password: save it anew, without one") from error
        raise DamagedError(f"is damaged, or no PDF ({error})") from error

    empty = sum(not page.strip() for page in pages)
    if empty == len(pages):
        raise NoDocumentError("holds pictures alone: have the text of its pages recognised first")

    note = f"{empty:,} of {len(pages):,} pages hold no text; pictures are not read"
    text = joined(without_running_heads(pages))
    title = own_title(title)
    if not title or _is_of_part(title, outline):
        title = _title_above(outline)
    return Read(text, title, has_pages=True, note=note if empty else "")


def _page(document: PdfDocument, number: int, headings: dict[str, int]) -> str:
    """Return the text of a page, in which lines that are headings are marked as such."""
    with closing(document[number]) as page, closing(page.get_textpage()) as text_page:
        said = text_page.get_text_range()
    # The sign stands for a hyphen at the end of a line, and takes the line's end with it.
    said = re.sub("[\ufffe\x02]\n?", "-\n", said.replace("\r\n", "\n").replace("\r", "\n"))
    if not headings:
        return said

    left = dict(headings)
    lines = said.split("\n")
    for place, line in enumerate(lines):
        if level := left.pop(_key(line), 0):
            lines[place] = f"\n{'#' * min(level, 6)} {line.strip()}\n"
    return "\n".join(lines)


class _Entry(NamedTuple):
    """An entry of an outline: its level and its page, each from 0."""

    title: str
    level: int
    page: int | None

    @classmethod
    def of(cls, mark: PdfBookmark) -> Self:
        place = mark.get_dest()
        return cls(mark.get_title(), mark.level, place.get_index() if place else None)


def _is_of_part(title: str, outline: Sequence[_Entry]) -> bool:
    """Tell whether a title is that of a later part."""
    parts = [_key(one.title) for one in outline]
    return _key(title) in parts[1:] and _key(title) != parts[0]


def _title_above(outline: Sequence[_Entry]) -> str:
    """Return what stands above all the rest of an outline; nothing where its parts are equal."""
    tops = [one.title for one in outline if not one.level]
    is_title = len(tops) == 1 < len(outline) and bool(own_title(tops[0]))
    return tops[0] if is_title else ""


def _headings(outline: Sequence[_Entry]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for one in outline:
        if one.page is not None and (key := _key(one.title)):
            found[one.page][key] = one.level + 1
    return found


def _key(title: str) -> str:
    return " ".join(as_typed(title).casefold().split())
