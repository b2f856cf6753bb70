"""Word documents: all text that a reader sees is read, unless it is named here as left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drift.indexing.documents import Skipped, text_of
from drift.local.ingest.formats import DamagedError, Growth, Read
from drift.local.ingest.formats.encodings import decoded, decoded_page
from drift.local.ingest.formats.escaping import escaped
from drift.local.ingest.formats.figures import chart, diagram, linear, picture
from drift.local.ingest.formats.html_text import read_page
from drift.local.ingest.formats.office import comment, core_properties, note_on
from drift.local.ingest.formats.packages import Element, Package, local, number_of, said_of
from drift.local.ingest.formats.stories import Said, Story, Style, within
from drift.local.ingest.formats.tables import Cell
from drift.local.ingest.formats.word_signs import signs_of
from drift.local.ingest.formats.word_styles import Styles, is_on

_UNSEEN = frozenset(
    (
        *("pPr", "rPr", "tblPr", "tblGrid", "trPr", "tcPr", "sdtPr", "sectPr", "ffData", "rt"),
        *("Fallback", "instrText", "delInstrText", "fldData", "binData"),
    )
)
"""Elements that tell how something looks or comes about, and what older programs show instead."""
_MOVED = frozenset({"del", "moveFrom", "delText"})
_NOTES = {f"{kind}Reference": kind for kind in ("footnote", "endnote", "comment")}
_MOST_ACROSS = 100


def read_word(content: bytes) -> Read:
    """Return the text of a document with its notes and comments; heads of pages are left out."""
    package = Package(content)
    main = package.part("officeDocument")
    root = package.xml(main, is_needed=True)
    body = None if root is None else root.find("{*}body")
    if body is None:
        raise DamagedError("is no Word document that can be read (it has no body)")

    story = _Word(package, main, body)
    text = "\n\n".join(Growth.of(content).seen(story.blocks(body)))
    title, own = core_properties(package)
    note = note_on(story.left + package.damaged)
    return Read(text, story.title or title, has_pages="\f" in text, note=note, own=own)


class _Word(Story):
    """One document as it is read; each note, chart and part is read once, wherever it is named."""

    def __init__(self, package: Package, name: str, body: Element) -> None:
        super().__init__()
        self._package = package
        self._related = package.related(name)
        self._styles = Styles(self._part("styles"))
        self._notes = {
            (kind, said_of(note, "id")): note
            for kind in _NOTES.values()
            for note in self._part(f"{kind}s")
        }
        # Word notes where its pages ended; only without that, breaks that people made are counted.
        self._is_cut = next(body.iter("{*}lastRenderedPageBreak"), None) is not None

    def _part(self, kind: str) -> Element:
        names = (one.name for one in self._related.values() if one.kind == kind)
        root = self._package.xml(next(names, ""))
        return () if root is None else root

    def is_left_out(self, one: Element, name: str) -> bool:
        what = ""
        if name in _MOVED:
            what = "passages that were deleted or moved away"
        elif name == "r" and self._styles.is_hidden(one):
            what = "hidden passages"
        elif name == "sdt" and one.find("{*}sdtPr/{*}showingPlcHdr") is not None:
            what = "fields that nobody filled in"
        if what and any((words.text or "").strip() for words in one.iter("{*}t", "{*}delText")):
            self.left[what] += 1
        return bool(what) or name in _UNSEEN

    def style(self, paragraph: Element) -> Style:
        return self._styles.of(paragraph)

    def breaks_before(self, paragraph: Element) -> bool:
        return not self._is_cut and is_on(paragraph.find("{*}pPr/{*}pageBreakBefore"))

    def beside(self, one: Element, name: str) -> Iterable[str] | None:
        if name == "txbxContent":
            return self.blocks(one)
        if name not in {"altChunk", "chart", "relIds"}:
            return None
        part = self._related.pop(said_of(one, "dm" if name == "relIds" else "id"), None)
        if name == "altChunk":
            return self._chunk(part.name if part else "")
        root = self._package.xml(part.name) if part else None
        return chart(root) if name == "chart" else filter(None, [diagram(root)])

    def said(self, element: Element) -> Said:
        said = Said()
        codes: list[bool] = []  # of the fields that are open: whether their results are to come
        waiting = [element]
        while waiting:
            one = waiting.pop()
            name = local(one)
            if name == "fldChar":
                _see_field(one, codes)
            if self.is_left_out(one, name) or (any(codes) and name == "t"):
                continue
            if name == "oMath":
                said.parts.append(linear(one))
            elif name == "tbl":
                said.parts.append("\n" + within(self.table(one)))
            elif found := self._note(one, name):
                said.notes.append(found)
            elif (boxes := self.beside(one, name)) is not None:
                said.behind += boxes
            else:
                said.parts.append("\n" if name == "p" and said.parts else signs_of(one, name))
                is_break = name == "br" and said_of(one, "type") == "page"
                if name == "lastRenderedPageBreak" or is_break:
                    said.parts.append("\f" if self._is_cut != is_break else "")
                waiting.extend(reversed(one))
        return said

    def _note(self, one: Element, name: str) -> str:
        if name == "docPr":
            return picture(one)
        note = self._notes.pop((_NOTES.get(name, ""), said_of(one, "id")), None)
        words = "" if note is None else " ".join(self.whole(note).split())
        if name == "commentReference":
            return comment(said_of(note, "author"), words)
        return f"Note: {words}" if words else ""

    def _chunk(self, name: str) -> Iterator[str]:
        """Yield what another document says that stands in this one, where it is a page or text."""
        ending = name.rpartition(".")[2].lower()
        detect = decoded if ending == "txt" else decoded_page
        found = text_of(self._package.content(name), "", detect)
        if isinstance(found, Skipped) or ending not in {"htm", "html", "xhtml", "txt"}:
            self.left["documents within this one"] += 1
            return
        yield escaped(found[0].strip()) if ending == "txt" else read_page(found[0])[0]

    def _under(self, element: Element, wanted: str) -> Iterator[Element]:
        waiting = [*reversed(element)]
        while waiting:
            one = waiting.pop()
            if (name := local(one)) == wanted:
                yield one
            elif not self.is_left_out(one, name):
                waiting.extend(reversed(one))

    def cells(self, table: Element) -> list[list[Cell]]:
        rows: list[list[Cell]] = []
        above: dict[int, Cell] = {}
        for row in self._under(table, "tr"):
            if row.find("{*}trPr/{*}del") is not None or row.find("{*}trPr/{*}hidden") is not None:
                self.left["rows of tables that were deleted or hidden"] += 1
                continue
            column = number_of(row.find("{*}trPr/{*}gridBefore"), "val", 0, _MOST_ACROSS)
            rows.append([Cell(None, column)] if column else [])
            for cell in self._under(row, "tc"):
                across = number_of(cell.find("{*}tcPr/{*}gridSpan"), "val", 1, _MOST_ACROSS)
                merge = cell.find("{*}tcPr/{*}vMerge")
                if merge is None or said_of(merge, "val") == "restart" or column not in above:
                    above[column] = Cell(cell, across)
                    rows[-1].append(above[column])
                else:
                    above[column].down += 1
                column += across
        return rows


def _see_field(one: Element, codes: list[bool]) -> None:
    kind = said_of(one, "fldCharType")
    if kind == "begin":
        codes.append(True)
    elif codes and kind == "separate":
        codes[-1] = False
    elif codes and kind == "end":
        codes.pop()
