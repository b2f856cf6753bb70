"""The two settings that the platform wants to know when the app is imported.

AUTH_MODE says whether it asks callers for function keys, RECONCILE_SCHEDULE when its timer fires.
Reading them cannot fail: whatever is not known to bring an authentication of its own gets function
keys, and what is no schedule registers no timer; ready and the log say why.
"""

from __future__ import annotations

import os
import re

SCHEDULE = "RECONCILE_SCHEDULE"

_FIELDS = (
    ("second", range(60), ""),
    ("minute", range(60), ""),
    ("hour", range(24), ""),
    ("day", range(1, 32), ""),
    ("month", range(1, 13), "jan feb mar apr may jun jul aug sep oct nov dec"),
    ("day of the week", range(7), "sun mon tue wed thu fri sat"),
)


def schedule_problem(text: str) -> str | None:
    """Return what keeps a text from being a schedule; None for one that the platform takes.

    The platform takes a little more: five fields, which its scaling does not read, and a time span,
    which wants another plan than Flex Consumption.
    """
    longest = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    wanted = "six fields, second minute hour day month day-of-week, as in 0 0 3 * * *"
    given = text.split()
    if len(given) != len(_FIELDS):
        return f"must be {wanted}, and has {len(given)}"

    read = []
    for (name, span, names), part in zip(_FIELDS, given, strict=True):
        read.append(_values(part.lower(), span, names))
        if not read[-1]:
            about = f"the {name} is a number from {span[0]} to {span[-1]}, *, a range, a step"
            return f"must be {wanted}; {about}"

    if min(read[3]) > max(longest[month - 1] for month in read[4]):
        return "names a day that none of its months has"
    return None


def _values(text: str, span: range, names: str) -> set[int]:
    """Return the values that a field stands for; none for a text that is no field."""
    known = {written: n for n in span for written in (str(n), f"{n:02}")}
    known |= dict(zip(names.split(), span, strict=False))
    found: set[int] = set()
    for part in text.split(","):
        read = re.fullmatch(r"(?:\*|(\w+)(?:-(\w+))?)(?:/([0-9]{1,2}))?", part)
        if read is None:
            return set()

        first, last, step = read.groups()
        begin = span[0] if first is None else known.get(first, -1)
        end = span[-1] if first is None or step else begin
        end = known.get(last, -1) if last else end
        every = int(step or 1)
        if not 0 <= begin <= end or not 1 <= every <= span[-1]:
            return set()

        found.update(range(begin, end + 1, every))

    return found


def bare(text: str) -> str:
    """Return a value without what a shell, an editor or a form left around it.

    That is blanks, line ends, a byte order mark, and one pair of quotes.
    """
    around = " \t\r\n\v\f\0\xa0\ufeff\u200b\u2060"
    text = text.strip(around)
    if len(text) > 1 and text[0] == text[-1] and text[0] in {'"', "'"}:
        text = text[1:-1].strip("\r\n")
    return text


def schedule() -> str | None:
    """Return the schedule of the environment; None where none is asked for, or what is none."""
    text = bare(os.environ.get(SCHEDULE, ""))
    return None if not text or schedule_problem(text) else text


def platform_asks_for_keys() -> bool:
    """Tell whether the function itself does not tell who asks, so that the platform has to."""
    return bare(os.environ.get("AUTH_MODE", "")).lower() not in {"keys", "easyauth"}
