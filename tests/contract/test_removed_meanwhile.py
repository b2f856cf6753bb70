"""What a statement had found is removed by a writer before it has read all of it."""

from __future__ import annotations

import asyncio
import math

import pytest
from neo4j import AsyncGraphDatabase, EagerResult

from drift.graph.cypher.followup import shared
from drift.graph.cypher.nearest import still_there, told
from drift.graph.cypher.neighbourhood import entities
from drift.graph.cypher.schema import DEFAULT
from drift.graph.parameters import BOUNDS
from tests.contract.graph_backends import CHUNKS, Neo4jBackend, entity, fill, on_real_server

pytestmark = on_real_server

_FORGOTTEN = """
MATCH (e:__Entity__ {project_id: $p}) WITH collect(e) AS found
WITH [found, found, []] AS entity_lists, 3 AS chunk_count
"""


async def test_an_entity_that_lost_its_mentions_counts_where_it_was_seen(
    backend: Neo4jBackend, project: str
) -> None:
    await fill(backend, project, CHUNKS, [entity("e1", "Mill", "k1", "k2")])
    await backend.connection.write(
        "MATCH (:__Entity__ {project_id: $p})<-[r:HAS_ENTITY]-() DELETE r", {"p": project}
    )
    values = {**BOUNDS, "p": project, "count_limit": 2000}

    around = await backend.connection.read(
        f"{_FORGOTTEN}{entities(DEFAULT)}"
        "RETURN [held IN around | [held.e.id, held.places]] AS held",
        values,
    )
    held = await backend.connection.read(f"{_FORGOTTEN}{shared(DEFAULT)} RETURN shared", values)

    assert around.records[0]["held"] == [["e1", [0, 1]]]
    rarity = pytest.approx(math.log(1 + 3 / 2))
    assert held.records[0]["shared"] == [[0, 0, rarity, 0.0], [1, 0, rarity, 0.0]]


_HOLDING_CHUNKS = f"""
MATCH (ch:__Chunk__ {{project_id: $asked.project_id}}) WITH collect(ch) AS held
MATCH (p:__Project__ {{id: $asked.project_id}}) SET p.touched = true
WITH held
CALL (held) {{
  UNWIND held AS ch
  WITH ch ORDER BY ch.id
  WITH ch, {{{told(DEFAULT)}}} AS row
  RETURN collect(CASE WHEN {still_there(DEFAULT)} THEN row END) AS chunks
}}
RETURN [chunk IN chunks | [chunk.id, chunk.document.title]] AS chunks
"""
"""Finds chunks, waits for the project's lock, and reads them."""


async def test_a_chunk_that_was_removed_since_it_was_found_is_not_shown_without_its_document(
    backend: Neo4jBackend, project: str
) -> None:
    await fill(backend, project, CHUNKS)
    await backend.orphan(project, "k3")
    server = backend.server

    async with (
        AsyncGraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver,
        driver.session() as session,
        await session.begin_transaction() as removing,
    ):
        lock = "MATCH (p:__Project__ {id: $p}) SET p.touched = true"
        await (await removing.run(lock, {"p": project})).consume()
        reading = asyncio.create_task(
            backend.connection.write(_HOLDING_CHUNKS, {**BOUNDS, "asked": {"project_id": project}})
        )
        await _blocked(backend, reading)
        remove = "MATCH (ch:__Chunk__ {project_id: $p, id: 'k1'}) DETACH DELETE ch"
        await (await removing.run(remove, {"p": project})).consume()
        await removing.commit()
        found = await reading

    assert found.records[0]["chunks"] == [["k2", "Title of d1"], ["k3", None]]


async def _blocked(backend: Neo4jBackend, reading: asyncio.Task[EagerResult]) -> None:
    """Wait until a transaction waits for another one."""
    text = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS n"
    while not (await backend.connection.read(text, {})).records[0]["n"]:
        assert not reading.done(), reading.result()
        await asyncio.sleep(0.02)
