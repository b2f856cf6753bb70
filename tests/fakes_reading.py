"""What is read of a graph in memory: GraphReader, held to the real one by the contract tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from drift.auth import caller as access
from drift.auth.ranges import next_id, readable_ranges
from drift.core.deadline import Deadline
from drift.core.source_uri import first_shown
from drift.local.ingest.graph_records import ChunkRecord, CommunityRecord
from drift.model.reading import (
    MOST_NAMED,
    MOST_TOLD,
    AboutProject,
    ChunkRead,
    ChunkRow,
    CommunityRow,
    CommunityTold,
    DocumentRead,
    DocumentRow,
    EntityMentioned,
    EntityRead,
    Key,
    MentionRead,
    Neighbour,
    Page,
    PageQuery,
    Position,
    ProjectOverview,
    RelationRead,
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

    async def overview(self, project: access.Project, deadline: Deadline) -> ProjectOverview:
        written_at = WRITTEN_AT if project.id in self.held else None
        return _overview(self._of(project, deadline), project.id, written_at)

    async def version(self, project: access.Project, deadline: Deadline) -> str | None:
        self._answer(deadline)
        if project.id in self.busy or project.id not in self.held:
            return None
        return str(self.held[project.id].writes)

    async def documents(
        self, project: access.Project, page: PageQuery, deadline: Deadline
    ) -> Page[DocumentRow]:
        held = self._of(project, deadline)
        shown, last = _cut(sorted(held.documents), page, lambda id_: (id_,))
        return Page(tuple(_document(held, id_) for id_ in shown), last)

    async def communities(
        self, project: access.Project, level: int | None, page: PageQuery, deadline: Deadline
    ) -> Page[CommunityRow]:
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
    ) -> DocumentRead | None:
        held = self._of(project, deadline)
        if document_id not in held.documents:
            return None
        shown, last = _cut(_in_order(held, document_id), page, lambda ch: (ch.ordinal, ch.id))
        return DocumentRead(
            _document(held, document_id), Page(tuple(_standing(held, ch.id) for ch in shown), last)
        )

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
        return ChunkRead(
            _standing(held, chunk_id),
            held.chunks[chunk_id].text,
            home,
            held.document(chunk_id)[0],
            *(
                Neighbour(_standing(held, n[0].id), n[0].text) if n else None
                for n in (before, after)
            ),
            *_mentioned(held, chunk_id),
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
            entity_id,
            entity.title,
            entity.description,
            tuple(relations[:limit]),
            tuple(_mention(held, id_) for id_ in chunks[:limit]),
            len(relations) > limit,
            len(chunks) > limit,
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

    def size(row: CommunityRow) -> int:
        return row.members + sum(sizes[c] for c, p in held.parents() if p == row.id)

    return AboutProject(
        _overview(held, project_id, None),
        tuple(_document(held, id_).name for id_ in sorted(held.documents)[:MOST_NAMED]),
        tuple(sorted(tops, key=lambda row: (-size(row), key_order(row.id)))[:MOST_TOLD]),
    )


def _overview(held: Project, project_id: str, written_at: str | None) -> ProjectOverview:
    return ProjectOverview(
        project_id,
        len(held.documents),
        len(held.chunks),
        len(held.entities),
        len(held.communities),
        held.embedding_models,
        written_at,
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


def _document(held: Project, id_: str) -> DocumentRow:
    record = held.documents[id_]
    name = record.title if (record.title or "").strip() else record.id
    address = first_shown([record.source_uri, record.source])
    return DocumentRow(id_, name, address, sum(d == id_ for d, _ in held.held))


def _community(held: Project, record: CommunityRecord) -> CommunityRow:
    parents: set[Key] = {p for c, p in held.parents() if c == record.community}
    below = sum(p == record.community for _, p in held.parents())
    members = set(record.entity_ids) & set(held.entities), set(record.chunk_ids) & set(held.chunks)
    return CommunityRow(
        record.community,
        level_of(record),
        record.title,
        record.summary,
        below + sum(map(len, members)),
        tuple(sorted(parents, key=str)),
    )


def _in_order(held: Project, document_id: str) -> list[ChunkRecord]:
    of_document = [held.chunks[k] for d, k in held.held if d == document_id]
    return sorted(of_document, key=lambda ch: (ch.ordinal, ch.id))


def _standing(held: Project, chunk_id: str) -> ChunkRow:
    chunk = held.chunk(chunk_id, 0.0)
    return ChunkRow(chunk_id, chunk.heading, chunk.place, chunk.places)


def _mention(held: Project, chunk_id: str) -> MentionRead:
    return MentionRead(
        _standing(held, chunk_id),
        held.document(chunk_id)[0],
        held.chunks[chunk_id].text[:BEGINNING],
    )


def _mentioned(
    held: Project, chunk_id: str
) -> tuple[tuple[EntityMentioned, ...], tuple[CommunityTold, ...], bool]:
    """Return a chunk's entities, its own communities, and whether there are more entities."""
    of_chunk = [e for e in held.entities.values() if chunk_id in e.chunk_ids]
    entities = sorted(
        (EntityMentioned(e.id, e.title, _told(held, e.id, "entity_ids")) for e in of_chunk),
        key=lambda e: (e.title, e.id),
    )
    own = _told(held, chunk_id, "chunk_ids")
    return tuple(entities[:MENTIONED]), own, len(entities) > MENTIONED


def _told(held: Project, id_: str, members: str) -> tuple[CommunityTold, ...]:
    """Return the communities that something is directly in."""
    inside = [c for c in held.communities.values() if id_ in getattr(c, members)]
    told = (CommunityTold(c.community, level_of(c), c.title, c.summary) for c in inside)
    return tuple(sorted(told, key=lambda one: str(one.id)))


def _relations(held: Project, entity_id: str) -> list[RelationRead]:
    found = []
    for relation in held.relations:
        if entity_id in {relation.source_id, relation.target_id}:
            is_outgoing = relation.source_id == entity_id
            other = held.entities[relation.target_id if is_outgoing else relation.source_id]
            found.append(
                RelationRead(
                    other.id, other.title, relation.description, relation.weight, is_outgoing
                )
            )
    return sorted(found, key=lambda r: (-r.weight, r.title, r.entity_id, r.description))
