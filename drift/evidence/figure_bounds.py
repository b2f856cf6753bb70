"""Pure: words beside a number that make it a bound, an estimate, or one that is denied."""

from __future__ import annotations

import re

_WORDS = r"""
> (?:no|not) less than|not under|more than|over|above|exceed\w*|at least|minimum|from|since
> mindestens|mehr als|über|ab|plus de|au moins|más de|al menos
< (?:no|not) more than|not over|less than|fewer than|under|below|up to|at most|maximum|within
< bis(?: zu)?|höchstens|unter|weniger als|moins de|jusqu'à|menos de|hasta
~ about|around|approx\.?|approximately|roughly|nearly|almost|some|circa|ca\.?|c\.
~ etwa|rund|fast|knapp|ungefähr|envir[o]n|presque|unos|unas|casi
"""
_BOUNDS = {
    bound: re.compile(
        rf"(?:\b(?:{'|'.join(line[2:] for line in _WORDS.splitlines() if line[:1] == bound)})"
        rf"\s(?:the\s|a\s|of\s)?|{east})$",
        re.IGNORECASE,
    )
    for bound, east in (
        (">", "至少|超过|超過"),
        ("<", "最多|不到|最大"),
        ("~", "約|约|大约|ほぼ"),
    )
}
_BOUND_BEHIND = re.compile(
    r"\s?(?:\+|or (?:more|later|newer|above|older|over)|and (?:more|above|over)|以上|oder mehr)"
)
_BOUND_BELOW = re.compile(r"\s?(?:or (?:less|fewer|younger|under)|以下|以内|未満|oder weniger)")
_NEGATED = re.compile(
    r"(?:\b(?:not|no longer|never|nicht(?: mehr)?|kein\w*|statt|instead of|rather than|no|nunca"
    r"|pas|plus)|n't)\s(?:[^\W\d]+\s){0,3}$|(?:不是|不再是?)$",
    re.IGNORECASE,
)


def bound_of(text: str, before: str, end: int) -> str:
    """Return `<`, `>` or `~` by the words before a number and those behind its end; else ""."""
    if _BOUND_BEHIND.match(text, end):
        return ">"
    if _BOUND_BELOW.match(text, end):
        return "<"
    return next((bound for bound, words in _BOUNDS.items() if words.search(before)), "")


def is_negated(before: str) -> bool:
    """Tell whether the words before a number deny it."""
    return _NEGATED.search(before) is not None
