"""What was read of a graph, in the shapes that callers get."""

from __future__ import annotations

from drift.contracts import reading as out
from drift.model import reading


def project(found: reading.ProjectOverview) -> out.ProjectOut:
    """Return a project, counted."""
    return out.ProjectOut(
        id=found.id,
        documents=found.documents,
        chunks=found.chunks,
        entities=found.entities,
        communities=found.communities,
        embedding_models=list(found.embedding_models),
        written_at=found.written_at,
    )


def document(found: reading.DocumentRow) -> out.DocumentOut:
    """Return a document of a list."""
    return out.DocumentOut(
        id=found.id,
        name=found.name,
        source_uri=found.source_uri or None,
        chunk_count=found.chunks,
    )


def document_read(found: reading.DocumentRead, following: str | None) -> out.DocumentRead:
    """Return a document with its chunks; `following` is the cursor of more of them."""
    return out.DocumentRead(
        **document(found.document).model_dump(),
        chunks=[_item(row) for row in found.chunks.rows],
        next=following,
    )


def community(found: reading.CommunityRow) -> out.CommunityOut:
    """Return a community of a list."""
    return out.CommunityOut(
        id=found.id,
        level=found.level,
        title=found.title,
        summary=found.summary,
        members=found.members,
        parents=list(found.parents),
    )


def chunk_read(found: reading.ChunkRead) -> out.ChunkRead:
    """Return a chunk with what is around it."""
    home = None
    if found.document_id is not None:
        home = out.DocumentName(id=found.document_id, name=found.document_name)
    return out.ChunkRead(
        **_item(found.chunk).model_dump(),
        text=found.text,
        document=home,
        before=_neighbour(found.before),
        after=_neighbour(found.after),
        entities=[_mentioned(row) for row in found.entities],
        communities=_communities_around(found),
        more_entities=found.has_more_entities,
    )


def entity_read(found: reading.EntityRead) -> out.EntityRead:
    """Return an entity with what is around it."""
    return out.EntityRead(
        id=found.id,
        title=found.title,
        description=found.description,
        relations=[_relation(row) for row in found.relations],
        chunks=[_mention(row) for row in found.chunks],
        more_relations=found.has_more_relations,
        more_chunks=found.has_more_chunks,
    )


def _item(row: reading.ChunkRow) -> out.ChunkItem:
    place = f"{row.place} of {row.places}" if row.place and row.places else None
    return out.ChunkItem(id=row.id, heading=row.heading or None, place=place)


def _neighbour(found: reading.Neighbour | None) -> out.ChunkText | None:
    if found is None:
        return None
    return out.ChunkText(**_item(found.chunk).model_dump(), text=found.text)


def _mentioned(row: reading.EntityMentioned) -> out.EntityMentioned:
    return out.EntityMentioned(
        id=row.id, title=row.title, communities=[one.id for one in row.communities]
    )


def _communities_around(found: reading.ChunkRead) -> list[out.CommunityTold]:
    """Return each community of a chunk and its entities once: many entities share one."""
    every = [*found.communities, *(one for e in found.entities for one in e.communities)]
    told = {one.id: one for one in every}
    return [
        out.CommunityTold(id=one.id, level=one.level, title=one.title, summary=one.summary)
        for one in sorted(told.values(), key=lambda one: str(one.id))
    ]


def _relation(row: reading.RelationRead) -> out.RelationOut:
    return out.RelationOut(
        direction="out" if row.is_outgoing else "in",
        entity_id=row.entity_id,
        title=row.title,
        description=row.description,
        weight=row.weight,
    )


def _mention(row: reading.MentionRead) -> out.MentionOut:
    return out.MentionOut(
        **_item(row.chunk).model_dump(),
        document_name=row.document_name,
        beginning=row.beginning,
    )
