"""The prose sentences of a text, as exact slices of it: no headings, code, grammar rules, tables or list markers."""

# ruff: noqa: SIM905, RUF001 - word lists read better as text; typographic quotes are looked for
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

SHORTEST = 40
LONGEST = 400
MIN_WORDS = 6
MIN_LETTERS = 0.72
MIN_FUNCTION_WORDS = 0.15

FUNCTION_WORDS = frozenset(
    "a about above after all also an and any are as at be because been before being below between both but by can could "
    "did do does during each either else for from had has have how i if in inside into is it its itself may might more "
    "most must no nor not of off on one only or other otherwise our out over own same shall should since so some such "
    "than that the their them then there therefore these they this those through thus to too under unless until up "
    "upon use used using was we were what when where whether which while who whose why will with within without would "
    "you your".split()
)

_UNDERLINE = re.compile(r"^\s*([=*\-~^\"'+#.])\1{2,}\s*$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_FENCE = re.compile(r"^\s*(```|~~~)")
_MARKER = re.compile(r"^(\s*)([*+\-•]|\d{1,3}[.)]|[a-z][.)])\s+")
_END = re.compile(r"[.!?][)\]\"'”’*_`]*(?=\s|$)")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|[A-Z])|\.\.)\.$")
_CODE = re.compile(r"::=|>>>|^\s*\.\.\. |==|!=|->|=>|\w\(\w+=|\s#\s|^\s*\w+ = |;\s*$|\|\s|^\s*[+|]|\t", re.MULTILINE)
_LEANING = re.compile(
    r"^(?:This|It|They|These|Those|That|He|She|Thus|Otherwise|However|Therefore|Hence|Then|Also|But|And|Or|So|"
    r"In (?:this|that|such|these|either|both|the (?:latter|former|first|second))|As (?:such|a result|above)|"
    r"For (?:example|instance)|If (?:so|not|it|they|this)|When (?:this|it)|Both|Such|Note|Here|Instead|Its|Their|"
    r"The (?:latter|former|following|above|same|first|second|third|other)|Similarly|Likewise|Finally|Normally)\b"
)
_NOT_PROSE = re.compile(
    r"^(?:See|Changed in version|New in version|Added in version|Deprecated|Note:|Example|The proposal|"
    r"The specification|Introduces|Describes)\b"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: `span` the slice of the text as it stands, `text` the same with white space collapsed."""

    start: int
    span: str
    text: str


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


@lru_cache(maxsize=20_000)
def prose(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text in order; a leaning one is joined with the sentence before it where that fits."""
    return tuple(s for start, end in _paragraphs(text) for s in _sentences(text, start, end))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of lines that belong together, without list markers."""
    start = end = indent = -1
    for line, follows in _prose_lines(text):
        marker = _MARKER.match(line.text)
        if start >= 0 and (marker or not follows or line.indent != indent):
            yield start, end
            start = -1
        if start < 0:
            start = line.start + (marker.end() if marker else line.indent)
            indent = marker.end() if marker else line.indent
            # A text that was cut out of another may have lost the indentation of its first line.
            indent = _next_indent(text, line) if line.start == 0 and not marker else indent
        end = line.start + len(line.text.rstrip())
    if start >= 0:
        yield start, end


def _next_indent(text: str, line: _Line) -> int:
    following = text[line.start + len(line.text) + 1 :].split("\n", 1)[0]
    return len(following) - len(following.lstrip()) if following.strip() else line.indent


def _prose_lines(text: str) -> Iterator[tuple[_Line, bool]]:
    """Yield lines that may be prose, and whether each directly follows the one before it."""
    lines = _lines(text)
    fenced = follows = False
    for number, line in enumerate(lines):
        if _FENCE.match(line.text):
            fenced, follows = not fenced, False
            continue
        underlined = number + 1 < len(lines) and bool(_UNDERLINE.match(lines[number + 1].text))
        if fenced or underlined or not line.text.strip() or _UNDERLINE.match(line.text) or _HEADING.match(line.text):
            follows = False
            continue
        yield line, follows
        follows = True


def _lines(text: str) -> list[_Line]:
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append(_Line(at, line))
        at += len(line) + 1
    return lines


def _sentences(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield the good sentences between two offsets."""
    before: int | None = None
    for at, until in _cuts(text, start, end):
        leaning = leans(text[at:until])
        joined = before if leaning and before is not None else at
        for begin in dict.fromkeys((joined, at)):
            span = text[begin:until]
            if is_prose(span):
                yield Sentence(begin, span, " ".join(span.split()))
                break
        before = at if is_prose(text[at:until]) and not leaning else None


def _cuts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence between two offsets; what follows the last full stop is left out."""
    at = start
    for stop in _END.finditer(text, start, end):
        rest = text[stop.end() : end].lstrip()
        if _ABBREVIATION.search(text[at : stop.start() + 1]) or (rest and not _begins(rest)):
            continue
        yield at, stop.end()
        at = end - len(rest)


def _begins(text: str) -> bool:
    return bool(re.match(r"[\"'“‘(\[*_`]*[A-Z0-9_\"“`]", text))


def leans(text: str) -> bool:
    """Tell whether a sentence begins with a word that points back to one before it."""
    return bool(_LEANING.match(text))


def is_prose(span: str) -> bool:
    """Tell whether a slice reads as one or two full sentences of prose."""
    text = " ".join(span.split())
    words = re.findall(r"[A-Za-z][A-Za-z'’]*", text)
    if not SHORTEST <= len(text) <= LONGEST or len(words) < MIN_WORDS:
        return False
    if (
        not _begins(text)
        or text[0] in "([0123456789"
        or _NOT_PROSE.match(text)
        or _CODE.search(span)
        or not _balanced(text)
    ):
        return False
    letters = sum(c.isalpha() or c == " " for c in text)
    function_words = sum(word.lower() in FUNCTION_WORDS for word in words)
    return letters / len(text) >= MIN_LETTERS and function_words / len(words) >= MIN_FUNCTION_WORDS


def _balanced(text: str) -> bool:
    """Tell whether quotes and brackets are closed: a sentence cut in the middle of one is no sentence."""
    pairs = (("(", ")"), ("[", "]"), ("“", "”"))
    return text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)
