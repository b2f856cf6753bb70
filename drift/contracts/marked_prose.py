"""Pure: an answer in prose, with the numbers of facts in brackets, as sentences with their facts.

It is read where a model writes prose although sentences were asked for. What cannot be read for
certain is an error, for which the model is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import sentencex

from drift.core.sentence_ends import CLOSERS, STOPS, ends_in_a_stop, language_of

Marked = tuple[str, tuple[int, ...]]
"""A sentence without its numbers, and these."""

_MISPLACED = "the number of a fact stands before its sentence, or in place of words"
_NUMBER = r"\d{1,3}(?!\d)(?:\s?(?:[-\u2013\u2014]|to|bis|\u00e0)\s?\d{1,3}(?!\d))?"
_LABEL = r"(?:(?:see|cf\.|siehe|vgl\.)\s)?(?:(?:facts?|fakt(?:en)?|sources?|quellen?|f|#|\^)\s?)?"
_AND = r"\s?(?:[,;\u3001\uff0c\uff1b]\s?)?(?:(?:&|and|or|und|oder|et|ou|y|o|e|en)\s)?"
_NUMBERS = rf"\s?{_LABEL}{_NUMBER}(?:{_AND}{_LABEL}{_NUMBER})*+\s?"
_BRACKETS = (
    rf"(?:\\?[\[\uff3b]{_NUMBERS}\\?[\]\uff3d](?!\()"
    rf"|\u3010{_NUMBERS}(?:\u2020[^\u3011\n]{{0,80}}+)?\u3011"
    rf"|\((?:see|cf\.|siehe|vgl\.|facts?|fakt(?:en)?|sources?|quellen?)\s{_NUMBERS}\))"
)
_MARK = re.compile(
    r"(?P<code>(?<!`)`++[^`\n]*+`++)"
    rf"|(?P<form>[*_]{{0,3}})(?P<marks>{_BRACKETS}(?:{_AND}{_BRACKETS})*+)(?P=form)",
    re.IGNORECASE,
)
_REST = re.compile(rf"[{re.escape(CLOSERS)}]*[{re.escape(STOPS)}]+[{re.escape(CLOSERS)}]*")
"""The end of a sentence that stands behind its marks."""
_WORDS = re.compile(r"\w")
_ENDED = re.compile(rf"[{re.escape(STOPS)}]\W{{0,20}}\Z")
_DEFINITION = re.compile(rf"{_BRACKETS}:")
"""A line of a list of what the numbers stand for."""
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LEADS_TO_A_WORD = re.compile(
    r"(?:\b(?:by|from|in|laut|of|per|see|selon|seg\u00fan|siehe|to)|gem\u00e4\u00df)\s*\Z",
    re.IGNORECASE,
)


def read(prose: str) -> list[Marked]:
    """Return the sentences, rows, items and blocks of code of an answer, in order.

    Raises:
        ValueError: a number stands before its sentence, or in place of words.
    """
    found: list[Marked] = []
    for text in _lines(prose.replace("\r\n", "\n")):
        line = text.strip()
        if _FENCE.match(line):
            found.append((text, found[-1][1] if found else ()))
            continue

        said = list(_segments(text))
        numbers = tuple(number for _, numbers in said for number in numbers)
        if not _WORDS.search("".join(words for words, _ in said)) and numbers:
            _give(found, numbers)
        elif line.startswith(("|", "#")):
            found.append((_without(said), numbers))
        elif not _DEFINITION.match(line):
            found += _sentences(said)
    return found


def without_marks(text: str) -> str:
    """Return a text without the numbers of facts in it."""
    return _without(_segments(text))


def _lines(prose: str) -> Iterator[str]:
    """Yield lines, each behind its line breaks; a block of code, and what wraps, are one."""
    lines = prose.split("\n")
    pending, breaks, is_table = "", "", False
    at = 0
    while at < len(lines):
        line, following = lines[at], (*lines[at + 1 : at + 2], "")[0]
        at += 1
        if not line.strip():
            breaks, is_table = f"{breaks}\n", False
            continue
        wraps = breaks == "\n" and line[:1].islower() and not is_table
        if wraps and not ends_in_a_stop(pending.rstrip("]")):
            pending += f"\n{line}"
            continue

        if pending:
            yield pending
        is_table = "|" in line and (
            is_table or re.fullmatch(r"[ \t:|]*+-[ \t:|-]*+", following) is not None
        )
        if fence := _FENCE.match(line):
            line, at = _fenced(lines, at - 1, fence[1])
        elif is_table:
            line = line if line.lstrip().startswith("|") else f"| {line.strip()} |"
        elif under := re.fullmatch(r"[ \t]{0,3}(=+|-{2,})[ \t]*", following):
            line, at = f"{'#' if '=' in under[1] else '##'} {line}", at + 1
        pending, breaks = breaks + line, "\n"

    if pending:
        yield pending


def _fenced(lines: list[str], start: int, fence: str) -> tuple[str, int]:
    """Return a block of code, and the line behind it, which may be what its last line says."""
    end = start + 1
    while end < len(lines) and not lines[end].lstrip().startswith(fence):
        end += 1
    if end < len(lines):
        lines[end] = lines[end].strip().removeprefix(fence)
    return "\n".join([*lines[start:end], fence]), end


def _segments(text: str) -> Iterator[Marked]:
    """Yield what stands before each mark, with its numbers; last what stands behind all.

    An index, as in `argv[1]`, is a mark only where no mark of the text has a blank before it.
    """
    marks = [mark for mark in _MARK.finditer(text) if not mark["code"]]
    apart = [mark for mark in marks if not text[max(mark.start() - 1, 0) : mark.start()].isalnum()]
    start = 0
    for mark in apart or marks:
        found = re.findall(
            r"(\d+)(?:\s?(?:[-\u2013\u2014]|to|bis|\u00e0)\s?(\d+))?", mark["marks"], re.IGNORECASE
        )
        pairs = [(int(low), int(high or low)) for low, high in found]
        numbers = [n for low, high in pairs for n in range(low, min(high, low + 50) + 1)]
        yield text[start : mark.start()], tuple(dict.fromkeys(numbers))
        start = mark.end()
    yield text[start:], ()


def _without(said: Iterable[Marked]) -> str:
    kept, is_behind = "", False
    for words, numbers in said:
        closes_up = is_behind and (not words or not words[0].isalnum())
        kept = (kept.rstrip() if closes_up else kept) + words
        is_behind = bool(numbers)
    return kept


def _give(found: list[Marked], numbers: tuple[int, ...]) -> None:
    """Give numbers on a line of their own to the rows before them, or to what stands there."""
    for at in range(len(found) - 1, -1, -1):
        text, given = found[at]
        is_row = text.lstrip().startswith("|")
        if is_row and given:
            return
        is_code = _FENCE.match(text.lstrip("\n"))
        found[at] = (text, numbers if is_code else (*given, *numbers))
        if not is_row:
            return


def _sentences(said: Iterable[Marked]) -> Iterator[Marked]:
    """Yield the sentences of a line; what stands behind marks may be the rest of one."""
    text, numbers = "", tuple[int, ...]()
    for words, following in said:
        if numbers:
            rest = _REST.match(words)
            text = text.rstrip() + (rest[0] if rest and not _ENDED.search(text) else "")
            if _ENDED.search(text):
                if not rest and re.match(r"\s*[a-z\u00df-\u00ff]", words):
                    raise ValueError(_MISPLACED)
                yield text, numbers
                text, numbers = " ", ()
            text += words[rest.end() :] if rest else words
        else:
            text += words

        *whole, last = _pieces(text)
        for piece in whole:
            yield piece, numbers
            numbers = ()
        if following and (not last.strip() or _LEADS_TO_A_WORD.search(last[-20:])):
            raise ValueError(_MISPLACED)
        text, numbers = last, (*numbers, *following)

    if text.strip():
        yield text, numbers


def _pieces(text: str) -> list[str]:
    """Return the sentences of a text behind their white space; signs belong to the one before."""
    pieces = [""]
    for piece in _segmented(text):
        if _WORDS.search(pieces[-1]) and _WORDS.search(piece):
            pieces.append("" if piece[0].isspace() else " ")
        pieces[-1] += piece
    return pieces


def _segmented(text: str) -> list[str]:
    # Characters of a line between two marks that are cut into sentences: it costs their square.
    most_segmented = 2_000
    if len(text) > most_segmented:
        return [text]
    found: list[str] = sentencex.segment(language_of(text), text)
    return found if "".join(found) == text else [text]
