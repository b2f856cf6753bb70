"""What a graph says of cited chunks: how near, how old, and which documents say the same."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from drift.contracts.evidence import Surroundings
from drift.core.deadline import Deadline
from drift.graph.writing.records import DocumentBatch
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import read_source
from drift.model.found_nodes import ScoreThreshold
from drift.model.graph import Vector
from drift.model.passages import MOST_WITNESSES, Passage, Passages, PassagesQuery
from drift.ports import PassageReader
from tests.contract.damage import alter
from tests.contract.graph_backends import (
    CHUNKS,
    DIMENSIONS,
    Backend,
    Neo4jBackend,
    ask_followup,
    axis,
    chunk,
    community,
    context,
    documents,
    entity,
    fill,
    ids,
    twin,
    vector,
)

WRITTEN = 1_700_000_000_000
ALPHA = axis(0)


async def known(
    reader: PassageReader, project: str, *chunks: str, embedding: Vector = ALPHA
) -> dict[str, Passage]:
    """Return what is known, by chunk."""
    found = await reader.passages(PassagesQuery(project, chunks, embedding), Deadline.after(120))
    assert len({one.chunk_id for one in found.passages}) == len(found.passages)
    return {one.chunk_id: one for one in found.passages}


async def test_each_chunk_says_how_near_it_is(backend: Backend, project: str) -> None:
    mixed = [
        chunk("k1", "alpha", axis(0)),
        chunk("k2", "beta", vector(1, 1)),
        chunk("k3", "gamma", vector(-1)),
        chunk("bare", "delta", ()),
    ]
    await fill(backend, project, mixed)
    reader = backend.passages()

    found = await known(reader, project, "k2", "k1", "absent", "k3", "bare", "k1")
    near = {k: one.similarity and round(one.similarity, 5) for k, one in found.items()}
    assert near == {"k1": 1.0, "k2": 0.70711, "k3": -1.0, "bare": None}
    await alter(backend, project, "__Chunk__", "k2", embedding=vector(math.inf))
    near = {k: one.similarity for k, one in (await known(reader, project, "k1", "k2")).items()}
    assert near == {"k1": 1.0, "k2": None}

    for without in ((), (1.0, 0.0)):
        found = await known(reader, project, "k1", "k2", embedding=without)
        assert [one.similarity for one in found.values()] == [None, None]


async def test_no_other_project_is_looked_at(backend: Backend, project: str) -> None:
    own = [chunk("k1", "alpha", axis(0), "d1")]
    shared = [entity("e1", "Mill", "k1", "k9"), entity("e2", "Wheel", "k1", "k9")]
    await fill(backend, project, own, shared)
    other = [*own, chunk("k9", "omega", axis(1), "d9")]
    await fill(backend, twin(project), other, shared)

    found = await known(backend.passages(), project, "k1", "k9")
    assert list(found) == ["k1"]
    assert found["k1"].witnesses == ()
    assert (
        await backend.passages().passages(
            PassagesQuery(f"{project}-absent", ("k1",), axis(0)), Deadline.after(120)
        )
        == Passages()
    )


async def test_other_documents_that_name_two_of_its_entities_bear_it_out(
    backend: Backend, project: str
) -> None:
    chunks = [
        chunk("k1", "the mill has a wheel", axis(0), "d1"),
        chunk("own", "the mill and its wheel", axis(1), "d1"),
        chunk("both", "a wheel at a mill", axis(2), "d2"),
        chunk("one", "a mill", axis(3), "d3"),
        chunk("apart", "a wheel", axis(4), "d3"),
        chunk("lone", "a pond", axis(5), "d4"),
        chunk("none", "nothing", axis(6), "d5"),
        chunk("copy", "the mill has a wheel", axis(7), "d6"),
    ]
    entities = [
        entity("e1", "Mill", "k1", "own", "both", "one", "copy"),
        entity("e2", "Wheel", "k1", "own", "both", "apart", "copy"),
        entity("e3", "Pond", "lone"),
    ]
    await fill(backend, project, chunks, entities)
    found = await known(backend.passages(), project, "k1", "both", "lone", "none")
    assert {k: one.witnesses for k, one in found.items()} == {
        "k1": ("d2",),
        "both": ("d1", "d6"),
        "lone": None,  # one name alone says nothing
        "none": None,
    }

    await backend.orphan(project, "k1")
    found = await known(backend.passages(), project, "k1")
    assert found["k1"].witnesses is None


async def test_witnesses_are_counted_up_to_a_bound_and_hubs_are_none(
    backend: Backend, project: str
) -> None:
    many = [chunk(f"k{n}", f"a mill, a wheel, {n}", axis(n % 9), f"d{n}") for n in range(210)]
    all_of = [one.id for one in many]
    hubs = [entity("e1", "Mill", *all_of), entity("e2", "Wheel", *all_of)]
    rare = [entity(f"r{n}", f"Rare {n}", *all_of[:8]) for n in range(2)]
    await fill(backend, project, many, [*hubs, *rare])
    found = await known(backend.passages(), project, "k0", "k100")
    assert found["k0"].witnesses == ("d1", "d2", "d3", "d4", "d5")
    assert len(found["k0"].witnesses) == MOST_WITNESSES
    assert found["k100"].witnesses is None


async def test_a_document_says_when_it_was_changed(backend: Backend, project: str) -> None:
    batch = documents(CHUNKS[:1], {})
    dated = replace(batch.documents[0], updated_at=WRITTEN)
    await backend.writer.write_documents(project, DocumentBatch((dated,), batch.chunks))
    assert (await known(backend.passages(), project, "k1"))["k1"].updated_at == WRITTEN
    await backend.writer.write_documents(project, batch)
    assert (await known(backend.passages(), project, "k1"))["k1"].updated_at is None


TIMES: list[tuple[dict[str, Any], int | None]] = [
    ({}, None),
    ({"updated_at": WRITTEN}, WRITTEN),
    ({"updated_at": WRITTEN // 1000}, WRITTEN),
    ({"updated_at": WRITTEN / 1000}, WRITTEN),
    ({"updated_at": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)}, WRITTEN),
    ({"last_modified": datetime(2023, 11, 14, 22, 13, 20)}, WRITTEN),  # noqa: DTZ001 - stored so
    ({"last_modified_date": "2023-11-14"}, 1_699_920_000_000),
    ({"modified_at": date(2023, 11, 14)}, 1_699_920_000_000),
    ({"updated_at": "2023-11-14T23:13:20+01:00"}, WRITTEN),
    ({"updated_at": "yesterday", "last_modified": WRITTEN}, WRITTEN),
    ({"updated_at": [WRITTEN], "modified_at": True}, None),
    ({"updated_at": float("nan"), "last_modified": -5, "modified_at": 2**60}, None),
    ({"updated_at": "2023-11-14" * 1000}, None),
]


async def test_what_other_pipelines_leave_as_a_time_is_read(
    backend: Neo4jBackend, project: str
) -> None:
    many = [chunk(f"k{n}", "alpha", axis(n), f"d{n}") for n in range(len(TIMES))]
    await fill(backend, project, many)
    for n, (stored, _) in enumerate(TIMES):
        await backend.connection.write(
            "MATCH (d:__Document__ {project_id: $p, id: $id}) SET d += $stored",
            {"p": project, "id": f"d{n}", "stored": stored},
        )
    found = await known(backend.passages(), project, *ids(many))
    assert {k: one.updated_at for k, one in found.items()} == {
        f"k{n}": read for n, (_, read) in enumerate(TIMES)
    }


async def test_the_projects_threshold_comes_with_them(backend: Neo4jBackend, project: str) -> None:
    await fill(backend, project, CHUNKS)
    query = PassagesQuery(project, ("k1",), axis(0))
    reader = backend.passages()
    assert (await reader.passages(query, Deadline.after(120))).threshold is None
    measured = ScoreThreshold(0.6, 500, DIMENSIONS, "m", 0.1)
    await backend.writer.keep_threshold(project, measured)
    assert (await reader.passages(query, Deadline.after(120))).threshold == measured


async def test_a_converted_document_has_no_lines(
    backend: Backend, project: str, tmp_path: Any
) -> None:
    (tmp_path / "a.html").write_text("<h1>Mill</h1>\n\n<p>The mill grinds corn.</p>")
    (tmp_path / "b.txt").write_bytes(b"\r\nThe wheel turns.\r\nIt turns on.\r")
    await ingest(read_source(tmp_path), project, context(backend.writer))
    found = await ask_followup(backend.store(), project, "mill and wheel?", axis(0))
    assert {one.document_id: one.first_line for one in found.chunks} == {"a.html": None, "b.txt": 2}
    passages = await known(backend.passages(), project, *(one.id for one in found.chunks))
    changed = {
        int((tmp_path / name).stat().st_mtime_ns // 1_000_000) for name in ("a.html", "b.txt")
    }
    assert {one.updated_at for one in passages.values()} == changed


async def test_what_more_of_the_chunks_share_comes_first_around_them(
    backend: Backend, project: str
) -> None:
    chunks = [chunk(f"k{n}", f"text {n}", axis(n), f"d{n}") for n in range(4)]
    entities = [
        entity("e1", "Anchor", "k0"),
        entity("e2", "Mill", "k0", "k1"),
        entity("e3", "Wheel", "k3"),
    ]
    groups = [
        community("g", 1, None, axis(0)),
        community("one", 0, "g", axis(0), ("k0", "k1"), ("e2",)),
        community("two", 0, "g", axis(1), ("k2",), ("e1",)),
        community("far", 0, "g", axis(2), ("k3",), ("e3",)),
    ]
    await fill(backend, project, chunks, entities, communities=groups)
    reader = backend.passages()
    asked = PassagesQuery(project, ("k2", "k0", "k1", "absent", "k0"), ALPHA)
    told = await reader.around(asked, Deadline.after(120))
    assert [(one.id, one.title, sorted(one.chunk_ids)) for one in told.entities] == [
        ("e2", "Mill", ["k0", "k1"]),
        ("e1", "Anchor", ["k0"]),
    ]
    assert [(one.id, one.title, one.level) for one in told.communities] == [
        ("one", "title one", 0),
        ("two", "title two", 0),
    ]
    nowhere = PassagesQuery(f"{project}-absent", ("k0",), ALPHA)
    assert await reader.around(nowhere, Deadline.after(120)) == Surroundings()


async def test_what_is_around_is_bounded(backend: Backend, project: str) -> None:
    names = [entity(f"e{n:03}", f"Name {n:03}", "k1") for n in range(90)]
    await fill(backend, project, CHUNKS, names)
    told = await backend.passages().around(
        PassagesQuery(project, ("k1",), ALPHA), Deadline.after(120)
    )
    assert len(told.entities) == 30
