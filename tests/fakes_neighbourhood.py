"""What a follow-up learns around its likeliest chunks, over a project in memory."""

from __future__ import annotations

from collections import defaultdict

from drift.graph.writing.records import EntityRecord, RelationRecord
from drift.model.graph import Candidate, Candidates, Relationship
from tests.fakes_project import Project, rarity_of

ROOTED = 10
MAX_ENTITIES = 20
MAX_RELATIONS = 30
FEW_CHUNKS = 50
HUB_SHARE = 0.2


def with_neighbourhood(
    project: Project, chunks: tuple[Candidate, ...], chosen: list[str]
) -> Candidates:
    around = _around(project, chosen)
    return Candidates(
        chunks=chunks,
        relationships=_relationships(project, chosen, list(around)[:MAX_ENTITIES]),
    )


def _title(entity: EntityRecord) -> str:
    return entity.id if entity.title is None else entity.title


def _says_something(text: str | None) -> bool:
    return bool(text and text.strip())


def _mentioning(project: Project, chosen: list[str]) -> dict[str, list[str]]:
    """The chosen chunks by the entities that they mention."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    mentions = project.mentions()
    for k in chosen:
        for e in mentions[k]:
            found[e].append(k)
    return found


def _around(project: Project, chosen: list[str]) -> dict[str, list[str]]:
    """The entities of the best chunks with the chosen ones that mention them, the worthiest first.

    Hubs are left out.
    """
    worth = {}
    mentioning = _mentioning(project, chosen)
    for e, found in mentioning.items():
        best = sum(k in chosen[:ROOTED] for k in found)
        everywhere = sum(k in project.chunks for k in set(project.entities[e].chunk_ids))
        is_hub = len(project.chunks) > FEW_CHUNKS and everywhere > HUB_SHARE * len(project.chunks)
        if best and not is_hub:
            worth[e] = best * rarity_of(project, e)
    return {e: mentioning[e] for e in sorted(worth, key=lambda e: (-worth[e], e))}


def _relationships(
    project: Project, chosen: list[str], roots: list[str]
) -> tuple[Relationship, ...]:
    """The heaviest relation of each pair that says something; those between roots come first."""
    mentioning = _mentioning(project, chosen)
    heaviest: dict[frozenset[str], RelationRecord] = {}
    for r in sorted(project.relations, key=lambda r: (-(r.weight or 0.0), r.description or "")):
        ends = frozenset((r.source_id, r.target_id))
        if ends & set(roots) and _says_something(r.description):
            heaviest.setdefault(ends, r)

    def order(ends: frozenset[str]) -> tuple[bool, float]:
        return not ends <= set(roots), -(heaviest[ends].weight or 0.0)

    return tuple(
        Relationship(
            _title(project.entities[heaviest[ends].source_id]),
            _title(project.entities[heaviest[ends].target_id]),
            heaviest[ends].description,
            heaviest[ends].weight or 0.0,
            tuple(k for k in chosen if all(k in mentioning[e] for e in ends)),
        )
        for ends in sorted(heaviest, key=order)[:MAX_RELATIONS]
    )
