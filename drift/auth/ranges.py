"""Pure: the ids that a caller may read, as ranges in the order of ids, as an index is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from drift.auth.caller import EVERY, Caller

_LAST = "\U0010ffff"  # no id begins with the last code point


@dataclass(frozen=True, slots=True, order=True)
class IdRange:
    """The ids from `first` on that stand before `end`, by code point."""

    first: str
    end: str

    @property
    def only(self) -> str | None:
        """The one id of the range, None where it has room for more."""
        return self.first if self.end == next_id(self.first) else None


def next_id(project_id: str) -> str:
    """Return the id that stands next behind another one."""
    return f"{project_id}\x00"


def readable_ranges(caller: Caller, first: str = "") -> tuple[IdRange, ...]:
    """Return the ranges that the caller may read, in order and apart, from the id `first` on."""
    found = []
    for grant in caller.grants:
        if "read" not in grant.rights:
            continue
        beginning = grant.pattern.removesuffix(EVERY)
        end = next_id(beginning) if grant.is_one_project else _behind(beginning)
        found.append(IdRange(beginning, end))

    return tuple(
        IdRange(max(one.first, first), one.end) for one in _merged(sorted(found)) if one.end > first
    )


def _behind(beginning: str) -> str:
    kept = beginning.rstrip(_LAST)
    if not kept:
        return _LAST
    # Surrogates stand in no text.
    higher = "\ue000" if kept[-1] == "\ud7ff" else chr(ord(kept[-1]) + 1)
    return kept[:-1] + higher


def _merged(ranges: Iterable[IdRange]) -> list[IdRange]:
    merged: list[IdRange] = []
    for one in ranges:
        if merged and one.first < merged[-1].end:
            merged[-1] = IdRange(merged[-1].first, max(merged[-1].end, one.end))
        else:
            merged.append(one)

    return merged
