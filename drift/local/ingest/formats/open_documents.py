"""OpenDocument texts and presentations, read by the same rules as those of Word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from drift.local.ingest.formats import DamagedError, Growth, NoDocumentError, Read
from drift.local.ingest.formats.office import SlideBox, comment, in_rows, note_on, told_by
from drift.local.ingest.formats.packages import Element, Package, every, local, number_of, said_of
from drift.local.ingest.formats.stories import Said, Story, Style, within
from drift.local.ingest.formats.tables import MOST_ACROSS, Cell

_UNSEEN = frozenset(
    (
        *("tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls"),
        *("note-citation", "ruby-text", "hidden-text", "hidden-paragraph", "binary-data", "notes"),
        *("table-of-content-source", "desc", "title", "covered-table-cell", "event-listeners"),
        *("annotation", "creator", "date", "covered-table-cell"),
    )
)
_RUNNING = frozenset({"footer", "header", "date-time", "page-number"})
_SIGNS = {"tab": "\t", "line-break": "\n", "soft-page-break": "\f"}
_META = {
    "title": "title",
    "initial-creator": "author",
    "creator": "author",
    "creation-date": "created",
    "date": "updated",
    "language": "language",
    "keyword": "keywords",
}
_MOST_SPACES, _MOST_LEVELS = 100, 6
_LENGTH = re.compile(r"(-?[0-9.]{1,12})(cm|mm|in|pt|px)")
_INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1, "pt": 1 / 72, "px": 1 / 96}


def read_open_document(content: bytes) -> Read:
    """Return a text, or the slides of a presentation, each of which is a page."""
    package = Package(content)
    if b"encryption-data" in package.content("META-INF/manifest.xml"):
        raise NoDocumentError("has a password: save it anew, without one")
    root = package.xml("content.xml", is_needed=True)
    body = None if root is None else root.find("{*}body")
    if body is None:
        raise DamagedError("is no OpenDocument that can be read (it has no body)")

    story, growth = _OpenDocument(package, root), Growth.of(content)
    slides = body.findall("{*}presentation/{*}page")
    shown = ["\n\n".join(growth.seen(story.slide(one))) for one in slides]
    text = "\n\n\f\n\n".join(shown) if any(shown) else ""
    if not slides:
        text = "\n\n".join(growth.seen(story.blocks(body)))
    title, own = told_by(package.xml("meta.xml"), _META)
    pages = bool(slides) or "\f" in text
    return Read(text, story.title or title, pages, note_on(story.left + package.damaged), own)


class _OpenDocument(Story):
    """One document as it is read."""

    def __init__(self, package: Package, root: Element) -> None:
        super().__init__()
        self._package = package
        both = (one for one in (package.xml("styles.xml"), root) if one is not None)
        self._styles = {said_of(one, "name"): one for part in both for one in part.iter("{*}style")}

    def slide(self, page: Element) -> Iterator[str]:
        """Yield what a slide says, boxes by where they stand, with its notes."""
        if self._says(page, "drawing-page-properties", "visibility") == "hidden":
            self.left["hidden slides"] += 1
            return
        shapes = [*in_rows(_box(one) for one in page if local(one) != "notes")]
        titles = [one for one in shapes if said_of(one, "class") == "title"]
        for one in titles:
            if words := " ".join(" ".join(self.blocks(one)).split()):
                yield f"# {words}"
        for one in shapes:
            if one not in titles and said_of(one, "class") not in _RUNNING:
                yield from self._frame(one)
        for notes in page.iterfind("{*}notes"):
            said = "\n\n".join(part for one in notes for part in self.blocks(one))
            yield from [f"Notes: {said}"] * bool(said.strip())

    def is_left_out(self, one: Element, name: str) -> bool:
        is_hidden = name in {"span", "p", "h"} and self._says(one, "text-properties", "display")
        if is_hidden == "none" or (name == "section" and said_of(one, "display") == "none"):
            self.left["hidden passages"] += 1
            return True
        if name == "tracked-changes":
            self.left["passages that were deleted"] += len(one.findall("*/{*}deletion"))
        return name in _UNSEEN

    def _says(self, one: Element, group: str, name: str) -> str:
        """Return a property of the style of an element, or of one that it is based on."""
        key = said_of(one, "style-name")
        for _ in range(20):  # styles may be based on each other in a circle
            style = self._styles.get(key)
            found = "" if style is None else said_of(style.find(f"{{*}}{group}"), name)
            if found or style is None:
                return found
            key = said_of(style, "parent-style-name")
        return ""

    def style(self, paragraph: Element) -> Style:
        key = said_of(paragraph, "style-name")
        is_title = "Title" in {key, said_of(self._styles.get(key), "parent-style-name")}
        level = number_of(paragraph, "outline-level", 1, _MOST_LEVELS)
        is_item = local(paragraph.getparent()) == "list-item"
        return Style(level * (is_title or local(paragraph) == "h"), is_title, is_item)

    def breaks_before(self, paragraph: Element) -> bool:
        return self._says(paragraph, "paragraph-properties", "break-before") == "page"

    def beside(self, one: Element, name: str) -> Iterable[str] | None:
        if name == "frame":
            return self._frame(one)
        return ["\f"] if name == "soft-page-break" else None

    def said(self, element: Element) -> Said:
        said = Said()
        waiting = [element]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                said.parts.append(re.sub(r"\s+", " ", one))
                continue
            name = local(one)
            if name in {"annotation", "note"}:
                words = " ".join("\n".join(self.blocks(one)).split())
                if name == "annotation":
                    words = comment(one.findtext("{*}creator") or "", words)
                said.notes += [f"Note: {words}" if name == "note" else words] * bool(words)
            elif name == "frame":
                said.behind += self._frame(one)
            elif name == "table":
                said.parts.append("\n" + within(self.table(one)))
            elif one is element or not self.is_left_out(one, name):
                spaces = " " * number_of(one, "c", 1, _MOST_SPACES) if name == "s" else ""
                is_next = name in {"p", "h"} and said.parts
                said.parts.append("\n" if is_next else _SIGNS.get(name, spaces))
                for child in reversed(one):
                    waiting += [child.tail or "", child]
                waiting.append(one.text or "")
        return said

    def _frame(self, frame: Element) -> Iterator[str]:
        """Yield what stands in a frame or shape: its text, what a picture shows, an object."""
        told = (frame.findtext(f"{{*}}{name}") or "" for name in ("desc", "title"))
        if words := " ".join(next(filter(None, told), "").split()):
            yield f"Picture: {words}"
        for one in frame.iterfind("{*}object"):
            name = said_of(one, "href").removeprefix("./")
            root = self._package.xml(f"{name}/content.xml")
            tables = [*every(root, "table")]
            if root is not None and local(root) == "math":
                yield " ".join("".join(root.itertext("{*}mi", "{*}mn", "{*}mo")).split())
            for table in tables:
                yield from self.table(table)
            self.left["objects of other programs"] += root is None
        yield from self.blocks(frame)

    def cells(self, table: Element) -> list[list[Cell]]:
        rows: list[list[Cell]] = []
        waiting = [*reversed(table)]
        while waiting:
            one = waiting.pop()
            if local(one) == "table-row":
                rows.append([*map(_cell, one.iterfind("{*}table-cell"))])
            elif local(one) in {"table-header-rows", "table-rows", "table-row-group"}:
                waiting += reversed(one)
        return rows


def _cell(one: Element) -> Cell:
    across = number_of(one, "number-columns-spanned", 1, MOST_ACROSS)
    return Cell(one, across, number_of(one, "number-rows-spanned", 1, MOST_ACROSS))


def _box(shape: Element) -> SlideBox:
    top, left, height = (_inches(said_of(shape, name)) for name in ("y", "x", "height"))
    return SlideBox(top, left, height, shape)


def _inches(length: str) -> float:
    found = _LENGTH.fullmatch(length)
    try:
        return float(found[1]) * _INCHES[found[2]] if found else 0
    except ValueError:
        return 0
