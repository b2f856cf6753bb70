"""Pure: where the sentences of running text end.

What ends a sentence of an answer is seen in the first word after it, so a line that grows has the
same sentences as the whole line; where it is doubtful, two stay one. Documents are cut by a shorter
rule, on which every chunk of every graph stands.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

STOPS = ".!?\u2026\u3002\uff01\uff1f\u0964\u061f"
CLOSERS = "\"'\u201d\u2019\u00bb\u203a)]*_"
"""What may stand behind the stop of a sentence: quotes, brackets, emphasis."""

_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"\w+")
_GERMAN = frozenset("der die das und ist nicht den ein eine mit auf wird von zu im dem des".split())
_ENGLISH = frozenset("the of and to a is that was for it with as his he on be at by are".split())


class Span(NamedTuple):
    """Where something stands in a text: its start, and the end behind it."""

    start: int
    end: int


def ends_in_a_stop(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return text.rstrip(CLOSERS)[-1:] in STOPS


def end_of_space(text: str, start: int) -> int:
    """Return where the white space ends that may stand at `start`."""
    space = _SPACE.match(text, start)
    return space.end() if space else start


def language_of(beginning: str) -> str:
    """Return German for what begins with its frequent words, else English.

    In French, Spanish, Italian and Dutch the rules for English were as good as their own.
    """
    words = Counter(_WORD.findall(beginning.casefold()))
    german = sum(words[word] for word in _GERMAN)
    return "de" if german > sum(words[word] for word in _ENGLISH) else "en"


# -------------------------------------------------------------------------------------- documents

SENTENCE_END = re.compile(
    r"(?<=[.!?…؟])"
    r"(?<!\b\w\.)"  # `z. B.`
    r"(?<!\b[A-ZÄÖÜ][a-zäöü]\.)"  # `Dr.`
    r"(?<!\b\d\d\.)"  # `17. Januar`
    r"(?<!\b[Nn]o\.)(?<!\bca\.)(?<!bzw\.)(?<!etc\.)(?<!vs\.)"
    r"[\"'”’»)\]*_`]*\s+(?![a-zß-ÿа-я])"
    r"|(?<=[。！？।])"
)
"""What stands between two sentences of a document: closing quotes and brackets, white space."""


def split_sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph as slices of it, with the quotes that close them."""
    start = 0
    for end in SENTENCE_END.finditer(paragraph):
        if piece := paragraph[start : end.end()].strip():
            yield piece
        start = end.end()

    if last := paragraph[start:].strip():
        yield last


# ---------------------------------------------------------------------------------------- answers

_STOP = re.compile(
    r"(?:[.!?\u2026]+|(?P<wide>[\u3002\uff01\uff1f\u0964\u061f]+))"
    r"[\"'\u201d\u2019\u00bb\u203a\u201c)\]*_\u300d\u300f]*"
)
_OPENING = re.compile(r"[`\"\u201c\u201e\u00ab(\u3010\[<\\]|\*\*")
_TICK = re.compile("`")
_OPENERS = "\"'\u201c\u2018\u201e\u00ab\u2039([*_\u00bf\u00a1\u300c\u300e"
_FOLLOWING = re.compile(rf"\s*[{re.escape(_OPENERS)}]*")
_INITIAL = re.compile(r"(?:^|[\s(\"'.-])[^\W\d_]\.$")
_ORDINAL = re.compile(r"(?:^|[\s(])\d{1,2}\.$")
_ABBREVIATIONS = frozenset(
    """
    abs abt al approx apr art aug ave bd bzw ca capt cf col dec dept dez dr dt engl evtl feb fig fr
    ft geb gen gest ggf gov hon hr ing inkl jan jr jul jun kap lt mag mar mio mlle mme mr mrd mrs ms
    mt no nos nov nr oct okt p pp pres prof rep rev sen sep sept sgt sog sr st str tel univ usw vgl
    vol vs
    """.split()
)
"""Words before a full stop that ends no sentence."""


def sentence_ends(
    text: str, marks: Sequence[Span], start: int = 0, *, numbers_lead: bool = False
) -> Iterator[int]:
    """Yield where the sentences of a line end, each with the marks behind its full stop.

    `marks` are those from `start` on, where a sentence begins; `numbers_lead` says that the marks
    of this line stand before their sentences.
    """
    length = len(text.rstrip())
    shut = sorted([*code_in(text, start), *marks])
    starts = [mark.start for mark in marks]
    within = enclosed(text, start)
    last = start
    for stop in _STOP.finditer(text, start):
        if stop.start() < last or _holds(shut, stop.start(), stop.start()):
            continue
        if _holds(within, stop.start(), stop.end()):
            continue

        end = stop.end()
        after = bisect_left(starts, end)
        behind = marks[after] if after < len(marks) else None
        marked = behind is not None and end_of_space(text, end) >= behind.start
        if behind and marked and numbers_lead and behind.end < length:
            marked = False

        if behind and marked:
            end = behind.end
            while text.startswith(".", end):
                end += 1

        if end >= length:
            break
        if _is_end(text, stop, end, marked=marked):
            yield end
            last = end

    if last < length:
        yield len(text)


def _holds(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether one of the spans, which are in order, goes on behind what begins within it."""
    around = bisect_right(spans, (start, 2**31)) - 1
    return around >= 0 and end < spans[around].end


def _is_end(text: str, stop: re.Match[str], end: int, *, marked: bool) -> bool:
    """Whether a full stop ends a sentence, judged by the word before it and the one after it."""
    if stop["wide"]:
        return True
    if not marked and not text[end].isspace():
        return False

    opened = _FOLLOWING.match(text, end)
    following = text[opened.end() : opened.end() + 1] if opened else ""
    if following.islower() or following in {",", ";", ":", ")", "\u2013", "\u2014"}:
        return False
    if marked or not stop[0].startswith(".") or stop[0].startswith(".."):
        return True

    before = text[max(0, stop.start() - 40) : stop.start() + 1]
    word = re.search(r"(?<![^\W\d_])([^\W\d_]++)\.$", before)
    if word and word[1].lower() in _ABBREVIATIONS:
        return False

    return not (_INITIAL.search(before) or _ORDINAL.search(before))


def open_from(answer: str, start: int = 0) -> int:
    """Return where the last line of a growing answer opens what is not closed yet; else its end."""
    at = max(answer.rfind("\n") + 1, start)
    opened = _first_outside(_OPENING, answer, at, enclosed(answer, at))
    return min(opened, _first_outside(_TICK, answer, at, code_in(answer, at)))


def _first_outside(sign: re.Pattern[str], text: str, start: int, spans: Sequence[Span]) -> int:
    """Return where a sign stands first that is in none of the spans; else the text's length."""
    for span in (*spans, Span(len(text), len(text))):
        if found := sign.search(text, start, span.start):
            return found.start()
        start = span.end
    return len(text)


# ------------------------------------------- code, quotations, brackets, words in bold on a line

_OPENED = re.compile(r"`+|[\"\u201c\u201e\u00ab(\u3010\[]|\*\*")
_ENDS = {
    '"': re.compile(r"[\"\n]"),
    "\u201c": re.compile(r"[\u201d\n]"),
    "\u201e": re.compile(r"[\u201c\u201d\n]"),
    "\u00ab": re.compile(r"[\u00bb\n]"),
    "(": re.compile(r"[()\n]"),
    "\u3010": re.compile(r"[\u3011\n]"),
    "[": re.compile(r"[\[\]\n]"),
    "**": re.compile(r"\*\*|\n"),
    "\n": re.compile(r"\n"),
}
"""What is looked for behind each opening: what closes it, and what it cannot hold."""
_TICKS = re.compile("`+")


def enclosed(text: str, start: int = 0) -> list[Span]:
    """Return what is enclosed from `start` on, the outer ones: no sentence ends within."""
    return _closed(_OPENED, text, start)


def code_in(text: str, start: int = 0) -> list[Span]:
    """Return where code between backticks stands in a text from `start` on."""
    return _closed(_TICKS, text, start) if text.find("`", start) >= 0 else []


def _closed(openings: re.Pattern[str], text: str, start: int) -> list[Span]:
    found = []
    behind = _Behind(text)
    at = start
    while opening := openings.search(text, at):
        at = opening.end()
        if end := behind.of(opening):
            found.append(Span(opening.start(), end))
            at = end

    return found


class _Behind:
    """Finds what closes an opening; what was found lies ahead of the openings that follow too."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ahead: dict[str, int] = {}
        self._runs: dict[int, list[int]] | None = None

    def of(self, opening: re.Match[str]) -> int:
        """Return the end of what an opening encloses; 0 where it is not closed on its line."""
        sign, start, end = opening[0], *opening.span()
        if sign[0] == "`":
            return self._code(len(sign), end)
        if sign == "**":
            end += not self._text.startswith("\n", end)

        at = self._next(sign, end)
        if at >= len(self._text) or self._text[at] in "([\n":
            return 0
        return at + len(sign) if at > start else 0

    def _next(self, sign: str, start: int) -> int:
        known = self._ahead.get(sign, -1)
        if known < start:
            found = _ENDS[sign].search(self._text, start)
            known = self._ahead[sign] = found.start() if found else len(self._text)
        return known

    def _code(self, length: int, start: int) -> int:
        if self._runs is None:
            self._runs = {}
            for run in _TICKS.finditer(self._text):
                self._runs.setdefault(len(run[0]), []).append(run.start())

        runs = self._runs.get(length, [])
        at = bisect_left(runs, start)
        if at == len(runs) or self._next("\n", start) < runs[at]:
            return 0

        return runs[at] + length
