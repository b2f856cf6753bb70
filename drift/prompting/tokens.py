"""Pure: upper bounds of the tokens of a text, and the part of it that fits into a number of them.

No tokenizer is asked, since each model has its own. The figures hold for o200k on prose in eight
scripts and on web pages in English, where the bound is at most 1.3 times what a tokenizer counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_PIECE = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+)"
    r"|(?P<space>\s+)"
    r"|(?P<digits>\d+)"
    r"|(?P<sign>[!-/:-@\[-`{-~]+)"
    r"|(?P<cyrillic>[\u0400-\u04ff]+)"
    r"|(?P<greek>[\u0370-\u03ff\u1f00-\u1fff]+)"
    r"|(?P<arabic>[\u0600-\u06ff]+)"
    r"|(?P<devanagari>[\u0900-\u097f]+)"
    r"|(?P<alphabet>[\u0530-\u05ff\u0980-\u0fff\u10a0-\u10ff]+)"
    r"|(?P<han>[\u3400-\u9fff\uf900-\ufaff]+)"
    r"|(?P<kana>[\u3040-\u30ff]+)"
    r"|(?P<hangul>[\uac00-\ud7af]+)"
    r"|(?P<mark>[\u2000-\u206f\u3000-\u303f\uff00-\uff20]+)"
    r"|(?P<other>.)"
)
_COSTS: Final[dict[str, tuple[float, float]]] = {
    "sign": (0.85, 0.25),
    "cyrillic": (0.66, 0.2),
    "greek": (0.98, 0.34),
    "arabic": (0.0, 0.4),
    "devanagari": (0.1, 0.41),
    "alphabet": (0.0, 0.5),
    "han": (0.0, 1.07),
    "kana": (0.0, 0.8),
    "hangul": (0.0, 0.93),
    "mark": (0.0, 0.8),
}
"""The cost of a run of one kind, and of each of its characters."""


def most_tokens(text: str) -> int:
    """Return an upper bound of the tokens of a text; 0 for an empty one."""
    if not text:
        return 0

    cost = 4.0  # the cost beyond the words; it also makes up for a short text of rare words
    after_space = False
    for piece in _PIECE.finditer(text):
        kind, run = str(piece.lastgroup), piece[0]
        if kind == "latin":
            cost += _latin(run)
        elif kind == "space":
            cost += 0.0 if run == " " else 0.85
        elif kind == "digits":
            # Three digits are a token; a space before them is one of its own.
            cost += -(-len(run) // 3) + after_space
        elif kind == "other":
            # The cost of a byte of a character in none of these scripts.
            cost += 0.67 * len(run.encode(errors="replace"))
        else:
            of_run, of_character = _COSTS[kind]
            cost += of_run + of_character * len(run)

        after_space = kind == "space"

    return round(cost + 0.5)


def _latin(word: str) -> float:
    """Return the cost of a word: more if it is long, a name, an abbreviation, or has accents."""
    length = len(word)
    cost = 0.9 + 0.03 * max(0, length - 4) + 0.25 * max(0, length - 7) + 0.3 * max(0, length - 11)
    if word[0].isupper():
        cost += 0.6
    if not word[1:].islower():
        cost += 0.32 * (length - 1)
    if not word.isascii():
        cost += 0.9 * sum(1 for letter in word if letter > "\x7f")

    return cost


# A long row of stops is read once, not again from each of them. In Greek `;` asks a question.
_SENTENCE_END = re.compile(
    r"(?<![.!?…؟।])(?:[.!?…؟।]++|(?<=[\u0370-\u03ff]);)[\"'”’»)\]]*+(?=\s)|[。！？]+[」』”]*|\n"
)
_SHORTEST = 2


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` characters of it.

    It ends with a sentence when one ends in its second half, else with a word, if any.
    """
    if len(text) <= most:
        return text

    # The next character tells whether a sentence or a word ends with the last one.
    ends = [found.end() for found in _SENTENCE_END.finditer(text[: most + 1])]
    spaces = [found.start() for found in re.finditer(r"\s", text[: most + 1])]
    for end in (*ends[-1:], *spaces[-1:]):
        if most // 2 <= end <= most and text[:end].strip():
            return text[:end]

    return text[:most]


def cut_to(text: str, tokens: int, cost: Callable[[str], int] = most_tokens) -> str:
    """Return the beginning of a text that costs so many tokens, two characters at least."""
    while len(text) > _SHORTEST and (costs := cost(text)) > tokens:
        share = min(0.95, max(tokens, 1) / costs)
        text = cut(text, max(_SHORTEST, int(len(text) * share)))
    return text
