"""When the timer fires: NCRONTAB of six fields, and the setting that names it at import.

The platform registers functions when the app is imported, so the setting is read then, as AUTH_MODE
is. Reading it cannot fail: what is no schedule registers no timer, and ready and the log say why.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

SETTING = "RECONCILE_SCHEDULE"

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(?:\*|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:/([0-9]{1,2}))?")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()

    def values(self, text: str) -> frozenset[int] | None:
        """Return the values that a field's text stands for; None for a text that is none."""
        found: set[int] = set()
        for part in text.lower().split(","):
            read = _PART.fullmatch(part)
            if read is None:
                return None
            first, last, step = read.groups()
            begin = self.least if first is None else self._number(first)
            end = self._number(last) if last else self.most if first is None or step else begin
            every = int(step) if step else 1
            if begin is None or end is None or begin > end or not 1 <= every <= self.most:
                return None
            found.update(range(begin, end + 1, every))
        return frozenset(found)

    def _number(self, text: str) -> int | None:
        if text in self.words:
            return self.words.index(text) + self.least
        number = int(text) if text.isdecimal() else -1
        return number if self.least <= number <= self.most else None


_FIELDS = (
    _Field("second", 0, 59),
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 6, _DAYS),
)


def problem(text: str) -> str | None:
    """Return what keeps a text from being a schedule; None for one that the platform takes.

    The platform takes a little more: five fields, which its scaling does not read, and a time span,
    which wants another plan than Flex Consumption.
    """
    wanted = "six fields, second minute hour day month day-of-week, as in 0 0 3 * * *"
    given = text.split()
    if len(given) != len(_FIELDS):
        return f"must be {wanted}, and has {len(given)}"
    read = [field.values(part) for field, part in zip(_FIELDS, given, strict=True)]
    for field, values in zip(_FIELDS, read, strict=True):
        if values is None:
            span = f"{field.least} to {field.most}"
            return f"must be {wanted}; the {field.name} is a number from {span}, *, a range, a step"
    days, months = read[3] or (), read[4] or ()
    if not any(day <= _LONGEST[month - 1] for day in days for month in months):
        return "names a day that none of its months has"
    return None


def at_import() -> str | None:
    """Return the schedule of the environment; None where none is asked for, or what is none."""
    text = os.environ.get(SETTING, "").strip()
    return None if not text or problem(text) else text
