"""Pure: a text as the units that a model cites by number: sentences, and lines of what is no prose.

A heading, a row of a table and a short item of a list are a unit each; code goes in a few lines.
Prose is cut where `sentencex` sees the end of a sentence, by the rules of English, or of German.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import sentencex

from drift.core.folding import parted_words
from drift.core.sentence_ends import Span, end_of_space, language_of
from drift.evidence.figure_text import any_of
from drift.evidence.figure_words import MONTHS

MAX_SPAN_CHARACTERS = 600  # characters of a unit at most; a longer sentence is cut between words
MAX_PACK_CHARACTERS = 200
"""Characters of the lines of code that make one unit, and of a list item that is not cut."""
MAX_WRAPPED_CHARACTERS = 120  # a longer line was not wrapped by hand, so it is a paragraph

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
_FENCE = re.compile(r"```|~~~")
_HEADING = re.compile(r"#{1,6}\s")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})$")
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

        is_fence = _FENCE.match(line) is not None
        before = "code" if fenced or is_fence else _kind(line, before, is_first=is_first)
        fenced ^= is_fence
        yield _TextLine(before, start, start + len(line), indent, is_first)


def _kind(line: str, before: _Kind, *, is_first: bool) -> _Kind:
    if _HEADING.match(line):
        return "heading"
    if _UNDERLINE.match(line):
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

    return max(line.end - line.start, last.end - last.start) <= MAX_WRAPPED_CHARACTERS


# ------------------------------------------------------------------------------------------- units

_CLOSES = re.compile(r"[.!?:\u2026\u3002\uff01\uff1f][\"'\u201d\u2019\u00bb)\]*_]*$")


def _units(text: str, block: list[_TextLine], language: str) -> Iterator[Span]:
    whole = Span(block[0].start, block[-1].end)
    kinds = {line.kind for line in block}
    if kinds == {"code"}:
        yield from _packs(text, whole)
    elif kinds == {"prose"}:
        for unit in _prose(text, whole, language):
            # What is long, has several lines and does not end as a sentence does, is none.
            is_none = (
                unit.end - unit.start > MAX_PACK_CHARACTERS
                and text.find("\n", *unit) >= 0
                and not _CLOSES.search(text, unit.end - 8, unit.end)
            )
            yield from _packs(text, unit) if is_none else [unit]
    elif "item" in kinds and whole.end - whole.start > MAX_PACK_CHARACTERS:
        marker = _ITEM.match(text, whole.start)
        content = marker.end() if marker else whole.start
        for unit in _prose(text, Span(content, whole.end), language):
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
        cut = _cut(text[start : start + MAX_SPAN_CHARACTERS + 1])
        yield Span(start, start + len(text[start : start + cut].rstrip()))
        start = end_of_space(text, start + cut)
    yield Span(start, end)


def _cut(part: str) -> int:
    """Return where a part that is too long is cut: behind its last line, else its last word."""
    line = part.rfind("\n", len(part) // 2)
    if line < 0:
        line = max(part.rfind(space, 1) for space in (" ", "\n", "\t", "\u3000"))
    return line if line > 0 else MAX_SPAN_CHARACTERS


# ------------------------------------------------------------------------------------------- prose


def _prose(text: str, span: Span, language: str) -> Iterator[Span]:
    """Yield the sentences of a paragraph, looking at a window of it at a time."""
    pending: Span | None = None
    start = span.start
    while start < span.end:
        # Prose that is looked at at once: the splitter's time grows with the square of a long one.
        window = text[start : min(start + 1_500, span.end)]
        pieces = _pieces(window, language)
        if start + len(window) < span.end:
            # The window's end may have cut its last sentence.
            pieces = pieces[:-1] or [window[: _cut(window[: MAX_SPAN_CHARACTERS + 1])]]

        for piece in pieces:
            here = Span(end_of_space(text, start), start + len(piece.rstrip()))
            start += len(piece)
            if here.end <= here.start:
                continue

            if pending and _belongs(text, pending, here, language):
                pending = Span(pending.start, here.end)
                continue
            if pending:
                yield pending

            pending = here

        start = end_of_space(text, start)

    if pending:
        yield pending


_ENGLISH_LETTER = re.compile(r"(?<=\s[abd-uw-z]\.\s)(?=[A-Z])")
"""What follows a variable's name at the end of a sentence, which is no initial of a name."""


def _pieces(window: str, language: str) -> list[str]:
    """Return the sentences of a window, each with the white space behind it."""
    # Half a surrogate pair cannot be encoded; what stands in its place has the same length.
    sound = window.encode("utf-8", "replace").decode()
    found = sentencex.segment(language, sound)
    lengths = [len(piece) for piece in found]
    if sum(lengths) != len(window):
        return [window]

    pieces: list[str] = []
    start = 0
    for length in lengths:
        piece = window[start : start + length]
        pieces.extend(_ENGLISH_LETTER.split(piece) if language == "en" else [piece])
        start += length

    return pieces


_GAP = "\0"  # stands for what is between two sentences
_GOES_ON = re.compile(
    r"\b(?:(?i:vol|approx|ca|cap|chap|art|sect?|pt|par|abs|nr|bd|eqn?s?|thm|figs|refs|suppl|núm|págs?)"
    rf"|Alg|App|Ch|Cor|Def|Ed|Ex|Lem|Phys|Prop|Ser|Tab)\.{_GAP}\d"
    r"|\b(?:Abt|Avd?a?|Dña|Dras?|Dres|Fa|Ft|Hrsg|Ing|Inh|Messrs|Pr|Sras?|Sres|Srtas?)"
    rf"\.{_GAP}[^\W\d_]"
    rf"|([A-Z])\1\.{_GAP}([A-Z])\2\b"  # EE. UU.
    rf"|\b\d\d?\.{_GAP}(?i:{any_of(MONTHS)})\b"
)
_GOES_ON_AT_ONCE = re.compile(r"[_\]}-]\S")


def _belongs(text: str, before: Span, here: Span, language: str) -> bool:
    """Tell whether a sentence goes on behind a full stop: `Eq. 5`, `Sra. Ruiz`, `Gesch.-Führer`.

    A name in code does as well: `self._rules`, `tuple[str, ...]:`; and a word that is parted.
    """
    if here.end - before.start <= MAX_SPAN_CHARACTERS and any(
        start < here.start < end
        for start, end in parted_words(text, max(before.start, before.end - 60), here.start + 60)
    ):
        return True
    if text[before.end - 1] != "." or here.end - before.start > MAX_SPAN_CHARACTERS:
        return False

    if text[here.start].islower() or (
        here.start == before.end and _GOES_ON_AT_ONCE.match(text, here.start)
    ):
        return True

    end = text[max(before.start, before.end - 8) : before.end]
    if _GOES_ON.search(f"{end}{_GAP}{text[here.start : here.start + 12]}"):
        return True
    return language == "de" and re.search(r"(?<!\d)\d{1,2}\.$", end) is not None
