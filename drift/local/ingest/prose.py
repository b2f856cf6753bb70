"""Pure: the sentences and words of a chunk, without its code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from drift.core.stop_words import PROSE_STOP_WORDS
from drift.evidence.sentence_ends import split_sentences
from drift.local.ingest.blocks import split_blocks

_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~)", re.MULTILINE)
_LIST_MARK = re.compile(r"^(?:[*+•-]|\(?\w{1,2}[.)]|#{1,6}|>)\s+")
_WORD = re.compile(r"[^\W\d]\w+(?:['’]\w+)?")
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


def words(text: str) -> list[str]:
    """Return the words that carry a topic, in lower case."""
    return [
        word for found in _WORD.findall(text) if (word := found.lower()) not in PROSE_STOP_WORDS
    ]


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
        and piece.rstrip("*_`’'»")[-1:] in '.!?)"”'
        and (piece[0].isupper() or not piece[0].isalpha())
        and len(piece.split()) >= _FEWEST_WORDS
        and letters / len(piece) >= _FEWEST_LETTERS
    )
