"""Pure: where the sentences of running text end, by one rule, on which every chunk stands."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

STOPS = ".!?\u2026\u3002\uff01\uff1f\u0964\u061f"
CLOSERS = "\"'\u201d\u2019\u00bb\u203a)]*_"
"""Signs that may follow the stop of a sentence: quotes, brackets, emphasis."""

_SPACE = re.compile(r"\s*")
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
    words = Counter(re.findall(r"\w+", beginning.casefold()))
    german = sum(words[word] for word in _GERMAN)
    return "de" if german > sum(words[word] for word in _ENGLISH) else "en"


SENTENCE_END = re.compile(
    r"(?<=[.!?…؟])"
    r"(?<!\b\w\.)"  # `z. B.`
    r"(?<!\b[A-ZÄÖÜ][a-zäöü]\.)"  # `Dr.`
    r"(?<!\b\d\d\.)"  # `17. Januar`
    r"(?<!\b[Nn]o\.)(?<!\bca\.)(?<!bzw\.)(?<!etc\.)(?<!vs\.)"
    r"[\"'”’»)\]*_`]*\s+(?![a-zß-ÿа-я])"
    r"|(?<=[。！？।])"
)
"""The signs between two sentences of a document: closing quotes and brackets, white space."""

RUN_IN_HEADING = re.compile(
    r"\s*+(?:(?:>|[-*+\u2022]\s|\d{1,3}[.)]\s)\s*+){0,4}+(\*{1,3}|_{1,3})(?=\w)"
    r"(?:(?!\1)[^\n]){1,60}(?:(?<=[.:?!])\1|\1[.:])\s+"
)
"""A label in bold or italics, `**Ada.**`, which says whom the sentence behind it is about."""


def split_sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph as slices of it, with the quotes that close them.

    A label before a sentence belongs to it.
    """
    start = 0
    for end in SENTENCE_END.finditer(paragraph):
        label = RUN_IN_HEADING.match(paragraph, start)
        if label and end.end() <= label.end():
            continue
        if piece := paragraph[start : end.end()].strip():
            yield piece
        start = end.end()

    if last := paragraph[start:].strip():
        yield last
