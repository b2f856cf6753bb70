"""Pure: how sure a reference is, of signals that are each known or not (docs/references.md)."""

from __future__ import annotations

from collections.abc import Sequence

from drift.contracts.answer import SignalsOut
from drift.model.found_nodes import ScoreThreshold

ENOUGH = 0.7  # under it a signal is low, and an answer names its limits
AT_THRESHOLD = 0.9  # the similarity of a pair as near as one random pair in a hundred
HALF_LIFE_DAYS = 730
"""A document of a year stands just over ENOUGH: documents are commonly reviewed once a year."""
_DAY_MS = 24 * 60 * 60 * 1000


def confidence(signals: SignalsOut) -> float:
    """Return the mean of the known signals by their weights; 0 where none is known."""
    values = (
        (signals.similarity, 0.4),
        (signals.freshness, 0.15),
        (signals.citations, 0.15),
        (signals.model, 0.3),
    )
    known = [(value, weight) for value, weight in values if value is not None]
    whole = sum(weight for _, weight in known)
    return round(sum(value * weight for value, weight in known) / whole, 2) if whole else 0.0


def similarity(cosine: float | None, threshold: ScoreThreshold | None) -> float | None:
    """Return a raw cosine as a share of a perfect match.

    It rises in straight lines: from 0 at the cosine that nearly all random pairs of the project's
    texts reach, or at 0 where that is higher or not known, to AT_THRESHOLD at the one that one pair
    in a hundred reaches, to 1 at 1. Without a threshold it is the cosine, and 0 for a negative one.
    """
    if cosine is None:
        return None
    if threshold is None or threshold.score is None:
        return _share(cosine)

    low, high = max(0.0, threshold.floor or 0.0), threshold.score
    if cosine < high:
        return _share(AT_THRESHOLD * (cosine - low) / (high - low)) if low < high else 0.0

    above = (cosine - high) / (1 - high) if high < 1 else 1.0
    return _share(AT_THRESHOLD + (1 - AT_THRESHOLD) * above)


def freshness(updated_at: int | None, now: int) -> float | None:
    """Return 1 for a document of now, half of it after each HALF_LIFE_DAYS; times in ms."""
    # So far two clocks may differ; a document that is of a later time has no known one.
    if updated_at is None or updated_at > now + _DAY_MS:
        return None
    return _share(0.5 ** (age_days(updated_at, now) / HALF_LIFE_DAYS))


def age_days(updated_at: int, now: int) -> float:
    """Return the days since a time."""
    return max(0, now - updated_at) / _DAY_MS


def citations(witnesses: int | None) -> float | None:
    """Return how far other documents bear a passage out: 0, then each half of the rest to 1."""
    return None if witnesses is None else _share(1 - 0.5**witnesses)


def _share(number: float) -> float:
    return round(min(1.0, max(0.0, number)), 2)


ONLY_IN_PART = "The documents answer the question only in part."
NO_REFERENCE = "No passage of the documents bears an answer out."
NOTHING_THERE = "Nothing was found in this project."


def limits_of(
    references: Sequence[SignalsOut], documents: int, newest_days: float | None
) -> list[str]:
    """Return a sentence for each signal that is low over references to so many documents."""
    said = []
    near = _mean([one.similarity for one in references])
    if near is not None and near < ENOUGH:
        passages = "passage resembles" if len(references) == 1 else "passages resemble"
        said.append(f"The {passages} the question little ({near:.0%} match).")

    fresh = [one.freshness for one in references if one.freshness is not None]
    if newest_days is not None and fresh and max(fresh) < ENOUGH:
        which = "document" if documents == 1 else "newest of the documents"
        said.append(f"The {which} is {age(newest_days)} old.")

    said += _witnesses([one.citations for one in references], documents)
    sure = _mean([one.model for one in references])
    if sure is not None and sure < ENOUGH:
        said.append(f"The model itself was not sure ({sure:.0%}).")
    return said or ["The passages together are weak evidence."]


def _witnesses(values: Sequence[float | None], documents: int) -> list[str]:
    borne_out = [value for value in values if value is not None]
    if not borne_out or max(borne_out) >= ENOUGH:
        return []
    if max(borne_out) > 0:
        return ["At most one other document bears out what it says."]
    if documents == 1:
        return ["One document alone says this."]
    return ["Each passage stands alone: no other document bears it out."]


def age(days: float) -> str:
    """Return an age in words, rounded down: "13 months", from two years on "3 years"."""
    year = 365.25
    if days < 2 * year:
        return _counted(int(days / 30.44), "month")
    return _counted(int(days / year), "year")


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 2) if known else None
