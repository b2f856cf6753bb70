"""Pure: the sentences and words of a chunk, without its code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from drift.offline.writing.blocks import split_blocks

STOP_WORDS = frozenset(
    """a about above after again against all also although an and any are as at be because been before being below between both
    but by can cannot could did do does doing down during each either else even example examples few first following follows for
    from further had has have having he hence her here him his how however i if in instead into is it its itself just last later
    less let like many may me might more most much must my neither no nor not note now of off often on once one only or other
    otherwise our out over own per rather same second see she should since so some such than that the their them then there these
    they this those through thus to together too two under until up upon use used uses using usually very was we well were what
    when where whether which while who whose why will with within without would yes you your""".split()  # noqa: SIM905 - reads best as words
)
"""English words that carry no topic."""

_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_BOUNDARY = re.compile(
    r"(?<=[.!?…؟])(?<!\b\w\.)(?<!\b[A-ZÄÖÜ][a-zäöü]\.)(?<!\b\d\d\.)(?<!\b[Nn]o\.)(?<!\bca\.)(?<!bzw\.)(?<!etc\.)(?<!vs\.)"
    r"[\"'”’»)\]*_`]*\s+(?![a-zß-ÿа-я])|(?<=[。！？।])"  # noqa: RUF001 - letters, quotes and full stops as they are written
)
"""Between two sentences; not after `Dr.`, `z. B.` or `17.`, and without a space in scripts that
write none."""
_LIST_MARK = re.compile(r"^(?:[*+•-]|\(?\w{1,2}[.)]|#{1,6}|>)\s+")
_WORD = re.compile(r"[^\W\d]\w+(?:['’]\w+)?")  # noqa: RUF001 - the same
_SHORTEST, _LONGEST = 30, 400
_FEWEST_WORDS = 5
_FEWEST_LETTERS = 0.7


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of prose with single spaces; `whole` when it reads as a sentence of its own."""

    text: str
    whole: bool


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the prose of a chunk piece by piece.

    Whole sentences, and fragments such as headings and list items.
    """
    for block in split_blocks(text, "markdown" if _FENCE.search(text) else "text"):
        if block.kind == "heading":
            yield Sentence(block.title, whole=False)
        elif block.kind == "prose":
            body = _LIST_MARK.sub("", " ".join(text[block.start : block.end].split()))
            yield from (Sentence(piece, _is_whole(piece)) for piece in split_sentences(body))


def split_sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph as slices of it, each with the quotes and brackets that close it."""
    start = 0
    for boundary in (*_BOUNDARY.finditer(paragraph), None):
        end = boundary.end() if boundary else len(paragraph)
        if piece := paragraph[start:end].strip():
            yield piece
        start = end


def words(text: str) -> list[str]:
    """Return the words that carry a topic, in lower case."""
    return [word for found in _WORD.findall(text) if (word := found.lower()) not in STOP_WORDS]


def singular(word: str) -> str:
    """Return an English plural's singular, by its ending alone."""
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > len("its"):
        return word[:-1]
    return word


def _is_whole(piece: str) -> bool:
    letters = sum(c.isalpha() or c == " " for c in piece)
    return (
        _SHORTEST <= len(piece) <= _LONGEST
        and piece.rstrip("*_`’'»")[-1:] in '.!?)"”'  # noqa: RUF001 - the same
        and (piece[0].isupper() or not piece[0].isalpha())
        and len(piece.split()) >= _FEWEST_WORDS
        and letters / len(piece) >= _FEWEST_LETTERS
    )
