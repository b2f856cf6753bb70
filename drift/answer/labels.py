"""Pure: how a reference calls the place of its passage, on one line, as exactly as is known."""

from __future__ import annotations

from drift.model.graph import Chunk
from drift.model.tree import Citation
from drift.prompting.elements import place_of
from drift.prompting.tokens import cut

MAX_NAME_CHARACTERS = 200
MAX_HEADING_CHARACTERS = 120
_BETWEEN = " > "

Lines = tuple[int, int]
"""First and last, from 1."""


def lines_of(citation: Citation, chunk: Chunk) -> Lines | None:
    """Return the lines of the document's file in which the span stands; None where unknown."""
    if chunk.first_line is None or not chunk.text.startswith(citation.span, citation.at):
        return None
    first = chunk.first_line + chunk.text.count("\n", 0, citation.at)
    return first, first + citation.span.rstrip("\n").count("\n")


def label_of(citation: Citation, chunk: Chunk | None) -> str:
    """Return `path:first-last`, else `document, page 7`, else heading or place, else the document.

    Whatever names hold, it is one line.
    """
    name = _on_line(citation.document_name, MAX_NAME_CHARACTERS)
    if chunk is None:
        return name

    if lines := lines_of(citation, chunk):
        path = _on_line(chunk.document_id, MAX_NAME_CHARACTERS) or name
        first, last = lines
        return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"

    if chunk.page is not None:
        return f"{name}, page {_on_line(str(chunk.page), MAX_NAME_CHARACTERS)}"

    where = _below(_on_line(chunk.heading, MAX_HEADING_CHARACTERS), name) or place_of(chunk)
    return f"{name}, {where}" if where else name


def _below(heading: str, name: str) -> str:
    """Return a path of headings without the document's own name in front of it."""
    return "" if heading == name else heading.removeprefix(f"{name}{_BETWEEN}")


def _on_line(text: str, most: int) -> str:
    return cut(" ".join(text.split()), most).strip()
