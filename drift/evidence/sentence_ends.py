"""Pure: where the sentences of a line end, with the numbers of facts that stand behind them.

What ends a sentence is seen in the first word after it, so a line that grows has the same sentences
as the whole line. Where it is doubtful, two sentences stay one.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from drift.evidence.enclosed import Span, code_in, enclosed
from drift.evidence.marks import Mark

_STOP = re.compile(
    r"(?:[.!?\u2026]+|(?P<wide>[\u3002\uff01\uff1f\u0964\u061f]+))"
    r"[\"'\u201d\u2019\u00bb\u203a\u201c)\]*_\u300d\u300f]*"
)
_OPENING = re.compile(r"[`\"\u201c\u201e\u00ab(\u3010\[<\\]|\*\*")
_TICK = re.compile("`")
_SPACE = re.compile(r"\s*")
_FAR = 2**31
_OPENERS = "\"'\u201c\u2018\u201e\u00ab\u2039([*_\u00bf\u00a1\u300c\u300e"
_FOLLOWING = re.compile(rf"\s*[{re.escape(_OPENERS)}]*")
_INITIAL = re.compile(r"(?:^|[\s(\"'.-])(?:[^\W\d_]\.)+$")
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
    text: str, marks: Sequence[Mark], start: int = 0, *, numbers_lead: bool = False
) -> Iterator[int]:
    """Yield where the sentences of a line end, each with the marks behind its full stop.

    `marks` are those from `start` on, where a sentence begins; `numbers_lead` says that the marks
    of this line stand before their sentences.
    """
    length = len(text.rstrip())
    shut = sorted([*code_in(text, start), *(Span(m.start, m.end) for m in marks)])
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
        marked = bool(behind and _end_of_space(text, end) >= behind.start)
        if marked and behind and not (numbers_lead and behind.end < length):
            end = behind.end
            while text.startswith(".", end):
                end += 1
        else:
            marked = False
        if end >= length:
            break
        if _is_end(text, stop, end, marked=marked):
            yield end
            last = end
    if last < length:
        yield len(text)


def leads(text: str, marks: Sequence[Mark]) -> bool:
    """Whether the marks of a line stand before their sentences, as its first one does."""
    return bool(marks and marks[0].start == 0 and text[marks[0].end :].strip())


def _end_of_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start


def _holds(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the spans, which are in order, goes on behind what begins within it."""
    around = bisect_right(spans, (start, _FAR)) - 1
    return around >= 0 and end < spans[around][1]


def open_from(answer: str, start: int = 0) -> int:
    """Return where the last line of a growing answer opens what is not closed yet; else its end.

    A line that goes on at `start` is looked at from there.
    """
    at = max(answer.rfind("\n") + 1, start)
    opened = [
        _first_outside(_OPENING, answer, at, enclosed(answer, at)),
        _first_outside(_TICK, answer, at, code_in(answer, at)),
    ]
    return min(opened)


def _first_outside(
    sign: re.Pattern[str], text: str, start: int, spans: Sequence[tuple[int, int]]
) -> int:
    """Return where a sign stands first that is in none of the spans; else the text's length."""
    for begins, ends in (*spans, (len(text), len(text))):
        if found := sign.search(text, start, begins):
            return found.start()
        start = ends
    return len(text)


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
    word = re.search(r"([^\W\d_]+)\.$", before)
    if word and word[1].lower() in _ABBREVIATIONS:
        return False
    return not (_INITIAL.search(before) or _ORDINAL.search(before))
