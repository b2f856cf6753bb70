"""What is read of a graph in memory: shapes that a test gives, by project and id."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from drift.auth.caller import Caller, Project
from drift.auth.ranges import next_id, readable_ranges
from drift.contracts.attributes import FilterKey
from drift.contracts.reading import (
    ChunkItem,
    ChunkRead,
    CommunityOut,
    DocumentOut,
    EntityRead,
    HeldDocument,
    ProjectOut,
)
from drift.core.deadline import Deadline
from drift.model.reading import Page, PageQuery

_Row = TypeVar("_Row", DocumentOut, CommunityOut, ChunkItem)


@dataclass
class Held:
    """What one project holds; `writes` is changed by whoever writes it."""

    documents: Mapping[str, DocumentOut] = field(default_factory=dict)
    communities: Sequence[CommunityOut] = ()
    chunks: Mapping[str, ChunkRead] = field(default_factory=dict)
    entities: Mapping[str, EntityRead] = field(default_factory=dict)
    filter_keys: Sequence[FilterKey] = ()
    writes: int = 0


class FakeReader:
    """GraphReader over dictionaries; `failure` is raised by every call while it is set.

    `busy` are the ids of projects that somebody holds to write them.
    """

    def __init__(self, held: dict[str, Held] | None = None, busy: Collection[str] = ()) -> None:
        self.held = {} if held is None else held
        self.busy = busy
        self.failure: Exception | None = None

    async def projects(self, caller: Caller, page: PageQuery, deadline: Deadline) -> Page[str]:
        self._answer(deadline)
        ranges = readable_ranges(caller, str(page.after[0]) if page.after else "")
        found = [id_ for id_ in sorted(self.held) if any(r.first <= id_ < r.end for r in ranges)]
        shown = found[: page.limit]
        return Page(tuple(shown), (next_id(shown[-1]),) if len(found) > page.limit else None)

    async def sizes(
        self, project_ids: Sequence[str], deadline: Deadline
    ) -> Mapping[str, tuple[int, int]]:
        self._answer(deadline)
        held = {id_: self.held[id_] for id_ in project_ids if id_ in self.held}
        return {k: (len(v.documents), len(v.chunks)) for k, v in held.items() if v.documents}

    async def overview(self, project: Project, deadline: Deadline) -> ProjectOut:
        held = self._of(project, deadline)
        kinds = ("documents", "chunks", "entities", "communities")
        counts: dict[str, Any] = {kind: len(getattr(held, kind)) for kind in kinds}
        return ProjectOut(id=project.id, **counts, embedding_models=(), written_at=None)

    async def largest(self, project: Project, deadline: Deadline) -> list[str]:
        return [one.title for one in self._of(project, deadline).communities]

    async def filter_keys(self, project: Project, deadline: Deadline) -> tuple[FilterKey, ...]:
        return tuple(self._of(project, deadline).filter_keys)

    async def version(self, project: Project, deadline: Deadline) -> str | None:
        self._answer(deadline)
        if project.id in self.busy or project.id not in self.held:
            return None
        return str(self.held[project.id].writes)

    async def documents(
        self, project: Project, page: PageQuery, deadline: Deadline
    ) -> Page[DocumentOut]:
        return _cut(list(self._of(project, deadline).documents.values()), page)

    async def communities(
        self, project: Project, level: int | None, page: PageQuery, deadline: Deadline
    ) -> Page[CommunityOut]:
        held = self._of(project, deadline)
        return _cut([c for c in held.communities if level in {None, c.level}], page)

    async def document(
        self, project: Project, document_id: str, page: PageQuery, deadline: Deadline
    ) -> tuple[HeldDocument, Page[ChunkItem]] | None:
        held = self._of(project, deadline)
        if document_id not in held.documents:
            return None
        own = [c for c in held.chunks.values() if c.document and c.document.id == document_id]
        begin = int(page.after[0] or 0) + 1 if page.after else 0
        shown = own[begin : begin + page.limit]
        items = tuple(ChunkItem(id=c.id, heading=c.heading, place=c.place) for c in shown)
        end = begin + len(shown)
        last = (end - 1, shown[-1].id) if end < len(own) else None
        return HeldDocument(**dict(held.documents[document_id])), Page(items, last)

    async def chunk(self, project: Project, chunk_id: str, deadline: Deadline) -> ChunkRead | None:
        return self._of(project, deadline).chunks.get(chunk_id)

    async def entity(
        self, project: Project, entity_id: str, _limit: int, deadline: Deadline
    ) -> EntityRead | None:
        return self._of(project, deadline).entities.get(entity_id)

    def _of(self, project: Project, deadline: Deadline) -> Held:
        self._answer(deadline)
        return self.held.get(project.id, Held())

    def _answer(self, deadline: Deadline) -> None:
        deadline.require()
        if self.failure is not None:
            raise self.failure


def _cut(rows: list[_Row], page: PageQuery) -> Page[_Row]:
    behind = [row for row in rows if not page.after or str(row.id) > str(page.after[0])]
    shown = behind[: page.limit]
    return Page(tuple(shown), (shown[-1].id,) if len(behind) > page.limit else None)


def chunk_read(id_: str, text: str, document: DocumentOut | None = None) -> ChunkRead:
    """Return a chunk with nothing around it."""
    return ChunkRead(
        id=id_, heading=None, place=None, text=text, document=document, before=None, after=None,
        entities=(), communities=(), more_entities=False,
    )  # fmt: skip


def document_out(id_: str, name: str, chunks: int = 0) -> DocumentOut:
    """Return a document without an address."""
    return DocumentOut(id=id_, name=name, source_uri=None, chunk_count=chunks)


def entity_read(id_: str, title: str) -> EntityRead:
    """Return an entity with nothing around it."""
    return EntityRead(
        id=id_, title=title, description=f"about {title}", relations=(), chunks=(),
        more_relations=False, more_chunks=False,
    )  # fmt: skip
