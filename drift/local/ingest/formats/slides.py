"""Presentations: a slide is a page, its title a heading; tables and notes are read too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lxml.etree import LxmlError
from pptx import Presentation
from pptx.exc import PythonPptxError

from drift.local.ingest.formats import DamagedError, Growth, Read
from drift.local.ingest.formats.packages import opened
from drift.local.ingest.formats.tables import as_text


def read_slides(content: bytes) -> Read:
    """Return the text of all slides in their order."""
    growth = Growth.of(content)
    try:
        show = Presentation(opened(content))
        slides = ["\n\n".join(growth.seen(_of_slide(slide))) for slide in show.slides]
        title = show.core_properties.title or ""
    except (PythonPptxError, LxmlError, KeyError, ValueError, AttributeError) as error:
        raise DamagedError(f"is no presentation that can be read ({error})") from error

    # What a new presentation is called by the program that made it.
    title = "" if title == "PowerPoint Presentation" else title
    return Read("\n\n\f\n\n".join(slides) if any(slides) else "", title, has_pages=True)


def _of_slide(slide: Any) -> Iterator[str]:  # noqa: ANN401 - it has no public type
    heading = slide.shapes.title
    if heading is not None and (words := " ".join(heading.text_frame.text.split())):
        yield f"# {words}"
    for shape in _all(slide.shapes):
        if heading is not None and shape.shape_id == heading.shape_id:
            continue
        if getattr(shape, "has_table", False):
            yield as_text([cell.text for cell in row.cells] for row in shape.table.rows)
        elif shape.has_text_frame:
            yield from _paragraphs(shape.text_frame)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        yield from _paragraphs(frame)


def _paragraphs(frame: Any) -> Iterator[str]:  # noqa: ANN401 - it has no public type
    for paragraph in frame.paragraphs:
        if said := paragraph.text.replace("\v", "\n").strip():
            yield f"{'  ' * (paragraph.level - 1)}- {said}" if paragraph.level else said


def _all(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes and what is in groups of them, however deep."""
    waiting = [iter(shapes)]
    while waiting:
        shape = next(waiting[-1], None)
        if shape is None:
            waiting.pop()
        elif hasattr(shape, "shapes"):
            waiting.append(iter(shape.shapes))
        else:
            yield shape
