"""The words of synthetic texts: a long-tailed vocabulary, and names of entities."""

from __future__ import annotations

HUB = "Hub Entity"
COMMON_WORDS = 4000
WORDS_OF_A_LEAF = 25
"""Words that only the chunks and questions of one leaf use."""

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def word(number: int) -> str:
    """Return a pronounceable word: common ones have two syllables."""
    first, rest = number % len(_SYLLABLES), number // len(_SYLLABLES)
    return _SYLLABLES[first] + (word(rest - 1) if rest > 0 else "n")


def leaf_word(leaf: int, number: int) -> str:
    """Return one of the words of a leaf."""
    return word(COMMON_WORDS + leaf * WORDS_OF_A_LEAF + number)


def title(entity: int) -> str:
    """Return the title of an entity; a negative number is the hub."""
    if entity < 0:
        return HUB
    return f"{word(10 * entity + 7).capitalize()} {word(entity + COMMON_WORDS).capitalize()}"
