"""What stands on a page of a PDF and where: its lines, words that stand apart on one, its rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from ctypes import c_char, c_double, c_int
from dataclasses import dataclass, field
from functools import reduce
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
_LEAST_APART, _LEAST_ABOVE, _MOST_APART = 10.5, 4.0, 2
"""Points between words, or up to the next line, and how often plain text has such near together."""
_USUAL, _EACH, _NEARBY, _UNSEEN = 70, 4, 12, 5


class Box(NamedTuple):
    """A place on a page, in points; what stands higher has greater numbers."""

    left: float
    bottom: float
    right: float
    top: float

    def turned(self, rotation: int) -> Box:
        """Return it as it is seen on a page that is turned by so many degrees."""
        left, bottom, right, top = self
        return {
            90: Box(bottom, -right, top, -left),
            180: Box(-right, -top, -left, -bottom),
            270: Box(-top, left, -bottom, right),
        }.get(rotation, self)

    def over(self, other: Box) -> Box:
        """Return the place of both."""
        return Box(
            min(self.left, other.left),
            min(self.bottom, other.bottom),
            max(self.right, other.right),
            max(self.top, other.top),
        )

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
    that stand apart, if any do, and `level` is that of a heading. A table is one line.
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
    is_plain: bool = True
    _rotation: int = 0
    _place: tuple[c_double, c_double, c_double, c_double] = field(
        default_factory=lambda: (c_double(), c_double(), c_double(), c_double())
    )
    _letter: raw.FS_RECTF = field(default_factory=raw.FS_RECTF)

    @classmethod
    def of(cls, page: PdfPage, text_page: PdfTextPage, *, sizes: bool, places: bool) -> Self:
        """Return the layout of a page.

        Of plain text, which stands in one column, sizes and places are looked for when asked.
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
        is_turned = made._rotation != 0
        made.is_plain = not (places or is_turned or within < count - _UNSEEN or made._parts(found))
        seen = seen.turned(made._rotation)
        for text, start in found:
            line: PageLine | None = PageLine(text)
            if not made.is_plain:
                line = made._line(text, start, seen)
            elif sizes and text.strip():
                line = PageLine(text, made._size(start + len(text) - len(text.lstrip())))
            if line is None:
                made.outside += 1
            else:
                made.lines.append(line)
        return made

    def _parts(self, found: Sequence[tuple[str, int]]) -> bool:
        """Tell whether words stand apart on lines near together, or lines beside each other.

        Every second line is looked at, and each near one with such words; of lines that are long
        enough to be of a paragraph a few.
        """
        of, (left, top, right, bottom) = self.text_page.raw, self._place
        read, apart, high, last = raw.FPDFText_GetRect, 0, 10_000.0, -_NEARBY
        long = 0.7 * max(_USUAL, max((len(text) for text, _ in found), default=0))
        for number, (text, start) in enumerate(found):
            is_near = number - last < _NEARBY
            each = (_EACH if len(text) > long else 1) * (2 - is_near)
            if not text or number % each:
                continue
            end = 10_000.0
            for part in range(raw.FPDFText_CountRects(of, start, len(text))):
                read(of, part, left, top, right, bottom)
                if left.value - end > _LEAST_APART or bottom.value > high:
                    apart = (apart if last == number or is_near else 0) + min(each, 2)
                    last = number
                end = right.value
                high = top.value + _LEAST_ABOVE if part == 0 else high
            if apart > _MOST_APART:
                return True
        return False

    def frames(self) -> list[list[int]]:
        """Return the numbers of the lines of each column, as far as these were written in turn."""
        found: list[list[int]] = [[]]
        before: PageLine | None = None
        for number, line in enumerate(self.lines):
            if line.size:
                if (
                    before
                    and line.box.bottom > before.box.top + _COLUMN * line.size
                    and (line.box.left > before.box.right or line.box.right < before.box.left)
                ):
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
        near = {n + by for n in parted if self.lines[n].parts for by in (-1, 0, 1)}
        standing = [one for one in rules if one.top - one.bottom > one.right - one.left]
        out: list[LinePart] = []
        for number in numbers:
            line = self.lines[number]
            if not line.size:
                continue
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
        size = self._size(start + len(text) - len(text.lstrip()))
        left, top, right, bottom = self._place
        read, parts, end = raw.FPDFText_GetRect, list[Box](), 0.0
        for number in range(count):
            read(of, number, left, top, right, bottom)
            box = Box(left.value, bottom.value, right.value, top.value)
            if self._rotation:
                box = box.turned(self._rotation)
            if parts and box.left - end <= _APART * size:
                parts[-1] = parts[-1].over(box)
            else:
                parts.append(box)
            end = box.right
        outer = reduce(Box.over, parts)
        if (
            outer.right <= seen.left
            or outer.left >= seen.right
            or outer.top <= seen.bottom
            or outer.bottom >= seen.top
        ):
            return None
        is_whole = len(parts) == 1 or LEADERS.search(text)
        return PageLine(text, size, outer, start, () if is_whole else parts)

    def _size(self, at: int) -> float:
        """Return the size of a letter: what is told of it, unless it is drawn much larger."""
        told: float = raw.FPDFText_GetFontSize(self.text_page.raw, at)
        raw.FPDFText_GetLooseCharBox(self.text_page.raw, at, self._letter)
        letter = self._letter
        is_upright = self._rotation in {0, 180}
        drawn = letter.top - letter.bottom if is_upright else letter.right - letter.left
        return told if drawn / 2 < told < drawn * 2 else max(abs(drawn), 1.0)

    def _parted(self, line: PageLine, number: int, cuts: Sequence[float]) -> Iterator[LinePart]:
        """Yield the pieces of a line, whose words are looked at by their first and last letters."""
        apart, start = _APART * line.size, line.start
        begin, around = 0, NOWHERE
        for word in _WORD.finditer(line.text):
            box = self._letter_at(start + word.start())
            if word.end() - word.start() > 1:
                box = box.over(self._letter_at(start + word.end() - 1))
            gap = box.left - around.right
            is_cut = cuts and any(around.right - 1 < cut < box.left + 1 for cut in cuts)
            if around is NOWHERE:
                begin, around = word.start(), box
            elif is_cut or abs(gap) > apart:
                text = plain(line.text[begin : word.start()])
                yield LinePart(around, text, number, start + begin)
                begin, around = word.start(), box
            else:
                around = around.over(box)
        if around is not NOWHERE:
            yield LinePart(around, plain(line.text[begin:]), number, start + begin)

    def _letter_at(self, at: int) -> Box:
        left, top, right, bottom = self._place
        raw.FPDFText_GetCharBox(self.text_page.raw, at, left, right, bottom, top)
        box = Box(left.value, bottom.value, right.value, top.value)
        return box.turned(self._rotation) if self._rotation else box


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
