"""Graphs as hosts give them out: names of versions that say nothing, and logins of few rights."""

from __future__ import annotations

from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph import inventory
from drift.graph.connection import Connection
from drift.graph.cypher.schema import DEFAULT
from drift.graph.errors import translated
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.local.ingest.neo4j.ddl import wanted_indexes
from drift.local.ingest.neo4j.schema import create
from drift.local.prepare.preparer import Neo4jPreparer
from drift.model.graph import PrimerQuery
from tests.contract.foreign_graphs import DIMENSIONS, add_ferries, prepared
from tests.contract.test_graph_outage import failure

__all__ = ["prepared"]
pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

VECTOR = (1.0, 0.0, 0.0, 0.0)
PRIVILEGE = "Schema operation 'create_index' on database 'neo4j' is not allowed for user 'ada'"


async def forbidden(*_: Any) -> None:
    """Refuse a write as a server does of a reader; the Community edition has no roles."""
    with translated():
        raise failure("ClientError.Security.Forbidden", PRIVILEGE)


async def test_a_reader_on_a_server_of_any_name_asks_and_prepares_what_is_prepared(
    prepared: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = inventory.read_server_and_indexes

    async def as_aura(*given: Any) -> Any:
        return "Neo4j/5.27-aura", (await looked(*given))[1]

    monkeypatch.setattr(inventory, "read_server_and_indexes", as_aura)
    await add_ferries(prepared, "north")
    preparer, graph = Neo4jPreparer(prepared), Neo4jGraph(prepared, exact_limit=0)
    await preparer.prepare(DIMENSIONS)
    for name in ("write", "write_in_batches", "transaction"):
        monkeypatch.setattr(Connection, name, forbidden)

    report = await preparer.prepare(DIMENSIONS)
    assert (report.changed, report.created, report.problems) == ({}, [], [])
    found = await graph.primer(PrimerQuery("north", (), VECTOR, 3), Deadline.after(120))
    assert found
    known = await graph.probe.inventory(lambda _: True)
    assert (known.server, known.search_index) == ("Neo4j/5.27-aura", "graphrag_chunk_index")

    with pytest.raises(GraphMisconfiguredError) as refused:
        await create(prepared, wanted_indexes(DEFAULT, IndexNames())[-1], DIMENSIONS)
    for says in ("could not be created", "`GRANT ROLE architect TO` the user", PRIVILEGE):
        assert says in refused.value.detail
