"""Pure: dates and times as people write them, and as milliseconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KNOWN = range(-62_135_596_800_000, 253_402_300_800_000)  # the years 1 to 9999


def milliseconds(written: str) -> int:
    """Return a date, or a time of RFC 3339, as milliseconds since 1970; ValueError for neither.

    A date is its first moment, and what names no zone is in UTC.
    """
    try:
        # A leap second is told as the one before it.
        told = datetime.fromisoformat(re.sub(r"(:\d\d):60", r"\1:59", written.strip().upper()))
    except ValueError:
        raise ValueError("must be a date or a time, as 2026-11-30T09:30:00Z") from None
    aware = told if told.tzinfo else told.replace(tzinfo=UTC)
    since = (aware - _EPOCH) // timedelta(milliseconds=1)
    if since not in _KNOWN:
        raise ValueError("must be in the years 1 to 9999, in UTC")
    return since


def moment(since: object) -> datetime | None:
    """Return milliseconds since 1970 as a time in UTC; None for what is none of these years."""
    if not isinstance(since, int) or since not in _KNOWN:
        return None
    return _EPOCH + timedelta(milliseconds=since)
