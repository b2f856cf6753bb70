"""What is read outside of a search: whole lists in pages, and nothing of the project beside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from drift.auth.caller import EVERYBODY, Caller, Grant, Project
from drift.contracts.reading import DocumentName
from drift.core.deadline import Deadline
from drift.graph import reader as graph_reader
from drift.graph.writing.records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    EntityRecord,
    KnowledgeBatch,
)
from drift.model.found_nodes import ScoreThreshold
from drift.model.reading import Page, PageQuery
from drift.ports import GraphReader
from tests.contract.graph_backends import (
    DIMENSIONS,
    TWIN,
    Backend,
    Neo4jBackend,
    axis,
    chunk,
    community,
    fill,
    twin,
)
from tests.contract.small_project import (
    CHUNKS,
    COMMUNITIES,
    ENTITIES,
    KNOWLEDGE,
    RELATIONS,
    fill_all,
)

T = TypeVar("T")


def soon() -> Deadline:
    return Deadline.after(120)


def of(project_id: str) -> Project:
    return EVERYBODY.project(project_id)


def only(*patterns: str) -> Caller:
    """A caller who may read these."""
    return Caller("somebody", tuple(Grant(p, frozenset({"read"})) for p in patterns))


async def all_pages(ask: Callable[[PageQuery], Awaitable[Page[T]]], limit: int) -> list[T]:
    """Every row of a list, a page at a time."""
    found: list[T] = []
    page = await ask(PageQuery(limit))
    while True:
        assert len(page.rows) <= limit
        found += page.rows
        if page.last is None:
            return found
        page = await ask(PageQuery(limit, page.last))


async def test_what_a_project_knows_of_itself_is_read_as_a_chunk(
    backend: Backend, project: str
) -> None:
    chunks = [replace(chunk(f"k{n}", f"text {n}", axis(n), f"d{n}"), ordinal=0) for n in range(3)]
    small, large = community(4, 1, None, axis(0)), community(1, 1, None, axis(1))
    below = community(3, 0, 1, axis(1), ["k0", "k1"])
    await fill(backend, project, chunks, (), (), (small, large, below))
    about = await backend.passages().about(project, soon())
    assert (about.documents, about.chunks, about.entities, about.communities) == (3, 3, 0, 3)
    names = [
        row.name
        for row in (await backend.reader().documents(of(project), PageQuery(5), soon())).rows
    ]
    assert list(about.names) == names
    largest = await backend.reader().largest(of(project), soon())
    assert largest == [one.title for one in (large, small)]
    assert about.kinds == (("", "", 3),)

    told = about.chunk()
    read = await backend.reader().chunk(of(project), f"project:{project}", soon())
    assert (read.id, read.text, read.document) == (told.id, told.text, None)
    assert "3 documents" in told.text
    assert all(name in told.text for name in names)
    assert TWIN not in told.text
    assert await backend.reader().chunk(of(project), f"project:{twin(project)}", soon()) is None
    nobody = f"nobody {project}"
    assert await backend.reader().chunk(of(nobody), f"project:{nobody}", soon()) is None


async def test_a_version_changes_with_every_write_and_is_unknown_while_somebody_writes(
    backend: Backend, project: str
) -> None:
    reader = backend.reader()
    assert await reader.version(of(project), soon()) is None
    await fill_all(backend, project)
    versions = [await reader.version(of(project), soon())]
    assert versions == [await reader.version(of(project), soon())]

    known = replace(KNOWLEDGE, embedding_model="small-vectors")
    await backend.writer.write_knowledge(project, known)
    versions.append(await reader.version(of(project), soon()))
    assert (await reader.overview(of(project), soon())).embedding_models == ("small-vectors",)
    await backend.writer.write_knowledge(project, KNOWLEDGE)  # ready names projects of other models
    versions.append(await reader.version(of(project), soon()))
    for unrelated in (None, 0.25):
        measured = ScoreThreshold(0.5, 500, DIMENSIONS, "m", 0.1, unrelated)
        await backend.writer.keep_threshold(project, measured)
        versions.append(await reader.version(of(project), soon()))
    await backend.writer.remove_documents(project, ["d2"])
    versions.append(await reader.version(of(project), soon()))
    async with backend.writer.writing(project):
        assert await reader.version(of(project), soon()) is None
    assert await reader.version(of(project), soon()) == versions[-1]
    assert None not in versions
    assert len(set(versions)) == len(versions)


async def test_of_a_project_that_is_not_there_lists_are_empty(
    backend: Backend, project: str
) -> None:
    reader, nobody = backend.reader(), of(project)
    found = await reader.overview(nobody, soon())
    assert (found.documents, found.chunks, found.entities, found.communities) == (0, 0, 0, 0)
    assert (found.embedding_models, found.written_at) == ((), None)
    assert await reader.documents(nobody, PageQuery(5), soon()) == Page()
    assert await reader.communities(nobody, None, PageQuery(5), soon()) == Page()
    assert await reader.projects(only(project), PageQuery(5), soon()) == Page()
    assert await reader.document(nobody, "d1", PageQuery(5), soon()) is None
    assert await reader.chunk(nobody, "k1", soon()) is None
    assert await reader.entity(nobody, "e1", 5, soon()) is None


async def test_a_list_of_documents_is_whole_in_pages_of_any_size(
    backend: Backend, project: str
) -> None:
    ids = ["a/b", "d 1", "d%2F", "d10", "d2", "z", "ä", "\uff21", "\U0001f600"]
    chunks = [chunk(f"k{n}", f"text {n}", axis(n), id_) for n, id_ in enumerate(ids)]
    await fill(backend, project, chunks)
    reader = backend.reader()

    async def ask(page: PageQuery) -> Page[Any]:
        return await reader.documents(of(project), page, soon())

    for limit in (1, 3, 50):
        assert [
            (d.id, d.name, d.source_uri, d.chunk_count) for d in await all_pages(ask, limit)
        ] == [(id_, f"Title of {id_}", None, 1) for id_ in sorted(ids)]


async def test_a_document_and_a_chunk_are_read_in_the_documents_order(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, [*long_document("d1", 12), *long_document("d2", 2, "x")])
    reader = backend.reader()

    async def ask(page: PageQuery) -> Page[Any]:
        read = await reader.document(of(project), "d1", page, soon())
        document, chunks = read
        assert (document.name, document.chunk_count) == ("Title of d1", 12)
        return chunks

    for limit in (1, 5, 12, 50):
        found = await all_pages(ask, limit)
        assert [c.id for c in found] == [f"k{n}" for n in range(12)]
        assert [c.place for c in found] == [f"{n} of 12" for n in range(1, 13)]

    read = await reader.chunk(of(project), "k2", soon())
    assert (read.text, read.place) == ("text 2 of d1", "3 of 12")
    assert read.document == DocumentName(id="d1", name="Title of d1")
    assert (read.before.id, read.before.text) == ("k1", "text 1 of d1")
    assert (read.after.id, read.after.place) == ("k3", "4 of 12")

    first, last = [await reader.chunk(of(project), id_, soon()) for id_ in ("k0", "k11")]
    assert (first.before, last.after) == (None, None)

    await backend.orphan(project, "k2")
    alone = await reader.chunk(of(project), "k2", soon())
    assert (alone.document, alone.place, alone.before, alone.after) == (None, None, None, None)


async def test_a_chunk_tells_what_it_mentions_and_the_communities_around_it(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    reader = backend.reader()
    read = await reader.chunk(of(project), "k1", soon())
    held = {
        e.id: sorted(c.community for c in COMMUNITIES if e.id in c.entity_ids)
        for e in ENTITIES
        if "k1" in e.chunk_ids
    }
    assert held
    assert {e.id: list(e.communities) for e in read.entities} == held
    own = {c.community for c in COMMUNITIES if "k1" in c.chunk_ids}
    assert [c.id for c in read.communities] == sorted(own.union(*held.values()))
    known = {c.community: c for c in COMMUNITIES}
    for told in read.communities:
        assert (told.title, told.summary) == (known[told.id].title, known[told.id].summary)
        assert told.level == known[told.id].level
    assert not read.more_entities

    many = tuple(EntityRecord(f"m{n:02}", f"Title {n:02}", "", ("k3",)) for n in range(60))
    await backend.writer.write_knowledge(project, KnowledgeBatch(many, (), (), "f2"))
    read = await reader.chunk(of(project), "k3", soon())
    assert [e.title for e in read.entities] == [f"Title {n:02}" for n in range(50)]
    assert read.more_entities


async def test_an_entity_is_read_with_its_relations_and_the_chunks_that_say_it(
    backend: Backend, project: str
) -> None:
    await fill_all(backend, project)
    reader = backend.reader()
    read = await reader.entity(of(project), "e1", 5, soon())
    assert (read.title, read.description) == ("Alpha", "about Alpha")
    assert [
        (r.direction, r.entity_id, r.title, r.description, r.weight) for r in read.relations
    ] == [
        ("out", "e2", "Gamma", "knows", 1.5),
        ("out", "e2", "Gamma", "sees", 0.5),
    ]
    assert [(m.id, m.document_name, m.beginning) for m in read.chunks] == [
        ("k1", "Title of d1", "alpha"),
        ("k2", "Title of d1", "beta"),
    ]
    assert (read.more_relations, read.more_chunks) == (False, False)

    short = await reader.entity(of(project), "e1", 1, soon())
    assert (len(short.relations), len(short.chunks)) == (1, 1)
    assert (short.more_relations, short.more_chunks) == (True, True)

    other = await reader.entity(of(project), "e2", 5, soon())
    assert {relation.direction for relation in other.relations} == {"in"}


async def test_the_project_beside_is_never_seen(backend: Backend, project: str) -> None:
    await fill_all(backend, project)
    only_there = EntityRecord("e9", "There", "", ("k9",))
    await backend.writer.write_documents(
        twin(project),
        DocumentBatch(
            (DocumentRecord("d9", "t", "s", DocumentVersion("h")),),
            (chunk("k9", "x", axis(3), "d9"),),
        ),
    )
    await backend.writer.write_knowledge(
        twin(project), KnowledgeBatch((*ENTITIES, only_there), RELATIONS, COMMUNITIES, "f")
    )
    reader, mine, beside = backend.reader(), of(project), of(twin(project))
    assert await reader.document(mine, "d9", PageQuery(5), soon()) is None
    assert await reader.chunk(mine, "k9", soon()) is None
    assert await reader.entity(mine, "e9", 5, soon()) is None
    there = await reader.chunk(beside, "k9", soon())
    assert [e.id for e in there.entities] == ["e9"]
    assert await reader.entity(beside, "e9", 5, soon())
    assert (await reader.overview(mine, soon())).documents == 2

    names = [d.name for d in (await reader.documents(mine, PageQuery(9), soon())).rows]
    names += [m.document_name for m in (await reader.entity(mine, "e1", 9, soon())).chunks]
    names += [(await reader.chunk(mine, "k1", soon())).document.name]
    assert not [name for name in names if name.startswith(TWIN)]


async def test_only_projects_that_the_caller_may_read_are_listed(
    backend: Backend, project: str
) -> None:
    ids = [f"{project}{end}" for end in ("", "-a", "-a1", "-b", "-\uff21", "-\U0001f600")]
    for id_ in ids:
        await backend.writer.write_documents(
            id_, DocumentBatch((DocumentRecord("d", "t", "s", DocumentVersion("h")),), CHUNKS[:0])
        )
    reader = backend.reader()

    expected = {
        (f"{project}*",): ids,
        (f"{project}-a*",): [f"{project}-a", f"{project}-a1"],
        (f"{project}-b", project): [project, f"{project}-b"],
        (f"{project}-a*", f"{project}-a1", f"{project}-b"): [
            f"{project}-a",
            f"{project}-a1",
            f"{project}-b",
        ],
        (f"{project}-x*", "nothing"): [],
        (): [],
        # many patterns make short pages and lose nothing
        (*(f"{project}-{n:04}" for n in range(1000)), project): [project],
    }
    for patterns, found in expected.items():
        caller = only(*patterns)

        async def ask(page: PageQuery, caller: Caller = caller) -> Page[str]:
            return await reader.projects(caller, page, soon())

        for limit in (1, 2, 3, 9):
            assert await all_pages(ask, limit) == sorted(found)
    writes = Caller("writer", (Grant(f"{project}*", frozenset({"write"})),))
    assert await reader.projects(writes, PageQuery(9), soon()) == Page()


async def test_a_project_of_few_documents_has_a_size_as_it_says_of_itself(
    backend: Backend, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_reader, "MOST_SIZED", 2)
    monkeypatch.setitem(graph_reader._BOUNDS, "most_sized", 2)
    few, many = f"{project}-few", f"{project}-many"
    for id_, documents in ((few, 2), (many, 3)):
        chunks = [chunk(f"k{n}", f"text {n}", axis(n), f"d{n % documents}") for n in range(5)]
        await fill(backend, id_, chunks)
    reader = backend.reader()
    itself = await reader.overview(of(few), soon())
    assert await reader.sizes([many, few, f"{project}-none"], soon()) == {
        few: (itself.documents, itself.chunks)
    }
    assert (itself.documents, itself.chunks) == (2, 5)
    assert await reader.sizes([], soon()) == {}


async def test_what_is_being_written_is_not_read(backend: Neo4jBackend, project: str) -> None:
    await fill_all(backend, project)
    await backend.connection.write(
        """MATCH (p:__Project__ {id: $p}) SET p.building = 99
        CREATE (:__Document__ {project_id: $p, id: 'new', content_hash: ''})-[:HAS_CHUNK]->
          (:__StagedChunk__ {project_id: $p, id: 'staged', text: 'x', ordinal: 0})
        CREATE (e:__Entity__ {project_id: $p, id: 'e1', generation: 99, title: 'new'})
        WITH e MATCH (k:__Chunk__ {project_id: $p, id: 'k1'}) CREATE (k)-[:HAS_ENTITY]->(e)
        CREATE (:__Entity__ {project_id: $p, id: 'e5', generation: 99, title: 'new'})
        CREATE (:__Community__ {project_id: $p, community: 5, generation: 99, level: 0})""",
        {"p": project},
    )
    reader, mine = backend.reader(), of(project)
    assert await reader.document(mine, "new", PageQuery(5), soon()) is None
    assert await reader.chunk(mine, "staged", soon()) is None
    assert await reader.entity(mine, "e5", 5, soon()) is None
    assert (await reader.entity(mine, "e1", 5, soon())).title == "Alpha"
    assert [e.title for e in (await reader.chunk(mine, "k1", soon())).entities] == ["Alpha"]
    documents = await reader.documents(mine, PageQuery(9), soon())
    assert [d.id for d in documents.rows] == ["d1", "d2"]
    communities = await reader.communities(mine, None, PageQuery(9), soon())
    assert [c.id for c in communities.rows] == [1, 2, 3]
    found = await reader.overview(mine, soon())
    assert (found.entities, found.communities) == (2, 3)


async def test_ids_that_are_numbers_or_text_are_read_and_paged(
    backend: Neo4jBackend, project: str
) -> None:
    await fill_all(backend, project)
    await backend.connection.write(
        """MATCH (k:__Chunk__ {project_id: $p, id: 'k1'}) SET k.id = 7
        WITH k MATCH (c:__Community__ {project_id: $p, community: 2}) SET c.community = 'two'
        WITH c MATCH (d:__Document__ {project_id: $p, id: 'd2'}) SET d.id = 2""",
        {"p": project},
    )
    reader, mine = backend.reader(), of(project)
    assert (await reader.chunk(mine, "7", soon())).text == "alpha"
    assert await reader.chunk(mine, "07", soon()) is None
    assert await reader.document(mine, "2", PageQuery(5), soon())

    async def communities(page: PageQuery) -> Page[Any]:
        return await reader.communities(mine, None, page, soon())

    async def documents(page: PageQuery) -> Page[Any]:
        return await reader.documents(mine, page, soon())

    for limit in (1, 2, 9):
        assert [c.id for c in await all_pages(communities, limit)] == ["two", 1, 3]
        assert [d.id for d in await all_pages(documents, limit)] == ["d1", "2"]


async def test_a_damaged_graph_is_read_as_far_as_it_goes(
    backend: Neo4jBackend, project: str
) -> None:
    await fill_all(backend, project)
    await backend.connection.write(
        """MATCH (k:__Chunk__ {project_id: $p, id: 'k1'}) SET k.ordinal = 'first', k.heading = [1]
        WITH k MATCH (e:__Entity__ {project_id: $p, id: 'e1'})-[r:RELATED]->()
        SET e.description = 5, e.title = [true], r.weight = 'much', r.description = 1
        WITH DISTINCT k MATCH (c:__Community__ {project_id: $p}) SET c.level = 'x', c.summary = 3
        WITH DISTINCT k MATCH (d:__Document__ {project_id: $p})
        SET d.title = null, d.source = [1], d.chunks = 'many', d.content_hash = [2]
        WITH DISTINCT k MATCH (p:__Project__ {id: $p}) SET p.written_at = 'once'""",
        {"p": project},
    )
    reader: GraphReader = backend.reader()
    mine = of(project)
    read = await reader.chunk(mine, "k1", soon())
    assert (read.place, read.heading) == (None, None)
    assert read.document == DocumentName(id="d1", name="d1")
    entity = await reader.entity(mine, "e1", 5, soon())
    assert (entity.title, entity.description) == ("e1", "")
    assert [(r.weight, r.description) for r in entity.relations] == [(0.0, ""), (0.0, "")]
    communities = await reader.communities(mine, None, PageQuery(5), soon())
    assert [(c.level, c.summary) for c in communities.rows] == [(None, "")] * 3
    documents = await reader.documents(mine, PageQuery(5), soon())
    assert [(d.name, d.source_uri, d.chunk_count) for d in documents.rows] == [
        ("d1", None, 2),
        ("d2", None, 1),
    ]
    assert (await reader.overview(mine, soon())).written_at is None


def long_document(id_: str, chunks: int, prefix: str = "k") -> list[ChunkRecord]:
    return [
        replace(chunk(f"{prefix}{n}", f"text {n} of {id_}", axis(n), id_), ordinal=n)
        for n in range(chunks)
    ]


ADDRESSES: list[tuple[dict[str, Any], str | None]] = [
    ({"source_uri": "https://docs.example.com/a", "source": "b"}, "https://docs.example.com/a"),
    ({"source": "/home/somebody/private/b.txt"}, None),
    ({"source_uri": "https://me:secret@docs.example.com/a"}, None),
    ({"url": "https://x.example.com/a?sig=secret", "path": "s3://bucket/a"}, "s3://bucket/a"),
]


async def test_a_document_shows_an_address_that_others_can_follow_and_nothing_else(
    backend: Neo4jBackend, project: str
) -> None:
    places = range(len(ADDRESSES))
    await fill(backend, project, [chunk(f"k{n}", "text", axis(n), f"d{n}") for n in places])
    rows = [{"id": f"d{n}", "stored": stored} for n, (stored, _) in enumerate(ADDRESSES)]
    await backend.connection.write(
        """UNWIND $rows AS row MATCH (d:__Document__ {project_id: $p, id: row.id})
        REMOVE d.source, d.source_uri SET d += row.stored""",
        {"p": project, "rows": rows},
    )
    page = await backend.reader().documents(of(project), PageQuery(9), soon())
    assert [d.source_uri for d in page.rows] == [shown for _, shown in ADDRESSES]
