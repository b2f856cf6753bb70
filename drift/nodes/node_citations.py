"""Pure: citations such as `[Node 3]`: those of known nodes stay, in one form; others are removed.

An answer can be cleaned while it grows: a cleaned beginning is a prefix of the cleaned whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

NOT_ENOUGH = "I don't have enough information"
"""The answer where the nodes carry none; seed 002 has the words."""

_NUMBERS = r"#?\s{0,3}\d[^\[\]【】\n]*"
_CITATION = re.compile(
    rf"[\[【]\s{{0,3}}nodes?\s{{0,3}}(?P<numbers>{_NUMBERS}|[xn]\s{{0,3}}|)[\]】]", re.IGNORECASE
)
_BEGUN = re.compile(
    rf"[\[【]\s{{0,3}}(?:no?|nod|nodes?\s{{0,3}}(?:#\s{{0,3}}|{_NUMBERS}|[xn]\s{{0,3}})?)?\Z",
    re.IGNORECASE,
)


def cleaned(text: str, shown: int) -> str:
    """Return an answer in which every citation is whole and names a node of 1 to `shown`."""
    whole = _without_a_begun_one(text)
    pieces: list[str] = []
    at = 0
    for found in _CITATION.finditer(whole):
        known = dict.fromkeys(n for n in _named(found["numbers"]) if 1 <= n <= shown)
        before = whole[at : found.start()]
        marks = " ".join(f"[Node {number}]" for number in known)
        pieces += [before, marks] if marks else [_without_a_begun_one(before).rstrip(" \t")]
        at = found.end()

    return "".join((*pieces, whole[at:])).strip()


def cited(text: str) -> frozenset[int]:
    """Return the numbers of the nodes that a cleaned answer cites."""
    return frozenset(
        number for found in _CITATION.finditer(text) for number in _named(found["numbers"])
    )


def _without_a_begun_one(text: str) -> str:
    """Return a text without an unfinished citation, or a bracket that may begin one, at its end."""
    while (at := max(text.rfind(sign) for sign in "[【")) >= 0 and _BEGUN.match(text, at):
        text = text[:at]
    return text


def _named(numbers: str) -> Iterator[int]:
    """Yield the numbers of a citation: `1, 2`, `1 and Node 2`, `1-3`; behind other words none."""
    longest_number, longest_range = 4, 20
    between = {",", ";", "&", "#", "and", "node", "nodes"}
    before: int | None = None
    is_range = False
    for part in re.findall(r"\d+|[^\W\d_]+|[^\w\s]", numbers.lower()):
        if part.isdecimal():
            number = int(part) if len(part) <= longest_number else 0
            if is_range and before is not None and 0 < number - before <= longest_range:
                yield from range(before + 1, number)
            yield number
            before, is_range = number, False
        elif part in {"-", "–", "—", "to"}:
            is_range = True
        elif part not in between:
            return
