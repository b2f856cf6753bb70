"""Pure: cut a document into chunks along its own structure.

Every chunk is an exact slice of the document's text.

Sizes are in characters. Code blocks are never cut unless one alone is over the maximum; chunks
never overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from drift.core.sentence_ends import SENTENCE_END
from drift.indexing.blocks import Block, Format, split_blocks

CHUNKING_VERSION = "4"
"""Part of the `rules` that each document names: a change of those below makes every document a
changed one."""

TARGET_CHARS = 1200
MAX_CHARS = 2000
MIN_CHARS = 600
PATH_SEPARATOR = " > "

_LINE_END = re.compile(r"\n")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_WHITE_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Slice:
    """Characters `start` to `end` of a document, under the headings `path` (outermost first)."""

    start: int
    end: int
    path: tuple[str, ...]

    @property
    def size(self) -> int:
        """Characters in it."""
        return self.end - self.start

    @property
    def heading(self) -> str:
        """The headings as one line, such as `The with statement > Context managers`."""
        return PATH_SEPARATOR.join(self.path)


def cut(text: str, text_format: Format) -> tuple[Slice, ...]:
    """Return the chunks in order: disjoint, at most MAX_CHARS long, with all but white space."""
    slices: list[Slice] = []
    for section in _sections(split_blocks(text, text_format)):
        pieces = [trimmed for piece in _pieces(text, section) if (trimmed := _trim(text, piece))]
        slices += _pack(pieces)
    return tuple(_merge_small_sections(slices))


def cut_code(text: str, piece: Slice) -> Iterator[Slice]:
    """Yield a piece of source code, cut at blank lines or else lines where it is too long."""
    for part in _split(text, piece, code=True):
        if trimmed := _trim(text, part):
            yield trimmed


def _sections(blocks: Iterable[Block]) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """Group blocks under their headings; one without text of its own stays with what follows."""
    open_headings: list[Block] = []
    group: list[Block] = []
    has_text = False
    for block in blocks:
        if block.kind == "heading":
            if has_text:
                yield _path(open_headings), group
                group, has_text = [], False
            open_headings = [h for h in open_headings if h.level < block.level] + [block]
        else:
            has_text = True
        group.append(block)

    if group:
        yield _path(open_headings), group


def _path(headings: Sequence[Block]) -> tuple[str, ...]:
    return tuple(h.title for h in headings if h.title)


def _pieces(text: str, section: tuple[tuple[str, ...], list[Block]]) -> Iterator[Slice]:
    """Yield what must stay together: blocks with what they introduce, and parts of long ones."""
    path, blocks = section
    held: int | None = None  # where what waits for the next block begins
    before = 0
    for block in blocks:
        if held is not None and block.end - held > MAX_CHARS:
            yield from _split(text, Slice(held, before, path), code=False)
            held = None
        start, before = block.start if held is None else held, block.end
        held = start if _introduces(text, block) else None
        if held is None:
            is_code = block.kind == "code" and start == block.start
            yield from _split(text, Slice(start, block.end, path), code=is_code)

    if held is not None:
        yield from _split(text, Slice(held, before, path), code=False)


def _introduces(text: str, block: Block) -> bool:
    """Tell whether a block makes sense only with the next: a heading, a colon, a lone signature."""
    if block.kind != "prose":
        return block.kind == "heading"
    body = text[block.start : block.end].strip()
    return body.endswith(":") or _is_signature(body)


def _is_signature(body: str) -> bool:
    return (
        "\n" not in body
        and body.endswith((")", "]"))
        and "(" in body
        and " " not in body.split("(", 1)[0].strip()
    )


def _split(text: str, piece: Slice, *, code: bool) -> Iterator[Slice]:
    """Cut what is over the maximum at the best kind of end that it has."""
    ends = (
        (_PARAGRAPH_END, _LINE_END)
        if code
        else (_PARAGRAPH_END, SENTENCE_END, _LINE_END, _WHITE_SPACE)
    )
    start = piece.start
    while piece.end - start > MAX_CHARS:
        middle = _cut_point(text, start, ends)
        yield replace(piece, start=start, end=middle)
        start = middle

    if start < piece.end:
        yield replace(piece, start=start)


def _cut_point(text: str, start: int, ends: Sequence[re.Pattern[str]]) -> int:
    """Return the last end before the target, else the first before the maximum."""
    for pattern in ends:
        points = [
            match.end() for match in pattern.finditer(text, start + MIN_CHARS, start + MAX_CHARS)
        ]
        if points:
            before = [point for point in points if point <= start + TARGET_CHARS]
            return before[-1] if before else points[0]
    return start + MAX_CHARS


def _trim(text: str, piece: Slice) -> Slice | None:
    """Leave out blank lines before and white space after, and a form feed that it begins with."""
    body = text[piece.start : piece.end]
    kept = body.rstrip()
    if not kept:
        return None

    lead = len(kept) - len(kept.lstrip())
    first_line = max(kept.rfind(end, 0, lead) for end in "\n\f") + 1
    return replace(piece, start=piece.start + first_line, end=piece.start + len(kept))


def _pack(pieces: Sequence[Slice]) -> list[Slice]:
    """Join the pieces of one section up to the target; a small rest joins the chunk before it."""
    packed: list[Slice] = []
    for piece in pieces:
        if not packed:
            packed.append(piece)
            continue
        last = packed[-1]
        joined = Slice(last.start, piece.end, last.path)
        is_small_rest = piece.size < MIN_CHARS and piece is pieces[-1]
        is_small = joined.size <= TARGET_CHARS or last.size < MIN_CHARS or is_small_rest
        if is_small and joined.size <= MAX_CHARS:
            packed[-1] = joined
        else:
            packed.append(piece)

    return packed


def _merge_small_sections(slices: Iterable[Slice]) -> list[Slice]:
    """Join a small chunk with the next under the same heading; its path is what they share."""
    merged: list[Slice] = []
    for piece in slices:
        last = merged[-1] if merged else None
        if (
            last
            and min(last.size, piece.size) < MIN_CHARS
            and piece.end - last.start <= TARGET_CHARS
        ):
            pairs = zip(last.path, piece.path, strict=False)
            shared = tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            if shared or last.path == piece.path:
                merged[-1] = Slice(last.start, piece.end, shared)
                continue

        merged.append(piece)

    return merged
