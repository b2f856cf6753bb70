"""Pure: spellings of one word: without case and accents, and with another ending."""

from __future__ import annotations

import unicodedata

STEM_LETTERS = 4
_ENDING_LETTERS = 3


def folded(text: str) -> str:
    """Return a text without case and accents."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def same_stem(word: str, other: str) -> bool:
    """Whether both begin alike by four letters or more, up to endings of at most three."""
    common = 0
    for one, two in zip(word, other, strict=False):
        if one != two:
            break
        common += 1
    return common >= max(STEM_LETTERS, len(word) - _ENDING_LETTERS, len(other) - _ENDING_LETTERS)
