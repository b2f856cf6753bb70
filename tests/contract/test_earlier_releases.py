"""A graph that the release before wrote is brought over, and nothing of it is embedded again."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path

import pytest

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError, IngestError
from drift.graph.connection import Connection
from drift.graph.indexes import IndexNames
from drift.graph.node_store import Neo4jNodeStore
from drift.graph.versions import read_format
from drift.graph.writing.lease import Lease, holding
from drift.local.exchange.folder import MANIFEST
from drift.local.exchange.transfer import export_project, restore_project
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.pipeline import remove
from drift.local.prepare import upgrade as upgrading
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.prepare.reindex import Reindexing
from drift.local.prepare.unseen import whole_health
from drift.local.prepare.upgrade import older_documents, older_words, unsaid_formats, upgrade
from drift.model.nodes import OwnNode
from tests.contract.two_models import cleared, found, function, graph, old, put

__all__ = ["cleared", "graph"]

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

FORMAT_1 = json.loads(Path("tests/fixtures/graph_format_1.json").read_text(encoding="utf-8"))
"""Three documents as the code of 91b22cc has ingested them, with every node and edge."""
STATEMENTS_1 = json.loads(Path("tests/fixtures/statements_format_1.json").read_text("utf-8"))
"""What that code asks of the graph for a primer, a follow-up and a list of documents."""
EXPORT_2 = Path("tests/fixtures/export_format_2")
"""The same documents, as the code of 03e78331 has exported them: it says no format of a project."""
CHUNKS = "MATCH (ch:__Chunk__) RETURN elementId(ch) AS node, ch.id AS id ORDER BY node"
EVERYTHING = "MATCH (n) RETURN elementId(n) AS node, properties(n) AS p ORDER BY node"
QUESTION = "berth number harbour office"


async def load(connection: Connection) -> None:
    """Write the graph as it was, with what the release before had of the schema."""
    writer = Neo4jWriter(connection, IndexNames())
    await writer.prepare(FORMAT_1["dimensions"])
    await connection.write("MATCH (f:__DriftFormat__) DELETE f", {})
    await connection.write(
        """UNWIND range(0, size($nodes) - 1) AS place
        WITH place, $nodes[place] AS row
        CREATE (n:$(row.labels)) SET n = row.properties, n.place = place""",
        {"nodes": FORMAT_1["nodes"]},
    )
    edges = [
        dict(zip(("from", "type", "to", "more"), one, strict=True)) for one in FORMAT_1["edges"]
    ]
    await connection.write(
        """UNWIND $edges AS row
        MATCH (a {place: row.from}), (b {place: row.to})
        CREATE (a)-[r:$(row.type)]->(b) SET r = row.more""",
        {"edges": edges},
    )
    await connection.write("MATCH (n) REMOVE n.place", {})


async def read_as_before(connection: Connection) -> dict[str, list[str]]:
    """Return every sentence that the statements of the release before find."""

    def sentences(value: object) -> Iterator[str]:
        if isinstance(value, str) and " " in value:
            yield value
        elif isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                yield from sentences(one)

    return {
        name: sorted(sentences(await connection.rows(one["text"], one["parameters"])))
        for name, one in STATEMENTS_1.items()
    }


def formats(connection: Connection) -> Awaitable[list[dict[str, object]]]:
    return connection.rows("MATCH (p:__Project__) RETURN p.id AS id, p.format AS format")


@pytest.mark.deep
async def test_what_is_upgraded_is_ingested_again_without_embedding_a_chunk(
    graph: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await load(graph)
    model = old()
    before = await graph.rows(CHUNKS)
    assert "Harbour Office" in await found(graph, model, QUESTION), "an older graph answers"
    read = await read_as_before(graph)
    assert all(read.values()), "each statement finds something"
    said = (await whole_health(function(graph, model))).readiness(model.dimensions)
    assert said.is_ok
    assert "3 documents are of the release before: `python -m drift upgrade`" in said.reason
    assert await older_documents(graph) == {"harbour": (3, 5)}

    # one document a transaction, and a run that breaks behind the first
    monkeypatch.setattr(upgrading, "DOCUMENTS_AT_ONCE", 1)
    async with holding(Lease(graph, "harbour"), wait_s=0, say=lambda _: None) as lease:
        await upgrading._upgrade_some(lease)
    number, chunks = (await older_documents(graph))["harbour"]
    assert (number, chunks < 5) == (2, True)  # which one came first is the server's choice
    monkeypatch.setattr(upgrading, "DOCUMENTS_AT_ONCE", 100)
    monkeypatch.setattr(upgrading, "CHUNKS_AT_ONCE", 1)
    told: list[tuple[str, int, int]] = []
    await upgrade(graph, report=lambda *one: told.append(one))
    first, second, *_, last = told
    assert first == ("documents", 1, 2), "as many as have a chunk or more"
    assert (second, last) == (("documents", 2, 2), ("chunks", 5, 5))
    assert (await read_format(graph)).number == 2
    assert await formats(graph) == [{"id": "harbour", "format": 2}]
    assert await read_as_before(graph) == read, "the release before reads what was upgraded"
    assert await older_documents(graph) == {}
    documents = "MATCH (d:Document) RETURN count(d.embedding) AS n"
    assert await graph.rows(documents) == [{"n": 3}], "the mean of their chunks', by no model"

    after = await graph.rows(CHUNKS)
    assert [row["node"] for row in after] == [row["node"] for row in before]
    assert len({row["id"] for row in after}) == len(after)
    edges = await graph.rows(
        "MATCH (:__Chunk__)-[r:HAS_ENTITY|IN_COMMUNITY]->() RETURN count(r) AS n"
    )
    assert edges[0]["n"] == sum(
        "__Chunk__" in FORMAT_1["nodes"][one[0]]["labels"]
        and one[1] in {"HAS_ENTITY", "IN_COMMUNITY"}
        for one in FORMAT_1["edges"]
    )

    report = await put(graph, model, FORMAT_1["documents"])
    assert report.chunks == 5
    summaries = [
        row["s"] for row in await graph.rows("MATCH (c:__Community__) RETURN c.summary AS s")
    ]
    assert sorted(model.texts) == sorted(summaries), (
        "topics are found anew, and no chunk is embedded"
    )
    kept = await graph.rows(CHUNKS)
    assert kept == after
    assert "Harbour Office" in await found(graph, model, QUESTION)

    model.texts.clear()
    assert not (await put(graph, model, FORMAT_1["documents"])).wrote
    assert model.texts == []


async def test_words_of_an_earlier_state_are_renewed_without_embedding_a_chunk(
    graph: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = old()
    await put(graph, model, FORMAT_1["documents"])
    words = "MATCH (ch:__Chunk__) RETURN ch.name_words AS words ORDER BY ch.id"
    wanted = await graph.rows(words)
    await graph.write("MATCH (ch:__Chunk__) WHERE ch.ordinal > 0 SET ch.name_words = 'earlier'", {})
    older = await older_words(graph)
    assert older == {"harbour": sum(row["words"] == "earlier" for row in await graph.rows(words))}
    assert older["harbour"]

    monkeypatch.setattr(upgrading, "CHUNKS_AT_ONCE", 1)
    read: list[int] = []
    looked = upgrading._words

    def noted(documents: Sequence[upgrading.Row]) -> list[dict[str, str]]:
        read.append(sum(len(one["chunks"]) for one in documents))
        return looked(documents)

    monkeypatch.setattr(upgrading, "_words", noted)
    model.texts.clear()
    told: list[tuple[str, int, int]] = []
    assert await upgrade(graph, report=lambda *one: told.append(one)) == older
    assert await graph.rows(words) == wanted
    assert told[-1] == ("chunks", len(wanted), len(wanted))
    documents = len(FORMAT_1["documents"])
    assert documents <= len(read) <= documents + 1, "a document at a time, one of them twice"
    assert sum(read) <= len(wanted) + max(read)
    assert await older_words(graph) == {}
    assert model.texts == []

    read.clear()
    assert await upgrade(graph) == {}
    assert sum(read) == len(wanted), "once, where nothing is to be renewed"


async def test_a_newer_format_is_read_and_never_written(graph: Connection) -> None:
    model = old()
    await put(graph, model, FORMAT_1["documents"])
    await graph.write("MATCH (f:__DriftFormat__) SET f.format = 3", {})
    says = r"The graph is of format 3, and this release knows formats up to 2: nothing was written"
    writer = Neo4jWriter(graph, IndexNames())
    reindexing = Reindexing(graph, IndexNames(), "default")

    async def node() -> None:
        """Write a node of somebody's own."""
        own = OwnNode("n", "Person", {})
        asked = EVERYBODY.project("harbour"), own, None, Deadline.after(60)
        await Neo4jNodeStore(graph).create_node(*asked)

    for write in (
        lambda: put(graph, model, {}),
        lambda: remove("handbook", "harbour", IngestContext(writer, model, model.dimensions)),
        lambda: writer.remove_documents("harbour", ["ferry.md"]),
        lambda: Neo4jPreparer(graph).prepare(model.dimensions),
        lambda: Neo4jNodeStore(graph).prepare(model.dimensions),
        node,
        lambda: reindexing.drop("v2", say=lambda _: None),
        lambda: upgrade(graph),
    ):
        with pytest.raises(GraphMisconfiguredError, match=says):
            await write()

    assert "Harbour Office" in await found(graph, model, QUESTION)
    said = (await function(graph, model).health()).readiness(model.dimensions)
    assert said.serves
    assert not said.is_ok
    assert "format 3" in said.reason

    await graph.write("MATCH (f:__DriftFormat__) SET f.format = 2", {})
    await graph.write("MATCH (p:__Project__) SET p.format = 3", {})
    for write in (lambda: put(graph, model, {}), lambda: upgrade(graph), node):
        with pytest.raises(GraphMisconfiguredError, match=says):
            await write()
    assert await formats(graph) == [{"id": "harbour", "format": 3}]

    await graph.write("MATCH (p:__Project__) SET p.format = 4", {})
    with pytest.raises(GraphMisconfiguredError, match="up to 2 and reads 3: use a newer release"):
        await found(graph, model, QUESTION)


async def test_an_export_of_the_state_before_is_restored_asked_upgraded_and_says_its_format(
    graph: Connection, tmp_path: Path
) -> None:
    model = old()
    writer = Neo4jWriter(graph, IndexNames(), model=model.name, dimensions=model.dimensions)
    await restore_project(EXPORT_2, None, writer, model.dimensions, str)
    assert "Harbour Office" in await found(graph, model, QUESTION)
    assert await formats(graph) == [{"id": "harbour", "format": 2}]

    # as the state before has left it, beside another project
    await restore_project(EXPORT_2, "other", writer, model.dimensions, str)
    await graph.write("MATCH (p:__Project__) REMOVE p.format", {})
    assert await unsaid_formats(graph) == ["harbour", "other"]
    assert await upgrade(graph, "harbour") == {}
    assert await unsaid_formats(graph) == ["other"]
    before = await graph.rows(EVERYTHING)
    assert await upgrade(graph, "harbour") == {}
    assert await graph.rows(EVERYTHING) == before
    assert await upgrade(graph) == {}
    assert await unsaid_formats(graph) == []
    assert model.texts == []

    await export_project("harbour", tmp_path / "out", writer, str)
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    manifest["properties"]["format"] = 3
    (tmp_path / "out" / MANIFEST).write_text(json.dumps(manifest))
    says = "is of a project of format 3, and this release writes formats up to 2"
    with pytest.raises(IngestError, match=says):
        await restore_project(tmp_path / "out", "later", writer, model.dimensions, str)
    assert len(await formats(graph)) == 2


async def test_an_older_graph_is_ingested_into_without_harm(graph: Connection) -> None:
    await load(graph)
    model = old()
    await put(graph, model, FORMAT_1["documents"])
    assert len(model.texts) > 5, "each chunk is embedded again"
    assert await older_documents(graph) == {}
    assert "Harbour Office" in await found(graph, model, QUESTION)
    await put(graph, model, FORMAT_1["documents"])
    assert (await read_format(graph)).number == 2
