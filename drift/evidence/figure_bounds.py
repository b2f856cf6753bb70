"""Pure: words beside a number that make it a bound, an estimate, or one that is denied."""

from __future__ import annotations

import re

_BOUNDS = {
    bound: re.compile(rf"(?:\b(?:{words})\s(?:the\s|a\s|of\s)?|{east})$", re.IGNORECASE)
    for bound, east, words in (
        (
            ">",
            "至少|超过|超過",
            (
                r"(?:no|not) less than|not under|more than|over|above|exceed\w*|at least|minimum"
                r"|from|since|mindestens|mehr als|über|ab|plus de|au moins|más de|al menos"
            ),
        ),
        (
            "<",
            "最多|不到|最大",
            (
                r"(?:no|not) more than|not over|less than|fewer than|under|below|up to|at most"
                r"|maximum|within|bis(?: zu)?|höchstens|unter|weniger als|moins de|jusqu'à"
                r"|menos de|hasta"
            ),
        ),
        (
            "~",
            "約|约|大约|ほぼ",
            (
                r"about|around|approx\.?|approximately|roughly|nearly|almost|some|circa|ca\.?|c\."
                r"|etwa|rund|fast|knapp|ungefähr|envir[o]n|presque|unos|unas|casi"
            ),
        ),
    )
}
_BEHIND = re.compile(
    r"\s?(?:(?P<more>\+|or (?:more|later|newer|above|older|over)|and (?:more|above|over)|以上"
    r"|oder mehr)|or (?:less|fewer|younger|under)|以下|以内|未満|oder weniger)"
)


def bound_of(text: str, before: str, end: int) -> str:
    """Return `<`, `>` or `~` by the words before a number and those behind its end; else ""."""
    if behind := _BEHIND.match(text, end):
        return ">" if behind["more"] else "<"
    return next((bound for bound, words in _BOUNDS.items() if words.search(before)), "")


def is_negated(before: str) -> bool:
    """Tell whether the words before a number deny it."""
    found = re.search(
        r"(?:\b(?:not|no longer|never|nicht(?: mehr)?|kein\w*|statt|instead of|rather than|no"
        r"|nunca|pas|plus)|n't)\s(?:[^\W\d]+\s){0,3}$|(?:不是|不再是?)$",
        before,
        re.IGNORECASE,
    )
    return found is not None
