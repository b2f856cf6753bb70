"""What stands at a place that is asked about, in memory."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from drift.evidence.numbered_parts import line_of
from drift.evidence.position import EDGE_MARKS, Place, asked_place, at_place
from drift.model.graph import Beside, FollowupQuery, Placed
from tests.fakes_project import Project

MOST_HOMES = 2
MOST_BESIDE = 2
MOST_EVENTS = 3
ROOTED = 10
OUTERMOST = 60

Why = Literal["beside", "part", "event"]


def placed(
    project: Project, query: FollowupQuery, chosen: Sequence[str], allowed: Iterable[str]
) -> tuple[Placed, ...]:
    """What stands at the place that the question asks about, and beside the chunks wished for."""
    place = asked_place(query.question)
    rows = [*_edges(project, place, chosen), *_parts(project, place)]
    rows += _next_to(project, query.beside, "beside")
    if place.side:
        events = [Beside(chunk, place.side) for chunk in chosen[:MOST_EVENTS]]
        rows += _next_to(project, events, "event")
    seen = set(allowed)
    return at_place(place, [row for row in rows if row.chunk.id in seen])


def _in_order(project: Project, document: str) -> list[str]:
    chunks = [k for d, k in project.held if d == document and k in project.chunks]
    ordered = [k for k in chunks if type(project.chunks[k].ordinal) is int]
    return sorted(ordered, key=lambda k: project.chunks[k].ordinal)


def _home(project: Project, chunk_id: str) -> str | None:
    return project.document_id(chunk_id) or None


def _edges(project: Project, place: Place, chosen: Sequence[str]) -> Iterator[Placed]:
    if place.edge is None or place.part:
        return
    votes: defaultdict[str, float] = defaultdict(float)
    for rank, chunk in enumerate(chosen[:ROOTED]):
        if home := _home(project, chunk):
            votes[home] += 1 / (1 + rank)
    sign = -1 if place.edge == "end" else 1
    for document in sorted(votes, key=lambda d: -votes[d])[:MOST_HOMES]:
        outer = _in_order(project, document)[::sign][:OUTERMOST]
        texts = [project.chunks[k].text or "" for k in outer]
        marked = [
            place_ for place_, t in enumerate(texts) if any(m in t for m in EDGE_MARKS[place.edge])
        ]
        inside = outer[max(marked, default=0) :][:MOST_BESIDE]
        for step, chunk in enumerate(inside):
            yield Placed(project.chunk(chunk, 0.0), place.edge, "", sign * step)


def _parts(project: Project, place: Place) -> Iterator[Placed]:
    if place.part is None:
        return
    line = re.compile(rf"(?is)(.*\n|.*> )?{line_of(place.parts())}.*")
    begun = [
        k
        for k, c in project.chunks.items()
        if line.fullmatch(c.text or "") or line.fullmatch(c.heading or "")
    ]
    for chunk in sorted(begun, key=lambda k: (project.chunks[k].ordinal, k)):
        yield Placed(project.chunk(chunk, 0.0), "part", chunk, 0)
        both = [Beside(chunk, "before"), Beside(chunk, "after")]
        yield from _next_to(project, both, "part")


def _next_to(project: Project, wishes: Iterable[Beside], why: Why) -> Iterator[Placed]:
    for wish in wishes:
        home = _home(project, wish.chunk_id) if wish.chunk_id in project.chunks else None
        here = project.chunks[wish.chunk_id].ordinal if home else None
        if home is None or type(here) is not int:
            continue
        sign = 1 if wish.direction == "after" else -1
        beyond = [
            k
            for k in _in_order(project, home)[::sign]
            if sign * (project.chunks[k].ordinal - here) > 0
        ]
        for step, chunk in enumerate(beyond[:MOST_BESIDE], 1):
            yield Placed(project.chunk(chunk, 0.0), why, wish.chunk_id, sign * step)
