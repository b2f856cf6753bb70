"""Pure: the numbers of facts that a model writes behind its sentences, found and taken out.

Beside `[1]` these are read: `[1, 3]`, `[1-3]`, `(1)`, `【1】`, `[fact 1]`, `[^1]`, a raised ¹.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from drift.evidence.sentence_ends import CLOSERS, STOPS, code_in, ends_in_a_stop

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
_MAY_BEGIN = re.compile("[\\\\[(\u3010<\u00b9\u00b2\u00b3\u2070\u2074-\u2079]")
"""The first character of every mark; the long pattern is tried nowhere else."""
_RANGE = re.compile(r"(\d+)(?:\s?[-\u2013\u2014]\s?(\d+))?")
_RAISED = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u02d2", "0123456789,"
)

_GOES_ON = re.compile(r"[^\s.,;:!?]")
"""What follows a number in brackets that a function is called with: `alert(1)>`."""
_IDENTIFIER = re.compile(r"\w*[\w\])][._]\w+$|\w_+$")
"""What an index stands behind, as in `sys.argv[1]`."""
_DEFINITION = re.compile(r"\s*:")  # what follows the number where a list of notes begins a line
_BETWEEN = re.compile(r"\s{0,3}(?:,|;|&|and|und|et|y|or|oder)?\s{0,3}")
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
_CLOSED = re.compile(r"\s?\)")
_ITEM = re.compile(r"\s?[^\W\d]")
_HIGHEST_HANDLE = 999  # no request has more facts: a higher number in brackets is a year
_LONGEST_RAISED = 4  # digits of one raised number; more of them are numbers side by side
_UNIT_CHARACTERS = 3  # of a unit of measure or a variable, behind which a raised number is a power
LEADING_TO_A_MARK = frozenset(
    "according and as cf et fact facts fakt fakten fait faits gem\u00e4\u00df laut no nr oder or "
    "quelle quellen see siehe source sources und vgl y".split()
)
"""First words of what may belong to a mark that follows."""
_CLOSERS_READ = 20  # characters before a mark that are looked at for a stop


@dataclass(frozen=True, slots=True)
class Mark:
    """Numbers of facts at `start` to `end` of a text, as ranges, first and last.

    A weak one is in round brackets amid a clause, where it may be prose: "the three (3) ghosts".
    """

    start: int
    end: int
    ranges: tuple[tuple[int, int], ...]
    weak: bool = False

    def moved(self, by: int) -> Mark:
        """Return the mark so many characters further on."""
        return replace(self, start=self.start + by, end=self.end + by)


class Numbers(tuple[int, ...]):
    """The numbers of facts in order, of which a range is asked in few steps."""

    __slots__ = ()

    @classmethod
    def of(cls, known: Collection[int]) -> Numbers:
        """Return numbers in order, each once."""
        return known if isinstance(known, cls) else cls(sorted(set(known)))

    def within(self, low: int, high: int) -> slice:
        """Return where the numbers from `low` to `high` stand."""
        return slice(bisect_left(self, low), bisect_left(self, high + 1))

    def has(self, low: int, high: int) -> bool:
        """Whether one of them lies from `low` to `high`."""
        at = bisect_left(self, low)
        return at < len(self) and self[at] <= high


def marks_in(
    text: str, known: Collection[int], start: int = 0, *, counts: bool = False
) -> list[Mark]:
    """Return the marks of a text in order; neighbours and the brackets around them are one mark.

    A number in round brackets, or raised, is a mark only where it is one of `known`. What stands
    before `start` is only looked back at; `counts` says that an enumeration has begun there.
    """
    numbers = Numbers.of(known)
    code = code_in(text, start)
    items_from = 0 if counts else items_open(text, start)

    found = []
    at, inside = start, 0
    while begun := _MAY_BEGIN.search(text, at):
        match = _MARK.match(text, begun.start())
        if match is None:
            at = begun.end()
            continue

        at = match.end()
        while inside < len(code) and code[inside].end <= match.start():
            inside += 1

        if inside < len(code) and code[inside].start <= match.start():
            continue

        mark = _mark(match, numbers)
        # Words follow the number of an item.
        is_item = match["round"] and items_from <= match.start() and _ITEM.match(text, at)
        if mark and not is_item:
            found.append(mark)

    return [_with_what_leads_to_it(mark, text) for mark in _joined(found, text)]


def items_open(text: str, start: int = 0) -> int:
    """Return where an enumeration in prose begins, not before `start`; else the text's length."""
    found = _ITEMS_OPEN.search(text, max(0, start - 2))  # characters before its number
    return found.start() if found else len(text)


def without_marks(text: str, known: Collection[int]) -> str:
    """Return a text without its marks."""
    return without(text, marks_in(text, known))


def _mark(match: re.Match[str], known: Numbers) -> Mark | None:
    text, start, end = match.string, match.start(), match.end()
    if match["raised"]:
        return _raised(match, known)

    written = next(filter(None, (match[g] for g in ("square", "round", "lenticular", "sup"))))
    pairs = [(int(low), int(high or low)) for low, high in _RANGE.findall(written)]
    ranges = tuple((min(pair), max(pair)) for pair in pairs)
    mark = Mark(start, end, ranges)

    if match["round"]:
        if not all(known.has(low, high) for low, high in ranges):
            return None
        labelled = match["label"] or not written[0].isdigit()
        after_a_stop = ends_in_a_stop(text[max(0, start - 20) : start].rstrip())
        weak = not (labelled or after_a_stop or _CLAUSE_ENDS.match(text, end))
        is_called = start and text[start - 1].isalnum() and _GOES_ON.match(text, end)
        stands_apart = start and text[start - 1] != "]" and not is_called
        return replace(mark, weak=weak) if stands_apart else None

    line_begins = start == 0 or text[start - 1] == "\n"
    if line_begins and _DEFINITION.match(text, end):
        return None

    behind_a_word = start and (text[start - 1].isalnum() or text[start - 1] == "_")
    if behind_a_word and _IDENTIFIER.search(text[max(0, start - 80) : start]):
        return None

    may_be_a_handle = all(low > 0 and high <= _HIGHEST_HANDLE for low, high in ranges)
    return mark if may_be_a_handle or any(known.has(*one) for one in ranges) else None


def _raised(match: re.Match[str], known: Numbers) -> Mark | None:
    """Read raised digits as one number, or as several; behind a short word they are a power."""
    before = match.string[max(0, match.start() - 80) : match.start()].rstrip("*_")
    word = re.search(r"\w*$", before[-20:])
    if word and word[0] and (len(word[0]) <= _UNIT_CHARACTERS or word[0][-1].isdigit()):
        return None

    written = match["raised"].translate(_RAISED)
    parts = [part for part in written.split(",") if part]
    if any(len(part) > _LONGEST_RAISED or not known.has(int(part), int(part)) for part in parts):
        parts = [digit for digit in written if digit.isdigit()]

    numbers = [int(part) for part in parts]
    if not all(known.has(number, number) for number in numbers):
        return None
    return Mark(match.start(), match.end(), tuple((number, number) for number in numbers))


def _joined(marks: Sequence[Mark], text: str) -> Iterator[Mark]:
    """Yield neighbours as one mark: `[1] and [2]`, `[1]-[3]`."""
    current: Mark | None = None
    ranges: dict[tuple[int, int], None] = {}
    last = (0, 0)
    for mark in marks:
        between = text[current.end : mark.start] if current else ""
        if current and _BETWEEN.fullmatch(between) and "\n\n" not in between:
            ranges.update(dict.fromkeys(mark.ranges))
            current = replace(current, end=mark.end, weak=current.weak and mark.weak)
        elif current and re.fullmatch(r"\s?[-\u2013\u2014]\s?", between):
            low, high = last[0], mark.ranges[0][1]
            span = (min(low, high), max(low, high))
            ranges.update(dict.fromkeys((span, *mark.ranges)))
            current = replace(current, end=mark.end, weak=False)
        else:
            if current:
                yield replace(current, ranges=tuple(ranges))
            current, ranges = mark, dict.fromkeys(mark.ranges)

        last = mark.ranges[-1]

    if current:
        yield replace(current, ranges=tuple(ranges))


def _with_what_leads_to_it(mark: Mark, text: str) -> Mark:
    """Return the mark with the brackets around it, and with "according to" before it."""
    start, end = mark.start, mark.end
    opened = _OPENED.search(text, max(0, start - 40), start)
    closed = _CLOSED.match(text, end)
    if opened and closed:
        return replace(mark, start=opened.start(), end=closed.end(), weak=False)

    leads = _ACCORDING.search(text, max(0, start - 60), start)
    if leads:
        return replace(mark, start=leads.start(), weak=False)
    return mark


def without(text: str, marks: Sequence[Mark]) -> str:
    """Return a text without these marks, and without the gaps and doubled stops they leave."""
    if not marks:
        return text

    kept: list[str] = []
    position = 0
    for mark in marks:
        _close_up(kept, text[position : mark.start])
        position = mark.end

    _close_up(kept, text[position:])
    return "".join(kept)


def _close_up(kept: list[str], after: str) -> None:
    """Append a part to what is kept, where a mark stood between them."""
    if not kept:
        kept += [after] if after else []
        return

    while kept and not (tail := kept[-1].rstrip(" \t\n")):
        kept.pop()

    if kept:
        kept[-1] = tail

    rest = after.lstrip(" \t")
    if not rest:
        return

    last = tail[-1:]
    if rest[0] in ".,;:!?)\u3002":
        if last in ",;" and rest[0] in STOPS:
            kept[-1:] = [tail[:-1]] if len(tail) > 1 else []
        ends = "".join(kept[-_CLOSERS_READ:])[-_CLOSERS_READ:].rstrip(CLOSERS)[-1:]
        if ends in STOPS and rest[0] in ".,;":
            rest = rest[1:]
    elif rest[0] == "\n":
        rest = after
    elif after[0] in " \t" or (rest[0].isalnum() and last in ".!?,;:"):
        rest = f" {rest}"

    kept += [rest] if rest else []
