"""A question in a conversation, written out without a language model: by a few plain rules.

In the place of a pronoun stands the first name of the last question that has one, else that of an
answer. A question that begins with "and" asks what the last one asked, of another year, month or
name.
"""

from __future__ import annotations

import re
from typing import Any

from drift.core.names import proper_names
from drift.local.prompt_elements import element, elements

_BEGINS = re.compile(r"^(?:and|what about|und|et|y)\b[\s,]*", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:(he|she|it|they|him|them|er|ihn|ihm)|(his|her|its|their))\b", re.IGNORECASE
)
_AT = re.compile(r"\b(?:in|on|of|im|am|for)\s+(?:the\s+)?[\w.]+", re.IGNORECASE)
_MOST_WORDS = 5
"""Of a question that asks the last one anew."""


def standalone(user: str) -> dict[str, Any]:
    """Return whether the question stands alone, or how it would."""
    question = element(user, "question").content
    said = elements(element(user, "conversation").content, "said")
    asked = [one.content for one in said if one["by"] == "user"]
    rest = _BEGINS.sub("", question)
    if asked and rest != question and len(rest.split()) <= _MOST_WORDS:
        return _told(_asked_of(asked[-1], rest))

    answers = [one.content for one in said if one["by"] != "user"]
    named = (proper_names(text) for text in (*reversed(asked), *reversed(answers)))
    names = next(filter(None, named), ())
    if names and (found := _PRONOUN.search(question)):
        name = names[0] if found[1] else f"{names[0]}'s"
        return _told(f"{question[: found.start()]}{name}{question[found.end() :]}")
    return _told("")


def _asked_of(last: str, rest: str) -> str:
    """Return the last question with another time or name in it, else with this behind it."""
    bare, other = last.rstrip(" ?.!"), rest.rstrip(" ?.!")
    places = list(_AT.finditer(bare))
    if places and _AT.fullmatch(other):
        return f"{bare[: places[-1].start()]}{other}{bare[places[-1].end() :]}?"
    names = proper_names(bare)
    if names and proper_names(other):
        return f"{bare.replace(names[-1], other)}?"
    return f"{bare} {other}?"


def _told(question: str) -> dict[str, Any]:
    return {"stands_alone": not question, "question": question}
