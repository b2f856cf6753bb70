"""Pure: numbers of sentences, as a model writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

MAX_RUN = 3
"""Sentences that one span may hold."""
MAX_RUNS = 3
"""Spans that one reply may name."""
MAX_NUMBERS_READ = 50
NOWHERE = 0
"""Stands for the number of a sentence of another chunk; sentences are numbered from 1."""

_ENGLISH = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_GERMAN = (
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig"
)
CARDINALS = {
    word: number for words in (_ENGLISH, _GERMAN) for number, word in enumerate(words.split(), 1)
}

_NUMBER = rf"(?:\d+|\b(?:{'|'.join(CARDINALS)})\b)"
_SENTENCE = r"(?:sentences?|s)?[\s.]*"
_SAID = re.compile(
    rf"\b(?P<handle>[^\W\d_]\d+)\b(?<!\bs\d)(?<!\bs\d\d)(?<!\bs\d\d\d)"
    rf"|(?P<first>{_NUMBER})"
    rf"(?:\s*(?:-|\u2013|\u2014|\.\.+|\bto\b|\bthrough\b|\bbis\b)\s*{_SENTENCE}(?P<last>{_NUMBER}))?",
    re.IGNORECASE,
)
_HANDLE = re.compile(r"\W*([^\W\d_]\d+)\W*")


class Run(NamedTuple):
    """Consecutive sentences, from a first number to a last."""

    first: int
    last: int


def runs(said: str, chunk: str = "") -> tuple[Run, ...]:
    """Return the sentences that are named, as runs from a first to a last, in order.

    A run has at most three sentences, of a longer range the first ones, and there are at most
    three runs. `chunk` is the handle that they are numbered in: `K3.4` names no sentence of K5.
    """
    numbers = sorted(set(islice(_numbers(said, chunk), MAX_NUMBERS_READ)))
    if len(numbers) > 1 and numbers[0] == NOWHERE:
        del numbers[0]

    found: list[Run] = []
    for number in numbers:
        first, last = found[-1] if found else (0, 0)
        if found and number == last + 1 and number - first < MAX_RUN:
            found[-1] = Run(first, number)
        else:
            found.append(Run(number, number))
    return tuple(found[:MAX_RUNS])


def _numbers(said: str, chunk: str) -> Iterator[int]:
    own = _HANDLE.fullmatch(chunk)
    is_here = True
    for named in _SAID.finditer(said):
        if handle := named["handle"]:
            is_here = own is None or handle.casefold() == own[1].casefold()
            continue
        first = _read(named["first"])
        last = _read(named["last"]) if named["last"] else first
        first, last = min(first, last), max(first, last)
        for number in range(first, min(last, first + MAX_RUN - 1) + 1):
            yield number if is_here else NOWHERE


def _read(number: str) -> int:
    return CARDINALS.get(number.casefold()) or int(number[:9])
