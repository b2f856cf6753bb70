"""Pure: a text as the units that a model cites by number: sentences, and lines of what is no prose.

A heading, a row of a table and a short item of a list are a unit each; code goes in a few lines.
Prose is cut where `sentencex` sees the end of a sentence, by the rules of English, or of German.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from drift.core.folding import parted_words
from drift.core.sentence_ends import Span, end_of_space, language_of
from drift.evidence.prose_sentences import MAX_SPAN_CHARACTERS, cut_point, prose

MAX_PACK_CHARACTERS = 200
"""Characters of the lines of code that make one unit, and of a list item that is not cut."""

_Kind = Literal["heading", "underline", "row", "item", "code", "prose"]


class _TextLine(NamedTuple):
    """A line without the white space around it; `is_first` is one behind a blank line."""

    kind: _Kind
    start: int
    end: int
    indent: int
    is_first: bool


def sentences(text: str) -> tuple[str, ...]:
    """Return the units of a text in order, as verbatim slices of at most 600 characters.

    Nothing but white space is left out. A text that is cut behind one of its units begins with the
    same units; rare exceptions are quotes that stay open.
    """
    return tuple(text[start:end] for start, end in spans(text))


@lru_cache(maxsize=512)
def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return where each unit of `sentences` stands; kept, because a chunk is in several prompts."""
    language = language_of(text[:1_000])  # the beginning of a text, which tells its language
    found: list[tuple[int, int]] = []
    for block in _blocks(text):
        is_beside = not block[0].is_first
        for unit in _units(text, block, language):
            for start, end in _parts(text, unit):
                wordless = not any(map(str.isalnum, text[start:end]))
                if wordless and is_beside and end - found[-1][0] <= MAX_SPAN_CHARACTERS:
                    # The line below a table's head, or a bracket alone: no unit of its own.
                    found[-1] = (found[-1][0], end)
                else:
                    found.append((start, end))
                is_beside = True

    return tuple(found)


# ------------------------------------------------------------------------------------------- lines

_LINE = re.compile(r"[^\r\n]+|\r\n?|\n")
_ITEM = re.compile(r"(?:[-*+•‣◦]|(\d{1,3})[.)])\s+(?=\S)")


def _lines(text: str) -> Iterator[_TextLine]:
    fenced, breaks = False, 2
    before: _Kind = "prose"
    for found in _LINE.finditer(text):
        line = found[0].strip()
        if not line:
            breaks += found[0][0] in "\r\n"
            continue

        indent = found[0].index(line[0])
        start = found.start() + indent
        is_first = breaks > 1
        breaks = 0

        is_fence = re.match(r"```|~~~", line) is not None
        before = "code" if fenced or is_fence else _kind(line, before, is_first=is_first)
        fenced ^= is_fence
        yield _TextLine(before, start, start + len(line), indent, is_first)


def _kind(line: str, before: _Kind, *, is_first: bool) -> _Kind:
    if re.match(r"#{1,6}\s", line):
        return "heading"
    if re.match(r"(?:={3,}|-{3,})$", line):
        return "underline"
    if line.startswith("|") or line.count(" | ") > 1 or "\t" in line or not line.strip("> "):
        return "row"

    if item := _ITEM.match(line):
        # A number that begins a wrapped line is none of a list: "on the\n5. of May".
        begins = is_first or before != "prose" or item[1] in {None, "1"}
        return "item" if begins else "prose"

    return "prose"


def _blocks(text: str) -> Iterator[list[_TextLine]]:
    """Yield lines that belong together: a paragraph, code, an item with its further lines."""
    block: list[_TextLine] = []
    parted = iter(parted_words(text))
    begins, ends = next(parted, (len(text), len(text)))
    for line in _lines(text):
        while line.start >= ends < len(text):
            begins, ends = next(parted, (len(text), len(text)))
        goes_on = begins < line.start < ends
        if block and not goes_on and not _continues(text, block, line):
            yield block
            block = []
        block.append(line)

    if block:
        yield block


def _continues(text: str, block: list[_TextLine], line: _TextLine) -> bool:
    first, last = block[0], block[-1]
    if line.kind == "code" or first.kind == "code":
        return line.kind == first.kind
    if line.is_first or line.kind != "prose" or last.kind not in {"prose", "item"}:
        return line.kind == "underline" and len(block) == 1 and not line.is_first
    if text[line.start].islower():
        return True
    if first.kind == "item" and line.indent <= first.indent:
        return False

    most = 120  # a longer line was not wrapped by hand, so it is a paragraph
    return max(line.end - line.start, last.end - last.start) <= most


# ------------------------------------------------------------------------------------------- units


def _units(text: str, block: list[_TextLine], language: str) -> Iterator[Span]:
    whole = Span(block[0].start, block[-1].end)
    kinds = {line.kind for line in block}
    if kinds == {"code"}:
        yield from _packs(text, whole)
    elif kinds == {"prose"}:
        for unit in prose(text, whole, language):
            # A long unit of several lines without a sentence's end is no sentence.
            is_none = (
                unit.end - unit.start > MAX_PACK_CHARACTERS
                and text.find("\n", *unit) >= 0
                and not re.search(
                    r"[.!?:\u2026\u3002\uff01\uff1f][\"'\u201d\u2019\u00bb)\]*_]*$",
                    text[unit.end - 8 : unit.end],
                )
            )
            yield from _packs(text, unit) if is_none else [unit]
    elif "item" in kinds and whole.end - whole.start > MAX_PACK_CHARACTERS:
        marker = _ITEM.match(text, whole.start)
        content = marker.end() if marker else whole.start
        for unit in prose(text, Span(content, whole.end), language):
            yield Span(whole.start, unit.end) if unit.start == content else unit
    else:
        yield whole


def _packs(text: str, unit: Span) -> Iterator[Span]:
    """Yield a few lines at a time; a blank line ends a pack."""
    pack: Span | None = None
    breaks = 0
    for line in _LINE.finditer(text, *unit):
        if line[0].isspace():
            breaks += line[0][0] in "\r\n"
            continue

        end = line.start() + len(line[0].rstrip())
        is_near = breaks <= 1
        if pack and is_near and end - pack.start <= MAX_PACK_CHARACTERS:
            pack = Span(pack.start, end)
        else:
            if pack:
                yield pack
            pack = Span(line.start() + line[0].index(line[0].lstrip()[0]), end)

        breaks = 0

    if pack:
        yield pack


def _parts(text: str, unit: Span) -> Iterator[Span]:
    """Yield a unit in parts of at most 600 characters, cut at lines or words if it has any."""
    start, end = unit
    while end - start > MAX_SPAN_CHARACTERS:
        cut = cut_point(text[start : start + MAX_SPAN_CHARACTERS + 1])
        yield Span(start, start + len(text[start : start + cut].rstrip()))
        start = end_of_space(text, start + cut)
    yield Span(start, end)
