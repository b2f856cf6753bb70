"""Presentations: a slide is a page, its title a heading; boxes are read by where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from drift.local.ingest.formats import DamagedError, Growth, Read
from drift.local.ingest.formats.escaping import escaped
from drift.local.ingest.formats.figures import chart, diagram, linear, picture
from drift.local.ingest.formats.office import SlideBox, comment, core_properties, in_rows, note_on
from drift.local.ingest.formats.packages import (
    Element,
    Package,
    Related,
    every,
    local,
    number_of,
    said_of,
)
from drift.local.ingest.formats.tables import MOST_ACROSS, Cell, as_text, spread

_BOXES = frozenset({"sp", "pic", "graphicFrame", "grpSp", "cxnSp"})
_TITLES = frozenset({"title", "ctrTitle"})
_RUNNING = frozenset({"dt", "ftr", "hdr", "sldNum"})
_BODIES = frozenset({"body", "obj", "subTitle"})
_UNSEEN = frozenset({"pPr", "rPr", "endParaRPr", "Fallback"})


def read_slides(content: bytes) -> Read:
    """Return the text of all slides in their order; of a hidden one its page alone."""
    package = Package(content)
    main = package.part("officeDocument")
    root = package.xml(main, is_needed=True)
    if root is None or local(root) != "presentation":
        raise DamagedError("is no presentation that can be read (it has no slides)")

    show, growth = _Show(package, main), Growth.of(content)
    named = [_relation(one) for one in root.findall("{*}sldIdLst/{*}sldId")]
    slides = ["\n\n".join(growth.seen(show.slide(one))) for one in named]
    title, own = core_properties(package)
    text = "\n\n\f\n\n".join(slides) if any(slides) else ""
    return Read(text, title, has_pages=True, note=note_on(show.left + package.damaged), own=own)


class _Show:
    """One presentation as it is read."""

    def __init__(self, package: Package, name: str) -> None:
        self.left: Counter[str] = Counter()
        self._package = package
        self._slides = package.related(name, is_needed=True)
        authors = (
            one for one in self._slides.values() if one.kind in {"commentAuthors", "authors"}
        )
        self._authors = {
            said_of(author, "id"): said_of(author, "name")
            for part in authors
            for author in every(package.xml(part.name), "cmAuthor", "author")
        }
        self._places: dict[str, dict[str, Any]] = {}

    def slide(self, key: str) -> Iterator[str]:
        """Yield what a slide says, with its notes and the comments on it."""
        part = self._slides.get(key)
        root = self._package.xml(part.name, is_needed=True) if part else None
        if part is None or root is None:
            return
        if said_of(root, "show") in {"0", "false"}:
            self.left["hidden slides"] += 1
            return
        related = self._package.related(part.name)
        layout = next((one.name for one in related.values() if one.kind == "slideLayout"), "")
        placed = self._placed(layout, "slideMaster")
        shapes = list(self._shapes(root.find("{*}cSld/{*}spTree"), placed))
        for one in shapes:
            if _kind(one) in _TITLES and (words := " ".join(" ".join(_paragraphs(one)).split())):
                yield f"# {words}"
        for one in shapes:
            if _kind(one) not in _TITLES | _RUNNING:
                yield from self._said(one, related)
        yield from self._notes(related)

    def _shapes(self, tree: Element, placed: dict[str, Element]) -> Iterator[Element]:
        """Yield the shapes of a slide by their places; those of a group stay together."""
        waiting = [iter([] if tree is None else in_rows(self._boxes(tree, placed)))]
        while waiting:
            shape = next(waiting[-1], None)
            if shape is None:
                waiting.pop()
            elif local(shape) == "grpSp":
                waiting.append(in_rows(self._boxes(shape, placed)))
            else:
                yield shape

    def _boxes(self, tree: Element, placed: dict[str, Element]) -> Iterator[SlideBox]:
        waiting = [*reversed(tree)]
        while waiting:
            one = waiting.pop()
            name = local(one)
            if name in {"AlternateContent", "Choice"}:
                waiting += reversed(one)
            elif name in _BOXES:
                told = one.find("./*/{*}cNvPr")
                if said_of(told, "hidden") in {"1", "true"}:
                    self.left["hidden boxes"] += 1
                    continue
                place = _place(one)
                holder = one.find("./*/{*}nvPr/{*}ph")
                if place is None and holder is not None:
                    place = placed.get(said_of(holder, "idx", "0"))
                    place = placed.get(_role(holder)) if place is None else place
                yield SlideBox(*_numbers(place), one)

    def _placed(self, name: str, above: str) -> dict[str, Any]:
        """Return where a part, or what is above it, places what a slide gives no place."""
        if name not in self._places:
            found: dict[str, Any] = {}
            for one in self._package.related(name).values() if above else ():
                found |= self._placed(one.name, "") if one.kind == above else {}
            root = self._package.xml(name)
            for shape in every(root, "sp"):
                holder, place = shape.find("./*/{*}nvPr/{*}ph"), _place(shape)
                if holder is not None and place is not None:
                    found[_role(holder)] = found[said_of(holder, "idx", "0")] = place
            self._places[name] = found
        return self._places[name]

    def _said(self, shape: Element, related: dict[str, Related]) -> Iterator[str]:
        if words := picture(shape.find("./*/{*}cNvPr")):
            yield words
        if local(shape) != "graphicFrame":
            yield from _paragraphs(shape)
            return
        for one in shape.iter("{*}tbl", "{*}chart", "{*}relIds", "{*}oleObj"):
            name = local(one)
            if name == "tbl":
                yield as_text(spread(map(_cells, one.iterfind("{*}tr"))))
            elif name == "oleObj":
                self.left["objects of other programs"] += said_of(one, "progId") != ""
            else:
                key = said_of(one, "dm") if name == "relIds" else _relation(one)
                part = related.pop(key, None)
                root = self._package.xml(part.name) if part else None
                yield from chart(root) if name == "chart" else filter(None, [diagram(root)])

    def _notes(self, related: dict[str, Related]) -> Iterator[str]:
        for part in related.values():
            root = self._package.xml(part.name) if part.kind in {"notesSlide", "comments"} else None
            if root is None:
                continue
            if part.kind == "notesSlide":
                shapes = (one for one in root.iter("{*}sp") if _kind(one) == "body")
                said = "\n\n".join(words for one in shapes for words in _paragraphs(one))
                yield from [f"Notes: {said}"] * bool(said)
            for one in root.iter("{*}cm"):
                author = self._authors.get(said_of(one, "authorId"), "")
                yield comment(author, one.findtext("{*}text") or "\n".join(_paragraphs(one)))


def _relation(one: Element) -> str:
    """Return to what an element refers, which may have an id of its own besides."""
    return next((value for key, value in one.items() if key.endswith("}id")), "")


def _kind(shape: Element) -> str:
    return said_of(shape.find("./*/{*}nvPr/{*}ph"), "type")


def _role(holder: Element) -> str:
    kind = said_of(holder, "type", "obj")
    return "title" if kind in _TITLES else "body" if kind in _BODIES else kind


def _place(shape: Element) -> Element:
    found = shape.find("{*}xfrm")
    return shape.find("./*/{*}xfrm") if found is None else found


def _numbers(place: Element) -> tuple[float, float, float]:
    """Return how far down and to the right something stands, and how high it is."""
    off = None if place is None else place.find("{*}off")
    size = None if place is None else place.find("{*}ext")
    try:
        top, left = (float(said_of(off, name, "0")) for name in ("y", "x"))
        return top, left, float(said_of(size, "cy", "0"))
    except ValueError:
        return 0, 0, 0


def _cells(row: Element) -> Iterator[Cell]:
    for cell in row.iterfind("{*}tc"):
        if not {said_of(cell, "hMerge"), said_of(cell, "vMerge")} & {"1", "true"}:
            across = number_of(cell, "gridSpan", 1, MOST_ACROSS)
            down = number_of(cell, "rowSpan", 1, MOST_ACROSS)
            yield Cell("\n".join(_paragraphs(cell)), across, down)


def _paragraphs(shape: Element) -> Iterator[str]:
    for paragraph in shape.iterfind("{*}txBody/{*}p"):
        if said := _words(paragraph).strip():
            level = number_of(paragraph.find("{*}pPr"), "lvl", 0, 8)
            yield f"{'  ' * (level - 1)}- {said}" if level else escaped(said)


def _words(paragraph: Element) -> str:
    parts: list[str] = []
    waiting = [paragraph]
    while waiting:
        one = waiting.pop()
        name = local(one)
        if name in {"oMath", "t", "br"}:
            parts.append(linear(one) if name == "oMath" else one.text or "\n" * (name == "br"))
        elif name not in _UNSEEN:
            waiting += reversed(one)
    return "".join(parts)
