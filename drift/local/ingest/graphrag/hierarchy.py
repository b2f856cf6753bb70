"""Pure: the tree of communities, from their parents alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from drift.core.errors import IngestError

MAX_LEVELS = 12
"""How many edges a search follows from a chunk up to the highest community."""


def heights_of(parents: Mapping[int, int | None], place: str) -> dict[int, int]:
    """Return how high each community stands above the lowest one below it; 0 for a leaf.

    IngestError when a parent is missing, parents lead round in a circle, or stand in more levels
    than a search follows.
    """
    lost = [(one, above) for one, above in parents.items() if above not in {None, *parents}]
    if lost:
        raise IngestError(
            f"{place}: {len(lost):,} communities have a parent that is not there, such as "
            f"{lost[0][0]} with parent {lost[0][1]}. A root has the parent -1."
        )

    waiting = Counter(above for above in parents.values() if above is not None)
    heights = dict.fromkeys(parents, 0)
    ready = [one for one in parents if not waiting[one]]
    for one in ready:
        above = parents[one]
        if above is None:
            continue
        heights[above] = max(heights[above], heights[one] + 1)
        waiting[above] -= 1
        if not waiting[above]:
            ready.append(above)

    if len(ready) < len(parents):
        round_ = next(one for one in parents if waiting[one])
        raise IngestError(
            f"{place}: the parents of community {round_} lead round in a circle, so that no "
            f"community is the highest."
        )
    highest = max(heights, key=heights.__getitem__, default=None)
    if highest is not None and heights[highest] >= MAX_LEVELS:
        raise IngestError(
            f"{place}: below community {highest} stand {heights[highest]:,} levels of others, and "
            f"a search follows at most {MAX_LEVELS - 1}: index with larger communities."
        )
    return heights


def own_members(
    parents: Mapping[int, int | None],
    heights: Mapping[int, int],
    members: Mapping[int, Sequence[str]],
) -> dict[int, tuple[str, ...]]:
    """Return the members of each community that are in none below it, each once."""
    below: defaultdict[int, set[str]] = defaultdict(set)
    own: dict[int, tuple[str, ...]] = {}
    for one in sorted(parents, key=lambda one: heights[one]):
        every = dict.fromkeys(members.get(one, ()))
        own[one] = tuple(member for member in every if member not in below[one])
        above = parents[one]
        if above is not None:
            below[above] |= below[one] | every.keys()
        below.pop(one, None)
    return own
