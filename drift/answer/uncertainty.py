"""Pure: what limits an answer whose references are not sure enough, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drift.answer.signals import ENOUGH
from drift.contracts.answer import SignalsOut

_MONTH_DAYS = 30.44
_YEAR_DAYS = 365.25
_MONTHS_UP_TO_DAYS = 2 * _YEAR_DAYS

ONLY_IN_PART = "The documents answer the question only in part."
NO_REFERENCE = "No passage of the documents bears an answer out."
NOTHING_THERE = "Nothing was found in this project."


def limits_of(
    references: Sequence[SignalsOut], documents: int, newest_days: float | None
) -> list[str]:
    """Return a sentence for each signal that is low over all references.

    `documents` is how many they are from, and `newest_days` the age of the newest of these.
    """
    said = [*_similarity(references), *_age(references, documents, newest_days)]
    said += [*_witnesses(references, documents), *_model(references)]
    return said or ["The passages together are weak evidence."]


def _similarity(references: Sequence[SignalsOut]) -> Iterator[str]:
    near = _mean([one.similarity for one in references])
    if near is not None and near < ENOUGH:
        passages = "passage resembles" if len(references) == 1 else "passages resemble"
        yield f"The {passages} the question little ({near:.0%} match)."


def _age(references: Sequence[SignalsOut], documents: int, days: float | None) -> Iterator[str]:
    fresh = [one.freshness for one in references if one.freshness is not None]
    if days is not None and fresh and max(fresh) < ENOUGH:
        which = "document" if documents == 1 else "newest of the documents"
        yield f"The {which} is {age(days)} old."


def _witnesses(references: Sequence[SignalsOut], documents: int) -> Iterator[str]:
    borne_out = [one.citations for one in references if one.citations is not None]
    if not borne_out or max(borne_out) >= ENOUGH:
        return
    if max(borne_out) > 0:
        yield "At most one other document bears out what it says."
    elif documents == 1:
        yield "One document alone says this."
    else:
        yield "Each passage stands alone: no other document bears it out."


def _model(references: Sequence[SignalsOut]) -> Iterator[str]:
    sure = _mean([one.model for one in references])
    if sure is not None and sure < ENOUGH:
        yield f"The model itself was not sure ({sure:.0%})."


def age(days: float) -> str:
    """Return an age in words, rounded down: "13 months", from two years on "3 years"."""
    if days < _MONTHS_UP_TO_DAYS:
        return _counted(int(days / _MONTH_DAYS), "month")
    return _counted(int(days / _YEAR_DAYS), "year")


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 2) if known else None
