"""Pure: the sentences and words of a chunk, without its code blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from drift.core.folding import UNSPACED
from drift.core.sentence_ends import split_sentences
from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.graph.writing.records import ChunkRecord
from drift.indexing.blocks import split_blocks

_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~)", re.MULTILINE)
_LIST_MARK = re.compile(r"^(?:[*+•-]|\(?\w{1,2}[.)]|#{1,6}|>)\s+")
_WORD = re.compile(r"[^\W\d_]\w*[^\W_]")
_UNSAID = re.compile(
    r"(?:https?://|www\.)[^\s()<>\[\]\"'|]*+|(?<![\w.+-])[\w.+-]++@[\w.-]*+"
    r"|(?<![\w.-])[\w.-]+\.(?:org|net|edu|gov|html?|md|pdf|png|jpe?g|py|json|ya?ml)\b"
    r"|(?<![\w.-])(?:(?<=/)|(?-i:(?![A-Z])))[\w.-]+\.(?:com|jsx?)\b"
    r"|\b\w+n['’]t\b|['’](?:re|ll|ve|s|d|m)\b",
    re.IGNORECASE,
)
"""Addresses, names of files and contractions, of which only pieces would be words."""
_NO_LETTER = re.compile(r"[^\w ]|[\d_]")
_WITHOUT_SPACES = re.compile(f"[{UNSPACED}]")
"""Some of these scripts set no mark after a sentence either."""

_WITHOUT_TOPIC = STOP_WORDS_OF_FOUR_LANGUAGES | {
    *("ibid", "cf", "pp", "ff", "vol", "op", "cit", "ed", "eds", "fig", "et", "al", "am", "pm"),
}
"""Words of any topic, those of notes too."""

_SHORTEST, _LONGEST, _LONGEST_WORD = 30, 400, 30
_SHORTEST_WITHOUT_SPACES = 10
_FEWEST_WORDS = 5
_FEWEST_LETTERS = 0.7
_SHARE_OF_PROSE = 0.6


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of prose with single spaces; `whole` when it reads as a sentence of its own."""

    text: str
    whole: bool


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the prose of a chunk: whole sentences, and fragments such as headings and items."""
    for block in split_blocks(text, "markdown" if _FENCE.search(text) else "text"):
        if block.kind == "heading":
            yield Sentence(block.title, whole=False)
        elif block.kind == "prose":
            body = _LIST_MARK.sub("", " ".join(text[block.start : block.end].split()))
            yield from (Sentence(piece, _is_whole(piece)) for piece in split_sentences(body))


def has_prose(chunk: ChunkRecord) -> bool:
    """Tell whether a chunk has a sentence, if a short one; tables and lists of links have none.

    Headlines that link to other pages may read as sentences.
    """
    linked = sum(len(link.partition("\n")[2]) for link in chunk.links)
    return linked < _SHARE_OF_PROSE * len(" ".join(chunk.text.split())) and any(
        _is_whole(piece.text, shortest=8, fewest_words=3) for piece in sentences(chunk.text)
    )


def is_prose(text: str) -> bool:
    """Tell whether a chunk is sentences for the most part; forms and menus have a few."""
    said = sum(len(piece.text) for piece in sentences(text) if piece.whole)
    return said >= _SHARE_OF_PROSE * len(" ".join(text.split()))


def words(text: str) -> list[str]:
    """Return the words in their order, in lower case; empty in the place of one without a topic."""
    return [
        "" if word in _WITHOUT_TOPIC or len(word) > _LONGEST_WORD or "_" in word else word
        for word in _WORD.findall(_UNSAID.sub(" ", text).lower())
    ]


def spellings(text: str) -> dict[str, str]:
    """Return each word, by itself in lower case, in the spelling that it has most often."""
    counts = Counter(_WORD.findall(text))
    best: dict[str, str] = {}
    for spelling, count in counts.items():
        known = best.setdefault(spelling.lower(), spelling)
        if (count, spelling) > (counts[known], known):
            best[spelling.lower()] = spelling
    return best


def _is_whole(piece: str, shortest: int = _SHORTEST, fewest_words: int = _FEWEST_WORDS) -> bool:
    if not piece.isascii() and len(_WITHOUT_SPACES.findall(piece)) >= _SHORTEST_WITHOUT_SPACES:
        return len(piece) <= _LONGEST

    return (
        shortest <= len(piece) <= _LONGEST
        and piece.rstrip("*_`’'»")[-1:] in '.!?)"”'
        and (piece[0].isupper() or not piece[0].isalpha())
        and len(piece.split()) >= fewest_words
        and len(_NO_LETTER.sub("", piece)) >= _FEWEST_LETTERS * len(piece)
    )
