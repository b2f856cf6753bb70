"""Pure: chunks along the named parts of a text, as definitions of code, and keys of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from drift.indexing.blocks import MAX_TITLE_CHARS
from drift.indexing.chunking import (
    MAX_CHARS,
    MIN_CHARS,
    PATH_SEPARATOR,
    TARGET_CHARS,
    Slice,
    cut_code,
)
from drift.indexing.documents import Piece

MAX_DEPTH = 20
"""Parts within each other that are looked at: what is deeper is cut at lines."""

Names = tuple[str, ...]
"""What a part is called, behind what it stands in."""


@dataclass(frozen=True, slots=True)
class FoundDefinition:
    """A definition of a `kind`; `path` ends with its name, and without a kind it has none.

    Rows count from 0: it is defined in `row` to `last_row`, and what belongs to it, as comments and
    decorators, begins in `begin`.
    """

    kind: str
    path: tuple[str, ...]
    begin: int
    row: int
    last_row: int
    signature: str = ""
    doc: str = ""


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
    outer = {one[:size] for one in paths for size in range(len(one))}
    inner = [one for one in dict.fromkeys(paths) if one not in outer]
    shared = inner[0][:-1]
    while shared and not all(_is_above(shared, one) for one in inner):
        shared = shared[:-1]
    names = dict.fromkeys(one[len(shared)] for one in inner if len(one) > len(shared))
    return PATH_SEPARATOR.join((*shared, ", ".join(names)))[:MAX_TITLE_CHARS]


def _is_above(path: Names, other: Names) -> bool:
    return len(path) < len(other) and other[: len(path)] == path
