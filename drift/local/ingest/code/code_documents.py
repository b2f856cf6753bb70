"""A file of source code as a document whose chunks follow its definitions."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePosixPath

from drift.graph.writing.records import Definition
from drift.indexing.documents import (
    Piece,
    Skipped,
    SourceDocument,
    document_with,
    ending_of,
    text_of,
)
from drift.local.ingest.code.definitions import MAX_PARSE_S, parse
from drift.local.ingest.formats.encodings import decoded
from drift.local.ingest.parts import FoundDefinition, cut_along

MAX_PARSED_BYTES = 1_000_000
"""A longer file is cut as plain text: it was made by a program, and defines nothing to read."""
_PLAIN = "is cut as plain text, and defines nothing"
SHORTEST_NAME = 3
"""Characters of an identifier that is looked at: `i` and `fn` refer to nothing."""


def read_code(content: bytes, name: str, updated_at: int | None = None) -> SourceDocument | Skipped:
    """Return the content of a file called `name` as a document, or why it is none."""
    found = text_of(content, name, decoded)
    if isinstance(found, Skipped):
        return found
    text, note = found
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    path = PurePosixPath(name)
    pieces, cut = _pieces(text, ending_of(name))
    return document_with(
        name,
        content,
        text,
        "text",
        path.name,
        has_lines=True,
        updated_at=updated_at,
        note="; ".join(filter(None, (note, cut))),
        pieces=tuple(pieces),
    )


def _pieces(text: str, suffix: str) -> tuple[list[Piece], str]:
    """Return the chunks of a text, and why they do not follow its definitions, if they do not."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    content = text.encode()
    if len(content) > MAX_PARSED_BYTES:
        return cut_along(text, starts, ()), f"{_PLAIN}: it has over {MAX_PARSED_BYTES:,} bytes"
    parsed = parse(content, suffix)
    if parsed is None:
        return cut_along(
            text, starts, ()
        ), f"{_PLAIN}: it takes over {MAX_PARSE_S:g} seconds to parse"

    pieces = cut_along(text, starts, parsed.found)
    first_rows = [bisect_right(starts, piece.start) - 1 for piece in pieces]

    def place(row: int) -> int:
        return max(0, bisect_right(first_rows, row) - 1)

    defines: dict[int, list[Definition]] = {}
    for one in parsed.found:
        if one.kind:
            defines.setdefault(place(one.row), []).append(_definition(one))

    names: dict[int, set[str]] = {}
    for row, name in parsed.names:
        if len(name) >= SHORTEST_NAME:
            names.setdefault(place(row), set()).add(name)

    return [
        replace(
            piece,
            defines=tuple(defines.get(number, ())),
            names=tuple(sorted(names.get(number, ()))),
        )
        for number, piece in enumerate(pieces)
    ], ""


def _definition(one: FoundDefinition) -> Definition:
    description = f"{one.signature} – {one.doc}" if one.doc else one.signature
    return Definition(
        "Symbol", ".".join(one.path), one.kind, description, one.row + 1, one.last_row + 1
    )
