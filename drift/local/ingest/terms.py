"""Pure: candidates for entities in one sentence: identifiers, marked terms, known phrases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from drift.core.stop_words import MONTHS_AND_DAYS, PROSE_STOP_WORDS
from drift.local.ingest.plain_words import BUTTONS, COMMON_WORDS, GENERAL_WORDS, HONORIFICS
from drift.local.ingest.prose import singular

MAX_TERM_WORDS = 6

_MARKED = re.compile(r"``([^`]{1,60})``|`([^`]{1,60})`|\"([^\"]{1,60})\"|“([^”]{1,60})”")
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,2}([A-Za-z][\w -]{2,40}\w)\*{1,2}(?![\w*])")
_BARE_CODE = re.compile(
    r"(?<![\w.])(?:[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+|__\w+__|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}[A-Z]?)(?!\w)"
)
_UPPER = "A-ZÀ-ÖØ-Þ" + "".join(
    letter
    for code in (*range(0x100, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x1F00))
    if (letter := chr(code)).isupper()
)
_NAME = rf"[{_UPPER}](?:[^\W_]|(?<=\w)[-'’](?=[^\W\d_]{{2}}|\d))*"
_INITIALS = rf"(?:[{_UPPER}]\. ?){{1,3}}(?=[{_UPPER}][^\W\d_])"
_LINKS = "of|for|and|de|del|di|da|du|la|van|von|der|bin|ibn|al|el"
_CAPITALS = re.compile(
    rf"(?<![\w.\"`'’*])(?:{_INITIALS})?{_NAME}"
    rf"(?:[ -](?:(?:{_LINKS})[ -](?:the )?)*(?:{_INITIALS})?(?:{_NAME}|(?<=of )\d+))*"
    r"(?: (?:1[89]|20)\d\d)?(?!\w)"
)
_YEAR_BEFORE = re.compile(r"\b(?:1[89]|20)\d\d ")
_YEAR_CHARS = len("1999 ")
_OF_NAMES = frozenset((*_LINKS.split("|"), "the"))
_JOINS = frozenset(("of", "for"))
_ENDS_NO_NAME = PROSE_STOP_WORDS | MONTHS_AND_DAYS
_NO_TERM = COMMON_WORDS | GENERAL_WORDS
_NO_HEADING = frozenset(
    [
        "with",
        "from",
        "to",
        "by",
        "in",
        "on",
        "at",
        "your",
        "this",
        "that",
        "what",
        "how",
        "is",
        "are",
        "was",
    ]
)
_LONGEST_PLAIN_HEADING = 3
_SHORT_NAMES = frozenset(("EU", "UK", "UN", "US"))
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*(?:\([^()]*\))?")
_PHRASE = re.compile(r"[A-Za-z]\w*(?:-\w+)*(?: [A-Za-z]\w*(?:-\w+)*){1,4}")
_DUNDER = re.compile(r"(?<!\w)__\w+?__(?!\w)")
_MARKS = re.compile(r"[\"“”`*]")
_KEYWORD_OF = re.compile(
    r"[\"“`]{1,2}(\w+)[\"”`]{1,2} (statement|clause|keyword|operator|expression)s?\b"
)
_WORD = re.compile(r"[^\W\d_]\w*(?:[-'’]\w+)*")
_SHORTEST_WORD = 3
_SHORTEST_EMPHASIS = 5
_NO_NOUN = ("ed", "ly", "al", "ous", "ful", "ive")
_ENDS_A_SENTENCE = ".!?:("


class Term(NamedTuple):
    """A candidate: its `key`, how it stood in the text, and whether to look for it elsewhere.

    Candidates with the same key are the same entity. A key to look for is found in plain words too.
    A `lone` one is nothing but a word with a capital, which may be a word like others.
    """

    key: str
    surface: str
    plain: bool = False
    lone: bool = False


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
    first, last = 0, len(found)
    while first < last and _is_stop_word(found[first]):
        first += 1

    while last > first and _is_stop_word(found[last - 1]) and found[last - 1] != "A":
        last -= 1

    found = found[first:last]
    key = " ".join([*found[:-1], singular(found[-1])]).lower() if found else ""
    fits = len(key) >= _SHORTEST_WORD and key.count(" ") < MAX_TERM_WORDS
    return Term(key, " ".join(found), plain=True) if fits else None


def heading_term(title: str) -> Term | None:
    """Return what a heading names; None for a sentence, a button or a word of any text."""
    term = phrase_term(title)
    if term is None:
        return None

    found = term.surface.split()
    if _NO_HEADING & set(map(str.lower, found)) or all(map(_is_plain, found)):
        return None
    if len(found) > _LONGEST_PLAIN_HEADING and not all(map(_may_be_named, found)):
        return None

    return None if len(found) == 1 and term.key in _NO_TERM else term


def known_phrases(sentence: str, vocabulary: Vocabulary) -> Iterator[Term]:
    """Yield the phrases of the vocabulary in a sentence, the longest at each place."""
    found = [(match[0], match.start(), match.end()) for match in _WORD.finditer(sentence)]
    lowered = [word.lower() for word, _, _ in found]
    at = 0
    while at < len(found):
        for length in range(min(vocabulary.longest(lowered[at]), len(found) - at), 0, -1):
            last = at + length - 1
            key = " ".join([*lowered[at:last], singular(lowered[last])])
            if key in vocabulary.keys and found[last][2] - found[at][1] <= len(key) + length:
                yield Term(key, _MARKS.sub("", sentence[found[at][1] : found[last][2]]))
                at = last
                break
        at += 1


class Vocabulary:
    """Keys to look for in plain words, found by their first word."""

    def __init__(self, keys: Collection[str]) -> None:
        """Take the keys."""
        self.keys = frozenset(keys)
        self._longest: dict[str, int] = {}
        for key in self.keys:
            first, words = key.split(" ", 1)[0], key.count(" ") + 1
            self._longest[first] = max(words, self._longest.get(first, 0))

    def longest(self, word: str) -> int:
        """Return how many words the longest key has that may begin with this word."""
        return max(self._longest.get(word, 0), self._longest.get(singular(word), 0))


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
    before = match.start() - 1
    while before >= 0 and sentence[before].isspace():
        before -= 1

    begins = before < 0 or sentence[before] in _ENDS_A_SENTENCE
    found = _without_ends(match[0].split())
    if begins and len(found) == 1 and " " not in match[0] and not found[0].isupper():
        return

    year = max(0, match.start() - _YEAR_CHARS)
    if len(found) > 1 and _YEAR_BEFORE.match(sentence, year, match.start()):
        yield from _phrase(f"{sentence[year : match.start()]}{' '.join(found)}")

    for name in _names(found):
        if len(name) > 1:
            yield from _phrase(" ".join(name))
        elif name[0] in _SHORT_NAMES or (
            name[0].lower() not in COMMON_WORDS and len(name[0]) >= _SHORTEST_WORD
        ):
            yield Term(name[0], name[0], lone=True)


def _names(found: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the names in a run: its parts between `and`, and all of it where it is of something.

    `Ministry of War and Peace` may be one name, `War and Peace` are two here.
    """
    parts: list[list[str]] = [[]]
    for word in found:
        if word == "and" or word in _JOINS:
            parts.append([])
        else:
            parts[-1].append(word)

    if len(parts) > 1 and _JOINS & set(found[: found.index("and") if "and" in found else None]):
        yield found

    for part in parts:
        if (name := _without_ends(part)) and not all(map(_is_plain, name)):
            yield name


def _without_ends(found: Sequence[str]) -> Sequence[str]:
    """Leave out words that no name begins or ends with."""
    first, last = 0, len(found)
    while first < last and (_is_stop_word(found[first]) or len(found[first]) == 1):
        first += 1

    while last > first + 1 and found[last - 1].lower() in _ENDS_NO_NAME and found[last - 1] != "A":
        last -= 1

    if last - first > 1 and found[first].lower().rstrip(".") in HONORIFICS:
        first += 1
    return found[first:last]


def _may_be_named(word: str) -> bool:
    return word[0].isupper() or word in _OF_NAMES


def _is_stop_word(word: str) -> bool:
    return word != "Second" and word.lower() in PROSE_STOP_WORDS


def _is_plain(word: str) -> bool:
    return word.lower() in BUTTONS or word.lower() in MONTHS_AND_DAYS or word[0].isdigit()
