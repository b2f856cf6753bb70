"""PDF: its pages as a person reads them, with tables, filled in forms and addresses of links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass, field
from itertools import islice
from statistics import median

from pypdfium2 import PdfDocument, PdfiumError, raw

from drift.local.ingest.formats import DamagedError, Growth, NoDocumentError, Read
from drift.local.ingest.formats.pdf_annotations import Link, fields, label_of, links
from drift.local.ingest.formats.pdf_layout import PageLayout, PageLine, plain
from drift.local.ingest.formats.pdf_rows import parted_lines
from drift.local.ingest.formats.pdf_rules import rules_of
from drift.local.ingest.formats.pdf_tables import Columns, Table, found_in
from drift.local.ingest.formats.pdf_text import Entry, as_markdown, key
from drift.local.ingest.formats.pdf_titles import own_of, title_of
from drift.local.ingest.formats.tables import as_text

_PASSWORD = "password"  # noqa: S105 - a word of pdfium's message
_MOST_HEADINGS = 5_000
_FREE_PAGES, _BYTES_A_PAGE = 1_000, 20
"""Pages that any file may have, and one more for so many bytes: a page may be named many times."""
_MOST_NAMED, _EDGE, _FIRST = 10, 2, 3


def read_pdf(content: bytes) -> Read:
    """Return the text of all pages in their order; nothing is read of pictures."""
    try:
        with closing(PdfDocument(content)) as document:
            if len(document) > (most := _FREE_PAGES + len(content) // _BYTES_A_PAGE):
                raise NoDocumentError(f"has {len(document):,} pages, more than {most:,}")
            document.init_forms()
            outline = [Entry.of(mark) for mark in islice(document.get_toc(), _MOST_HEADINGS)]
            reader = _PdfReader(document, Growth.of(content), _headings(outline))
            pages = [reader.page(number) for number in range(len(document))]
            told = document.get_metadata_dict()
            own = own_of(told, document)
    except PdfiumError as error:
        reason = str(error).lower()
        if _PASSWORD in reason:
            raise NoDocumentError("has a password: save it anew, without one") from error
        raise DamagedError(f"is damaged, or no PDF ({error})") from error

    if not any(one.text.strip() for page in pages for one in page):
        raise NoDocumentError("holds pictures alone: have the text of its pages recognised first")

    title = title_of(told.get("Title", ""), reader.first, pages, outline)
    text = as_markdown(pages, has_outline=bool(outline))
    return Read(text, title, has_pages=True, note=reader.note, own=own)


def _headings(outline: Sequence[Entry]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for one in outline:
        if one.page is not None and (name := key(one.title)):
            found[one.page][name] = one.level + 1
    return found


@dataclass(slots=True)
class _PdfReader:
    """Reads pages one after the other; a table may go on from one to the next."""

    document: PdfDocument
    growth: Growth
    headings: dict[int, dict[str, int]]
    first: list[PageLine] = field(default_factory=list)
    """The lines of the first page."""
    _scans: list[int] = field(default_factory=list)
    _outside: int = 0
    _table: Table | None = None
    """The one at the end of the page before."""

    @property
    def note(self) -> str:
        """What is left out."""
        parts = []
        if self._scans:
            one = len(self._scans) == 1
            named = f"page{'' if one else 's'} {_ranges(self._scans)} hold{'s' if one else ''}"
            parts.append(f"{named} no text; pictures are not read")
        if self._outside:
            one = self._outside == 1
            told = (
                "1 line off its page is" if one else f"{self._outside:,} lines off their pages are"
            )
            parts.append(f"{told} left out")
        return "; ".join(parts)

    def page(self, number: int) -> list[PageLine]:
        """Return what a page says, line by line."""
        with closing(self.document[number]) as page, closing(page.get_textpage()) as text_page:
            filled = list(fields(self.document, page))
            linked = list(links(self.document, page, text_page))
            layout = PageLayout.of(
                page,
                text_page,
                sizes=number < _FIRST or not self.headings,
                places=bool(filled) or not number,
            )
            lines = layout.lines
            if not number:
                self.first = list(map(copy, lines))
            self._outside += layout.outside
            begun = len(lines)
            for one in filled:
                high = one.box.top - one.box.bottom
                lines.append(PageLine(one.value, high, one.box, -1, [one.box]))
            gone = self._arrange(layout)
            _mark(lines, self.headings.get(number, {}))
            _link(linked, lines)
            for place, one in enumerate(filled, begun):
                if place not in gone:
                    label = label_of(one, lines)
                    if label is None or label in gone:
                        lines[place].text = f"{one.name}: {one.value}" if one.name else one.value
                    else:
                        lines[label].text = f"{lines[label].text.rstrip()} {one.value}"
                        gone.add(place)
            kept = [one for place, one in enumerate(lines) if place not in gone]
            text = "".join(self.growth.seen(["\n".join([one.text for one in kept])]))
            if not text.strip() and raw.FPDFPage_CountObjects(page) > 0:
                self._scans.append(number + 1)
        return kept

    def _arrange(self, layout: PageLayout) -> set[int]:
        """Put tables and columns where they begin; return the lines that are said by them."""
        before, self._table = self._table, None
        gone: set[int] = set()
        lines = layout.lines
        sizes = [line.size for line in lines if line.parts]
        if not sizes:
            return gone
        size = median(sizes)
        frames = [(frame, parted_lines(lines, frame, size)) for frame in layout.frames()]
        rules = rules_of(layout.page) if any(parted for _, parted in frames) else []
        for frame, parted in frames:
            if not parted:
                continue
            pieces = layout.pieces(frame, rules, parted)
            for found in found_in(pieces, rules, size, layout.font, before):
                first, last = min(found.lines), max(found.lines)
                if isinstance(found, Columns):
                    text = "\n".join(found.texts)
                else:
                    if before and before.heads and first <= _EDGE and found.goes_on(before):
                        found = found.after(before)  # noqa: PLW2901
                    self._table = found if last >= len(lines) - 1 - _EDGE else None
                    text = as_text(found.rows, heads=found.heads)
                    before = None
                gone |= found.lines - {first}
                lines[first] = PageLine(text, is_table=isinstance(found, Table))
        return gone


def _mark(lines: Sequence[PageLine], headings: Mapping[str, int]) -> None:
    """Make lines plain, and those headings that the outline names, each once."""
    left = dict(headings)
    longest = 2 * max(map(len, left), default=0)
    firsts = {name[0] for name in left}
    for line in lines:
        if not line.is_table:
            line.text = text = plain(line.text)
            first = text[:1].lower()
            if len(text) <= longest and (first in firsts or not first.isascii()):
                line.level = left.pop(key(text), 0)


def _link(linked: Sequence[Link], lines: Sequence[PageLine]) -> None:
    """Write the addresses of links behind their words."""
    for one in linked:
        for line in lines:
            is_there = not any(line.box) or line.box.bottom <= one.box.middle <= line.box.top
            if is_there and not (line.is_table or line.level) and one.words in line.text:
                marked = f"[{one.words}]({one.address})"
                line.text = line.text.replace(one.words, marked, 1)
                break


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers in rising order, those that follow each other as `7 to 9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    more = len(named) - _MOST_NAMED
    named = [*named[:_MOST_NAMED], f"{more:,} more places"] if more > 1 else named
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
