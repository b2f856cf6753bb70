"""An index of GraphRAG answers as any other project, cited from its own texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from neo4j import GraphDatabase

from drift.http import wiring
from drift.http.settings import load
from drift.local.ingest.context import IngestContext
from drift.local.ingest.graphrag.importing import import_index
from drift.local.ingest.graphrag.index import read_index
from drift.local.ingest.report import IngestReport
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.wiring import build_writer
from tests.contract.known_names import OWN_LABEL
from tests.function.calling import Caller, citations
from tests.function.conftest import Environment
from tests.ingest.graphrag_tables import BAKERY, MILL, tables, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PROJECT = "valley"
EDGES = f"""
MATCH (a {{project_id: $p}})-[r:IN_COMMUNITY|HAS_ENTITY|RELATED]->(b {{project_id: $p}})
WITH [n IN [a, b] | {OWN_LABEL}] AS ends, type(r) AS type
RETURN ends[0] + ' ' + type + ' ' + ends[1] AS kind, count(*) AS number
"""


async def test_a_question_is_cited_from_the_text_that_graphrag_had_read(
    function: Caller, base_settings: Environment, graph_server: Neo4jServer, tmp_path: Path
) -> None:
    settings = load(base_settings)
    writer, (_, embedder) = build_writer(settings), wiring.build_models(settings)
    index = read_index(write(tmp_path, tables()))

    async def imported() -> IngestReport:
        dimensions, model = settings.vector_index_dimensions, settings.oai_embed_model_name
        return await import_index(
            index, PROJECT, IngestContext(writer, embedder, dimensions, model=model)
        )

    try:
        first, second = await imported(), await imported()
    finally:
        await writer.close()
        await embedder.client.close()
    assert (first.chunks, first.communities, second.wrote) == (3, {0: 3, 1: 1}, False)
    login = (graph_server.user, graph_server.password)
    with GraphDatabase.driver(graph_server.uri, auth=login) as driver:
        edges = dict(driver.execute_query(EDGES, p=PROJECT).records)
    assert edges == {
        "__Chunk__ HAS_ENTITY __Entity__": 5,
        "__Entity__ RELATED __Entity__": 2,
        "__Entity__ IN_COMMUNITY __Community__": 4,
        "__Chunk__ IN_COMMUNITY __Community__": 3,
        "__Community__ IN_COMMUNITY __Community__": 2,
    }

    found = await function.answer(
        "Who bakes a loaf of barley?", PROJECT, depth="quick", include=["locations"]
    )
    cited = next(one for one in citations(found) if "Ines Moor bakes" in one["span"])
    assert (cited["chunk_id"], cited["document_name"]) == ("t2", "valley.txt")
    assert (MILL + BAKERY)[cited["start"] : cited["end"]] == cited["span"]
    assert cited["place"] == "2 of 2"
