"""Pure: where the sentences of a line end, with the numbers of facts that stand behind them.

What ends a sentence is seen in the first word after it, so a line that grows has the same sentences
as the whole line. Where it is doubtful, two sentences stay one.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from drift.answering.marks import Mark, code_in

_STOP = re.compile(
    r"(?:[.!?\u2026]+|(?P<wide>[\u3002\uff01\uff1f\u0964\u061f]+))"
    r"[\"'\u201d\u2019\u00bb\u203a\u201c)\]*_\u300d\u300f]*"
)
_ENCLOSED = re.compile(
    r"(`+)(?!`)[^\n]+?(?<!`)\1(?!`)"
    r"|\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|\u201e[^\u201c\u201d\n]*[\u201c\u201d]|\u00ab[^\u00bb\n]*\u00bb"
    r"|\([^()\n]*\)|\u3010[^\u3011\n]*\u3011|\[[^\[\]\n]*\]|\*\*[^\n]+?\*\*"
)
"""Code, quotations, brackets and words in bold, within which no sentence ends."""
_OPENING = re.compile(r"[`\"\u201c\u201e\u00ab(\u3010\[<\\]|\*\*")
_FAR = 2**31
_OPENERS = "\"'\u201c\u2018\u201e\u00ab\u2039([*_\u00bf\u00a1\u300c\u300e"
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


def sentence_ends(text: str, marks: Sequence[Mark]) -> Iterator[int]:
    """Yield where the sentences of a line end, each with the marks behind its full stop."""
    first = marks[0] if marks else None
    numbers_lead = bool(first and first.start == 0 and text[first.end :].strip())
    shut = sorted([*code_in(text), *((m.start, m.end) for m in marks)])
    starts = [mark.start for mark in marks]
    enclosed = [match.span() for match in _ENCLOSED.finditer(text)]
    last = 0
    for stop in _STOP.finditer(text):
        if stop.start() < last or _holds(shut, stop.start(), stop.start()):
            continue
        if _holds(enclosed, stop.start(), stop.end()):
            continue
        end = stop.end()
        after = bisect_left(starts, end)
        behind = marks[after] if after < len(marks) else None
        marked = bool(behind and not text[end : behind.start].strip())
        if marked and behind and not (numbers_lead and text[behind.end :].strip()):
            end = behind.end
            end += len(text[end:]) - len(text[end:].lstrip("."))
        else:
            marked = False
        if not text[end:].strip():
            break
        if _is_end(text, stop, end, marked=marked):
            yield end
            last = end
    if text[last:].strip():
        yield len(text)


def _holds(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the spans, which are in order, goes on behind what begins within it."""
    around = bisect_right(spans, (start, _FAR)) - 1
    return around >= 0 and end < spans[around][1]


def open_from(answer: str) -> int:
    """Return where the last line of a growing answer opens what is not closed yet; else its end."""
    line_at = answer.rfind("\n") + 1
    line = answer[line_at:]
    at = 0
    for match in _ENCLOSED.finditer(line):
        if opening := _OPENING.search(line, at, match.start()):
            return line_at + opening.start()
        at = match.end()
    opening = _OPENING.search(line, at)
    return line_at + opening.start() if opening else len(answer)


def _is_end(text: str, stop: re.Match[str], end: int, *, marked: bool) -> bool:
    """Whether a full stop ends a sentence, judged by the word before it and the one after it."""
    rest = text[end:]
    if stop["wide"]:
        return True
    if not marked and not rest[0].isspace():
        return False
    following = rest.lstrip().lstrip(_OPENERS)[:1]
    if following.islower() or following in {",", ";", ":", ")", "\u2013", "\u2014"}:
        return False
    if marked or not stop[0].startswith(".") or stop[0].startswith(".."):
        return True
    before = text[max(0, stop.start() - 40) : stop.start() + 1]
    word = re.search(r"([^\W\d_]+)\.$", before)
    if word and word[1].lower() in _ABBREVIATIONS:
        return False
    return not (_INITIAL.search(before) or _ORDINAL.search(before))
