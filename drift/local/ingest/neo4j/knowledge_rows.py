"""A generation of knowledge as rows: what of it is new, in which order, and none of it twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from drift.core.names import normalised_title
from drift.graph.writing.records import (
    CommunityRecord,
    EntityRecord,
    KnowledgeBatch,
    ModelReply,
    RelationRecord,
)
from drift.graph.writing.rows import ROWS, ROWS_WITH_VECTORS, Row, Rows, properties, stored
from drift.local.ingest.neo4j import knowledge_statements as statements
from drift.local.ingest.stamps import Comparison, Stamps

Step = tuple[str, Rows, int]
"""A statement, its rows, and how many of them it takes at once."""


def knowledge_steps(batch: KnowledgeBatch, compared: Comparison, mean: str) -> Iterator[Step]:
    """Yield what writes a generation beside the one before: its new nodes, then their edges.

    `mean` is the property of the mean of a community's vectors.
    """
    stamps, kept = compared.new, compared.kept
    entities = {entity.id: entity for entity in batch.entities}.values()
    communities = {community.community: community for community in batch.communities}.values()
    new_entities = [one for one in entities if one.id not in kept.entities]
    new = [one for one in communities if one.community not in kept.communities]

    entity_rows = [_entity_row(one, stamps) for one in new_entities]
    yield (statements.PUT_ENTITIES, entity_rows, ROWS_WITH_VECTORS)
    rows = [_community_row(one, stamps, mean) for one in new]
    yield (statements.PUT_COMMUNITIES, rows, ROWS_WITH_VECTORS)
    yield (statements.PUT_RELATIONS, _relation_rows(batch.relations, kept), ROWS)
    yield _links(
        ("__Chunk__", "HAS_ENTITY", "__Entity__"),
        ((chunk_id, one.id) for one in entities for chunk_id in one.chunk_ids),
        targets=kept.entities,
    )
    for label in statements.DOCUMENT_EDGES:
        defined = [{"id": one.id} for one in new_entities if one.label == label]
        yield (statements.link_documents(label), defined, ROWS)
    yield _links(
        ("__Entity__", "IN_COMMUNITY", "__Community__"),
        ((id_, above.community) for above in communities for id_ in above.entity_ids),
        kept.entities,
        kept.communities,
    )
    yield _links(
        ("__Chunk__", "IN_COMMUNITY", "__Community__"),
        ((id_, above.community) for above in new for id_ in above.chunk_ids),
    )
    yield _links(
        ("__Community__", "IN_COMMUNITY", "__Community__"),
        ((below.community, below.parent) for below in communities if below.parent is not None),
        kept.communities,
        kept.communities,
    )


def retire_steps(compared: Comparison) -> Iterator[Step]:
    """Yield what marks the nodes that the generation replaces or has no more."""
    earlier, kept = compared.earlier, compared.kept
    for label, ids in (
        ("__Entity__", earlier.entities.keys() - set(kept.entities)),
        ("__Community__", earlier.communities.keys() - set(kept.communities)),
    ):
        yield (statements.retire(label), [{"id": id_} for id_ in ids], ROWS)


def _links(
    ends: tuple[str, str, str],
    pairs: Iterable[tuple[object, object]],
    sources: Collection[object] = frozenset(),
    targets: Collection[object] = frozenset(),
) -> Step:
    """Return the edges of which one end is new; chunks are never."""
    are_chunks = ends[0] == "__Chunk__"
    rows = [
        {"from": start, "to": end}
        for start, end in dict.fromkeys(pairs)
        if end not in targets or not (are_chunks or start in sources)
    ]
    return (statements.link(*ends), rows, ROWS)


def _entity_row(entity: EntityRecord, stamps: Stamps) -> Row:
    told = properties(entity, "chunk_ids", "embedding", "label")
    keys = {"title_key": normalised_title(entity.title), "stamp": stamps.entities[entity.id]}
    return {
        "properties": told | keys,
        "label": entity.label,
        "embedding": stored(entity.embedding),
    }


def _relation_rows(relations: Iterable[RelationRecord], kept: Stamps) -> Rows:
    entities = set(kept.entities)
    last = {(r.source_id, r.target_id, r.description): r for r in relations}
    return [
        {
            "from": relation.source_id,
            "to": relation.target_id,
            "properties": properties(relation, "source_id", "target_id"),
        }
        for relation in last.values()
        if not {relation.source_id, relation.target_id} <= entities
    ]


def _community_row(community: CommunityRecord, stamps: Stamps, mean: str) -> Row:
    told = properties(community, "parent", "entity_ids", "chunk_ids", "embedding", "mean")
    stamp, chunks = stamps.communities[community.community], len(community.chunk_ids)
    told |= {"stamp": stamp, "chunks": chunks, mean: stored(community.mean)}
    return {"properties": told, "embedding": stored(community.embedding)}


def reply_row(reply: ModelReply) -> Row:
    """Return the row of a model's reply."""
    return {"key": reply.key, "properties": properties(reply)}
