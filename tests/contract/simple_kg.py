"""A knowledge graph written by neo4j-graphrag's SimpleKGPipeline.

Its language model and its embedder know their answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import neo4j
from neo4j_graphrag.components.kg_writer import Neo4jWriter
from neo4j_graphrag.components.text_splitters.fixed_size_splitter import FixedSizeSplitter
from neo4j_graphrag.components.types import Neo4jRelationship
from neo4j_graphrag.embeddings import Embedder
from neo4j_graphrag.experimental.pipeline.kg_builder import SimpleKGPipeline
from neo4j_graphrag.llm.base import LLMInterface
from neo4j_graphrag.llm.types import LLMResponse

from drift.llm.local_embedding import embed
from drift.local.stack.neo4j.server import Neo4jServer

_MERGE = """
UNWIND $rows AS row
MATCH (a:__KGBuilder__ {__tmp_internal_id: row.start_node_id})
MATCH (b:__KGBuilder__ {__tmp_internal_id: row.end_node_id})
MERGE (a)-[r:$(row.type)]->(b)
SET r += row.properties
"""


class _Extractor(LLMInterface):
    """Finds the known names in a text, and joins each with the next one."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__("extractor")
        self._names = names

    def invoke(self, prompt: str, *_: object, **__: object) -> LLMResponse:
        text = prompt.rpartition("Input text:")[2]
        found = [name for name in self._names if name in text]
        nodes = [
            {"id": name, "label": self._names[name], "properties": {"name": name}} for name in found
        ]
        edges = [
            {"type": "STANDS_WITH", "start_node_id": a, "end_node_id": b, "properties": {}}
            for a, b in pairwise(found)
        ]
        return LLMResponse(content=json.dumps({"nodes": nodes, "relationships": edges}))

    async def ainvoke(self, prompt: str, *_: object, **__: object) -> LLMResponse:
        return self.invoke(prompt)


class _LocalEmbedder(Embedder):
    """The embeddings of the local model server."""

    def embed_query(self, text: str) -> list[float]:
        return [float(x) for x in embed([text])[0]]


class _PlainWriter(Neo4jWriter):
    """Writes relationships without APOC.

    The pipeline's own writer uses one procedure of that plugin.
    """

    def _upsert_relationships(self, rels: list[Neo4jRelationship]) -> None:
        self.driver.execute_query(
            _MERGE, {"rows": self._relationships_to_rows(rels)}, database_=self.neo4j_database
        )


def write(server: Neo4jServer, texts: Mapping[str, str], names: Mapping[str, str]) -> None:
    """Let the pipeline write one document for each text, by its path.

    Each of the `names` becomes an entity with the label that stands beside it.
    """
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        for path, text in texts.items():
            asyncio.run(
                _pipeline(driver, server.database, names).run_async(file_path=path, text=text)
            )


def _pipeline(driver: neo4j.Driver, database: str, names: Mapping[str, str]) -> SimpleKGPipeline:
    options: dict[str, Any] = {
        "perform_entity_resolution": False,
        "neo4j_database": database,
    }  # resolving needs APOC
    return SimpleKGPipeline(
        llm=_Extractor(names),
        driver=driver,
        embedder=_LocalEmbedder(),
        schema="FREE",
        from_file=False,
        on_error="RAISE",
        text_splitter=FixedSizeSplitter(chunk_size=200, chunk_overlap=0),
        kg_writer=_PlainWriter(driver, database),
        **options,
    )
