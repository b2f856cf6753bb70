"""Pure: which follow-ups of a wave are answered together, because they found the same chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, zip_longest

from drift.model.graph import Chunk, Evidence
from drift.model.tree import Node, Question


@dataclass(frozen=True, slots=True)
class Wave:
    """Questions that became ready together, with the answers and chunks before them.

    Answers of siblings meanwhile do not count: the faster of two must not steer the search.
    """

    questions: tuple[Question, ...]
    settled: tuple[Node, ...]
    read_before: frozenset[str]


@dataclass(frozen=True, slots=True)
class Found:
    """The evidence of a follow-up.

    `chunks` are those to read now, best first, `further` those to read when they do not answer, and
    `seen` the ids of those that were read already.
    """

    question: Question
    evidence: Evidence
    chunks: tuple[Chunk, ...]
    further: tuple[Chunk, ...] = ()
    seen: tuple[str, ...] = ()


Group = tuple[Found, ...]


def together(
    found: Iterable[Found], most: int, fits: Callable[[Sequence[Chunk]], bool]
) -> list[Group]:
    """Return the follow-ups in groups of at most `most`, each of which one call answers.

    Those that share most are joined first, as long as all of their chunks fit into one prompt.
    """
    groups: list[Group] = [(one,) for one in found]
    while best := _closest(groups, most, fits):
        joined = groups[best[0]] + groups[best[1]]
        groups = [group for place, group in enumerate(groups) if place not in best]
        groups.append(joined)
    return groups


def in_turns(group: Group) -> tuple[Chunk, ...]:
    """Return the chunks of a group, each once: the best of each follow-up, then the second best."""
    turns = chain.from_iterable(zip_longest(*(one.chunks for one in group)))
    return tuple({chunk.id: chunk for chunk in turns if chunk}.values())


def _closest(
    groups: Sequence[Group], most: int, fits: Callable[[Sequence[Chunk]], bool]
) -> tuple[int, int] | None:
    """Return the places of the two groups that share most and may be joined; None without any."""
    best, best_share = None, 0.0
    for one, other in combinations(range(len(groups)), 2):
        joined = groups[one] + groups[other]
        share = _share(_ids(groups[one]), _ids(groups[other]))
        # Groups that are joined have a third of the smaller one's chunks in common.
        is_better = share >= 1 / 3 and share > best_share
        if is_better and len(joined) <= most and fits(in_turns(joined)):
            best, best_share = (one, other), share

    return best


def _ids(group: Group) -> set[str]:
    return {chunk.id for chunk in in_turns(group)}


def _share(ids: set[str], others: set[str]) -> float:
    return len(ids & others) / (min(len(ids), len(others)) or 1)
