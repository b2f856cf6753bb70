"""Pure: numbered parts of a document, as questions and headings write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_ONES_DE = (
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS_DE = "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte"

CARDINALS = {
    word: place for words in (_ONES, _ONES_DE) for place, word in enumerate(words.split(), 1)
}
ORDINALS = {word: place for place, word in enumerate(_ORDINALS.split(), 1)} | {
    word + ending: place
    for place, word in enumerate(_ORDINALS_DE.split(), 1)
    for ending in ("", "n", "s", "r", "m")
}

SAME_LABELS = {
    "chapter": ("chapter", "stave", "kapitel"),
    "kapitel": ("kapitel", "chapter", "stave"),
    "stave": ("stave", "chapter"),
    "part": ("part", "teil"),
    "teil": ("teil", "part"),
    "section": ("section", "abschnitt"),
    "abschnitt": ("abschnitt", "section"),
    "act": ("act", "akt"),
    "akt": ("akt", "act"),
    "scene": ("scene", "szene"),
    "szene": ("szene", "scene"),
}
"""What a part may be called in its document, by what a question calls it; others keep their name.

A reader says chapter for what the author calls a stave.
"""

MAX_NUMBER = 199
_MOST_MARKS = 40
"""Of a line before the part's name: of any number, a pattern would try them at each `>` of it."""
_GAP = re.compile(r"\.\.|\s\s|\t")
_BETWEEN_TITLE_AND_PAGE = " .\t\u00a0\u2002\u2003\u3000"


@dataclass(frozen=True, slots=True)
class Part:
    """A numbered part: what it may be called, the question's own word first, and its number."""

    labels: tuple[str, ...]
    number: int

    def names(self) -> tuple[str, ...]:
        """Return how a heading may name it, in lower case: `chapter 3`, `chapter iii`."""
        words = [word for word, number in CARDINALS.items() if number == self.number]
        written = (str(self.number), *words, roman(self.number))
        numbered = [f"{label} {number}" for label in self.labels for number in written]
        places = [word for word, number in ORDINALS.items() if number == self.number]
        return (*numbered, *(f"{place} {label}" for label in self.labels for place in places))

    def following(self) -> Part:
        """Return the part that begins where this one ends."""
        return replace(self, number=self.number + 1)

    def begins_in(self, text: str, heading: str = "") -> bool:
        """Return whether the part's heading stands in the chunk, or ends the path above it.

        A line of a table of contents is no heading: it ends with a page, or stands beside another
        such line.
        """
        own = re.compile(line_of((self,)), re.IGNORECASE)
        if own.match(heading.rsplit(" > ", 1)[-1]):
            return True
        lines = [line for line in text.splitlines() if line.strip()]
        anyone = re.compile(_line(self.labels, r"[\w.]+"), re.IGNORECASE)
        for place, line in enumerate(lines):
            if own.match(line) and not _ends_with_a_page(line):
                around = lines[max(0, place - 1) : place] + lines[place + 1 : place + 2]
                if not any(anyone.match(other) for other in around):
                    return True
        return False


def _ends_with_a_page(line: str) -> bool:
    """Tell whether dots, or a wide gap, and a number end a line, as in a table of contents."""
    line = line.rstrip(" \t")
    end = len(line)
    while end and line[end - 1].isdecimal():
        end -= 1
    title = line[:end].rstrip(_BETWEEN_TITLE_AND_PAGE)
    return end < len(line) and _GAP.search(line, len(title), end) is not None


def line_of(parts: tuple[Part, ...]) -> str:
    """Return a pattern for the beginning of a line that names one of the parts.

    It means the same to Python and to Java, without regard to case.
    """
    names = sorted({name for part in parts for name in part.names()}, key=len, reverse=True)
    either = "|".join(" +".join(name.split()) for name in names)
    return rf"[^\w\n]{{0,{_MOST_MARKS}}}(?:{either})(?!\w)"


def _line(labels: tuple[str, ...], number: str) -> str:
    return rf"[^\w\n]{{0,{_MOST_MARKS}}}(?:{'|'.join(labels)}) +{number}(?!\w)"


def number_of(written: str) -> int | None:
    """Return the number that a question writes as digits, a word or a Roman number in capitals."""
    if written.isascii() and written.isdigit():
        number = int(written) if len(written) <= len(str(MAX_NUMBER)) else 0
        return number if 0 < number <= MAX_NUMBER else None
    if word := CARDINALS.get(written.casefold()) or ORDINALS.get(written.casefold()):
        return word
    return _ROMANS.get(written) if written.isupper() else None


def roman(number: int) -> str:
    """Return a number up to MAX_NUMBER as a Roman one, in lower case."""
    tens, ones = divmod(number, 10)
    hundreds, tens = divmod(tens, 10)
    return "c" * hundreds + _ROMAN_DIGITS[tens].translate(_TENS) + _ROMAN_DIGITS[ones]


_ROMAN_DIGITS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_TENS = str.maketrans({"i": "x", "v": "l", "x": "c"})
_ROMANS = {roman(number).upper(): number for number in range(1, MAX_NUMBER + 1)}
