"""Pure: the knowledge of a project, derived from its chunks as one batch."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from drift.local.ingest.communities import Group, find_communities
from drift.local.ingest.entities import FoundEntity, read_chunks
from drift.local.ingest.graph_records import (
    ChunkRecord,
    CommunityRecord,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)
from drift.local.ingest.relations import relate
from drift.local.ingest.summaries import Summary, summarise

KNOWLEDGE_VERSION = "6"
"""Part of the fingerprint: a change of the rules makes the next run derive everything anew."""

_NAMESPACE = uuid.UUID("6f6f0a3e-0d3f-5d0e-9a55-1f1c5c0f7d11")


def stable_id(*parts: str) -> str:
    """Return the same UUID for the same parts, on every machine."""
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(parts)))


def fingerprint(documents: Mapping[str, str], embedding: str) -> str:
    """Return a hash that changes with the documents (content hash by id) or the embeddings."""
    lines = [f"{name}\x1f{content_hash}" for name, content_hash in sorted(documents.items())]
    return hashlib.sha256("\x1e".join([KNOWLEDGE_VERSION, embedding, *lines]).encode()).hexdigest()


def derive(project_id: str, chunks: Sequence[ChunkRecord], stamp: str) -> KnowledgeBatch:
    """Return the knowledge of a project, without embeddings: the same for the same chunks."""
    readings, entities = read_chunks(chunks)
    relations = relate(readings, entities)
    groups = find_communities(readings, entities, relations)
    summaries = summarise(groups, readings, entities)

    ids = {entity.key: stable_id(project_id, "entity", entity.key) for entity in entities}
    chunk_ids = [chunk.id for chunk in chunks]
    communities = [
        community_record(group, summary, ids, chunk_ids)
        for group, summary in zip(groups, summaries, strict=True)
    ]

    return KnowledgeBatch(
        tuple(_entity(entity, ids, chunks) for entity in entities),
        tuple(
            RelationRecord(ids[r.source], ids[r.target], r.description, r.weight) for r in relations
        ),
        _named_by_members(communities),
        stamp,
    )


def _entity(
    entity: FoundEntity, ids: Mapping[str, str], chunks: Sequence[ChunkRecord]
) -> EntityRecord:
    places = sorted(entity.chunks)
    return EntityRecord(
        ids[entity.key],
        entity.title,
        entity.description,
        tuple(chunks[place].id for place in places),
    )


def _named_by_members(communities: Sequence[CommunityRecord]) -> tuple[CommunityRecord, ...]:
    """Return the communities in their order, numbered by what is below them.

    A question that began before the knowledge was derived anew may name a community afterwards.
    Its number then means the same members, or none; a running number would mean other members.
    """
    digests: dict[int, str] = {}
    names: dict[int, int] = {}
    taken: set[int] = set()
    children: dict[int | None, list[str]] = {}
    for community in reversed(communities):
        members = (*sorted(community.entity_ids), "", *sorted(community.chunk_ids), "")
        below = sorted(children.get(community.community, ()))
        digest = hashlib.sha256(
            "\x1e".join((str(community.level), *members, *below)).encode()
        ).hexdigest()
        children.setdefault(community.parent, []).append(digest)
        digests[community.community] = digest

    for community in communities:
        name = int(digests[community.community][:12], 16)
        while name in taken:
            name += 1
        taken.add(name)
        names[community.community] = name

    return tuple(
        replace(
            c, community=names[c.community], parent=None if c.parent is None else names[c.parent]
        )
        for c in communities
    )


def community_record(
    group: Group, summary: Summary, ids: Mapping[str, str], chunk_ids: Sequence[str]
) -> CommunityRecord:
    """Return a community as it is stored.

    `ids` are entity ids by key, `chunk_ids` those of the chunks by place.
    """
    return CommunityRecord(
        group.id,
        group.level,
        group.parent,
        summary.title,
        summary.text,
        tuple(ids[key] for key in group.entities),
        tuple(chunk_ids[place] for place in group.chunks),
    )
