"""What is read of a graph in memory: GraphReader, held to the real one by the contract tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from drift.auth import caller as access
from drift.auth.ranges import next_id, readable_ranges
from drift.contracts.reading import (
    ChunkItem,
    ChunkRead,
    ChunkText,
    CommunityOut,
    CommunityTold,
    DocumentName,
    DocumentOut,
    EntityMentioned,
    EntityRead,
    MentionOut,
    ProjectOut,
    RelationOut,
)
from drift.core.deadline import Deadline
from drift.core.source_uri import first_shown
from drift.graph.writing.records import ChunkRecord, CommunityRecord, EntityRecord
from drift.model.reading import (
    MOST_NAMED,
    MOST_TOLD,
    AboutProject,
    Page,
    PageQuery,
    Position,
    about_id,
)
from tests.fakes_project import Project, key_order, level_of

BEGINNING = 200
MENTIONED = 50
WRITTEN_AT = "2026-01-02T03:04:05.006Z"

_Record = TypeVar("_Record")


class FakeReader:
    """GraphReader over dictionaries; `failure` is raised by every call while it is set.

    `busy` are the ids of projects that somebody holds to write them.
    """

    def __init__(
        self, projects: dict[str, Project] | None = None, busy: Collection[str] = ()
    ) -> None:
        self.held = {} if projects is None else projects
        self.busy = busy
        self.failure: Exception | None = None

    async def projects(
        self, caller: access.Caller, page: PageQuery, deadline: Deadline
    ) -> Page[str]:
        self._answer(deadline)
        first = str(page.after[0]) if page.after else ""
        ranges = readable_ranges(caller, first)
        found = [id_ for id_ in sorted(self.held) if any(r.first <= id_ < r.end for r in ranges)]
        shown = found[: page.limit]
        return Page(tuple(shown), (next_id(shown[-1]),) if len(found) > page.limit else None)

    async def overview(self, project: access.Project, deadline: Deadline) -> ProjectOut:
        written_at = WRITTEN_AT if project.id in self.held else None
        return _overview(self._of(project, deadline), project.id, written_at)

    async def version(self, project: access.Project, deadline: Deadline) -> str | None:
        self._answer(deadline)
        if project.id in self.busy or project.id not in self.held:
            return None
        return str(self.held[project.id].writes)

    async def documents(
        self, project: access.Project, page: PageQuery, deadline: Deadline
    ) -> Page[DocumentOut]:
        held = self._of(project, deadline)
        shown, last = _cut(sorted(held.documents), page, lambda id_: (id_,))
        return Page(tuple(_document(held, id_) for id_ in shown), last)

    async def communities(
        self, project: access.Project, level: int | None, page: PageQuery, deadline: Deadline
    ) -> Page[CommunityOut]:
        held = self._of(project, deadline)
        chosen = [c for c in held.communities.values() if level in (None, level_of(c))]
        shown, last = _cut(
            sorted(chosen, key=lambda c: key_order(c.community)),
            page,
            lambda c: (c.community,),
            lambda after: key_order(after[0]),
        )
        return Page(tuple(_community(held, c) for c in shown), last)

    async def document(
        self, project: access.Project, document_id: str, page: PageQuery, deadline: Deadline
    ) -> tuple[DocumentOut, Page[ChunkItem]] | None:
        held = self._of(project, deadline)
        if document_id not in held.documents:
            return None
        shown, last = _cut(_in_order(held, document_id), page, lambda ch: (ch.ordinal, ch.id))
        chunks = tuple(ChunkItem(**_where(held, ch.id)) for ch in shown)
        return _document(held, document_id), Page(chunks, last)

    async def chunk(
        self, project: access.Project, chunk_id: str, deadline: Deadline
    ) -> ChunkRead | None:
        held = self._of(project, deadline)
        if chunk_id == about_id(project.id):
            return ChunkRead.of_project(about(held, project.id))
        if chunk_id not in held.chunks:
            return None
        home = held.document_id(chunk_id) or None
        beside = _in_order(held, home) if home else []
        here = held.chunks[chunk_id].ordinal
        before = [ch for ch in beside if ch.ordinal < here][-1:]
        after = [ch for ch in beside if ch.ordinal > here][:1]
        of_chunk = [e for e in held.entities.values() if chunk_id in e.chunk_ids]
        entities = sorted(of_chunk, key=lambda e: (e.title, e.id))
        told = {one.id: one for one in _told(held, chunk_id, "chunk_ids")}
        for entity in entities[:MENTIONED]:
            told |= {one.id: one for one in _told(held, entity.id, "entity_ids")}
        return ChunkRead(
            **_where(held, chunk_id),
            text=held.chunks[chunk_id].text,
            document=DocumentName(id=home, name=held.document(chunk_id)[0]) if home else None,
            before=_beside(held, before),
            after=_beside(held, after),
            entities=tuple(_mentioned(held, e) for e in entities[:MENTIONED]),
            communities=tuple(sorted(told.values(), key=lambda one: str(one.id))),
            more_entities=len(entities) > MENTIONED,
        )

    async def entity(
        self, project: access.Project, entity_id: str, limit: int, deadline: Deadline
    ) -> EntityRead | None:
        held = self._of(project, deadline)
        if entity_id not in held.entities:
            return None
        entity = held.entities[entity_id]
        relations = _relations(held, entity_id)
        chunks = sorted(set(entity.chunk_ids) & set(held.chunks))
        return EntityRead(
            id=entity_id,
            title=entity.title,
            description=entity.description,
            relations=tuple(relations[:limit]),
            chunks=tuple(_mention(held, id_) for id_ in chunks[:limit]),
            more_relations=len(relations) > limit,
            more_chunks=len(chunks) > limit,
        )

    def _of(self, project: access.Project, deadline: Deadline) -> Project:
        self._answer(deadline)
        return self.held.get(project.id, Project())

    def _answer(self, deadline: Deadline) -> None:
        deadline.require()
        if self.failure is not None:
            raise self.failure


def about(held: Project, project_id: str) -> AboutProject:
    """Return what a project knows of itself."""
    rows = [_community(held, c) for c in held.communities.values()]
    sizes = {row.id: row.members for row in rows}
    tops = [row for row in rows if not row.parents]

    def size(row: CommunityOut) -> int:
        return row.members + sum(sizes[c] for c, p in held.parents() if p == row.id)

    largest = sorted(tops, key=lambda row: (-size(row), key_order(row.id)))[:MOST_TOLD]
    return AboutProject(
        project_id,
        *_counts(held),
        tuple(_document(held, id_).name for id_ in sorted(held.documents)[:MOST_NAMED]),
        tuple((row.title, row.summary) for row in largest),
    )


def _counts(held: Project) -> tuple[int, int, int, int]:
    return len(held.documents), len(held.chunks), len(held.entities), len(held.communities)


def _overview(held: Project, project_id: str, written_at: str | None) -> ProjectOut:
    documents, chunks, entities, communities = _counts(held)
    return ProjectOut(
        id=project_id,
        documents=documents,
        chunks=chunks,
        entities=entities,
        communities=communities,
        embedding_models=held.embedding_models,
        written_at=written_at,
    )


def _cut(
    rows: Sequence[_Record],
    page: PageQuery,
    place: Callable[[_Record], Position],
    order: Callable[[Position], object] = lambda position: position,
) -> tuple[Sequence[_Record], Position | None]:
    """Return the rows of a page of sorted ones, and the position of the last."""
    behind = [row for row in rows if page.after is None or order(place(row)) > order(page.after)]
    shown = behind[: page.limit]
    return shown, place(shown[-1]) if len(behind) > page.limit else None


def _document(held: Project, id_: str) -> DocumentOut:
    record = held.documents[id_]
    name = record.title if (record.title or "").strip() else record.id
    address = first_shown([record.version.source_uri, record.source])
    count = sum(d == id_ for d, _ in held.held)
    return DocumentOut(id=id_, name=name, source_uri=address or None, chunk_count=count)


def _community(held: Project, record: CommunityRecord) -> CommunityOut:
    parents: set[int | str] = {p for c, p in held.parents() if c == record.community}
    below = sum(p == record.community for _, p in held.parents())
    members = set(record.entity_ids) & set(held.entities), set(record.chunk_ids) & set(held.chunks)
    return CommunityOut(
        id=record.community,
        level=level_of(record),
        title=record.title,
        summary=record.summary,
        members=below + sum(map(len, members)),
        parents=tuple(sorted(parents, key=str)),
    )


def _in_order(held: Project, document_id: str) -> list[ChunkRecord]:
    of_document = [held.chunks[k] for d, k in held.held if d == document_id]
    return sorted(of_document, key=lambda ch: (ch.ordinal, ch.id))


def _where(held: Project, chunk_id: str) -> dict[str, Any]:
    chunk = held.chunk(chunk_id, 0.0)
    place = f"{chunk.place} of {chunk.places}" if chunk.place and chunk.places else None
    return {"id": chunk_id, "heading": chunk.heading or None, "place": place}


def _beside(held: Project, found: Sequence[ChunkRecord]) -> ChunkText | None:
    return ChunkText(**_where(held, found[0].id), text=found[0].text) if found else None


def _mention(held: Project, chunk_id: str) -> MentionOut:
    return MentionOut(
        **_where(held, chunk_id),
        document_name=held.document(chunk_id)[0],
        beginning=held.chunks[chunk_id].text[:BEGINNING],
    )


def _mentioned(held: Project, entity: EntityRecord) -> EntityMentioned:
    communities = tuple(one.id for one in _told(held, entity.id, "entity_ids"))
    return EntityMentioned(id=entity.id, title=entity.title, communities=communities)


def _told(held: Project, id_: str, members: str) -> list[CommunityTold]:
    """Return the communities that something is directly in."""
    inside = [c for c in held.communities.values() if id_ in getattr(c, members)]
    told = (
        CommunityTold(id=c.community, level=level_of(c), title=c.title, summary=c.summary)
        for c in inside
    )
    return sorted(told, key=lambda one: str(one.id))


def _relations(held: Project, entity_id: str) -> list[RelationOut]:
    found = []
    for relation in held.relations:
        if entity_id in {relation.source_id, relation.target_id}:
            is_outgoing = relation.source_id == entity_id
            other = held.entities[relation.target_id if is_outgoing else relation.source_id]
            found.append(
                RelationOut(
                    direction="out" if is_outgoing else "in",
                    entity_id=other.id,
                    title=other.title,
                    description=relation.description,
                    weight=relation.weight,
                )
            )
    return sorted(found, key=lambda r: (-r.weight, r.title, r.entity_id, r.description))
