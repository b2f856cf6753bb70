"""What stands at a position that a follow-up wishes for, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from drift.graph.parameters import wished
from drift.graph.rows import anchors_of_named
from drift.model.graph import Candidate, Candidates, Chunk, FollowupQuery
from drift.search.ranking import SHORT_HIT
from tests.fakes_project import Project

MOST_PINNED = 2
MOST_FOLLOWED = 10
MOST_OF_NAMED = 30
OUTERMOST = 60


def pinned(
    project: Project, query: FollowupQuery, found: Candidates, allowed: set[str]
) -> tuple[Chunk, ...]:
    """The chunks wished for, of each wish the nearest first."""
    wishes = wished(query, found)
    return tuple(
        project.chunk(k, 0.0) for wish in wishes for k in _at(project, wish) if k in allowed
    )


def following(project: Project, anchor: str, allowed: set[str]) -> Chunk | None:
    """What stands behind a short chunk in its document."""
    home = project.document_id(anchor)
    record = project.chunks[anchor]
    if (
        not home
        or len(record.text or "") >= SHORT_HIT
        or type(record.ordinal) is not int
        or record.ordinal < 0
    ):
        return None
    own = sorted(k for d, k in project.held if d == home and k in allowed)
    next_ = record.ordinal + 1
    return next((project.chunk(k, 0.0) for k in own if project.chunks[k].ordinal == next_), None)


def named(
    project: Project, query: FollowupQuery, found: Candidates, allowed: set[str]
) -> list[Candidate]:
    """The nearest chunks of the documents that the question names."""
    homes = {project.document_id(anchor) for anchor in anchors_of_named(query, found)}
    inside = {k for d, k in project.held if d in homes and k in allowed}
    near = project.nearest(query.vector, inside)[:MOST_OF_NAMED]
    return [Candidate(project.chunk(k, 0.0), cosine, in_scope=True) for k, cosine in near]


def _at(project: Project, wish: dict[str, object]) -> Sequence[str]:
    anchor = str(wish["ids"][0])  # type: ignore[index]
    home = project.document_id(anchor) if anchor in project.chunks else None
    if not home:
        return []
    ordinals = {k: project.chunks[k].ordinal for d, k in project.held if d == home}
    placed = sorted((n, k) for k, n in ordinals.items() if type(n) is int)
    if wish["direction"] in {"before", "end"}:
        placed.reverse()
    ordered = [k for _, k in placed]
    if wish["direction"] in {"before", "after"}:
        ordered = ordered[ordered.index(anchor) + 1 :] if anchor in ordered else []

    texts = [project.chunks[k].text or "" for k in ordered[:OUTERMOST]]
    marked = [n for n, text in enumerate(texts) if any(mark in text for mark in wish["marks"])]  # type: ignore[attr-defined]
    first = max(marked, default=0)
    return ordered[first : first + MOST_PINNED]
