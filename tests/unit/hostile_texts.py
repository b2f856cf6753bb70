"""Texts on which a regular expression may take too long, made of what the expression itself says.

Such a text begins as the pattern does, goes on with a piece that the pattern repeats or that stands
anywhere in it, a thousand times, and ends with what does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from re import _constants as sre  # type: ignore[attr-defined]  # isort: skip
from re import _compiler, _parser  # type: ignore[attr-defined]  # isort: skip

ANYWHERE = " \n\ta1-_.,:\"'([<`*|#!\u4e2d"
"""Single signs that are pieces of every text."""
ENDS = ("", "\x00", "x")
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_NOT_DIGIT: "a -",
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_NOT_SPACE: "a-",
    sre.CATEGORY_WORD: "a1",
    sre.CATEGORY_NOT_WORD: " -.",
}
_REPEATS = {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}
_MANY = 10
"""A repetition of fewer does not grow with the text."""
_MOST = 30
"""Beginnings, and pieces, of one pattern that are tried."""


def hostile_texts(pattern: re.Pattern[str]) -> Iterator[Callable[[int], str]]:
    """Yield texts, each as a function of about how many characters it has."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    begins = list(dict.fromkeys(["", *_begins(tree, ""), _example(tree)]))[:_MOST]
    own = list(dict.fromkeys(filter(None, _pieces(tree))))[:_MOST]
    again = {("", begin + piece) for begin in begins[1:] for piece in ("", *own)}
    for begin, piece in {*product(begins, [*own, *ANYWHERE]), *again}:
        for end in ENDS:
            yield lambda size, b=begin, p=piece, e=end: b + p * (size // len(p)) + e  # type: ignore[misc]


def _begins(items: Any, before: str) -> Iterator[str]:
    """Yield what the pattern may have read before each of its repetitions."""
    for item in items:
        kind, about = item
        if kind in _REPEATS:
            yield before
            yield from _begins(about[2], before)
        elif kind is sre.SUBPATTERN:
            yield from _begins(about[3], before)
        elif kind is sre.ATOMIC_GROUP:
            yield from _begins(about, before)
        elif kind is sre.BRANCH:
            for branch in about[1]:
                yield from _begins(branch, before)
        before += _example([item])


def _pieces(items: Any) -> Iterator[str]:
    """Yield what each repetition repeats, in several forms, and each run of literal signs."""
    for kind, about in items:
        if kind in _REPEATS:
            if about[1] > _MANY:
                yield from _forms(about[2])
            yield from _pieces(about[2])
        elif kind is sre.SUBPATTERN:
            yield from _pieces(about[3])
        elif kind is sre.ATOMIC_GROUP:
            yield from _pieces(about)
        elif kind is sre.BRANCH:
            for branch in about[1]:
                yield from _pieces(branch)
        elif kind in {sre.ASSERT, sre.ASSERT_NOT}:
            yield from _pieces(about[1])
        elif kind in {sre.LITERAL, sre.IN}:
            yield from _signs(kind, about)


def _forms(items: Any) -> list[str]:
    """Return examples of what items match: of each choice of the first that has any."""
    found = [_example(items)]
    for at, (kind, about) in enumerate(items):
        rest = _example(list(items)[:at]), _example(list(items)[at + 1 :])
        if kind in {sre.IN, sre.NOT_LITERAL, sre.ANY}:
            found += [rest[0] + sign + rest[1] for sign in _signs(kind, about)]
        elif kind is sre.BRANCH:
            found += [rest[0] + form + rest[1] for one in about[1] for form in _forms(one)]
        elif kind in {sre.SUBPATTERN, sre.ATOMIC_GROUP}:
            inner = about[3] if kind is sre.SUBPATTERN else about
            found += [rest[0] + form + rest[1] for form in _forms(inner)]
        elif kind in _REPEATS:
            found += [rest[0] + form + rest[1] for form in _forms(about[2])]
            found.append(rest[0] + rest[1])
    return found


def _signs(kind: Any, about: Any) -> list[str]:
    """Return signs that one place takes; of a range its first."""
    if kind is sre.LITERAL:
        return [chr(about)]
    if kind in {sre.NOT_LITERAL, sre.ANY}:
        return [sign for sign in "a -" if sign != chr(about or 0)]
    found = list[str]()
    for inner, value in about:
        if inner is sre.NEGATE:
            return [sign for sign in "a1 -.\n\u4e2d" if not _is_in(sign, about[1:])] or ["\x01"]
        if inner is sre.CATEGORY:
            found += _CATEGORIES[value]
        else:
            found.append(chr(value if inner is sre.LITERAL else value[0]))
    return found


def _is_in(sign: str, items: Any) -> bool:
    state = _parser.State()
    state.str = ""
    tree = _parser.SubPattern(state, [(sre.IN, items)])
    return bool(_compiler.compile(tree).fullmatch(sign))


def _example(items: Any) -> str:
    """Return a short text that items match, as far as they say so one by one."""
    said = list[str]()
    for kind, about in items:
        if kind in {sre.LITERAL, sre.IN, sre.NOT_LITERAL, sre.ANY}:
            said.append(_signs(kind, about)[0])
        elif kind in _REPEATS:
            said.append(_example(about[2]) * max(about[0], 1 if about[1] > _MANY else 0))
        elif kind is sre.SUBPATTERN:
            said.append(_example(about[3]))
        elif kind is sre.ATOMIC_GROUP:
            said.append(_example(about))
        elif kind is sre.BRANCH:
            said.append(_example(about[1][0]))
    return "".join(said)
