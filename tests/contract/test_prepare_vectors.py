"""Preparing one project: embeddings where there are none, and a look at those that there are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import ModelMisconfiguredError, ModelUnavailableError
from drift.graph.connection import Connection
from drift.graph.cypher.schema import V1
from drift.local.prepare import filling
from drift.local.prepare.changes import PrepareReport
from drift.local.prepare.preparer import Neo4jPreparer
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from tests.contract.foreign_graphs import (
    DIMENSIONS,
    add_entities_of_chunks,
    add_ferries,
    everything,
    preparer,
    rows,
)
from tests.contract.foreign_graphs import (
    prepared as database,
)
from tests.contract.v1_graphs import drop_schema

__all__ = ["database", "preparer"]
pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

BARE = """MATCH (n) WHERE (n:__Chunk__ OR n:__Community__) AND n.embedding IS NULL
RETURN n.project_id AS project, count(*) ORDER BY project"""
NO_VECTORS = "MATCH (n) REMOVE n.embedding"


def embedding(text: str) -> Vector:
    """A direction of the text's own."""
    return tuple(byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSIONS])


@dataclass
class Embedding:
    """An embedder that keeps what it is asked, and fails after `lasts` texts."""

    floats: int = DIMENSIONS
    lasts: float = float("inf")
    asked: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        del deadline
        self.asked += texts
        if len(self.asked) > self.lasts:
            raise ModelUnavailableError("The model is down.")
        return Embeddings(tuple(embedding(text)[: self.floats] for text in texts))


async def embed(
    preparer: Neo4jPreparer, project: str, model: Embedding, *, dry_run: bool = False
) -> tuple[PrepareReport, list[str]]:
    """Prepare the graph and embed the project; what was done, and what was said of it."""
    said: list[str] = []
    report = await preparer.prepare(DIMENSIONS, dry_run=dry_run)
    await preparer.tend(project, DIMENSIONS, report, embedder=model, say=said.append)
    return report, said


async def test_what_has_no_embedding_gets_that_of_its_text_and_nothing_else_is_changed(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north", "south")
    await database.write(NO_VECTORS, {})
    await database.write(
        "MATCH (k:__Chunk__ {id: 'k1'})-[:IN_PROJECT]->({id: 'north'}) "
        "SET k.embedding = [9.0, 9.0, 9.0, 9.0]",
        {},
    )
    await database.write("MATCH (k:__Chunk__ {id: 'k2'}) SET k.heading = 'Piers'", {})
    await database.write("MATCH (c:__Community__ {community: 3}) SET c.summary = ' '", {})
    model = Embedding()
    report, said = await embed(preparer, "north", model)

    assert sorted(model.asked) == [
        "Piers\nFerry 2 leaves at noon.",
        "Timetable 3\nFerry 3 leaves at noon.",
        "all ferries",
        "ferry 1",
        "ferry 2",
    ]
    assert (report.changed["__Chunk__.embedding"], report.changed["__Community__.embedding"]) == (
        2,
        3,
    )
    assert await rows(database, BARE) == [["north", 1], ["south", 7]]
    stored = await rows(
        database,
        "MATCH (n {project_id: 'north'}) WHERE n.id IN ['k1', 'k3'] "
        "RETURN n.embedding ORDER BY n.id",
    )
    expected = [[9.0] * 4], [list(embedding("Timetable 3\nFerry 3 leaves at noon."))]
    assert stored == list(expected)
    assert "Embedding __Chunk__: 0 of 2 ..." in said

    before = await everything(database)
    again, _ = await embed(preparer, "north", Embedding())
    assert again.document()["changed"] == {}
    assert await everything(database) == before


async def test_a_run_whose_model_fails_is_finished_by_the_next_one(
    database: Connection, preparer: Neo4jPreparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "NODES_A_BATCH", 2)
    await add_ferries(database, "north")
    await database.write(NO_VECTORS, {})
    with pytest.raises(ModelMisconfiguredError, match="4 floats each were expected"):
        await embed(preparer, "north", Embedding(floats=3))
    assert await rows(database, BARE) == [["north", 7]], "none is written"

    with pytest.raises(ModelUnavailableError):
        await embed(preparer, "north", Embedding(lasts=2))
    assert await rows(database, BARE) == [["north", 5]]

    model = Embedding()
    report, said = await embed(preparer, "north", model)
    assert len(model.asked) == 5
    assert await rows(database, BARE) == []
    assert report.document()["problems"] == []
    assert "Embedding __Community__: 2 of 4 ..." in said


async def test_a_dry_run_counts_and_asks_no_model(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north")
    await preparer.prepare(DIMENSIONS)
    await database.write(NO_VECTORS, {})
    before, model = await everything(database), Embedding()
    report, _ = await embed(preparer, "north", model, dry_run=True)
    assert report.changed == {"__Chunk__.embedding": 3, "__Community__.embedding": 4}
    assert (await everything(database), model.asked) == (before, [])


async def test_a_project_that_holds_nothing_and_a_vector_not_of_its_summary_are_told(
    database: Connection, preparer: Neo4jPreparer
) -> None:
    await add_ferries(database, "north", "south")
    nobody, _ = await embed(preparer, "nroth", Embedding())
    assert nobody.document()["problems"] == [
        "Project nroth has neither chunks nor communities; the projects there: north, south."
    ]
    await database.write("MATCH (n {project_id: 'south'}) DETACH DELETE n", {})

    await database.write("MATCH (c:__Community__) REMOVE c.embedding", {})
    report, _ = await embed(preparer, "north", Embedding())
    assert not report.document()["problems"]

    for changed, by_another_model in ((1, False), (4, True)):
        await database.write(
            "MATCH (c:__Community__) WITH c ORDER BY c.community LIMIT $changed "
            "SET c.summary = c.summary + ', and what became of them'",
            {"changed": changed},
        )
        report, _ = await embed(preparer, "north", Embedding())
        told = "\n".join(report.document()["problems"])
        assert f"The vectors of {changed} of 4 sampled communities do not belong" in told
        assert ("another model made them" in told) == by_another_model
        assert "'1' (" in told


async def test_without_projects_the_whole_graph_is_embedded(database: Connection) -> None:
    await drop_schema(database)
    await add_entities_of_chunks(database)
    await database.write(NO_VECTORS, {})
    model = Embedding()
    report, _ = await embed(Neo4jPreparer(database, schema=V1), "any", model)
    assert sorted(model.asked) == [f"Ferry {i} leaves at noon." for i in (1, 2, 3)]
    assert report.changed["__Chunk__.embedding"] == 3
    assert await rows(database, BARE) == []
