"""Pure: chunks of documents that newer ones supersede stand behind, unless they are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from drift.model.graph import Chunk

BEHIND = 0.3
"""The share of its score that such a chunk keeps."""
_ASKS = re.compile(r"(?i)\b(?:versions?|earlier|previous|former|older|superseded|history)\b")
_WORDS = re.compile(r"\d+|[^\W\d_]+")


def newest_first(question: str, best_first: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks, behind the others those of earlier versions that nobody asks for.

    A question asks for one by a word or a number that its path has, and the newer one's has not.
    """
    if not any(one.superseded_by for one in best_first) or _ASKS.search(question):
        return tuple(best_first)
    asked = _words(question)
    scored = [
        replace(one, score=round(BEHIND * one.score, 6))
        if one.superseded_by and not asked & (_words(one.document_id) - _words(one.superseded_by))
        else one
        for one in best_first
    ]
    return tuple(sorted(scored, key=lambda chunk: -chunk.score))


def _words(text: str) -> set[str]:
    return {found.lstrip("0") for found in _WORDS.findall(text.casefold())}
