"""What stands on a page of a PDF and where: its lines, words that stand apart on one, its rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from ctypes import c_char, c_double, c_int
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple, Self

from pypdfium2 import PdfPage, PdfTextPage, raw

_LIGATURES = {0x0B: "ff", 0x0C: "fi", 0x0E: "ffi", 0x0F: "ffl"}
"""Letters of old fonts, under signs that are none in text."""
_LINE = re.compile("([^\r\n\ufffe\x02]*)([\ufffe\x02]?)(?:\r\n?|\n)?")
"""A line of pdfium; the sign stands for a hyphen at its end, and often takes the end with it."""

LEADERS = re.compile(r"(?:[.\u2026\u00b7] ?){4}")
"""What leads from an entry of a table of contents to its page."""
_WORD = re.compile(r"\S+")
_APART = 1.0
"""Times the size of a line: a wider gap parts words."""
_COLUMN = 15
"""Times its size: a line so far above the one before begins a column."""
_LEAST_APART, _LEAST_ABOVE, _FAR = 10.5, 4.0, 10_000.0
"""Points between words, or up to the next line."""
_USUAL, _EACH, _EACH_LONG, _NEARBY, _LEAST_PARTS = 70, 2, 8, 12, 3
_UNSEEN = 5
_ITEM = re.compile(r"(?:[^\w\s]|\d+(?:\.\d+)+\.?)\s")
"""What a list and a heading begin with, before a gap."""


class Box(NamedTuple):
    """A place on a page, in points; what stands higher has greater numbers."""

    left: float
    bottom: float
    right: float
    top: float

    def turned(self, rotation: int) -> Box:
        """Return it as it is seen on a page that is turned by so many degrees."""
        turned = self
        for _ in range(rotation // 90):
            left, bottom, right, top = turned
            turned = Box(bottom, -right, top, -left)
        return turned

    @classmethod
    def around(cls, boxes: Sequence[Box]) -> Box:
        """Return the place of all of some boxes."""
        if len(boxes) == 1:
            return boxes[0]
        left, bottom, right, top = zip(*boxes, strict=True)
        return cls(min(left), min(bottom), max(right), max(top))

    def shares_width(self, other: Box) -> bool:
        """Tell whether another one stands above, below or behind it."""
        return self.left < other.right and self.right > other.left

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return (self.bottom + self.top) / 2


NOWHERE = Box(0, 0, 0, 0)


class LinePart(NamedTuple):
    """Words that stand together; `line` and `start` say where they begin in the page's text."""

    box: Box
    text: str
    line: int
    start: int


@dataclass(slots=True)
class PageLine:
    """A line as pdfium gives it; `size` is that of its letters, 0 where there are none.

    `start` is its place in the page's text, and below 0 for what is filled in. `parts` are those
    that stand apart, none where its place is not known. `level` is that of a heading. A table is
    one line.
    """

    text: str
    size: float = 0.0
    box: Box = NOWHERE
    start: int = 0
    parts: Sequence[Box] = ()
    level: int = 0
    is_table: bool = False


@dataclass(slots=True)
class PageLayout:
    """The lines of a page in the order in which they were written, and what stands off the page."""

    page: PdfPage
    text_page: PdfTextPage
    lines: list[PageLine] = field(default_factory=list)
    outside: int = 0
    _rotation: int = 0
    _place: tuple[c_double, c_double, c_double, c_double] = field(
        default_factory=lambda: (c_double(), c_double(), c_double(), c_double())
    )
    _letter: raw.FS_RECTF = field(default_factory=raw.FS_RECTF)

    @classmethod
    def of(cls, page: PdfPage, text_page: PdfTextPage, *, sizes: bool, places: bool) -> Self:
        """Return the layout of a page.

        Of plain text, which stands in one column, sizes and `places` are looked for when asked.
        """
        made = cls(page, text_page, _rotation=page.get_rotation())
        said = text_page.get_text_range()
        count = text_page.count_chars()
        seen = Box(*page.get_bbox())
        found = list(_lines(said))
        if len(said) != count:
            index = raw.FPDFText_GetCharIndexFromTextIndex
            found = [(text, max(index(text_page.raw, start), 0)) for text, start in found]

        left, bottom, right, top = seen
        within = raw.FPDFText_GetBoundedText(text_page.raw, left, top, right, bottom, None, 0)
        if places or made._rotation or within < count - _UNSEEN or made._has_parts(found):
            seen = seen.turned(made._rotation)
            placed = [made._line(text, start, seen) for text, start in found]
            made.lines = [line for line in placed if line is not None]
            made.outside = len(placed) - len(made.lines)
        elif sizes:
            made.lines = [PageLine(text, made._size(text, start)) for text, start in found]
        else:
            made.lines = [PageLine(text) for text, _ in found]
        return made

    def _has_parts(self, found: Sequence[tuple[str, int]]) -> bool:
        """Tell whether words stand apart on lines near together, or lines beside each other.

        Every second line is looked at, and each one near such words; of lines that are long enough
        to be of a paragraph a few.
        """
        long = 0.7 * max(_USUAL, max((len(text) for text, _ in found), default=0))
        steps = [_EACH_LONG if len(text) > long else _EACH for text, _ in found]
        some = [number for number, step in enumerate(steps) if not number % step]
        end = 0
        for number in self._apart(found, some):
            if number >= end:
                begin, end = max(number - _EACH, 0), min(number + _NEARBY, len(found))
                apart = list(self._apart(found, range(begin, end)))
                if len(apart) >= _LEAST_PARTS and apart[0] != apart[-1]:
                    return True
        return False

    def _apart(self, found: Sequence[tuple[str, int]], numbers: Iterable[int]) -> Iterator[int]:
        """Yield the number of each line on which words stand apart, or above the line before."""
        of, (left, top, right, bottom) = self.text_page.raw, self._place
        high = _FAR
        for number in numbers:
            text, start = found[number]
            apart, end, above = 0, _FAR, high
            for part in range(raw.FPDFText_CountRects(of, start, len(text)) if text else 0):
                raw.FPDFText_GetRect(of, part, left, top, right, bottom)
                apart += left.value - end > _LEAST_APART or bottom.value > above
                end = right.value
                if part == 0:
                    high = top.value + _LEAST_ABOVE
            if apart and not _ITEM.match(text):
                yield from repeat(number, apart)

    def frames(self) -> list[list[int]]:
        """Return the numbers of the lines of each column, as far as these were written in turn."""
        found: list[list[int]] = [[]]
        before: PageLine | None = None
        for number, line in enumerate(self.lines):
            if not line.parts:
                continue
            is_above = before and line.box.bottom > before.box.top + _COLUMN * line.size
            if before and is_above and not line.box.shares_width(before.box):
                found.append([])
            before = line
            found[-1].append(number)
        return found

    def pieces(
        self, numbers: Sequence[int], rules: Sequence[Box], parted: AbstractSet[int]
    ) -> list[LinePart]:
        """Return the words of these lines; a wide gap parts them, and a rule that stands.

        Gaps are looked for near those of the `parted` lines.
        """
        gaps = (number for number in parted if len(self.lines[number].parts) > 1)
        near = {number + by for number in gaps for by in (-1, 0, 1)}
        standing = [one for one in rules if one.top - one.bottom > one.right - one.left]
        out: list[LinePart] = []
        for number in numbers:
            line = self.lines[number]
            cuts = [
                one.left
                for one in standing
                if line.box.left + 1 < one.left < line.box.right - 1
                and one.bottom < line.box.middle < one.top
            ]
            whole = LinePart(line.box, plain(line.text), number, line.start)
            is_whole = line.start < 0 or not (cuts or number in near)
            out += [whole] if is_whole else self._parted(line, number, cuts)
        return out

    def font(self, piece: LinePart) -> str:
        """Return the name of the font in which words begin."""
        name, flags = (c_char * 64)(), c_int()
        raw.FPDFText_GetFontInfo(self.text_page, piece.start, name, 64, flags)
        return str(name.value, errors="replace")

    def _line(self, text: str, start: int, seen: Box) -> PageLine | None:
        """Return a line; None where all of it stands off the page."""
        of = self.text_page.raw
        count = raw.FPDFText_CountRects(of, start, len(text)) if text.strip() else 0
        if count <= 0:
            return PageLine(text)
        size = self._size(text, start)
        left, top, right, bottom = self._place
        boxes = []
        for number in range(count):
            raw.FPDFText_GetRect(of, number, left, top, right, bottom)
            box = Box(left.value, bottom.value, right.value, top.value)
            boxes.append(box.turned(self._rotation))
        gaps = [n for n in range(1, count) if boxes[n].left - boxes[n - 1].right > _APART * size]
        ends = zip([0, *gaps], [*gaps, count], strict=True)
        parts = [Box.around(boxes[begin:end]) for begin, end in ends]
        outer = Box.around(parts)
        if not outer.shares_width(seen) or outer.top <= seen.bottom or outer.bottom >= seen.top:
            return None
        is_whole = len(parts) == 1 or LEADERS.search(text)
        return PageLine(text, size, outer, start, [outer] if is_whole else parts)

    def _size(self, text: str, start: int) -> float:
        """Return the size of the first letter: what is told, unless it is drawn much larger."""
        if not (begun := text.lstrip()):
            return 0
        at = start + len(text) - len(begun)
        told: float = raw.FPDFText_GetFontSize(self.text_page.raw, at)
        raw.FPDFText_GetLooseCharBox(self.text_page.raw, at, self._letter)
        letter = self._letter
        is_upright = self._rotation in {0, 180}
        drawn = letter.top - letter.bottom if is_upright else letter.right - letter.left
        return told if drawn / 2 < told < drawn * 2 else max(abs(drawn), 1.0)

    def _parted(self, line: PageLine, number: int, cuts: Sequence[float]) -> Iterator[LinePart]:
        """Yield the pieces of a line, whose words are looked at by their first and last letters."""
        apart, start = _APART * line.size, line.start
        letters: list[Box] = []
        begin, end = 0, 0.0
        for word in _WORD.finditer(line.text):
            first, last = word.start(), word.end() - 1
            box = self._letter_at(start + first)
            is_cut = any(end - 1 < cut < box.left + 1 for cut in cuts)
            if letters and (is_cut or abs(box.left - end) > apart):
                text = plain(line.text[begin:first])
                yield LinePart(Box.around(letters), text, number, start + begin)
                letters = []
            if not letters:
                begin, end = first, box.right
            letters.append(box)
            if first < last:
                letters.append(self._letter_at(start + last))
            end = max(end, letters[-1].right)
        if letters:
            text = plain(line.text[begin:])
            yield LinePart(Box.around(letters), text, number, start + begin)

    def _letter_at(self, at: int) -> Box:
        left, top, right, bottom = self._place
        raw.FPDFText_GetCharBox(self.text_page.raw, at, left, right, bottom, top)
        box = Box(left.value, bottom.value, right.value, top.value)
        return box.turned(self._rotation)


def plain(text: str) -> str:
    """Return a text without spaces around it, and with its old letters as those of today."""
    text = text.strip()
    return text if text.isprintable() else text.translate(_LIGATURES)


def _lines(said: str) -> Iterator[tuple[str, int]]:
    """Yield the lines of a page's text, and where each begins."""
    start = 0
    for line in said.split("\r\n"):
        if "\n" in line or "\r" in line or "\x02" in line or "\ufffe" in line:
            parts = (one for one in _LINE.finditer(line) if one[0])
            yield from ((one[1] + "-" * bool(one[2]), start + one.start()) for one in parts)
        else:
            yield line, start
        start += len(line) + 2
