"""Pure: dates, years, times of day and versions, as texts write them."""

from __future__ import annotations

import re

from drift.evidence.figure_text import any_of
from drift.evidence.figure_words import MONTHS

Date = tuple[int, int, int]
"""Year, month and day, 0 where that is not said."""

_MONTH = rf"(?P<month>{any_of(MONTHS)})\b\.?"
_DAY = r"(?P<day>\d\d?)"
_YEAR = r"(?P<year>(?:1\d|20|21)\d\d)"
TO = r"\s?(?:-|–|—|~|\bto\b|\band\b|\bbis\b|\bund\b|\bà\b|\bet\b|\ba\b|\by\b|から|至|到)\s?"
DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\w.]){_YEAR}([-/.])(?P<number>\d\d?)\2{_DAY}\b",
        rf"(?<![\w.])(?P<either>\d\d?)([./-])\s?(?P<other>\d\d?)\2\s?{_YEAR}\b",
        r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?P<number>\d\d?)\s?[月월](?:\s?(?P<day>\d\d?)\s?[日号號일])?",
        r"(?P<year>\d{4})\s?[年년](?!間)",
        (
            rf"(?<![\w.,]){_DAY}(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?{_MONTH}"
            rf"(?:,?\s+(?:de\s+)?{_YEAR}\b)?"
        ),
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:st|nd|rd|th)?(?!\w|[.,:]\d)(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}\b",
        rf"\b(?:in|im|en) {_MONTH}(?!\s*\d)",
        rf"(?<![\w.,:€$£¥/-]){_YEAR}{TO}(?P<until>\d{{4}}|\d\d)\b(?!\s?%)",
        rf"(?<![\w.,:€$£¥/-]){_YEAR}(?:(?P<decade>s\b|er\b)|\b)(?![.,:/'-]\d)",
    )
)


def dates_of(found: re.Match[str]) -> tuple[Date, ...]:
    """Return the dates that a match of a pattern may mean."""
    said = found.groupdict()
    year, day = int(said.get("year") or 0), int(said.get("day") or 0)
    if said.get("either"):
        one, other = int(said["either"]), int(said["other"])
        return tuple(
            (year, month, day)
            for day, month in {(one, other), (other, one)}
            if month <= 12  # noqa: PLR2004 - months of a year
        )
    if until := said.get("until"):
        last = int(until) if int(until) // 100 else year // 100 * 100 + int(until)
        return tuple((one, 0, 0) for one in range(year, min(last, year + 100) + 1))
    if said.get("decade"):
        return tuple((one, 0, 0) for one in range(year, year + 10))
    month = MONTHS[said["month"].casefold()] if said.get("month") else int(said.get("number") or 0)
    return ((year, month, day),)


TIME = re.compile(
    r"(?<![\w.:])(?P<hour>\d\d?)(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b"
    r"|(?<![\w.:])(?P<h>\d\d?):(?P<m>\d\d)(?![\w:])",
    re.IGNORECASE,
)
VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+){2,}(?!\w)|\bv\d+(?:\.\d+)*\b", re.IGNORECASE)


def minutes_of(found: re.Match[str]) -> float:
    """Return a time of day in minutes."""
    hour, minute = int(found["hour"] or found["h"]), int(found["minute"] or found["m"] or 0)
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] in "pP")
    return hour * 60 + minute
