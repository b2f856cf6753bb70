"""Pure: candidates for entities in one sentence: identifiers, marked terms, known phrases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from drift.offline.indexing.prose import singular
from drift.words import PROSE_STOP_WORDS

MAX_TERM_WORDS = 5

_MARKED = re.compile(r"``([^`]{1,60})``|`([^`]{1,60})`|\"([^\"]{1,60})\"|“([^”]{1,60})”")
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,2}([A-Za-z][\w -]{2,40}\w)\*{1,2}(?![\w*])")
_BARE_CODE = re.compile(
    r"(?<![\w.])(?:[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+|__\w+__|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}[A-Z]?)(?!\w)"
)
_CAPITALS = re.compile(
    r"(?<![\w.\"`'*])(?:[A-Z][a-z0-9]+|[A-Z]{2,}\d*)(?:[ "
    r"-](?:[A-Z][a-z0-9]+|[A-Z]{2,}\d*|\d{1,4}))*(?!\w)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*(?:\([^()]*\))?")
_PHRASE = re.compile(r"[A-Za-z]\w*(?:-\w+)*(?: [A-Za-z]\w*(?:-\w+)*){1,4}")
_DUNDER = re.compile(r"(?<!\w)__\w+?__(?!\w)")
_MARKS = re.compile(r"[\"“”`*]")
_KEYWORD_OF = re.compile(
    r"[\"“`]{1,2}(\w+)[\"”`]{1,2} (statement|clause|keyword|operator|expression)s?\b"
)
_WORD = re.compile(r"[A-Za-z]\w*(?:-\w+)*")
_SHORTEST_WORD = 3
_SHORTEST_EMPHASIS = 5
_NO_NOUN = ("ed", "ly", "al", "ous", "ful", "ive")
_ENDS_A_SENTENCE = ".!?:("


class Term(NamedTuple):
    """A candidate: its `key`, how it stood in the text, and whether to look for it elsewhere.

    Candidates with the same key are the same entity. A key to look for is found in plain words too.
    """

    key: str
    surface: str
    plain: bool = False


def candidates(sentence: str) -> Iterator[Term]:
    """Yield what looks like a name in a sentence."""
    for match in _KEYWORD_OF.finditer(sentence):
        yield Term(f"{match[1].lower()} {match[2]}", f"{match[1]} {match[2]}", plain=True)
    for match in _MARKED.finditer(sentence):
        yield from _marked(next(group for group in match.groups() if group is not None))
    for match in _EMPHASIS.finditer(sentence):
        if " " in match[1] or (
            len(match[1]) >= _SHORTEST_EMPHASIS and not match[1].endswith(_NO_NOUN)
        ):
            yield from _phrase(match[1])
    for match in _BARE_CODE.finditer(sentence):
        if match[0].rsplit(".", 1)[-1].lower() not in PROSE_STOP_WORDS:
            yield code_term(match[0])
    for match in _CAPITALS.finditer(sentence):
        yield from _capitalised(match, sentence)


def code_term(name: str) -> Term:
    """Return one entity for all ways to write an identifier.

    `__exit__`, `__exit__()` and `object.__exit__(self)` are one.
    """
    if dunder := _DUNDER.search(name):
        return Term(dunder[0], f"{dunder[0]}()" if name.endswith(")") else dunder[0])
    bare = name.split("(", 1)[0].strip(".")
    return Term(bare, f"{bare}()" if name.endswith(")") else bare)


def phrase_term(phrase: str) -> Term | None:
    """Return a phrase as a term, without stop words at its ends; None when nothing is left.

    The key is in lower case and singular.
    """
    found = phrase.split()
    while found and found[0].lower() in PROSE_STOP_WORDS:
        found = found[1:]
    while found and found[-1].lower() in PROSE_STOP_WORDS:
        found = found[:-1]
    key = " ".join([*found[:-1], singular(found[-1])]).lower() if found else ""
    fits = len(key) >= _SHORTEST_WORD and key.count(" ") < MAX_TERM_WORDS
    return Term(key, " ".join(found), plain=True) if fits else None


def known_phrases(sentence: str, vocabulary: Collection[str]) -> Iterator[Term]:
    """Yield the phrases of the vocabulary in a sentence, the longest at each place."""
    found = [(match[0], match.start(), match.end()) for match in _WORD.finditer(sentence)]
    lowered = [word.lower() for word, _, _ in found]
    at = 0
    while at < len(found):
        for length in range(min(MAX_TERM_WORDS, len(found) - at), 0, -1):
            last = at + length - 1
            key = " ".join([*lowered[at:last], singular(lowered[last])])
            if key in vocabulary and found[last][2] - found[at][1] <= len(key) + length:
                yield Term(key, _MARKS.sub("", sentence[found[at][1] : found[last][2]]))
                at = last
                break
        at += 1


def _marked(inner: str) -> Iterator[Term]:
    """Read what stands in quotes or backticks."""
    if _IDENTIFIER.fullmatch(inner):
        term = code_term(inner)
        if len(term.key) >= _SHORTEST_WORD and term.key.lower() not in PROSE_STOP_WORDS:
            yield term
    elif _PHRASE.fullmatch(inner):
        yield from _phrase(inner)


def _phrase(phrase: str) -> Iterator[Term]:
    if term := phrase_term(phrase):
        yield term


def _capitalised(match: re.Match[str], sentence: str) -> Iterator[Term]:
    """Read a run of capitalised words; one capital at the beginning of a sentence says nothing.

    A single name keeps its capital in its key: Mercury is not mercury.
    """
    found = match[0].split()
    before = sentence[: match.start()].rstrip()
    if found[0].lower() in PROSE_STOP_WORDS:
        found = found[1:]
    elif (
        (not before or before[-1] in _ENDS_A_SENTENCE)
        and len(found) == 1
        and not found[0].isupper()
    ):
        return
    if len(found) > 1:
        yield from _phrase(" ".join(found))
    elif found and len(found[0]) >= _SHORTEST_WORD:
        yield Term(found[0], found[0])
