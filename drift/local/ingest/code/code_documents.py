"""A file of source code as a document whose chunks follow its definitions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import PurePosixPath

from drift.graph.writing.records import Definition
from drift.indexing.blocks import MAX_TITLE_CHARS
from drift.indexing.chunking import (
    MAX_CHARS,
    MIN_CHARS,
    PATH_SEPARATOR,
    TARGET_CHARS,
    Slice,
    cut_code,
)
from drift.indexing.documents import (
    Piece,
    Skipped,
    SourceDocument,
    document_with,
    ending_of,
    text_of,
)
from drift.local.ingest.code.definitions import MAX_PARSE_S, FoundDefinition, parse
from drift.local.ingest.formats.encodings import decoded

MAX_PARSED_BYTES = 1_000_000
"""A longer file is cut as plain text: it was made by a program, and defines nothing to read."""
_PLAIN = "is cut as plain text, and defines nothing"
SHORTEST_NAME = 3
"""Characters of an identifier that is looked at: `i` and `fn` refer to nothing."""

MAX_DEPTH = 20
"""Definitions within each other that are looked at: what is deeper is cut at lines."""

Names = tuple[str, ...]
"""What a definition is called, behind what it stands in."""


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


# ------------------------------------------------------------------------------------- the chunks
@dataclass(slots=True)
class _Section:
    """The rows `begin` to `end` of a definition, and those in it."""

    path: Names
    begin: int
    end: int
    parts: list[_Section] = field(default_factory=list)


def cut_along(text: str, starts: Sequence[int], found: Sequence[FoundDefinition]) -> list[Piece]:
    """Return the chunks along definitions; `starts` are those of lines, and one behind the last."""
    whole = _Section((), 0, len(starts) - 1, _nested(found))
    joined: list[tuple[Slice, list[Names]]] = []
    for part in _parts(text, starts, whole):
        for piece in cut_code(text, part):
            last, paths = joined[-1] if joined else (None, [])
            if last and _are_neighbours(last, piece, paths[-1]):
                joined[-1] = Slice(last.start, piece.end, last.path), [*paths, piece.path]
            else:
                joined.append((piece, [piece.path]))

    return [Piece(one.start, one.end, _heading(paths)) for one, paths in joined]


def _nested(found: Sequence[FoundDefinition]) -> list[_Section]:
    """Return the definitions within each other; one of several in a row is the first."""
    top: list[_Section] = []
    outer: list[_Section] = []
    for one in found:
        if one.kind == "constant":
            continue
        while outer and outer[-1].end <= one.begin:
            outer.pop()
        siblings = outer[-1].parts if outer else top
        begin = max(one.begin, siblings[-1].end if siblings else 0)
        end = one.last_row + 1
        if begin >= end or (outer and end > outer[-1].end) or len(outer) >= MAX_DEPTH:
            continue
        part = _Section(one.path, begin, end)
        siblings.append(part)
        outer.append(part)
    return top


def _parts(text: str, starts: Sequence[int], part: _Section) -> Iterator[Slice]:
    """Yield what must stay together: the text between definitions, and each definition."""
    row = part.begin
    for inner in part.parts:
        yield from _rows(text, starts, row, inner.begin, part.path)
        size = starts[inner.end] - starts[inner.begin]
        if size > (TARGET_CHARS if inner.parts else MAX_CHARS) and inner.parts:
            yield from _parts(text, starts, inner)
        else:
            yield from _rows(text, starts, inner.begin, inner.end, inner.path)
        row = inner.end
    yield from _rows(text, starts, row, part.end, part.path)


def _rows(text: str, starts: Sequence[int], row: int, end: int, path: Names) -> Iterator[Slice]:
    if row < end:
        yield Slice(starts[row], min(starts[end], len(text)), path)


def _are_neighbours(last: Slice, piece: Slice, path: Names) -> bool:
    is_within = piece.path[:-1] in {path, path[:-1]} or piece.path == path
    is_small = min(last.size, piece.size) < MIN_CHARS
    return is_within and is_small and piece.end - last.start <= TARGET_CHARS


def _heading(paths: Sequence[Names]) -> str:
    """Return the path that definitions share, and their names; what they stand in is left out."""
    inner = [one for one in paths if not any(_is_above(one, other) for other in paths)]
    shared = inner[0][:-1]
    while shared and not all(_is_above(shared, one) for one in inner):
        shared = shared[:-1]
    names = dict.fromkeys(one[len(shared)] for one in inner if len(one) > len(shared))
    return PATH_SEPARATOR.join((*shared, ", ".join(names)))[:MAX_TITLE_CHARS]


def _is_above(path: Names, other: Names) -> bool:
    return len(path) < len(other) and other[: len(path)] == path
