"""Pure: the numbers of facts that a model writes behind its sentences, found and taken out.

The model is asked for `[1]`. What it writes instead is read too: `[1, 3]`, `[1-3]`, `(1)`, `【1】`,
`[fact 1]`, `[^1]`, a raised ¹. Numbers that belong to the prose are left alone.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

_NUMBER = r"\d{1,4}(?:\s?[-\u2013\u2014]\s?\d{1,4})?"
_LABEL = (
    r"(?:(?:(?:see|cf\.|siehe|vgl\.)\s)?"
    r"(?:facts?|fakt(?:en)?|faits?|sources?|quellen?|f|no\.?|nr\.?|\#|\^)\s?)"
)
_NUMBERS = rf"{_LABEL}?{_NUMBER}(?:\s?(?:,|;|/|&|and|und|et|y)\s?{_LABEL}?{_NUMBER})*"

_MARK = re.compile(
    rf"\\?\[\s?(?P<square>{_NUMBERS})\s?\\?\](?!\((?!\d+\)))"
    rf"|\(\s?(?P<label>{_LABEL})?(?P<round>{_NUMBERS})\s?\)"
    r"|\u3010\s?(?P<lenticular>\d{1,4})[^\u3011\n]{0,80}\u3011"
    rf"|<sup>\s?\[?(?P<sup>{_NUMBERS})\]?\s?</sup>"
    r"|(?P<raised>[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+(?:[,\u02d2][\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+)*)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)(?:\s?[-\u2013\u2014]\s?(\d+))?")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_RAISED = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u02d2", "0123456789,"
)

_GOES_ON = re.compile(r"[^\s.,;:!?]")
"""What follows a number in brackets that a function is called with: `alert(1)>`."""
_IDENTIFIER = re.compile(r"\w*[\w\])][._]\w+$|\w_+$")
"""What an index stands behind, as in `sys.argv[1]`."""
_DEFINITION = re.compile(r"\s*:")
"""What follows the number where a list of notes begins a line."""
_BETWEEN = re.compile(r"\s{0,3}(?:,|;|&|and|und|et|y|or|oder)?\s{0,3}")
_RANGE_BETWEEN = re.compile(r"\s?[-\u2013\u2014]\s?")
_OPENED = re.compile(
    r"\(\s?(?:(?:see|cf\.|siehe|vgl\.|facts?|sources?|quellen?):?\s?){0,2}$", re.IGNORECASE
)
_ACCORDING = re.compile(
    r"(?:,\s?|\b)(?:according to|as (?:stated|shown|described|noted|said|reported|seen) (?:in|by)"
    r"|laut|gem\u00e4\u00df)\s(?:(?:the\s)?facts?\s|fakt(?:en)?\s)?$",
    re.IGNORECASE,
)
_ITEMS_OPEN = re.compile(r"(?:^|[:;\u2014]\s?)\(1\)\s")
"""Where an enumeration in prose begins: "two things: (1) a door, (2) a knocker"."""
_CLAUSE_ENDS = re.compile(r"\s?(?:[.,;:!?)\u00bb\u201d\u3002\"]|$)", re.MULTILINE)
_HIGHEST_HANDLE = 999
"""No request has more facts: a higher number in brackets is a year."""
_UNIT_CHARACTERS = 3
"""Of a unit of measure or a variable, behind which a raised number is a power."""
LEADING_TO_A_MARK = frozenset(
    "according and as cf et fact facts fakt fakten fait faits gem\u00e4\u00df laut no nr oder or "
    "quelle quellen see siehe source sources und vgl y".split()
)
"""First words of what may belong to a mark that follows."""
STOPS = ".!?\u2026\u3002\uff01\uff1f\u0964\u061f"
_CLOSERS = "\"'\u201d\u2019\u00bb\u203a)]*_"


@dataclass(frozen=True, slots=True)
class Mark:
    """Numbers of facts at `start` to `end` of a text, as ranges, first and last.

    A weak one is in round brackets amid a clause, where it may be prose: "the three (3) ghosts".
    """

    start: int
    end: int
    ranges: tuple[tuple[int, int], ...]
    weak: bool = False

    def names(self, number: int) -> bool:
        """Whether the number is among those of this mark."""
        return any(low <= number <= high for low, high in self.ranges)


def marks_in(text: str, known: Collection[int]) -> list[Mark]:
    """Return the marks of a text in order; neighbours and the brackets around them are one mark.

    A number in round brackets, or raised, is a mark only where it is one of `known`.
    """
    code = code_in(text)
    items_open = _ITEMS_OPEN.search(text)
    found = []
    for match in _MARK.finditer(text):
        inside = any(start <= match.start() < end for start, end in code)
        mark = None if inside else _mark(match, known)
        counts = match["round"] and items_open and items_open.start() <= match.start()
        if mark and not (counts and _begins_an_item(match)):
            found.append(mark)
    return [_with_what_leads_to_it(mark, text) for mark in _joined(found, text)]


def without_marks(text: str, known: Collection[int]) -> str:
    """Return a text without its marks."""
    return without(text, marks_in(text, known))


def code_in(text: str) -> list[tuple[int, int]]:
    """Return where code between backticks stands in a text."""
    return [match.span() for match in _CODE.finditer(text)] if "`" in text else []


def _mark(match: re.Match[str], known: Collection[int]) -> Mark | None:
    text, start, end = match.string, match.start(), match.end()
    if match["raised"]:
        return _raised(match, known)

    written = next(filter(None, (match[g] for g in ("square", "round", "lenticular", "sup"))))
    pairs = [(int(low), int(high or low)) for low, high in _RANGE.findall(written)]
    ranges = tuple((min(pair), max(pair)) for pair in pairs)
    mark = Mark(start, end, ranges)
    knows = any(mark.names(number) for number in known)

    if match["round"]:
        if not all(any(low <= n <= high for n in known) for low, high in ranges):
            return None
        labelled = match["label"] or not written[0].isdigit()
        after_a_stop = text[max(0, start - 20) : start].rstrip().rstrip(_CLOSERS)[-1:] in STOPS
        weak = not (labelled or after_a_stop or _CLAUSE_ENDS.match(text, end))
        is_called = start and text[start - 1].isalnum() and _GOES_ON.match(text, end)
        stands_apart = start and text[start - 1] != "]" and not is_called
        return replace(mark, weak=weak) if stands_apart else None

    line_begins = start == 0 or text[start - 1] == "\n"
    if (line_begins and _DEFINITION.match(text, end)) or _IDENTIFIER.search(
        text[max(0, start - 80) : start]
    ):
        return None
    may_be_a_handle = all(low > 0 and high <= _HIGHEST_HANDLE for low, high in ranges)
    return mark if knows or may_be_a_handle else None


def _raised(match: re.Match[str], known: Collection[int]) -> Mark | None:
    """Read raised digits as one number, or as several; behind a short word they are a power."""
    before = match.string[: match.start()].rstrip("*_")
    word = re.search(r"\w*$", before[-20:])
    if word and word[0] and (len(word[0]) <= _UNIT_CHARACTERS or word[0][-1].isdigit()):
        return None
    written = match["raised"].translate(_RAISED)
    numbers = [int(part) for part in written.split(",") if part]
    if not all(number in known for number in numbers):
        numbers = [int(digit) for digit in written if digit.isdigit()]
    if not all(number in known for number in numbers):
        return None
    return Mark(match.start(), match.end(), tuple((number, number) for number in numbers))


def _begins_an_item(match: re.Match[str]) -> bool:
    """Whether words follow, as behind the number of an item."""
    return bool(re.compile(r"\s?[^\W\d]").match(match.string, match.end()))


def _joined(marks: Sequence[Mark], text: str) -> Iterator[Mark]:
    """Yield neighbours as one mark: `[1] and [2]`, `[1]-[3]`."""
    current: Mark | None = None
    for mark in marks:
        between = text[current.end : mark.start] if current else ""
        if current and _BETWEEN.fullmatch(between) and "\n\n" not in between:
            ranges, weak = current.ranges + mark.ranges, current.weak and mark.weak
            current = Mark(current.start, mark.end, ranges, weak)
        elif current and _RANGE_BETWEEN.fullmatch(between):
            (low, _), (_, high) = current.ranges[-1], mark.ranges[0]
            span = (min(low, high), max(low, high))
            current = Mark(current.start, mark.end, (*current.ranges, span, *mark.ranges))
        else:
            if current:
                yield current
            current = mark
    if current:
        yield current


def _with_what_leads_to_it(mark: Mark, text: str) -> Mark:
    """Return the mark with the brackets around it, and with "according to" before it."""
    start, end = mark.start, mark.end
    opened = _OPENED.search(text, max(0, start - 40), start)
    closed = re.compile(r"\s?\)").match(text, end)
    if opened and closed:
        return replace(mark, start=opened.start(), end=closed.end(), weak=False)
    leads = _ACCORDING.search(text, max(0, start - 60), start)
    if leads:
        return replace(mark, start=leads.start(), weak=False)
    return mark


def without(text: str, marks: Sequence[Mark]) -> str:
    """Return a text without these marks, and without the gaps and doubled stops they leave."""
    kept = ""
    position = 0
    for mark in marks:
        kept = _closed_up(kept, text[position : mark.start])
        position = mark.end
    return _closed_up(kept, text[position:]) if marks else text


def _closed_up(before: str, after: str) -> str:
    """Return two parts as one text, where a mark stood between them."""
    if not before:
        return after
    tail = before.rstrip(" \t\n")
    rest = after.lstrip(" \t")
    if not rest:
        return tail
    if rest[0] in ".,;:!?)\u3002":
        if tail[-1:] in ",;" and rest[0] in STOPS:
            tail = tail[:-1]
        if tail.rstrip(_CLOSERS)[-1:] in STOPS and rest[0] in ".,;":
            rest = rest[1:]
        return tail + rest
    if rest[0] == "\n" or after[0] in " \t":
        return tail + after if rest[0] == "\n" else f"{tail} {rest}"
    return f"{tail} {rest}" if rest[0].isalnum() and tail[-1:] in ".!?,;:" else tail + rest
