"""Pure: whether a sentence says something, judged by its verbs."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re

from drift.core.stop_words import FILLERS

MAX_STATEMENT_CHARS = 300
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_VERBS = frozenset(
    """
    is are was were be been am has have had do does did can could will would shall should may might
    must isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't can't couldn't won't
    became become began beat beats bore bought brought broke built came cast caught chose cost cut
    dealt drew drove fed fell felt fled flew fought found gave get gets go goes got grew held hit
    kept knew laid lay led left lent let lie lost made make meant met paid put ran read rose said
    sang sank sat saw says sent sets set shot showed shut sold spent spoke spread stood struck
    swept take taught tell thought threw told took went won wore wrote give given gives say
    contain call include produce define return use allow show hold run provide prove follow
    """.split()
)
_PAST = re.compile(r"[a-z]{2,}(?:[^e]ed|eed)$")
_THIRD_PERSON = re.compile(
    r"(?<=[\w`)\"”] )([a-z]{2,}(?:[^su'’]s|ies|es))"
    r" (?=(?:the|a|an|its|his|her|their|no|any|all|each|by|to|that|whether|how|with|as|from|on|in"
    r"|into|for|at|both|more|up|out|over)\b|[\"“`A-Z0-9_])"
)
_REFERENCE = re.compile(
    r"Google Scholar|\b(?:doi|arXiv|ISBN|ISSN|pp|Vol|Proc|Univ|Press|vol|ed|eds|ibid|Ibid|Cf)\b[.:]"
    r"|\bpp?\. ?\d|\(\d{4}\)[.,]|\|"
)


def may_state(sentence: str) -> bool:
    """Tell whether a sentence may say something: it is no reference, and has a verb.

    In a language of which no word is known, it only has words that are no names.
    """
    if len(sentence) > MAX_STATEMENT_CHARS or _REFERENCE.search(sentence):
        return False
    if _has_verb(sentence):
        return True

    found = _WORD.findall(sentence)
    small = [word for word in found if word.islower()]
    return len(small) >= len(found) / 2 and FILLERS.isdisjoint(small)


def _has_verb(text: str) -> bool:
    return any(word in _VERBS or _PAST.match(word) for word in _WORD.findall(text)) or bool(
        _THIRD_PERSON.search(text)
    )
